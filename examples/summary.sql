-- What each program read and wrote. A file counts once, however many processes used it.
SELECT p.comm AS program, count(DISTINCT p.id) AS processes,
	count(DISTINCT CASE WHEN a.nread > 0 THEN a.file END) AS files_read,
	count(DISTINCT CASE WHEN a.nwrite > 0 THEN a.file END) AS files_written,
	printf('%.1f', sum(a.bread) / 1e6) AS MB_read,
	printf('%.1f', sum(a.bwrite) / 1e6) AS MB_written
FROM process p JOIN access a ON a.process = p.id
GROUP BY p.comm ORDER BY min(p.start_ns), program;

SELECT
	(SELECT value FROM trace WHERE key = 'ops_recorded') AS operations,
	(SELECT value FROM trace WHERE key = 'ops_lost') AS operations_lost,
	(SELECT value FROM trace WHERE key = 'process_events_lost') AS process_events_lost,
	(SELECT value FROM trace WHERE key = 'fidelity') AS fidelity,
	(SELECT printf('%.1f', (e.value - s.value) / 1e9) FROM trace s, trace e
		WHERE s.key = 'start_ns' AND e.key = 'end_ns') AS seconds;
