-- SPDX-License-Identifier: MIT

--- proc of process: each process, with the columns of wfprof's pprof and more
{with *}SELECT p.xform, p.pid, p.ppid, p.exe, p.lstart, p.lstop,
	p.start_ns / 1e9 AS tstart, p.end_ns / 1e9 AS tstop,
	p.vmpeak_bytes / 1024 AS vmpeak, p.rsspeak_bytes / 1024 AS rsspeak,
	p.utime_ns / 1e9 AS utime, p.stime_ns / 1e9 AS stime,
	(p.end_ns - p.start_ns) / 1e9 AS wtime,
	p.id AS process, p.parent, p.job, p.phase, p.host, p.program, p.state, p.exit_code, p.exit_signal,
	p.start_ns, p.end_ns, p.end_ns - p.start_ns AS runtime_ns, p.cpu_ns,
	CAST(p.utime_ns + p.stime_ns AS REAL) / nullif(p.end_ns - p.start_ns, 0) AS utilization,
	p.rsspeak_bytes AS rss_bytes,
	p.read_char, p.write_char, p.read_bytes, p.write_bytes, p.nvcsw, p.nivcsw, p.minflt, p.majflt,
	p.cpu_delay_ns, p.blkio_delay_ns, p.swapin_delay_ns, p.reclaim_delay_ns, p.tier, p.command
FROM proc p ORDER BY p.start_ns, p.id
