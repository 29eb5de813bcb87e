-- SPDX-License-Identifier: MIT

--- phase.processes of part by phase: the phase of each process, and a row for accesses without a process
{with end_ns},
unknown AS (SELECT {keys} FROM (SELECT 0) LEFT JOIN proc p ON 0)
SELECT {keys}, p.id, p.start_ns FROM proc p {time p.start_ns | coalesce(p.end_ns, 9223372036854775807)}
UNION ALL SELECT *, 0, NULL FROM unknown
ORDER BY id

--- phase.jobs of part by phase: number of jobs, and when the first one began, for each phase and for all
{with job end_ns},
jobs AS MATERIALIZED (SELECT {keys}, p.job, p.start_ns FROM proc p
	WHERE p.job IS NOT NULL {and_time p.start_ns | coalesce(p.end_ns, 9223372036854775807)})
SELECT {names}, count(DISTINCT job) AS jobs, min(start_ns) AS start_ns, 0 AS total FROM jobs GROUP BY {names}
UNION ALL SELECT {total}, count(DISTINCT job), NULL, 1 FROM jobs

--- phase of part by phase: accesses of processes to files, file by file
{with}SELECT coalesce(a.process, 0) AS process, a.file, a.nread IS NOT NULL AS known, a.bread AS read_bytes,
	a.bwrite AS written_bytes,
	coalesce(a.nread > 0 OR a.mapped OR a.executed OR a.nread IS NULL AND a.assumed_read, 0) AS r,
	coalesce(a.nwrite > 0 OR a.created OR a.truncated OR a.nwrite IS NULL AND a.assumed_write, 0) AS w
FROM access a JOIN file k ON k.id = a.file {filters a}
WHERE k.kind = 'file' AND (a.opens > 0 OR a.executed OR a.created OR a.nread > 0 OR a.nwrite > 0)
	{and a.first_ns | a.last_ns} ORDER BY a.file
