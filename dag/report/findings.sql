-- SPDX-License-Identifier: MIT

--- finding.small-writes of use by command: programs that write little at a time
{with}SELECT {keys}, sum(a.nwrite) AS writes, sum(a.bwrite) AS written_bytes,
	sum(a.bwrite) * 1.0 / sum(a.nwrite) AS mean_bytes,
	CAST(sum(iif(a.nwrite > 0, a.io_ns * 1.0 * a.nwrite / (a.nread + a.nwrite), 0)) AS INTEGER) AS gain_ns
FROM access a {joins a}
{where a.first_ns | a.last_ns} GROUP BY {group}
HAVING sum(a.nwrite) >= 1000 AND sum(a.bwrite) < 4096 * sum(a.nwrite) ORDER BY writes DESC

--- finding.small-reads of use by command: programs that read little at a time
{with}SELECT {keys}, sum(a.nread) AS reads, sum(a.bread) AS read_bytes,
	sum(a.bread) * 1.0 / sum(a.nread) AS mean_bytes,
	CAST(sum(iif(a.nread > 0, a.io_ns * 1.0 * a.nread / (a.nread + a.nwrite), 0)) AS INTEGER) AS gain_ns
FROM access a {joins a}
{where a.first_ns | a.last_ns} GROUP BY {group}
HAVING sum(a.nread) >= 1000 AND sum(a.bread) < 4096 * sum(a.nread) ORDER BY reads DESC

--- finding.re-reads of use by all: files with many bytes read again of one version
{with},
{part versions}
SELECT path, size_bytes, read_bytes, read_bytes * 1.0 / size_bytes AS reread,
	read_bytes - size_bytes AS saved_bytes, readers, CAST(read_ns * (1 - size_bytes * 1.0 / read_bytes) AS INTEGER) AS gain_ns
FROM version WHERE size_bytes > 0 AND read_bytes >= 2 * size_bytes AND read_bytes - size_bytes > 1000000
ORDER BY saved_bytes DESC, file, version

--- finding.many-opens of use by all: files that are opened very often
{with},
a AS MATERIALIZED (SELECT a.file, sum(a.opens) AS opens, count(DISTINCT a.process) AS processes,
		sum(a.bread) AS bread, sum(a.bwrite) AS bwrite
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file HAVING sum(a.opens) >= 200)
SELECT k.path, a.opens, a.processes, a.bread AS read_bytes, a.bwrite AS written_bytes
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' ORDER BY a.opens DESC, a.file

--- finding.metadata of use by command: programs with more metadata operations than reads and writes
{with},
spent AS MATERIALIZED (SELECT id, ops_ns FROM process),
used AS (SELECT {keys}, a.opens + a.nmeta AS asked, a.nread + a.nwrite AS moved, coalesce(a.io_ns, 0) AS moving_ns,
		iif(row_number() OVER (PARTITION BY a.process) = 1, s.ops_ns, 0) AS ops_ns
	FROM access a LEFT JOIN spent s ON s.id = a.process {joins a}
	{where a.first_ns | a.last_ns})
SELECT {names}, sum(asked) AS asked, sum(moved) AS moved, sum(ops_ns) - sum(moving_ns) AS gain_ns
FROM used GROUP BY {names}
HAVING count(*) = count(moved) AND sum(asked) >= 1000 AND sum(asked) >= 2 * sum(moved)
ORDER BY asked DESC

--- finding.searches of use by command: programs that look up names that do not exist
{with}SELECT {keys}, sum(g.count) AS searches, count(DISTINCT g.path) AS names
FROM (SELECT *, NULL AS file FROM ghost) g {joins g}
{where g.first_ns | g.first_ns} GROUP BY {group} HAVING sum(g.count) >= 1000 ORDER BY searches DESC

--- finding.serial of process by step: steps of which one task ran alone
{with end_ns part step},
job AS MATERIALIZED (SELECT row_number() OVER (ORDER BY min(start_ns)) AS n, step,
		max(min(start_ns), coalesce((SELECT value FROM trace WHERE key = 'start_ns'), 0)) AS t0,
		max(coalesce(end_ns, last)) AS t1
	-- What has no known end runs to the end of the trace; what was before its begin does not count.
	FROM proc, (SELECT max(coalesce((SELECT value FROM trace WHERE key = 'end_ns'), 0),
			(SELECT max(coalesce(end_ns, start_ns)) FROM proc)) AS last)
	WHERE part IS NOT NULL GROUP BY part),
change AS (SELECT t0 AS t, 1 AS more, n FROM job UNION ALL SELECT t1, -1, -n FROM job),
-- While one task runs, the sum of the numbers of running tasks is the number of that task.
level AS (SELECT t, sum(more) OVER w AS running, sum(n) OVER w AS n, lead(t) OVER w - t AS ns FROM change
	WINDOW w AS (ORDER BY t, more, n ROWS UNBOUNDED PRECEDING)),
alone AS (SELECT j.step, sum(l.ns) AS alone_ns, count(*) AS times
	FROM level l JOIN job j ON j.n = l.n WHERE l.running = 1 GROUP BY j.step),
run AS (SELECT (SELECT max(max(start_ns, coalesce(end_ns, start_ns))) - min(start_ns) FROM proc) AS ns, count(*) AS jobs,
		(SELECT value FROM trace WHERE key = 'cpus') AS cpus
	FROM job)
SELECT a.step, a.alone_ns, a.alone_ns * 1.0 / run.ns AS run_share, run.cpus, a.alone_ns * (run.cpus - 1) / run.cpus AS gain_ns
FROM alone a, run WHERE a.alone_ns >= 0.1 * run.ns AND run.cpus > 1 AND run.jobs > 1 ORDER BY a.alone_ns DESC

--- finding.memory of process by step: steps whose processes need more memory than the host has for each processor
{with rsspeak_bytes step},
host AS MATERIALIZED (SELECT (SELECT value FROM trace WHERE key = 'memory_bytes') AS memory,
	(SELECT value FROM trace WHERE key = 'cpus') AS cpus)
SELECT p.step, max(p.rsspeak_bytes) AS largest_bytes, h.memory / max(p.rsspeak_bytes) AS fit,
	h.memory AS memory_bytes, h.cpus
FROM proc p, host h GROUP BY p.step HAVING max(p.rsspeak_bytes) * h.cpus > h.memory
ORDER BY largest_bytes DESC

--- finding.slow-edges of use by all: data that moved slowly
{with program},
-- Grouped by files first: paths are long, and there are many uses.
moved AS MATERIALIZED (SELECT p.program, u.file, sum(u.bread + u.bwrite) AS bytes, sum(u.read_ns + u.write_ns) AS ns
	FROM use u {joins u p} {where u.first_ns | u.last_ns} GROUP BY p.program, u.file),
edge AS MATERIALIZED (SELECT m.program, k.path, sum(m.bytes) AS bytes, sum(m.ns) AS ns
	FROM moved m JOIN file k ON k.id = m.file WHERE k.kind = 'file' GROUP BY m.program, k.path),
every AS MATERIALIZED (SELECT sum(bytes) * 1e9 / sum(ns) AS rate FROM edge)
SELECT program AS command, path, bytes AS moved_bytes, ns AS moving_ns, bytes * 1e9 / ns AS moved_rate,
	every.rate AS all_rate, CAST(ns - bytes * 1e9 / every.rate AS INTEGER) AS gain_ns
FROM edge, every WHERE bytes >= 1000000 AND ns > 0 AND bytes * 1e9 / ns < every.rate / 4
ORDER BY moving_ns DESC

--- finding.failures of process by step: processes that failed
{with label exit_code exit_signal step}SELECT p.label, {part ending} AS how,
	count(*) AS times, min(p.step) AS step, min(p.id) AS first_process
FROM proc p WHERE p.exit_code <> 0 OR p.exit_signal IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC, 1

--- finding.errors of op by operation: operations that failed, other than searches and probes
{with}SELECT {keys}, -o.result AS errno,
	count(*) AS count, min(o.path) AS example, sum(o.latency_ns) AS gain_ns
FROM {op name result path latency_ns | o.result < 0 AND NOT (o.name IN ('lookup', 'getattr', 'access', 'open', 'opendir', 'readlink')
	AND o.result IN (-2, -20) OR o.name IN ('getxattr', 'listxattr') AND o.result IN (-61, -95)
	OR o.name = 'readlink' AND o.result = -22 OR o.name = 'ioctl' AND o.result = -25 OR o.name = 'lseek' AND o.result = -29
		OR o.name IN ('read', 'write', 'send', 'recv', 'accept', 'connect') AND o.result IN (-11, -115))} {joins o}
{where o.start_ns | o.start_ns} GROUP BY {group}, o.result ORDER BY count DESC
