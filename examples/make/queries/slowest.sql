SELECT round((p.end_ns - p.start_ns) / 1e6, 1) AS ms,
	(SELECT count(*) FROM process c WHERE c.parent = p.id) AS started,
	CASE WHEN length(p.command) > 60 THEN '...' || substr(p.command, -57)
		ELSE p.command END AS command
FROM process p JOIN process m ON m.id = p.parent
WHERE m.comm = 'make' ORDER BY p.end_ns - p.start_ns DESC LIMIT 10;
