-- SPDX-License-Identifier: MIT
--
-- The queries behind the tables of wfstat.  Each begins with a line
--
--     --- NAME of WHAT by DIMENSIONS: what a row is
--
-- DIMENSIONS is how rows are grouped unless something else is asked for, WHAT says by what they can be:
-- process (what belongs to a process), use (of a file by a process), part (the same,
-- but grouped by what belongs to the process), image (the same, and the program is
-- known that the process ran then), op (the same, of one operation), file, or none.  In braces stands
-- what depends on the options (compose.c):
--
--     {with COLUMNS}  tables for what follows: proc, the processes that are asked for, with these columns
--                     and all that the options need; img, fil: images, files
--     {keys} {group}  the columns that rows are grouped by; the same for GROUP BY ({group N}: they begin
--                     with the Nth column)
--     {names}         only their names;  {total}  values in their place: 'Total' and NULLs
--     {unit} {of}     what is counted once, a job or a process; which of them
--     {joins U}       what keys and conditions need beside the table U: p of proc, i of img, f of fil;
--                     {joins U p f} these in any case;  {filters U} only what conditions need
--     {where A | B}   conditions on these, and that the time from A to B is asked for
--     {chosen A | B}  the same as a value, 0 or 1
--     {and A | B}     the same, behind others;  {time A | B}, {and_time A | B}  only that of time
--     {op COLUMNS | CONDITION}  the table "o" of operations, with these columns and what keys and
--                     conditions need: not all of them are worked out then (LIMIT keeps SQLite from
--                     putting the queries together, and from working out all)
--     {[} {]}         what stands between is left out where files make a difference
--     {file} {/file}  what stands between is left out where they do not
--     {order COLUMN}  where there are joins, which may change the order of operations
--     {t0} {step}     the begin of the run, and the length of an interval, in ns
--     {part NAME}     what stands below "--+ NAME", which several need
--
-- Rows are in the order in which things began.

--+ memory
alive AS (SELECT * FROM proc p {time p.start_ns | coalesce(p.end_ns, 9223372036854775807)}),
-- A process has the memory that the last look at it found, until then that of the first one; its peak if
-- nobody looked.  One of which that is not known counts for nothing; where none is known, the sum is not.
look AS (SELECT process, t_ns, rss_bytes FROM sample WHERE rss_bytes IS NOT NULL),
begun AS (SELECT p.id, p.start_ns, p.end_ns, coalesce((SELECT s.rss_bytes FROM look s
	WHERE s.process = p.id ORDER BY s.t_ns LIMIT 1), p.rsspeak_bytes) AS rss FROM alive p),
seen AS (SELECT id, start_ns AS t, 1 AS more, rss IS NOT NULL AS known, coalesce(rss, 0) AS rss FROM begun
	UNION ALL SELECT s.process, s.t_ns, 0, 0, s.rss_bytes FROM look s JOIN begun p ON p.id = s.process
	UNION ALL SELECT id, end_ns, -1, -(rss IS NOT NULL), 0 FROM begun WHERE end_ns IS NOT NULL),
change AS (SELECT t, more, known, rss - coalesce(lag(rss) OVER (PARTITION BY id ORDER BY t, -more), 0) AS rss
	FROM seen)

--+ levels
-- A trace may be made up.
bounds (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM bounds, ends
	WHERE {t0} + (n + 1) * {step} <= ends.last AND n < 1000000),
level AS (SELECT t, sum(more) OVER w AS processes, sum(known) OVER w AS known, sum(rss) OVER w AS rss
	FROM (SELECT t, more, known, rss FROM change UNION ALL SELECT {t0} + n * {step}, 0, 0, 0 FROM bounds)
	WINDOW w AS (ORDER BY t, more, rss ROWS UNBOUNDED PRECEDING)),
lived AS (SELECT max(0, (t - {t0}) / {step}) AS n, max(processes) AS processes,
	iif(max(processes) > 0 AND max(known) = 0, NULL, max(rss)) AS rss
	FROM level WHERE t >= {t0} GROUP BY 1)

--+ versions
-- The sizes of the first version of a file and of the last one are known, not of those between them.
last AS MATERIALIZED (SELECT file, max(version) AS version FROM access GROUP BY file),
every AS MATERIALIZED (SELECT a.file, a.version, sum(a.bread) AS read_bytes,
		count(DISTINCT iif(a.reads, a.process, NULL)) AS readers
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file, a.version),
version AS (SELECT k.path, a.file, a.version, a.read_bytes, a.readers,
		CASE WHEN a.version = l.version THEN coalesce(k.size_last, k.size_first)
			WHEN a.version = 1 AND NOT k.created THEN k.size_first END AS size_bytes
	FROM every a JOIN file k ON k.id = a.file JOIN last l ON l.file = a.file WHERE k.kind = 'file')

--- run of process by xform,exe: run time of each job or process
{with end_ns}SELECT {keys}, {of} AS "of",
	CASE WHEN count(*) = count(p.end_ns) THEN max(p.end_ns) - min(p.start_ns) END AS runtime_ns
FROM proc p GROUP BY {unit}, {group} ORDER BY min(p.start_ns), min(p.id)

--- mem.process of process by xform,exe: peak resident memory of each process
{with rsspeak_bytes}SELECT {keys}, 'process' AS "of", p.rsspeak_bytes AS rss_bytes
FROM proc p ORDER BY p.start_ns, p.id

--- mem.job of process by xform,exe: peak resident memory of each job, from above and from below
{with end_ns rsspeak_bytes},
part AS MATERIALIZED (SELECT {keys}, {of} AS of_what, {unit} AS unit, p.start_ns AS t0,
		max(coalesce(p.end_ns, 9223372036854775807), p.start_ns + 1) AS t1, p.rsspeak_bytes AS rss
	FROM proc p),
-- Who ends at the moment at which another one begins is gone by then.
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

--- util of process by xform,exe: use of the processor, and where the rest of the time went
{with end_ns utime_ns stime_ns cpu_ns cpu_delay_ns blkio_delay_ns swapin_delay_ns reclaim_delay_ns ops_ns}
SELECT {keys}, {of} AS "of",
	CASE WHEN count(*) = count(p.end_ns) AND count(*) = count(p.utime_ns + p.stime_ns)
		THEN CAST(sum(p.utime_ns + p.stime_ns) AS REAL) / nullif(max(p.end_ns) - min(p.start_ns), 0)
		END AS utilization,
	iif(count(*) = count(p.end_ns), sum(p.end_ns - p.start_ns), NULL) AS life_ns,
	iif(count(*) = count(p.cpu_ns), sum(p.cpu_ns), NULL) AS cpu_ns,
	iif(count(*) = count(p.cpu_delay_ns), sum(p.cpu_delay_ns), NULL) AS queue_ns,
	iif(count(*) = count(p.blkio_delay_ns), sum(p.blkio_delay_ns), NULL) AS block_io_ns,
	iif(count(*) = count(p.swapin_delay_ns + p.reclaim_delay_ns),
		sum(p.swapin_delay_ns + p.reclaim_delay_ns), NULL) AS memory_ns,
	iif(count(*) = count(p.ops_ns), sum(p.ops_ns), NULL) AS traced_io_ns
FROM proc p
GROUP BY {unit}, {group} ORDER BY min(p.start_ns), min(p.id)

--- io of image by xform,exe: what was read and written, to be summed up by jobs or processes (unit)
{with image},
-- Apart what the kernel has read of a program; LIMIT: exec is worked out once for each row.
moved AS ({[}SELECT process, image, NULL AS file, handle, exec, sum(nread) AS nread, sum(bread) AS bread,
		sum(nwrite) AS nwrite, sum(bwrite) AS bwrite
	FROM use u {time u.first_ns | u.last_ns} GROUP BY image, iif(exec, handle, 0){]}{file}
	SELECT process, image, file, handle, exec, nread, bread, nwrite, bwrite
	FROM use u {time u.first_ns | u.last_ns} LIMIT -1{/file}),
-- That belongs to the program, also before it has begun.
used AS (SELECT process, iif(exec, coalesce((SELECT i.id FROM handle h JOIN image i ON i.process = h.process
			WHERE h.id = m.handle AND h.process = m.process AND i.start_ns >= h.open_ns
			ORDER BY i.seq LIMIT 1), image), image) AS image, file,
		iif(exec, 0, nread) AS nread, iif(exec, 0, bread) AS bread, nwrite, bwrite,
		iif(exec, nread, 0) AS nexec, iif(exec, bread, 0) AS bexec
	FROM moved m
	-- Data that passed unseen: it is not known how much.
	UNION ALL SELECT h.process, h.image, h.file, iif(h.exec, 0, NULL), iif(h.exec, 0, NULL),
		iif(h.exec, 0, NULL), iif(h.exec, 0, NULL), iif(h.exec, NULL, 0), iif(h.exec, NULL, 0)
	FROM handle h WHERE h.nread IS NULL {and_time h.open_ns | coalesce(h.close_ns, h.open_ns)}
	-- Who reads and writes nothing, reads and writes 0 bytes, if that was looked at.
	{[}UNION ALL SELECT p.id, p.image, NULL, z.n, z.n, z.n, z.n, z.n, z.n
	FROM (SELECT *, iif(fidelity IS NULL, NULL, 0) AS n FROM run) z
		JOIN proc p ON p.id BETWEEN z.first_process AND z.last_process
	{time p.start_ns | coalesce(p.end_ns, 9223372036854775807)}{]})
SELECT {keys}, {of} AS "of", {unit} AS unit, p.start_ns, u.bread AS read_bytes, u.bwrite AS written_bytes,
	u.nread AS reads, u.nwrite AS writes, u.bexec AS read_at_exec_bytes, u.nexec AS reads_at_exec
FROM used u {joins u p}
{where}

--- sys of op by operation: latency of each operation
{with}SELECT {keys}, o.latency_ns, o.result < 0 AS failed
FROM {op id name latency_ns result} {joins o}
{where o.start_ns | o.start_ns} {order o.id}

--- phase.processes of part by phase: what each process belongs to, and what belongs to none
{with end_ns},
nobody AS (SELECT {keys} FROM (SELECT 0) LEFT JOIN proc p ON 0)
SELECT {keys}, p.id, p.start_ns FROM proc p {time p.start_ns | coalesce(p.end_ns, 9223372036854775807)}
UNION ALL SELECT *, 0, NULL FROM nobody
ORDER BY id

--- phase.jobs of part by phase: number of jobs, and when the first one began; of all of them together
{with job end_ns},
jobs AS MATERIALIZED (SELECT {keys}, p.job, p.start_ns FROM proc p
	WHERE p.job IS NOT NULL {and_time p.start_ns | coalesce(p.end_ns, 9223372036854775807)})
SELECT {names}, count(DISTINCT job) AS jobs, min(start_ns) AS start_ns, 0 AS total FROM jobs GROUP BY {names}
UNION ALL SELECT {total}, count(DISTINCT job), NULL, 1 FROM jobs

--- phase of part by phase: who read and wrote which file, file by file
{with}SELECT coalesce(a.process, 0) AS process, a.file, a.nread IS NOT NULL AS known, a.bread AS read_bytes,
	a.bwrite AS written_bytes,
	coalesce(a.nread > 0 OR a.mapped OR a.executed OR a.nread IS NULL AND a.assumed_read, 0) AS r,
	coalesce(a.nwrite > 0 OR a.created OR a.truncated OR a.nwrite IS NULL AND a.assumed_write, 0) AS w
FROM access a JOIN file k ON k.id = a.file {filters a}
WHERE k.kind = 'file' AND (a.opens > 0 OR a.executed OR a.created OR a.nread > 0 OR a.nwrite > 0)
	{and a.first_ns | a.last_ns} ORDER BY a.file

--- file of file: each file, who read and wrote it, how much and when
{with},
a AS MATERIALIZED (SELECT a.file, count(DISTINCT iif(a.reads, a.process, NULL)) AS readers,
		count(DISTINCT iif(a.writes, a.process, NULL)) AS writers, sum(a.opens) AS opens,
		iif(count(*) = count(a.nread), sum(a.nread), NULL) AS reads,
		iif(count(*) = count(a.nwrite), sum(a.nwrite), NULL) AS writes,
		iif(count(*) = count(a.nread), sum(a.bread), NULL) AS read_bytes,
		iif(count(*) = count(a.nwrite), sum(a.bwrite), NULL) AS written_bytes,
		min(a.first_ns) AS first_ns, max(a.last_ns) AS last_ns,
		max(a.writes) AND NOT max(a.reads) AS never_read
	FROM access a {joins a}
	{where a.first_ns | a.last_ns} GROUP BY a.file),
u AS MATERIALIZED (SELECT u.file, sum(u.read_ns) AS read_ns, sum(u.write_ns) AS write_ns
	FROM use u {joins u}
	{where u.first_ns | u.last_ns} GROUP BY u.file)
SELECT f.id AS file, f.path, f.kind, f.fstype, f.mount, coalesce(f.size_last, f.size_first) AS size_bytes,
	a.readers, a.writers, a.opens, a.reads, a.writes, a.read_bytes, a.written_bytes,
	CAST(a.read_bytes AS REAL) / nullif(coalesce(f.size_last, f.size_first), 0) AS reread,
	NULL AS portion_share, a.first_ns, a.last_ns, a.never_read, f.created AND f.deleted AS temporary,
	a.read_bytes * 1e9 / nullif(u.read_ns, 0) AS read_rate,
	a.written_bytes * 1e9 / nullif(u.write_ns, 0) AS write_rate
FROM a JOIN file f ON f.id = a.file LEFT JOIN u ON u.file = a.file
WHERE f.kind IS NOT 'dir' ORDER BY a.first_ns, f.id

--- file.plain of none: how much was read of files that were only read from their begin on
SELECT file, max(bread) AS bytes FROM handle GROUP BY file
HAVING max(iif(nread > 0, nseek + nwrite, 0)) = 0 AND count(*) = count(bread)

--- file.reads of op: what was read
{with}SELECT o.file, o.offset, o.bytes
FROM {op file offset bytes | o.name = 'read' AND o.result >= 0} {joins o}
{where o.start_ns | o.start_ns}

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

--- handle of image: each open file of a program, as wfprof's ioprof has it, and more
{with xform pid},
-- wfstat itself puts handle.opens, handle.uses and handle.programs together: the same in half of the time.
u AS (SELECT handle, image, process, file, sum(bread) AS bread, sum(nread) AS nread,
		sum(bwrite) AS bwrite, sum(nwrite) AS nwrite, sum(nseek) AS nseek
	FROM use GROUP BY handle, image
	-- A handle that nobody used belongs to the one that opened it.
	UNION ALL SELECT h.id, h.image, h.process, h.file, h.bread, h.nread, h.bwrite, h.nwrite, h.nseek
	FROM handle h WHERE NOT EXISTS (SELECT 1 FROM use WHERE handle = h.id))
SELECT p.xform, p.pid, i.exe, h.path AS file, u.bread, u.nread, u.bwrite, u.nwrite, u.nseek, h.mode,
	h.flags, h.id AS handle, p.id AS process, h.fidelity, h.open_ns, h.close_ns
FROM u CROSS JOIN handle h ON h.id = u.handle {joins u p i}
{where h.open_ns | coalesce(h.close_ns, h.open_ns)}
ORDER BY h.id, u.image

--- handle.programs of none: who ran what
WITH p AS MATERIALIZED (SELECT id, xform, pid FROM process)
SELECT p.xform, p.pid, i.exe, p.id AS process, i.id AS image
FROM image i LEFT JOIN p ON p.id = i.process ORDER BY i.id

--- handle.uses of part: how much was read and written by each open file, and whether that is asked for
{with}SELECT u.image, u.bread, u.nread, u.bwrite, u.nwrite, u.nseek, u.handle, {chosen} AS chosen
FROM use u {filters u}ORDER BY u.handle

--- handle.opens of part: each open file, and whether it is asked for
{with}SELECT h.image, h.bread, h.nread, h.bwrite, h.nwrite, h.nseek, h.id AS handle, {chosen} AS chosen,
	h.path AS file, h.mode, h.flags, h.fidelity, h.open_ns, h.close_ns
FROM handle h {filters h}
{time h.open_ns | coalesce(h.close_ns, h.open_ns)}
ORDER BY h.id

--- pattern of op by command: reads and writes, handle by handle in their order
{with}SELECT {keys}, o.name = 'write' AS writes, o.handle, o.offset, o.bytes
FROM {op id name handle offset bytes | o.name IN ('read', 'write') AND o.result >= 0} {joins o}
{where o.start_ns | o.start_ns} {order o.id}

--- pattern.handles of image by command: what is known of reads and writes without a look at each
{with}SELECT {keys}, sum(h.nread) AS reads, sum(h.bread) AS read_bytes,
	sum(h.consecutive_reads) AS consecutive_reads, sum(h.sequential_reads) AS sequential_reads,
	sum(h.nwrite) AS writes, sum(h.bwrite) AS written_bytes,
	sum(h.consecutive_writes) AS consecutive_writes, sum(h.sequential_writes) AS sequential_writes
FROM handle h {joins h}
{where h.open_ns | coalesce(h.close_ns, h.open_ns)} GROUP BY {group} ORDER BY min(h.open_ns)

--- values.latency of op by operation: latency of each operation
{with}SELECT {keys}, o.latency_ns AS value_ns FROM {op name latency_ns} {joins o}
{where o.start_ns | o.start_ns}

--- values.read-size of op by command: size of each read
{with}SELECT {keys}, o.bytes AS value_bytes
FROM {op name bytes | o.name = 'read' AND o.bytes IS NOT NULL} {joins o}
{where o.start_ns | o.start_ns}

--- values.write-size of op by command: size of each write
{with}SELECT {keys}, o.bytes AS value_bytes
FROM {op name bytes | o.name = 'write' AND o.bytes IS NOT NULL} {joins o}
{where o.start_ns | o.start_ns}

--- values.bytes-read of use by phase: bytes that each process read
{with}SELECT {keys}, CASE WHEN count(*) = count(u.bread) THEN sum(u.bread) END AS value_bytes
FROM access u {joins u}
{where u.first_ns | u.last_ns} GROUP BY {group}, u.process ORDER BY min(u.first_ns)

--- values.bytes-written of use by phase: bytes that each process wrote
{with}SELECT {keys}, CASE WHEN count(*) = count(u.bwrite) THEN sum(u.bwrite) END AS value_bytes
FROM access u {joins u}
{where u.first_ns | u.last_ns} GROUP BY {group}, u.process ORDER BY min(u.first_ns)

--- values.lifetime of process by phase: life of each process
{with end_ns}SELECT {keys}, p.end_ns - p.start_ns AS value_ns FROM proc p ORDER BY p.start_ns, p.id

--- values.rss of process by phase: peak resident memory of each process
{with rsspeak_bytes}SELECT {keys}, p.rsspeak_bytes AS value_bytes FROM proc p ORDER BY p.start_ns, p.id

--- values.file-size of use by all: size of each file
{with}SELECT {keys}, max(coalesce(f.size_last, f.size_first)) AS value_bytes
FROM access a {joins a f}
WHERE f.kind = 'file' {and a.first_ns | a.last_ns} GROUP BY {group}, a.file ORDER BY min(a.first_ns)

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

--- scan of op by all: each operation, for all tables of operations at once; writes: of reads and writes of data
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
SELECT b.n, CAST(b.n * {step} AS REAL) / 1e9 AS from_s, l.processes, l.rss AS rss_bytes,
	coalesce((SELECT max(t) - {t0} FROM change), 0) / {step} AS last
FROM bounds b LEFT JOIN lived l ON l.n = b.n
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

--- any-op of none: are there single operations?
SELECT EXISTS (SELECT 1 FROM op)

--- time.span of process: how long it went on
{with end_ns}SELECT max(max(max(p.start_ns, coalesce(p.end_ns, p.start_ns))) - {t0}, coalesce((SELECT value FROM trace
	WHERE key = 'end_ns'), 0) - {t0}) FROM proc p

--- graph.processes of process: all processes, and which of them are asked for
{with phase end_ns}SELECT p.id, p.parent, p.start_ns, p.end_ns, p.program, p.command, p.exe, p.job, p.xform,
	coalesce(q.phase, p.phase) AS phase, p.host, p.pid, p.exit_code, p.exit_signal, p.cpu_ns,
	p.rsspeak_bytes, p.cpu_delay_ns, (SELECT g.driver FROM program g WHERE g.image = p.image) AS driver,
	q.id IS NOT NULL AS chosen
FROM process p LEFT JOIN proc q ON q.id = p.id ORDER BY p.id

--- graph.files of none: all files
SELECT id, path, kind, coalesce(size_last, size_first) AS size_bytes, created, deleted FROM file ORDER BY id

--- graph.accesses of part: who did what to which version of a file, and whether that is asked for
{with}SELECT a.process, a.file, a.version, a.reads, a.writes, a.created, a.renamed, a.unlinked, a.executed,
	a.mapped, a.truncated, a.emptied, a.assumed_read, a.assumed_write, a.nread, a.bread, a.nwrite, a.bwrite, a.io_ns, a.nmeta,
	a.first_in_ns, a.first_out_ns, a.last_out_ns, a.last_ns, {chosen a.first_ns | a.last_ns} AS chosen
FROM access a {filters a}WHERE a.process IS NOT NULL

--- graph.ghosts of part: names that were looked for and not there
{with}SELECT g.process, g.path, g.count, g.first_ns, {chosen g.first_ns | g.first_ns} AS chosen
FROM (SELECT *, NULL AS file FROM ghost) g {filters g}WHERE g.process IS NOT NULL

--- graph.groups of process by phase: what processes are grouped by
{with}SELECT {keys}, p.id FROM proc p ORDER BY p.id

--- graph.root of none: the directory in which the first program was started
SELECT i.cwd FROM image i, (SELECT value AS t0 FROM trace WHERE key = 'start_ns')
WHERE i.seq > 0 AND i.cwd IS NOT NULL AND i.start_ns >= t0 ORDER BY i.start_ns, i.id LIMIT 1

--- generate.images of none: what each process was at its fork, and the first program that it began
SELECT process, seq, argv_raw, cwd, stdin, stdout, stderr, start_ns, exe, comm FROM image WHERE seq < 2
ORDER BY process, seq

--- generate.appends of none: who appended to which file, and who opened it to do that
SELECT u.process, h.path FROM use u JOIN handle h ON h.id = u.handle WHERE h.flags LIKE '%APPEND%'
UNION SELECT process, path FROM handle WHERE flags LIKE '%APPEND%' AND process IS NOT NULL

--- generate.names of none: what was done to names, in that order: 0 looked at, 2 dated, 3 changed, 4 made, 5 removed
-- A name that was looked for and not found has no file.
SELECT process, path, file, version, did, end_ns
FROM (SELECT id, process, path, iif(result = -2, NULL, file) AS file, version, start_ns + latency_ns AS end_ns,
		CASE WHEN result < 0 OR name = 'link' THEN 0 WHEN name IN ('mkdir', 'mknod', 'symlink') THEN 4
			WHEN name IN ('unlink', 'rmdir', 'rename') THEN 5
			WHEN name = 'utimens' THEN 2
			WHEN name IN ('chmod', 'chown', 'setxattr', 'removexattr') THEN 3 ELSE 0 END AS did
	FROM name_op
	UNION ALL SELECT id, process, path2, file, version, start_ns + latency_ns, 4 FROM name_op
	WHERE name IN ('rename', 'link') AND result >= 0)
WHERE process IS NOT NULL AND path IS NOT NULL ORDER BY id, did DESC

--- generate.handles of none: what was opened
SELECT h.id, h.process, h.path, h.file, h.flags, h.mode IS NOT NULL AS created, h.open_ns, f.kind = 'dir' AS directory
FROM handle h LEFT JOIN file f ON f.id = h.file WHERE h.process IS NOT NULL AND h.path IS NOT NULL ORDER BY h.id

--- generate.uses of none: who read and wrote through which handle
SELECT handle, process, first_read_ns, first_write_ns FROM use WHERE process IS NOT NULL ORDER BY handle

--- generate.environ of none: variables that its first program had, and the command that was traced had not;
--- only names that a shell can export, so no functions of bash
WITH r AS MATERIALIZED (SELECT e.name, e.value FROM environ e JOIN image i ON i.id = e.image
	JOIN process p ON p.id = i.process WHERE p.parent IS NULL AND i.seq = 1)
SELECT i.process, group_concat(e.name || '=''' || replace(e.value, '''', '''\''''') || '''', ' ')
FROM environ e JOIN image i ON i.id = e.image
WHERE i.seq = 1 AND (e.name, e.value) NOT IN (SELECT name, value FROM r)
	AND e.name GLOB '[A-Za-z_]*' AND e.name NOT GLOB '*[^A-Za-z0-9_]*'
	AND e.name NOT GLOB 'FTRAC_*' AND e.name NOT GLOB '*JOB*ID' AND e.name NOT GLOB '*_TASK_ID'
	AND e.name NOT IN ('LSB_JOBINDEX', 'MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'PWD', 'OLDPWD', 'SHLVL', '_')
GROUP BY i.process

--- check.processes of none: who ran, for which target of a make, and what a driver had a shell do
-- Where ends are only seen some time later, they may have been at once; begins have the grain of a tick then.
SELECT p.id, p.parent, p.pid, p.start_ns,
	iif(p.tier LIKE 'inband%', p.start_ns - 10000000, coalesce(p.end_ns, p.start_ns)) AS end_ns,
	p.command, p.cwd, p.job,
	coalesce(p.exit_code, 0) <> 0 OR p.exit_signal IS NOT NULL AS failed,
	coalesce((SELECT g.driver FROM program g WHERE g.image = p.image), 0) AS driver,
	(SELECT e.value FROM images i JOIN environ e ON e.image = i.id
		WHERE i.process = p.id AND e.name = 'FTRAC_TARGET' AND i.seq > 0 ORDER BY i.seq DESC LIMIT 1) AS target,
	(SELECT json_extract(iif(json_valid(i.argv), i.argv, '[]'), '$[2]') FROM images i
		WHERE i.process = p.id AND i.seq = 1 AND json_extract(iif(json_valid(i.argv), i.argv, '[]'), '$[1]') = '-c') AS told
FROM process p ORDER BY p.id

--- check.declared of none: what the build has said of itself
SELECT key, directory, target, prerequisite, order_only FROM declared

--- check.files of none: files, and all names that they had
SELECT f.id, n.path, f.kind, f.size_last
FROM file f JOIN (SELECT id AS file, path FROM file UNION SELECT file, path FROM name) n ON n.file = f.id
WHERE n.path IS NOT NULL ORDER BY f.id, n.path

--- check.accesses of none: who did what with which file; appends: all its writes add to the end
SELECT a.process, a.file, a.path, a.reads, a.writes, a.executed, a.mapped, a.created, a.renamed, a.unlinked,
	a.first_in_ns, a.first_out_ns, a.first_ns, coalesce(p.appends, 0) AND NOT a.emptied AS appends
FROM access a LEFT JOIN (SELECT process, file, min(flags LIKE '%O_APPEND%') AS appends
		FROM (SELECT process, file, flags FROM handle WHERE flags NOT LIKE 'O_RDONLY%'
			UNION ALL SELECT u.process, u.file, h.flags
			FROM use u JOIN handle h ON h.id = u.handle WHERE u.nwrite > 0)
		GROUP BY 1, 2) p
	ON p.process = a.process AND p.file = a.file
WHERE a.process IS NOT NULL

--- check.ghosts of none: names that were looked for and not there
SELECT process, path, first_ns FROM ghost WHERE process IS NOT NULL AND path IS NOT NULL

--- report.processes of process by phase: what each process took, for the boxes of phases
{with end_ns utime_ns stime_ns rsspeak_bytes exit_code exit_signal},
moved AS MATERIALIZED (SELECT process, iif(count(*) = count(bread), sum(bread), NULL) AS bread,
		iif(count(*) = count(bwrite), sum(bwrite), NULL) AS bwrite
	FROM access GROUP BY process)
SELECT {keys}, p.end_ns - p.start_ns AS runtime_ns,
	CAST(p.utime_ns + p.stime_ns AS REAL) / nullif(p.end_ns - p.start_ns, 0) AS utilization,
	p.rsspeak_bytes AS rss_bytes, iif(m.process IS NULL, z.n, m.bread) AS read_bytes,
	iif(m.process IS NULL, z.n, m.bwrite) AS written_bytes,
	coalesce(p.exit_code, 0) <> 0 OR p.exit_signal IS NOT NULL AS failed
-- Who reads and writes nothing, reads and writes 0 bytes, if that was looked at.
FROM (SELECT *, iif(fidelity IS NULL, NULL, 0) AS n FROM run) z
	JOIN proc p ON p.id BETWEEN z.first_process AND z.last_process LEFT JOIN moved m ON m.process = p.id ORDER BY p.start_ns, p.id

--- report.heat of use by phase: what was moved through open files, and from when to when
{with}SELECT {keys}, u.bread AS read_bytes, u.first_read_ns, u.last_read_ns,
	u.bwrite AS written_bytes, u.first_write_ns, u.last_write_ns
FROM use u {joins u}
{where u.first_ns | u.last_ns} ORDER BY u.first_ns

--- report.directories of use by directory: bytes by directory
{with}SELECT {keys}, count(DISTINCT a.file) AS files, sum(a.opens) AS opens, sum(a.bread) AS read_bytes,
	sum(a.bwrite) AS written_bytes
FROM access a {joins a}
{where a.first_ns | a.last_ns} GROUP BY {group}
ORDER BY coalesce(sum(a.bread), 0) + coalesce(sum(a.bwrite), 0) DESC, 1

--- report.file-kinds of use by all: how many files of which kind there are
{with},
a AS MATERIALIZED (SELECT a.file, max(a.reads) AS reads, max(a.writes) AS writes, sum(a.bread) AS bread,
		sum(a.bwrite) AS bwrite
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file)
SELECT CASE WHEN k.created AND k.deleted THEN 'temporary'
		WHEN a.writes AND a.reads THEN 'written and read'
		WHEN a.writes THEN 'never read' WHEN a.reads THEN 'only read' ELSE 'only looked at' END AS kind,
	count(*) AS files, sum(coalesce(k.size_last, k.size_first)) AS size_bytes, sum(a.bread) AS read_bytes,
	sum(a.bwrite) AS written_bytes
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' GROUP BY 1 ORDER BY 2 DESC

--- report.files-read of use by all: files that were read most
{with},
a AS MATERIALIZED (SELECT a.file, sum(a.bread) AS bread, count(DISTINCT iif(a.reads, a.process, NULL)) AS readers,
		sum(a.opens) AS opens
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file HAVING sum(a.bread) > 0)
SELECT k.path, coalesce(k.size_last, k.size_first) AS size_bytes, a.bread AS read_bytes,
	a.bread * 1.0 / nullif(coalesce(k.size_last, k.size_first), 0) AS reread, a.readers, a.opens
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' ORDER BY 3 DESC, a.file

--- report.files-written of use by all: files that were written most
{with},
a AS MATERIALIZED (SELECT a.file, sum(a.bwrite) AS bwrite, count(DISTINCT iif(a.writes, a.process, NULL)) AS writers,
		sum(a.opens) AS opens
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file HAVING sum(a.bwrite) > 0)
SELECT k.path, coalesce(k.size_last, k.size_first) AS size_bytes, a.bwrite AS written_bytes, a.writers, a.opens
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' ORDER BY 3 DESC, a.file

--- report.files-reread of use by all: files of which more was read than there is, of one version
{with},
{part versions}
SELECT path, read_bytes * 1.0 / size_bytes AS reread, size_bytes, read_bytes, readers
FROM version WHERE size_bytes > 0 AND read_bytes > 1.5 * size_bytes ORDER BY 2 DESC, file, version

--- report.files-never-read of use by all: files that were written and never read
{with},
a AS MATERIALIZED (SELECT a.file, sum(a.bwrite) AS bwrite
	FROM access a {joins a} {where a.first_ns | a.last_ns}
	GROUP BY a.file HAVING max(a.writes) AND NOT max(a.reads))
SELECT k.path, coalesce(k.size_last, k.size_first) AS size_bytes, a.bwrite AS written_bytes
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' AND NOT (k.created AND k.deleted)
ORDER BY 3 DESC, a.file

--- report.files-temporary of use by all: files that were created and removed
{with},
a AS MATERIALIZED (SELECT a.file, sum(a.bwrite) AS bwrite, sum(a.bread) AS bread
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file)
SELECT k.path, a.bwrite AS written_bytes, a.bread AS read_bytes
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' AND k.created AND k.deleted ORDER BY 2 DESC, a.file

--- report.operations of op: single operations that took long, for the time line of others
{with}SELECT o.process, o.tid, o.name, o.path, o.start_ns, o.latency_ns, o.result, o.bytes
FROM {op id process tid name path start_ns latency_ns result bytes | o.latency_ns >= {step}} {joins o}
{where o.start_ns | o.start_ns} ORDER BY o.start_ns, o.id

--- finding.small-writes of use by command: programs that write little at a time
{with}SELECT {keys}, sum(a.nwrite) AS writes, sum(a.bwrite) AS written_bytes,
	sum(a.bwrite) * 1.0 / sum(a.nwrite) AS mean_bytes
FROM access a {joins a}
{where a.first_ns | a.last_ns} GROUP BY {group}
HAVING sum(a.nwrite) >= 1000 AND sum(a.bwrite) < 4096 * sum(a.nwrite) ORDER BY writes DESC

--- finding.small-reads of use by command: programs that read little at a time
{with}SELECT {keys}, sum(a.nread) AS reads, sum(a.bread) AS read_bytes,
	sum(a.bread) * 1.0 / sum(a.nread) AS mean_bytes
FROM access a {joins a}
{where a.first_ns | a.last_ns} GROUP BY {group}
HAVING sum(a.nread) >= 1000 AND sum(a.bread) < 4096 * sum(a.nread) ORDER BY reads DESC

--- finding.re-reads of use by all: files of which much was read again, of one version
{with},
{part versions}
SELECT path, size_bytes, read_bytes, read_bytes * 1.0 / size_bytes AS reread,
	read_bytes - size_bytes AS saved_bytes, readers
FROM version WHERE size_bytes > 0 AND read_bytes >= 2 * size_bytes AND read_bytes - size_bytes > 1000000
ORDER BY saved_bytes DESC, file, version

--- finding.many-opens of use by all: files that are opened very often
{with},
a AS MATERIALIZED (SELECT a.file, sum(a.opens) AS opens, count(DISTINCT a.process) AS processes,
		sum(a.bread) AS bread, sum(a.bwrite) AS bwrite
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file HAVING sum(a.opens) >= 200)
SELECT k.path, a.opens, a.processes, a.bread AS read_bytes, a.bwrite AS written_bytes
FROM a JOIN file k ON k.id = a.file WHERE k.kind = 'file' ORDER BY a.opens DESC, a.file

--- finding.metadata of use by command: programs that look more than they read and write
{with}SELECT {keys}, sum(a.opens + a.nmeta) AS asked, sum(a.nread + a.nwrite) AS moved
FROM access a {joins a}
{where a.first_ns | a.last_ns} GROUP BY {group}
HAVING count(*) = count(a.nread + a.nwrite) AND asked >= 1000 AND asked >= 2 * moved
ORDER BY asked DESC

--- finding.searches of use by command: programs that look for names that are not there
{with}SELECT {keys}, sum(g.count) AS searches, count(DISTINCT g.path) AS names
FROM (SELECT *, NULL AS file FROM ghost) g {joins g}
{where g.first_ns | g.first_ns} GROUP BY {group} HAVING sum(g.count) >= 1000 ORDER BY searches DESC

--- finding.serial of process by phase: phases in which one job ran alone
{with end_ns job phase},
job AS MATERIALIZED (SELECT row_number() OVER (ORDER BY min(start_ns)) AS n, phase,
		max(min(start_ns), coalesce((SELECT value FROM trace WHERE key = 'start_ns'), 0)) AS t0,
		max(coalesce(end_ns, last)) AS t1
	-- What has no known end runs to the end of the trace; what was before its begin does not count.
	FROM proc, (SELECT max(coalesce((SELECT value FROM trace WHERE key = 'end_ns'), 0),
			(SELECT max(coalesce(end_ns, start_ns)) FROM proc)) AS last)
	WHERE job IS NOT NULL GROUP BY job),
change AS (SELECT t0 AS t, 1 AS more, n FROM job UNION ALL SELECT t1, -1, -n FROM job),
-- Where one job runs, the sum of the numbers of those that run is its number.
level AS (SELECT t, sum(more) OVER w AS running, sum(n) OVER w AS n, lead(t) OVER w - t AS ns FROM change
	WINDOW w AS (ORDER BY t, more, n ROWS UNBOUNDED PRECEDING)),
alone AS (SELECT j.phase, sum(l.ns) AS alone_ns, count(*) AS times
	FROM level l JOIN job j ON j.n = l.n WHERE l.running = 1 GROUP BY j.phase),
run AS (SELECT max(t1) - min(t0) AS ns, count(*) AS jobs, (SELECT value FROM trace WHERE key = 'cpus') AS cpus
	FROM job)
SELECT a.phase, a.alone_ns, a.alone_ns * 1.0 / run.ns AS run_share, run.cpus
FROM alone a, run WHERE a.alone_ns >= 0.1 * run.ns AND run.cpus > 1 AND run.jobs > 1 ORDER BY a.alone_ns DESC

--- finding.memory of process by phase: phases whose processes need more than their part of the memory
{with rsspeak_bytes phase},
host AS MATERIALIZED (SELECT (SELECT value FROM trace WHERE key = 'memory_bytes') AS memory,
	(SELECT value FROM trace WHERE key = 'cpus') AS cpus)
SELECT p.phase, max(p.rsspeak_bytes) AS largest_bytes, h.memory / max(p.rsspeak_bytes) AS fit,
	h.memory AS memory_bytes, h.cpus
FROM proc p, host h GROUP BY p.phase HAVING max(p.rsspeak_bytes) * h.cpus > h.memory
ORDER BY largest_bytes DESC

--- finding.slow-edges of use by all: data that moved slowly
{with program},
-- By files first: paths are long, and there are many uses.
moved AS MATERIALIZED (SELECT p.program, u.file, sum(u.bread + u.bwrite) AS bytes, sum(u.read_ns + u.write_ns) AS ns
	FROM use u {joins u p} {where u.first_ns | u.last_ns} GROUP BY p.program, u.file),
edge AS MATERIALIZED (SELECT m.program, k.path, sum(m.bytes) AS bytes, sum(m.ns) AS ns
	FROM moved m LEFT JOIN file k ON k.id = m.file GROUP BY m.program, k.path),
every AS MATERIALIZED (SELECT sum(bytes) * 1e9 / sum(ns) AS rate FROM edge)
SELECT program AS command, path, bytes AS moved_bytes, ns AS moving_ns, bytes * 1e9 / ns AS moved_rate,
	every.rate AS all_rate
FROM edge, every WHERE bytes >= 1000000 AND ns > 0 AND bytes * 1e9 / ns < every.rate / 4
ORDER BY moving_ns DESC

--- finding.failures of process by command: processes that failed
{with program exit_code exit_signal phase}SELECT p.program,
	iif(p.exit_signal IS NULL, 'status ' || p.exit_code, 'signal ' || p.exit_signal) AS how,
	count(*) AS times, min(p.phase) AS phase, min(p.id) AS first_process
FROM proc p WHERE p.exit_code <> 0 OR p.exit_signal IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC, 1

--- finding.errors of op by operation: operations that failed, other than searches and probes
{with}SELECT {keys}, CASE -o.result WHEN 1 THEN 'EPERM' WHEN 2 THEN 'ENOENT' WHEN 4 THEN 'EINTR' WHEN 5 THEN 'EIO'
		WHEN 11 THEN 'EAGAIN' WHEN 13 THEN 'EACCES' WHEN 17 THEN 'EEXIST' WHEN 18 THEN 'EXDEV'
		WHEN 20 THEN 'ENOTDIR' WHEN 21 THEN 'EISDIR' WHEN 22 THEN 'EINVAL' WHEN 28 THEN 'ENOSPC'
		WHEN 30 THEN 'EROFS' WHEN 39 THEN 'ENOTEMPTY' WHEN 61 THEN 'ENODATA' WHEN 95 THEN 'ENOTSUP'
		WHEN 122 THEN 'EDQUOT' ELSE 'errno ' || -o.result END AS error,
	count(*) AS count, min(o.path) AS example
FROM {op name result path | o.result < 0 AND NOT (o.name IN ('lookup', 'getattr', 'access', 'open')
	AND o.result IN (-2, -20) OR o.name IN ('getxattr', 'listxattr') AND o.result IN (-61, -95)
	OR o.name = 'readlink' AND o.result = -22 OR o.name = 'ioctl' AND o.result = -25)} {joins o}
{where o.start_ns | o.start_ns} GROUP BY {group}, o.result ORDER BY count DESC
