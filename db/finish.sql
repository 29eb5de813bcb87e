-- SPDX-License-Identifier: MIT
--
-- Runs at the end of the run: stores results that the views would otherwise compute for each query.
--
-- SQLite leaves an eighth of each page of a table WITHOUT ROWID empty, even if rows come in their order.  It fills the pages
-- if it copies a whole table with the same columns.

UPDATE files SET path = (SELECT path FROM file_name WHERE file = id)
WHERE id IN (SELECT file FROM names GROUP BY file HAVING count(*) > 1);
DROP VIEW file_name;
CREATE VIEW file_name AS SELECT id AS file, path FROM files;

-- A join, for which SQLite makes an index of the numbers.
UPDATE devices SET process = q.process
FROM (SELECT d.rowid AS device, max(p.id) AS process FROM devices d JOIN processes p ON p.pid = d.pid AND p.start_t <= d.last_t
	AND (p.end_t IS NULL OR p.end_t >= d.first_t) GROUP BY d.rowid) q
WHERE devices.rowid = q.device;

CREATE TEMP TABLE named (
	file INTEGER, path INTEGER, from_t INTEGER, to_t INTEGER,
	PRIMARY KEY (file, path, from_t)) WITHOUT ROWID;
INSERT INTO named SELECT * FROM names;
DELETE FROM names;
INSERT INTO names SELECT * FROM named;
DROP TABLE named;

CREATE TEMP TABLE missing (
	process INTEGER, path INTEGER, count INTEGER, first_t INTEGER, PRIMARY KEY (process, path)) WITHOUT ROWID;
INSERT INTO missing SELECT * FROM missing_names;
DELETE FROM missing_names;
INSERT INTO missing_names SELECT * FROM missing;
DROP TABLE missing;

-- Through a table in memory, so that the pages of touches are used again.  The groups of the view come in the order of the key.
CREATE TEMP TABLE accessed (
	file INTEGER, process INTEGER, version INTEGER, path INTEGER, did INTEGER, opens INTEGER,
	nread INTEGER, bread INTEGER, nwrite INTEGER, bwrite INTEGER, nmeta INTEGER,
	first_t INTEGER, last_t INTEGER, io_ns INTEGER,
	first_in INTEGER, first_out INTEGER, last_out INTEGER,
	PRIMARY KEY (file, process, version)) WITHOUT ROWID;
INSERT INTO accessed SELECT file, process, version, iif(a.path IS f.path, NULL, coalesce(a.path, 0)), created + 2 * truncated +
		4 * renamed + 8 * unlinked + 16 * executed + 32 * mapped + 64 * emptied +
		128 * assumed_read + 256 * assumed_write + 512 * uncounted, opens,
	nread, bread, nwrite, bwrite, nmeta, first_t, last_t - first_t, io_ns,
	first_in - first_t, first_out - first_t, last_out - first_out
FROM access_rows a LEFT JOIN files f ON f.id = a.file;
DELETE FROM touches;
INSERT INTO accesses SELECT * FROM accessed;
DROP TABLE accessed;
DROP VIEW access_rows;
CREATE VIEW access_rows AS
SELECT process, file, version, iif(a.path IS NULL, f.path, nullif(a.path, 0)) AS path,
	opens, nread, bread, nwrite, bwrite, did & 1 AS created,
	did >> 1 & 1 AS truncated, did >> 2 & 1 AS renamed, did >> 3 & 1 AS unlinked,
	did >> 4 & 1 AS executed, did >> 5 & 1 AS mapped, did >> 7 & 1 AS assumed_read,
	did >> 8 & 1 AS assumed_write, did >> 9 & 1 AS uncounted, nmeta, first_t,
	first_t + last_t AS last_t, io_ns, first_t + first_in AS first_in,
	first_t + first_out AS first_out, first_t + first_out + last_out AS last_out, did >> 6 & 1 AS emptied
FROM accesses a LEFT JOIN files f ON f.id = a.file;

-- A process that made an output of a rule.
INSERT OR IGNORE INTO rules SELECT a.process, o.rule, min(p.path)
FROM outputs o CROSS JOIN files f ON f.path = o.path JOIN accesses a ON a.file = f.id JOIN paths p ON p.id = o.path
WHERE a.process > 0 AND (a.nwrite > 0 OR a.did & 5) GROUP BY a.process;

-- From sums of reads and writes.
INSERT INTO jobs SELECT j.process, j.job, j.xform, j.phase, j.lstart, j.lstop, s.step, s.task, s.part, s.label
FROM process_job j LEFT JOIN process_step s ON s.process = j.process;
DROP VIEW process_job;
DROP VIEW process_step;
CREATE VIEW process_job AS SELECT process, job, xform, phase, lstart, lstop FROM jobs;
CREATE VIEW process_step AS SELECT process, step, task, part, label FROM jobs;
