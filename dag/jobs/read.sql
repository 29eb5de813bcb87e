-- SPDX-License-Identifier: MIT

--- generate.images of none: what each process was at its fork, and the first program that it began
SELECT process, seq, argv_raw, cwd, stdin, stdout, stderr, start_ns, exe, comm FROM image WHERE seq < 2
ORDER BY process, seq

--- generate.appends of none: which process appended to which file, and which opened it to do that
SELECT u.process, h.path FROM use u JOIN handle h ON h.id = u.handle WHERE h.flags LIKE '%APPEND%'
UNION SELECT process, path FROM handle WHERE flags LIKE '%APPEND%' AND process IS NOT NULL

--- generate.environ of none: variables that its first program had, and the command that was traced had not
-- Only names that a shell can export: no functions of bash.
WITH r AS MATERIALIZED (SELECT e.name, e.value FROM environ e JOIN image i ON i.id = e.image
	JOIN process p ON p.id = i.process WHERE p.parent IS NULL AND i.seq = 1)
SELECT i.process, group_concat(e.name || '=''' || replace(e.value, '''', '''\''''') || '''', ' ') AS variables
FROM environ e JOIN image i ON i.id = e.image
WHERE i.seq = 1 AND (e.name, e.value) NOT IN (SELECT name, value FROM r)
	AND e.name GLOB '[A-Za-z_]*' AND e.name NOT GLOB '*[^A-Za-z0-9_]*'
	AND e.name NOT GLOB 'FTRAC_*' AND e.name NOT GLOB '*JOB*ID' AND e.name NOT GLOB '*_TASK_ID'
	AND e.name NOT IN ('LSB_JOBINDEX', 'MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'PWD', 'OLDPWD', 'SHLVL', '_')
GROUP BY i.process
