-- SPDX-License-Identifier: MIT

--- file of file: each file: how many processes read and wrote it, how much and when
{with},
a AS MATERIALIZED (SELECT a.file, count(DISTINCT iif(a.reads, a.process, NULL)) AS readers,
		count(DISTINCT iif(a.writes, a.process, NULL)) AS writers, sum(a.opens) AS opens,
		iif(count(*) = count(a.nread), sum(a.nread), NULL) AS reads,
		iif(count(*) = count(a.nwrite), sum(a.nwrite), NULL) AS writes,
		iif(count(*) = count(a.nread), sum(a.bread), NULL) AS read_bytes,
		iif(count(*) = count(a.nwrite), sum(a.bwrite), NULL) AS written_bytes,
		min(a.first_ns) AS first_ns, max(a.last_ns) AS last_ns,
		max(a.writes) AND NOT max(a.reads) AS never_read
	FROM access a {joins a}
	{where a.first_ns | a.last_ns} GROUP BY a.file),
u AS MATERIALIZED (SELECT u.file, sum(u.read_ns) AS read_ns, sum(u.write_ns) AS write_ns
	FROM use u {joins u}
	{where u.first_ns | u.last_ns} GROUP BY u.file)
SELECT f.id AS file, f.path, f.kind, f.fstype, f.mount, coalesce(f.size_last, f.size_first) AS size_bytes,
	a.readers, a.writers, a.opens, a.reads, a.writes, a.read_bytes, a.written_bytes,
	CAST(a.read_bytes AS REAL) / nullif(coalesce(f.size_last, f.size_first), 0) AS reread,
	NULL AS portion_share, a.first_ns, a.last_ns, a.never_read, f.created AND f.deleted AS temporary,
	a.read_bytes * 1e9 / nullif(u.read_ns, 0) AS read_rate,
	a.written_bytes * 1e9 / nullif(u.write_ns, 0) AS write_rate
FROM a JOIN file f ON f.id = a.file LEFT JOIN u ON u.file = a.file
WHERE f.kind IS NOT 'dir' ORDER BY a.first_ns, f.id

--- file.plain of none: the bytes read of files whose handles all read from the begin without seeking
SELECT file, max(bread) AS bytes FROM handle GROUP BY file
HAVING max(iif(nread > 0, nseek + nwrite, 0)) = 0 AND count(*) = count(bread)

--- file.reads of op: each read
{with}SELECT o.file, o.offset, o.bytes
FROM {op file offset bytes | o.name = 'read' AND o.result >= 0} {joins o}
{where o.start_ns | o.start_ns}
