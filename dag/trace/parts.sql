-- SPDX-License-Identifier: MIT
--
-- The language of the queries of dag/, and the parts that several queries share.  Each query stands beside the C file
-- that reads it, in a file .sql of the same name.  It begins with a line
--
--     --- NAME of WHAT by DIMENSIONS: what a row is
--
-- DIMENSIONS is how rows are grouped without --by.  WHAT is what a row is made of, and so by what rows can be grouped:
-- process; metric (the operations of a kind that a process did in an interval); use (of a file by a process); part (a use, but grouped by what a process has, not by files); image (a use, with
-- the program that the process ran at that time); op (an image, but of one operation); call (an image, but of one call of a
-- library); file; or none.  The parts in braces
-- depend on the options (trace/compose.h):
--
--     {with COLUMNS}  the tables of the query: proc, the chosen processes, with these columns and those that
--                     options need; img and fil: images and files
--     {keys} {group}  the columns by which rows are grouped; the same for GROUP BY ({group N}: they begin
--                     with the Nth column)
--     {names}         only their names;  {total}  the keys of a total: 'Total' and NULLs
--     {unit} {of}     what counts as one: the id of a job or a process; 'job' or 'process'
--     {joins U}       joins that keys and conditions need beside the table U: p of proc, i of img, f of fil;
--                     {joins U p f} these always;  {filters U} only those that conditions need
--     {where A | B}   the conditions on these tables, and on the time from A to B
--     {chosen A | B}  the same as a value, 0 or 1
--     {and A | B}     the same, behind other conditions;  {time A | B}, {and_time A | B}  only the condition on the time
--     {op COLUMNS | CONDITION}  the table "o" of operations, with these columns and those that keys and
--                     conditions need, so that SQLite computes no others (LIMIT keeps SQLite from flattening
--                     the query, which would compute all columns)
--     {[} {]}         the text between them is left out if the query depends on files
--     {file} {/file}  the text between them is left out if it does not
--     {order COLUMN}  ORDER BY, if conditions need joins: SQLite may begin with the table of the condition
--     {order_of COLUMN}  the column by which groups of operations are to be put in order; 0: in that in which they come
--     {t0} {step}     the begin of the run, and the length of an interval, in ns;  {last}  the last interval with an operation
--     {part NAME}     the text below "--+ NAME"
--
-- Rows are in the order of their begin.

--+ memory
alive AS (SELECT * FROM proc p {time p.start_ns | coalesce(p.end_ns, 9223372036854775807)}),
-- The memory of a process is that of its last sample; before the first sample, of the first one; without samples, its
-- peak.  A process without samples and peak counts as 0; if all processes are such, the sum is NULL.
look AS (SELECT process, t_ns, rss_bytes FROM sample WHERE rss_bytes IS NOT NULL),
begun AS (SELECT p.id, p.start_ns, p.end_ns, coalesce((SELECT s.rss_bytes FROM look s
	WHERE s.process = p.id ORDER BY s.t_ns LIMIT 1), p.rsspeak_bytes) AS rss FROM alive p),
seen AS (SELECT id, start_ns AS t, 1 AS more, rss IS NOT NULL AS known, coalesce(rss, 0) AS rss FROM begun
	UNION ALL SELECT s.process, s.t_ns, 0, 0, s.rss_bytes FROM look s JOIN begun p ON p.id = s.process
	UNION ALL SELECT id, end_ns, -1, -(rss IS NOT NULL), 0 FROM begun WHERE end_ns IS NOT NULL),
-- The times in which a process has children that live: with these it waits or drives, but is not counted as working.
child AS (SELECT c.parent, max(c.start_ns, p.start_ns) AS start_ns,
		min(coalesce(c.end_ns, 9223372036854775807), coalesce(p.end_ns, 9223372036854775807)) AS end_ns
	FROM process c JOIN alive p ON p.id = c.parent),
island AS (SELECT parent, start_ns, end_ns, sum(apart) OVER (PARTITION BY parent ORDER BY start_ns, end_ns ROWS UNBOUNDED PRECEDING) AS n
	FROM (SELECT *, start_ns > coalesce(max(end_ns) OVER (PARTITION BY parent ORDER BY start_ns, end_ns
			ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns - 1) AS apart
		FROM child WHERE start_ns <= end_ns)),
shore AS (SELECT min(start_ns) AS from_ns, max(end_ns) AS to_ns FROM island GROUP BY parent, n),
change AS (SELECT t, more, more AS works, known, rss - coalesce(lag(rss) OVER (PARTITION BY id ORDER BY t, -more), 0) AS rss
	FROM seen
	UNION ALL SELECT from_ns, 0, -1, 0, 0 FROM shore
	UNION ALL SELECT to_ns, 0, 1, 0, 0 FROM shore WHERE to_ns < 9223372036854775807)

--+ levels
-- The limit is for made-up traces.
bounds (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM bounds, ends
	WHERE {t0} + (n + 1) * {step} <= ends.last AND n < 1000000),
level AS (SELECT t, sum(more) OVER w AS processes, sum(works) OVER w AS working, sum(known) OVER w AS known, sum(rss) OVER w AS rss
	FROM (SELECT t, more, works, known, rss FROM change UNION ALL SELECT {t0} + n * {step}, 0, 0, 0, 0 FROM bounds)
	WINDOW w AS (ORDER BY t, more, works, rss ROWS UNBOUNDED PRECEDING)),
lived AS (SELECT max(0, (t - {t0}) / {step}) AS n, max(processes) AS processes, max(working) AS working,
	iif(max(processes) > 0 AND max(known) = 0, NULL, max(rss)) AS rss
	FROM level WHERE t >= {t0} GROUP BY 1)

--+ versions
-- The sizes of the first version of a file and of the last one are known, not of those between them.
last AS MATERIALIZED (SELECT file, max(version) AS version FROM access GROUP BY file),
every AS MATERIALIZED (SELECT a.file, a.version, sum(a.bread) AS read_bytes, sum(iif(a.nread > 0, a.io_ns, 0)) AS read_ns,
		count(DISTINCT iif(a.reads, a.process, NULL)) AS readers
	FROM access a {joins a} {where a.first_ns | a.last_ns} GROUP BY a.file, a.version),
version AS (SELECT k.path, a.file, a.version, a.read_bytes, a.read_ns, a.readers,
		CASE WHEN a.version = l.version THEN coalesce(k.size_last, k.size_first)
			WHEN a.version = 1 AND NOT k.created THEN k.size_first END AS size_bytes
	FROM every a JOIN file k ON k.id = a.file JOIN last l ON l.file = a.file WHERE k.kind = 'file')

--+ asked
-- Bytes of files that calls read and wrote.
asked AS MATERIALIZED (SELECT o.process, o.file,
	coalesce(sum(o.bytes) FILTER (WHERE o.name IN ('read', 'copy', 'sendfile')), 0) AS read_bytes,
	coalesce(sum(o.bytes) FILTER (WHERE o.name IN ('write', 'copy')), 0) AS write_bytes
	FROM (SELECT process, name, bytes, file FROM op LIMIT -1) o JOIN file f ON f.id = o.file WHERE f.kind = 'file' GROUP BY 1, 2)

--+ lived
-- alone_ns: of its life, what no earlier process of its row lived; the sum is the time in which any lived.  whole_ns: of any row.
lived AS MATERIALIZED (SELECT *, max(0, end_ns - max(start_ns, coalesce(max(end_ns) OVER r, start_ns))) AS alone_ns,
		max(0, end_ns - max(start_ns, coalesce(max(end_ns) OVER w, start_ns))) AS whole_ns
	FROM base WINDOW r AS (PARTITION BY {names} ORDER BY start_ns, end_ns, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
		w AS (ORDER BY start_ns, end_ns, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))

--+ used
-- The kernel's reads of a program are separate rows.  LIMIT: SQLite computes exec once for each row.
moved AS ({[}SELECT process, image, NULL AS file, handle, exec, sum(nread) AS nread, sum(bread) AS bread,
		sum(nwrite) AS nwrite, sum(bwrite) AS bwrite
	FROM use u {time u.first_ns | u.last_ns} GROUP BY image, iif(exec, handle, 0){]}{file}
	SELECT process, image, file, handle, exec, nread, bread, nwrite, bwrite
	FROM use u {time u.first_ns | u.last_ns} LIMIT -1{/file}),
-- These reads belong to the program, although it has not begun yet.
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
	-- A process without reads and writes has 0 bytes if the trace has file operations.
	{[}UNION ALL SELECT p.id, p.image, NULL, p.n, p.n, p.n, p.n, p.n, p.n
	FROM (SELECT *, iif(ops IS NULL, NULL, 0) AS n FROM proc) p
	{time p.start_ns | coalesce(p.end_ns, 9223372036854775807)}{]})

--+ fragments
-- Calls of libraries; the outermost one around each; and what was made below: of libc, without what one call of libc asks of
-- another one, and operations.  Their columns are NULL where that layer was not recorded.  A row may be several calls, which were added up.
made AS MATERIALIZED (SELECT id, process, image, layer, name, class, parent, file, path, rank, collective, mpi_call_id, offset, length, bytes,
		start_ns, latency_ns, calls, latency_max_ns
	FROM call WHERE layer IN ('mpi', 'lib')),
outer AS MATERIALIZED (SELECT m.id, coalesce(d.id, c.id, b.id, m.id) AS top, b.layer IS 'lib' AS inside
	FROM made m LEFT JOIN made b ON b.id = m.parent LEFT JOIN made c ON c.id = b.parent LEFT JOIN made d ON d.id = c.parent),
had AS (SELECT EXISTS (SELECT 1 FROM made WHERE layer = 'lib') AS lib, EXISTS (SELECT 1 FROM op) AS ops),
libs AS MATERIALIZED (SELECT t.top, sum(m.calls) AS calls, sum(m.bytes) AS bytes, max(m.latency_max_ns) AS latency_ns
	FROM made m JOIN outer t ON t.id = m.id WHERE m.layer = 'lib' AND t.top <> m.id AND NOT t.inside GROUP BY t.top),
ops AS MATERIALIZED (SELECT t.top, count(*) AS calls, sum(o.bytes) AS bytes, max(o.latency_ns) AS latency_ns
	FROM call o JOIN outer t ON t.id = o.parent WHERE o.layer NOT IN ('mpi', 'lib') GROUP BY t.top),
pieces AS (SELECT m.id, iif(m.layer = 'mpi' AND h.lib, coalesce(l.calls, 0), NULL) AS lib_calls,
		iif(m.layer = 'mpi' AND h.lib, coalesce(l.bytes, 0), NULL) AS lib_bytes, l.latency_ns AS lib_latency_ns,
		iif(h.ops, coalesce(q.calls, 0), NULL) AS operations, iif(h.ops, coalesce(q.bytes, 0), NULL) AS operation_bytes,
		q.latency_ns AS operation_latency_ns
	FROM made m, had h LEFT JOIN libs l ON l.top = m.id LEFT JOIN ops q ON q.top = m.id WHERE m.parent IS NULL)

--+ ending
CASE WHEN p.exit_signal IS NULL THEN 'status ' || p.exit_code ELSE CASE p.exit_signal WHEN 1 THEN 'SIGHUP' WHEN 2 THEN 'SIGINT'
	WHEN 3 THEN 'SIGQUIT' WHEN 4 THEN 'SIGILL' WHEN 5 THEN 'SIGTRAP' WHEN 6 THEN 'SIGABRT' WHEN 7 THEN 'SIGBUS' WHEN 8 THEN 'SIGFPE'
	WHEN 9 THEN 'SIGKILL' WHEN 10 THEN 'SIGUSR1' WHEN 11 THEN 'SIGSEGV' WHEN 12 THEN 'SIGUSR2' WHEN 13 THEN 'SIGPIPE'
	WHEN 14 THEN 'SIGALRM' WHEN 15 THEN 'SIGTERM' WHEN 24 THEN 'SIGXCPU' WHEN 25 THEN 'SIGXFSZ' WHEN 31 THEN 'SIGSYS'
	ELSE 'signal ' || p.exit_signal END END
