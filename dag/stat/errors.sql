-- SPDX-License-Identifier: MIT

--- errors of op by command: operations that failed
{with}SELECT CASE WHEN o.name IN ('lookup', 'getattr', 'access', 'open', 'opendir', 'readlink') AND o.result IN (-2, -20)
		THEN 'search' WHEN o.name IN ('getxattr', 'listxattr') AND o.result IN (-61, -95)
		OR o.name = 'readlink' AND o.result = -22 OR o.name = 'ioctl' AND o.result = -25
		OR o.name IN ('read', 'write', 'send', 'recv', 'accept', 'connect') AND o.result IN (-11, -115)
		THEN 'probe' ELSE 'error' END AS kind,
	o.name AS operation, -o.result AS errno, {keys}, o.path, count(*) AS count,
	min(o.start_ns) AS first_ns
FROM {op name result path start_ns | o.result < 0} {joins o}
{where o.start_ns | o.start_ns}
GROUP BY o.name, o.result, {group 4}, o.path
ORDER BY 1, count(*) DESC, min(o.start_ns)

--- errors.ghosts of use by command: names that were looked for and not there
{with}SELECT 'search' AS kind, 'lookup' AS operation, 2 AS errno, {keys}, g.path, sum(g.count) AS count,
	min(g.first_ns) AS first_ns
FROM (SELECT *, NULL AS file FROM ghost) g {joins g}
{where g.first_ns | g.first_ns} GROUP BY {group 4}, g.path ORDER BY sum(g.count) DESC, min(g.first_ns)
