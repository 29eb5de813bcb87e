-- SPDX-License-Identifier: MIT
--
-- Which processes of other runs have started the runs of a merged trace (merge_starts.h).

-- The processes of each part, and of it what the kernel and the environment say.  unsure: how wrong its times may be; NULL: not known, as
-- beside a trace that was merged before, which does not keep how wrong its own may be.
CREATE TEMP TABLE span (first INTEGER PRIMARY KEY, last, part, host, boot, namespace, run, started_in, client, server, began, unsure, merged, root, root_t);
INSERT OR REPLACE INTO span SELECT p.first_process, NULL, p.part, f.host, f.boot, f.namespace, f.run, f.started_in, f.client, f.server, f.began,
	(SELECT coalesce(h.uncertainty_ns, iif(h.synchronized AND h.contradiction_ns IS NULL, h.error_ns, NULL)) FROM host h
		WHERE h.name IS f.host AND h.boot_id IS f.boot AND NOT EXISTS (SELECT 1 FROM main.parts WHERE merged NOTNULL)), p.merged, NULL, NULL
FROM main.parts p JOIN (SELECT part, max(iif(key = 'host', value, NULL)) AS host, max(iif(key = 'boot_id', value, NULL)) AS boot,
		max(iif(key = 'pid_namespace', value, NULL)) AS namespace, max(iif(key = 'run', value, NULL)) AS run,
		max(iif(key = 'started_in', value, NULL)) AS started_in, max(iif(key = 'ssh_client', value, NULL)) AS client,
		max(iif(key = 'ssh_server', value, NULL)) AS server, max(iif(key = 'start_ns', value, NULL)) AS began
	FROM main.part_facts GROUP BY part) f ON f.part = p.part ORDER BY p.part;
UPDATE span SET last = coalesce((SELECT min(first) FROM span n WHERE n.first > span.first), (SELECT max(id) FROM main.processes) + 1) - 1;

-- What was found before, with fewer traces, is found anew; except by times, which those traces keep as they were.
CREATE TEMP TABLE former AS SELECT * FROM main.starts WHERE reason = 'launcher' OR parent IS NULL;
UPDATE main.processes SET parent = NULL WHERE id IN (SELECT process FROM main.starts WHERE parent NOTNULL);
DELETE FROM main.starts;
UPDATE span SET root = (SELECT id FROM main.processes p WHERE p.id BETWEEN first AND last AND parent IS NULL ORDER BY id LIMIT 1);
UPDATE span SET root_t = (SELECT start_t FROM main.processes WHERE id = root);
CREATE INDEX temp.span_part ON span (part);
CREATE INDEX temp.span_boot ON span (boot);

-- The kernel's parent.  Of several traces that have it, the one of the run that the environment names, else the one that began last.
CREATE TEMP TABLE orphan AS SELECT p.id, p.ppid, p.start_t, s.part, s.boot, s.namespace, s.started_in
FROM span s JOIN main.processes p ON p.id BETWEEN s.first AND s.last
WHERE p.parent IS NULL AND p.ppid > 0 AND s.boot NOTNULL AND s.namespace NOTNULL AND EXISTS (SELECT 1 FROM span o WHERE o.boot = s.boot AND o.part <> s.part);
CREATE INDEX temp.orphan_ppid ON orphan (ppid);
INSERT INTO main.starts SELECT process, parent, began_in, 'parent', 1 FROM (SELECT c.id AS process, p.id AS parent, s.part AS began_in,
		row_number() OVER (PARTITION BY c.id ORDER BY s.run IS c.started_in AND s.run NOTNULL DESC, s.part DESC, p.start_t DESC, p.id) AS n
	FROM main.processes p CROSS JOIN orphan c ON c.ppid = p.pid JOIN span s ON s.first = (SELECT max(first) FROM span WHERE first <= p.id)
	WHERE s.part <> c.part AND s.boot = c.boot AND s.namespace = c.namespace AND p.start_t < c.start_t AND (p.end_t IS NULL OR p.end_t >= c.start_t))
WHERE n = 1;

-- The processes that may have started the others.  within: how wrong the difference of two clocks may be; NULL: that is not known.
CREATE TEMP TABLE candidate (process INTEGER, parent INTEGER, began_in INTEGER, reason, PRIMARY KEY (process, parent)) WITHOUT ROWID;
CREATE TEMP TABLE ends AS SELECT x.root, x.root_t, x.part, x.boot, x.unsure, x.merged, s.file, s.t
FROM main.sockets s JOIN main.paths l ON l.id = s.local JOIN main.paths r ON r.id = s.remote JOIN span x ON x.client = l.path AND x.server = r.path
WHERE x.root NOT IN (SELECT process FROM main.starts)
	-- Else this run has inherited, or may have, what the environment says.
	AND (x.started_in IS NULL OR EXISTS (SELECT 1 FROM span o WHERE o.run = x.started_in AND o.client IS NOT x.client))
	AND (s.host IS x.host OR NOT (l.path GLOB '127.*' OR l.path GLOB '[[]::1]:*'));
INSERT OR IGNORE INTO candidate SELECT root, process, began_in, 'connection' FROM (
	SELECT e.root, e.root_t, e.t, a.process, s.part AS began_in, iif(s.boot IS e.boot AND s.merged IS NULL AND e.merged IS NULL, 0, s.unsure + e.unsure) AS within
	FROM ends e JOIN temp.accesses a ON a.file = e.file AND a.process JOIN span s ON s.first = (SELECT max(first) FROM span WHERE first <= a.process)
	WHERE s.part <> e.part)
WHERE within IS NULL OR t <= root_t + within;
-- Of connections between the same ends, one after another, the last one.
DELETE FROM candidate WHERE EXISTS (SELECT 1 FROM candidate o JOIN main.processes p ON p.id = candidate.parent JOIN main.processes q ON q.id = o.parent
	WHERE o.process = candidate.process AND o.began_in = candidate.began_in AND p.end_t < q.start_t);

INSERT OR IGNORE INTO main.starts SELECT f.* FROM former f JOIN span x ON x.root = f.process JOIN span r ON r.part = f.began_in
WHERE x.merged = r.merged AND f.process NOT IN (SELECT process FROM candidate);

-- starter: processes that have run such a program, with the time of that.
CREATE TEMP TABLE starter AS SELECT i.process, l.program, min(i.start_t) AS start_t
FROM main.images i JOIN (SELECT DISTINCT program FROM wanted WHERE program NOTNULL) l ON i.comm GLOB l.program
WHERE i.base IS NULL AND EXISTS (SELECT 1 FROM wanted) GROUP BY i.process, l.program;
CREATE INDEX temp.starter_program ON starter (program, process);
INSERT OR IGNORE INTO candidate SELECT root, process, began_in, 'launcher' FROM (
	SELECT x.root, x.root_t, l.process, l.start_t, p.end_t, r.part AS began_in, w.program, iif(x.boot IS r.boot AND x.merged IS NULL AND r.merged IS NULL, 0, x.unsure + r.unsure) AS within
	FROM wanted w JOIN span x ON x.part = w.x JOIN span r ON r.part = w.r
		JOIN starter l ON l.program = w.program AND l.process BETWEEN r.first AND r.last JOIN main.processes p ON p.id = l.process
	WHERE r.part < x.part AND x.root NOT IN (SELECT process FROM main.starts) AND x.root NOT IN (SELECT process FROM candidate))
WHERE within IS NULL OR start_t <= root_t + within AND (end_t IS NULL OR program = 'sbatch' OR end_t >= root_t - within);

-- Several of which one is above all others are one: a program that starts runs by children of its own.
CREATE TEMP TABLE above AS WITH RECURSIVE up (process, parent, above) AS (
	SELECT c.process, c.parent, p.parent FROM candidate c JOIN main.processes p ON p.id = c.parent
	UNION SELECT u.process, u.parent, p.parent FROM up u JOIN main.processes p ON p.id = u.above)
SELECT process, parent FROM up u WHERE above <> parent AND EXISTS (SELECT 1 FROM candidate c WHERE c.process = u.process AND c.parent = u.above);
DELETE FROM candidate WHERE (process, parent) IN (SELECT process, parent FROM above);
INSERT INTO main.starts SELECT process, iif(count(*) = 1, max(parent), NULL), iif(min(began_in) = max(began_in), min(began_in), NULL),
	iif(count(*) = 1, max(reason), NULL), count(*) FROM candidate GROUP BY process;
INSERT OR IGNORE INTO main.starts SELECT x.root, NULL, r.part, NULL, 0
FROM wanted w JOIN span x ON x.part = w.x JOIN span r ON r.part = w.r WHERE x.root NOTNULL;

UPDATE main.processes SET parent = s.parent FROM main.starts s WHERE s.process = processes.id AND s.parent NOTNULL;
INSERT INTO main.meta SELECT 'starts_not_known', n FROM (SELECT count(*) AS n FROM main.starts WHERE parent IS NULL) WHERE n;
INSERT INTO main.meta SELECT 'starts_not_known_path', (SELECT value FROM main.part_facts WHERE part = s.part AND key = 'command')
FROM span s WHERE s.root = (SELECT min(process) FROM main.starts WHERE parent IS NULL);

DROP TABLE span; DROP TABLE former; DROP TABLE orphan; DROP TABLE candidate; DROP TABLE ends; DROP TABLE starter; DROP TABLE above; DROP TABLE wanted; DROP TABLE launcher;
