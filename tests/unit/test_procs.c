/* SPDX-License-Identifier: MIT */

/*
 * procs.h: processes and their images from the monitor's events, and the image of a thread at
 * a time.  Asked through the record and the views, which is how it is used.
 */

#include <signal.h>

#include "db/figures.h"
#include "feed.h"

enum { P = 10, Q = 20 };

/* A look in /proc at pid, which runs argv (each argument with its NUL). */
static void discover(struct feed *f, pid_t pid, int64_t start_ns, const char *argv, size_t len)
{
	struct facts_of_process facts = { .exe = "/bin/x", .argv = argv, .argv_len = len };

	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = pid, .tid = pid,
		.start_ns = start_ns, .tier = TIER_INBAND }, 0, &facts);
}

static void thread(struct feed *f, pid_t tid, pid_t pid)
{
	feed_process(f, EVENT_THREAD, (struct event_process){ .pid = pid, .tid = tid }, 0, NULL);
}

static void thread_exit(struct feed *f, pid_t tid, pid_t pid)
{
	feed_process(f, EVENT_EXIT, (struct event_process){ .pid = pid, .tid = tid }, 0, NULL);
}

/* An operation of tid at that time. */
static void op_at(struct feed *f, pid_t tid, int64_t time_ns)
{
	struct event ev = OP_EVENT(f, tid, OP_STATFS, .node = NODE_ROOT);

	ev.time_ns = time_ns;
	feed_op(f, ev, NULL);
}

/* Arguments, each with its NUL. */
#define ARGS(words) (words), sizeof(words)

#define EXES "SELECT i.exe FROM op o LEFT JOIN image i ON i.id = o.image ORDER BY o.id"

/* ---- processes ---- */

static void process_is_recorded_as_it_was_discovered(void **state)
{
	struct feed *f = *state;
	struct facts_of_process facts = { .exe = "/bin/x", .cwd = "/home", .comm = "x!",
		.argv = "x\0-l", .argv_len = 5, .cgroup = "/user.slice" };

	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = P, .ppid = 1, .tid = P,
		.uid = 1000, .gid = 100, .start_ns = START_NS - 5, .tier = TIER_INBAND }, 0, &facts);
	assert_string_equal(ask(f, "SELECT pid, ppid, parent, exe, command, comm, cwd, uid, gid, "
		"start_ns - %lld, end_ns, cgroup, tier FROM process", EPOCH_NS),
		"10|1|NULL|/bin/x|x -l|x!|/home|1000|100|-5|NULL|/user.slice|inband");
}

static void looking_again_makes_no_second_process(void **state)
{
	struct feed *f = *state;

	discover(f, P, 500, "x", 2);
	discover(f, P, 500, "x", 2);
	assert_string_equal(ask(f, "SELECT count(*) FROM process"), "1");
	assert_string_equal(ask(f, "SELECT count(*) FROM image"), "1");
}

static void parent_is_the_process_that_was_known_by_the_id(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_discover(f, Q, P);
	assert_string_equal(ask(f, "SELECT pid, ppid, parent FROM process ORDER BY id"),
		"10|1|NULL\n20|10|1");
}

static void fork_inherits_owner_and_texts(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_fork(f, Q, P);
	assert_string_equal(ask(f, "SELECT parent, uid, gid, exe, command, tier FROM process "
		"WHERE pid = 20"), "1|1000|100|/bin/p10|/bin/p10|connector");
	assert_string_equal(ask(f, "SELECT seq, exe FROM image WHERE process = 2"), "0|/bin/p10");
}

static void start_of_a_fork_is_the_time_of_the_fork(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_fork(f, Q, P);
	assert_string_equal(ask(f, "SELECT start_ns - %lld FROM process WHERE pid = 20",
		EPOCH_NS + f->now - START_NS), "0");
}

static void grandchild_inherits_the_same_texts(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_fork(f, Q, P);
	feed_fork(f, 30, Q);
	assert_string_equal(ask(f, "SELECT command FROM process WHERE pid = 30"), "/bin/p10");
}

static void cgroup_is_that_of_the_last_exec(void **state)
{
	struct feed *f = *state;
	struct facts_of_process shell = { .exe = "/bin/sh", .argv = "sh", .argv_len = 3, .cgroup = "/system.slice" };
	struct facts_of_process job = { .exe = "/bin/x", .argv = "x", .argv_len = 2, .cgroup = "/slurm/job_5" };

	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = P, .ppid = 1, .tid = P }, 0, &shell);
	feed_fork(f, Q, P);
	feed_process(f, EVENT_EXEC, (struct event_process){ .pid = Q, .tid = Q }, 0, &job);
	feed_fork(f, 30, Q);
	assert_string_equal(ask(f, "SELECT cgroup FROM process ORDER BY id"),
		"/system.slice\n/slurm/job_5\n/slurm/job_5");
}

/* ---- images ---- */

static void exec_begins_an_image(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_fork(f, Q, P);
	feed_exec(f, Q, "/bin/cc");
	assert_string_equal(ask(f, "SELECT seq, exe, end_ns IS NULL FROM image WHERE process = 2"),
		"0|/bin/p10|0\n1|/bin/cc|1");
	assert_string_equal(ask(f, "SELECT exe FROM process WHERE pid = 20"), "/bin/cc");
}

static void image_ends_where_the_next_begins(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_exec(f, P, "/bin/cc");
	assert_string_equal(ask(f, "SELECT (SELECT end_ns FROM image WHERE id = 1) = "
		"(SELECT start_ns FROM image WHERE id = 2)"), "1");
}

static void exec_of_an_unknown_process_is_its_first_program(void **state)
{
	struct feed *f = *state;

	feed_exec(f, P, "/bin/cc");
	assert_string_equal(ask(f, "SELECT seq, exe FROM image"), "1|/bin/cc");
}

static void process_met_with_the_program_of_its_parent_was_forked_as_it_is(void **state)
{
	struct feed *f = *state;
	struct facts_of_process sh = { .exe = "/bin/sh", .argv = "sh", .argv_len = 3 };

	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = P, .tid = P }, 0, &sh);
	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = Q, .ppid = P, .tid = Q }, 0,
		&sh);
	feed_discover(f, 30, P);
	assert_string_equal(ask(f, "SELECT pid, seq FROM image i JOIN process p ON p.id = i.process "
		"ORDER BY pid"), "10|1\n20|0\n30|1");
}

static void new_image_seen_in_proc_is_an_image(void **state)
{
	struct feed *f = *state;
	struct facts_of_process facts = { .exe = "/bin/y", .argv = "y", .argv_len = 2 };

	discover(f, P, 500, "x", 2);
	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = P, .tid = P, .start_ns = 500,
		.new_image = 1 }, 0, &facts);
	assert_string_equal(ask(f, "SELECT exe, seq FROM image"), "/bin/x|1\n/bin/y|2");
}

static void program_too_short_to_be_looked_at_has_no_texts(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_process(f, EVENT_EXEC, (struct event_process){ .pid = P, .tid = P }, 0, NULL);
	assert_string_equal(ask(f, "SELECT exe, command, argv, cwd FROM image WHERE seq = 2"),
		"NULL|NULL|NULL|NULL");
}

static void texts_that_an_exec_lacked_come_with_a_later_look(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_process(f, EVENT_EXEC, (struct event_process){ .pid = P, .tid = P }, 0, NULL);
	discover(f, P, 0, ARGS("x\0-v"));
	assert_string_equal(ask(f, "SELECT command FROM image WHERE seq = 2"), "x -v");
}

static void texts_that_the_parent_lacked_come_with_a_look_at_the_child(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_process(f, EVENT_EXEC, (struct event_process){ .pid = P, .tid = P }, 0, NULL);
	feed_fork(f, Q, P);
	discover(f, Q, 0, ARGS("x\0-v"));
	assert_string_equal(ask(f, "SELECT command FROM process WHERE pid = 20"), "x -v");
}

static void texts_that_come_to_a_parent_later_are_its_childs_too(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_process(f, EVENT_EXEC, (struct event_process){ .pid = P, .tid = P }, 0, NULL);
	feed_fork(f, Q, P);
	discover(f, P, 0, ARGS("x\0-v"));
	assert_string_equal(ask(f, "SELECT command FROM process WHERE pid = 20"), "x -v");
}

/* ---- the image of a thread ---- */

static void late_exec_event_does_not_take_earlier_operations(void **state)
{
	struct feed *f = *state;
	int64_t t;

	feed_discover(f, P, 1);
	t = f->now;
	feed_exec_at(f, P, "/bin/cc", t + 500);
	op_at(f, P, t + 400);
	op_at(f, P, t + 600);
	assert_string_equal(ask(f, EXES), "/bin/p10\n/bin/cc");
}

static void operation_is_that_of_the_image_of_its_time(void **state)
{
	struct feed *f = *state;
	int64_t t;

	feed_discover(f, P, 1);
	t = f->now;
	feed_exec_at(f, P, "/bin/a", t + 100);
	feed_exec_at(f, P, "/bin/b", t + 200);
	op_at(f, P, t + 100);
	op_at(f, P, t + 150);
	op_at(f, P, t + 200);
	assert_string_equal(ask(f, EXES), "/bin/a\n/bin/a\n/bin/b");
}

static void thread_acts_for_its_process(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	thread(f, 11, P);
	op_at(f, 11, f->now);
	op_at(f, P, f->now);
	assert_string_equal(ask(f, "SELECT process, tid FROM op"), "1|11\n1|10");
}

static void end_of_a_thread_is_not_the_end_of_its_process(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	thread(f, 11, P);
	thread_exit(f, 11, P);
	assert_string_equal(ask(f, "SELECT end_ns FROM process"), "NULL");
}

static void operation_of_a_dead_thread_id_is_that_of_its_time(void **state)
{
	struct feed *f = *state;
	int64_t t;

	feed_discover(f, P, 1);
	thread(f, 11, P);
	t = f->now;
	thread_exit(f, 11, P);
	feed_fork(f, 11, P);
	feed_exec(f, 11, "/bin/cc");
	op_at(f, 11, t);
	op_at(f, 11, f->now);
	assert_string_equal(ask(f, EXES), "/bin/p10\n/bin/cc");
}

/* ---- ids that come back ---- */

static void forking_a_living_id_ends_the_one_that_had_it(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_discover(f, Q, 1);
	feed_fork(f, Q, P);
	assert_string_equal(ask(f, "SELECT id, end_ns IS NULL, exit_code, exit_signal FROM process "
		"WHERE pid = 20 ORDER BY id"), "2|0|NULL|NULL\n3|1|NULL|NULL");
}

static void later_start_is_another_process(void **state)
{
	struct feed *f = *state;

	discover(f, P, 1000000, "x", 2);
	discover(f, P, 50000000, "x", 2);
	assert_string_equal(ask(f, "SELECT id, start_ns - %lld, end_ns - %lld FROM process",
		EPOCH_NS - START_NS, EPOCH_NS - START_NS), "1|1000000|50000000\n2|50000000|NULL");
}

static void start_within_a_clock_tick_is_the_same_process(void **state)
{
	struct feed *f = *state;

	discover(f, P, 100000000, "x", 2);
	discover(f, P, 109000000, "x", 2);
	assert_string_equal(ask(f, "SELECT count(*) FROM process"), "1");
}

static void operations_before_and_after_an_id_came_back_are_told_apart(void **state)
{
	struct feed *f = *state;
	int64_t t;

	feed_discover(f, P, 1);
	feed_discover(f, Q, 1);
	t = f->now;
	feed_exit(f, Q, 0);
	feed_fork(f, Q, P);
	op_at(f, Q, t);
	op_at(f, Q, f->now);
	assert_string_equal(ask(f, "SELECT process FROM op ORDER BY id"), "2\n3");
}

static void operation_on_a_pruned_process_is_kept_without_it(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_exit(f, P, 0);
	feed_flush(f);
	record_prune(f->record, f->now + 1);
	op_at(f, P, f->now);
	assert_string_equal(ask(f, "SELECT process, tid FROM op"), "NULL|10");
	assert_string_equal(ask(f, "SELECT count(*) FROM process"), "1");
}

static void prune(struct feed *f)
{
	feed_flush(f);
	record_prune(f->record, f->now + 1);
}

static void child_names_its_parent_also_when_that_is_forgotten(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_fork(f, Q, P);
	feed_exit(f, P, 0);
	prune(f);
	feed_exit(f, Q, 0);
	assert_string_equal(ask(f, "SELECT pid, parent FROM process ORDER BY id"), "10|NULL\n20|1");
}

static void program_before_is_forgotten_unless_a_handle_has_it(void **state)
{
	struct feed *f = *state;
	int64_t times[3];
	uint64_t h = 0;

	feed_discover(f, P, 1);
	for (int i = 0; i < 3; i++) {
		feed_exec(f, P, (const char *[]){ "/bin/a", "/bin/b", "/bin/c" }[i]);
		times[i] = f->now;
		if (i == 1)
			h = feed_open(f, P, NODE_ROOT, O_RDONLY);
	}
	prune(f);
	op_at(f, P, times[0]);
	op_at(f, P, times[1]);
	op_at(f, P, times[2]);
	feed_release(f, 0, h);
	assert_string_equal(ask(f, EXES " LIMIT 5"), "/bin/b\nNULL\n/bin/b\n/bin/c\n/bin/b");
	prune(f);
	op_at(f, P, times[1]);
	op_at(f, P, times[2]);
	assert_string_equal(ask(f, EXES " LIMIT 2 OFFSET 5"), "NULL\n/bin/c");
	assert_string_equal(ask(f, "SELECT exe, seq FROM image ORDER BY id"), "/bin/p10|1\n/bin/a|2\n/bin/b|3\n/bin/c|4");
}

static void threads_without_an_exit_event_end_with_their_process(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	thread(f, 11, P);
	op_at(f, 11, f->now);
	feed_exit(f, P, 0);
	op_at(f, 11, f->now);
	prune(f);
	op_at(f, 11, f->now);
	assert_string_equal(ask(f, "SELECT process, tid FROM op"), "1|11\n1|11\nNULL|11");
}

/* ---- the end ---- */

static void exit_code_is_that_of_the_status(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_exit(f, P, 3 << 8);
	assert_string_equal(ask(f, "SELECT exit_code, exit_signal FROM process"), "3|NULL");
	assert_string_equal(ask(f, "SELECT end_ns - %lld FROM process",
		EPOCH_NS + f->now - START_NS), "0");
}

static void signal_that_ended_it_is_recorded(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_exit(f, P, SIGSEGV | 0x80 /* with a core dump */);
	assert_string_equal(ask(f, "SELECT exit_code, exit_signal FROM process"), "NULL|11");
}

static void unknown_status_is_neither_code_nor_signal(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_exit(f, P, -1);
	assert_string_equal(ask(f, "SELECT exit_code, exit_signal, end_ns IS NULL FROM process"),
		"NULL|NULL|0");
}

static void image_ends_with_its_process(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_exit(f, P, 0);
	assert_string_equal(ask(f, "SELECT p.end_ns = i.end_ns FROM process p JOIN image i "
		"ON i.process = p.id"), "1");
}

static void exit_of_an_unknown_process_makes_none(void **state)
{
	struct feed *f = *state;

	feed_exit(f, P, 0);
	assert_string_equal(ask(f, "SELECT count(*) FROM process"), "0");
}

static void what_is_found_out_twice_says_the_better_tier(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	assert_string_equal(ask(f, "SELECT tier FROM process"), "inband");
	feed_exit(f, P, 0);
	assert_string_equal(ask(f, "SELECT tier FROM process"), "connector");
}

/* ---- texts ---- */

static const char *command_of(struct feed *f, const char *argv, size_t len)
{
	discover(f, P, 500, argv, len);
	return ask(f, "SELECT command FROM image");
}

static void plain_arguments_are_not_quoted(void **state)
{
	assert_string_equal(command_of(*state, ARGS("cc\0-o\0a=b,c:d@e%f+g/h.o")),
		"cc -o a=b,c:d@e%f+g/h.o");
}

static void spaces_are_quoted(void **state)
{
	assert_string_equal(command_of(*state, ARGS("echo\0a b")), "echo 'a b'");
}

static void quotes_are_quoted_as_a_shell_wants_it(void **state)
{
	assert_string_equal(command_of(*state, ARGS("echo\0it's")), "echo 'it'\\''s'");
}

static void empty_argument_is_a_pair_of_quotes(void **state)
{
	assert_string_equal(command_of(*state, ARGS("echo\0\0x")), "echo '' x");
}

static void newlines_and_brackets_are_quoted(void **state)
{
	assert_string_equal(command_of(*state, ARGS("echo\0a\nb\0]\0[\0*\0~")),
		"echo 'a\nb' ']' '[' '*' '~'");
}

static void other_letters_are_quoted(void **state)
{
	assert_string_equal(command_of(*state, ARGS("echo\0\xc3\xa9")), "echo '\xc3\xa9'");
}

static void arguments_are_json_and_raw(void **state)
{
	struct feed *f = *state;

	discover(f, P, 500, ARGS("a\0\"q\""));
	assert_string_equal(ask(f, "SELECT argv, argv_raw FROM image"),
		"[\"a\",\"\\\"q\\\"\"]|x'610022712200'");
}

static void arguments_that_are_not_utf8_are_exact_only_raw(void **state)
{
	struct feed *f = *state;

	discover(f, P, 500, ARGS("a\0\xff\xfe"));
	assert_string_equal(ask(f, "SELECT argv, argv_raw FROM image"),
		"[\"a\",\"\xef\xbf\xbd\xef\xbf\xbd\"]|x'6100fffe00'");
}

static void many_arguments_keep_their_order(void **state)
{
	struct feed *f = *state;

	discover(f, P, 500, ARGS("c\0b\0a\0b\0c\0a"));
	assert_string_equal(ask(f, "SELECT command FROM image"), "c b a b c a");
}

static void command_line_without_arguments_is_empty_and_not_unknown(void **state)
{
	struct feed *f = *state;

	discover(f, P, 500, "", 0);
	assert_string_equal(ask(f, "SELECT argv, argv_raw FROM image"), "[]|x''");
}

static void stored_variables_are_those_of_the_image(void **state)
{
	struct feed *f = *state;
	struct facts_of_process facts = { .exe = "/bin/x", .argv = "x", .argv_len = 2,
		.environ = "JOB=7\0EMPTY=\0EQ=a=b", .environ_len = 20 };

	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = P, .tid = P }, 0, &facts);
	assert_string_equal(ask(f, "SELECT image, name, value FROM environ ORDER BY name"),
		"1|EMPTY|\n1|EQ|a=b\n1|JOB|7");
}

static void variables_are_stored_once(void **state)
{
	struct feed *f = *state;
	struct facts_of_process facts = { .exe = "/bin/x", .environ = "JOB=7", .environ_len = 6 };

	for (int i = 0; i < 3; i++)
		feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = P, .tid = P }, 0,
			&facts);
	assert_string_equal(ask(f, "SELECT name, value FROM environ"), "JOB|7");
}

static void row_of_pprof_is_an_image_that_was_begun_by_an_exec(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_fork(f, Q, P);
	feed_exec(f, Q, "/bin/a");
	feed_exec(f, Q, "/bin/b");
	feed_exit(f, Q, 0);
	assert_string_equal(ask(f, "SELECT pid, ppid, exe, typeof(wtime) FROM pprof WHERE pid = 20"),
		"20|10|/bin/a|real\n20|10|/bin/b|real");
}

static void feed_figures(struct feed *f, enum event_kind kind, pid_t pid, int64_t utime_ns, int64_t stime_ns,
	int64_t read_char)
{
	struct event ev = { .kind = kind, .u.process = { .pid = pid, .tier = TIER_PTRACE } };
	struct figures figures = { 0 };

	figures_set(&figures, FIGURE_CPU, utime_ns + stime_ns);
	figures_set(&figures, FIGURE_UTIME, utime_ns);
	figures_set(&figures, FIGURE_STIME, stime_ns);
	if (read_char >= 0)
		figures_set(&figures, FIGURE_READ_CHAR, read_char);
	feed(f, &ev, (const char *)&figures, sizeof(figures));
}

#define SECONDS(n) ((n) * INT64_C(1000000000))

static void figures_of_images_make_those_of_the_process(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_fork(f, Q, P);
	feed_exec(f, Q, "/bin/a");
	feed_figures(f, EVENT_BEFORE, Q, SECONDS(1), 0, 100);
	feed_exec(f, Q, "/bin/b");
	feed_figures(f, EVENT_BEFORE, Q, SECONDS(3), SECONDS(2), 300);
	feed_figures(f, EVENT_FIGURES, Q, SECONDS(7), SECONDS(4), 1000);
	feed_exit(f, Q, 0);
	assert_string_equal(ask(f, "SELECT seq, cpu_ns / 1000000000, utime_ns / 1000000000, "
		"stime_ns / 1000000000, read_char, read_bytes FROM image_figures WHERE process = 2"),
		"0|1|1|0|100|NULL\n1|4|2|2|200|NULL\n2|6|4|2|700|NULL");
	/* What it was before its first program belongs to the row of that. */
	assert_string_equal(ask(f, "SELECT exe, utime, stime FROM pprof WHERE pid = 20"),
		"/bin/a|3.0|2.0\n/bin/b|4.0|2.0");
	assert_string_equal(ask(f, "SELECT min(tstart) = (SELECT start_ns / 1e9 FROM process WHERE pid = 20) "
		"FROM pprof WHERE pid = 20"), "1");
}

static void figures_of_images_that_are_forgotten_are_kept(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_fork(f, Q, P);
	for (int i = 1; i <= 4; i++) {
		feed_exec(f, Q, "/bin/a");
		feed_figures(f, EVENT_BEFORE, Q, SECONDS(i), 0, 100 * i);
		f->now += SECONDS(100);
		prune(f);
	}
	feed_figures(f, EVENT_FIGURES, Q, SECONDS(7), 0, 1000);
	feed_exit(f, Q, 0);
	assert_string_equal(ask(f, "SELECT seq, cpu_ns / 1000000000, read_char FROM image_figures WHERE process = 2"),
		"0|1|100\n1|1|100\n2|1|100\n3|1|100\n4|3|600");
}

/* pruned: the recorder has forgotten the older images by the time the process ends. */
static void feed_parts_that_decrease(struct feed *f, bool pruned)
{
	feed_discover(f, P, 1);
	feed_fork(f, Q, P);
	feed_exec(f, Q, "/bin/a");
	feed_figures(f, EVENT_BEFORE, Q, SECONDS(9), SECONDS(1), 300);
	f->now += SECONDS(100);
	feed_exec(f, Q, "/bin/b");
	feed_figures(f, EVENT_BEFORE, Q, SECONDS(2), SECONDS(10), -1);
	f->now += SECONDS(100);
	if (pruned)
		prune(f);
	feed_exec(f, Q, "/bin/c");
	feed_figures(f, EVENT_BEFORE, Q, SECONDS(13), SECONDS(0), -1);
	f->now += SECONDS(100);
	if (pruned)
		prune(f);
	feed_figures(f, EVENT_FIGURES, Q, SECONDS(10), SECONDS(4), 200);
	feed_exit(f, Q, 0);
}

/* Each time the kernel divides all that was used until then. */
static void parts_of_cpu_time_are_never_less_than_nothing(void **state)
{
	struct feed *f = *state;

	feed_parts_that_decrease(f, false);
	assert_string_equal(ask(f, "SELECT seq, cpu_ns / 1000000000, utime_ns / 1000000000, "
		"stime_ns / 1000000000, read_char FROM image_figures WHERE process = 2"),
		"0|10|9|1|NULL\n1|2|0|2|NULL\n2|1|1|0|NULL\n3|1|0|1|NULL");
}

/* The rows of these were fitted to what was known then. */
static void neither_are_those_of_images_that_are_forgotten(void **state)
{
	struct feed *f = *state;

	feed_parts_that_decrease(f, true);
	assert_string_equal(ask(f, "SELECT count(*), min(cpu_ns) >= 0, min(utime_ns) >= 0, min(stime_ns) >= 0, "
		"sum(cpu_ns) / 1000000000, sum(utime_ns) / 1000000000, sum(stime_ns) / 1000000000 "
		"FROM image_figures WHERE process = 2"), "4|1|1|1|14|10|4");
}

static void figures_without_parts_stand_with_the_image_that_ran_for_longest(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_fork(f, Q, P);
	feed_exec(f, Q, "/bin/a");
	f->now += SECONDS(5);
	feed_exec(f, Q, "/bin/b");
	feed_exec(f, Q, "/bin/c");
	f->now += SECONDS(1);
	feed_figures(f, EVENT_FIGURES, Q, SECONDS(2), SECONDS(4), 1000);
	feed_exit(f, Q, 0);
	assert_string_equal(ask(f, "SELECT exe, utime, stime FROM pprof WHERE pid = 20 ORDER BY tstart"),
		"/bin/a|2.0|4.0\n/bin/b|NULL|NULL\n/bin/c|NULL|NULL");
	assert_string_equal(ask(f, "SELECT count(cpu_ns), count(read_char) FROM image_figures WHERE process = 2"),
		"0|0");
}

static void process_of_one_image_has_its_figures(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_fork(f, Q, P);
	feed_figures(f, EVENT_FIGURES, Q, SECONDS(2), SECONDS(4), 1000);
	feed_exit(f, Q, 0);
	assert_string_equal(ask(f, "SELECT utime, stime FROM pprof WHERE pid = 20"), "2.0|4.0");
	assert_string_equal(ask(f, "SELECT seq, read_char FROM image_figures WHERE process = 2"), "0|1000");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, feed_setup, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(process_is_recorded_as_it_was_discovered),
		TEST(looking_again_makes_no_second_process),
		TEST(parent_is_the_process_that_was_known_by_the_id),
		TEST(fork_inherits_owner_and_texts),
		TEST(start_of_a_fork_is_the_time_of_the_fork),
		TEST(grandchild_inherits_the_same_texts),
		TEST(cgroup_is_that_of_the_last_exec),
		TEST(exec_begins_an_image),
		TEST(image_ends_where_the_next_begins),
		TEST(exec_of_an_unknown_process_is_its_first_program),
		TEST(process_met_with_the_program_of_its_parent_was_forked_as_it_is),
		TEST(new_image_seen_in_proc_is_an_image),
		TEST(program_too_short_to_be_looked_at_has_no_texts),
		TEST(texts_that_an_exec_lacked_come_with_a_later_look),
		TEST(texts_that_the_parent_lacked_come_with_a_look_at_the_child),
		TEST(texts_that_come_to_a_parent_later_are_its_childs_too),
		TEST(late_exec_event_does_not_take_earlier_operations),
		TEST(operation_is_that_of_the_image_of_its_time),
		TEST(thread_acts_for_its_process),
		TEST(end_of_a_thread_is_not_the_end_of_its_process),
		TEST(operation_of_a_dead_thread_id_is_that_of_its_time),
		TEST(forking_a_living_id_ends_the_one_that_had_it),
		TEST(later_start_is_another_process),
		TEST(start_within_a_clock_tick_is_the_same_process),
		TEST(operations_before_and_after_an_id_came_back_are_told_apart),
		TEST(operation_on_a_pruned_process_is_kept_without_it),
		TEST(child_names_its_parent_also_when_that_is_forgotten),
		TEST(program_before_is_forgotten_unless_a_handle_has_it),
		TEST(threads_without_an_exit_event_end_with_their_process),
		TEST(exit_code_is_that_of_the_status),
		TEST(signal_that_ended_it_is_recorded),
		TEST(unknown_status_is_neither_code_nor_signal),
		TEST(image_ends_with_its_process),
		TEST(exit_of_an_unknown_process_makes_none),
		TEST(what_is_found_out_twice_says_the_better_tier),
		TEST(plain_arguments_are_not_quoted),
		TEST(spaces_are_quoted),
		TEST(quotes_are_quoted_as_a_shell_wants_it),
		TEST(empty_argument_is_a_pair_of_quotes),
		TEST(newlines_and_brackets_are_quoted),
		TEST(other_letters_are_quoted),
		TEST(arguments_are_json_and_raw),
		TEST(arguments_that_are_not_utf8_are_exact_only_raw),
		TEST(many_arguments_keep_their_order),
		TEST(command_line_without_arguments_is_empty_and_not_unknown),
		TEST(stored_variables_are_those_of_the_image),
		TEST(variables_are_stored_once),
		TEST(row_of_pprof_is_an_image_that_was_begun_by_an_exec),
		TEST(figures_of_images_make_those_of_the_process),
		TEST(figures_of_images_that_are_forgotten_are_kept),
		TEST(parts_of_cpu_time_are_never_less_than_nothing),
		TEST(neither_are_those_of_images_that_are_forgotten),
		TEST(figures_without_parts_stand_with_the_image_that_ran_for_longest),
		TEST(process_of_one_image_has_its_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
