SELECT name, count(*) AS count, printf('%.4f', 1.0 * count(*) / sum(count(*)) OVER ()) AS ratio,
	printf('%.3f', sum(latency_ns) / 1e9) AS seconds,
	printf('%.1f', avg(latency_ns) / 1e3) AS us_each,
	sum(result < 0) AS failed
FROM op GROUP BY name ORDER BY count(*) DESC;
