-- SPDX-License-Identifier: MIT
--
-- Runs from time to time while the run goes on, and at its end: adds what has been recorded since, and changes no more, to the tables
-- that have results, so that little is left for the end.  The writer regards the rows of touches as complete then; fresh_handles and
-- fresh_images have what is to be added beside them.

INSERT OR REPLACE INTO programs SELECT image, name, nullif(title, name), shell + 2 * script + 4 * ifnull(driver, 0) + 8 * own +
	16 * ifnull(helper, 0)
FROM (@PROGRAMS@);
DELETE FROM fresh_images;

-- Through tables in memory, so that accesses take the pages of touches and fresh_handles.  In their order, because the last path counts.
CREATE TEMP TABLE touched AS SELECT * FROM touches;
DELETE FROM touches;
CREATE TEMP TABLE finished (handle INTEGER PRIMARY KEY);
INSERT INTO finished SELECT handle FROM fresh_handles WHERE over;
DELETE FROM fresh_handles WHERE over;
INSERT INTO accesses
SELECT file, coalesce(process, 0), version, path, did, opens, 0, 0, 0, 0, nmeta, first_t, last_t, 0, first_in, first_out, last_out, NULL
FROM touched WHERE true ORDER BY file, coalesce(process, 0), version, id
ON CONFLICT DO UPDATE SET path = coalesce(excluded.path, path), did = did | excluded.did, opens = opens + excluded.opens,
	nmeta = nmeta + excluded.nmeta, @ADD_TIMES@;
DROP TABLE touched;
INSERT INTO accesses
SELECT file, coalesce(process, 0), version, NULL, 0, 0, nread, bread, nwrite, bwrite, 0,
	first_t, last_t - first_t, read_ns + write_ns, first_read - first_t, first_write - first_t, last_write - first_write, path
FROM (SELECT *, coalesce(min(first_read, first_write), first_read, first_write) AS first_t,
		coalesce(max(last_read, last_write), last_read, last_write) AS last_t
	FROM (SELECT * FROM sole_use WHERE handle IN (SELECT handle FROM finished)
		UNION ALL SELECT * FROM shared_use WHERE handle IN (SELECT handle FROM finished)))
WHERE true
ON CONFLICT DO UPDATE SET nread = nread + excluded.nread, bread = bread + excluded.bread, nwrite = nwrite + excluded.nwrite,
	bwrite = bwrite + excluded.bwrite, io_ns = io_ns + excluded.io_ns, used = coalesce(max(used, excluded.used), used, excluded.used),
	@ADD_TIMES@;
DROP TABLE finished;
