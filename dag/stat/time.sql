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
