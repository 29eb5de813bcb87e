-- SPDX-License-Identifier: MIT

--- change.names of op: what made, removed and moved names, in the order in which it ended, and whether the options choose it
{with}SELECT o.name, o.path, o.path2, o.file, o.file2, o.file2 IN (SELECT n.file FROM name n WHERE n.from_ns = o.start_ns
		AND n.file = o.file2 AND n.path = o.path) AS exchange, {chosen o.start_ns | o.start_ns} AS chosen,
	-- A mount is told what is at the new name, or that nothing is.
	o.name = 'rename' AND o.file2 IS NULL AND o.path2 NOT IN (SELECT path FROM ghost WHERE path NOTNULL)
		AND (SELECT value FROM trace WHERE key = 'files') IN ('kernel', 'preload') AS doubtful
-- What is changed by name and has no file: a trace of system calls knows files that a program has opened or looked at.
FROM {op id process name path path2 file file2 start_ns latency_ns | o.result >= 0 AND (o.name IN ('create', 'mkdir', 'mknod', 'symlink',
	'link', 'unlink', 'rmdir', 'rename') OR o.name IN ('chmod', 'chown', 'utimens', 'setxattr', 'removexattr', 'truncate')
	AND o.file IS NULL)} {filters o}
ORDER BY o.start_ns + coalesce(o.latency_ns, 0), o.id

--- change.files of none: all files of file systems that keep them
SELECT id, path, kind, size_first, size_last, ino, created, deleted FROM file
WHERE substr(path, 1, 1) IN ('/', x'2f') AND coalesce(kind, 'file') NOT IN ('anon', 'eventfd', 'memfd', 'terminal')
	AND coalesce(fstype, '') NOT IN ('proc', 'sysfs', 'cgroup', 'cgroup2', 'debugfs', 'tracefs', 'securityfs', 'bpf', 'devpts')
ORDER BY id

--- change.data of part: files to which data went; known: 0, no writes were seen; 1, no stores into mappings; 2, all were
{with}SELECT a.file, min(CASE WHEN a.nwrite IS NULL THEN 0 WHEN a.assumed_write THEN 1 ELSE 2 END) AS known
FROM access a {filters a}
WHERE (a.nwrite > 0 OR a.truncated OR a.assumed_write OR a.created) AND a.file IN (SELECT id FROM file WHERE kind IS NULL OR kind = 'file')
	{and a.first_ns | a.last_ns} GROUP BY a.file

--- change.bytes of op: how many bytes of a file were written, once or several times, since it was emptied and as far as it goes
{with},
emptied AS MATERIALIZED (SELECT file, max(version) AS version FROM access WHERE emptied GROUP BY file),
written AS MATERIALIZED (SELECT o.file, o.offset, min(o.offset + o.bytes, coalesce(f.size_last, o.offset + o.bytes)) AS past, o.bytes
	FROM (SELECT o.* FROM {op id process file version name start_ns offset bytes | o.name IN ('write', 'copy', 'sendfile', 'splice')
			AND o.bytes > 0} {joins o}
		{where o.start_ns | o.start_ns}) o
		JOIN file f ON f.id = o.file LEFT JOIN emptied e ON e.file = o.file
	WHERE (f.kind = 'file' OR f.kind IS NULL) AND o.version >= coalesce(e.version, 1)
		AND o.file IN (SELECT file FROM access WHERE nwrite > 0))
SELECT file, sum(iif(offset IS NULL, bytes, max(0, past - max(offset, coalesce(before, offset))))) AS bytes
FROM (SELECT file, offset, past, bytes, max(past) OVER (PARTITION BY file ORDER BY offset, past
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM written)
GROUP BY file

--- change.attributes of op: files whose mode, owner, times or extended attributes were set
{with}SELECT DISTINCT o.file FROM {op id process file name start_ns | o.name IN ('chmod', 'chown', 'utimens', 'setxattr', 'removexattr')
	AND o.result >= 0 AND o.file NOTNULL} {joins o}
{where o.start_ns | o.start_ns}

--- change.links of none: the names of files with several; of several traces, earlier ones have names that later ones have not
SELECT file, path FROM name WHERE to_ns IS NULL AND (SELECT count(*) FROM run) = 1 AND file IN (SELECT file FROM name WHERE to_ns IS NULL
	GROUP BY file HAVING count(DISTINCT path) > 1) ORDER BY file, path

--- change.inputs of part: files from which data came, and which no process wrote
{with}SELECT DISTINCT a.file FROM access a {filters a}
WHERE a.reads AND a.file IN (SELECT id FROM file WHERE kind = 'file' AND NOT created)
	AND a.file NOT IN (SELECT file FROM access WHERE nwrite > 0 OR truncated OR assumed_write OR created) {and a.first_ns | a.last_ns}

--- change.kept of none: whether there are single operations
SELECT EXISTS (SELECT 1 FROM op) AS kept
