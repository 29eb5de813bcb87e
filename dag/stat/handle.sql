-- SPDX-License-Identifier: MIT

--- handle of image: each open file of a program, with the columns of wfprof's ioprof and more
{with xform pid},
-- wfstat itself reads handle.opens, handle.uses and handle.programs and gets the same rows in half of the time.
u AS (SELECT handle, image, process, file, sum(bread) AS bread, sum(nread) AS nread,
		sum(bwrite) AS bwrite, sum(nwrite) AS nwrite, sum(nseek) AS nseek
	FROM use GROUP BY handle, image
	-- An unused handle belongs to the image that opened it.
	UNION ALL SELECT h.id, h.image, h.process, h.file, h.bread, h.nread, h.bwrite, h.nwrite, h.nseek
	FROM handle h WHERE NOT EXISTS (SELECT 1 FROM use WHERE handle = h.id))
SELECT p.xform, p.pid, i.exe, h.path AS file, u.bread, u.nread, u.bwrite, u.nwrite, u.nseek, h.mode,
	h.flags, h.id AS handle, p.id AS process, h.fidelity, h.open_ns, h.close_ns
FROM u CROSS JOIN handle h ON h.id = u.handle {joins u p i}
{where h.open_ns | coalesce(h.close_ns, h.open_ns)}
ORDER BY h.id, u.image

--- handle.programs of none: the program of each image
WITH p AS MATERIALIZED (SELECT id, xform, pid FROM process)
SELECT p.xform, p.pid, i.exe, p.id AS process, i.id AS image
FROM image i LEFT JOIN p ON p.id = i.process ORDER BY i.id

--- handle.uses of part: the uses of each open file, and whether each is chosen
{with}SELECT u.image, u.bread, u.nread, u.bwrite, u.nwrite, u.nseek, u.handle, {chosen} AS chosen
FROM use u {filters u}ORDER BY u.handle

--- handle.opens of part: each open file, and whether it is chosen
{with}SELECT h.image, h.bread, h.nread, h.bwrite, h.nwrite, h.nseek, h.id AS handle, {chosen} AS chosen,
	h.path AS file, h.mode, h.flags, h.fidelity, h.open_ns, h.close_ns
FROM handle h {filters h}
{time h.open_ns | coalesce(h.close_ns, h.open_ns)}
ORDER BY h.id
