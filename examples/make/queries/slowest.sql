SELECT round((i.end_ns - i.start_ns) / 1e6, 1) AS ms, round(p.cpu_ns / 1e6, 1) AS cpu_ms,
	round(p.rsspeak_bytes / 1e6, 1) AS MB, substr(i.command, 1, 60) AS command
FROM image i JOIN process p ON p.id = i.process
WHERE i.seq > 0 AND NOT EXISTS (SELECT 1 FROM process c WHERE c.parent = p.id)
ORDER BY i.end_ns - i.start_ns DESC LIMIT 10;
