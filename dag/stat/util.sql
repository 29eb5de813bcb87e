-- SPDX-License-Identifier: MIT

--- util.steps of process by step: how much of the processor each step used, and where the rest of its time went
{with end_ns parent part cpu_ns cpu_delay_ns blkio_delay_ns swapin_delay_ns reclaim_delay_ns ops_ns},
-- The time in which no child of a process lived.
born AS MATERIALIZED (SELECT parent, max(0, min(c.end_ns, p.end_ns) - max(c.start_ns, coalesce(max(c.end_ns) OVER (PARTITION BY c.parent
		ORDER BY c.start_ns, c.end_ns, c.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), c.start_ns))) AS alone_ns
	FROM process c JOIN (SELECT id, end_ns FROM process) p ON p.id = c.parent),
busy AS MATERIALIZED (SELECT parent AS id, sum(alone_ns) AS ns FROM born GROUP BY parent),
base AS MATERIALIZED (SELECT {keys}, p.id, p.part, p.start_ns, p.end_ns, p.end_ns - p.start_ns - coalesce(b.ns, 0) AS own_ns, p.cpu_ns,
		p.cpu_delay_ns AS queue_ns, p.blkio_delay_ns AS block_io_ns, p.swapin_delay_ns + p.reclaim_delay_ns AS memory_ns, p.ops_ns
	FROM proc p LEFT JOIN busy b ON b.id = p.id),
{part lived},
row AS (SELECT {names}, alone_ns AS ns, 0 AS last, part, start_ns, end_ns, own_ns, cpu_ns, queue_ns, block_io_ns, memory_ns, ops_ns FROM lived
	UNION ALL SELECT {total}, whole_ns, 1, part, start_ns, end_ns, own_ns, cpu_ns, queue_ns, block_io_ns, memory_ns, ops_ns FROM lived),
known AS (SELECT {names}, last, min(start_ns) AS t, count(DISTINCT part) AS tasks, count(*) AS processes,
		iif(count(*) = count(end_ns), sum(ns), NULL) AS time_ns, iif(count(*) = count(cpu_ns), sum(cpu_ns), NULL) AS cpu_ns,
		iif(count(*) = count(queue_ns), sum(queue_ns), NULL) AS queue_ns,
		iif(count(*) = count(block_io_ns), sum(block_io_ns), NULL) AS block_io_ns,
		iif(count(*) = count(memory_ns), sum(memory_ns), NULL) AS memory_ns,
		iif(count(*) = count(ops_ns), sum(ops_ns), NULL) AS traced_io_ns,
		iif(count(*) = count(own_ns), sum(own_ns), NULL) AS own_ns
	FROM row GROUP BY {names}, last),
rested AS (SELECT *, own_ns - cpu_ns - coalesce(queue_ns, 0) - coalesce(block_io_ns, 0) - coalesce(memory_ns, 0) - coalesce(traced_io_ns, 0)
		AS rest_ns FROM known),
-- That of all is known if that of each is.
whole AS (SELECT iif(count(*) = count(nullif(rest_ns < 0, 1)), sum(rest_ns), NULL) AS rest_ns FROM rested WHERE NOT last)
SELECT {names}, tasks, processes, time_ns, CAST(cpu_ns AS REAL) / nullif(time_ns, 0) AS utilization_share, cpu_ns, queue_ns, block_io_ns,
	memory_ns, traced_io_ns, CASE WHEN last THEN (SELECT rest_ns FROM whole) WHEN rest_ns >= 0 THEN rest_ns END AS rest_ns
FROM rested ORDER BY last, t

--- util of process by xform,exe: use of the processor, and where the rest of the time went
{with end_ns utime_ns stime_ns cpu_ns cpu_delay_ns blkio_delay_ns swapin_delay_ns reclaim_delay_ns ops_ns},
base AS MATERIALIZED (SELECT {keys}, {of} AS of_what, {unit} AS unit, p.id, p.start_ns, p.end_ns, p.utime_ns + p.stime_ns AS busy_ns, p.cpu_ns,
		p.cpu_delay_ns AS queue_ns, p.blkio_delay_ns AS block_io_ns, p.swapin_delay_ns + p.reclaim_delay_ns AS memory_ns, p.ops_ns
	FROM proc p),
lived AS (SELECT *, max(0, end_ns - max(start_ns, coalesce(max(end_ns) OVER (PARTITION BY {names}, unit ORDER BY start_ns, end_ns, id
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns))) AS alone_ns FROM base)
SELECT {names}, of_what AS "of",
	CASE WHEN count(*) = count(end_ns) AND count(*) = count(busy_ns)
		THEN CAST(sum(busy_ns) AS REAL) / nullif(max(end_ns) - min(start_ns), 0) END AS utilization,
	iif(count(*) = count(end_ns), sum(alone_ns), NULL) AS life_ns,
	iif(count(*) = count(cpu_ns), sum(cpu_ns), NULL) AS cpu_ns,
	iif(count(*) = count(queue_ns), sum(queue_ns), NULL) AS queue_ns,
	iif(count(*) = count(block_io_ns), sum(block_io_ns), NULL) AS block_io_ns,
	iif(count(*) = count(memory_ns), sum(memory_ns), NULL) AS memory_ns,
	iif(count(*) = count(ops_ns), sum(ops_ns), NULL) AS traced_io_ns
FROM lived GROUP BY {names}, unit ORDER BY min(start_ns), min(id)
