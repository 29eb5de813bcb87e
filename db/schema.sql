-- SPDX-License-Identifier: MIT
--
-- The facts of a trace, as they are stored.  What they mean is said by the views in views.sql,
-- which are the public interface (ftrac-db(5)); these tables may change with any release.
--
-- Times (*_t): nanoseconds since the start of the run (meta 'start_ns'), on the monotonic clock;
-- processes that were there before have negative ones.  Numbers are kept small: SQLite stores an
-- integer in 0 to 8 bytes as it needs them, 0, 1 and NULL in none, and a byte for each column in any
-- case.  So what can be derived is NULL, what is seldom there has a table of its own, what is long and
-- repeats is the number of a row.
--
-- Texts stand once: a path is a row of paths, a forked image names the image it inherited.

PRAGMA user_version = 1; -- the version of the views

CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- Where a trace was made of several: whose processes begin with which.
CREATE TABLE runs (first_process INTEGER PRIMARY KEY, host TEXT, job, xform,
	fidelity TEXT);

CREATE TABLE op_name (code INTEGER PRIMARY KEY, name TEXT NOT NULL, paratrac TEXT);
CREATE TABLE via_name (code INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE fidelity_name (code INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE flag_text (flags INTEGER PRIMARY KEY, text TEXT NOT NULL);

-- TEXT, or BLOB where it is not UTF-8.
CREATE TABLE paths (id INTEGER PRIMARY KEY, path NOT NULL);

-- id: the kernel's mount id at the time; a mount that came later may have had it again.
CREATE TABLE mounts (id INTEGER PRIMARY KEY, fstype TEXT, path);

-- What many files have in common.
CREATE TABLE kinds (id INTEGER PRIMARY KEY, dev INTEGER, mode INTEGER, mount INTEGER);

-- size_last: NULL if it is size_first; state: 1 created, 2 deleted; birth: ns since the epoch, NULL if the file system
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

-- base: the image whose texts these are, when this one inherited them at a fork.
CREATE TABLE images (
	id INTEGER PRIMARY KEY, process INTEGER, seq INTEGER, base INTEGER,
	start_t INTEGER, end_t INTEGER, exe INTEGER, cwd INTEGER, comm TEXT,
	argv TEXT,      -- JSON array
	argv_raw BLOB,  -- only where it cannot be had from argv
	stdin INTEGER, stdout INTEGER, stderr INTEGER); -- paths

CREATE TABLE environs (image INTEGER, name TEXT, value, PRIMARY KEY (image, name)) WITHOUT ROWID;

-- What a process has used in its life, as far as it is known; the columns are those of figures.h.
CREATE TABLE figures (
	process INTEGER PRIMARY KEY, cpu_ns INTEGER, utime_ns INTEGER, stime_ns INTEGER,
	vmpeak_bytes INTEGER, rsspeak_bytes INTEGER, read_char INTEGER, write_char INTEGER,
	read_bytes INTEGER, write_bytes INTEGER, nvcsw INTEGER, nivcsw INTEGER,
	minflt INTEGER, majflt INTEGER, cpu_delay_ns INTEGER, blkio_delay_ns INTEGER,
	swapin_delay_ns INTEGER, reclaim_delay_ns INTEGER);

-- What the process of an image had used when that image began; of images that began by an exec.
CREATE TABLE spent (
	image INTEGER PRIMARY KEY, cpu_ns INTEGER, utime_ns INTEGER, stime_ns INTEGER,
	read_char INTEGER, write_char INTEGER, read_bytes INTEGER, write_bytes INTEGER,
	minflt INTEGER, majflt INTEGER);

CREATE TABLE samples (
	process INTEGER, t INTEGER, rss INTEGER, cpu INTEGER, PRIMARY KEY (process, t)) WITHOUT ROWID;

-- A thread that is not its process's first, or whose process (image 0) or number (tid 0) is not known.
CREATE TABLE threads (id INTEGER PRIMARY KEY, image INTEGER, tid INTEGER);

-- Operations on an open handle, and its open.
--   code    op_name + 64 * via_name + 256 if the thread is not known + 512 * (how many versions of the
--           file later than at the open)
--   t       since the open of the handle
--   length  asked for, if not moved in full
--   who     NULL: the image that opened, or (image) another one, in its first thread; 0: not known;
--           negative: row of threads
-- No indexes: wherever we look at operations, we look at all of them.
CREATE TABLE ops_handle (
	id INTEGER PRIMARY KEY, code INTEGER, t INTEGER, latency INTEGER, handle INTEGER,
	result INTEGER, offset INTEGER, length INTEGER, who INTEGER);

-- All others: on names, and on files by name.  Both tables count their ids together.  code: as above, and
-- versions are counted from the first; t: since the start of the run; who: NULL: not known.
CREATE TABLE ops_name (
	id INTEGER PRIMARY KEY, code INTEGER, t INTEGER, latency INTEGER, who INTEGER,
	file INTEGER, path INTEGER, result INTEGER);

-- Reads and writes that the kernel has sent in several requests: in how many, NULL if that is not known.
CREATE TABLE pieces (op INTEGER PRIMARY KEY, n INTEGER);

-- Of operations on names: their path2 and file2.
CREATE TABLE seconds (op INTEGER PRIMARY KEY, path INTEGER, file INTEGER);

-- How files are opened.
CREATE TABLE ways (
	id INTEGER PRIMARY KEY, flags INTEGER, mode INTEGER, fidelity INTEGER, mapped INTEGER);

CREATE TABLE handles (
	id INTEGER PRIMARY KEY, image INTEGER, file INTEGER, path INTEGER, version INTEGER,
	way INTEGER, open_t INTEGER, life INTEGER); -- until the close

-- What was read and written through a handle, if anything was.
--   image, version      by whom, of what, NULL: as it was opened; image -1: uses has the parts; 0: not known
--   back, skip          how many of the reads and writes were not sequential, not consecutive
--   first_              since the open
--   last_               since the first
CREATE TABLE moved (
	handle INTEGER PRIMARY KEY, image INTEGER, version INTEGER,
	nread INTEGER, bread INTEGER, nwrite INTEGER, bwrite INTEGER, nseek INTEGER,
	read_ns INTEGER, write_ns INTEGER,
	back_reads INTEGER, back_writes INTEGER, skip_reads INTEGER, skip_writes INTEGER,
	first_read INTEGER, last_read INTEGER, first_write INTEGER, last_write INTEGER);

-- The parts of what several images, or one of several versions, have moved.  image 0: not known.
CREATE TABLE uses (
	handle INTEGER, image INTEGER, version INTEGER,
	nread INTEGER, bread INTEGER, nwrite INTEGER, bwrite INTEGER, nseek INTEGER,
	read_ns INTEGER, write_ns INTEGER,
	first_read INTEGER, last_read INTEGER, first_write INTEGER, last_write INTEGER,
	PRIMARY KEY (handle, image, version)) WITHOUT ROWID;

-- What a process did to a version of a file other than reading and writing it; see accesses.  There may be
-- several rows of it, to be added up; its path is that of the last one that has one.
CREATE TABLE touches (
	id INTEGER PRIMARY KEY, process INTEGER, file INTEGER, version INTEGER, path INTEGER,
	did INTEGER, opens INTEGER, nmeta INTEGER, first_t INTEGER, last_t INTEGER, io_ns INTEGER,
	first_in INTEGER, first_out INTEGER, last_out INTEGER);

-- Names that were looked for and not there.  process 0: not known.
CREATE TABLE ghosts (
	process INTEGER, path INTEGER, count INTEGER, first_t INTEGER, PRIMARY KEY (process, path)) WITHOUT ROWID;

-- All recorded operations of a process: how many, and the sum of their latencies.  process 0: not known.
CREATE TABLE op_times (process INTEGER PRIMARY KEY, ops INTEGER, ns INTEGER);

-- What a build says of itself (declared.h): the prerequisites of each target whose recipe ran.  All are
-- paths; id: directory and name, joined.
CREATE TABLE targets (id INTEGER PRIMARY KEY, directory INTEGER, name INTEGER);
CREATE TABLE prerequisites (
	target INTEGER, name INTEGER, order_only INTEGER, PRIMARY KEY (target, name)) WITHOUT ROWID;

-- What finish.sql works out when the run has ended; empty until then.
CREATE TABLE jobs (
	process INTEGER PRIMARY KEY, job, xform, phase, lstart INTEGER, lstop INTEGER);

-- Uses and touches together; process is 0 where it is not known.
--   did       bits: 1 created, 2 truncated, 4 renamed, 8 unlinked, 16 executed, 32 mapped, 64 emptied,
--             128 * enum assumed (touches.h)
--   touch_ns  that part of io_ns that is of touches
--   last_t, first_in, first_out  since first_t: when data came from the file, and went to it
--   last_out  since first_out
CREATE TABLE accesses (
	file INTEGER, process INTEGER, version INTEGER, path INTEGER, did INTEGER, opens INTEGER,
	nread INTEGER, bread INTEGER, nwrite INTEGER, bwrite INTEGER, nmeta INTEGER,
	first_t INTEGER, last_t INTEGER, io_ns INTEGER, touch_ns INTEGER,
	first_in INTEGER, first_out INTEGER, last_out INTEGER,
	PRIMARY KEY (file, process, version)) WITHOUT ROWID;

-- Small, and without them nobody could ask who belongs to whom while the run goes on.
CREATE INDEX processes_parent ON processes (parent);
CREATE INDEX images_process ON images (process, seq);
