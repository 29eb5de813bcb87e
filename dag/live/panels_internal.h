/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_PANELS_INTERNAL_H
#define DAG_LIVE_PANELS_INTERNAL_H

/* What the files panels*.c share. */

#include "dag/live/page.h"
#include "dag/live/panels.h"
#include "dag/live/state.h"

struct scene {
	struct page *page;
	const struct live_state *state;
	const struct live_phases *phases; /* NULL: not known yet */
	struct view *view;
	int rows;      /* that the panel may have, without its title */
	bool is_focus; /* it has the keys: it begins at view->first */
};

#define FIGURE 24
typedef char figure[FIGURE];

/* Numbers as text: "-" where they are not known. */
const char *figure_count(double number, figure ret_text); /* 12.3k */
const char *figure_bytes(double bytes, figure ret_text);
const char *figure_rate(double bytes_per_s, figure ret_text);
const char *figure_time(double ns, figure ret_text);
const char *figure_clock(int64_t ns, figure ret_text); /* 1:02:03 */
/* How a process ended: "0", "1", "SIGKILL". */
const char *figure_end(int64_t exit_code, int64_t exit_signal, figure ret_text);

/* Whether the filter has nothing against any of two texts. */
bool scene_shows(const struct scene *scene, const char *one, const char *other);

void panel_processes(struct scene *scene);
void panel_one(struct scene *scene);
void panel_phases(struct scene *scene);
void panel_files(struct scene *scene);
void panel_kinds(struct scene *scene);
void panel_waits(struct scene *scene);
void panel_errors(struct scene *scene);

#endif
