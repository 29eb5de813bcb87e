/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_PANELS_H
#define DAG_LIVE_PANELS_H

/*
 * What is known of a run, as lines: functions of the state and of what the user wants to see, and of nothing else.
 */

#include <stdbool.h>
#include <stdint.h>

struct live_one;
struct live_phases;
struct live_state;
struct page;

#define PANELS_LEAST_WIDTH 60
#define PANELS_LEAST_HEIGHT 15

enum panel { PANEL_PROCESSES, PANEL_PHASES, PANEL_FILES, PANEL_KINDS, PANEL_WAITS, PANEL_ERRORS, PANEL_MAX };

enum panel_sort { SORT_CPU, SORT_MEMORY, SORT_TIME, SORT_READ, SORT_WRITE, SORT_PID, SORT_MAX };

/* What the user has chosen. */
struct view {
	enum panel panel;
	enum panel_sort sort; /* of processes */
	bool reverse;
	const char *filter; /* processes, files, errors that have this text; NULL: all */
	int64_t chosen;	    /* a process; 0: none */
	bool shows_one;	    /* the chosen process alone */
	const struct live_one *one; /* what was looked up of a process; NULL: nothing yet */
	int first;	    /* the first row that the panel shows; moved so that the chosen one is seen */
	bool paused, helps;
	int64_t now_ns, now_epoch_ns; /* when it is shown: monotonic, since the epoch */
	const char *said;	      /* a line at the end: a failure, or what is typed; NULL: the keys */
};

/* All of a terminal, with the keys as the last line. */
void panels_screen(struct page *page, const struct live_state *state, const struct live_phases *phases, struct view *view);
/* All panels, each with some rows at most, for lines that a file gets. */
void panels_batch(struct page *page, const struct live_state *state, const struct live_phases *phases, struct view *view, int rows);

/* The processes in the order in which they are shown: indexes into state->processes, which the caller frees.  NULL: out of memory. */
int32_t *panels_order(const struct live_state *state, const struct view *view, int32_t *ret_n);

#endif
