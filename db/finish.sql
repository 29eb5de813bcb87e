-- SPDX-License-Identifier: MIT
--
-- Runs at the end of the run, after refill.sql and sum.sql: stores results that the views would otherwise compute for each query.

UPDATE temp.accesses SET used = NULL WHERE used = path;
INSERT INTO main.accesses SELECT * FROM temp.accesses;
DROP TABLE temp.accesses;

UPDATE files SET path = (SELECT path FROM file_name WHERE file = id)
WHERE id IN (SELECT file FROM names GROUP BY file HAVING count(*) > 1);
DROP VIEW file_name;
CREATE VIEW file_name AS SELECT id AS file, path FROM files;

-- A join, for which SQLite makes an index of the numbers.
UPDATE devices SET process = q.process
FROM (SELECT d.rowid AS device, max(p.id) AS process FROM devices d JOIN processes p ON p.pid = d.pid AND p.start_t <= d.last_t
	AND (p.end_t IS NULL OR p.end_t >= d.first_t) GROUP BY d.rowid) q
WHERE devices.rowid = q.device;

-- The image of each thread that makes calls.
CREATE TEMP TABLE begun AS SELECT p.pid, i.start_t, i.id FROM images i JOIN processes p ON p.id = i.process
WHERE EXISTS (SELECT 1 FROM callers);
CREATE INDEX temp.begun_pid ON begun (pid, start_t);
UPDATE callers SET image = coalesce(
	(SELECT id FROM begun b WHERE b.pid = callers.pid AND b.start_t <= callers.t ORDER BY b.start_t DESC, b.id DESC LIMIT 1),
	(SELECT id FROM begun b WHERE b.pid = callers.pid ORDER BY b.start_t, b.id LIMIT 1))
WHERE image IS NULL AND pid NOTNULL AND NOT EXISTS (SELECT 1 FROM runs);
DROP TABLE begun;

-- The innermost call of the thread whose time contains that of the operation: the last one that began before it, or one of
-- those around that one.  Else calls that were added up: those of one kind follow each other in their thread.
UPDATE calls SET parent = NULL WHERE parent NOTNULL AND parent NOT IN (SELECT id FROM calls);
CREATE TEMP TABLE line (n INTEGER PRIMARY KEY, process INTEGER, tid INTEGER, t INTEGER, end_t INTEGER, call INTEGER, op INTEGER,
	file INTEGER, handle INTEGER, kind TEXT);
INSERT INTO line SELECT NULL, process, tid, t, end_t, call, op, file, handle, kind
FROM (SELECT i.process, k.tid, c.t, iif(s.call IS NULL, c.t + c.latency, s.last_end) AS end_t, c.id AS call, NULL AS op, NULL AS file,
		NULL AS handle, iif(s.call IS NULL, NULL, CASE WHEN n.layer = 'mpi' THEN 'mpi' WHEN n.name = 'fflush' THEN 'write' ELSE n.class END) AS kind
	FROM calls c JOIN callers k ON k.id = c.caller JOIN images i ON i.id = k.image JOIN call_name n ON n.code = c.code
		LEFT JOIN call_sums s ON s.call = c.id
	WHERE s.call IS NULL OR s.last_end NOTNULL
	UNION ALL SELECT o.process, o.tid, o.start_ns - m.value, o.start_ns - m.value + o.latency_ns, NULL, o.id, o.file, o.handle,
		CASE WHEN o.name IN ('read', 'recv') THEN 'read' WHEN o.name IN ('write', 'send', 'copy', 'sendfile', 'splice') THEN 'write'
			WHEN o.name = 'lseek' THEN 'position' END
	FROM op o, meta m WHERE m.key = 'start_ns' AND o.tid NOTNULL AND EXISTS (SELECT 1 FROM calls))
ORDER BY process, tid, t, op NOTNULL, end_t DESC;
CREATE TEMP TABLE below (op INTEGER PRIMARY KEY, call INTEGER, file INTEGER, handle INTEGER);
INSERT OR IGNORE INTO below SELECT o.op, CASE WHEN a.t + a.latency >= o.end_t THEN a.id WHEN b.t + b.latency >= o.end_t THEN b.id
	WHEN c.t + c.latency >= o.end_t THEN c.id END, o.file, o.handle
FROM (SELECT op, end_t, file, handle, max(iif(call NOTNULL AND kind IS NULL, n, NULL)) OVER
		(PARTITION BY process, tid ORDER BY n ROWS UNBOUNDED PRECEDING) AS last FROM line) o
	JOIN line l ON l.n = o.last JOIN calls a ON a.id = l.call LEFT JOIN calls b ON b.id = a.parent
	LEFT JOIN calls c ON c.id = b.parent
WHERE o.op NOTNULL;
INSERT INTO below SELECT o.op, iif(a.end_t >= o.end_t, a.call, b.call), o.file, o.handle
FROM (SELECT op, end_t, file, handle,
		max(iif(call NOTNULL, n, NULL)) OVER (PARTITION BY process, tid, kind ORDER BY n ROWS UNBOUNDED PRECEDING) AS last,
		max(iif(call NOTNULL AND kind = 'mpi', n, NULL)) OVER (PARTITION BY process, tid ORDER BY n ROWS UNBOUNDED PRECEDING) AS last_mpi
	FROM line WHERE EXISTS (SELECT 1 FROM call_sums) AND (kind NOTNULL OR op NOTNULL)) o
	LEFT JOIN line a ON a.n = o.last LEFT JOIN line b ON b.n = o.last_mpi AND b.end_t >= o.end_t
WHERE o.op NOTNULL AND (a.end_t >= o.end_t OR b.call NOTNULL)
ON CONFLICT DO UPDATE SET call = excluded.call WHERE call IS NULL;
INSERT OR IGNORE INTO op_parents SELECT op, call FROM below WHERE call NOTNULL;
UPDATE calls SET file = q.file, handle = q.handle
FROM (SELECT call, iif(min(file) = max(file), min(file), NULL) AS file, iif(min(handle) = max(handle), min(handle), NULL) AS handle
	FROM below WHERE call NOTNULL GROUP BY call) q
WHERE calls.id = q.call;
DROP TABLE line;

-- Calls of MPI: which rows are one collective call of a job, and the file, which is that of the opens below the call that opened it.
-- A job is what one launcher has started, or all without one; if there are several in turn, the n-th of each process belong together.
DELETE FROM mpi_calls WHERE call NOT IN (SELECT id FROM calls);
CREATE TEMP TABLE jobs_of_mpi AS
WITH RECURSIVE above (process, at, depth) AS (
	SELECT DISTINCT i.process, i.process, 0 FROM mpi_calls m JOIN calls c ON c.id = m.call JOIN callers k ON k.id = c.caller
		JOIN images i ON i.id = k.image
	UNION ALL SELECT a.process, p.parent, a.depth + 1 FROM above a JOIN processes p ON p.id = a.at WHERE p.parent NOTNULL AND a.depth < 1000)
SELECT process, at AS launcher, min(depth) FROM above
WHERE EXISTS (SELECT 1 FROM program g WHERE g.process = at AND g.seq > 0 AND (g.name GLOB 'mpirun*' OR g.name GLOB 'mpiexec*' OR
	g.name GLOB 'orterun*' OR g.name IN ('prterun', 'srun', 'aprun', 'ibrun')))
GROUP BY process;
UPDATE mpi_calls SET shared = q.shared
FROM (SELECT call, min(call) OVER (PARTITION BY launcher, opened, seq, turn) AS shared
	FROM (SELECT m.call, j.launcher, m.opened, m.seq, row_number() OVER
			(PARTITION BY j.launcher, m.opened, m.seq, m.rank ORDER BY c.t, c.id) AS turn
		FROM mpi_calls m JOIN calls c ON c.id = m.call JOIN callers k ON k.id = c.caller JOIN images i ON i.id = k.image
			LEFT JOIN jobs_of_mpi j ON j.process = i.process
		WHERE m.opened NOTNULL AND m.seq NOTNULL)) q
WHERE mpi_calls.call = q.call;
DROP TABLE jobs_of_mpi;
CREATE TEMP TABLE opened_by_mpi AS
SELECT k.image, m.opened, (SELECT max(b.file) FROM below b JOIN op o ON o.id = b.op LEFT JOIN calls x ON x.id = b.call
		LEFT JOIN calls y ON y.id = x.parent JOIN mpi_calls n ON n.call IN (x.id, x.parent, y.parent)
	WHERE n.shared = m.shared AND o.name IN ('open', 'create') AND b.file NOTNULL
		AND substr('/' || o.path, -length(p.base) - 1) = '/' || p.base) AS file
FROM mpi_calls m JOIN calls c ON c.id = m.call JOIN callers k ON k.id = c.caller
	JOIN (SELECT id, replace(path, rtrim(path, replace(path, '/', '')), '') AS base FROM paths) p ON p.id = c.path
WHERE m.seq = 0;
UPDATE calls SET file = q.file
FROM (SELECT m.call, o.file FROM mpi_calls m JOIN calls c ON c.id = m.call JOIN callers k ON k.id = c.caller
	JOIN opened_by_mpi o ON o.image = k.image AND o.opened = m.opened) q
WHERE calls.id = q.call AND q.file NOTNULL;
DROP TABLE opened_by_mpi;
DROP TABLE below;

-- Threads that make no calls work for calls that go on after they have returned: for the last one of their process that began before.
CREATE TEMP TABLE line (n INTEGER PRIMARY KEY, process INTEGER, file INTEGER, class TEXT, call INTEGER, op INTEGER);
INSERT INTO line SELECT NULL, process, file, class, call, op
FROM (SELECT i.process, c.file, n.class, c.t, c.id AS call, NULL AS op
	FROM mpi_calls m JOIN calls c ON c.id = m.call JOIN call_name n ON n.code = c.code JOIN callers k ON k.id = c.caller
		JOIN images i ON i.id = k.image
	WHERE c.file NOTNULL AND (n.name GLOB 'MPI_File_i*' OR n.name GLOB '*_begin')
	UNION ALL SELECT o.process, o.file, o.name, o.start_ns - m.value, NULL, o.id
	FROM op o, meta m WHERE m.key = 'start_ns' AND EXISTS (SELECT 1 FROM mpi_calls) AND o.name IN ('read', 'write')
		AND o.id NOT IN (SELECT op FROM op_parents) AND o.file IN (SELECT file FROM calls WHERE id IN (SELECT call FROM mpi_calls))
		AND NOT EXISTS (SELECT 1 FROM callers k JOIN images i ON i.id = k.image WHERE k.tid = o.tid AND i.process = o.process))
ORDER BY process, file, class, t, op NOTNULL;
INSERT INTO op_parents SELECT o.op, l.call
FROM (SELECT op, max(iif(call NOTNULL, n, NULL)) OVER (PARTITION BY process, file, class ORDER BY n ROWS UNBOUNDED PRECEDING) AS last
	FROM line) o JOIN line l ON l.n = o.last
WHERE o.op NOTNULL;
DROP TABLE line;

DROP VIEW access_rows;
CREATE VIEW access_rows AS
SELECT process, file, version, coalesce(max(path, used), path, used) AS path,
	opens, nread, bread, nwrite, bwrite, did & 1 AS created,
	did >> 1 & 1 AS truncated, did >> 2 & 1 AS renamed, did >> 3 & 1 AS unlinked,
	did >> 4 & 1 AS executed, did >> 5 & 1 AS mapped, did >> 7 & 1 AS assumed_read,
	did >> 8 & 1 AS assumed_write, did >> 9 & 1 AS uncounted, nmeta, first_t,
	first_t + last_t AS last_t, io_ns, first_t + first_in AS first_in,
	first_t + first_out AS first_out, first_t + first_out + last_out AS last_out, did >> 6 & 1 AS emptied
FROM accesses;

-- A process that made an output of a rule.  The task is the output, as the command could have named it.
INSERT OR IGNORE INTO rules SELECT a.process, o.rule, min(iif(substr(p.path, 1, length(c.value) + 1) = c.value || '/',
	substr(p.path, length(c.value) + 2), p.path))
FROM (SELECT max(value) AS value FROM meta WHERE key = 'cwd') c CROSS JOIN outputs o CROSS JOIN files f ON f.path = o.path JOIN accesses a ON a.file = f.id JOIN paths p ON p.id = o.path
WHERE a.process > 0 AND (a.nwrite > 0 OR a.did & 5) GROUP BY a.process;

DROP VIEW program;
CREATE VIEW program AS
SELECT i.id AS image, i.process, i.seq, p.name, p.kind & 1 AS shell, p.kind >> 1 & 1 AS script,
	iif(p.name ISNULL, NULL, p.kind >> 2 & 1) AS driver, coalesce(p.title, p.name) AS title, p.kind >> 3 & 1 AS own,
	iif(p.name ISNULL, NULL, p.kind >> 4 & 1) AS helper
FROM images i JOIN programs p ON p.image = coalesce(i.base, i.id);

-- From sums of reads and writes, all of which are in accesses now.
DROP VIEW access_parts;
CREATE VIEW access_parts AS
SELECT nullif(process, 0) AS process, file, version, nread, nwrite, did & 1 AS created, did >> 1 & 1 AS truncated, did >> 2 & 1 AS renamed,
	did >> 4 & 1 AS executed, did >> 5 & 1 AS mapped, did >> 7 AS assumed, did >> 6 & 1 AS emptied
FROM accesses;
INSERT INTO jobs SELECT j.process, j.job, j.xform, j.phase, j.lstart, j.lstop, s.step, s.task, s.part, s.label
FROM process_job j LEFT JOIN process_step s ON s.process = j.process;
DROP VIEW process_job;
DROP VIEW process_step;
DROP VIEW access_parts;
CREATE VIEW process_job AS SELECT process, job, xform, phase, lstart, lstop FROM jobs;
CREATE VIEW process_step AS SELECT process, step, task, part, label FROM jobs;
