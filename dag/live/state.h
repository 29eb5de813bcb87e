/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_STATE_H
#define DAG_LIVE_STATE_H

/*
 * What is known of a run at one moment: what the panels show.  One look at the trace makes one state, which does not change
 * afterwards; all of it lies in its arena.
 *
 * Texts are bytes as they are in the trace.  Unknown are: NULL, negative integers, NAN.  Rates are per second of the interval
 * that ended with the look: from the look before, or from the start of the run.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "dag/live/live.h"

enum live_is { LIVE_RUNS, LIVE_COMPLETES, LIVE_FINISHED, LIVE_ABANDONED };

struct live_process {
	int64_t id, pid, parent; /* parent: its id */
	int64_t start_ns, end_ns; /* end_ns < 0: it runs */
	int64_t exit_code, exit_signal;
	int64_t cpu_ns, rss_bytes;
	double cpu;		    /* processors used: 1 is all of one */
	double read_rate, write_rate; /* bytes per second */
	int64_t operations;	    /* in the interval */
	const char *program, *command, *cwd;
};

struct live_kind {
	const char *name;
	int64_t count, failed; /* in the interval */
	int64_t total;	       /* in all intervals so far */
	int64_t bytes;	       /* in the interval; < 0: this kind moves none */
	double rate, p50_ns, p99_ns;
};

struct live_file {
	const char *path;
	int64_t operations;
	double read_rate, write_rate;
};

/* A failed operation, or a process that ended with a status or by a signal. */
struct live_error {
	int64_t time_ns, pid;
	const char *program, *what, *path;
	int error;		   /* errno; 0: it is an end */
	int64_t exit_code, exit_signal;
};

/* An operation that goes on, and since when it has been seen. */
struct live_wait {
	int64_t pid, tid, for_ns;
	enum live_wait_kind kind;
	const char *program, *what, *path;
};

struct live_phase {
	const char *name;
	int64_t jobs, running, processes; /* jobs: all so far */
	int64_t wanted; /* jobs, in an earlier run; < 0: there is none, or not this phase */
};

struct live_state {
	enum live_is is;
	const char *trace, *command, *host;
	int64_t exit_status;
	int64_t start_ns, end_ns; /* since the epoch; end_ns: until when the trace tells */
	int64_t seen_ns;	  /* when it was looked at, monotonic */
	double interval_s;
	bool is_whole_run; /* the interval begins with the run */
	bool has_files;	   /* operations are recorded */
	bool has_single;   /* one by one */
	bool has_bytes;	   /* with what was read and written */
	int64_t operations, lost;
	double rate, read_rate, write_rate;
	int64_t n_running, n_all; /* processes */
	const char *stopped;	  /* why recording has stopped */

	struct live_process *processes; /* all that run, and those that ended last */
	struct live_kind *kinds;	/* by count */
	struct live_file *files;	/* most bytes first */
	struct live_error *errors;	/* the newest first */
	struct live_wait *waits;	/* those of a second and more, the longest first */
	bool has_waits;			/* false: it is not known what processes wait for */
	int32_t n_processes, n_kinds, n_files, n_errors, n_waits;
	struct arena memory;
};

/* Looked at by themselves, because they take longer. */
struct live_phases {
	struct live_phase *phases; /* in the order in which they began */
	int32_t n;
	int64_t to_come, end_ns; /* by an earlier run: jobs that have not begun; the end, since the epoch */
	int64_t seen_ns; /* monotonic */
	struct arena memory;
};

/* An open file: what was read and written through it, and where the last of these ended. */
struct live_open {
	int64_t handle, read, written, at;
	const char *path;
};

struct live_operation {
	int64_t start_ns, latency_ns, bytes, offset;
	int64_t result; /* -errno, or what it returned */
	const char *name, *path;
};

/* What is looked up of one process. */
struct live_one {
	int64_t process;
	struct live_open *open; /* the ones used last first; of a process that got them from its parent, they are with that */
	struct live_operation *operations; /* the newest first */
	int32_t n_open, n_operations;
	int64_t all_open;
	struct arena memory;
};

/* NULL is fine. */
void live_one_free(struct live_one *one);
void live_state_free(struct live_state *state);
void live_phases_free(struct live_phases *phases);

#endif
