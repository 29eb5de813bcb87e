-- SPDX-License-Identifier: MIT

--- run.steps of process by step: how long each step and its tasks took
{with end_ns part},
base AS MATERIALIZED (SELECT {keys}, p.id, p.part, p.start_ns, p.end_ns FROM proc p),
{part lived},
task AS (SELECT {names}, part, iif(count(*) = count(end_ns), max(end_ns) - min(start_ns), NULL) AS ns
	FROM base WHERE part NOTNULL GROUP BY {names}, part),
row AS (SELECT {names}, count(DISTINCT part) AS tasks, count(*) AS processes, iif(count(*) = count(end_ns), sum(alone_ns), NULL) AS time_ns,
		NULL AS min_ns, NULL AS mean_ns, NULL AS max_ns, min(start_ns) AS t, 0 AS last
	FROM lived GROUP BY {names}
	UNION ALL SELECT {names}, NULL, NULL, NULL, min(ns), avg(ns), max(ns), NULL, 0 FROM task GROUP BY {names}
	UNION ALL SELECT {total}, count(DISTINCT part), count(*), iif(count(*) = count(end_ns), sum(whole_ns), NULL), NULL, NULL, NULL, NULL, 1
	FROM lived HAVING count(*) > 0)
SELECT {names}, max(tasks) AS tasks, max(processes) AS processes, max(time_ns) AS time_ns, max(min_ns) AS min_ns,
	CAST(max(mean_ns) AS INTEGER) AS mean_ns, max(max_ns) AS max_ns
FROM row GROUP BY {names}, last ORDER BY last, max(t)

--- run of process by xform,exe: run time of each job or process
{with end_ns}SELECT {keys}, {of} AS "of",
	CASE WHEN count(*) = count(p.end_ns) THEN max(p.end_ns) - min(p.start_ns) END AS runtime_ns
FROM proc p GROUP BY {unit}, {group} ORDER BY min(p.start_ns), min(p.id)
