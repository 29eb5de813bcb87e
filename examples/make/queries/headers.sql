SELECT replace(s.path, (SELECT value FROM trace WHERE key = 'cwd') || '/', '') AS source,
	(SELECT group_concat(header, ' ') FROM (
		SELECT DISTINCT replace(h.path, rtrim(h.path, replace(h.path, '/', '')), '') AS header
		FROM access h WHERE h.process = s.process AND h.path GLOB '*.h' AND h.nread > 0
		ORDER BY header)) AS headers
FROM access s JOIN process p ON p.id = s.process
WHERE p.comm = 'cc1' AND s.path GLOB '*/src/*.c' AND s.nread > 0 ORDER BY source;
