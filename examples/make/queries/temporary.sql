SELECT replace(f.path, (SELECT value FROM trace WHERE key = 'cwd') || '/', '') AS path,
	f.size_last AS size, group_concat(DISTINCT w.comm) AS written_by,
	group_concat(DISTINCT r.comm) AS read_by
FROM file f JOIN access a ON a.file = f.id
	LEFT JOIN process w ON w.id = a.process AND a.nwrite > 0
	LEFT JOIN process r ON r.id = a.process AND a.nread > 0
WHERE f.kind = 'file' AND f.created AND f.deleted
GROUP BY f.id ORDER BY f.size_last DESC, path LIMIT 10;
