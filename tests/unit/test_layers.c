/* SPDX-License-Identifier: MIT */

/* record_layers.c, and what finish.sql makes of its rows: callers and their programs, and which call was made inside of which. */

#include "db/layers.h"
#include "db/query.h"
#include "feed.h"

enum { P = 10, Q = 11 };

static void caller(struct feed *f, uint32_t id, pid_t pid)
{
	struct event ev = { .kind = EVENT_CALLER, .tid = pid, .u.caller = { .id = id, .pid = pid } };

	feed(f, &ev, NULL, 0);
}

/* From start on, in STEPs since the run began. */
static void call_at(struct feed *f, uint32_t id, enum layer_call code, uint32_t number, uint32_t parent, int start, int steps)
{
	struct event ev = { .kind = EVENT_CALL, .time_ns = START_NS + start * STEP, .u.call = { .caller = id, .number = number,
		.parent = parent, .code = code, .latency_ns = steps * STEP, .has_result = true, .result = 8 } };

	feed(f, &ev, NULL, 0);
}

static void op_at(struct feed *f, pid_t tid, int start)
{
	struct event ev = OP_EVENT(f, tid, OP_GETATTR, .node = NODE_ROOT);

	ev.time_ns = START_NS + start * STEP;
	feed(f, &ev, NULL, 0);
}

static void conclude(struct feed *f)
{
	feed_flush(f);
	assert_int_equal(store_conclude(f->store), 0);
}

#define NAMES "SELECT group_concat(c.name || '<' || coalesce(p.name, '-'), ' ') FROM (SELECT * FROM call ORDER BY start_ns, id) c LEFT JOIN call p ON p.id = c.parent"

static void calls_and_operations_have_the_innermost_call_around_them(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_discover(f, Q, 1);
	caller(f, 1, P);
	call_at(f, 1, CALL_PREAD, 3, 2, 104, 2); /* inside of fread, inside of fprintf: in the order of their ends */
	call_at(f, 1, CALL_FREAD, 2, 1, 103, 5);
	call_at(f, 1, CALL_WRITE, 4, 1, 110, 3);
	call_at(f, 1, CALL_FPRINTF, 1, 0, 100, 20);
	op_at(f, P, 102);
	op_at(f, P, 105);
	op_at(f, P, 107);
	op_at(f, P, 111);
	op_at(f, Q, 112);
	op_at(f, P, 130);
	conclude(f);
	assert_string_equal(ask(f, NAMES), "fprintf<- getattr<fprintf fread<fprintf pread<fread getattr<pread getattr<fread "
		"write<fprintf getattr<write getattr<- getattr<-");
}

static void a_call_that_never_ends_is_no_parent(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	caller(f, 1, P);
	call_at(f, 1, CALL_READ, 2, 1, 100, 1);
	for (uint32_t i = 3; i < 40; i += 2) /* more than are kept */
		call_at(f, 1, CALL_WRITE, i + 1, i, 100 + (int)i, 1);
	call_at(f, 1, CALL_FREAD, 39, 0, 99, 100);
	conclude(f);
	assert_string_equal(ask(f, "SELECT count(*), count(parent) FROM call"), "21|1");
	assert_string_equal(ask(f, "SELECT c.name, p.name FROM call c JOIN call p ON p.id = c.parent"), "write|fread");
}

static void a_caller_is_of_the_program_that_ran_when_it_began(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	caller(f, 1, P);
	feed_exec(f, P, "/bin/second");
	caller(f, 2, P);
	feed_exec(f, P, "/bin/third");
	caller(f, 3, 4711);
	for (uint32_t i = 1; i <= 3; i++)
		call_at(f, i, CALL_READ, 1, 0, 50, 1);
	feed_flush(f);
	assert_int_equal(store_put_meta(f->store, "layers", V_STR("lib")), 0);
	conclude(f);
	assert_string_equal(ask(f, "SELECT group_concat(coalesce(i.exe, '-'), ' ') FROM (SELECT * FROM call ORDER BY id) c "
		"LEFT JOIN image i ON i.id = c.image"), "/bin/p10 /bin/second -");
	assert_string_equal(ask(f, "SELECT group_concat(i.exe, ' ') FROM unseen_image u JOIN image i ON i.id = u.image"), "/bin/third");
}

static void bytes_are_those_of_calls_that_move_them(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	caller(f, 1, P);
	call_at(f, 1, CALL_READ, 1, 0, 1, 1);
	call_at(f, 1, CALL_FSCANF, 2, 0, 2, 1);
	conclude(f);
	assert_string_equal(ask(f, "SELECT group_concat(name || ' ' || coalesce(bytes, '-') || ' ' || result, ', ') FROM call"),
		"read 8 8, fscanf - 8");
}

static void every_call_has_a_name_and_a_class(void **state)
{
	struct feed *f = *state;

	assert_string_equal(ask(f, "SELECT count(*) FROM call_name"), "0");
	caller(f, 1, P);
	caller(f, 2, P);
	assert_string_equal(ask(f, "SELECT count(DISTINCT layer || name) = count(*), count(*) = max(code) + 1, "
		"count(class) = count(*) FROM call_name"), "1|1|1");
	assert_true(CALL_MAX > 50);
	print_message("%d calls\n", CALL_MAX);
}

/* On the file that 'opened' names; order -1: not collective. */
static void mpi_at(struct feed *f, uint32_t id, enum layer_call code, int64_t opened, int order, int rank, int start)
{
	struct event ev = { .kind = EVENT_CALL, .time_ns = START_NS + start * STEP, .u.call = { .caller = id, .number = (uint32_t)start,
		.code = code, .latency_ns = STEP, .has_result = true, .result = 0, .has_mpi = true } };
	struct layer_mpi mpi = { .opened = opened, .order = order, .rank = rank, .size = 2 };

	feed(f, &ev, (const char *)&mpi, sizeof(mpi));
}

static void collective_calls_of_a_job_are_one(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	feed_discover(f, Q, 1);
	caller(f, 1, P);
	caller(f, 2, Q);
	mpi_at(f, 1, CALL_MPI_OPEN, 77, 0, 0, 1);
	mpi_at(f, 2, CALL_MPI_OPEN, 77, 0, 1, 2);
	mpi_at(f, 1, CALL_MPI_WRITE_ALL, 77, 1, 0, 3);
	mpi_at(f, 1, CALL_MPI_WRITE, 77, -1, 0, 4);
	mpi_at(f, 2, CALL_MPI_WRITE_ALL, 77, 1, 1, 5);
	mpi_at(f, 2, CALL_MPI_WRITE_ALL, 78, 1, 1, 6); /* another file */
	conclude(f);
	assert_string_equal(ask(f, "SELECT group_concat(name || ' ' || rank || ' ' || collective || ' ' || n, ', ') FROM "
		"(SELECT *, (SELECT count(*) FROM call o WHERE o.mpi_call_id = c.mpi_call_id) AS n FROM call c ORDER BY start_ns, id)"),
		"MPI_File_open 0 1 2, MPI_File_open 1 1 2, MPI_File_write_all 0 1 2, MPI_File_write 0 0 1, MPI_File_write_all 1 1 2, "
		"MPI_File_write_all 1 1 1");
}

/* A script that runs one program after the other: they number their files alike. */
static void jobs_after_each_other_stay_apart(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	for (uint32_t id = 1; id <= 4; id++) {
		caller(f, id, P);
		mpi_at(f, id, CALL_MPI_OPEN, 77, 0, (id - 1) % 2, (int)id);
	}
	conclude(f);
	assert_string_equal(ask(f, "SELECT group_concat(n, ' ') FROM (SELECT count(*) AS n FROM call GROUP BY mpi_call_id)"), "2 2");
}

static void wrong_texts_are_left_out(void **state)
{
	struct feed *f = *state;
	struct event ev = { .kind = EVENT_CALL, .time_ns = START_NS, .u.call = { .caller = 1, .number = 1, .code = CALL_MPI_OPEN, .has_mpi = true } };

	feed(f, &ev, "short", 5);
	conclude(f);
	assert_string_equal(ask(f, "SELECT count(*) FROM call"), "0");
}

/* Two of the same run: their ids and times differ when they are one. */
static void merged_traces_keep_calls_and_their_parents(void **state)
{
	struct feed *f = *state, *other = feed_begin(NULL);
	struct query_db *db;
	struct query *query;
	struct feed *both[] = { f, other };
	const char *paths[] = { f->db, other->db };

	for (int i = 0; i < 2; i++) {
		feed_discover(both[i], P, 1);
		caller(both[i], 1, P);
		call_at(both[i], 1, CALL_PREAD, 2, 1, 101, 1);
		call_at(both[i], 1, CALL_FREAD, 1, 0, 100, 10);
		op_at(both[i], P, 105);
		conclude(both[i]);
		feed_flush(both[i]);
	}
	assert_int_equal(query_open(paths, 2, QUERY_OPS, &db), 0);
	assert_int_equal(query_start(db, "SELECT count(*), count(parent), count(DISTINCT c.id), count(image), "
		"(SELECT count(*) FROM call a JOIN call b ON b.id = a.parent WHERE b.process = a.process AND b.name = 'fread') FROM call c",
		&query), 0);
	assert_int_equal(query_next(query), 1);
	assert_int_equal(query_int(query, 0), 6);
	assert_int_equal(query_int(query, 1), 4);
	assert_int_equal(query_int(query, 2), 6);
	assert_int_equal(query_int(query, 3), 6);
	assert_int_equal(query_int(query, 4), 4);
	query_end(query);
	query_close(db);
	feed_end(other);
}

/* Calls that were added up; end 0: they only copied, and their time is not known. */
static void sum_at(struct feed *f, enum layer_call code, uint32_t number, uint64_t calls, int start, int end)
{
	struct event ev = { .kind = EVENT_CALL, .time_ns = START_NS + start * STEP, .u.call = { .caller = 1, .number = number, .code = code,
		.latency_ns = 3 * STEP, .has_result = true, .result = 80, .has_length = true, .length = 100, .has_sum = true } };
	struct layer_sum sum = { .calls = calls, .measured = end ? MEASURED_ALL : MEASURED_NONE, .end_ns = end ? START_NS + end * STEP : 0, .least_ns = STEP,
		.most_ns = 2 * STEP };

	feed(f, &ev, (const char *)&sum, sizeof(sum));
}

static void handle_at(struct feed *f, enum op op, uint64_t handle, int start)
{
	struct event ev = OP_EVENT(f, P, op, .handle = handle, .length = 8, .result = 8);

	ev.time_ns = START_NS + start * STEP;
	feed(f, &ev, NULL, 0);
}

static void calls_that_were_added_up_are_one_row(void **state)
{
	struct feed *f = *state;

	feed_discover(f, P, 1);
	caller(f, 1, P);
	sum_at(f, CALL_FPUTS, 1, 7, 100, 120);
	sum_at(f, CALL_FGETS, 2, 5, 100, 0);
	sum_at(f, CALL_READ, 3, 1, 130, 140);
	conclude(f);
	assert_string_equal(ask(f, "SELECT group_concat(name || ' ' || calls || ' ' || length || ' ' || bytes || ' ' || coalesce(result, '-') || ' ' || "
		"coalesce(latency_ns, '-') || ' ' || coalesce(end_ns - start_ns, '-') || ' ' || coalesce(latency_min_ns, '-') || ' ' || "
		"coalesce(latency_max_ns, '-'), ', ') FROM (SELECT * FROM call ORDER BY id)"),
		"fputs 7 100 80 - 3000 20000 1000 2000, fgets 5 100 80 - - - - -, read 1 100 80 80 3000 3000 3000 3000");
	assert_int_equal(record_counts(f->record).calls, 13);
}

/* Sums of one kind follow each other; those of two kinds may lie in the same time. */
static void operations_are_below_sums_of_their_kind(void **state)
{
	struct feed *f = *state;
	uint64_t handle;

	feed_discover(f, P, 1);
	handle = feed_open(f, P, feed_node(f, S_IFREG | 0644, 0), O_RDWR);
	caller(f, 1, P);
	sum_at(f, CALL_FPUTS, 1, 7, 100, 120);
	sum_at(f, CALL_FWRITE, 2, 7, 121, 140);
	sum_at(f, CALL_FGETS, 3, 7, 100, 140);
	sum_at(f, CALL_PUTS, 4, 7, 100, 0);
	call_at(f, 1, CALL_FREAD, 5, 0, 125, 2);
	handle_at(f, OP_WRITE, handle, 105);
	handle_at(f, OP_WRITE, handle, 123);
	handle_at(f, OP_READ, handle, 105);
	handle_at(f, OP_READ, handle, 126);
	handle_at(f, OP_WRITE, handle, 150);
	op_at(f, P, 110);
	conclude(f);
	assert_string_equal(ask(f, "SELECT group_concat(o.name || '<' || coalesce(c.name, '-'), ' ') FROM (SELECT * FROM call WHERE layer = 'fs' AND "
		"name IN ('read', 'write', 'getattr') ORDER BY start_ns, name) o LEFT JOIN call c ON c.id = o.parent"),
		"read<fgets write<fputs getattr<- write<fwrite read<fread write<-");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, feed_setup, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(calls_and_operations_have_the_innermost_call_around_them),
		TEST(a_call_that_never_ends_is_no_parent),
		TEST(a_caller_is_of_the_program_that_ran_when_it_began),
		TEST(bytes_are_those_of_calls_that_move_them),
		TEST(every_call_has_a_name_and_a_class),
		TEST(collective_calls_of_a_job_are_one),
		TEST(jobs_after_each_other_stay_apart),
		TEST(wrong_texts_are_left_out),
		TEST(calls_that_were_added_up_are_one_row),
		TEST(operations_are_below_sums_of_their_kind),
		TEST(merged_traces_keep_calls_and_their_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
