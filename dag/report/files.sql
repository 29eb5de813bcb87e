-- SPDX-License-Identifier: MIT

--- report.file-kinds of use by all: the number of files of each kind
{with},
a AS MATERIALIZED (SELECT a.file, max(a.reads) AS reads, max(a.writes) AS writes, sum(a.bread) AS bread,
		sum(a.bwrite) AS bwrite
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file)
SELECT CASE WHEN k.created AND k.deleted THEN 'temporary'
		WHEN a.writes AND a.reads THEN 'written and read'
		WHEN a.writes THEN 'never read' WHEN a.reads THEN 'only read' ELSE 'only looked at' END AS kind,
	count(*) AS files, sum(coalesce(k.size_last, k.size_first)) AS size_bytes, sum(a.bread) AS read_bytes,
	sum(a.bwrite) AS written_bytes
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' GROUP BY 1 ORDER BY 2 DESC

--- report.files-read of use by all: files that were read most
{with},
a AS MATERIALIZED (SELECT a.file, sum(a.bread) AS bread, count(DISTINCT iif(a.reads, a.process, NULL)) AS readers,
		sum(a.opens) AS opens
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file HAVING sum(a.bread) > 0)
SELECT k.path, coalesce(k.size_last, k.size_first) AS size_bytes, a.bread AS read_bytes,
	a.bread * 1.0 / nullif(coalesce(k.size_last, k.size_first), 0) AS reread, a.readers, a.opens
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' ORDER BY 3 DESC, a.file

--- report.files-written of use by all: files that were written most
{with},
a AS MATERIALIZED (SELECT a.file, sum(a.bwrite) AS bwrite, count(DISTINCT iif(a.writes, a.process, NULL)) AS writers,
		sum(a.opens) AS opens
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file HAVING sum(a.bwrite) > 0)
SELECT k.path, coalesce(k.size_last, k.size_first) AS size_bytes, a.bwrite AS written_bytes, a.writers, a.opens
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' ORDER BY 3 DESC, a.file

--- report.files-reread of use by all: files with more bytes read of one version than its size
{with},
{part versions}
SELECT path, read_bytes * 1.0 / size_bytes AS reread, size_bytes, read_bytes, readers
FROM version WHERE size_bytes > 0 AND read_bytes > 1.5 * size_bytes ORDER BY 2 DESC, file, version

--- report.files-never-read of use by all: files that were written and never read
{with},
a AS MATERIALIZED (SELECT a.file, sum(a.bwrite) AS bwrite
	FROM access a {joins a} {where a.first_ns | a.last_ns}
	GROUP BY a.file HAVING max(a.writes) AND NOT max(a.reads))
SELECT k.path, coalesce(k.size_last, k.size_first) AS size_bytes, a.bwrite AS written_bytes
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' AND NOT (k.created AND k.deleted)
ORDER BY 3 DESC, a.file

--- report.files-temporary of use by all: files that were created and removed
{with},
a AS MATERIALIZED (SELECT a.file, sum(a.bwrite) AS bwrite, sum(a.bread) AS bread
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file)
SELECT k.path, a.bwrite AS written_bytes, a.bread AS read_bytes
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' AND k.created AND k.deleted ORDER BY 2 DESC, a.file
