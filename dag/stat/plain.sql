-- SPDX-License-Identifier: MIT

--- proc of process: each process, as wfprof's pprof has it, and more
{with *}SELECT p.xform, p.pid, p.ppid, p.exe, p.lstart, p.lstop,
	p.start_ns / 1e9 AS tstart, p.end_ns / 1e9 AS tstop,
	p.vmpeak_bytes / 1024 AS vmpeak, p.rsspeak_bytes / 1024 AS rsspeak,
	p.utime_ns / 1e9 AS utime, p.stime_ns / 1e9 AS stime,
	(p.end_ns - p.start_ns) / 1e9 AS wtime,
	p.id AS process, p.parent, p.job, p.phase, p.host, p.program, p.state, p.exit_code, p.exit_signal,
	p.start_ns, p.end_ns, p.end_ns - p.start_ns AS runtime_ns, p.cpu_ns,
	CAST(p.utime_ns + p.stime_ns AS REAL) / nullif(p.end_ns - p.start_ns, 0) AS utilization,
	p.read_char, p.write_char, p.read_bytes, p.write_bytes, p.nvcsw, p.nivcsw, p.minflt, p.majflt,
	p.cpu_delay_ns, p.blkio_delay_ns, p.swapin_delay_ns, p.reclaim_delay_ns, p.tier, p.command
FROM proc p ORDER BY p.start_ns, p.id

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
	coalesce(s.files, 0) AS files, l.processes, l.rss AS rss_bytes
FROM bounds b LEFT JOIN step s ON s.n = b.n LEFT JOIN lived l ON l.n = b.n
{time {t0} + b.n * {step} | {t0} + (b.n + 1) * {step} - 1} ORDER BY b.n

--- time.files of op: files that were touched in each interval
{with}SELECT CAST((o.start_ns - {t0}) / {step} * {step} AS REAL) / 1e9 AS from_s, f.path, count(*) AS operations,
	sum(iif(o.name = 'read', o.bytes, 0)) AS read_bytes,
	sum(iif(o.name = 'write', o.bytes, 0)) AS written_bytes
FROM {op name start_ns bytes file | o.file IS NOT NULL} {joins o f}
{where o.start_ns | o.start_ns} GROUP BY 1, o.file ORDER BY 1, min(o.start_ns), o.file

--- errors of op by command: operations that failed
{with}SELECT CASE WHEN o.name IN ('lookup', 'getattr', 'access', 'open') AND o.result IN (-2, -20)
		THEN 'search' WHEN o.name IN ('getxattr', 'listxattr') AND o.result IN (-61, -95)
		OR o.name = 'readlink' AND o.result = -22 OR o.name = 'ioctl' AND o.result = -25
		THEN 'probe' ELSE 'error' END AS kind,
	o.name AS operation, -o.result AS errno, {keys}, o.path, count(*) AS count,
	min(o.start_ns) AS first_ns
FROM {op name result path start_ns | o.result < 0} {joins o}
{where o.start_ns | o.start_ns}
GROUP BY o.name, o.result, {group 4}, o.path
ORDER BY 1, count(*) DESC, min(o.start_ns)

--- errors.ghosts of use by command: names that were looked for and not there
{with}SELECT 'search' AS kind, 'lookup' AS operation, 2 AS errno, {keys}, g.path, sum(g.count) AS count,
	min(g.first_ns) AS first_ns
FROM (SELECT *, NULL AS file FROM ghost) g {joins g}
{where g.first_ns | g.first_ns} GROUP BY {group 4}, g.path ORDER BY sum(g.count) DESC, min(g.first_ns)

--- list of op: what happened, one thing after the other
{with end_ns pid program exit_code exit_signal}
SELECT t_ns, process, pid, program, event, path, detail, result, latency_ns, moved_bytes FROM (
	SELECT o.start_ns AS t_ns, 2 AS rank, o.id, o.process, p.pid, p.program, o.name AS event, o.path,
		coalesce(o.path2, iif(o.length IS NOT NULL, coalesce(o.offset, '?') || '+' || o.length, NULL))
			AS detail,
		o.result, o.latency_ns, o.bytes AS moved_bytes
	FROM op o {joins o p}
	{where o.start_ns | o.start_ns}
	{[}UNION ALL SELECT p.start_ns, 0, 0, p.id, p.pid, p.program, 'start', NULL, NULL, NULL, NULL, NULL
	FROM proc p {time p.start_ns | p.start_ns}
	UNION ALL SELECT i.start_ns, 1, i.id, p.id, p.pid, i.program, 'exec', i.exe, i.command, NULL, NULL,
		NULL
	FROM image i JOIN proc p ON p.id = i.process WHERE i.seq > 0 {and_time i.start_ns | i.start_ns}
	UNION ALL SELECT p.end_ns, 3, 0, p.id, p.pid, p.program, 'exit', NULL,
		iif(p.exit_signal IS NULL, 'status ' || p.exit_code, 'signal ' || p.exit_signal), NULL, NULL,
		NULL
	FROM proc p WHERE p.end_ns IS NOT NULL {and_time p.end_ns | p.end_ns}{]})
ORDER BY t_ns, rank, id

--- overview of none: the run in a few facts
WITH t AS MATERIALIZED (SELECT key, value FROM trace),
p AS MATERIALIZED (SELECT id, job, xform, phase, start_ns, end_ns, cpu_ns, rsspeak_bytes, exit_signal,
		exit_code, read_char FROM process),
h AS MATERIALIZED (SELECT count(*) AS n, count(DISTINCT file) AS files, sum(bread) AS bread,
		sum(bwrite) AS bwrite, sum(read_ns) + sum(write_ns) AS io_ns FROM handle)
SELECT
	(SELECT value FROM t WHERE key = 'command') AS command,
	(SELECT value FROM t WHERE key = 'exit_status') AS exit_status,
	(SELECT value FROM t WHERE key = 'host') AS host,
	(SELECT value FROM t WHERE key = 'cpus') AS cpus,
	(SELECT value FROM t WHERE key = 'start_ns') AS begin_ns,
	coalesce((SELECT value FROM t WHERE key = 'end_ns'), (SELECT max(end_ns) FROM p))
		- (SELECT value FROM t WHERE key = 'start_ns') AS wall_ns,
	(SELECT value FROM t WHERE key = 'tracer_cpu_ns') AS tracer_cpu_ns,
	(SELECT count(*) FROM p) AS processes, (SELECT count(DISTINCT job) FROM p) AS jobs,
	(SELECT count(DISTINCT phase) FROM p) AS phases,
	(SELECT count(*) FROM p WHERE exit_signal IS NOT NULL OR exit_code <> 0) AS failed_or_killed,
	(SELECT sum(cpu_ns) FROM p) AS cpu_ns, (SELECT count(*) - count(cpu_ns) FROM p) AS processes_without_cpu,
	(SELECT max(rsspeak_bytes) FROM p) AS largest_rss_bytes,
	(SELECT value FROM t WHERE key = 'ops_recorded') AS operations,
	h.n AS opens, h.files AS files_opened, h.bread AS read_bytes, h.bwrite AS written_bytes,
	h.io_ns AS reading_and_writing_ns,
	(SELECT value FROM t WHERE key = 'bytes_kernel') AS all_io_bytes,
	(SELECT count(*) - count(read_char) FROM p) AS processes_without_io,
	(SELECT value FROM t WHERE key = 'fidelity') AS fidelity,
	(SELECT value FROM t WHERE key = 'process_tier') AS process_tier,
	(SELECT value FROM t WHERE key = 'ops_lost') AS operations_lost,
	(SELECT value FROM t WHERE key = 'process_events_lost') AS process_events_lost,
	(SELECT value FROM t WHERE key = 'complete') AS complete
FROM h

--- time.span of process: how long it went on
{with end_ns}SELECT max(max(max(p.start_ns, coalesce(p.end_ns, p.start_ns))) - {t0}, coalesce((SELECT value FROM trace
	WHERE key = 'end_ns'), 0) - {t0}) AS span_ns FROM proc p
