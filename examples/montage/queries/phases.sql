-- ro: only read by the phase, wo: only written, rw: both, none: opened, but no data moved.
WITH part AS (
	SELECT p.comm AS phase, a.file, sum(a.nread) > 0 AS r, sum(a.nwrite) > 0 AS w,
		sum(a.bread) AS bread, sum(a.bwrite) AS bwrite
	FROM access a JOIN process p ON p.id = a.process
	WHERE a.opens > 0 GROUP BY p.comm, a.file),
jobs AS (
	SELECT comm AS phase, count(*) AS jobs, min(start_ns) AS first FROM process GROUP BY comm)
SELECT phase, jobs, printf('%.2f', sum(bread) / 1e6) AS MB_read,
	printf('%.2f', sum(bwrite) / 1e6) AS MB_written,
	sum(r AND NOT w) AS ro, sum(w AND NOT r) AS wo, sum(r AND w) AS rw,
	sum(NOT r AND NOT w) AS none
FROM part JOIN jobs USING (phase) GROUP BY phase ORDER BY first;
