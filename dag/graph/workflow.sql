-- SPDX-License-Identifier: MIT

--- graph.processes of process: all processes, and which of them the options choose
{with phase step end_ns}SELECT p.id, p.parent, p.start_ns, p.end_ns, p.program, p.command, p.exe, p.job, p.xform,
	coalesce(q.phase, p.phase) AS phase, coalesce(q.step, p.step) AS step, iif(p.part NOTNULL, p.task, NULL) AS task, p.label, p.part, p.host, p.pid, p.exit_code, p.exit_signal, p.cpu_ns,
	p.rsspeak_bytes, p.cpu_delay_ns, p.uid, (SELECT g.driver FROM program g WHERE g.image = p.image) AS driver,
	(SELECT i.seq > 0 FROM image i WHERE i.id = p.image) AS executed, q.id IS NOT NULL AS chosen
FROM process p LEFT JOIN proc q ON q.id = p.id ORDER BY p.id

--- graph.times of none: where the time of the threads of each process went
SELECT process, running_ns, queue_ns, file_ns, pipe_ns, socket_ns, lock_ns, child_ns, sleep_ns, event_ns, memory_ns, stopped_ns, other_ns
FROM process_time WHERE threads_ns > 0 ORDER BY process

--- graph.files of none: all files
SELECT id, path, kind, coalesce(size_last, size_first) AS size_bytes, created, deleted,
	kind = 'fifo' OR id IN (SELECT peer FROM socket_peer) AS pipe FROM file
UNION ALL SELECT DISTINCT -a.path, p.path, 'fifo', NULL, 0, 0, 1 FROM assumed_pipe a JOIN paths p ON p.id = a.path ORDER BY 1

--- graph.accesses of part: which process did what to which version of a file, and whether the options choose that
{with}SELECT a.process, a.file, a.version, a.reads, a.writes, a.created, a.renamed, a.unlinked, a.executed,
	a.mapped, a.truncated, a.emptied, a.assumed_read, a.assumed_write, a.nread, a.bread, a.nwrite, a.bwrite, a.io_ns, a.nmeta,
	a.first_in_ns, a.first_out_ns, a.last_out_ns, a.last_ns, {chosen a.first_ns | a.last_ns} AS chosen
FROM channel_access a {filters a}WHERE a.process IS NOT NULL AND a.file NOT IN (SELECT file FROM pipe_end WHERE token)
	-- All of these have one inode.
	AND a.file NOT IN (SELECT id FROM file WHERE kind IN ('anon', 'eventfd'))

--- graph.missing_names of part: names that were looked for and not there
{with}SELECT g.process, g.path, g.count, g.first_ns, {chosen g.first_ns | g.first_ns} AS chosen
FROM (SELECT *, NULL AS file FROM ghost) g {filters g}WHERE g.process IS NOT NULL

--- graph.groups of process by phase: what processes are grouped by
{with}SELECT {keys}, p.id FROM proc p ORDER BY p.id
