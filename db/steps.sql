-- SPDX-License-Identifier: MIT
--
-- The steps of a run, by readable names: see ftrac-db(5).

-- A part is what one process does with all below it that is not a part of its own.  Drivers, shells with commands as their
-- argument, and copies of their parent only start parts.  What a driver starts is a part, with all its commands.  A part that is the
-- only one below its starter, and starts others, is divided as the first process of the run: these processes are the trunk.
--
-- The step of a part is, in this order: --xform; the rule of Snakemake or the process of Nextflow (rules.h); the rule of make, if several
-- targets have it, or the target; the step of Slurm; the name of its first program that prepares nothing for others.  A part without
-- such a program belongs to the step of the process that started it, and so does a shell with commands as its argument.  Tools of texts of which a shell asks the output prepare, too.

CREATE VIEW process_step AS
WITH RECURSIVE
said AS MATERIALIZED (SELECT p.id, r.xform FROM run r CROSS JOIN processes p WHERE p.id BETWEEN r.first_process AND r.last_process),
-- Processes whose output another program asked for, as a shell by $(...): it goes into a pipe that is no program's input, maybe through
-- others.
piped AS MATERIALIZED (SELECT i.process, p.parent ISNULL AS is_first, i.stdin, i.stdout FROM images i JOIN processes p ON p.id = i.process
	WHERE i.seq > 0 AND i.stdout IN (SELECT id FROM path_names WHERE directory ISNULL AND name GLOB 'pipe:*')),
asked (process, stdin) AS (SELECT process, stdin FROM piped WHERE stdout NOT IN (SELECT stdin FROM images WHERE stdin NOTNULL)
		AND stdout NOT IN (SELECT stdout FROM piped WHERE is_first)
	UNION SELECT p.process, p.stdin FROM asked a JOIN piped p ON p.stdout = a.stdin),
ran AS MATERIALIZED (SELECT image, process, seq, title, driver, shell AND NOT script AND NOT own AS given,
		iif(seq > 0, CASE WHEN helper THEN 1
			WHEN title IN ('sed', 'awk', 'gawk', 'mawk', 'grep', 'egrep', 'fgrep', 'cut', 'tr', 'head', 'tail', 'wc', 'cat', 'ls', 'seq', 'find')
				AND process IN (SELECT process FROM asked) THEN 1 WHEN driver OR title IN ('slurmd', 'slurmstepd') THEN 2
			WHEN shell AND (title = name AND NOT own OR title IN ('.command.run', '.command.sh')) THEN 3 ELSE 0 END, 4) AS rank
	FROM program),
-- The title of a program and, of a compiler and its like, the source or else what it makes.
labelled AS MATERIALIZED (SELECT r.image, r.title, coalesce(r.title || ' ' || CASE
		WHEN r.title GLOB '*cc' OR r.title GLOB '*cc-[0-9]*' OR r.title GLOB '*++' OR r.title GLOB '*++-[0-9]*' OR r.title GLOB 'cc1*'
			OR r.title GLOB 'clang*' OR r.title GLOB '*gfortran*' OR r.title IN ('f951', 'rustc', 'javac', 'as', 'ld', 'ld.bfd', 'ld.gold',
				'ld.lld', 'collect2', 'lto1')
		THEN (SELECT replace(value, rtrim(value, replace(value, '/', '')), '')
			FROM (SELECT a.key, a.value, lag(a.value) OVER (ORDER BY a.key) IS '-o' AS made
				FROM images i JOIN images b ON b.id = coalesce(i.base, i.id), json_each(iif(json_valid(b.argv), b.argv, '[]')) a
				WHERE i.id = r.image)
			WHERE key > 0 AND value NOT GLOB '-*' AND value NOT GLOB '/tmp/*' AND (made OR value GLOB '*.[cCsSfFm]' OR value GLOB '*.cc'
				OR value GLOB '*.cpp' OR value GLOB '*.cxx' OR value GLOB '*.[fF][0-9][0-9]' OR value GLOB '*.rs'
				OR value GLOB '*.java' OR value GLOB '*.cu')
			ORDER BY made, key LIMIT 1)
		WHEN r.title IN ('ar', 'ranlib')
		THEN (SELECT replace(value, rtrim(value, replace(value, '/', '')), '') FROM images i JOIN images b ON b.id = coalesce(i.base, i.id), json_each(iif(json_valid(b.argv), b.argv, '[]'))
			WHERE i.id = r.image AND key > 0 AND value GLOB '*.a' LIMIT 1) END, r.title) AS label
	FROM ran r WHERE r.image IN (SELECT image FROM processes) OR r.seq > 0),
-- starter: the image of the parent that started it.
born AS MATERIALIZED (SELECT p.id, p.parent, r.title, coalesce(r.seq = 0, 1) AS copy, coalesce(r.driver, 0) AS driver,
		coalesce(r.given, 0) AS given, coalesce(r.rank, 4) AS rank,
		(SELECT i.id FROM images i WHERE i.process = p.parent AND (i.start_t <= p.start_t OR i.seq = 0)
			ORDER BY i.seq DESC LIMIT 1) AS starter,
		EXISTS (SELECT 1 FROM processes c WHERE c.parent = p.id) AS starts
	FROM processes p LEFT JOIN ran r ON r.image = p.image),
-- Shells and copies that lead to a driver.
leads (id) AS (SELECT parent FROM born WHERE driver AND starts
	UNION SELECT b.parent FROM leads l JOIN born b ON b.id = l.id WHERE b.copy OR b.given),
kind AS MATERIALIZED (SELECT b.id, b.parent, b.title, b.driver, b.rank, b.starts, coalesce(s.driver, 0) AS by_driver,
		coalesce(s.seq = 0, 0) AS by_copy, coalesce(s.given, 0) AS by_given, l.id NOTNULL AS leads,
		b.copy OR b.driver OR b.given AND (l.id NOTNULL OR NOT coalesce(s.driver, 0)) AS only_starts
	FROM born b LEFT JOIN ran s ON s.image = b.starter LEFT JOIN leads l ON l.id = b.id),
-- above: the nearest process above that did more than to start others when it started what is on the way.  is_recipe: the commands
-- of its shell are one part.
chain (id, parent, title, driver, rank, starts, leads, only_starts, is_recipe, above) AS (
	SELECT id, NULL, NULL, 0, 4, 0, 0, 0, 0, id FROM processes WHERE parent IS NULL
	UNION ALL SELECT k.id, k.parent, k.title, k.driver, k.rank, k.starts, k.leads, k.only_starts, k.by_driver AND NOT k.leads,
		iif(k.by_driver OR k.by_copy OR k.by_given AND NOT c.is_recipe, c.above, c.id)
	FROM chain c JOIN processes q ON q.parent = c.id JOIN kind k ON k.id = q.id),
below AS MATERIALIZED (SELECT above, count(*) AS n, max(id) AS only, starts FROM chain
	WHERE parent NOTNULL AND NOT only_starts AND rank <> 1 GROUP BY above),
trunk (id) AS (SELECT id FROM processes WHERE parent IS NULL
	UNION SELECT b.only FROM trunk t JOIN below b ON b.above = t.id WHERE b.n = 1 AND b.starts
		AND b.only NOT IN (SELECT process FROM rules)),
placed AS MATERIALIZED (SELECT c.*, c.above IN trunk AS in_trunk, c.id IN trunk AS is_trunk FROM chain c),
-- part: the first process of its part; named: there is a program in the trunk above that does more than to start others; host: the title of the nearest one above it that is in no part, and no shell that leads to a driver.
walk (id, leads, part, host, named) AS (SELECT p.id, 0, NULL, r.title, coalesce(r.rank = 0 AND i.start_t >= 0, 0)
	FROM processes p LEFT JOIN ran r ON r.image = p.image LEFT JOIN images i ON i.id = p.image WHERE p.parent IS NULL
	UNION ALL SELECT k.id, k.leads,
		CASE WHEN k.is_trunk OR k.in_trunk AND k.only_starts THEN NULL WHEN k.in_trunk THEN k.id ELSE w.part END,
		CASE WHEN k.is_trunk OR k.in_trunk AND k.driver THEN k.title
			WHEN k.in_trunk AND k.only_starts AND k.rank < 4 AND NOT k.leads THEN iif(w.named, w.host, k.title) ELSE w.host END,
		w.named OR k.is_trunk AND k.rank = 0
	FROM walk w JOIN processes q ON q.parent = w.id JOIN placed k ON k.id = q.id),
-- first: the program that names the part.
part AS (SELECT id, part, host, named, own_rule, own_task, rule, task, leads, iif(part NOTNULL, CAST(substr(first, 1, 1) AS INTEGER), NULL) AS rank,
		CAST(substr(first, 21, 19) AS INTEGER) AS image, substr(first, 40) AS title,
		min(iif(part NOTNULL, first, NULL)) OVER () < '1' AS names
	FROM (SELECT w.id, w.part, w.host, w.named, l.rule AS own_rule, l.task AS own_task, min(l.rule) OVER p AS rule, min(l.task) OVER p AS task,
			max(w.leads) OVER p AS leads, min(r.first) OVER p AS first
		FROM walk w LEFT JOIN (SELECT process, min(rank || printf('%019d%019d', process, image) || title) AS first FROM ran GROUP BY process) r
				ON r.process = w.id LEFT JOIN rules l ON l.process = w.id
		WINDOW p AS (PARTITION BY w.part))),
variable AS MATERIALIZED (SELECT i.process, e.name, e.value FROM environs e JOIN images i ON coalesce(i.base, i.id) = e.image
		JOIN processes p ON p.id = i.process AND p.image = i.id
	WHERE e.name IN ('FTRAC_TARGET', 'OMPI_COMM_WORLD_RANK', 'PMIX_RANK', 'PMI_RANK', 'SLURM_JOB_ID', 'SLURM_JOB_NAME', 'SLURM_STEP_ID')),
-- Targets and rules of make, and their names: with as much of the directory as tells them apart.
made AS MATERIALIZED (SELECT v.process, v.value AS target, coalesce(t.directory, '') AS directory, coalesce(t.name, v.value) AS name,
		iif(count(t.rule) OVER (PARTITION BY t.directory, t.rule) > 1, t.rule, coalesce(t.name, v.value)) AS rule
	FROM (SELECT process, value FROM variable WHERE name = 'FTRAC_TARGET') v
		-- A path has several rows where traces were merged.
		LEFT JOIN (SELECT k.path AS key, d.path AS directory, n.path AS name, max(l.path) AS rule
			FROM targets t JOIN paths k ON k.id = t.id LEFT JOIN paths d ON d.id = t.directory LEFT JOIN paths n ON n.id = t.name
				LEFT JOIN paths l ON l.id = t.rule GROUP BY k.path) t ON t.key = v.value),
word (is_rule, directory, name, text, rest) AS (SELECT 0, directory, name, name, directory FROM made
	UNION SELECT 1, directory, rule, rule, directory FROM made
	UNION SELECT is_rule, directory, name, replace(rest, rtrim(rest, replace(rest, '/', '')), '') || '/' || text,
		rtrim(rtrim(rest, replace(rest, '/', '')), '/')
	FROM word WHERE rest <> ''),
short AS MATERIALIZED (SELECT is_rule, directory, name, text, min(length(text)) AS len
	FROM (SELECT *, count(*) OVER (PARTITION BY is_rule, text) AS n FROM word) WHERE n = 1 OR rest = '' GROUP BY is_rule, directory, name),
target AS MATERIALIZED (SELECT m.process, r.text AS rule, n.text AS name
	FROM made m LEFT JOIN short r ON r.is_rule AND r.directory = m.directory AND r.name = m.rule
		LEFT JOIN short n ON NOT n.is_rule AND n.directory = m.directory AND n.name = m.name),
-- Steps of Slurm, if there are several.
slurm AS MATERIALIZED (SELECT process, iif(min(name) OVER () <> max(name) OVER (), name, NULL) AS name
	FROM (SELECT process, coalesce(max(iif(name = 'SLURM_JOB_NAME', value, NULL)), max(iif(name = 'SLURM_JOB_ID', value, NULL)), 'job')
		|| '.' || max(iif(name = 'SLURM_STEP_ID', value, NULL)) AS name FROM variable GROUP BY process)),
-- Of a part: the daemon that starts the program of a step is the first process, and has no such variables.  at: the part, or a process
-- without one.
slurm_step AS MATERIALIZED (SELECT coalesce(w.part, -w.id) AS at, iif(min(v.name) = max(v.name), min(v.name), NULL) AS name
	FROM slurm v JOIN part w ON w.id = v.process WHERE v.name NOTNULL GROUP BY 1),
step AS (SELECT w.id, w.part, coalesce(iif(w.part NOTNULL, w.task, w.own_task), t.name) AS target,
		iif(w.id = w.part AND w.rank = 0 AND coalesce(w.task, t.name) IS NULL, w.image, NULL) AS image,
		coalesce(s.xform, iif(w.part NOTNULL, w.rule, w.own_rule), t.rule, u.name,
			iif(w.rank = 0 OR w.rank < 4 AND NOT w.names AND NOT w.named, w.title, NULL)) AS own, w.host
	FROM part w CROSS JOIN said s ON s.id = w.id LEFT JOIN target t ON t.process = w.part AND NOT w.leads
		LEFT JOIN slurm_step u ON u.at = coalesce(w.part, -w.id)),
counted AS (SELECT *, count(image) OVER (PARTITION BY step) > 1 AS several
	FROM (SELECT id, iif(own ISNULL, NULL, part) AS part, target, image, coalesce(own, host) AS step FROM step))
-- What the parts of a step work on: the rank, the source, the value of -o, or the last argument that is no option.
SELECT c.id AS process, step, coalesce(target, step || max(iif(several, coalesce(
		' rank ' || (SELECT v.value FROM variable v WHERE v.process = part AND v.name GLOB '*_RANK' ORDER BY v.name LIMIT 1),
		nullif(substr(r.label, length(r.title) + 1), ''),
		(SELECT ' ' || replace(a.value, rtrim(a.value, replace(a.value, '/', '')), '')
			FROM images i JOIN images b ON b.id = coalesce(i.base, i.id), json_each(iif(json_valid(b.argv), b.argv, '[]')) a
			WHERE i.id = c.image AND a.key > 0 AND a.value NOT GLOB '-*' AND a.value NOT GLOB '*/'
				AND replace(a.value, rtrim(a.value, replace(a.value, '/', '')), '') <> c.step
			ORDER BY (SELECT o.value FROM json_each(b.argv) o WHERE o.key = a.key - 1) IS '-o' DESC, a.key DESC LIMIT 1)), NULL))
		OVER (PARTITION BY part), step) AS task,
	iif(part NOTNULL AND target NOTNULL, min(part) OVER (PARTITION BY step, target), part) AS part,
	l.label
FROM counted c LEFT JOIN processes p ON p.id = c.id LEFT JOIN labelled l ON l.image = p.image LEFT JOIN labelled r ON r.image = c.image;
