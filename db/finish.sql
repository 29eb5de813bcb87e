-- SPDX-License-Identifier: MIT
--
-- Runs at the end of the run: stores results that the views would otherwise compute for each query.

UPDATE files SET path = (SELECT path FROM file_name WHERE file = id)
WHERE id IN (SELECT file FROM names GROUP BY file HAVING count(*) > 1);
DROP VIEW file_name;
CREATE VIEW file_name AS SELECT id AS file, path FROM files;

-- Through a table in memory, so that the pages of touches are used again.
CREATE TEMP TABLE accessed AS SELECT file, process, version, path, created + 2 * truncated +
		4 * renamed + 8 * unlinked + 16 * executed + 32 * mapped + 64 * emptied +
		128 * assumed_read + 256 * assumed_write + 512 * uncounted AS did, opens,
	nread, bread, nwrite, bwrite, nmeta, first_t, last_t - first_t, io_ns, touch_ns,
	first_in - first_t, first_out - first_t, last_out - first_out
FROM access_rows ORDER BY file, process, version;
DELETE FROM touches;
INSERT INTO accesses SELECT * FROM accessed;
DROP TABLE accessed;
DROP VIEW access_rows;
CREATE VIEW access_rows AS
SELECT process, file, version, path, opens, nread, bread, nwrite, bwrite, did & 1 AS created,
	did >> 1 & 1 AS truncated, did >> 2 & 1 AS renamed, did >> 3 & 1 AS unlinked,
	did >> 4 & 1 AS executed, did >> 5 & 1 AS mapped, did >> 7 & 1 AS assumed_read,
	did >> 8 & 1 AS assumed_write, did >> 9 & 1 AS uncounted, nmeta, first_t,
	first_t + last_t AS last_t, io_ns, touch_ns, first_t + first_in AS first_in,
	first_t + first_out AS first_out, first_t + first_out + last_out AS last_out, did >> 6 & 1 AS emptied
FROM accesses;

-- From sums of reads and writes.
INSERT INTO jobs SELECT process, job, xform, phase, lstart, lstop FROM process_job;
DROP VIEW process_job;
CREATE VIEW process_job AS SELECT * FROM jobs;
