-- SPDX-License-Identifier: MIT

--- io of image by xform,exe: bytes and operations, which the reader sums up for each job or process (unit)
{with image ops},
{part used}
SELECT {keys}, {of} AS "of", {unit} AS unit, p.start_ns, u.bread AS read_bytes, u.bwrite AS written_bytes,
	u.nread AS reads, u.nwrite AS writes, u.bexec AS read_at_exec_bytes, u.nexec AS reads_at_exec
FROM used u {joins u p}
{where}

--- io.steps of image by step: bytes and operations of each step
{with image ops part},
{part used},
row AS (SELECT {keys}, p.part, p.id, p.start_ns, u.bread, u.bwrite, u.nread, u.nwrite, u.bexec, u.nexec
	FROM used u {joins u p}
	{where}),
every AS (SELECT *, 0 AS last FROM row UNION ALL SELECT {total}, part, id, start_ns, bread, bwrite, nread, nwrite, bexec, nexec, 1 FROM row)
SELECT {names}, count(DISTINCT part) AS tasks, count(DISTINCT id) AS processes,
	iif(count(*) = count(bread), sum(bread), NULL) AS read_bytes, iif(count(*) = count(bwrite), sum(bwrite), NULL) AS written_bytes,
	iif(count(*) = count(nread), sum(nread), NULL) AS reads, iif(count(*) = count(nwrite), sum(nwrite), NULL) AS writes,
	iif(count(*) = count(bexec), sum(bexec), NULL) AS read_at_exec_bytes, iif(count(*) = count(nexec), sum(nexec), NULL) AS reads_at_exec
FROM every GROUP BY {names}, last ORDER BY last, min(start_ns)
