-- SPDX-License-Identifier: MIT

--- check.processes of none: the processes, for which target of a make each ran, and what a driver had a shell do
-- Where ends are only seen some time later, they may have been at once; begins have the grain of a tick then.
SELECT p.id, p.parent, p.pid, p.start_ns,
	iif(p.tier LIKE 'inband%', p.start_ns - 10000000, coalesce(p.end_ns, p.start_ns)) AS end_ns,
	p.command, p.cwd, p.job,
	coalesce(p.exit_code, 0) <> 0 OR p.exit_signal IS NOT NULL AS failed,
	coalesce((SELECT g.driver FROM program g WHERE g.image = p.image), 0) AS driver,
	(SELECT e.value FROM images i JOIN environ e ON e.image = i.id
		WHERE i.process = p.id AND e.name = 'FTRAC_TARGET' AND i.seq > 0 ORDER BY i.seq DESC LIMIT 1) AS target,
	(SELECT json_extract(iif(json_valid(i.argv), i.argv, '[]'), '$[2]') FROM images i
		WHERE i.process = p.id AND i.seq = 1 AND json_extract(iif(json_valid(i.argv), i.argv, '[]'), '$[1]') = '-c')
		AS shell_line
FROM process p ORDER BY p.id

--- check.declared of none: what the build has said of itself
SELECT key, directory, target, prerequisite, order_only FROM declared

--- check.accesses of none: which process did what with which file; appends: all its writes add to the end
SELECT a.process, a.file, a.path, a.reads, a.writes, a.executed, a.mapped, a.created, a.renamed, a.unlinked,
	a.first_in_ns, a.first_out_ns, a.first_ns, coalesce(p.appends, 0) AND NOT a.emptied AS appends
FROM access a LEFT JOIN (SELECT process, file, min(flags LIKE '%O_APPEND%') AS appends
		FROM (SELECT process, file, flags FROM handle WHERE flags NOT LIKE 'O_RDONLY%'
			UNION ALL SELECT u.process, u.file, h.flags
			FROM use u JOIN handle h ON h.id = u.handle WHERE u.nwrite > 0)
		GROUP BY 1, 2) p
	ON p.process = a.process AND p.file = a.file
WHERE a.process IS NOT NULL
