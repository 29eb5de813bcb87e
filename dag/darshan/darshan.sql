-- SPDX-License-Identifier: MIT

--- darshan.processes of process: the chosen processes, and which ranks they are
{with parent uid pid host start_ns end_ns},
-- The rank in the largest communicator that opened a file.
world AS MATERIALIZED (SELECT process, max(size) AS world_size, rank AS world_rank FROM call WHERE layer = 'mpi' AND size NOTNULL
	GROUP BY process),
-- That which a launcher of MPI has given to a process; what the process starts inherits the variable.
given AS MATERIALIZED (SELECT i.process, CAST(min(e.value) AS INTEGER) AS rank FROM environ e JOIN image i ON i.id = e.image
	WHERE e.name IN ('OMPI_COMM_WORLD_RANK', 'PMIX_RANK', 'PMI_RANK') AND e.value GLOB '[0-9]*' GROUP BY 1)
SELECT p.id, p.parent, p.uid, p.pid, p.end_ns, p.host, coalesce(g.rank, w.world_rank) AS world_rank, w.world_size
FROM proc p LEFT JOIN world w ON w.process = p.id LEFT JOIN given g ON g.process = p.id AND coalesce(p.parent NOT IN (SELECT process FROM given), 1)
{time p.start_ns | coalesce(p.end_ns, 9223372036854775807)}
ORDER BY p.start_ns, p.id

--- darshan.operations of op: what programs did with regular files, in the order of its ends, one process and path after the other
{with},
way AS MATERIALIZED (SELECT id, fidelity, mode FROM handle WHERE coalesce(exec, 0) = 0),
regular AS MATERIALIZED (SELECT id, path FROM file WHERE coalesce(kind, 'file') = 'file')
SELECT o.process, coalesce(iif(s_.target, o.path2, o.path), r_.path) AS path,
	iif(s_.target, 'renamed', o.name) AS name, o.layer = 'call' AS by_call, o.offset, o.bytes, o.start_ns - {t0} AS begin_ns,
	o.start_ns + coalesce(o.latency_ns, 0) - {t0} AS end_ns, h_.mode, h_.fidelity = 'open' AS unseen, iif(s_.target, o.path, NULL) AS origin
FROM {op id process name path path2 file handle offset bytes start_ns latency_ns via layer | o.result >= 0 AND (o.name IN ('read', 'write',
		'open', 'create', 'tmpfile', 'dup', 'lseek', 'getattr', 'mmap', 'fsync', 'rename') OR o.name = iif(o.layer = 'call', 'close', 'flush'))}
	{filters o} JOIN regular r_ ON r_.id = o.file LEFT JOIN way h_ ON h_.id = o.handle
	JOIN (SELECT 0 AS target UNION ALL SELECT 1) s_ ON NOT s_.target OR o.name = 'rename'
-- Not the opens of programs by the kernel, nor what was done to mapped pages.
WHERE (o.handle IS NULL OR h_.id NOTNULL) AND (o.via IS NULL OR o.via = 'direct' OR o.via = 'pagecache' AND h_.fidelity = 'cached')
	{and o.start_ns | o.start_ns}
ORDER BY o.process, 2, o.start_ns + coalesce(o.latency_ns, 0), o.id

--- darshan.calls of call: calls of MPI-IO, and of libc on streams and descriptors, in the order of their ends
{with},
way AS MATERIALIZED (SELECT id, path FROM handle)
SELECT o.process, o.layer = 'mpi' AS of_mpi, o.name, o.fd, o.calls, o.offset, o.length, o.bytes, o.start_ns - {t0} AS begin_ns,
	coalesce(o.end_ns, o.start_ns) - {t0} AS end_ns, o.latency_ns, o.size, coalesce(h_.path, f_.path, o.path) AS path
FROM (SELECT id, process, image, layer, name, class, fd, handle, file, path, offset, length, bytes, start_ns, end_ns, latency_ns, size, calls, rank,
		result FROM call WHERE layer IN ('mpi', 'lib') AND coalesce(result, 0) >= 0) o
	{filters o} LEFT JOIN way h_ ON h_.id = o.handle LEFT JOIN file f_ ON f_.id = o.file
{where o.start_ns | o.start_ns}
ORDER BY coalesce(o.end_ns, o.start_ns), o.id

--- darshan.mounts of none: the file systems of the files
SELECT DISTINCT fstype, mount FROM file WHERE fstype NOTNULL AND mount NOTNULL ORDER BY 2, 1
