SELECT replace(f.path, (SELECT value FROM trace WHERE key = 'cwd') || '/', '') AS path,
	f.size_last AS size, count(DISTINCT a.process) AS readers, sum(a.nread) AS reads,
	sum(a.bread) AS bytes
FROM access a JOIN file f ON f.id = a.file
WHERE a.nread > 0 GROUP BY f.id ORDER BY readers DESC, bytes DESC, path LIMIT 10;
