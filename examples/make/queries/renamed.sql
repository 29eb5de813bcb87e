SELECT replace(n.path, (SELECT value FROM trace WHERE key = 'cwd') || '/', '') AS was,
	replace(f.path, (SELECT value FROM trace WHERE key = 'cwd') || '/', '') AS became
FROM name n JOIN file f ON f.id = n.file
WHERE n.path <> f.path AND NOT f.deleted ORDER BY n.from_ns;
