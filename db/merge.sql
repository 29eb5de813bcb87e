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
		WHERE o.dev = n.dev AND o.ino = n.ino AND NOT o.deleted AND q.path = p.path),
	n.id + :files)
FROM one.files n LEFT JOIN one.paths p ON p.id = n.path;
INSERT INTO main.files SELECT id + :files, path + :paths, dev, ino, mode, mount + :mounts, size_first,
	size_last, created, deleted, versions
FROM one.files JOIN same ON old = id WHERE new = id + :files;
UPDATE main.files SET size_last = coalesce(n.size_last, files.size_last), deleted = n.deleted,
	created = max(files.created, n.created)
FROM one.files n JOIN same ON old = n.id WHERE files.id = new AND new <> n.id + :files;
INSERT INTO main.names SELECT n.id + :names, s.new, path + :paths, from_t + :t, to_t + :t
FROM one.names n LEFT JOIN same s ON s.old = n.file;

INSERT INTO main.processes SELECT id + :processes, pid, ppid, parent + :processes, uid, gid, start_t + :t,
	end_t + :t, exit_code, exit_signal, image + :images, cgroup, tier FROM one.processes;
INSERT INTO main.images SELECT id + :images, process + :processes, seq, base + :images, start_t + :t,
	end_t + :t, exe + :paths, cwd + :paths, comm, argv, argv_raw, stdin + :paths, stdout + :paths,
	stderr + :paths FROM one.images;
INSERT INTO main.environs SELECT image + :images, name, value FROM one.environs;
INSERT INTO main.figures SELECT process + :processes, cpu_ns, utime_ns, stime_ns, vmpeak_bytes,
	rsspeak_bytes, read_char, write_char, read_bytes, write_bytes, nvcsw, nivcsw, minflt, majflt,
	cpu_delay_ns, blkio_delay_ns, swapin_delay_ns, reclaim_delay_ns FROM one.figures;
INSERT INTO main.samples SELECT process + :processes, t + :t, rss, cpu FROM one.samples;

INSERT INTO main.handles SELECT h.id + :handles, iif(image, image + :images, image), s.new, path + :paths,
	version, flags, mode, fidelity, open_t + :t, close_t + :t, nread, bread, nwrite, bwrite, nseek,
	read_ns, write_ns, sequential_reads, sequential_writes, consecutive_reads, consecutive_writes,
	mapped
FROM one.handles h LEFT JOIN same s ON s.old = h.file;
INSERT INTO main.uses SELECT u.id + :uses, iif(handle, handle + :handles, handle),
	iif(image, image + :images, image), s.new, version, nread, bread, nwrite, bwrite, nseek,
	first_read + :t, last_read + :t, first_write + :t, last_write + :t, read_ns, write_ns
FROM one.uses u LEFT JOIN same s ON s.old = u.file;
INSERT INTO main.touches SELECT c.id + :touches, process + :processes, s.new, version, path + :paths, opens,
	created, truncated, renamed, unlinked, executed, mapped, assumed, nmeta, first_t + :t, last_t + :t,
	io_ns, first_in + :t, first_out + :t, last_out + :t, emptied
FROM one.touches c LEFT JOIN same s ON s.old = c.file;
-- Or, of a finished trace, what has been made of them; uses will be added again.
INSERT INTO main.touches SELECT NULL, nullif(process, 0) + :processes, s.new, version, path + :paths, opens,
	created, truncated, renamed, unlinked, executed, mapped,
	assumed_read + 2 * assumed_write + uncounted, nmeta, first_t + :t, last_t + :t,
	touch_ns, first_in + :t, first_out + :t, last_out + :t, emptied
FROM one.accesses c LEFT JOIN same s ON s.old = c.file;
INSERT INTO main.ghosts SELECT id + :ghosts, process + :processes, path + :paths, count, first_t + :t
FROM one.ghosts;

INSERT OR REPLACE INTO main.targets SELECT id + :paths, directory + :paths, name + :paths FROM one.targets;
INSERT OR REPLACE INTO main.prerequisites SELECT target + :paths, name + :paths, order_only
FROM one.prerequisites;

INSERT INTO main.ops_handle SELECT id + :ops, code, t, latency, iif(image, image + :images, image),
	iif(handle, handle + :handles, handle), result, offset, length, version, tid
FROM one.ops_handle WHERE :with_ops;
INSERT INTO main.ops_name SELECT o.id + :ops, code, t + :t, latency, iif(image, image + :images, image),
	s.new, path + :paths, result, offset, length, version, tid, path2 + :paths, s2.new
FROM one.ops_name o LEFT JOIN same s ON s.old = o.file LEFT JOIN same s2 ON s2.old = o.file2
WHERE :with_ops;
