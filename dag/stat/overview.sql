-- SPDX-License-Identifier: MIT

--- overview of none: the run in a few facts
WITH t AS MATERIALIZED (SELECT key, value FROM trace),
p AS MATERIALIZED (SELECT id, parent, step, part, start_ns, end_ns, cpu_ns, rsspeak_bytes, exit_signal,
		exit_code, read_char FROM process),
h AS MATERIALIZED (SELECT count(*) AS n, sum(bread) AS bread,
		sum(bwrite) AS bwrite, sum(read_ns) + sum(write_ns) AS io_ns FROM handle)
SELECT
	(SELECT value FROM t WHERE key = 'command') AS command,
	(SELECT value FROM t WHERE key = 'exit_status') AS exit_status,
	(SELECT value FROM t WHERE key = 'host') AS host,
	(SELECT value FROM t WHERE key = 'cpus') AS cpus,
	(SELECT value FROM t WHERE key = 'start_ns') AS begin_ns,
	-- As the summary says: a command ends before its trace.
	coalesce((SELECT max(p.end_ns) - min(p.start_ns) FROM t JOIN p ON t.key = 'command' AND t.value NOTNULL AND p.parent ISNULL),
		coalesce((SELECT value FROM t WHERE key = 'end_ns'), (SELECT max(end_ns) FROM p))
		- (SELECT value FROM t WHERE key = 'start_ns')) AS wall_ns,
	(SELECT value FROM t WHERE key = 'tracer_cpu_ns') AS tracer_cpu_ns,
	(SELECT count(*) FROM p) AS processes, (SELECT count(DISTINCT step) FROM p) AS steps,
	(SELECT count(DISTINCT part) FROM p) AS tasks,
	(SELECT count(*) FROM p WHERE exit_signal IS NOT NULL OR exit_code <> 0) AS failed_or_killed,
	(SELECT sum(cpu_ns) FROM p) AS cpu_ns, (SELECT count(*) - count(cpu_ns) FROM p) AS processes_without_cpu,
	(SELECT max(rsspeak_bytes) FROM p) AS largest_rss_bytes,
	(SELECT value FROM t WHERE key = 'ops_recorded') AS operations,
	h.n AS opens, (SELECT count(DISTINCT file) FROM access WHERE opens > 0) AS files_opened, h.bread AS read_bytes, h.bwrite AS written_bytes,
	h.io_ns AS reading_and_writing_ns,
	(SELECT value FROM t WHERE key = 'bytes_kernel') AS all_io_bytes,
	(SELECT count(*) - count(read_char) FROM p) AS processes_without_io,
	(SELECT value FROM t WHERE key = 'fidelity') AS fidelity,
	(SELECT value FROM t WHERE key = 'process_tier') AS process_tier,
	(SELECT value FROM t WHERE key = 'ops_lost') AS operations_lost,
	(SELECT value FROM t WHERE key = 'process_events_lost') AS process_events_lost,
	(SELECT value FROM t WHERE key = 'complete') AS complete
FROM h
