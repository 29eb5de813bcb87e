WITH RECURSIVE
edge AS MATERIALIZED (
	SELECT process, file, version, (nread > 0 OR mapped OR executed) AS r,
		(nwrite > 0 OR mapped AND created) AS w, path
	FROM access),
touched (file, version) AS (
	SELECT file, version FROM edge WHERE path GLOB '*/src/words.h'
	UNION
	SELECT o.file, o.version
	FROM touched t JOIN edge i ON i.file = t.file AND i.version = t.version AND i.r
		JOIN edge o ON o.process = i.process AND o.w)
SELECT replace(f.path, (SELECT value FROM trace WHERE key = 'cwd') || '/', '') AS path,
	group_concat(DISTINCT p.comm) AS made_by
FROM touched t JOIN file f ON f.id = t.file
	JOIN edge m ON m.file = t.file AND m.version = t.version AND m.w
	JOIN process p ON p.id = m.process
WHERE NOT f.deleted GROUP BY f.path ORDER BY min(p.start_ns), path;
