-- SPDX-License-Identifier: MIT
--
-- The facts of a trace, as they are stored.  What they mean is said by the views in views.sql,
-- which are the public interface (ftrac-db(5)); these tables may change with any release.
--
-- Times: nanoseconds since the start of the run (meta 'start_ns'), on the monotonic clock;
-- processes that were there before have negative ones.  Numbers are kept small: SQLite stores an
-- integer in 0 to 8 bytes as it needs them, 0, 1 and NULL in none, so what can be derived is NULL:
-- a thread id that is the process id, an asked length that was moved in full.
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

CREATE TABLE files (
	id INTEGER PRIMARY KEY, path INTEGER, dev INTEGER, ino INTEGER, mode INTEGER,
	mount INTEGER, size_first INTEGER, size_last INTEGER,
	created INTEGER, deleted INTEGER, versions INTEGER);

CREATE TABLE names (
	id INTEGER PRIMARY KEY, file INTEGER, path INTEGER, from_t INTEGER, to_t INTEGER);

CREATE TABLE processes (
	id INTEGER PRIMARY KEY, pid INTEGER, ppid INTEGER, parent INTEGER, uid INTEGER, gid INTEGER,
	start_t INTEGER, end_t INTEGER, exit_code INTEGER, exit_signal INTEGER,
	image INTEGER, -- the last one
	cgroup TEXT, tier INTEGER);

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

CREATE TABLE samples (process INTEGER, t INTEGER, rss INTEGER, cpu INTEGER);

-- Operations on an open handle, and its open.  code: op_name + 64 * via_name; t: since the open of
-- the handle; image: NULL if it is the one that opened, 0 if it is not known; tid: NULL if it is the
-- process id, 0 if it is not known.
CREATE TABLE ops_handle (
	id INTEGER PRIMARY KEY, code INTEGER, t INTEGER, latency INTEGER, image INTEGER,
	handle INTEGER, result INTEGER, offset INTEGER, length INTEGER, version INTEGER, tid INTEGER);

-- All others: on names, and on files by name.  Both tables count their ids together.
CREATE TABLE ops_name (
	id INTEGER PRIMARY KEY, code INTEGER, t INTEGER, latency INTEGER, image INTEGER,
	file INTEGER, path INTEGER, result INTEGER, offset INTEGER, length INTEGER, version INTEGER,
	tid INTEGER, path2 INTEGER, file2 INTEGER);

-- Sums over all who used it; uses has the parts.
CREATE TABLE handles (
	id INTEGER PRIMARY KEY, image INTEGER, file INTEGER, path INTEGER, version INTEGER,
	flags INTEGER, mode INTEGER, fidelity INTEGER, open_t INTEGER, close_t INTEGER,
	nread INTEGER, bread INTEGER, nwrite INTEGER, bwrite INTEGER, nseek INTEGER,
	read_ns INTEGER, write_ns INTEGER,
	sequential_reads INTEGER, sequential_writes INTEGER,
	consecutive_reads INTEGER, consecutive_writes INTEGER, mapped INTEGER);

CREATE TABLE uses (
	id INTEGER PRIMARY KEY, handle INTEGER, image INTEGER, file INTEGER, version INTEGER,
	nread INTEGER, bread INTEGER, nwrite INTEGER, bwrite INTEGER, nseek INTEGER,
	first_read INTEGER, last_read INTEGER, first_write INTEGER, last_write INTEGER,
	read_ns INTEGER, write_ns INTEGER);

-- What a process did to a version of a file other than reading and writing it.
CREATE TABLE touches (
	id INTEGER PRIMARY KEY, process INTEGER, file INTEGER, version INTEGER, path INTEGER,
	opens INTEGER, created INTEGER, truncated INTEGER, renamed INTEGER, unlinked INTEGER,
	executed INTEGER, mapped INTEGER, assumed INTEGER, nmeta INTEGER,
	first_t INTEGER, last_t INTEGER, io_ns INTEGER,
	first_in INTEGER, first_out INTEGER, last_out INTEGER, -- as in accesses
	emptied INTEGER); -- truncated to nothing

CREATE TABLE ghosts (
	id INTEGER PRIMARY KEY, process INTEGER, path INTEGER, count INTEGER, first_t INTEGER);

-- What a build says of itself (declared.h): the prerequisites of each target whose recipe ran.  All are
-- paths; id: directory and name, joined.
CREATE TABLE targets (id INTEGER PRIMARY KEY, directory INTEGER, name INTEGER);
CREATE TABLE prerequisites (
	target INTEGER, name INTEGER, order_only INTEGER, PRIMARY KEY (target, name)) WITHOUT ROWID;

-- What finish.sql works out when the run has ended; empty until then.
CREATE TABLE jobs (
	process INTEGER PRIMARY KEY, job, xform, phase, lstart INTEGER, lstop INTEGER);

-- Uses and touches together; process is 0 where it is not known.
CREATE TABLE accesses (
	process INTEGER, file INTEGER, version INTEGER, path INTEGER, opens INTEGER,
	nread INTEGER, bread INTEGER, nwrite INTEGER, bwrite INTEGER,
	created INTEGER, truncated INTEGER, renamed INTEGER, unlinked INTEGER, executed INTEGER,
	mapped INTEGER, assumed_read INTEGER, assumed_write INTEGER, uncounted INTEGER,
	nmeta INTEGER, first_t INTEGER, last_t INTEGER, io_ns INTEGER,
	touch_ns INTEGER, -- that part of io_ns that is of touches
	first_in INTEGER, first_out INTEGER, last_out INTEGER, -- when data came from the file, and went to it
	emptied INTEGER,
	PRIMARY KEY (file, process, version)) WITHOUT ROWID;

-- Small, and without them nobody could ask who belongs to whom while the run goes on.
CREATE INDEX processes_parent ON processes (parent);
CREATE INDEX images_process ON images (process, seq);
