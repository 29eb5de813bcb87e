-- SPDX-License-Identifier: MIT

--- list of op: operations and events of processes, in their order
{with end_ns pid program exit_code exit_signal}
SELECT t_ns, process, pid, program, event, path, detail, result, latency_ns, moved_bytes FROM (
	SELECT o.start_ns AS t_ns, 2 AS rank, o.id, o.process, p.pid, p.program, o.name AS event, o.path,
		coalesce(o.path2, iif(o.length IS NOT NULL, coalesce(o.offset, '?') || '+' || o.length, NULL))
			AS detail,
		o.result, o.latency_ns, o.bytes AS moved_bytes
	FROM op o {joins o p}
	{where o.start_ns | o.start_ns}
	{[}UNION ALL SELECT p.start_ns, 0, 0, p.id, p.pid, p.program, 'start', NULL, NULL, NULL, NULL, NULL
	FROM proc p {time p.start_ns | p.start_ns}
	UNION ALL SELECT i.start_ns, 1, i.id, p.id, p.pid, i.program, 'exec', i.exe, i.command, NULL, NULL,
		NULL
	FROM image i JOIN proc p ON p.id = i.process WHERE i.seq > 0 {and_time i.start_ns | i.start_ns}
	UNION ALL SELECT p.end_ns, 3, 0, p.id, p.pid, p.program, 'exit', NULL,
		{part ending}, NULL, NULL, NULL
	FROM proc p WHERE p.end_ns IS NOT NULL {and_time p.end_ns | p.end_ns}{]})
ORDER BY t_ns, rank, id
