-- SPDX-License-Identifier: MIT
--
-- Makes what a process (?1) had used when its images began consistent with its figures, backwards from its end: no figure
-- decreases, and neither does user or system time, which are estimated parts of the CPU time.  The same as fit() of procs.c.

WITH RECURSIVE back(image, seq, cpu, utime, rchar, wchar, rbytes, wbytes, minflt, majflt) AS (
	SELECT NULL, 9223372036854775807, cpu_ns, utime_ns, read_char, write_char, read_bytes, write_bytes, minflt, majflt
	FROM figures WHERE process = ?1
	UNION ALL
	SELECT i.id, i.seq, min(s.cpu_ns, b.cpu),
		-- at least the CPU time less the later system time, at most the later user time and the CPU time
		min(max(min(s.utime_ns, b.utime), min(s.cpu_ns, b.cpu) - (b.cpu - b.utime)), min(s.cpu_ns, b.cpu)),
		min(s.read_char, b.rchar), min(s.write_char, b.wchar), min(s.read_bytes, b.rbytes),
		min(s.write_bytes, b.wbytes), min(s.minflt, b.minflt), min(s.majflt, b.majflt)
	FROM back b JOIN images i ON i.id = (SELECT j.id FROM images j JOIN spent t ON t.image = j.id
			WHERE j.process = ?1 AND j.seq < b.seq ORDER BY j.seq DESC LIMIT 1)
		JOIN spent s ON s.image = i.id)
UPDATE spent SET cpu_ns = b.cpu, utime_ns = b.utime, stime_ns = b.cpu - b.utime, read_char = b.rchar,
	write_char = b.wchar, read_bytes = b.rbytes, write_bytes = b.wbytes, minflt = b.minflt, majflt = b.majflt
FROM back b WHERE spent.image = b.image;
