-- SPDX-License-Identifier: MIT

--- intervals of op: each operation, and its interval; writes: 0 or 1 for reads and writes
{with}SELECT (o.start_ns - {t0}) / {step} AS n, CASE o.name WHEN 'read' THEN 0 WHEN 'write' THEN 1 END AS writes, o.bytes, o.file
FROM {op name start_ns bytes file} {joins o}
{where o.start_ns | o.start_ns}

--- intervals.sums of metric: sums of operations, and their interval
{with}SELECT (o.t_ns - {t0}) / {step} AS n, o.count AS operations, CASE o.name WHEN 'read' THEN 0 WHEN 'write' THEN 1 END AS writes, o.bytes
FROM (SELECT *, operation AS name FROM process_metric) o {joins o}
{where o.t_ns | o.t_ns}

--- intervals.levels of op: processes and memory in each interval
{with end_ns rsspeak_bytes},
{part memory},
ends AS (SELECT max(coalesce((SELECT max(t) FROM change), {t0}), {t0} + {last} * {step}) AS last),
{part levels}
SELECT b.n, CAST(b.n * {step} AS REAL) / 1e9 AS from_s, l.processes, l.working, l.rss AS rss_bytes
FROM bounds b LEFT JOIN lived l ON l.n = b.n
{time {t0} + b.n * {step} | {t0} + (b.n + 1) * {step} - 1} ORDER BY b.n
