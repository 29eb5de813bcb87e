/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_KEYS_H
#define DAG_LIVE_KEYS_H

/* What keys change of the view. */

#include <stdbool.h>
#include <wchar.h>

#include "dag/live/panels.h"

struct live_state;

struct keys {
	struct view view;
	bool quits;
	bool types;	   /* the filter is being typed */
	char filter[128]; /* UTF-8 or whatever the locale has */
	char said[160];
};

/* is_code: key is one of curses.h (KEY_UP), else a character. */
void keys_take(struct keys *keys, const struct live_state *state, bool is_code, wint_t key);
/* The line at the end while something is typed; NULL: nothing. */
const char *keys_said(struct keys *keys);
void keys_finish(struct keys *keys);

#endif
