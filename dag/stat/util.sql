-- SPDX-License-Identifier: MIT

--- util of process by xform,exe: use of the processor, and where the rest of the time went
{with end_ns utime_ns stime_ns cpu_ns cpu_delay_ns blkio_delay_ns swapin_delay_ns reclaim_delay_ns ops_ns}
SELECT {keys}, {of} AS "of",
	CASE WHEN count(*) = count(p.end_ns) AND count(*) = count(p.utime_ns + p.stime_ns)
		THEN CAST(sum(p.utime_ns + p.stime_ns) AS REAL) / nullif(max(p.end_ns) - min(p.start_ns), 0)
		END AS utilization,
	iif(count(*) = count(p.end_ns), sum(p.end_ns - p.start_ns), NULL) AS life_ns,
	iif(count(*) = count(p.cpu_ns), sum(p.cpu_ns), NULL) AS cpu_ns,
	iif(count(*) = count(p.cpu_delay_ns), sum(p.cpu_delay_ns), NULL) AS queue_ns,
	iif(count(*) = count(p.blkio_delay_ns), sum(p.blkio_delay_ns), NULL) AS block_io_ns,
	iif(count(*) = count(p.swapin_delay_ns + p.reclaim_delay_ns),
		sum(p.swapin_delay_ns + p.reclaim_delay_ns), NULL) AS memory_ns,
	iif(count(*) = count(p.ops_ns), sum(p.ops_ns), NULL) AS traced_io_ns
FROM proc p
GROUP BY {unit}, {group} ORDER BY min(p.start_ns), min(p.id)
