/* SPDX-License-Identifier: MIT */
#include "dag/live/keys.h"

#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dag/live/state.h"

#define ESCAPE 27

/* ---- the filter ---- */

static void drop_last(char *text)
{
	size_t len = strlen(text);

	while (len && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
		len--;
	if (len)
		text[len - 1] = '\0';
}

static void add(char *text, size_t size, wint_t key)
{
	char bytes[16]; /* MB_LEN_MAX */
	mbstate_t state = { 0 };
	size_t n = wcrtomb(bytes, (wchar_t)key, &state), len = strlen(text);

	if (n == (size_t)-1 || len + n + 1 > size || key < ' ')
		return;
	memcpy(text + len, bytes, n);
	text[len + n] = '\0';
}

static void type(struct keys *keys, bool is_code, wint_t key)
{
	if ((is_code && key == KEY_BACKSPACE) || (!is_code && (key == 127 || key == 8)))
		drop_last(keys->filter);
	else if ((is_code && key == KEY_ENTER) || (!is_code && (key == '\n' || key == '\r')))
		keys->types = false;
	else if (!is_code && key == ESCAPE) {
		keys->filter[0] = '\0';
		keys->types = false;
	} else if (!is_code)
		add(keys->filter, sizeof(keys->filter), key);
	keys->view.filter = keys->filter;
}

const char *keys_said(struct keys *keys)
{
	if (!keys->types && !keys->filter[0])
		return NULL;
	snprintf(keys->said, sizeof(keys->said), keys->types ? "filter: %s_" : "filter: %s  (Esc: all)", keys->filter);
	return keys->said;
}

/* ---- moving ---- */

/* In the list of processes the chosen one moves, in others what is shown. */
static void move_by(struct keys *keys, const struct live_state *state, int by)
{
	struct view *view = &keys->view;
	int32_t n, at = by < 0 ? 1 : -1, *order;

	if (view->panel != PANEL_PROCESSES) {
		view->first += by;
		return;
	}
	order = panels_order(state, view, &n);
	for (int32_t i = 0; order && i < n; i++)
		if (state->processes[order[i]].id == view->chosen)
			at = i;
	at = at + by < 0 ? 0 : at + by >= n ? n - 1 : at + by;
	if (order && n)
		view->chosen = state->processes[order[at]].id;
	free(order);
}

static void move_panel(struct keys *keys, int by)
{
	keys->view.panel = (enum panel)(((int)keys->view.panel + PANEL_MAX + by) % PANEL_MAX);
	keys->view.first = 0;
}

static void take_code(struct keys *keys, const struct live_state *state, wint_t key)
{
	switch (key) {
	case KEY_UP: move_by(keys, state, -1); break;
	case KEY_DOWN: move_by(keys, state, 1); break;
	case KEY_PPAGE: move_by(keys, state, -10); break;
	case KEY_NPAGE: move_by(keys, state, 10); break;
	case KEY_HOME: move_by(keys, state, -1000000000); break;
	case KEY_END: move_by(keys, state, 1000000000); break;
	case KEY_BTAB: move_panel(keys, -1); break;
	case KEY_ENTER: keys->view.shows_one = !keys->view.shows_one && keys->view.chosen; break;
	case KEY_F(1): keys->view.helps = !keys->view.helps; break;
	case KEY_F(4): keys->types = true; break;
	case KEY_F(10): keys->quits = true; break;
	default: break;
	}
}

static bool take_sort(struct view *view, wint_t key)
{
	static const char letters[SORT_MAX + 1] = "PMTRWN";
	const char *found = key < 128 && key ? strchr(letters, (int)key) : NULL;

	if (found)
		view->sort = (enum panel_sort)(found - letters);
	return found;
}

static void take_character(struct keys *keys, wint_t key)
{
	struct view *view = &keys->view;

	if (take_sort(view, key))
		return;
	switch (key) {
	case 'q': keys->quits = true; break;
	case '\t': move_panel(keys, 1); break;
	case '\n': case '\r': view->shows_one = !view->shows_one && view->chosen; break;
	case 'I': view->reverse = !view->reverse; break;
	case ' ': view->paused = !view->paused; break;
	case '?': case 'h': view->helps = !view->helps; break;
	case '/': keys->types = true; break;
	case ESCAPE: keys->filter[0] = '\0', view->shows_one = view->helps = false; break;
	default: break;
	}
}

void keys_take(struct keys *keys, const struct live_state *state, bool is_code, wint_t key)
{
	if (keys->types)
		type(keys, is_code, key);
	else if (is_code)
		take_code(keys, state, key);
	else
		take_character(keys, key);
}

void keys_finish(struct keys *keys)
{
	*keys = (struct keys){ 0 };
}
