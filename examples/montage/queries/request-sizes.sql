SELECT p.comm AS program, o.name AS call,
	sum(o.bytes < 1024) AS '<1K', sum(o.bytes >= 1024 AND o.bytes < 4096) AS '1K-4K',
	sum(o.bytes >= 4096 AND o.bytes < 65536) AS '4K-64K',
	sum(o.bytes >= 65536) AS '>=64K', max(o.bytes) AS largest
FROM op o JOIN process p ON p.id = o.process
WHERE o.name IN ('read', 'write') AND o.bytes >= 0
GROUP BY program, call ORDER BY count(*) DESC LIMIT 12;
