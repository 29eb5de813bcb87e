WITH written AS (
	SELECT file, sum(bwrite) AS bwrite, min(CASE WHEN nwrite > 0 THEN process END) AS process
	FROM access GROUP BY file HAVING sum(nwrite) > 0 AND sum(nread) = 0)
SELECT p.comm AS written_by, count(*) AS files, printf('%.2f', sum(w.bwrite) / 1e6) AS MB,
	min(replace(f.path, (SELECT value FROM trace WHERE key = 'cwd') || '/', '')) AS example
FROM written w JOIN file f ON f.id = w.file JOIN process p ON p.id = w.process
GROUP BY written_by ORDER BY sum(w.bwrite) DESC;
