-- SPDX-License-Identifier: MIT

--- run of process by xform,exe: run time of each job or process
{with end_ns}SELECT {keys}, {of} AS "of",
	CASE WHEN count(*) = count(p.end_ns) THEN max(p.end_ns) - min(p.start_ns) END AS runtime_ns
FROM proc p GROUP BY {unit}, {group} ORDER BY min(p.start_ns), min(p.id)

--- mem.process of process by xform,exe: peak resident memory of each process
{with rsspeak_bytes}SELECT {keys}, 'process' AS "of", p.rsspeak_bytes AS rss_bytes
FROM proc p ORDER BY p.start_ns, p.id

--- mem.job of process by xform,exe: peak resident memory of each job, from above and from below
{with end_ns rsspeak_bytes},
part AS MATERIALIZED (SELECT {keys}, {of} AS of_what, {unit} AS unit, p.start_ns AS t0,
		max(coalesce(p.end_ns, 9223372036854775807), p.start_ns + 1) AS t1, p.rsspeak_bytes AS rss
	FROM proc p),
-- A process that ends at the moment at which another one begins does not count then.
change AS (SELECT {names}, unit, t0 AS t, rss AS change FROM part
	UNION ALL SELECT {names}, unit, t1, -rss FROM part),
upper AS (SELECT {names}, unit, max(rss) AS rss
	FROM (SELECT {names}, unit, sum(change) OVER (PARTITION BY {names}, unit ORDER BY t, change
			ROWS UNBOUNDED PRECEDING) AS rss FROM change)
	GROUP BY {names}, unit),
lower AS (SELECT {names}, unit, of_what, max(rss) AS rss, count(*) = count(rss) AS known, min(t0) AS t
	FROM part GROUP BY {names}, unit)
SELECT {names}, of_what AS "of", iif(min(known), max(upper), NULL) AS rss_upper_bytes,
	max(lower) AS rss_lower_bytes
FROM (SELECT {names}, unit, of_what, NULL AS upper, rss AS lower, known, t FROM lower
	UNION ALL SELECT {names}, unit, NULL, rss, NULL, NULL, NULL FROM upper)
GROUP BY {names}, unit ORDER BY min(t), unit

--- util of process by xform,exe: use of the processor, and where the rest of the time went
{with end_ns utime_ns stime_ns cpu_ns cpu_delay_ns blkio_delay_ns swapin_delay_ns reclaim_delay_ns ops_ns}
SELECT {keys}, {of} AS "of",
	CASE WHEN count(*) = count(p.end_ns) AND count(*) = count(p.utime_ns + p.stime_ns)
		THEN CAST(sum(p.utime_ns + p.stime_ns) AS REAL) / nullif(max(p.end_ns) - min(p.start_ns), 0)
		END AS utilization,
	iif(count(*) = count(p.end_ns), sum(p.end_ns - p.start_ns), NULL) AS life_ns,
	iif(count(*) = count(p.cpu_ns), sum(p.cpu_ns), NULL) AS cpu_ns,
	iif(count(*) = count(p.cpu_delay_ns), sum(p.cpu_delay_ns), NULL) AS queue_ns,
	iif(count(*) = count(p.blkio_delay_ns), sum(p.blkio_delay_ns), NULL) AS block_io_ns,
	iif(count(*) = count(p.swapin_delay_ns + p.reclaim_delay_ns),
		sum(p.swapin_delay_ns + p.reclaim_delay_ns), NULL) AS memory_ns,
	iif(count(*) = count(p.ops_ns), sum(p.ops_ns), NULL) AS traced_io_ns
FROM proc p
GROUP BY {unit}, {group} ORDER BY min(p.start_ns), min(p.id)

--- io of image by xform,exe: what was read and written, to be summed up by jobs or processes (unit)
{with image},
-- Apart what the kernel has read of a program; LIMIT: exec is worked out once for each row.
moved AS ({[}SELECT process, image, NULL AS file, handle, exec, sum(nread) AS nread, sum(bread) AS bread,
		sum(nwrite) AS nwrite, sum(bwrite) AS bwrite
	FROM use u {time u.first_ns | u.last_ns} GROUP BY image, iif(exec, handle, 0){]}{file}
	SELECT process, image, file, handle, exec, nread, bread, nwrite, bwrite
	FROM use u {time u.first_ns | u.last_ns} LIMIT -1{/file}),
-- That belongs to the program, also before it has begun.
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
