-- SPDX-License-Identifier: MIT

--- mem.steps of process by step: the most memory of a process of each step, and an upper bound of that of a task
{with end_ns part rsspeak_bytes},
base AS MATERIALIZED (SELECT {keys}, p.part, p.start_ns AS t0, max(coalesce(p.end_ns, 9223372036854775807), p.start_ns + 1) AS t1,
		p.rsspeak_bytes AS rss FROM proc p),
-- Processes of which one ends when the other one begins do not overlap.
change AS (SELECT {names}, part, t0 AS t, rss AS change FROM base UNION ALL SELECT {names}, part, t1, -rss FROM base),
upper AS (SELECT {names}, max(rss) AS rss FROM (SELECT {names}, sum(change) OVER (PARTITION BY {names}, part ORDER BY t, change
			ROWS UNBOUNDED PRECEDING) AS rss FROM change WHERE part NOTNULL)
	GROUP BY {names}),
row AS (SELECT {names}, count(DISTINCT part) AS tasks, count(*) AS processes, count(*) = count(rss) AS known, max(rss) AS rss, NULL AS upper,
		min(t0) AS t
	FROM base GROUP BY {names} UNION ALL SELECT {names}, NULL, NULL, NULL, NULL, rss, NULL FROM upper)
SELECT {names}, max(tasks) AS tasks, max(processes) AS processes, max(rss) AS rss_bytes, iif(max(known), max(upper), NULL) AS task_rss_bytes
FROM row GROUP BY {names} ORDER BY max(t)

--- mem.process of process by xform,exe: peak resident memory of each process
{with rsspeak_bytes}SELECT {keys}, 'process' AS "of", p.rsspeak_bytes AS rss_bytes
FROM proc p ORDER BY p.start_ns, p.id

--- mem.job of process by xform,exe: an upper and a lower bound of each job's peak resident memory
{with end_ns rsspeak_bytes},
part AS MATERIALIZED (SELECT {keys}, {of} AS of_what, {unit} AS unit, p.start_ns AS t0,
		max(coalesce(p.end_ns, 9223372036854775807), p.start_ns + 1) AS t1, p.rsspeak_bytes AS rss
	FROM proc p),
-- Processes of which one ends when the other one begins do not overlap.
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
