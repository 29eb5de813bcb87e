-- SPDX-License-Identifier: MIT
--
-- The language of the queries of dag/, and the parts that several of them need.  Each query stands beside the C file
-- that reads it, in a file .sql of the same name.  It begins with a line
--
--     --- NAME of WHAT by DIMENSIONS: what a row is
--
-- DIMENSIONS is how rows are grouped unless something else is asked for, WHAT says by what they can be:
-- process (what belongs to a process), use (of a file by a process), part (the same,
-- but grouped by what belongs to the process), image (the same, and the program is
-- known that the process ran then), op (the same, of one operation), file, or none.  In braces stands
-- what depends on the options (trace/compose.h):
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
-- A process has the memory of its last sample, before the first sample that of the first one, without
-- samples its peak.  A process without any of them counts for nothing; if all are without, the sum is NULL.
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
