WITH RECURSIVE
edge AS MATERIALIZED (
	SELECT process, file, version, nread > 0 AS r, nwrite > 0 AS w, path FROM access),
origin (file, version) AS (
	SELECT file, version FROM edge WHERE path LIKE '%/diff/02-03_03-03.fits'
	UNION
	SELECT i.file, i.version
	FROM origin o JOIN edge m ON m.file = o.file AND m.version = o.version AND m.w
		JOIN edge i ON i.process = m.process AND i.r)
SELECT replace(f.path, (SELECT value FROM trace WHERE key = 'cwd') || '/', '') AS path,
	f.size_last AS size, coalesce(p.command, '(was there before)') AS made_by
FROM origin o JOIN file f ON f.id = o.file
	LEFT JOIN edge m ON m.file = o.file AND m.version = o.version AND m.w
	LEFT JOIN process p ON p.id = m.process
ORDER BY m.process IS NOT NULL, p.start_ns, path;
