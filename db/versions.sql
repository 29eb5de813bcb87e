-- SPDX-License-Identifier: MIT
--
-- The last step of merging traces (merge.c), for files that several of them have: replaces the tagged versions of each
-- trace by the numbers of merge_versions.c.  'numbers' has, for a file and a version of one trace, its number from
-- from_t on.

-- A trace may regard the removed name as the last one, while another trace has seen a second link; or a name as kept that
-- another trace has seen end.
UPDATE main.files SET state = iif(EXISTS (SELECT 1 FROM main.names n JOIN main.paths p ON p.id = n.path
	WHERE n.file = files.id AND n.to_t IS NULL AND NOT EXISTS (SELECT 1 FROM main.names m JOIN main.paths q ON q.id = m.path
		WHERE m.file = n.file AND q.path = p.path AND m.to_t >= n.from_t)), state & ~2, state | 2)
WHERE id IN shared AND (state & 2 OR id IN kept);

-- Operations in the rows of handles and of moved get rows of their own, since another trace may have begun a version before them.
INSERT INTO main.ops_handle SELECT open_op + close_op, w.close, iif(life IS NULL, close_t, life - coalesce(close_t, close_latency)), close_latency, h.id,
	0, NULL, NULL, NULL
FROM main.handles h JOIN main.ways w ON w.id = h.way WHERE h.file IN shared AND close_op NOTNULL;
INSERT INTO main.ops_handle SELECT open_op + stat_op, (SELECT code FROM main.op_name WHERE name = 'getattr'), stat_t, stat_latency, id,
	0, NULL, NULL, NULL
FROM main.handles WHERE file IN shared AND stat_op NOTNULL;
INSERT INTO main.ops_handle SELECT coalesce(h.open_op, 0) + m.data_op, w.data, coalesce(m.data_t, min(m.first_read, m.first_write),
	m.first_read, m.first_write), coalesce(m.data_latency, m.read_ns + m.write_ns), h.id, coalesce(m.data_result, m.bread + m.bwrite),
	m.data_offset, m.data_length, NULL
FROM main.moved m JOIN main.handles h ON h.id = m.handle JOIN main.ways w ON w.id = h.way WHERE h.file IN shared AND m.data_op NOTNULL;
UPDATE main.handles SET close_op = NULL, stat_op = NULL WHERE file IN shared;
UPDATE main.moved SET data_op = NULL WHERE handle IN (SELECT id FROM main.handles WHERE file IN shared);

UPDATE main.ops_handle SET code = (code & 511) + 512 * ((SELECT number FROM numbers n WHERE n.file = h.file
			AND n.version = h.version + (code >> 9) AND from_t <= h.open_t + t ORDER BY from_t DESC LIMIT 1) -
		(SELECT number FROM numbers n WHERE n.file = h.file AND n.version = h.version AND from_t <= h.open_t
			ORDER BY from_t DESC LIMIT 1))
FROM main.handles h WHERE h.id = handle AND EXISTS (SELECT 1 FROM numbers n WHERE n.file = h.file AND
	n.version = h.version + (code >> 9)) AND EXISTS (SELECT 1 FROM numbers n WHERE n.file = h.file AND n.version = h.version);
UPDATE main.ops_name AS o SET code = (code & 511) + 512 * ((SELECT number FROM numbers n WHERE n.file = o.file
			AND n.version = (o.code >> 9) + 1 AND from_t <= o.t ORDER BY from_t DESC LIMIT 1) - 1)
WHERE EXISTS (SELECT 1 FROM numbers n WHERE n.file = o.file AND n.version = (o.code >> 9) + 1);
INSERT INTO main.moved_otherwise SELECT m.handle, d.image, (SELECT number FROM numbers n WHERE n.file = h.file
			AND n.version = coalesce(d.version, h.version)
			AND from_t <= h.open_t + coalesce(min(first_read, first_write), first_read, first_write, 0)
		ORDER BY from_t DESC LIMIT 1), 0, 0, 0, 0, 0
FROM main.moved m JOIN main.handles h ON h.id = m.handle LEFT JOIN main.moved_otherwise d ON d.handle = m.handle
WHERE EXISTS (SELECT 1 FROM numbers n WHERE n.file = h.file AND n.version = coalesce(d.version, h.version))
ON CONFLICT DO UPDATE SET version = excluded.version;
-- Two versions of one trace may have become one: their uses are added up.
CREATE TEMP TABLE renumbered AS SELECT u.handle, u.image, coalesce((SELECT number FROM numbers n WHERE n.file = h.file
			AND n.version = u.version AND from_t <= h.open_t + coalesce(min(u.first_read, u.first_write), u.first_read,
				u.first_write, 0) ORDER BY from_t DESC LIMIT 1), u.version) AS number,
	u.nread, u.bread, u.nwrite, u.bwrite, u.nseek, u.read_ns, u.write_ns, u.first_read, u.last_read, u.first_write, u.last_write
FROM main.uses u JOIN main.handles h ON h.id = u.handle WHERE h.file IN shared;
DELETE FROM main.uses WHERE handle IN (SELECT handle FROM renumbered);
INSERT INTO main.uses SELECT handle, image, number, sum(nread), sum(bread), sum(nwrite), sum(bwrite), sum(nseek),
	sum(read_ns), sum(write_ns), min(first_read), max(first_read + last_read) - min(first_read),
	min(first_write), max(first_write + last_write) - min(first_write)
FROM renumbered GROUP BY handle, image, number;
DROP TABLE renumbered;
UPDATE main.touches AS c SET version = (SELECT number FROM numbers n WHERE n.file = c.file AND n.version = c.version
		AND from_t <= c.first_t + coalesce(c.first_out, 0) ORDER BY from_t DESC LIMIT 1)
WHERE EXISTS (SELECT 1 FROM numbers n WHERE n.file = c.file AND n.version = c.version);
UPDATE main.handles AS h SET version = (SELECT number FROM numbers n WHERE n.file = h.file AND n.version = h.version
		AND from_t <= h.open_t ORDER BY from_t DESC LIMIT 1)
WHERE EXISTS (SELECT 1 FROM numbers n WHERE n.file = h.file AND n.version = h.version);
