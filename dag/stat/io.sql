-- SPDX-License-Identifier: MIT

--- io of image by xform,exe: bytes and operations, which the reader sums up for each job or process (unit)
{with image},
-- The kernel's reads of a program are separate rows.  LIMIT: SQLite computes exec once for each row.
moved AS ({[}SELECT process, image, NULL AS file, handle, exec, sum(nread) AS nread, sum(bread) AS bread,
		sum(nwrite) AS nwrite, sum(bwrite) AS bwrite
	FROM use u {time u.first_ns | u.last_ns} GROUP BY image, iif(exec, handle, 0){]}{file}
	SELECT process, image, file, handle, exec, nread, bread, nwrite, bwrite
	FROM use u {time u.first_ns | u.last_ns} LIMIT -1{/file}),
-- These reads belong to the program, although it has not begun yet.
used AS (SELECT process, iif(exec, coalesce((SELECT i.id FROM handle h JOIN image i ON i.process = h.process
			WHERE h.id = m.handle AND h.process = m.process AND i.start_ns >= h.open_ns
			ORDER BY i.seq LIMIT 1), image), image) AS image, file,
		iif(exec, 0, nread) AS nread, iif(exec, 0, bread) AS bread, nwrite, bwrite,
		iif(exec, nread, 0) AS nexec, iif(exec, bread, 0) AS bexec
	FROM moved m
	-- Data that passed unseen: it is not known how much.
	UNION ALL SELECT h.process, h.image, h.file, iif(h.exec, 0, NULL), iif(h.exec, 0, NULL),
		iif(h.exec, 0, NULL), iif(h.exec, 0, NULL), iif(h.exec, NULL, 0), iif(h.exec, NULL, 0)
	FROM handle h WHERE h.nread IS NULL {and_time h.open_ns | coalesce(h.close_ns, h.open_ns)}
	-- A process without reads and writes has 0 bytes if the trace has file operations.
	{[}UNION ALL SELECT p.id, p.image, NULL, z.n, z.n, z.n, z.n, z.n, z.n
	FROM (SELECT *, iif(fidelity IS NULL, NULL, 0) AS n FROM run) z
		JOIN proc p ON p.id BETWEEN z.first_process AND z.last_process
	{time p.start_ns | coalesce(p.end_ns, 9223372036854775807)}{]})
SELECT {keys}, {of} AS "of", {unit} AS unit, p.start_ns, u.bread AS read_bytes, u.bwrite AS written_bytes,
	u.nread AS reads, u.nwrite AS writes, u.bexec AS read_at_exec_bytes, u.nexec AS reads_at_exec
FROM used u {joins u p}
{where}
