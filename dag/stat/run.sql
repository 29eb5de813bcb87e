-- SPDX-License-Identifier: MIT

--- run of process by xform,exe: run time of each job or process
{with end_ns}SELECT {keys}, {of} AS "of",
	CASE WHEN count(*) = count(p.end_ns) THEN max(p.end_ns) - min(p.start_ns) END AS runtime_ns
FROM proc p GROUP BY {unit}, {group} ORDER BY min(p.start_ns), min(p.id)
