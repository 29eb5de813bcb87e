-- SPDX-License-Identifier: MIT

--- answer.calls of none: for how long each process was in reads and writes of files
SELECT process, sum(io_ns) AS file_ns FROM access WHERE process NOTNULL AND io_ns > 0 GROUP BY process ORDER BY process

--- answer.head of none: the run in numbers
SELECT (SELECT max(end_ns) - min(start_ns) FROM process WHERE parent IS NULL) AS wall_ns, (SELECT count(*) FROM process) AS processes,
	(SELECT sum(cpu_ns) FROM process) AS cpu_ns, (SELECT max(rsspeak_bytes) FROM process) AS rss_bytes,
	(SELECT comm FROM process ORDER BY rsspeak_bytes DESC LIMIT 1) AS comm,
	(SELECT count(DISTINCT file) FROM access WHERE opens > 0) AS files, (SELECT iif(count(*), sum(bread), 0) FROM handle) AS bread,
	(SELECT iif(count(*), sum(bwrite), 0) FROM handle) AS bwrite

--- answer.unknown of none: of how many processes it is not known what they read and wrote
SELECT count(*) - count(read_char) AS processes FROM process

--- answer.unseen of none: programs of which no call of a library was seen
SELECT coalesce(program, '?') AS program, count(*) AS images FROM unseen_image GROUP BY 1 ORDER BY images DESC, program

--- answer.mixed of none: the first file that may have been damaged
SELECT f.path FROM trace t JOIN file f ON f.id = t.value WHERE t.key = 'mixed_file'
