-- SPDX-License-Identifier: MIT
--
-- Adds the trace "one" to the database "main" (merge.c).  Parameters: what to add to ids, and :t to times.  An id of 0 or
-- NULL means there is none, and stays so.

INSERT OR IGNORE INTO main.op_name SELECT * FROM one.op_name;
INSERT OR IGNORE INTO main.via_name SELECT * FROM one.via_name;
INSERT OR IGNORE INTO main.fidelity_name SELECT * FROM one.fidelity_name;
INSERT OR IGNORE INTO main.flag_text SELECT * FROM one.flag_text;

-- Facts that merging makes itself are made anew.
INSERT INTO facts SELECT key, iif(key IN ('start_ns', 'end_ns') AND typeof(value) = 'integer', value + :shift, value) FROM one.meta m
WHERE key NOT IN ('merged', 'clocks_contradict_ms', 'clocks_contradict', 'starts_not_known', 'starts_not_known_path') AND NOT EXISTS (SELECT 1 FROM one.doubts WHERE verdict = m.key OR verdict || '_path' = m.key);
-- The parts of a trace that was merged itself, or the trace as one.
INSERT INTO main.parts SELECT first_file + :files, part + :parts, first_process + :processes, :tag FROM one.parts
	UNION ALL SELECT :files + 1, :parts + 1, :processes + 1, NULL WHERE NOT EXISTS (SELECT 1 FROM one.parts);
INSERT INTO main.part_facts SELECT part + :parts, key, value FROM one.part_facts
	UNION ALL SELECT :parts + 1, key, value FROM one.meta WHERE NOT EXISTS (SELECT 1 FROM one.parts);
INSERT INTO main.clocks SELECT iif(part, part, 1) + :parts, t, wall, boot, synchronized, error FROM one.clocks;
INSERT INTO main.runs SELECT first_process + :processes, host, job, xform, fidelity FROM one.runs;
INSERT INTO main.runs SELECT :processes + 1, (SELECT value FROM one.meta WHERE key = 'host'),
	(SELECT value FROM one.meta WHERE key = 'job'), (SELECT value FROM one.meta WHERE key = 'xform'),
	(SELECT value FROM one.meta WHERE key = 'fidelity')
WHERE EXISTS (SELECT 1 FROM one.processes) AND NOT EXISTS (SELECT 1 FROM one.runs);

INSERT INTO main.directories SELECT id + :directories, path FROM one.directories WHERE NOT :same;
INSERT INTO main.path_names SELECT id + :paths, directory + :directories, name FROM one.path_names WHERE NOT :same;
INSERT INTO main.path_names SELECT id + :paths, NULL, coalesce(same_path((SELECT value FROM one.meta WHERE key = 'host'), path), path) FROM one.paths
WHERE :same;
INSERT INTO main.mounts SELECT id + :mounts, fstype, path, root, source, fsid FROM one.mounts;

-- The files of the trace.  found: the file existed before the trace used it; said: the user has said where it is; loose: its inode number may
-- be another one on another machine.
DELETE FROM came;
INSERT INTO came SELECT n.id, i.place, i.system, k.dev, n.ino, n.birth, n.state & 2, NOT n.state & 1,
	(SELECT min(from_t) + :t FROM one.names WHERE file = n.id), coalesce(i.boot_id, i.host), i.host, 0,
	i.fstype GLOB 'fuse*' AND i.fstype <> 'fuse.ftrac' OR i.fstype IN ('9p', 'cifs', 'smb3')
FROM one.files n JOIN one.file_identity i ON i.file = n.id LEFT JOIN one.kinds k ON k.id = n.kind;
UPDATE came SET place = p.path, system = 'same', said = 1
FROM one.files n JOIN one.paths q ON q.id = n.path JOIN main.paths p ON p.id = n.path + :paths
WHERE :same AND n.id = came.id AND same_path((SELECT value FROM one.meta WHERE key = 'host'), q.path) NOTNULL;

-- The file of earlier traces that each file is.  Traces come in the order of their start, but one that began earlier may
-- have used a file that a later one made.  is_one: whether both are on one file system; of the files of machines that share one, or of one
-- machine that was booted in between, that may not be known; nor if one of two file systems is local, and one trace made the file at the very time that is its birth
-- in the other: a machine may export what is local to it.  Device numbers of different boots are not compared.  Without a birth time
-- the place decides.  A difference of birth times of more than a second means different files.
DELETE FROM known;
INSERT OR IGNORE INTO known
WITH pair AS (SELECT n.id AS old, o.id AS new, n.found, o.found AS o_found, n.first_t, o.first_t AS o_first_t, o.deleted,
		CASE WHEN o.system = n.system THEN 1 WHEN o.host IS n.host THEN o.dev = n.dev WHEN o.system IS NULL OR n.system IS NULL OR
			o.machine = n.machine OR NOT (o.found AND n.found) AND o.birth = n.birth AND
				(o.system = o.host || ' ' || o.dev OR n.system = n.host || ' ' || n.dev) THEN NULL ELSE 0 END AS is_one,
		o.host IS n.host AS is_here, o.ino = n.ino AS is_ino, o.birth = n.birth AS is_birth, o.place = n.place AS is_place,
		o.said AND n.said AND (o.loose OR n.loose) AS is_by_place, o.loose OR n.loose AS is_loose
	FROM came n JOIN before o ON o.ino = n.ino OR o.place = n.place)
SELECT old, new, CASE
		WHEN is_one AND (is_ino AND is_birth OR (is_ino OR is_by_place) AND coalesce(is_birth, 1) AND (is_birth IS NULL OR is_by_place) AND is_place
				AND NOT deleted AND (found OR o_first_t > first_t - 1000000000))
			THEN iif(o_found < found AND o_first_t > first_t + 1000000000 OR
				o_found > found AND first_t > o_first_t + 1000000000, 'files_before_their_time', 'same')
		WHEN is_one IS NULL AND is_ino AND is_birth AND is_place THEN 'same'
		WHEN found AND NOT deleted AND is_place AND is_birth NOTNULL AND (is_one OR is_here)
			THEN iif(is_ino AND is_birth, 'files_on_other_devices', 'files_replaced')
		WHEN found AND NOT deleted AND is_birth IS NULL AND (is_one AND is_ino OR is_one IS NULL AND is_place AND (is_ino OR is_loose))
			THEN 'files_not_known'
	END AS verdict
FROM pair WHERE verdict NOTNULL ORDER BY old, verdict = 'same' DESC, new DESC;
INSERT INTO main.doubts SELECT verdict, f.path + :paths, n.id + :files, o.id
FROM known JOIN came n ON n.id = old JOIN before o ON o.id = new JOIN one.files f ON f.id = n.id
	JOIN one.kinds k ON k.id = f.kind WHERE verdict <> 'same' AND k.mode & 61440 = 32768;
INSERT OR IGNORE INTO shared SELECT new FROM known WHERE verdict = 'same';

-- Versions of shared files carry a tag until versions.sql renumbers them.
DELETE FROM same;
INSERT INTO same SELECT n.id, iif(w.verdict = 'same', w.new, n.id + :files), iif(w.verdict = 'same', :tag, 0)
FROM came n LEFT JOIN known w ON w.old = n.id;
INSERT INTO main.doubts SELECT verdict, path + :paths, (SELECT new FROM same WHERE old = file), (SELECT new FROM same WHERE old = other)
FROM one.doubts;
INSERT INTO changed SELECT s.new, :tag + 1 FROM same s JOIN main.files o ON o.id = s.new JOIN one.files n ON n.id = s.old
WHERE s.tag AND coalesce(o.size_last, o.size_first) <> n.size_first AND (SELECT max(value) FROM facts WHERE key = 'end_ns') <
	(SELECT value + :shift FROM one.meta WHERE key = 'start_ns');

INSERT INTO main.kinds SELECT id + :kinds, dev, mode, mount + :mounts FROM one.kinds;
INSERT INTO main.files SELECT id + :files, path + :paths, kind + :kinds, ino, size_first, size_last, state, birth
FROM one.files JOIN same ON old = id WHERE NOT tag;
-- A file that a trace removed is deleted, unless another trace found it later by another name.
UPDATE main.files SET size_last = coalesce(n.size_last, n.size_first, files.size_last), state = n.state | (files.state & 1) |
	iif(files.state & 2 AND (SELECT max(to_t) FROM main.names WHERE file = files.id) < came.first_t, 0, files.state & 2)
FROM one.files n JOIN same ON old = n.id JOIN came ON came.id = n.id WHERE files.id = new AND tag;
INSERT INTO before SELECT n.id + :files, place, system, dev, ino, birth, deleted, found, first_t, host, machine, said, loose
FROM came n JOIN same s ON s.old = n.id WHERE NOT s.tag;
-- first_t of a file that a trace made: when it did.
UPDATE before SET deleted = (SELECT state & 2 FROM main.files f WHERE f.id = before.id), place = n.place,
	found = before.found AND n.found, first_t = CASE WHEN n.found = before.found THEN min(n.first_t, before.first_t)
		WHEN n.found THEN before.first_t ELSE n.first_t END
FROM same s JOIN came n ON n.id = s.old WHERE s.tag AND before.id = s.new;
INSERT OR REPLACE INTO main.names SELECT s.new, path + :paths, from_t + :t, to_t + :t
FROM one.names n JOIN same s ON s.old = n.file;
-- Files that a trace removed by one name, and regards as kept by another one.
INSERT OR IGNORE INTO kept SELECT s.new FROM one.names n JOIN same s ON s.old = n.file JOIN one.files f ON f.id = n.file
WHERE NOT f.state & 2 AND n.to_t NOTNULL AND NOT EXISTS (SELECT 1 FROM one.names m WHERE m.file = n.file AND m.from_t = n.to_t)
	AND EXISTS (SELECT 1 FROM one.names m WHERE m.file = n.file AND m.to_t IS NULL);

INSERT INTO main.processes SELECT id + :processes, pid, ppid, parent + :processes, uid, gid, start_t + :t,
	end_t + :t, exit_code, exit_signal, image + :images, cgroup + :paths, tier FROM one.processes;
INSERT INTO main.starts SELECT process + :processes, parent + :processes, began_in + :parts, reason, candidates FROM one.starts;
INSERT INTO main.images SELECT id + :images, process + :processes, seq, base + :images, start_t + :t,
	end_t + :t, exe + :paths, cwd + :paths, comm, argv, argv_raw, stdin + :paths, stdout + :paths,
	stderr + :paths FROM one.images;
INSERT INTO main.environs SELECT image + :images, name, value FROM one.environs;
INSERT INTO main.figures SELECT process + :processes, cpu_ns, utime_ns, stime_ns, vmpeak_bytes,
	rsspeak_bytes, read_char, write_char, read_bytes, write_bytes, nvcsw, nivcsw, minflt, majflt,
	cpu_delay_ns, blkio_delay_ns, swapin_delay_ns, reclaim_delay_ns, threads_ns, running_ns, file_ns, pipe_ns, socket_ns,
	lock_ns, child_ns, sleep_ns, event_ns, memory_ns, stopped_ns, other_ns FROM one.figures;
INSERT INTO main.spent SELECT image + :images, cpu_ns, utime_ns, stime_ns, read_char, write_char, read_bytes,
	write_bytes, minflt, majflt FROM one.spent;
INSERT INTO main.loaded SELECT image + :images, bytes FROM one.loaded;
INSERT INTO main.samples SELECT process + :processes, t + :t, rss, cpu FROM one.samples;

INSERT INTO main.threads SELECT id + :threads, iif(image, image + :images, image), tid FROM one.threads;
INSERT INTO main.ways SELECT id + :ways, flags, mode, fidelity, mapped, open, close, data, thread + :threads, result FROM one.ways;
INSERT INTO main.handles SELECT h.id + :handles, iif(image, image + :images, image), s.new, path + :paths,
	version + coalesce(s.tag, 0), way + :ways, open_t + :t, life, iif(:with_ops, open_op + :ops, NULL), open_latency,
	iif(:with_ops, close_op, NULL), close_t, close_latency, iif(:with_ops, stat_op, NULL), stat_t, stat_latency
FROM one.handles h LEFT JOIN same s ON s.old = h.file;
DELETE FROM tags;
INSERT INTO tags SELECT h.id, coalesce(s.tag, 0) FROM one.handles h LEFT JOIN same s ON s.old = h.file;
INSERT INTO main.moved SELECT handle + :handles, nread, bread, nwrite, bwrite, read_ns, write_ns, first_read, last_read, first_write,
	last_write, CASE WHEN :with_ops THEN data_op + iif(h.open_op ISNULL, :ops, 0) END, data_t, data_latency, data_result, data_offset,
	data_length
FROM one.moved m JOIN one.handles h ON h.id = m.handle;
INSERT INTO main.moved_otherwise SELECT handle + :handles, iif(image > 0, image + :images, image), version + t.tag, nseek,
	back_reads, back_writes, skip_reads, skip_writes
FROM one.moved_otherwise JOIN tags t USING (handle);
INSERT INTO main.uses SELECT handle + :handles, iif(image, image + :images, image), version + t.tag, nread, bread,
	nwrite, bwrite, nseek, read_ns, write_ns, first_read, last_read, first_write, last_write FROM one.uses JOIN tags t USING (handle);
-- The rows that sum.sql made of earlier ones come first; the uses in them are added again.  A file that has no row is none that is traced.
INSERT INTO main.touches SELECT NULL, nullif(process, 0) + :processes, s.new, version + coalesce(s.tag, 0), path + :paths, did,
	opens, nmeta, first_t + :t, last_t, first_in, first_out, last_out
FROM one.accesses c JOIN same s ON s.old = c.file;
INSERT INTO main.touches SELECT NULL, process + :processes, s.new, version + coalesce(s.tag, 0), path + :paths, did,
	opens, nmeta, first_t + :t, last_t, first_in, first_out, last_out
FROM one.touches c JOIN same s ON s.old = c.file ORDER BY c.id;
INSERT INTO main.fresh_handles SELECT handle + :handles, 1 FROM one.moved;
INSERT INTO main.programs SELECT image + :images, name, title, kind FROM one.programs;
INSERT INTO main.fresh_images SELECT id + :images FROM one.images WHERE base IS NULL AND (id IN (SELECT image FROM one.fresh_images)
	OR NOT EXISTS (SELECT 1 FROM one.programs WHERE image = id));
INSERT INTO main.devices SELECT s.new, pid, process + :processes, writes, operations, bytes, completed, latency, first_t + :t,
	last_t + :t FROM one.devices d JOIN same s ON s.old = d.file;
INSERT INTO main.sockets SELECT s.new, t + :t, family, kind, local + :paths, remote + :paths, received, p.new,
	coalesce(k.host, (SELECT value FROM one.meta WHERE key = 'host'))
FROM one.sockets k JOIN same s ON s.old = k.file LEFT JOIN same p ON p.old = k.peer;
INSERT INTO main.missing_names SELECT iif(process, process + :processes, 0), path + :paths, count, first_t + :t
FROM one.missing_names;

INSERT INTO main.op_times SELECT iif(process, process + :processes, 0), ops, ns FROM one.op_times WHERE true
	ON CONFLICT DO UPDATE SET ops = ops + excluded.ops, ns = ns + excluded.ns;

INSERT INTO main.metric_grids SELECT id + :grids, t + :t, step FROM one.metric_grids;
INSERT INTO main.metrics SELECT grid + :grids, n, iif(process, process + :processes, 0), iif(mount < 0, -s.new, mount + :mounts), code, count,
	errors, bytes, ns, first_t, latencies, sizes
FROM one.metrics m LEFT JOIN same s ON s.old = -m.mount;

INSERT OR REPLACE INTO main.targets SELECT id + :paths, directory + :paths, name + :paths, rule + :paths FROM one.targets;
INSERT INTO main.rules SELECT process + :processes, rule, task FROM one.rules;
INSERT OR REPLACE INTO main.prerequisites SELECT target + :paths, name + :paths, order_only
FROM one.prerequisites;

INSERT OR IGNORE INTO main.call_name SELECT * FROM one.call_name;
INSERT INTO main.callers SELECT id + :callers, pid, tid, t + :t, image + :images FROM one.callers WHERE :with_ops;
INSERT INTO main.calls SELECT id + :ops, code, caller + :callers, parent + :ops, t + :t, latency, fd, path + :paths, offset, length,
	result, handle + :handles, s.new
FROM one.calls c LEFT JOIN same s ON s.old = c.file WHERE :with_ops;
INSERT INTO main.mpi_calls SELECT call + :ops, opened, seq, rank, size, shared + :ops FROM one.mpi_calls WHERE :with_ops;
INSERT INTO main.call_sums SELECT call + :ops, calls, last_end + :t, least, most FROM one.call_sums WHERE :with_ops;
INSERT INTO main.op_parents SELECT op + :ops, call + :ops FROM one.op_parents WHERE :with_ops;
INSERT INTO main.ops_handle SELECT id + :ops, code, t, latency, iif(handle, handle + :handles, handle), result,
	offset, length, CASE WHEN requester > 0 THEN requester + :images WHEN requester < 0 THEN requester - :threads ELSE requester END
FROM one.ops_handle WHERE :with_ops;
INSERT INTO main.ops_name SELECT o.id + :ops, code + 512 * coalesce(s.tag, 0), t + :t, latency,
	CASE WHEN requester > 0 THEN requester + :images WHEN requester < 0 THEN requester - :threads ELSE requester END,
	s.new, path + :paths, result
FROM one.ops_name o LEFT JOIN same s ON s.old = o.file WHERE :with_ops;
INSERT OR IGNORE INTO last_ops SELECT :ops + max(coalesce((SELECT max(id) FROM one.ops_handle), 0),
	coalesce((SELECT max(id) FROM one.ops_name), 0), coalesce((SELECT max(id) FROM one.calls), 0), coalesce((SELECT max(open_op + max(coalesce(close_op, 0), coalesce(stat_op, 0))) FROM one.handles), 0),
	coalesce((SELECT max(coalesce(h.open_op, 0) + m.data_op) FROM one.moved m JOIN one.handles h ON h.id = m.handle), 0))
WHERE :with_ops;
INSERT INTO main.pieces SELECT op + :ops, n FROM one.pieces WHERE :with_ops;
INSERT INTO main.ranges SELECT op + :ops, offset, length, flags FROM one.ranges WHERE :with_ops;
INSERT INTO main.second_operands SELECT op + :ops, path + :paths, s.new
FROM one.second_operands o LEFT JOIN same s ON s.old = o.file WHERE :with_ops;
