/* SPDX-License-Identifier: MIT */
#include "dag/live/screen.h"

#include <errno.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/* Names that term.h takes, too. */
#undef lines
#undef columns

#include "base/clock.h"
#include "base/err.h"
#include "base/failure.h"
#include "dag/live/keys.h"
#include "dag/live/live.h"
#include "dag/live/page.h"
#include "dag/live/panels.h"
#include "dag/live/watcher.h"
#include "dag/live/state.h"

#define KEY_WAIT_MS 100
#define CLOCK_NS 1000000000 /* the head has a clock of seconds */

/* ---- the terminal as it was ---- */

static struct {
	struct termios before;
	bool is_known;
	char restores[64]; /* what makes the former screen visible again */
} terminal;

#define ENDS 4

static const int ends[ENDS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static struct sigaction before[ENDS];
static volatile sig_atomic_t ended_by;
static void (*on_signal)(int number, siginfo_t *info, void *context);

static void on_end(int number, siginfo_t *info, void *context)
{
	ended_by = number;
	if (on_signal)
		on_signal(number, info, context);
}

/* Only what a handler may call. */
static void on_crash(int signal_number)
{
	if (terminal.is_known)
		tcsetattr(STDOUT_FILENO, TCSANOW, &terminal.before);
	if (write(STDOUT_FILENO, terminal.restores, strlen(terminal.restores)) < 0)
		_exit(EXIT_OWN);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void add_restoring(const char *name)
{
	const char *text = tigetstr(name);

	if (text && text != (char *)-1 && strlen(terminal.restores) + strlen(text) < sizeof(terminal.restores))
		strcat(terminal.restores, text);
}

static void catch_signals(void)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };

	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &(struct sigaction){ .sa_handler = on_crash, .sa_flags = SA_RESETHAND }, NULL);
	for (size_t i = 0; i < ENDS; i++)
		sigaction(ends[i], &(struct sigaction){ .sa_sigaction = on_end, .sa_flags = SA_SIGINFO }, NULL);
}

/* The signal that ended the screen: none is between this handler and the one from before. */
static int release_signals(void)
{
	sigset_t all, blocked;
	int number;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &blocked);
	for (size_t i = 0; i < ENDS; i++)
		sigaction(ends[i], &before[i], NULL);
	number = ended_by;
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
	return number;
}

/* ---- painting ---- */

static attr_t looks[PAGE_ATTRIBUTES] = { [PAGE_PLAIN] = A_NORMAL, [PAGE_TITLE] = A_REVERSE, [PAGE_HEAD] = A_BOLD, [PAGE_GOOD] = A_NORMAL,
	[PAGE_BAD] = A_BOLD, [PAGE_DIM] = A_DIM, [PAGE_CHOSEN] = A_REVERSE | A_BOLD };

static void choose_colours(void)
{
	const char *without = secure_getenv("NO_COLOR");

	if ((without && *without) || !has_colors() || start_color() == ERR || use_default_colors() == ERR)
		return;
	init_pair(1, COLOR_GREEN, -1);
	init_pair(2, COLOR_RED, -1);
	init_pair(3, COLOR_CYAN, -1);
	looks[PAGE_GOOD] = COLOR_PAIR(1);
	looks[PAGE_BAD] = COLOR_PAIR(2) | A_BOLD;
	looks[PAGE_HEAD] = COLOR_PAIR(3) | A_BOLD;
}

static void paint_line(const struct page_line *line)
{
	for (size_t at = 0, n; at < line->len; at += n) {
		for (n = 1; at + n < line->len && line->looks[at + n] == line->looks[at]; n++)
			;
		attrset(looks[line->looks[at]]);
		addnstr(line->text + at, (int)n);
	}
	attrset(A_NORMAL);
}

static void paint(const struct page *page)
{
	erase();
	for (int i = 0; i < page->n; i++) {
		move(i, 0);
		paint_line(&page->lines[i]);
	}
	refresh();
}

/* ---- what is shown ---- */

struct screen {
	struct watcher *watcher;
	struct live_state *state;
	struct live_phases *phases;
	struct live_one *one;
	struct page page;
	struct keys keys;
	char failure[512];
	int64_t painted_ns;
	const struct live_show *show;
};

/* Whether there is something new to show. */
static bool take_news(struct screen *screen)
{
	struct live_state *state = screen->keys.view.paused && screen->state ? NULL : watcher_take(screen->watcher);
	struct live_phases *phases = screen->keys.view.paused && screen->phases ? NULL : watcher_take_phases(screen->watcher);
	struct live_one *one = screen->keys.view.paused && screen->one ? NULL : watcher_take_one(screen->watcher);

	if (state) {
		live_state_free(screen->state);
		screen->state = state;
	}
	if (phases) {
		live_phases_free(screen->phases);
		screen->phases = phases;
	}
	if (one) {
		live_one_free(screen->one);
		screen->keys.view.one = screen->one = one;
	}
	watcher_failure(screen->watcher, screen->failure, sizeof(screen->failure));
	return state || phases || one;
}

static void show(struct screen *screen)
{
	struct view *view = &screen->keys.view;

	screen->painted_ns = view->now_ns = clock_now_ns();
	view->now_epoch_ns = clock_read_ns(CLOCK_REALTIME);
	view->said = keys_said(&screen->keys);
	if (!view->said && screen->failure[0])
		view->said = screen->failure;
	page_begin(&screen->page, COLS, LINES);
	panels_screen(&screen->page, screen->state, screen->phases, view);
	paint(&screen->page);
}

static void loop(struct screen *screen)
{
	bool has_news = true;

	while (!ended_by && !screen->keys.quits && !(screen->show->is_over && screen->show->is_over(screen->show->arg))) {
		wint_t key;
		int r;

		has_news |= take_news(screen);
		if (screen->state && (has_news || clock_now_ns() - screen->painted_ns >= CLOCK_NS))
			show(screen);
		r = get_wch(&key);
		if (r == KEY_CODE_YES && key == KEY_RESIZE)
			clearok(curscr, true); /* what was painted before it was known may be anywhere */
		has_news = r != ERR;
		if (has_news && screen->state)
			keys_take(&screen->keys, screen->state, r == KEY_CODE_YES, key);
		watcher_choose(screen->watcher, screen->keys.view.shows_one ? screen->keys.view.chosen : 0);
	}
}

static int start(struct failure *failure)
{
	terminal.is_known = tcgetattr(STDOUT_FILENO, &terminal.before) == 0;
	for (size_t i = 0; i < ENDS; i++)
		sigaction(ends[i], NULL, &before[i]);
	if (!newterm(NULL, stdout, stdin))
		return failure_set(failure, -ENOTTY, "this terminal cannot be used: its name in $TERM is not known; use --batch");
	add_restoring("sgr0");
	add_restoring("cnorm");
	add_restoring("rmcup");
	catch_signals();
	choose_colours();
	cbreak();
	noecho();
	keypad(stdscr, true);
	set_escdelay(50);
	timeout(KEY_WAIT_MS);
	curs_set(0);
	return 0;
}

int screen_run(struct watcher *watcher, const struct live_show *show, struct failure *failure)
{
	struct screen screen = { .watcher = watcher, .show = show };
	int r;

	on_signal = show->on_signal;
	r = start(failure);

	if (r < 0)
		return r;
	loop(&screen);
	endwin();
	live_state_free(screen.state);
	live_phases_free(screen.phases);
	live_one_free(screen.one);
	page_finish(&screen.page);
	keys_finish(&screen.keys);
	return release_signals();
}
