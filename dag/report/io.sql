-- SPDX-License-Identifier: MIT

--- report.directories of use by directory: bytes by directory
{with}SELECT {keys}, count(DISTINCT a.file) AS files, sum(a.opens) AS opens, sum(a.bread) AS read_bytes,
	sum(a.bwrite) AS written_bytes
FROM access a {joins a}
{where a.first_ns | a.last_ns} GROUP BY {group}
ORDER BY coalesce(sum(a.bread), 0) + coalesce(sum(a.bwrite), 0) DESC, 1
