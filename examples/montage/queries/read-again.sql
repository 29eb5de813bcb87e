SELECT replace(f.path, (SELECT value FROM trace WHERE key = 'cwd') || '/', '') AS path,
	f.size_last AS size, count(DISTINCT a.process) AS readers, sum(a.nread) AS reads,
	printf('%.1f', 1.0 * sum(a.bread) / f.size_last) AS times_its_size
FROM access a JOIN file f ON f.id = a.file
WHERE a.nread > 0 AND f.size_last > 0
GROUP BY a.file ORDER BY sum(a.bread) DESC, path LIMIT 10;
