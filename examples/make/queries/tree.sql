WITH RECURSIVE
used AS (SELECT process, sum(bread) AS bread, sum(bwrite) AS bwrite FROM access GROUP BY process),
tree (id, depth, place) AS (
	SELECT id, 0, printf('%08d', id) FROM process WHERE id = (
		SELECT min(p.id) FROM process p WHERE p.comm = 'make')
	UNION ALL
	SELECT p.id, t.depth + 1, t.place || printf('/%08d', p.id)
	FROM tree t JOIN process p ON p.parent = t.id)
SELECT substr('                ', 1, 2 * t.depth) || substr(p.command, 1, 70) AS process,
	u.bread AS bread, u.bwrite AS bwrite
FROM tree t JOIN process p USING (id) LEFT JOIN used u ON u.process = t.id
ORDER BY t.place LIMIT 30;
