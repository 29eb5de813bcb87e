-- SPDX-License-Identifier: MIT
--
-- The public interface of a trace, version 1: see ftrac-db(5).  Columns may be added, never
-- renamed.  NULL: not known in this tier or fidelity.
--
-- process_job, program, access_rows and file_name are computed here while the trace grows; at the end of the run sum.sql and finish.sql
-- have stored their results.

CREATE VIEW trace AS SELECT key, value FROM meta;

-- Not a join, which SQLite would not flatten behind LEFT JOIN.
CREATE VIEW paths AS
SELECT n.id, iif(n.directory ISNULL, n.name, (SELECT d.path FROM directories d WHERE d.id = n.directory) || n.name) AS path FROM path_names n;

-- Arguments joined, in single quotes only where a POSIX shell needs them.
CREATE VIEW image AS
WITH run AS MATERIALIZED (SELECT value AS t0 FROM meta WHERE key = 'start_ns')
SELECT i.id, i.process, i.seq, e.path AS exe,
	(SELECT group_concat(CASE
			WHEN value = '' OR value GLOB '*[^A-Za-z0-9_@%+=:,./-]*'
			THEN '''' || replace(value, '''', '''\''''') || '''' ELSE value END, ' ')
		FROM json_each(iif(json_valid(b.argv), b.argv, '[]'))) AS command,
	b.argv,
	coalesce(b.argv_raw, CASE WHEN b.argv = '[]' THEN x'' END, CAST((SELECT group_concat(value, char(0)) || char(0)
		FROM json_each(iif(json_valid(b.argv), b.argv, '[]'))) AS BLOB)) AS argv_raw,
	c.path AS cwd, run.t0 + i.start_t AS start_ns, run.t0 + i.end_t AS end_ns,
	s0.path AS stdin, s1.path AS stdout, s2.path AS stderr, b.comm,
	(SELECT g.name FROM program g WHERE g.image = i.id) AS program
FROM run, images i JOIN images b ON b.id = coalesce(i.base, i.id)
	LEFT JOIN paths e ON e.id = b.exe LEFT JOIN paths c ON c.id = b.cwd
	LEFT JOIN paths s0 ON s0.id = b.stdin LEFT JOIN paths s1 ON s1.id = b.stdout
	LEFT JOIN paths s2 ON s2.id = b.stderr;

-- The name of an image: the base name of its program or, for a script that was started by its own name (own), of the
-- script.  title: the same, but also the name of a script or module that is an argument of an interpreter.  shell: a
-- shell; script: a shell that runs a script or is interactive; driver: starts jobs (drivers.c); helper: prepares and
-- cleans up files for other programs.  An image that began by a fork runs the program of its base.
-- What sum.sql has of it already is taken from there.
CREATE VIEW program AS
WITH given AS NOT MATERIALIZED (SELECT b.id, e.base, b.comm, iif(json_valid(b.argv), b.argv, '[]') AS argv,
		coalesce(e.base IN ('sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'csh', 'tcsh', 'fish', 'yash', 'busybox')
			AND b.comm NOT IN ('xargs', 'env'), 0) AS shell,
		CASE WHEN e.base GLOB 'python*' OR e.base GLOB 'pypy*' THEN 1 WHEN e.base = 'java' THEN 3
			WHEN e.base GLOB 'perl*' OR e.base GLOB 'ruby*' OR e.base IN ('Rscript', 'node', 'nodejs', 'php', 'lua', 'tclsh')
			THEN 2 ELSE 0 END AS interprets
	FROM images b LEFT JOIN (SELECT id, replace(path, rtrim(path, replace(path, '/', '')), '') AS base FROM paths) e ON e.id = b.exe),
placed AS NOT MATERIALIZED (SELECT *,
		iif(comm <> substr(base, 1, 15), (SELECT min(key) FROM json_each(argv) WHERE key < 6 AND
			substr(replace(value, rtrim(value, replace(value, '/', '')), ''), 1, 15) = comm), NULL) AS place,
		-- the place of the first argument that is neither an option nor its value
		iif(shell + interprets, (SELECT min(key) FROM json_each(argv) o WHERE key > 0 AND value NOT GLOB '[-+]*'
			AND (SELECT value FROM json_each(argv) WHERE key = o.key - 1) NOT IN ('-W', '-X', '-o', '+o', '-O', '+O', '-I',
				'-r', '-cp', '-classpath')), NULL) AS first
	FROM given),
called AS NOT MATERIALIZED (SELECT *,
		-- A script's comm is its own name, cut off; an argument has the whole name.
		iif(place IS NULL, NULL, (SELECT replace(value, rtrim(value, replace(value, '/', '')), '') FROM json_each(argv)
			WHERE key = place)) AS called,
		-- sh -c COMMANDS, perl -ne COMMANDS: an option with that letter, before the first argument that is no option
		iif(shell + interprets IN (1, 2), EXISTS (SELECT 1 FROM json_each(argv)
			WHERE key > 0 AND value GLOB iif(interprets = 2, '-*[eEp]*', '-*c*') AND value NOT GLOB '--*'
				AND key < coalesce(first, key + 1)), 0) AS given_text
	FROM placed)
SELECT i.id AS image, i.process, i.seq, iif(s.image ISNULL, coalesce(called, b.base, b.comm), s.name) AS name,
	iif(s.image ISNULL, b.shell, s.kind & 1) AS shell, iif(s.image ISNULL, b.shell AND NOT given_text, s.kind >> 1 & 1) AS script,
	iif(s.image ISNULL, coalesce(called, b.base, b.comm) IN (@DRIVERS@), iif(s.name ISNULL, NULL, s.kind >> 2 & 1)) AS driver,
	iif(s.image ISNULL, coalesce(iif(place > 0, called, NULL), iif(b.base = 'R', (SELECT replace(value, rtrim(value, replace(value, '/', '')), '')
		FROM (SELECT substr(value, 8) AS value FROM json_each(b.argv) WHERE value GLOB '--file=*')), NULL),
		iif(given_text OR first IS NULL, NULL, (SELECT replace(value, rtrim(value, replace(value, '/', '')), '')
		FROM json_each(b.argv) WHERE key = first)), called, b.base, b.comm), coalesce(s.title, s.name)) AS title,
	iif(s.image ISNULL, called IS NOT NULL AND place > 0, s.kind >> 3 & 1) AS own,
	iif(s.image ISNULL, coalesce(called, b.base, b.comm) IN ('mkdir', 'rmdir', 'rm', 'cp', 'mv', 'ln', 'touch', 'test', '[', 'chmod', 'chown',
		'chgrp', 'echo', 'printf', 'true', 'false', 'install', 'sleep', 'date', 'basename', 'dirname', 'pwd', 'expr',
		'mktemp', 'readlink', 'realpath', 'uname', 'hostname', 'id', 'which', 'env', 'nice', 'nohup', 'time',
		'timeout'), iif(s.name ISNULL, NULL, s.kind >> 4 & 1)) AS helper
FROM images i JOIN called b ON b.id = coalesce(i.base, i.id)
	LEFT JOIN programs s ON s.image = b.id AND s.image NOT IN (SELECT image FROM fresh_images);

-- Facts given at the start of each run, for all its processes.  A trace has one run, unless it was merged from
-- several.
CREATE VIEW run AS
SELECT first_process, coalesce(lead(first_process) OVER (ORDER BY first_process) - 1,
	9223372036854775807) AS last_process, host, job, xform, fidelity
FROM (SELECT first_process, host, job, xform, fidelity FROM runs
	UNION ALL SELECT -9223372036854775807, (SELECT value FROM meta WHERE key = 'host'),
		(SELECT value FROM meta WHERE key = 'job'), (SELECT value FROM meta WHERE key = 'xform'),
		(SELECT value FROM meta WHERE key = 'fidelity')
	WHERE NOT EXISTS (SELECT 1 FROM runs));

-- Of several traces that were merged: the facts of each, by numbers in the order of their start; and files of two of them that count
-- as two, although something speaks for one.
CREATE VIEW merged AS SELECT part, key, value FROM part_facts;
CREATE VIEW doubt AS SELECT verdict AS reason, p.path, d.file, d.other FROM doubts d LEFT JOIN paths p ON p.id = d.path;

-- Processes that those of other ones of these traces have started, or may have.
CREATE VIEW start AS SELECT process, parent, began_in AS part, reason, candidates FROM starts;

-- What the clocks of a machine showed, in the times of each trace.
CREATE VIEW clock AS
SELECT c.part, s.t0 + c.t AS t_ns, s.t0 + c.t + c.wall AS realtime_ns, c.boot AS boot_ns, c.synchronized, c.error AS error_ns
FROM clocks c JOIN (SELECT 0 AS part, value AS t0 FROM meta WHERE key = 'start_ns' UNION ALL
	SELECT part, value FROM part_facts WHERE key = 'start_ns') s ON s.part = c.part;

-- Machines, from one boot to the next.
CREATE VIEW host AS
WITH facts AS MATERIALIZED (SELECT 0 AS part, key, value FROM meta WHERE key IN ('host', 'boot_id') AND NOT EXISTS (SELECT 1 FROM part_facts)
	UNION ALL SELECT part, key, value FROM part_facts WHERE key IN ('host', 'boot_id')),
machine AS MATERIALIZED (SELECT part, max(iif(key = 'host', value, NULL)) AS name, max(iif(key = 'boot_id', value, NULL)) AS boot_id
	FROM facts GROUP BY part),
ran AS (SELECT part, max(t) - min(t) AS t, (SELECT wall FROM clocks b WHERE b.part = c.part ORDER BY t DESC LIMIT 1) -
		(SELECT wall FROM clocks b WHERE b.part = c.part ORDER BY t LIMIT 1) AS gained,
		min(synchronized) AS synchronized, max(error) AS error FROM clocks c GROUP BY part),
known AS MATERIALIZED (SELECT m.name, m.boot_id, sum(r.gained) * 1.0 / nullif(sum(r.t), 0) AS drift, min(r.synchronized) AS synchronized,
		max(r.error) AS error, count(*) AS traces
	FROM machine m LEFT JOIN ran r ON r.part = m.part GROUP BY m.name, m.boot_id)
SELECT k.name, k.boot_id, coalesce(h.offset, 0) AS offset_ns, CASE WHEN NOT EXISTS (SELECT 1 FROM part_facts) THEN 0 ELSE h.uncertainty END
	AS uncertainty_ns, k.drift, k.synchronized, k.error AS error_ns, h.contradiction AS contradiction_ns, k.traces
FROM known k LEFT JOIN hosts h ON h.boot_id IS k.boot_id AND (k.boot_id NOTNULL OR h.name IS k.name);

-- The job of a process: that of the command line; else that of its environment; else the topmost process below the
-- nearest driver, by the id of that process.  Drivers are the programs above, processes whose parent is not in the
-- trace, and, with only drivers above them, shells that run a script.  A script that is started by its own name is a
-- program, also as the first process.  A process that only starts jobs has no job.  All processes that make starts for one target are one
-- job, if the target is known (ftrac run --make).
CREATE VIEW process_job AS
WITH RECURSIVE
said AS MATERIALIZED (SELECT * FROM run),
-- The kind of each process; names: its candidates for the name of a job, in the order: other programs, helpers, drivers
-- and shells.
kind AS MATERIALIZED (SELECT p.id, coalesce(max(g.driver) FILTER (WHERE g.seq > 0), 0) AS driver,
		coalesce(max(g.script AND NOT g.own) FILTER (WHERE g.seq > 0), 0) AS script,
		coalesce(max(g.shell AND g.own) FILTER (WHERE g.seq > 0), 0) AS own,
		coalesce(max(NOT g.shell AND g.name NOT IN ('env', 'nice', 'nohup', 'time', 'timeout') OR g.script)
			FILTER (WHERE g.seq > 0), 0) AS works,
		EXISTS (SELECT 1 FROM processes c WHERE c.parent = p.id) AS starts,
		coalesce(min(g.key) FILTER (WHERE g.seq > 0), min(g.key)) AS names
	FROM processes p LEFT JOIN (SELECT *, CASE WHEN helper THEN 1 WHEN driver THEN 2
			WHEN shell AND (seq = 0 OR title = name AND NOT own) THEN 3 ELSE 0 END || printf('%019d%019d', process, image) || title AS key
		FROM program) g ON g.process = p.id GROUP BY p.id),
walk (id, top, drives, layer, under, maker, leads, works, names) AS (
	SELECT k.id, iif(k.starts AND NOT k.own, NULL, k.id), NOT k.own, NOT k.own, k.driver, NULL, 0, 1, k.names
	FROM processes p JOIN kind k ON k.id = p.id WHERE p.parent IS NULL
	UNION ALL
	SELECT c.id,
		CASE WHEN w.layer AND k.starts AND (k.driver OR k.script AND NOT w.under) THEN NULL
			WHEN w.drives THEN c.id ELSE w.top END,
		k.driver OR k.script AND w.layer AND NOT w.under,
		w.layer AND (k.driver OR k.script AND NOT w.under), w.under OR k.driver,
		-- the make that started the topmost process
		iif(w.drives, w.id, w.maker), k.driver AND k.starts, k.works AND NOT k.driver, k.names
	FROM walk w JOIN processes c ON c.parent = w.id JOIN kind k ON k.id = c.id),
-- A process that only leads to drivers is no job.  All that make starts for one target is one job.
part AS MATERIALIZED (SELECT id, names, iif(max(leads) OVER of_top AND NOT max(works) OVER of_top, NULL, top) AS top, maker,
		(SELECT e.value FROM images i JOIN environs e ON e.image = coalesce(i.base, i.id)
			WHERE i.process = w.top AND i.seq = 1 AND e.name = 'FTRAC_TARGET') AS target
	FROM walk w WINDOW of_top AS (PARTITION BY top)),
variable (rank, name, part) AS (VALUES (1, 'FTRAC_JOB', NULL), (2, 'PEGASUS_DAG_JOB_ID', NULL),
	(3, 'SLURM_JOB_ID', NULL), (4, 'SLURM_JOBID', NULL), (5, 'PBS_JOBID', NULL),
	(6, 'LSB_JOBID', 'LSB_JOBINDEX'), (7, 'JOB_ID', 'SGE_TASK_ID')),
given AS MATERIALIZED (SELECT i.process, min(v.rank - i.seq * 100), e.value ||
		coalesce('.' || nullif(nullif(t.value, '0'), 'undefined'), '') AS job
	FROM environs e JOIN variable v ON v.name = e.name
		JOIN images i ON coalesce(i.base, i.id) = e.image AND e.value <> ''
		LEFT JOIN environs t ON t.image = e.image AND t.name = v.part
	GROUP BY i.process),
member AS MATERIALIZED (SELECT w.id, p.start_t, p.end_t, s.xform, w.names, coalesce(s.job, g.job, CAST(iif(w.target IS NULL,
			w.top, min(w.top) OVER (PARTITION BY w.target, w.maker)) AS TEXT)) AS job
	FROM said s CROSS JOIN processes p JOIN part w ON w.id = p.id LEFT JOIN given g ON g.process = w.id
	WHERE p.id BETWEEN s.first_process AND s.last_process),
job AS MATERIALIZED (SELECT job, coalesce(max(xform), substr(min(names), 40)) AS xform, min(start_t) AS t0
	FROM member WHERE job IS NOT NULL GROUP BY job),
-- Files that some process wrote: most others are programs and libraries, which all read.
changed AS MATERIALIZED (SELECT DISTINCT file FROM access_parts
	WHERE nwrite > 0 OR created OR truncated OR renamed OR assumed & 2),
-- The jobs that wrote and read each version of a file that any job wrote.  A job that read before the last writer began
-- has no data of that writer.  goes_on: a version that is not the first and was not truncated contains the one before.
used AS MATERIALIZED (SELECT m.job, a.file, a.version, a.nread > 0 OR a.mapped OR a.executed OR a.assumed & 1 AS reads,
		a.nwrite > 0 OR a.created OR a.truncated OR a.renamed OR a.assumed & 2 AS writes,
		a.version > 1 AND NOT max(a.emptied) OVER (PARTITION BY a.file, a.version) AS goes_on
	FROM access_parts a LEFT JOIN member m ON m.id = a.process WHERE a.file IN (SELECT file FROM changed)),
flow AS MATERIALIZED (SELECT job, xform, file, version, writes, goes_on, reads AND t0 >= coalesce(ready, t0 + 1) AS reads
	FROM (SELECT u.job, j.xform, j.t0, u.file, u.version, u.goes_on, max(u.writes) AS writes, max(u.reads) AS reads,
			max(max(u.writes)) OVER (PARTITION BY u.file) AS written,
			max(max(iif(u.writes, j.t0, NULL))) OVER (PARTITION BY u.file ORDER BY u.version) AS ready
		FROM used u JOIN job j ON j.job = u.job WHERE u.reads OR u.writes GROUP BY u.file, u.version, u.job)
	WHERE written),
-- The xforms whose data each xform has, and those whose data comes back to them through others: only these can be divided.
share AS MATERIALIZED (SELECT file, xform, max(reads) AS reads, max(writes) AS writes FROM flow GROUP BY file, xform),
step AS MATERIALIZED (SELECT DISTINCT w.xform AS x, r.xform AS y FROM share w JOIN share r ON r.file = w.file
	WHERE w.writes AND r.reads AND w.xform <> r.xform),
reach (x, y) AS (SELECT xform, NULL FROM job GROUP BY xform HAVING count(*) > 1
	UNION SELECT r.x, s.y FROM reach r JOIN step s ON s.x = coalesce(r.y, r.x) WHERE r.y IS NOT r.x),
-- The jobs of such an xform to which its own data came back: follows data from jobs to versions of files, and to jobs.
-- away: through another xform.
back (x, away, job, file, version) AS (
	SELECT xform, 0, job, NULL, NULL FROM flow WHERE xform IN (SELECT x FROM reach WHERE x = y)
	UNION SELECT c.x, c.away, NULL, f.file, f.version FROM back c JOIN flow f ON f.job = c.job
	WHERE f.writes AND c.away < 2
	UNION SELECT c.x, c.away, NULL, f.file, f.version FROM back c JOIN flow f ON f.file = c.file
		AND f.version = c.version + 1 WHERE f.goes_on
	UNION SELECT c.x, iif(f.xform = c.x, c.away * 2, 1), f.job, NULL, NULL
	FROM back c JOIN flow f ON f.file = c.file AND f.version = c.version WHERE f.reads),
-- How often it came back, beginning with jobs to which it did not.
came (x, n, away, job, file, version) AS (
	SELECT x, 1, 0, job, NULL, NULL FROM back WHERE job IS NOT NULL AND away <> 1 GROUP BY x, job HAVING NOT max(away)
	UNION SELECT c.x, c.n, c.away, NULL, f.file, f.version FROM came c JOIN flow f ON f.job = c.job WHERE f.writes
	UNION SELECT c.x, c.n, c.away, NULL, f.file, f.version FROM came c JOIN flow f ON f.file = c.file
		AND f.version = c.version + 1 WHERE f.goes_on
	UNION SELECT c.x, c.n + (f.xform = c.x AND c.away), f.xform <> c.x, f.job, NULL, NULL
	FROM came c JOIN flow f ON f.file = c.file AND f.version = c.version WHERE f.reads AND c.n < 20),
phased AS MATERIALIZED (SELECT j.job, j.xform, max(coalesce(c.n, 1)) AS n
	FROM job j LEFT JOIN (SELECT job, x, max(n) AS n FROM came WHERE job IS NOT NULL GROUP BY job, x) c
		ON c.job = j.job AND c.x = j.xform GROUP BY j.job),
change AS (SELECT id, stops, row_number() OVER (PARTITION BY job ORDER BY t, stops, id) AS n
	FROM (SELECT id, job, start_t AS t, 0 AS stops FROM member
		UNION ALL SELECT id, job, end_t, 1 FROM member WHERE end_t IS NOT NULL)),
count AS MATERIALIZED (SELECT id, max(iif(stops, NULL, n)) AS lstart,
		max(iif(stops, n, NULL)) AS lstop FROM change GROUP BY id)
SELECT m.id AS process, m.job, coalesce(f.xform, m.xform) AS xform, iif(f.n > 1, f.xform || '.' || f.n, f.xform) AS phase, c.lstart, c.lstop
FROM member m JOIN count c ON c.id = m.id LEFT JOIN phased f ON f.job = m.job;

CREATE VIEW process AS
WITH run0 AS MATERIALIZED (SELECT value AS t0 FROM meta WHERE key = 'start_ns'),
said AS MATERIALIZED (SELECT * FROM run)
SELECT p.id, s.host, p.pid, p.ppid, p.parent, j.job, j.xform, j.phase,
	(SELECT m.command FROM image m WHERE m.id = p.image) AS command, e.path AS exe, b.comm,
	c.path AS cwd, p.uid, p.gid,
	run0.t0 + p.start_t AS start_ns, run0.t0 + p.end_t AS end_ns,
	j.lstart, j.lstop, p.exit_code, p.exit_signal,
	g.cpu_ns, g.utime_ns, g.stime_ns, g.vmpeak_bytes, g.rsspeak_bytes,
	g.read_char, g.write_char, g.read_bytes, g.write_bytes,
	g.nvcsw, g.nivcsw, g.minflt, g.majflt,
	g.cpu_delay_ns, g.blkio_delay_ns, g.swapin_delay_ns, g.reclaim_delay_ns,
	(SELECT path FROM paths WHERE id = p.cgroup) AS cgroup,
	CASE WHEN p.tier & 16 THEN 'kernel' WHEN p.tier & 8 THEN 'ptrace' WHEN p.tier & 2 THEN 'connector' ELSE 'inband' END ||
		iif(p.tier & 4, '+taskstats', '') AS tier,
	CASE WHEN p.end_t IS NULL THEN 'running' WHEN p.exit_signal IS NOT NULL THEN 'killed'
		WHEN p.exit_code IS NOT NULL THEN 'exited' ELSE 'ended' END AS state,
	(SELECT o.name FROM program o WHERE o.image = p.image) AS program, p.image,
	CASE WHEN s.fidelity IS NOT NULL THEN coalesce(t.ops, 0) END AS ops,
	CASE WHEN s.fidelity IS NOT NULL THEN coalesce(t.ns, 0) END AS ops_ns, x.step, x.task, x.part, x.label
FROM run0, said s CROSS JOIN processes p LEFT JOIN images i ON i.id = p.image
	LEFT JOIN images b ON b.id = coalesce(i.base, i.id)
	LEFT JOIN paths e ON e.id = b.exe LEFT JOIN paths c ON c.id = b.cwd
	LEFT JOIN figures g ON g.process = p.id LEFT JOIN op_times t ON t.process = p.id LEFT JOIN process_job j ON j.process = p.id
	LEFT JOIN process_step x ON x.process = p.id
WHERE p.id BETWEEN s.first_process AND s.last_process;

-- Where the time of all threads of a process went: the parts of threads_ns.
CREATE VIEW process_time AS
SELECT process, threads_ns, running_ns, cpu_delay_ns AS queue_ns, file_ns, pipe_ns, socket_ns, lock_ns, child_ns, sleep_ns, event_ns,
	memory_ns, stopped_ns, other_ns
FROM figures WHERE threads_ns NOTNULL;

CREATE VIEW environ AS
SELECT i.id AS image, e.name, e.value
FROM images i JOIN environs e ON e.image = coalesce(i.base, i.id);

CREATE VIEW sample AS
SELECT process, (SELECT value FROM meta WHERE key = 'start_ns') + t AS t_ns,
	rss AS rss_bytes, cpu AS cpu_ns FROM samples;

-- The path of a file with several names: of its present names, the last one that it got; of those from before the run,
-- the first in alphabetical order, since the order of lookups is random.  Without a present name: the last one.  A name
-- may have several rows if the kernel forgot it in between; the last row counts.
CREATE VIEW file_name AS
SELECT g.id AS file, coalesce((SELECT n.path FROM names n JOIN paths p ON p.id = n.path JOIN files o ON o.id = n.file
	WHERE n.file = g.id AND n.to_t IS NULL AND o.state & 2 = 0 AND NOT EXISTS (SELECT 1 FROM names l
		WHERE l.file = n.file AND l.path = n.path AND l.from_t > n.from_t AND l.to_t IS NOT NULL)
	ORDER BY iif(o.state & 1, -n.from_t, 0), p.path LIMIT 1), g.path) AS path
FROM files g;

CREATE VIEW file AS
SELECT f.id, (SELECT path FROM paths WHERE id = (SELECT path FROM file_name WHERE file = f.id)) AS path, k.dev, f.ino,
	CASE k.mode & 61440 WHEN 32768 THEN iif(p.path GLOB 'memfd:*', 'memfd', 'file') WHEN 16384 THEN 'dir' WHEN 40960 THEN 'symlink'
		WHEN 4096 THEN 'fifo' WHEN 49152 THEN 'socket'
		WHEN 8192 THEN iif(p.path GLOB '/dev/pts/[0-9]*' OR p.path GLOB '/dev/tty*' OR p.path = '/dev/console', 'terminal', 'char')
		WHEN 24576 THEN 'block' WHEN 0 THEN CASE WHEN f.ino IS NULL THEN NULL WHEN p.path GLOB '*[[]eventfd]' THEN 'eventfd'
			ELSE 'anon' END END AS kind,
	m.fstype, m.path AS mount, f.size_first, coalesce(f.size_last, f.size_first) AS size_last,
	f.state & 1 AS created, f.state >> 1 & 1 AS deleted, f.birth AS birth_ns, m.id AS mount_id
FROM files f LEFT JOIN kinds k ON k.id = f.kind LEFT JOIN paths p ON p.id = f.path
	LEFT JOIN mounts m ON m.id = k.mount;

-- Mounts, of which files have seen by processes.
CREATE VIEW mount AS SELECT id, fstype, path, root, source, fsid FROM mounts;

-- What tells that a file is the same as one of another trace.  system: its file system, by a name that all machines have; of a local one
-- that of the boot, and the device; NULL: not known.  place: where it is in that, or else its path.
CREATE VIEW file_identity AS
WITH local AS NOT MATERIALIZED (SELECT f.id, f.ino, f.birth, k.dev, p.path, m.root, m.source, m.fsid, m.path AS top,
		iif(m.fstype = 'nfs4', 'nfs', m.fstype) AS type,
		(SELECT part FROM parts WHERE first_file <= f.id ORDER BY first_file DESC, part DESC LIMIT 1) AS part
	FROM files f LEFT JOIN kinds k ON k.id = f.kind LEFT JOIN paths p ON p.id = f.path LEFT JOIN mounts m ON m.id = k.mount),
known AS NOT MATERIALIZED (SELECT *, iif(part, (SELECT value FROM part_facts a WHERE a.part = l.part AND key = 'boot_id'),
			(SELECT value FROM meta WHERE key = 'boot_id')) AS boot_id,
		iif(part, (SELECT value FROM part_facts a WHERE a.part = l.part AND key = 'host'), (SELECT value FROM meta WHERE key = 'host')) AS host,
		CAST(rtrim(top, '/') AS BLOB) AS above, CAST(path AS BLOB) AS bytes FROM local l)
SELECT id AS file, host, boot_id, CASE WHEN fsid NOTNULL THEN type || ' ' || fsid WHEN type = 'nfs' AND source NOTNULL THEN 'nfs ' || source
		WHEN type IS NULL OR type IN ('nfs', 'cifs', 'smb3', '9p', 'virtiofs', 'afs', 'ceph', 'lustre', 'gpfs', 'beegfs', 'ocfs2', 'gfs2',
			'pvfs2') OR type GLOB 'fuse*' AND type <> 'fuse.ftrac' THEN NULL
		ELSE coalesce(boot_id, host) || ' ' || dev END AS system,
	CASE WHEN (fsid NOTNULL OR type = 'nfs' AND source NOTNULL) AND substr(bytes, 1, length(above)) = above THEN
			iif(typeof(path) = 'blob', CAST(rtrim(iif(type = 'nfs', substr(source, instr(source, ':/') + 1), ''), '/') || rtrim(root, '/') ||
				CAST(substr(bytes, length(above) + 1) AS TEXT) AS BLOB),
			rtrim(iif(type = 'nfs', substr(source, instr(source, ':/') + 1), ''), '/') || rtrim(root, '/') ||
				CAST(substr(bytes, length(above) + 1) AS TEXT)) ELSE path END AS place,
	dev, ino, birth AS birth_ns, type AS fstype
FROM known;

CREATE VIEW name AS
WITH run AS MATERIALIZED (SELECT value AS t0 FROM meta WHERE key = 'start_ns')
SELECT n.file, p.path, run.t0 + n.from_t AS from_ns, run.t0 + n.to_t AS to_ns
FROM run, names n LEFT JOIN paths p ON p.id = n.path;

-- Operations on handles, except those that are in the rows of handles.  Only operations that move data have bytes, offset and
-- length.
CREATE VIEW other_op AS
SELECT o.id, i.process,
	CAST(nullif(iif(o.requester < 0, (SELECT image FROM threads WHERE id = -o.requester),
		coalesce(o.requester, h.image)), 0) AS INTEGER) AS image,
	CAST(iif(o.code & 256, NULL, nullif(coalesce((SELECT tid FROM threads WHERE id = coalesce(-o.requester, w.thread)),
		(SELECT pid FROM processes WHERE id = i.process)), 0)) AS INTEGER) AS tid,
	n.name, h.file, CAST(h.version + (o.code >> 9) AS INTEGER) AS version, s.path,
	NULL AS path2, CAST(NULL AS INTEGER) AS file2,
	(SELECT value FROM meta WHERE key = 'start_ns') + h.open_t + o.t AS start_ns,
	o.latency AS latency_ns, o.result, CAST(CASE WHEN @DATA@ THEN o.offset END AS INTEGER) AS offset,
	CAST(CASE WHEN @DATA@ THEN coalesce(iif(o.length < 0, o.length + 9223372036854775807 + 1, o.length), o.result) END AS INTEGER) AS length,
	CAST(CASE WHEN o.result >= 0 AND (@DATA@) THEN o.result END
		AS INTEGER) AS bytes,
	-- 32: FMODE_EXEC, the kernel opened a program for execve(2).
	CAST(CASE WHEN n.name = 'read' AND w.flags & 32 THEN 'exec'
		WHEN @DATA@ THEN v.name END AS TEXT) AS via, o.handle,
	-- 0: requests of the application itself.
	CAST(CASE WHEN (n.name = 'read' AND NOT coalesce(w.flags & 32, 0) OR n.name = 'write') AND (o.code >> 6 & 3) = 0
		THEN iif(EXISTS (SELECT 1 FROM pieces WHERE op = o.id), (SELECT n FROM pieces WHERE op = o.id), 1)
		END AS INTEGER) AS pieces,
	CAST(iif((SELECT value IN ('kernel', 'preload') FROM meta WHERE key = 'files') OR (@BY_CALL@), 'call', 'request') AS TEXT) AS layer
FROM ops_handle o LEFT JOIN op_name n ON n.code = (o.code & 63)
	LEFT JOIN via_name v ON v.code = (o.code >> 6 & 3)
	LEFT JOIN handles h ON h.id = o.handle LEFT JOIN paths s ON s.id = h.path LEFT JOIN ways w ON w.id = h.way
	LEFT JOIN images i ON i.id = iif(o.requester < 0, (SELECT image FROM threads WHERE id = -o.requester),
		coalesce(o.requester, h.image));

CREATE VIEW open_op AS
SELECT h.open_op AS id, i.process, i.id AS image,
	CAST(iif(w.open & 256, NULL, nullif(@OPENER@, 0)) AS INTEGER) AS tid,
	n.name, h.file, h.version, s.path, NULL AS path2, CAST(NULL AS INTEGER) AS file2,
	(SELECT value FROM meta WHERE key = 'start_ns') + h.open_t AS start_ns,
	h.open_latency AS latency_ns, w.result, CAST(NULL AS INTEGER) AS offset, CAST(NULL AS INTEGER) AS length,
	CAST(NULL AS INTEGER) AS bytes, CAST(NULL AS TEXT) AS via, h.id AS handle, CAST(NULL AS INTEGER) AS pieces,
	CAST(iif((SELECT value IN ('kernel', 'preload') FROM meta WHERE key = 'files'), 'call', 'request') AS TEXT) AS layer
FROM handles h LEFT JOIN ways w ON w.id = h.way LEFT JOIN op_name n ON n.code = (w.open & 63)
	LEFT JOIN paths s ON s.id = h.path LEFT JOIN images i ON i.id = h.image
WHERE h.open_op NOTNULL;

CREATE VIEW close_op AS
SELECT CAST(h.open_op + h.close_op AS INTEGER) AS id, i.process, i.id AS image,
	CAST(iif(w.close & 256, NULL, nullif(@OPENER@, 0)) AS INTEGER) AS tid,
	n.name, h.file, h.version, s.path, NULL AS path2, CAST(NULL AS INTEGER) AS file2,
	(SELECT value FROM meta WHERE key = 'start_ns') + h.open_t + iif(h.life IS NULL, h.close_t, h.life - coalesce(h.close_t, h.close_latency)) AS start_ns,
	h.close_latency AS latency_ns, CAST(0 AS INTEGER) AS result, CAST(NULL AS INTEGER) AS offset, CAST(NULL AS INTEGER) AS length,
	CAST(NULL AS INTEGER) AS bytes, CAST(NULL AS TEXT) AS via, h.id AS handle, CAST(NULL AS INTEGER) AS pieces,
	CAST(iif((SELECT value IN ('kernel', 'preload') FROM meta WHERE key = 'files') OR (@BY_CALL@), 'call', 'request') AS TEXT) AS layer
FROM handles h LEFT JOIN ways w ON w.id = h.way LEFT JOIN op_name n ON n.code = (w.close & 63)
	LEFT JOIN paths s ON s.id = h.path LEFT JOIN images i ON i.id = h.image
WHERE h.close_op NOTNULL;

CREATE VIEW stat_op AS
SELECT CAST(h.open_op + h.stat_op AS INTEGER) AS id, i.process, i.id AS image,
	CAST(nullif(@OPENER@, 0) AS INTEGER) AS tid,
	n.name, h.file, h.version, s.path, NULL AS path2, CAST(NULL AS INTEGER) AS file2,
	(SELECT value FROM meta WHERE key = 'start_ns') + h.open_t + h.stat_t AS start_ns,
	h.stat_latency AS latency_ns, CAST(0 AS INTEGER) AS result, CAST(NULL AS INTEGER) AS offset, CAST(NULL AS INTEGER) AS length,
	CAST(NULL AS INTEGER) AS bytes, CAST(NULL AS TEXT) AS via, h.id AS handle, CAST(NULL AS INTEGER) AS pieces,
	CAST(iif((SELECT value IN ('kernel', 'preload') FROM meta WHERE key = 'files'), 'call', 'request') AS TEXT) AS layer
FROM handles h LEFT JOIN ways w ON w.id = h.way LEFT JOIN op_name n ON n.code = (SELECT code FROM op_name WHERE name = 'getattr')
	LEFT JOIN paths s ON s.id = h.path LEFT JOIN images i ON i.id = h.image
WHERE h.stat_op NOTNULL;

-- The first operation of a handle that moved data.  It comes before the others: so reads and writes of each handle are in their order.
CREATE VIEW data_op AS
SELECT CAST(coalesce(h.open_op, 0) + m.data_op AS INTEGER) AS id, i.process, i.id AS image,
	CAST(iif(w.data & 256, NULL, nullif(@OPENER@, 0)) AS INTEGER) AS tid,
	n.name, h.file, h.version, s.path, NULL AS path2, CAST(NULL AS INTEGER) AS file2,
	(SELECT value FROM meta WHERE key = 'start_ns') + h.open_t + coalesce(m.data_t, min(m.first_read, m.first_write), m.first_read,
		m.first_write) AS start_ns,
	CAST(coalesce(m.data_latency, m.read_ns + m.write_ns) AS INTEGER) AS latency_ns,
	CAST(coalesce(m.data_result, m.bread + m.bwrite) AS INTEGER) AS result,
	m.data_offset AS offset,
	CAST(coalesce(iif(m.data_length < 0, m.data_length + 9223372036854775807 + 1, m.data_length), m.data_result, m.bread + m.bwrite)
		AS INTEGER) AS length,
	CAST(coalesce(m.data_result, m.bread + m.bwrite) AS INTEGER) AS bytes,
	CAST(CASE WHEN n.name = 'read' AND w.flags & 32 THEN 'exec' ELSE v.name END AS TEXT) AS via, h.id AS handle,
	CAST(CASE WHEN (n.name = 'read' AND NOT coalesce(w.flags & 32, 0) OR n.name = 'write') AND (w.data >> 6 & 3) = 0 THEN 1 END
		AS INTEGER) AS pieces,
	CAST(iif((SELECT value IN ('kernel', 'preload') FROM meta WHERE key = 'files') OR (@BY_CALL@), 'call', 'request') AS TEXT) AS layer
FROM moved m LEFT JOIN handles h ON h.id = m.handle LEFT JOIN ways w ON w.id = h.way
	LEFT JOIN op_name n ON n.code = (w.data & 63) LEFT JOIN via_name v ON v.code = (w.data >> 6 & 3)
	LEFT JOIN paths s ON s.id = h.path LEFT JOIN images i ON i.id = h.image
WHERE m.data_op NOTNULL;

CREATE VIEW handle_op AS SELECT * FROM data_op UNION ALL SELECT * FROM other_op UNION ALL SELECT * FROM open_op
UNION ALL SELECT * FROM close_op UNION ALL SELECT * FROM stat_op;

CREATE VIEW name_op AS
SELECT o.id, i.process, i.id AS image,
	CAST(iif(o.code & 256, NULL, nullif(coalesce((SELECT tid FROM threads WHERE id = -o.requester),
		(SELECT pid FROM processes WHERE id = i.process)), 0)) AS INTEGER) AS tid,
	n.name, o.file, CAST(iif(o.file IS NULL, NULL, 1 + (o.code >> 9)) AS INTEGER) AS version,
	s.path, (SELECT q.path FROM second_operands z JOIN paths q ON q.id = z.path WHERE z.op = o.id) AS path2,
	(SELECT z.file FROM second_operands z WHERE z.op = o.id) AS file2,
	(SELECT value FROM meta WHERE key = 'start_ns') + o.t AS start_ns,
	o.latency AS latency_ns, o.result, CAST(NULL AS INTEGER) AS offset,
	CAST(NULL AS INTEGER) AS length,
	CAST(NULL AS INTEGER) AS bytes, CAST(NULL AS TEXT) AS via, CAST(NULL AS INTEGER) AS handle,
	CAST(NULL AS INTEGER) AS pieces,
	CAST(iif((SELECT value IN ('kernel', 'preload') FROM meta WHERE key = 'files'), 'call', 'request') AS TEXT) AS layer
FROM ops_name o LEFT JOIN op_name n ON n.code = (o.code & 63)
	LEFT JOIN paths s ON s.id = o.path
	LEFT JOIN images i ON i.id = coalesce((SELECT image FROM threads WHERE id = -o.requester), o.requester);

-- Parts with one table each, and columns of the same affinity: SQLite flattens such a view and computes only the columns
-- that a query uses.
CREATE VIEW op AS SELECT * FROM data_op UNION ALL SELECT * FROM other_op UNION ALL SELECT * FROM open_op UNION ALL SELECT * FROM close_op
UNION ALL SELECT * FROM stat_op UNION ALL SELECT * FROM name_op;

-- Operations of each interval, counted, process by process.  latencies, sizes: JSON, a class of powers of two and the counts from it on.
CREATE VIEW process_metric AS
SELECT (SELECT value FROM meta WHERE key = 'start_ns') + g.t + m.n * g.step AS t_ns, g.step AS interval_ns,
	CAST(nullif(m.process, 0) AS INTEGER) AS process, t.fstype, t.path AS mount, n.name AS operation, m.count, m.errors, m.bytes,
	m.ns AS latency_ns, (SELECT value FROM meta WHERE key = 'start_ns') + g.t + m.n * g.step + m.first_t AS first_ns,
	'[' || m.latencies || iif(typeof(m.latencies) = 'integer', ',' || m.count, '') || ']' AS latencies,
	'[' || m.sizes || iif(typeof(m.sizes) = 'integer', ',' || m.count, '') || ']' AS sizes
FROM metrics m JOIN metric_grids g ON g.id = m.grid LEFT JOIN op_name n ON n.code = m.code
	LEFT JOIN mounts t ON t.id = iif(m.mount < 0, (SELECT k.mount FROM files f JOIN kinds k ON k.id = f.kind WHERE f.id = -m.mount),
		m.mount);

-- The same with the counts of each class, from bucket on to below twice that (0: of 0 alone).
CREATE VIEW metric_latency AS
SELECT m.t_ns, m.interval_ns, m.fstype, m.mount, m.operation, j.phase, iif(m.class + e.key > 1, 1 << m.class + e.key - 2, 0) AS bucket_ns,
	sum(CAST(e.value AS INTEGER)) AS count
FROM (SELECT *, CAST(substr(latencies, 2) AS INTEGER) AS class FROM process_metric) m
	JOIN json_each(iif(json_valid(m.latencies), m.latencies, '[]')) e ON e.key > 0 AND e.value > 0 LEFT JOIN jobs j ON j.process = m.process
GROUP BY 1, 2, 3, 4, 5, 6, 7;

CREATE VIEW metric_size AS
SELECT m.t_ns, m.interval_ns, m.fstype, m.mount, m.operation, j.phase,
	iif(m.class + e.key > 1, 1 << m.class + e.key - 2, 0) AS bucket_bytes, sum(CAST(e.value AS INTEGER)) AS count
FROM (SELECT *, CAST(substr(sizes, 2) AS INTEGER) AS class FROM process_metric) m
	JOIN json_each(iif(json_valid(m.sizes), m.sizes, '[]')) e ON e.key > 0 AND e.value > 0 LEFT JOIN jobs j ON j.process = m.process
GROUP BY 1, 2, 3, 4, 5, 6, 7;

-- The phase is known at the end of the run.  latencies: JSON, bucket_ns to count.
CREATE VIEW metric AS
SELECT t_ns, interval_ns, fstype, mount, operation, phase, sum(count) AS count, sum(errors) AS errors, sum(bytes) AS bytes,
	sum(latency_ns) AS latency_ns, '{' || group_concat('"' || bucket_ns || '":' || n) || '}' AS latencies
FROM (SELECT m.t_ns, m.interval_ns, m.fstype, m.mount, m.operation, j.phase, m.count, m.errors, m.bytes, m.latency_ns,
		NULL AS bucket_ns, NULL AS n
	FROM process_metric m LEFT JOIN jobs j ON j.process = m.process
	UNION ALL SELECT t_ns, interval_ns, fstype, mount, operation, phase, NULL, NULL, NULL, NULL, bucket_ns, count FROM metric_latency)
GROUP BY t_ns, interval_ns, fstype, mount, operation, phase;

-- Calls of all layers, the operations as the lower ones.  bytes: what was read or written.  calls: several, if they were added up.
CREATE VIEW call AS
SELECT c.id, i.process, k.image, k.tid, n.layer, n.name, n.class, c.parent, c.fd, c.handle, c.file, p.path, c.offset,
	coalesce(c.length, iif(n.moves AND c.result >= 0, c.result, NULL)) AS length,
	iif(n.moves, max(c.result, 0), NULL) AS bytes, iif(s.call IS NULL OR c.result < 0, c.result, NULL) AS result,
	(SELECT value FROM meta WHERE key = 'start_ns') + c.t AS start_ns, c.latency AS latency_ns, m.rank, m.size,
	iif(n.layer = 'mpi', n.collective, NULL) AS collective, iif(n.layer = 'mpi', coalesce(m.shared, c.id), NULL) AS mpi_call_id,
	coalesce(s.calls, 1) AS calls, (SELECT value FROM meta WHERE key = 'start_ns') + iif(s.call IS NULL, c.t + c.latency, s.last_end) AS end_ns,
	iif(s.call IS NULL, c.latency, s.least) AS latency_min_ns, iif(s.call IS NULL, c.latency, s.most) AS latency_max_ns
FROM calls c LEFT JOIN call_name n ON n.code = c.code LEFT JOIN callers k ON k.id = c.caller
	LEFT JOIN images i ON i.id = k.image LEFT JOIN paths p ON p.id = c.path LEFT JOIN mpi_calls m ON m.call = c.id
	LEFT JOIN call_sums s ON s.call = c.id
UNION ALL
SELECT o.id, o.process, o.image, o.tid, iif(o.layer = 'call', 'syscall', 'fs'), o.name, CASE
		WHEN o.name IN ('read', 'recv') THEN 'read' WHEN o.name IN ('write', 'send', 'copy', 'sendfile', 'splice') THEN 'write'
		WHEN o.name = 'lseek' THEN 'position'
		WHEN o.name IN ('open', 'create', 'tmpfile', 'close', 'release', 'flush', 'opendir', 'releasedir', 'dup', 'fcntl', 'pipe',
			'socket', 'connect', 'accept') THEN 'administration'
		ELSE 'other' END,
	(SELECT q.call FROM op_parents q WHERE q.op = o.id), NULL, o.handle, o.file, o.path, o.offset, o.length, o.bytes, o.result,
	o.start_ns, o.latency_ns, NULL, NULL, NULL, NULL, 1, o.start_ns + o.latency_ns, o.latency_ns, o.latency_ns
FROM op o;

-- Programs of which the preloaded object saw nothing, not even that they began, in a run that records calls of layers: linked
-- statically, of another loader, setuid, or started without its variables.
CREATE VIEW unseen_image AS
SELECT i.id AS image, i.process, g.name AS program
FROM images i LEFT JOIN program g ON g.image = i.id
WHERE i.seq > 0 AND EXISTS (SELECT 1 FROM meta WHERE (key = 'layers' AND value NOTNULL) OR (key = 'files' AND value = 'preload'))
	AND i.id NOT IN (SELECT image FROM callers WHERE image NOTNULL);

-- The operations that name a range.
CREATE VIEW range_op AS
SELECT o.id, o.process, o.image, o.name, o.file, o.path, o.handle, o.start_ns, o.latency_ns, o.result,
	iif(x.op IS NULL, r.offset, x.offset) AS offset, iif(x.op IS NULL, r.length >> 7, x.length) AS length,
	iif(x.op IS NULL, r.length & 127, x.flags) AS range_flags
FROM other_op o JOIN ops_handle r ON r.id = o.id LEFT JOIN ranges x ON x.op = o.id
WHERE o.name IN ('mmap', 'munmap', 'msync', 'mprotect', 'mremap', 'lock') AND (r.length NOTNULL OR x.op NOTNULL)
UNION ALL SELECT o.id, o.process, o.image, o.name, o.file, o.path, o.handle, o.start_ns, o.latency_ns, o.result,
	x.offset, x.length, x.flags
FROM ranges x JOIN name_op o ON o.id = x.op;

CREATE VIEW mapping AS
SELECT id AS op, process, image, name, file, path, handle, start_ns, result, offset, length,
	CASE WHEN name IN ('mmap', 'mprotect') THEN substr('-r', 1 + (range_flags & 1), 1) ||
		substr('-w', 1 + (range_flags >> 1 & 1), 1) || substr('-x', 1 + (range_flags >> 2 & 1), 1) END AS protection,
	CASE WHEN name IN ('mmap', 'mprotect') THEN (range_flags >> 3 & 1) END AS shared
FROM range_op WHERE name <> 'lock';

CREATE VIEW file_lock AS
SELECT id AS op, process, image, file, path, handle, start_ns, latency_ns, result,
	CASE range_flags & 3 WHEN 0 THEN 'read' WHEN 1 THEN 'write' WHEN 2 THEN 'unlock' END AS type,
	CASE range_flags & 28 WHEN 4 THEN 'process' WHEN 8 THEN 'description' WHEN 16 THEN 'file' END AS owner,
	range_flags >> 5 & 1 AS waits, range_flags >> 6 & 1 AS asks, offset, nullif(length, 0) AS length
FROM range_op WHERE name = 'lock';

CREATE VIEW handle AS
WITH run AS MATERIALIZED (SELECT value AS t0 FROM meta WHERE key = 'start_ns')
SELECT h.id, i.process, h.image, h.file, p.path, t.text AS flags,
	CASE WHEN w.mode IS NOT NULL THEN printf('%04o', w.mode) END AS mode, y.name AS fidelity,
	run.t0 + h.open_t AS open_ns, run.t0 + h.open_t + h.life AS close_ns,
	iif(w.fidelity = 2, NULL, coalesce(m.nread, 0)) AS nread,
	iif(w.fidelity = 2, NULL, coalesce(m.bread, 0)) AS bread,
	iif(w.fidelity = 2, NULL, coalesce(m.nwrite, 0)) AS nwrite,
	iif(w.fidelity = 2, NULL, coalesce(m.bwrite, 0)) AS bwrite,
	iif(w.fidelity = 2, NULL, coalesce(d.nseek, 0)) AS nseek,
	iif(w.fidelity = 2, NULL, iif(m.handle IS NULL, 0, m.read_ns)) AS read_ns,
	iif(w.fidelity = 2, NULL, iif(m.handle IS NULL, 0, m.write_ns)) AS write_ns,
	iif(w.fidelity = 2, NULL, coalesce(m.nread - coalesce(d.back_reads, 0), 0)) AS sequential_reads,
	iif(w.fidelity = 2, NULL, coalesce(m.nwrite - coalesce(d.back_writes, 0), 0)) AS sequential_writes,
	iif(w.fidelity = 2, NULL, coalesce(m.nread - coalesce(d.skip_reads, 0), 0)) AS consecutive_reads,
	iif(w.fidelity = 2, NULL, coalesce(m.nwrite - coalesce(d.skip_writes, 0), 0)) AS consecutive_writes,
	w.mapped, w.flags & 32 <> 0 AS exec
FROM run, handles h LEFT JOIN ways w ON w.id = h.way LEFT JOIN moved m ON m.handle = h.id LEFT JOIN moved_otherwise d ON d.handle = h.id
	LEFT JOIN images i ON i.id = h.image LEFT JOIN paths p ON p.id = h.path
	LEFT JOIN flag_text t ON t.flags = w.flags LEFT JOIN fidelity_name y ON y.code = w.fidelity;

-- Handles with a single use; and all others.
CREATE VIEW sole_use AS
SELECT m.handle, i.process, i.id AS image, h.file, coalesce(d.version, h.version) AS version,
	m.nread, m.bread, m.nwrite, m.bwrite, coalesce(d.nseek, 0) AS nseek,
	h.open_t + m.first_read AS first_read, h.open_t + m.first_read + m.last_read AS last_read,
	h.open_t + m.first_write AS first_write, h.open_t + m.first_write + m.last_write AS last_write,
	m.read_ns, m.write_ns, h.path, h.way
FROM moved m JOIN handles h ON h.id = m.handle LEFT JOIN moved_otherwise d ON d.handle = m.handle
	LEFT JOIN images i ON i.id = coalesce(d.image, h.image)
WHERE d.image IS NOT -1;

CREATE VIEW shared_use AS
SELECT u.handle, i.process, i.id AS image, h.file, u.version,
	u.nread, u.bread, u.nwrite, u.bwrite, u.nseek,
	h.open_t + u.first_read AS first_read, h.open_t + u.first_read + u.last_read AS last_read,
	h.open_t + u.first_write AS first_write, h.open_t + u.first_write + u.last_write AS last_write,
	u.read_ns, u.write_ns, h.path, h.way
FROM uses u JOIN handles h ON h.id = u.handle LEFT JOIN images i ON i.id = u.image;

CREATE VIEW any_use AS SELECT * FROM sole_use UNION ALL SELECT * FROM shared_use;

CREATE VIEW use AS
SELECT handle, process, image, file, version, nread, bread, nwrite, bwrite, nseek,
	t0 + first_read AS first_read_ns, t0 + last_read AS last_read_ns,
	t0 + first_write AS first_write_ns, t0 + last_write AS last_write_ns, read_ns, write_ns,
	t0 + coalesce(min(first_read, first_write), first_read, first_write) AS first_ns,
	t0 + coalesce(max(last_read, last_write), last_read, last_write) AS last_ns,
	coalesce((SELECT flags & 32 <> 0 FROM ways WHERE id = way), 0) AS exec
FROM (SELECT *, (SELECT value FROM meta WHERE key = 'start_ns') AS t0 FROM any_use);

-- Uses and touches, with what sum.sql has of them already.
CREATE VIEW access_parts AS
SELECT u.process, u.file, u.version, u.path, NULL AS last_path, 0 AS opens,
	u.nread, u.bread, u.nwrite, u.bwrite,
	0 AS created, 0 AS truncated, 0 AS renamed, 0 AS unlinked, 0 AS executed,
	0 AS mapped, 0 AS assumed, 0 AS nmeta,
	coalesce(min(u.first_read, u.first_write), u.first_read, u.first_write) AS first_t,
	coalesce(max(u.last_read, u.last_write), u.last_read, u.last_write) AS last_t,
	u.read_ns + u.write_ns AS io_ns,
	u.first_read AS first_in, u.first_write AS first_out, u.last_write AS last_out, 0 AS emptied
FROM (SELECT * FROM sole_use WHERE handle IN (SELECT handle FROM fresh_handles)
	UNION ALL SELECT * FROM shared_use WHERE handle IN (SELECT handle FROM fresh_handles)) u
UNION ALL
SELECT nullif(process, 0), file, version, used, path, opens, nread, bread, nwrite, bwrite, did & 1, did >> 1 & 1, did >> 2 & 1,
	did >> 3 & 1, did >> 4 & 1, did >> 5 & 1, did >> 7, nmeta, first_t, first_t + last_t,
	io_ns, first_t + first_in, first_t + first_out,
	first_t + first_out + last_out, did >> 6 & 1
FROM accesses
UNION ALL
SELECT process, file, version, NULL, id << 32 | path, opens, 0, 0, 0, 0, did & 1, did >> 1 & 1, did >> 2 & 1,
	did >> 3 & 1, did >> 4 & 1, did >> 5 & 1, did >> 7, nmeta, first_t, first_t + last_t,
	0, first_t + first_in, first_t + first_out,
	first_t + first_out + last_out, did >> 6 & 1
FROM touches;

-- Combined.  If a process and a version have several rows, the path is that of the last row that has one.
CREATE VIEW access_rows AS
SELECT coalesce(process, 0) AS process, file, version,
	nullif(max(coalesce(max(path), 0), coalesce(max(last_path) & 4294967295, 0)), 0) AS path, sum(opens) AS opens,
	sum(nread) AS nread, sum(bread) AS bread, sum(nwrite) AS nwrite, sum(bwrite) AS bwrite,
	max(created) AS created, max(truncated) AS truncated, max(renamed) AS renamed,
	max(unlinked) AS unlinked, max(executed) AS executed, max(mapped) AS mapped,
	max(assumed & 1) AS assumed_read, max(assumed & 2) / 2 AS assumed_write,
	max(assumed & 4) / 4 AS uncounted, sum(nmeta) AS nmeta,
	min(first_t) AS first_t, max(last_t) AS last_t, sum(io_ns) AS io_ns,
	min(first_in) AS first_in, min(first_out) AS first_out, max(last_out) AS last_out,
	max(emptied) AS emptied
FROM access_parts GROUP BY file, process, version;

CREATE VIEW access AS
WITH run AS MATERIALIZED (SELECT value AS t0 FROM meta WHERE key = 'start_ns')
SELECT CAST(nullif(a.process, 0) AS INTEGER) AS process, a.file, a.version, p.path, a.opens,
	iif(a.uncounted, NULL, a.nread) AS nread, iif(a.uncounted, NULL, a.bread) AS bread,
	iif(a.uncounted, NULL, a.nwrite) AS nwrite, iif(a.uncounted, NULL, a.bwrite) AS bwrite,
	a.created, a.truncated, a.renamed, a.unlinked, a.executed,
	iif(a.uncounted AND NOT a.mapped, NULL, a.mapped) AS mapped,
	(a.assumed_read AND a.nread = 0 AND NOT a.mapped AND NOT a.executed OR a.assumed_write)
		AS assumed,
	(a.assumed_read AND a.nread = 0 AND NOT a.mapped AND NOT a.executed) AS assumed_read,
	a.assumed_write, a.nmeta,
	a.nread > 0 OR a.mapped OR a.executed OR a.assumed_read AS reads,
	a.nwrite > 0 OR a.created OR a.truncated OR a.renamed OR a.assumed_write AS writes,
	run.t0 + a.first_t AS first_ns, run.t0 + a.last_t AS last_ns, a.io_ns,
	run.t0 + a.first_in AS first_in_ns, run.t0 + a.first_out AS first_out_ns,
	run.t0 + a.last_out AS last_out_ns, a.emptied
FROM run, access_rows a LEFT JOIN paths p ON p.id = a.path;

-- What block devices read and wrote of files.  latency_ns: from the request to its end, the sum of those that have ended.
-- process: for which they did it; NULL: not known, or a thread of the kernel that wrote back or read for all.
CREATE VIEW device_io AS
SELECT d.file, f.path, d.process, iif(d.writes, 'write', 'read') AS name, d.operations, d.bytes, d.completed, d.latency AS latency_ns,
	(SELECT value FROM meta WHERE key = 'start_ns') + d.first_t AS first_ns,
	(SELECT value FROM meta WHERE key = 'start_ns') + d.last_t AS last_ns
FROM devices d LEFT JOIN file f ON f.id = d.file;

-- What the ends of a socket are, each time when more of them was known.  received: remote is where data came from.
CREATE VIEW socket AS
SELECT s.file, CASE s.family WHEN 1 THEN 'unix' WHEN 2 THEN 'inet' WHEN 10 THEN 'inet6' WHEN 16 THEN 'netlink'
		WHEN 17 THEN 'packet' END AS domain,
	CASE s.kind WHEN 1 THEN 'stream' WHEN 2 THEN 'dgram' WHEN 3 THEN 'raw' WHEN 5 THEN 'seqpacket' END AS type,
	l.path AS local, r.path AS remote, s.received, s.peer, (SELECT value FROM meta WHERE key = 'start_ns') + s.t AS time_ns
FROM sockets s LEFT JOIN paths l ON l.id = s.local LEFT JOIN paths r ON r.id = s.remote;

-- What is written to file arrives at peer.  The addresses of a connection may be used again: the n-th sockets with them belong
-- together.  A datagram goes to the socket that has its address at that time, or its port at any address if it stays on this
-- machine.  Each host has loopback addresses and Unix sockets of its own.
CREATE VIEW socket_peer AS
WITH near AS MATERIALIZED (SELECT s.*, iif(s.family = 1 OR l.path GLOB '127.*:*' OR l.path GLOB '[[]::1]:*', s.host, NULL) AS only
	FROM sockets s LEFT JOIN paths l ON l.id = s.local),
ends AS MATERIALIZED (SELECT s.file, s.kind, s.only, s.local, s.remote, row_number() OVER (PARTITION BY s.kind, s.only, s.local, s.remote
		ORDER BY min(s.t), s.file) AS n
	FROM near s WHERE s.local NOTNULL AND s.remote NOTNULL GROUP BY s.file, s.kind, s.only, s.local, s.remote),
-- Grouped, not joined: SQLite would compare each with each.
pair AS MATERIALIZED (SELECT min(file) AS one, max(file) AS other FROM ends
	GROUP BY kind, only, min(local, remote), max(local, remote), n HAVING min(file) < max(file)),
life AS MATERIALIZED (SELECT file, iif(count(life) = count(*), max(open_t + life), 9223372036854775807) AS end_t FROM handles
	WHERE file IN (SELECT file FROM sockets WHERE kind = 2) GROUP BY file),
put AS MATERIALIZED (SELECT file, max(last_write) AS last_t FROM any_use
	WHERE file IN (SELECT file FROM sockets WHERE kind = 2) AND nwrite > 0 GROUP BY file),
-- From when to when a socket sends to an address, and has one.
sends AS MATERIALIZED (SELECT s.file, r.path AS remote, s.host, replace(r.path, rtrim(r.path, '0123456789'), '') AS port,
		r.path GLOB '127.*:*' OR r.path GLOB '[[]::1]:*' AS here, s.t AS from_t,
		min(p.last_t, lead(s.t, 1, p.last_t) OVER (PARTITION BY s.file ORDER BY s.t)) AS to_t
	FROM sockets s JOIN paths r ON r.id = s.remote JOIN put p ON p.file = s.file WHERE s.kind = 2 AND NOT s.received),
named AS MATERIALIZED (SELECT s.file, l.path AS local, s.only, s.host, replace(l.path, rtrim(l.path, '0123456789'), '') AS port,
		l.path GLOB '0.0.0.0:*' OR l.path GLOB '[[]::]:*' AS everywhere, min(s.t) AS from_t, e.end_t AS to_t
	FROM near s JOIN paths l ON l.id = s.local JOIN life e ON e.file = s.file WHERE s.kind = 2 GROUP BY s.file, s.local, s.host)
SELECT file, peer FROM sockets WHERE peer NOTNULL
UNION SELECT peer, file FROM sockets WHERE peer NOTNULL
UNION SELECT one, other FROM pair
UNION SELECT other, one FROM pair
UNION SELECT a.file, b.file FROM sends a JOIN named b ON b.local = a.remote AND (b.only IS NULL OR b.only IS a.host)
WHERE a.file <> b.file AND a.from_t <= b.to_t AND b.from_t <= a.to_t
UNION SELECT a.file, b.file FROM sends a JOIN named b ON b.port = a.port
WHERE a.here AND b.everywhere AND a.file <> b.file AND a.host IS b.host AND a.from_t <= b.to_t AND b.from_t <= a.to_t;

-- The address at which data arrives: that of the socket or, if it has none, that of the socket which accepted it.
CREATE VIEW socket_name AS
SELECT file, max(name) AS name
FROM (SELECT s.file, l.path AS name FROM sockets s JOIN paths l ON l.id = s.local
	UNION ALL SELECT p.peer, r.path FROM socket_peer p JOIN sockets s ON s.file = p.file JOIN paths r ON r.id = s.remote
	WHERE s.family = 1)
GROUP BY file;

-- A mount does not see pipes.  What a program got as its descriptors 0, 1 and 2 tells which processes hold which end of a
-- pipe.  Pipes with both ends that are no files of the trace (one of several may have them), in the times of the programs.
CREATE VIEW assumed_pipe AS
WITH held AS MATERIALIZED (SELECT i.process, h.path, max(h.reads) AS reads, max(NOT h.reads) AS writes, min(i.start_t) AS first_t,
		max(coalesce(i.end_t, i.start_t)) AS last_t
	FROM (SELECT id AS image, stdin AS path, 1 AS reads FROM images UNION ALL SELECT id, stdout, 0 FROM images
			UNION ALL SELECT id, stderr, 0 FROM images) h
		JOIN images i ON i.id = h.image JOIN paths p ON p.id = h.path
	WHERE p.path GLOB 'pipe:[[]*' AND i.seq > 0 AND NOT EXISTS (SELECT 1 FROM meta WHERE key = 'files' AND value IN ('kernel', 'preload'))
		AND h.path NOT IN (SELECT path FROM files WHERE path NOTNULL)
	GROUP BY i.process, h.path),
whole AS MATERIALIZED (SELECT path FROM held GROUP BY path HAVING max(reads) AND max(writes) AND count(*) > 1)
SELECT process, path, reads, writes, first_t, last_t FROM held WHERE path IN whole;

-- As access, but what a process writes to a socket is an access to the socket where it arrives; and with accesses to pipes that
-- are assumed, whose file is the negative number of the path.
CREATE VIEW channel_access AS
SELECT * FROM access WHERE file NOT IN (SELECT file FROM socket_peer UNION SELECT peer FROM socket_peer)
UNION ALL
SELECT process, file, version, max(path) AS path, sum(opens) AS opens, sum(nread) AS nread, sum(bread) AS bread,
	sum(nwrite) AS nwrite, iif(max(divided), NULL, sum(bwrite)) AS bwrite, 0 AS created, 0 AS truncated, 0 AS renamed,
	0 AS unlinked, 0 AS executed, max(mapped) AS mapped, 0 AS assumed, 0 AS assumed_read, 0 AS assumed_write,
	sum(nmeta) AS nmeta, max(reads) AS reads, max(writes) AS writes, min(first_ns) AS first_ns, max(last_ns) AS last_ns,
	sum(io_ns) AS io_ns, min(first_in_ns) AS first_in_ns, min(first_out_ns) AS first_out_ns, max(last_out_ns) AS last_out_ns,
	0 AS emptied
FROM (WITH member AS MATERIALIZED (SELECT file FROM socket_peer UNION SELECT peer FROM socket_peer),
	spent AS MATERIALIZED (SELECT process, file, sum(read_ns) AS read_ns, sum(write_ns) AS write_ns FROM use
		WHERE file IN member GROUP BY process, file),
	arrival AS MATERIALIZED (SELECT file, peer, count(*) OVER (PARTITION BY file) > 1 AS divided FROM socket_peer)
	SELECT a.process, a.file, a.version, a.path, a.opens, a.nread, a.bread, 0 AS nwrite, 0 AS bwrite, 0 AS divided, a.mapped, a.nmeta,
		a.reads, 0 AS writes, a.first_ns, a.last_ns, s.read_ns AS io_ns, a.first_in_ns, NULL AS first_out_ns, NULL AS last_out_ns
	FROM access a LEFT JOIN spent s ON s.file = a.file AND s.process = a.process WHERE a.file IN member
	UNION ALL
	SELECT a.process, r.peer, a.version, NULL, 0, 0, 0, a.nwrite, a.bwrite, r.divided, 0, 0, 0, 1, a.first_out_ns,
		a.last_out_ns, s.write_ns, NULL, a.first_out_ns, a.last_out_ns
	FROM access a JOIN arrival r ON r.file = a.file LEFT JOIN spent s ON s.file = a.file AND s.process = a.process
	WHERE a.nwrite > 0)
GROUP BY process, file, version
UNION ALL
SELECT process, -path, 1, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 1, reads, writes, 0, reads, writes, t0 + first_t,
	t0 + last_t, NULL, iif(reads, t0 + first_t, NULL), iif(writes, t0 + first_t, NULL), iif(writes, t0 + last_t, NULL), 0
FROM (SELECT value AS t0 FROM meta WHERE key = 'start_ns'), assumed_pipe;

-- What each process put into a pipe or, for a socket, into those that arrive there, and what it took out.  divided: it is not known
-- how much of what it put there.  token: a process both reads and writes the pipe, and no process moves more than a byte with a
-- call, as the jobs of make do; that is no data.  A FIFO has a version for each time that it was used.
CREATE VIEW pipe_end AS
SELECT *, max(bread > 0 AND bwrite > 0) OVER w AND NOT max(bread > nread OR bwrite > nwrite) OVER w AS token
FROM (SELECT file, version, process, sum(bread) AS bread, sum(bwrite) AS bwrite, sum(nread) AS nread, sum(nwrite) AS nwrite,
		min(first_write_ns) AS first_write_ns, max(last_read_ns) AS last_read_ns, max(divided) AS divided
	FROM (SELECT u.file, u.version, u.process, u.bread, u.bwrite, u.nread, u.nwrite, u.first_write_ns, u.last_read_ns, 0 AS divided
		FROM use u WHERE u.file IN (SELECT f.id FROM files f JOIN kinds k ON k.id = f.kind WHERE (k.mode & 61440) = 4096)
		UNION ALL SELECT u.file, 1, u.process, u.bread, 0, u.nread, 0, NULL, u.last_read_ns, 0
		FROM use u WHERE u.file IN (SELECT peer FROM socket_peer)
		UNION ALL SELECT s.peer, 1, u.process, 0, u.bwrite, 0, u.nwrite, u.first_write_ns, NULL, s.divided
		FROM use u JOIN (SELECT file, peer, count(*) OVER (PARTITION BY file) > 1 AS divided FROM socket_peer) s ON s.file = u.file)
	GROUP BY file, version, process HAVING sum(bread) > 0 OR sum(bwrite) > 0)
WINDOW w AS (PARTITION BY file, version);

-- All that was read from a pipe is of its only writer, unless that is more than the writer put there: then others did, unseen.
-- A process that read for the last time before another one first wrote got nothing of it.
CREATE VIEW flow AS
WITH ends AS MATERIALIZED (SELECT * FROM pipe_end WHERE NOT token),
pipes AS MATERIALIZED (SELECT file, version, sum(bwrite > 0) AS writers, sum(bread > 0) AS readers, sum(bread) AS bread,
		sum(bwrite) AS bwrite, max(divided) AS divided
	FROM ends GROUP BY file, version)
SELECT w.process AS writer, r.process AS reader, p.file AS via,
	CASE WHEN p.writers = 1 AND p.bread <= p.bwrite THEN r.bread
		WHEN p.readers = 1 AND NOT p.divided AND p.bread = p.bwrite THEN w.bwrite END AS bytes,
	w.first_write_ns AS first_ns, r.last_read_ns AS last_ns, 0 AS assumed,
	(SELECT path FROM paths WHERE id = (SELECT path FROM file_name WHERE file = p.file)) AS path
FROM pipes p JOIN ends w ON w.file = p.file AND w.version = p.version AND w.bwrite > 0
	JOIN ends r ON r.file = p.file AND r.version = p.version AND r.bread > 0
WHERE r.process IS NOT w.process AND r.last_read_ns >= w.first_write_ns
UNION ALL SELECT w.process, r.process, NULL, NULL, t0 + w.first_t, t0 + r.last_t, 1, p.path
FROM (SELECT value AS t0 FROM meta WHERE key = 'start_ns'), assumed_pipe w JOIN assumed_pipe r ON r.path = w.path AND w.writes AND r.reads
	JOIN paths p ON p.id = w.path
WHERE r.process <> w.process;

CREATE VIEW ghost AS
SELECT CAST(nullif(g.process, 0) AS INTEGER) AS process, p.path, g.count,
	(SELECT value FROM meta WHERE key = 'start_ns') + g.first_t AS first_ns
FROM missing_names g LEFT JOIN paths p ON p.id = g.path;

-- A target without prerequisites has a row, too.
CREATE VIEW declared AS
SELECT k.path AS key, d.path AS directory, n.path AS target, s.path AS prerequisite, p.order_only
FROM targets t LEFT JOIN paths k ON k.id = t.id LEFT JOIN paths d ON d.id = t.directory
	LEFT JOIN paths n ON n.id = t.name LEFT JOIN prerequisites p ON p.target = t.id
	LEFT JOIN paths s ON s.id = p.name;

-- A handle through which nothing was read or written belongs to the image that opened it.  The first handle that an exec
-- opened has the bytes that the kernel read for it.  A stream is a handle from before the run that the command got as
-- descriptor 0, 1 or 2; images that did not use theirs have a row, too.
CREATE VIEW ioprof AS
WITH sees_all AS MATERIALIZED (SELECT 1 FROM meta WHERE key = 'files' AND value = 'kernel'),
outside AS MATERIALIZED (SELECT i.stdin, i.stdout, i.stderr FROM images i JOIN processes p ON p.id = i.process
	WHERE i.seq = 1 AND p.parent IS NULL AND EXISTS (SELECT 1 FROM sees_all)),
stream AS MATERIALIZED (SELECT stdin AS path, 0 AS n, '<stdin>' AS name FROM outside
	UNION SELECT stdout, 1, '<stdout>' FROM outside UNION SELECT stderr, 2, '<stderr>' FROM outside),
inherited AS MATERIALIZED (SELECT h.id, h.path, (SELECT name FROM stream s WHERE s.path = h.path ORDER BY n LIMIT 1) AS to_read,
		(SELECT name FROM stream s WHERE s.path = h.path ORDER BY (n + 2) % 3 LIMIT 1) AS to_write
	FROM handles h JOIN ways w ON w.id = h.way
	WHERE h.open_op IS NULL AND NOT coalesce(w.flags & 32, 0) AND h.path IN (SELECT path FROM stream)),
loader AS MATERIALIZED (SELECT min(h.id) AS handle, l.bytes FROM loaded l JOIN handles h ON h.image = l.image
		JOIN ways w ON w.id = h.way WHERE w.flags & 32 GROUP BY l.image),
seek AS MATERIALIZED (SELECT o.handle, coalesce((SELECT image FROM threads WHERE id = -o.requester), o.requester, h.image) AS image,
		count(*) AS n
	FROM ops_handle o JOIN handles h ON h.id = o.handle
	WHERE (o.code & 63) = (SELECT code FROM op_name WHERE name = 'lseek') AND EXISTS (SELECT 1 FROM sees_all) GROUP BY 1, 2),
used AS (SELECT handle, image, sum(bread) AS bread, sum(nread) AS nread, sum(bwrite) AS bwrite, sum(nwrite) AS nwrite,
		sum(nseek) AS nseek FROM use GROUP BY handle, image
	UNION ALL SELECT o.id, o.image, coalesce(l.bytes, o.bread), iif(l.bytes, 1, o.nread), o.bwrite, o.nwrite, o.nseek
	FROM handle o LEFT JOIN files f ON f.id = o.file LEFT JOIN kinds k ON k.id = f.kind LEFT JOIN loader l ON l.handle = o.id
	WHERE (k.mode & 61440) IS NOT 16384 AND NOT EXISTS (SELECT 1 FROM moved v WHERE v.handle = o.id)),
part AS (SELECT u.*, CASE WHEN f.path GLOB 'pipe:[[]*' THEN '<pipe>' WHEN f.path GLOB 'socket:[[]*' THEN '<socket>' ELSE p.path END AS file
	FROM used u JOIN handles h ON h.id = u.handle LEFT JOIN paths p ON p.id = h.path LEFT JOIN paths f ON f.id = h.path
	WHERE u.handle NOT IN (SELECT id FROM inherited)
	UNION ALL SELECT u.handle, u.image, u.bread, u.nread, 0, 0, iif(u.nwrite, NULL, u.nseek), t.to_read
	FROM used u JOIN inherited t ON t.id = u.handle WHERE u.nread > 0
	UNION ALL SELECT u.handle, u.image, 0, 0, u.bwrite, u.nwrite, iif(u.nread, NULL, u.nseek), t.to_write
	FROM used u JOIN inherited t ON t.id = u.handle WHERE u.nwrite > 0
	UNION ALL SELECT NULL, i.id, 0, 0, 0, 0, 0, s.name
	FROM images i JOIN stream s ON s.path = CASE s.n WHEN 0 THEN i.stdin WHEN 1 THEN i.stdout ELSE i.stderr END
	WHERE i.seq > 0 AND NOT EXISTS (SELECT 1 FROM used u JOIN inherited t ON t.id = u.handle
		WHERE u.image = i.id AND (u.nread > 0 AND t.to_read = s.name OR u.nwrite > 0 AND t.to_write = s.name)))
SELECT r.xform, r.pid, m.exe, u.file, u.bread, u.nread, u.bwrite, u.nwrite, u.nseek, h.mode,
	iif(u.file GLOB '<*>', NULL, h.flags) AS flags,
	iif(EXISTS (SELECT 1 FROM sees_all) AND EXISTS (SELECT 1 FROM ops_handle), coalesce((SELECT n FROM seek k WHERE k.handle = u.handle AND k.image IS u.image), 0), NULL) AS nlseek
FROM part u LEFT JOIN handle h ON h.id = u.handle LEFT JOIN image m ON m.id = u.image
	LEFT JOIN process r ON r.id = m.process;

-- The resources that each image used: those of its process when the next image began, or at the end, minus those when
-- this image began.
CREATE VIEW image_figures AS
SELECT image, process, seq, cpu_1 - cpu_0 AS cpu_ns, utime_1 - utime_0 AS utime_ns, stime_1 - stime_0 AS stime_ns,
	read_char_1 - read_char_0 AS read_char, write_char_1 - write_char_0 AS write_char,
	read_bytes_1 - read_bytes_0 AS read_bytes, write_bytes_1 - write_bytes_0 AS write_bytes,
	minflt_1 - minflt_0 AS minflt, majflt_1 - majflt_0 AS majflt
FROM (SELECT i.id AS image, i.process, i.seq,
		iif(f, 0, s.cpu_ns) AS cpu_0, iif(l, g.cpu_ns, n.cpu_ns) AS cpu_1,
		iif(f, 0, s.utime_ns) AS utime_0, iif(l, g.utime_ns, n.utime_ns) AS utime_1,
		iif(f, 0, s.stime_ns) AS stime_0, iif(l, g.stime_ns, n.stime_ns) AS stime_1,
		iif(f, 0, s.read_char) AS read_char_0, iif(l, g.read_char, n.read_char) AS read_char_1,
		iif(f, 0, s.write_char) AS write_char_0, iif(l, g.write_char, n.write_char) AS write_char_1,
		iif(f, 0, s.read_bytes) AS read_bytes_0, iif(l, g.read_bytes, n.read_bytes) AS read_bytes_1,
		iif(f, 0, s.write_bytes) AS write_bytes_0, iif(l, g.write_bytes, n.write_bytes) AS write_bytes_1,
		iif(f, 0, s.minflt) AS minflt_0, iif(l, g.minflt, n.minflt) AS minflt_1,
		iif(f, 0, s.majflt) AS majflt_0, iif(l, g.majflt, n.majflt) AS majflt_1
	FROM (SELECT id, process, seq, lag(id) OVER w IS NULL AS f, lead(id) OVER w IS NULL AS l,
			lead(id) OVER w AS next
		FROM images WINDOW w AS (PARTITION BY process ORDER BY seq)) i
		LEFT JOIN spent s ON s.image = i.id LEFT JOIN spent n ON n.image = i.next
		LEFT JOIN figures g ON g.process = i.process);

-- The first row of a process begins with the process and includes what it used before its first exec.  If the parts of
-- the images are not known, the image that ran longest has all.
CREATE VIEW pprof AS
WITH run AS MATERIALIZED (SELECT value AS t0 FROM meta WHERE key = 'start_ns'),
part AS (SELECT i.id AS image, i.process, i.end_t, i.id = p.image AS last,
		coalesce(iif(row_number() OVER w = 1, p.start_t, NULL), i.start_t) AS start_t,
		row_number() OVER w > 1 AND s.utime_ns IS NULL AS unknown,
		iif(row_number() OVER w = 1, 0, s.utime_ns) AS utime_0,
		iif(row_number() OVER w = 1, 0, s.stime_ns) AS stime_0,
		coalesce(lead(s.utime_ns) OVER w, g.utime_ns) AS utime_1,
		coalesce(lead(s.stime_ns) OVER w, g.stime_ns) AS stime_1
	FROM images i JOIN processes p ON p.id = i.process LEFT JOIN spent s ON s.image = i.id
		LEFT JOIN figures g ON g.process = i.process
	WHERE i.seq > 0 OR i.id = p.image
	WINDOW w AS (PARTITION BY i.process ORDER BY i.seq)),
row AS (SELECT *, max(unknown) OVER (PARTITION BY process) AS whole, row_number() OVER (PARTITION BY process
		ORDER BY coalesce(end_t, 9223372036854775807) - start_t DESC, last DESC) = 1 AS longest
	FROM part)
SELECT r.xform, r.pid, r.ppid, m.exe, r.lstart, r.lstop,
	(run.t0 + x.start_t) / 1e9 AS tstart, m.end_ns / 1e9 AS tstop,
	iif(x.last, r.vmpeak_bytes / 1024, NULL) AS vmpeak, iif(x.last, r.rsspeak_bytes / 1024, NULL) AS rsspeak,
	iif(x.whole, iif(x.longest, r.utime_ns, NULL), x.utime_1 - x.utime_0) / 1e9 AS utime,
	iif(x.whole, iif(x.longest, r.stime_ns, NULL), x.stime_1 - x.stime_0) / 1e9 AS stime,
	(x.end_t - x.start_t) / 1e9 AS wtime
FROM run, row x JOIN image m ON m.id = x.image JOIN process r ON r.id = x.process ORDER BY x.image;
