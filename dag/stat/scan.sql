-- SPDX-License-Identifier: MIT

--- scan of op by all: each operation, for all tables of operations; writes: 0 or 1 for reads and writes that did not fail
{with}SELECT {keys}, o.name, o.latency_ns, o.result < 0 AS failed,
	CASE WHEN o.result >= 0 THEN CASE o.name WHEN 'read' THEN 0 WHEN 'write' THEN 1 END END AS writes,
	o.handle, o.offset, o.bytes, (o.start_ns - {t0}) / {step} AS n
FROM {op id name latency_ns result handle offset bytes start_ns} {joins o}
{where o.start_ns | o.start_ns} {order o.id}

--- scan.levels of process: processes and memory in each interval
{with end_ns rsspeak_bytes},
{part memory},
ends AS (SELECT max(coalesce((SELECT max(t) FROM change), {t0}),
	coalesce((SELECT value FROM trace WHERE key = 'end_ns'), (SELECT max(last_ns) FROM access), 0)) AS last),
{part levels}
SELECT b.n, CAST(b.n * {step} AS REAL) / 1e9 AS from_s, l.processes, l.working, l.rss AS rss_bytes,
	coalesce((SELECT max(t) - {t0} FROM change), 0) / {step} AS last
FROM bounds b LEFT JOIN lived l ON l.n = b.n
{time {t0} + b.n * {step} | {t0} + (b.n + 1) * {step} - 1} ORDER BY b.n
