SELECT replace(h.path, (SELECT value FROM trace WHERE key = 'cwd') || '/', '') AS path,
	o.comm AS opened_by, substr(w.command, 1, 30) AS written_by, sum(u.bwrite) AS bytes
FROM use u JOIN handle h ON h.id = u.handle
	JOIN image w ON w.id = u.image JOIN image o ON o.id = h.image
WHERE u.nwrite > 0 AND u.image <> h.image
GROUP BY h.id, u.image ORDER BY path;
