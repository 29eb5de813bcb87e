/* SPDX-License-Identifier: MIT */

/*
 * Whatever memory a record may keep, its trace says the same: random work is recorded with room for one of each
 * thing, for some, and for all.  All views are compared with each other, and with what was fed, as it was noted in
 * tables of its own.
 */

#include "db/text.h"
#include "feed.h"

#define STEPS 2500
#define SEEDS 3 /* of a long run; a short one takes one of them */
#define PIDS 6
#define DIRS 3
#define FILES 12
#define HANDLES 8
#define NAMES 60 /* that are looked for */

/* Bytes for each kind of thing: one of them, some ten, all. */
static const size_t kept[] = { 1, 2000, SIZE_MAX / 4 };
#define TRACES (sizeof(kept) / sizeof(kept[0]))

struct world {
	struct feed *f;
	sqlite3 *notes; /* of what was fed; NULL: not this time */
	uint64_t rng_state;
	struct { pid_t pid; int id; } processes[PIDS];
	int n_processes;
	pid_t last_pid;
	struct { uint64_t node; int name; } dirs[DIRS];
	struct { uint64_t node; int file, dir, name; } files[FILES];
	struct { uint64_t id; int file; } handles[HANDLES];
	int n_files, last_name;
};

static unsigned pick(struct world *w, unsigned n)
{
	w->rng_state ^= w->rng_state << 13;
	w->rng_state ^= w->rng_state >> 7;
	w->rng_state ^= w->rng_state << 17;
	return w->rng_state % n;
}

static void exec(sqlite3 *db, const char *format, ...)
{
	va_list args;
	char *sql, *error = NULL;

	va_start(args, format);
	sql = sqlite3_vmprintf(format, args);
	va_end(args);
	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", error, sql);
	sqlite3_free(sql);
}

#define NOTE(w, ...) ((w)->notes ? exec((w)->notes, "INSERT INTO " __VA_ARGS__) : (void)0)

/* ---- processes ---- */

static void begin_process(struct world *w, int i)
{
	w->processes[i].pid = w->last_pid += 10;
	w->processes[i].id = ++w->n_processes;
	if (i == 0)
		feed_discover(w->f, w->last_pid, 1);
	else
		feed_fork(w->f, w->last_pid, w->processes[0].pid);
}

static void replace_process(struct world *w)
{
	int i = 1 + pick(w, PIDS - 1);

	feed_exit(w->f, w->processes[i].pid, 0);
	begin_process(w, i);
}

static void exec_process(struct world *w)
{
	char exe[32];

	snprintf(exe, sizeof(exe), "/bin/e%u", pick(w, 30));
	feed_exec(w->f, w->processes[pick(w, PIDS)].pid, exe);
}

/* One of its threads. */
static pid_t thread_of(struct world *w, int i)
{
	pid_t pid = w->processes[i].pid, tid = pid + pick(w, 4);

	if (tid != pid)
		feed_process(w->f, EVENT_THREAD, (struct event_process){ .pid = pid, .tid = tid,
			.tier = TIER_CONNECTOR }, 0, NULL);
	return tid;
}

/* Some are told of late. */
static void feed_late(struct world *w, struct event ev, const char *name)
{
	ev.time_ns -= pick(w, 4) ? 0 : pick(w, 3) * STEP / 2;
	feed_op(w->f, ev, name);
}

/* ---- what ---- */

static void look_for(struct world *w)
{
	int dir = pick(w, DIRS), i = pick(w, PIDS + 1), name = pick(w, NAMES);
	bool known = i < PIDS;
	pid_t tid = known ? thread_of(w, i) : 0;
	struct event ev = OP_EVENT(w->f, tid, OP_LOOKUP, .node = w->dirs[dir].node, .result = -ENOENT);
	char text[64];

	snprintf(text, sizeof(text), "missing-%d", name);
	ev.time_ns -= pick(w, 3) * STEP / 4;
	NOTE(w, "looked VALUES (%d, '/d%d/%s', %lld)", known ? w->processes[i].id : 0, w->dirs[dir].name,
		text, (long long)ev.time_ns + EPOCH_NS - START_NS);
	NOTE(w, "acted VALUES (%d, 'lookup')", tid);
	feed_op(w->f, ev, text);
}

static void name_of(struct world *w, int file, char text[32])
{
	snprintf(text, 32, "f%d", w->files[file].name);
}

static void make_file(struct world *w, int i)
{
	char name[32];

	w->files[i].dir = pick(w, DIRS);
	w->files[i].name = ++w->last_name;
	w->files[i].file = DIRS + 2 + w->n_files++;
	name_of(w, i, name);
	w->files[i].node = feed_file(w->f, w->processes[0].pid, w->dirs[w->files[i].dir].node, name, 100);
	NOTE(w, "acted VALUES (%d, 'lookup')", w->processes[0].pid);
}

static void remove_file(struct world *w)
{
	int i = pick(w, FILES);
	char name[32];

	name_of(w, i, name);
	NOTE(w, "acted VALUES (%d, 'unlink')", w->processes[0].pid);
	feed_unlink(w->f, w->processes[0].pid, w->dirs[w->files[i].dir].node, name);
	if (pick(w, 2))
		feed_forget(w->f, w->files[i].node);
	make_file(w, i);
}

/* Back and forth between few names, and to new ones. */
static void rename_file(struct world *w)
{
	int i = pick(w, FILES), p = pick(w, PIDS), dir = w->files[i].dir;
	char from[32], to[32];

	name_of(w, i, from);
	w->files[i].name = pick(w, 2) ? ++w->last_name : 1000000 + i * 2 + (w->files[i].name & 1);
	name_of(w, i, to);
	w->files[i].dir = pick(w, DIRS);
	NOTE(w, "acted VALUES (%d, 'rename')", w->processes[p].pid);
	feed_rename(w->f, w->processes[p].pid, w->dirs[dir].node, from, w->dirs[w->files[i].dir].node, to, 0);
}

static void rename_dir(struct world *w)
{
	int i = pick(w, DIRS), name = pick(w, 2) ? ++w->last_name : i;
	char from[32], to[32];

	for (int j = 0; j < DIRS; j++)
		if (j != i && w->dirs[j].name == name)
			return;
	snprintf(from, sizeof(from), "d%d", w->dirs[i].name);
	snprintf(to, sizeof(to), "d%d", name);
	if (name == w->dirs[i].name)
		return;
	w->dirs[i].name = name;
	NOTE(w, "acted VALUES (%d, 'rename')", w->processes[0].pid);
	feed_rename(w->f, w->processes[0].pid, NODE_ROOT, from, NODE_ROOT, to, 0);
}

static void open_file(struct world *w, int i)
{
	int p = pick(w, PIDS), file = pick(w, FILES);
	uint32_t flags = pick(w, 3) | pick(w, 1024) << 5; /* among them O_TRUNC, and that of an execve(2) */
	char text[256];

	if (w->handles[i].id) {
		feed_release(w->f, 0, w->handles[i].id);
		NOTE(w, "acted VALUES (NULL, 'release')");
	}
	w->handles[i].id = feed_open_as(w->f, thread_of(w, p), w->files[file].node, flags, pick(w, FIDELITY_MAX));
	w->handles[i].file = w->files[file].file;
	text_open_flags(flags, text, sizeof(text));
	NOTE(w, "opened VALUES (%d, %d, %d, %Q)", (int)w->handles[i].id, w->processes[p].id,
		w->files[file].file, text);
}

static void move_data(struct world *w)
{
	int i = pick(w, HANDLES), p = pick(w, PIDS), bytes = 1 + pick(w, 100);
	bool writes = pick(w, 3) == 0;
	struct event ev = OP_EVENT(w->f, thread_of(w, p), writes ? OP_WRITE : OP_READ, .handle = w->handles[i].id,
		.offset = pick(w, 4) * 50, .length = bytes, .result = bytes);

	if (!w->handles[i].id)
		return;
	NOTE(w, "moved VALUES (%d, %d, %d, %d)", (int)ev.u.op.handle, w->processes[p].id, writes, bytes);
	NOTE(w, "acted VALUES (%d, '%s')", ev.tid, writes ? "write" : "read");
	feed_late(w, ev, NULL);
}

static void ask_about(struct world *w)
{
	int i = pick(w, FILES), p = pick(w, PIDS);
	pid_t tid = thread_of(w, p);

	NOTE(w, "acted VALUES (%d, 'getattr')", tid);
	NOTE(w, "asked VALUES (%d, %d)", w->processes[p].id, w->files[i].file);
	feed_late(w, OP_EVENT(w->f, tid, OP_GETATTR, .node = w->files[i].node), NULL);
}

static void fail_to_link(struct world *w)
{
	char name[32], target[32];

	snprintf(name, sizeof(name), "link-%u", pick(w, 3));
	snprintf(target, sizeof(target), "/to/%u", pick(w, NAMES));
	NOTE(w, "acted VALUES (%d, 'symlink')", w->processes[0].pid);
	feed_op_names(w->f, OP_EVENT(w->f, w->processes[0].pid, OP_SYMLINK, .node = NODE_ROOT,
		.result = -EEXIST), name, target);
}

static void step(struct world *w)
{
	unsigned what = pick(w, 100);

	if (what < 30)
		look_for(w);
	else if (what < 60)
		move_data(w);
	else if (what < 75)
		ask_about(w);
	else if (what < 82)
		open_file(w, pick(w, HANDLES));
	else if (what < 87)
		rename_file(w);
	else if (what < 90)
		remove_file(w);
	else if (what < 92)
		rename_dir(w);
	else if (what < 94)
		fail_to_link(w);
	else if (what < 97)
		exec_process(w);
	else if (what < 99)
		replace_process(w);
	else
		feed_flush(w->f);
	if (pick(w, 200) == 0)
		record_prune(w->f->record, w->f->now - 100 * STEP);
}

static void play(struct world *w)
{
	char name[32];

	for (int i = 0; i < PIDS; i++)
		begin_process(w, i);
	for (int i = 0; i < DIRS; i++) {
		w->dirs[i].name = i;
		snprintf(name, sizeof(name), "d%d", i);
		w->dirs[i].node = feed_dir(w->f, w->processes[0].pid, NODE_ROOT, name);
		NOTE(w, "acted VALUES (%d, 'lookup')", w->processes[0].pid);
	}
	for (int i = 0; i < FILES; i++)
		make_file(w, i);
	for (int i = 0; i < STEPS; i++)
		step(w);
	assert_int_equal(record_finish(w->f->record), 0);
	feed_flush(w->f);
}

/* ---- what became of it ---- */

static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	int64_t answer;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sqlite3_errmsg(db), sql);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	answer = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return answer;
}

static void show(sqlite3 *db, const char *a, const char *b)
{
	char *sql = sqlite3_mprintf("SELECT * FROM (%s) EXCEPT SELECT * FROM (%s) LIMIT 5", a, b);

	sql_rows(stderr, db, sql);
	fprintf(stderr, "\n\tis in %s\n\tnot in %s\n", a, b);
	sqlite3_free(sql);
}

/* The rows of two queries are the same, as many times each; the number of them. */
static int64_t compare(sqlite3 *db, const char *a, const char *b)
{
	static const char *const halves[] = { "SELECT count(*) FROM (SELECT * FROM (%s) EXCEPT SELECT * FROM (%s))",
		"SELECT abs((SELECT count(*) FROM (%s)) - (SELECT count(*) FROM (%s)))" };
	char *count = sqlite3_mprintf("SELECT count(*) FROM (%s)", a);
	int64_t rows = number(db, count);

	for (int i = 0; i < 3; i++) {
		char *sql = i < 2 ? sqlite3_mprintf(halves[i], a, b) : sqlite3_mprintf(halves[0], b, a);
		int64_t differ = number(db, sql);

		if (differ) {
			show(db, a, b);
			show(db, b, a);
			fail_msg("%lld rows differ", (long long)differ);
		}
		sqlite3_free(sql);
	}
	sqlite3_free(count);
	return rows;
}

static int64_t compare_views(sqlite3 *db, const char *trace, const char *other)
{
	static const char *const views[] = { "trace", "image", "program", "run", "process_job", "process",
		"environ", "sample", "file", "name", "handle_op", "name_op", "op", "handle", "use",
		"access_rows", "access", "metric", "metric_latency", "metric_size", "ghost", "declared", "ioprof", "pprof" };
	int64_t rows = 0;

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		char *a = sqlite3_mprintf("SELECT * FROM %s.%s", trace, views[i]);
		char *b = sqlite3_mprintf("SELECT * FROM %s.%s", other, views[i]);

		rows += compare(db, a, b);
		sqlite3_free(a);
		sqlite3_free(b);
	}
	return rows;
}

/* What was noted, and where it is in a trace. */
static const struct {
	const char *noted, *recorded;
} facts[] = {
	{ "SELECT nullif(process, 0), path, count(*), min(t) FROM looked GROUP BY process, path",
		"SELECT process, path, count, first_ns FROM %s.ghost" },
	{ "SELECT handle, process, sum(1 - writes), sum(iif(writes, 0, bytes)), sum(writes), sum(iif(writes, bytes, 0)) "
	  "FROM moved GROUP BY 1, 2",
		"SELECT handle, process, sum(nread), sum(bread), sum(nwrite), sum(bwrite) FROM %s.use GROUP BY 1, 2" },
	{ "SELECT handle, process, file, flags FROM opened", "SELECT id, process, file, flags FROM %s.handle" },
	{ "SELECT process, file, count(*) FROM opened GROUP BY 1, 2",
		"SELECT process, file, sum(opens) FROM %s.access WHERE opens > 0 GROUP BY 1, 2" },
	{ "SELECT nullif(tid, 0), what, count(*) FROM acted GROUP BY 1, 2",
		"SELECT tid, name, count(*) FROM %s.op WHERE name <> 'open' GROUP BY 1, 2" },
	{ "SELECT process, file, count(*) FROM asked GROUP BY 1, 2",
		"SELECT process, file, count(*) FROM %s.op WHERE name = 'getattr' GROUP BY 1, 2" },
	{ "SELECT what, count(*) FROM acted WHERE what <> 'open' GROUP BY 1",
		"SELECT operation, sum(count) FROM %s.metric WHERE operation <> 'open' GROUP BY 1" },
	{ "SELECT 0", "SELECT count(*) - count(DISTINCT path) FROM %s.paths" },
};

static int64_t compare_facts(sqlite3 *db, const char *trace)
{
	int64_t rows = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		char *recorded = sqlite3_mprintf(facts[i].recorded, trace);

		rows += compare(db, facts[i].noted, recorded);
		sqlite3_free(recorded);
	}
	return rows;
}

static void compare_all(sqlite3 *notes, const char *when)
{
	int64_t facts_compared = 0, rows = 0;

	for (size_t i = 0; i < TRACES; i++) {
		char name[8];

		snprintf(name, sizeof(name), "t%zu", i);
		facts_compared += compare_facts(notes, name);
		if (i)
			rows += compare_views(notes, "t0", name);
	}
	print_message("# %s: %lld facts, %lld rows of views\n", when, (long long)facts_compared, (long long)rows);
	assert_true(facts_compared > 3000 && rows > 10000);
}

static uint64_t first_seed = 1, last_seed = SEEDS;

/* FTRAC_SEED repeats one, --long takes all. */
static void choose_seed(void)
{
	const char *given = getenv("FTRAC_SEED");

	first_seed = last_seed = given ? strtoull(given, NULL, 10) : 1 + (uint64_t)getpid() % SEEDS;
}

static void views_are_the_same_with_any_bound(void **state)
{
	(void)state;
	if (first_seed == last_seed)
		print_message("# a sample: FTRAC_SEED=%llu repeats it, --long takes all\n", (unsigned long long)first_seed);
	for (uint64_t seed = first_seed; seed <= last_seed; seed++) {
		struct feed *feeds[TRACES];
		sqlite3 *notes;

		assert_int_equal(sqlite3_open(":memory:", &notes), SQLITE_OK);
		exec(notes, "CREATE TABLE looked (process, path, t); CREATE TABLE acted (tid, what);"
			"CREATE TABLE opened (handle, process, file, flags); CREATE TABLE asked (process, file);"
			"CREATE TABLE moved (handle, process, writes, bytes)");
		for (size_t i = 0; i < TRACES; i++) {
			struct world w = { .notes = i ? NULL : notes, .rng_state = seed * 88172645463325252u, .last_pid = 100 };

			w.f = feeds[i] = feed_begin(&(struct record_options){ .ops = true, .kept = kept[i], .interval_ns = 100 * STEP });
			play(&w);
			exec(notes, "ATTACH %Q AS t%d", w.f->db, (int)i);
		}
		compare_all(notes, "while it is recorded");
		for (size_t i = 0; i < TRACES; i++) {
			assert_int_equal(store_conclude(feeds[i]->store), 0);
			assert_int_equal(store_commit(feeds[i]->store), 0);
		}
		compare_all(notes, "when it is complete");
		sqlite3_close(notes);
		for (size_t i = 0; i < TRACES; i++)
			feed_end(feeds[i]);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_are_the_same_with_any_bound),
	};

	if (argc < 2 || strcmp(argv[1], "--long") != 0)
		choose_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
