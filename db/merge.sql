-- SPDX-License-Identifier: MIT
--
-- Adds the trace "one" to the database "main" (merge.c).  Parameters: what to add to ids, and :t to
-- times; they are 0 or NULL where there is none, and stay so.

INSERT OR IGNORE INTO main.op_name SELECT * FROM one.op_name;
INSERT OR IGNORE INTO main.via_name SELECT * FROM one.via_name;
INSERT OR IGNORE INTO main.fidelity_name SELECT * FROM one.fidelity_name;
INSERT OR IGNORE INTO main.flag_text SELECT * FROM one.flag_text;

INSERT INTO facts SELECT key, value FROM one.meta;
INSERT INTO main.runs SELECT :processes + 1, (SELECT value FROM one.meta WHERE key = 'host'),
	(SELECT value FROM one.meta WHERE key = 'job'), (SELECT value FROM one.meta WHERE key = 'xform'),
	(SELECT value FROM one.meta WHERE key = 'fidelity')
WHERE EXISTS (SELECT 1 FROM one.processes);

INSERT INTO main.paths SELECT id + :paths, path FROM one.paths;
INSERT INTO main.mounts SELECT id + :mounts, fstype, path FROM one.mounts;

-- Files that were there before: the same name and inode, and nobody saw it removed.
DELETE FROM same;
INSERT INTO same SELECT n.id, coalesce((SELECT o.id FROM main.files o JOIN main.paths q ON q.id = o.path
			JOIN main.kinds l ON l.id = o.kind
		WHERE l.dev = k.dev AND o.ino = n.ino AND NOT o.state & 2 AND q.path = p.path),
	n.id + :files)
FROM one.files n LEFT JOIN one.kinds k ON k.id = n.kind LEFT JOIN one.paths p ON p.id = n.path;
INSERT INTO main.kinds SELECT id + :kinds, dev, mode, mount + :mounts FROM one.kinds;
INSERT INTO main.files SELECT id + :files, path + :paths, kind + :kinds, ino, size_first, size_last, state
FROM one.files JOIN same ON old = id WHERE new = id + :files;
UPDATE main.files SET size_last = coalesce(n.size_last, n.size_first, files.size_last),
	state = n.state | (files.state & 1)
FROM one.files n JOIN same ON old = n.id WHERE files.id = new AND new <> n.id + :files;
INSERT OR REPLACE INTO main.names SELECT s.new, path + :paths, from_t + :t, to_t + :t
FROM one.names n JOIN same s ON s.old = n.file;

INSERT INTO main.processes SELECT id + :processes, pid, ppid, parent + :processes, uid, gid, start_t + :t,
	end_t + :t, exit_code, exit_signal, image + :images, cgroup + :paths, tier FROM one.processes;
INSERT INTO main.images SELECT id + :images, process + :processes, seq, base + :images, start_t + :t,
	end_t + :t, exe + :paths, cwd + :paths, comm, argv, argv_raw, stdin + :paths, stdout + :paths,
	stderr + :paths FROM one.images;
INSERT INTO main.environs SELECT image + :images, name, value FROM one.environs;
INSERT INTO main.figures SELECT process + :processes, cpu_ns, utime_ns, stime_ns, vmpeak_bytes,
	rsspeak_bytes, read_char, write_char, read_bytes, write_bytes, nvcsw, nivcsw, minflt, majflt,
	cpu_delay_ns, blkio_delay_ns, swapin_delay_ns, reclaim_delay_ns FROM one.figures;
INSERT INTO main.spent SELECT image + :images, cpu_ns, utime_ns, stime_ns, read_char, write_char, read_bytes,
	write_bytes, minflt, majflt FROM one.spent;
INSERT INTO main.samples SELECT process + :processes, t + :t, rss, cpu FROM one.samples;

INSERT INTO main.threads SELECT id + :threads, iif(image, image + :images, image), tid FROM one.threads;
INSERT INTO main.ways SELECT id + :ways, flags, mode, fidelity, mapped FROM one.ways;
INSERT INTO main.handles SELECT h.id + :handles, iif(image, image + :images, image), s.new, path + :paths,
	version, way + :ways, open_t + :t, life
FROM one.handles h LEFT JOIN same s ON s.old = h.file;
INSERT INTO main.moved SELECT handle + :handles, iif(image > 0, image + :images, image), version, nread, bread,
	nwrite, bwrite, nseek, read_ns, write_ns, back_reads, back_writes, skip_reads, skip_writes,
	first_read, last_read, first_write, last_write FROM one.moved;
INSERT INTO main.uses SELECT handle + :handles, iif(image, image + :images, image), version, nread, bread,
	nwrite, bwrite, nseek, read_ns, write_ns, first_read, last_read, first_write, last_write FROM one.uses;
INSERT INTO main.touches SELECT c.id + :touches, process + :processes, s.new, version, path + :paths, did,
	opens, nmeta, first_t + :t, last_t, io_ns, first_in, first_out, last_out
FROM one.touches c LEFT JOIN same s ON s.old = c.file;
-- Or, of a finished trace, what has been made of them; uses will be added again.
INSERT INTO main.touches SELECT NULL, nullif(process, 0) + :processes, s.new, version, path + :paths, did, opens,
	nmeta, first_t + :t, last_t, touch_ns, first_in, first_out, last_out
FROM one.accesses c LEFT JOIN same s ON s.old = c.file;
INSERT INTO main.ghosts SELECT iif(process, process + :processes, 0), path + :paths, count, first_t + :t
FROM one.ghosts;

INSERT OR REPLACE INTO main.targets SELECT id + :paths, directory + :paths, name + :paths FROM one.targets;
INSERT OR REPLACE INTO main.prerequisites SELECT target + :paths, name + :paths, order_only
FROM one.prerequisites;

INSERT INTO main.ops_handle SELECT id + :ops, code, t, latency, iif(handle, handle + :handles, handle), result,
	offset, length, CASE WHEN who > 0 THEN who + :images WHEN who < 0 THEN who - :threads ELSE who END
FROM one.ops_handle WHERE :with_ops;
INSERT INTO main.ops_name SELECT o.id + :ops, code, t + :t, latency,
	CASE WHEN who > 0 THEN who + :images WHEN who < 0 THEN who - :threads ELSE who END,
	s.new, path + :paths, result
FROM one.ops_name o LEFT JOIN same s ON s.old = o.file WHERE :with_ops;
INSERT INTO main.pieces SELECT op + :ops, n FROM one.pieces WHERE :with_ops;
INSERT INTO main.seconds SELECT op + :ops, path + :paths, s.new
FROM one.seconds o LEFT JOIN same s ON s.old = o.file WHERE :with_ops;
