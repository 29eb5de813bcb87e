-- SPDX-License-Identifier: MIT
--
-- The facts of a trace as they are stored.  The views in views.sql are the public interface (ftrac-db(5)); these tables
-- may change with any release.
--
-- Times (*_t): nanoseconds since the start of the run (meta 'start_ns'), on the monotonic clock;
-- processes that are older than the run have negative ones.  Numbers are kept small: SQLite stores an
-- integer in 0 to 8 bytes as needed, 0, 1 and NULL in none, and adds a byte for each column.  So a value
-- that can be derived is NULL, rare values have a table of their own, and long values that repeat are ids
-- of rows.
--
-- Each text is stored once: a path is a row of paths, a forked image refers to the image that it inherited.

PRAGMA user_version = 1; -- the version of the views

CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- For a trace merged from several: the first process of each run.
CREATE TABLE runs (first_process INTEGER PRIMARY KEY, host TEXT, job, xform,
	fidelity TEXT);

-- The same, of each trace: where its files and processes begin, and its facts.  merged: the same number of those that were merged before.
CREATE TABLE parts (first_file INTEGER, part INTEGER, first_process INTEGER, merged INTEGER, PRIMARY KEY (first_file, part)) WITHOUT ROWID;
CREATE TABLE part_facts (part INTEGER, key TEXT, value, PRIMARY KEY (part, key)) WITHOUT ROWID;

-- Files of two of them that may be one, and count as two.  verdict: why they do, and the fact that has their number.
CREATE TABLE doubts (verdict TEXT, path INTEGER, file INTEGER, other INTEGER);

-- Processes of merged traces that those of other ones have started (merge_starts.h).  parent NULL: not known; began_in: the part that has it;
-- candidates: how many may have.
CREATE TABLE starts (process INTEGER PRIMARY KEY, parent INTEGER, began_in INTEGER, reason TEXT, candidates INTEGER);

-- What the clocks of the machine showed (clock_notes.h).  part: of merged traces, else 0; wall: the wall clock, since the time of the row
-- by the trace; boot: when the machine was booted, by the wall clock, in ns since the epoch; error: at most, as the kernel has it.
CREATE TABLE clocks (part INTEGER, t INTEGER, wall INTEGER, boot INTEGER, synchronized INTEGER, error INTEGER,
	PRIMARY KEY (part, t)) WITHOUT ROWID;

-- The clocks of merged traces (merge_clocks.h).  name: a host; offset: what its times were corrected by; uncertainty: how wrong that may
-- be; contradiction: how far what hosts read of each other contradicts all offsets; NULL: it does not.
CREATE TABLE hosts (name TEXT, boot_id TEXT, offset INTEGER, uncertainty INTEGER, contradiction INTEGER);

CREATE TABLE op_name (code INTEGER PRIMARY KEY, name TEXT NOT NULL, paratrac TEXT);
CREATE TABLE via_name (code INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE fidelity_name (code INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE flag_text (flags INTEGER PRIMARY KEY, text TEXT NOT NULL);

-- The view paths has them together.  path: ends with a slash; one may have several ids.  directory: NULL: name is all of the path.  name: TEXT,
-- or BLOB where it is not UTF-8.
CREATE TABLE directories (id INTEGER PRIMARY KEY, path TEXT NOT NULL);
CREATE TABLE path_names (id INTEGER PRIMARY KEY, directory INTEGER, name NOT NULL);

-- id: the kernel's mount id at the time; the kernel may use it again for a later mount.
-- root: the directory of the file system that is mounted; source: a device, server:/directory or another name; fsid: what identifies the
-- file system on all machines (mountinfo.h).
CREATE TABLE mounts (id INTEGER PRIMARY KEY, fstype TEXT, path, root, source, fsid TEXT);

-- Tuples that many files share.
CREATE TABLE kinds (id INTEGER PRIMARY KEY, dev INTEGER, mode INTEGER, mount INTEGER);

-- ino and size_first: NULL if no event had the inode; size_last: NULL if it is size_first; state: 1 created, 2 deleted; birth: ns since the epoch, NULL if the file system
-- has no such time.
CREATE TABLE files (
	id INTEGER PRIMARY KEY, path INTEGER, kind INTEGER, ino INTEGER, size_first INTEGER,
	size_last INTEGER, state INTEGER, birth INTEGER);

CREATE TABLE names (
	file INTEGER, path INTEGER, from_t INTEGER, to_t INTEGER,
	PRIMARY KEY (file, path, from_t)) WITHOUT ROWID;

CREATE TABLE processes (
	id INTEGER PRIMARY KEY, pid INTEGER, ppid INTEGER, parent INTEGER, uid INTEGER, gid INTEGER,
	start_t INTEGER, end_t INTEGER, exit_code INTEGER, exit_signal INTEGER,
	image INTEGER, -- the last one
	cgroup INTEGER, -- a path
	tier INTEGER);

-- base: the image from which this one inherited its texts by a fork.
CREATE TABLE images (
	id INTEGER PRIMARY KEY, process INTEGER, seq INTEGER, base INTEGER,
	start_t INTEGER, end_t INTEGER, exe INTEGER, cwd INTEGER, comm TEXT,
	argv TEXT,      -- JSON array
	argv_raw BLOB,  -- only if it cannot be derived from argv
	stdin INTEGER, stdout INTEGER, stderr INTEGER); -- paths

CREATE TABLE environs (image INTEGER, name TEXT, value, PRIMARY KEY (image, name)) WITHOUT ROWID;

-- Resources that a process used in its life; NULL: not known.  The columns are those of figures.h.
CREATE TABLE figures (
	process INTEGER PRIMARY KEY, cpu_ns INTEGER, utime_ns INTEGER, stime_ns INTEGER,
	vmpeak_bytes INTEGER, rsspeak_bytes INTEGER, read_char INTEGER, write_char INTEGER,
	read_bytes INTEGER, write_bytes INTEGER, nvcsw INTEGER, nivcsw INTEGER,
	minflt INTEGER, majflt INTEGER, cpu_delay_ns INTEGER, blkio_delay_ns INTEGER,
	swapin_delay_ns INTEGER, reclaim_delay_ns INTEGER,
	threads_ns INTEGER, running_ns INTEGER, file_ns INTEGER, pipe_ns INTEGER, socket_ns INTEGER, lock_ns INTEGER,
	child_ns INTEGER, sleep_ns INTEGER, event_ns INTEGER, memory_ns INTEGER, stopped_ns INTEGER, other_ns INTEGER);

-- Resources that the process had used when the image began; for images that began by an exec.
CREATE TABLE spent (
	image INTEGER PRIMARY KEY, cpu_ns INTEGER, utime_ns INTEGER, stime_ns INTEGER,
	read_char INTEGER, write_char INTEGER, read_bytes INTEGER, write_bytes INTEGER,
	minflt INTEGER, majflt INTEGER);

-- Bytes that the kernel read of the program and its loader when the image began, where that is known.
CREATE TABLE loaded (image INTEGER PRIMARY KEY, bytes INTEGER);

CREATE TABLE samples (
	process INTEGER, t INTEGER, rss INTEGER, cpu INTEGER, PRIMARY KEY (process, t)) WITHOUT ROWID;

-- Threads that are not the first of their process, or whose process (image 0) or id (tid 0) is not known.
CREATE TABLE threads (id INTEGER PRIMARY KEY, image INTEGER, tid INTEGER);

-- Operations on an open handle, except those that are in its row.
--   code       op_name + 64 * via_name + 256 if the thread is not known + 512 * (how many versions of the
--              file later than at the open)
--   t          since the open of the handle
--   length     requested, if not moved in full; above 2^62, minus 2^63; of operations that name a range: 128 * its length + the flags of
--              ranges
--   requester  an image: in its first thread; NULL: the image and thread that opened the handle; 0: not known;
--              negative: row of threads
-- No indexes: queries of operations read all of them.
CREATE TABLE ops_handle (
	id INTEGER PRIMARY KEY, code INTEGER, t INTEGER, latency INTEGER, handle INTEGER,
	result INTEGER, offset INTEGER, length INTEGER, requester INTEGER);

-- All others: on names, and on files by name.  All tables share one sequence of ids.  code: as above, but
-- versions count from the first; t: since the start of the run; requester: NULL: not known.
CREATE TABLE ops_name (
	id INTEGER PRIMARY KEY, code INTEGER, t INTEGER, latency INTEGER, requester INTEGER,
	file INTEGER, path INTEGER, result INTEGER);

-- Reads and writes that the kernel sent as several requests, and their number; NULL: not known.
CREATE TABLE pieces (op INTEGER PRIMARY KEY, n INTEGER);

-- The ranges of mmap, munmap, msync, mprotect, mremap and lock that ops_handle does not have: of operations on names, and very
-- long ones.  flags: of mmap and mprotect, 1 to read, 2 to write, 4 to execute, 8 shared.  Of locks: type (0 to read, 1 to
-- write, 2 unlock) + 4 (of the process), 8 (of the description) or 16 (of the file) + 32 if the call waits + 64 if it only
-- asks.
CREATE TABLE ranges (op INTEGER PRIMARY KEY, offset INTEGER, length INTEGER, flags INTEGER);

-- The path2 and file2 of operations on names.
CREATE TABLE second_operands (op INTEGER PRIMARY KEY, path INTEGER, file INTEGER);

-- Tuples of how files are opened, used and closed.  open, close, data: the codes of the operations in the rows of the handle and of moved,
-- as in ops_handle.  thread: the row of the thread that opened it; NULL: the first one of the image.  result: of the open.
CREATE TABLE ways (
	id INTEGER PRIMARY KEY, flags INTEGER, mode INTEGER, fidelity INTEGER, mapped INTEGER,
	open INTEGER, close INTEGER, data INTEGER, thread INTEGER, result INTEGER);

-- The open, and the first close and the first getattr by the thread that opened it, are part of the row, which takes less than rows of
-- their own.
--   life       from the open to the end
--   open_op    the id of the open; NULL: it has a row in ops_handle, or none
--   close_op   the id of the close, since open_op; NULL: as above
--   stat_op    the id of the getattr, since open_op; NULL: as above
--   stat_t     since the open
--   close_t    from the close to the end of the handle, NULL if that is the latency; while the end is not known, from the open to the
--              close
CREATE TABLE handles (
	id INTEGER PRIMARY KEY, image INTEGER, file INTEGER, path INTEGER, version INTEGER,
	way INTEGER, open_t INTEGER, life INTEGER, open_op INTEGER, open_latency INTEGER,
	close_op INTEGER, close_t INTEGER, close_latency INTEGER, stat_op INTEGER, stat_t INTEGER, stat_latency INTEGER);

-- Sums of reads and writes through a handle, if there were any.
--   first_              since the open
--   last_               since the first; of reads from pipes, sockets and character devices: the end of the last
-- The first operation that moved data, if the thread that opened the handle made it, of the version of the open:
--   data_op             its id, since open_op; NULL: it has a row in ops_handle, or none
--   data_t              since the open; NULL: the earlier one of first_read and first_write
--   data_latency        NULL: read_ns + write_ns
--   data_result         NULL: bread + bwrite
--   data_offset, data_length  as in ops_handle
CREATE TABLE moved (
	handle INTEGER PRIMARY KEY, nread INTEGER, bread INTEGER, nwrite INTEGER, bwrite INTEGER, read_ns INTEGER, write_ns INTEGER,
	first_read INTEGER, last_read INTEGER, first_write INTEGER, last_write INTEGER,
	data_op INTEGER, data_t INTEGER, data_latency INTEGER, data_result INTEGER, data_offset INTEGER, data_length INTEGER);

-- The same, where the reads and writes were not those of the image and the version of the open, or not all consecutive.
--   image, version      of the use, NULL: those of the open; image -1: uses has the parts; 0: not known
--   back, skip          how many of the reads and writes were not sequential, not consecutive
CREATE TABLE moved_otherwise (
	handle INTEGER PRIMARY KEY, image INTEGER, version INTEGER, nseek INTEGER,
	back_reads INTEGER, back_writes INTEGER, skip_reads INTEGER, skip_writes INTEGER);

-- The parts, if several images or versions used the handle.  image 0: not known.
CREATE TABLE uses (
	handle INTEGER, image INTEGER, version INTEGER,
	nread INTEGER, bread INTEGER, nwrite INTEGER, bwrite INTEGER, nseek INTEGER,
	read_ns INTEGER, write_ns INTEGER,
	first_read INTEGER, last_read INTEGER, first_write INTEGER, last_write INTEGER,
	PRIMARY KEY (handle, image, version)) WITHOUT ROWID;

-- Everything that a process did to a version of a file except reading and writing; see accesses.  There may be
-- several rows, which are added up; the path is that of the last row that has one.  sum.sql moves them to accesses.
CREATE TABLE touches (
	id INTEGER PRIMARY KEY, process INTEGER, file INTEGER, version INTEGER, path INTEGER,
	did INTEGER, opens INTEGER, nmeta INTEGER, first_t INTEGER, last_t INTEGER,
	first_in INTEGER, first_out INTEGER, last_out INTEGER);

-- The ends of sockets, each time when more of them was known.  family: AF_*; kind: SOCK_*; local, remote: addresses, as
-- paths; received: remote is where data came from; peer: the file at the other end, where the kernel told it; host: of several
-- traces that were merged.
CREATE TABLE sockets (
	file INTEGER, t INTEGER, family INTEGER, kind INTEGER, local INTEGER, remote INTEGER, received INTEGER, peer INTEGER,
	host TEXT);

-- Threads that make calls of layers: a thread of one program; after an exec it is another one.  image: set at the end.
CREATE TABLE callers (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, t INTEGER, image INTEGER);

-- Calls of layers above the operations.  Their ids are of the sequence of all operations.
--   code     call_name
--   parent   the call inside of which it was made
--   path     that it names, as the program gave it
--   length   asked, if the result is another one; of calls that move bytes
--   file     of all operations below it, if that is one; set at the end
CREATE TABLE call_name (code INTEGER PRIMARY KEY, name TEXT NOT NULL, layer TEXT NOT NULL, class TEXT NOT NULL, moves INTEGER,
	collective INTEGER);
CREATE TABLE calls (
	id INTEGER PRIMARY KEY, code INTEGER, caller INTEGER, parent INTEGER, t INTEGER, latency INTEGER, fd INTEGER, path INTEGER,
	offset INTEGER, length INTEGER, result INTEGER, handle INTEGER, file INTEGER);

-- What is known of calls of MPI-IO beside that (db/layers.h).
--   opened   the same number in all processes of one job that have opened the file together
--   seq      of a collective call, on that file
--   shared   the first row of one collective call; set at the end
CREATE TABLE mpi_calls (call INTEGER PRIMARY KEY, opened INTEGER, seq INTEGER, rank INTEGER, size INTEGER, shared INTEGER);

-- Rows of calls that are several ones, which were added up: their latency and result are sums, if these are known.
--   last_end   of those that were measured; NULL: they only copied, and no operation is below them
CREATE TABLE call_sums (call INTEGER PRIMARY KEY, calls INTEGER, last_end INTEGER, least INTEGER, most INTEGER);

-- The call inside of which an operation was made; set at the end.
CREATE TABLE op_parents (op INTEGER PRIMARY KEY, call INTEGER);

-- What block devices did for files; completed: how many have ended, of which latency is the sum.  pid NULL: for an unknown
-- process; process: set at the end.
CREATE TABLE devices (
	file INTEGER, pid INTEGER, process INTEGER, writes INTEGER, operations INTEGER, bytes INTEGER, completed INTEGER, latency INTEGER,
	first_t INTEGER, last_t INTEGER);

-- Missing names: looked up, but nonexistent.  process 0: not known.
CREATE TABLE missing_names (
	process INTEGER, path INTEGER, count INTEGER, first_t INTEGER, PRIMARY KEY (process, path)) WITHOUT ROWID;

-- All recorded operations of a process: how many, and the sum of their latencies.  process 0: not known.
CREATE TABLE op_times (process INTEGER PRIMARY KEY, ops INTEGER, ns INTEGER);

-- Operations of each interval, counted (metrics.h).  Rows of one combination may be several, which are added up.
--   grid             the intervals: the first one begins at t and each lasts step
--   n                of the interval in which they began, from 0
--   process          0: not known
--   mount            negative: that of the file with this number; NULL: not known
--   bytes            NULL: none moved data
--   first_t          when the first of them began, since the begin of the interval
--   latencies, sizes histograms, by classes: class 0 is 0, class c is from 2^(c-1) to below 2^c.  An integer: all 'count' are of this
--                    class; a text: a class, and the counts from it on; NULL: there are none
CREATE TABLE metric_grids (id INTEGER PRIMARY KEY, t INTEGER, step INTEGER);
CREATE TABLE metrics (
	grid INTEGER, n INTEGER, process INTEGER, mount INTEGER, code INTEGER, count INTEGER, errors INTEGER, bytes INTEGER, ns INTEGER,
	first_t INTEGER, latencies, sizes);

-- Declared prerequisites of a build (declared.h), for each target whose recipe ran.  All columns are paths;
-- id: directory and name, joined; rule: the name with % for the stem, NULL: it has none.
CREATE TABLE targets (id INTEGER PRIMARY KEY, directory INTEGER, name INTEGER, rule INTEGER);
CREATE TABLE prerequisites (
	target INTEGER, name INTEGER, order_only INTEGER, PRIMARY KEY (target, name)) WITHOUT ROWID;

-- Rules of workflow managers (rules.h), and the files (paths) that they make.
CREATE TABLE outputs (path INTEGER PRIMARY KEY, rule);
CREATE TABLE rules (process INTEGER PRIMARY KEY, rule, task);

-- finish.sql fills this table at the end of the run; it is empty until then.
CREATE TABLE jobs (
	process INTEGER PRIMARY KEY, job, xform, phase, lstart INTEGER, lstop INTEGER, step, task, part INTEGER, label);

-- sum.sql fills the following ones, a part at a time.  These have what is to be done: images with texts, and handles with uses; over: a
-- handle that will not be used again.
CREATE TABLE fresh_images (image INTEGER PRIMARY KEY);
CREATE TABLE fresh_handles (handle INTEGER PRIMARY KEY, over INTEGER);

-- What the view program says of images that are the base of others or have none.  title: NULL if it is the name; kind: bits: 1 shell,
-- 2 script, 4 driver, 8 own, 16 helper.
CREATE TABLE programs (image INTEGER PRIMARY KEY, name TEXT, title TEXT, kind INTEGER);

-- Touches, and uses of handles that are over; process is 0 where it is not known.
--   did       bits: 1 created, 2 truncated, 4 renamed, 8 unlinked, 16 executed, 32 mapped, 64 emptied,
--             128 * enum assumed (touches.h)
--   path      of touches
--   used      that of uses, which counts if it is the larger number; NULL at the end of the run if it is the same
--   last_t, first_in, first_out  since first_t: when data came from the file, and went to it
--   last_out  since first_out
CREATE TABLE accesses (
	file INTEGER, process INTEGER, version INTEGER, path INTEGER, did INTEGER, opens INTEGER,
	nread INTEGER, bread INTEGER, nwrite INTEGER, bwrite INTEGER, nmeta INTEGER,
	first_t INTEGER, last_t INTEGER, io_ns INTEGER,
	first_in INTEGER, first_out INTEGER, last_out INTEGER, used INTEGER,
	PRIMARY KEY (file, process, version)) WITHOUT ROWID;

-- Small, and needed by queries of process trees while the run goes on.
CREATE INDEX processes_parent ON processes (parent);
CREATE INDEX images_process ON images (process, seq);
