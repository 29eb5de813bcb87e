-- SPDX-License-Identifier: MIT

--- waits of process by step: where the time of the threads of processes went
{with},
part AS MATERIALIZED (SELECT {keys}, count(*) AS processes, sum(t.threads_ns - t.child_ns) AS work_ns, sum(t.running_ns) AS running_ns,
		sum(t.queue_ns) AS queue_ns, sum(t.file_ns) AS file_ns, sum(t.pipe_ns) AS pipe_ns, sum(t.socket_ns) AS socket_ns,
		sum(t.lock_ns) AS lock_ns, sum(t.sleep_ns) AS sleep_ns,
		sum(t.event_ns) AS event_ns, sum(t.memory_ns) AS memory_ns, sum(t.stopped_ns) AS stopped_ns,
		sum(t.other_ns) AS other_ns, sum(t.child_ns) AS child_ns, min(p.start_ns) AS t, min(p.id) AS id, 0 AS last
	FROM proc p JOIN process_time t ON t.process = p.id GROUP BY {group})
SELECT {names}, processes, work_ns, running_ns, queue_ns, file_ns, pipe_ns, socket_ns, lock_ns, sleep_ns, event_ns,
	memory_ns, stopped_ns, other_ns, child_ns
FROM (SELECT * FROM part UNION ALL SELECT {total}, sum(processes), sum(work_ns), sum(running_ns), sum(queue_ns), sum(file_ns),
		sum(pipe_ns), sum(socket_ns), sum(lock_ns), sum(sleep_ns), sum(event_ns), sum(memory_ns),
		sum(stopped_ns), sum(other_ns), sum(child_ns), 0, 0, 1 FROM part HAVING count(*) > 0)
ORDER BY last, t, id
