-- SPDX-License-Identifier: MIT

--- report.processes of process by step: the figures of each process, for the boxes of steps
{with ops end_ns utime_ns stime_ns rsspeak_bytes exit_code exit_signal},
moved AS MATERIALIZED (SELECT process, iif(count(*) = count(bread), sum(bread), NULL) AS bread,
		iif(count(*) = count(bwrite), sum(bwrite), NULL) AS bwrite
	FROM access GROUP BY process)
SELECT {keys}, p.end_ns - p.start_ns AS runtime_ns,
	CAST(p.utime_ns + p.stime_ns AS REAL) / nullif(p.end_ns - p.start_ns, 0) AS utilization,
	p.rsspeak_bytes AS rss_bytes, iif(m.process IS NULL, p.n, m.bread) AS read_bytes,
	iif(m.process IS NULL, p.n, m.bwrite) AS written_bytes,
	coalesce(p.exit_code, 0) <> 0 OR p.exit_signal IS NOT NULL AS failed
-- A process without reads and writes has 0 bytes if the trace has file operations.
FROM (SELECT *, iif(ops IS NULL, NULL, 0) AS n FROM proc) p LEFT JOIN moved m ON m.process = p.id ORDER BY p.start_ns, p.id

--- report.heat of use by step: bytes moved by each open file, and its first and last read and write
{with}SELECT {keys}, u.bread AS read_bytes, u.first_read_ns, u.last_read_ns,
	u.bwrite AS written_bytes, u.first_write_ns, u.last_write_ns
FROM use u {joins u}
{where u.first_ns | u.last_ns} ORDER BY u.first_ns
