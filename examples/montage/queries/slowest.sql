SELECT round((p.end_ns - p.start_ns) / 1e9, 3) AS seconds, round(p.cpu_ns / 1e9, 3) AS cpu,
	(SELECT round(sum(io_ns) / 1e9, 3) FROM access a WHERE a.process = p.id) AS io, p.command
FROM process p WHERE p.comm GLOB 'm[A-Z]*'
ORDER BY p.end_ns - p.start_ns DESC LIMIT 10;
