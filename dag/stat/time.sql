-- SPDX-License-Identifier: MIT

--- time of op: operations, bytes, processes and memory in each interval
{with end_ns rsspeak_bytes},
step AS (SELECT (o.start_ns - {t0}) / {step} AS n, count(*) AS operations,
		sum(iif(o.name = 'read', o.bytes, 0)) AS read_bytes,
		sum(iif(o.name = 'write', o.bytes, 0)) AS written_bytes, count(DISTINCT o.file) AS files
	FROM {op name start_ns bytes file} {joins o}
	{where o.start_ns | o.start_ns} GROUP BY 1),
{part memory},
ends AS (SELECT max(coalesce((SELECT max(t) FROM change), {t0}),
	{t0} + coalesce((SELECT max(n) FROM step), 0) * {step}) AS last),
{part levels}
SELECT CAST(b.n * {step} AS REAL) / 1e9 AS from_s, coalesce(s.operations, 0) AS operations,
	coalesce(s.read_bytes, 0) AS read_bytes, coalesce(s.written_bytes, 0) AS written_bytes,
	coalesce(s.files, 0) AS files, l.processes, l.working, l.rss AS rss_bytes
FROM bounds b LEFT JOIN step s ON s.n = b.n LEFT JOIN lived l ON l.n = b.n
{time {t0} + b.n * {step} | {t0} + (b.n + 1) * {step} - 1} ORDER BY b.n

--- time.groups of op by operation: operations of each kind in each interval
{with}SELECT CAST((o.start_ns - {t0}) / {step} * {step} AS REAL) / 1e9 AS from_s, {keys}, count(*) AS operations,
	sum(o.bytes) AS moved_bytes, sum(o.latency_ns) AS latency_ns, sum(o.result < 0) AS errors
FROM {op name start_ns latency_ns result bytes file} {joins o}
{where o.start_ns | o.start_ns} GROUP BY 1, {group 2} ORDER BY 1, min(o.start_ns), {group 2}

--- time.sums of metric by operation: the same, of sums of operations
{with}SELECT CAST((o.t_ns - {t0}) / {step} * {step} AS REAL) / 1e9 AS from_s, {keys}, sum(o.count) AS operations,
	sum(o.bytes) AS moved_bytes, sum(o.latency_ns) AS latency_ns, sum(o.errors) AS errors
FROM (SELECT *, operation AS name FROM process_metric) o {joins o}
{where o.t_ns | o.t_ns} GROUP BY 1, {group 2} ORDER BY 1, min(o.first_ns), {group 2}

--- time.latency of op by operation: latency of each operation, and its interval
{with}SELECT {keys}, (o.start_ns - {t0}) / {step} AS n, o.latency_ns AS value, 1 AS operations, NULL AS bytes, o.start_ns AS first_ns
FROM {op name start_ns latency_ns} {joins o}
{where o.start_ns | o.start_ns}

--- time.size of op by operation: size of each operation that moves data, and its interval
{with}SELECT {keys}, (o.start_ns - {t0}) / {step} AS n, o.bytes AS value, 1 AS operations, o.bytes, o.start_ns AS first_ns
FROM {op name start_ns bytes | o.bytes IS NOT NULL} {joins o}
{where o.start_ns | o.start_ns}

--- time.latency.sums of metric by operation: the same, of sums of operations: how many have a latency from a power of two on
{with}SELECT {keys}, (o.t_ns - {t0}) / {step} AS n, iif(o.class > 0, 1 << o.class - 1, 0) AS value, o.n AS operations, NULL AS bytes, o.first_ns
FROM (SELECT m.*, m.operation AS name, CAST(substr(m.latencies, 2) AS INTEGER) + e.key - 1 AS class, CAST(e.value AS INTEGER) AS n
	FROM process_metric m JOIN json_each(iif(json_valid(m.latencies), m.latencies, '[]')) e ON e.key > 0 AND e.value > 0) o {joins o}
{where o.t_ns | o.t_ns}

--- time.size.sums of metric by operation: the same of sizes; bytes are known if all sizes of a sum are of one class, or are 0 or 1
{with}SELECT {keys}, (o.t_ns - {t0}) / {step} AS n, iif(o.class > 0, 1 << o.class - 1, 0) AS value, o.n AS operations,
	CASE WHEN o.class <= 1 THEN o.n * o.class WHEN json_array_length(o.sizes) = 2 THEN o.bytes END AS bytes, o.first_ns
FROM (SELECT m.*, m.operation AS name, CAST(substr(m.sizes, 2) AS INTEGER) + e.key - 1 AS class, CAST(e.value AS INTEGER) AS n
	FROM process_metric m JOIN json_each(iif(json_valid(m.sizes), m.sizes, '[]')) e ON e.key > 0 AND e.value > 0) o {joins o}
{where o.t_ns | o.t_ns}

--- time.files of op: files that were touched in each interval
{with}SELECT CAST((o.start_ns - {t0}) / {step} * {step} AS REAL) / 1e9 AS from_s, f.path, count(*) AS operations,
	sum(iif(o.name = 'read', o.bytes, 0)) AS read_bytes,
	sum(iif(o.name = 'write', o.bytes, 0)) AS written_bytes
FROM {op name start_ns bytes file | o.file IS NOT NULL} {joins o f}
{where o.start_ns | o.start_ns} GROUP BY 1, o.file ORDER BY 1, min(o.start_ns), o.file

--- time.span of process: the length of the trace, and that of the run: from the first start to the last exit
{with end_ns}SELECT max(max(max(p.start_ns, coalesce(p.end_ns, p.start_ns))) - {t0}, coalesce((SELECT value FROM trace
	WHERE key = 'end_ns' AND NOT EXISTS (SELECT 1 FROM trace WHERE key = 'command' AND value NOTNULL)), 0) - {t0}) AS span_ns,
	max(max(p.start_ns, coalesce(p.end_ns, p.start_ns))) - min(p.start_ns) AS run_ns FROM proc p
