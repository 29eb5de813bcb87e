-- In order: from where the last read or write of the same open file ended.
SELECT p.comm AS program, count(*) AS opens, sum(h.nread) AS reads, sum(h.nwrite) AS writes,
	sum(h.nseek) AS seeks,
	(100 * sum(h.consecutive_reads) / sum(h.nread)) || ' %' AS reads_in_order,
	(100 * sum(h.consecutive_writes) / sum(h.nwrite)) || ' %' AS writes_in_order,
	sum(h.nread = 0 AND h.nwrite = 0) AS unused_opens
FROM handle h JOIN process p ON p.id = h.process JOIN file f ON f.id = h.file
WHERE f.kind = 'file' GROUP BY program ORDER BY opens DESC;
