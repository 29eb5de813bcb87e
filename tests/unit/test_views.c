/* SPDX-License-Identifier: MIT */

/*
 * views.sql: the public interface of a trace, ftrac-db(5), version 1.  The lists here are that
 * promise, written down a second time: columns may be added, never renamed.
 */

#include "feed.h"

enum { P = 10 };

static const struct {
	const char *view, *columns;
} interface[] = {
	{ "trace", "key value" },
	{ "process", "id host pid ppid parent job xform phase command exe comm cwd uid gid start_ns "
		     "end_ns lstart lstop exit_code exit_signal cpu_ns utime_ns stime_ns vmpeak_bytes "
		     "rsspeak_bytes read_char write_char read_bytes write_bytes nvcsw nivcsw minflt "
		     "majflt cpu_delay_ns blkio_delay_ns swapin_delay_ns reclaim_delay_ns cgroup tier "
		     "state program image ops ops_ns step task part label" },
	{ "run", "first_process last_process host job xform fidelity" },
	{ "merged", "part key value" },
	{ "clock", "part t_ns realtime_ns boot_ns synchronized error_ns" },
	{ "host", "name boot_id offset_ns uncertainty_ns drift synchronized error_ns contradiction_ns traces" },
	{ "doubt", "reason path file other" },
	{ "start", "process parent part reason candidates" },
	{ "mount", "id fstype path root source fsid" },
	{ "file_identity", "file host boot_id system place dev ino birth_ns fstype" },
	{ "program", "image process seq name shell script driver title own helper" },
	{ "file_name", "file path" },
	{ "paths", "id path" },
	{ "process_job", "process job xform phase lstart lstop" },
	{ "process_step", "process step task part label" },
	{ "image", "id process seq exe command argv argv_raw cwd start_ns end_ns stdin stdout stderr "
		   "comm program" },
	{ "image_figures", "image process seq cpu_ns utime_ns stime_ns read_char write_char read_bytes "
			   "write_bytes minflt majflt" },
	{ "environ", "image name value" },
	{ "sample", "process t_ns rss_bytes cpu_ns" },
	{ "file", "id path dev ino kind fstype mount size_first size_last created deleted birth_ns mount_id" },
	{ "name", "file path from_ns to_ns" },
	{ "op", "id process image tid name file version path path2 file2 start_ns latency_ns result "
		"offset length bytes via handle pieces layer" },
	{ "handle_op", "id process image tid name file version path path2 file2 start_ns latency_ns "
		       "result offset length bytes via handle" },
	{ "other_op", "id process image tid name file version path path2 file2 start_ns latency_ns result "
		     "offset length bytes via handle" },
	{ "open_op", "id process image tid name file version path path2 file2 start_ns latency_ns result "
		     "offset length bytes via handle" },
	{ "close_op", "id process image tid name file version path path2 file2 start_ns latency_ns result "
		     "offset length bytes via handle" },
	{ "stat_op", "id process image tid name file version path path2 file2 start_ns latency_ns result "
		     "offset length bytes via handle" },
	{ "data_op", "id process image tid name file version path path2 file2 start_ns latency_ns result "
		     "offset length bytes via handle" },
	{ "name_op", "id process image tid name file version path path2 file2 start_ns latency_ns result "
		     "offset length bytes via handle" },
	{ "call", "id process image tid layer name class parent fd handle file path offset length bytes result start_ns latency_ns "
		"rank size collective mpi_call_id calls end_ns latency_min_ns latency_max_ns" },
	{ "unseen_image", "image process program" },
	{ "file_lock", "op process image file path handle start_ns latency_ns result type owner waits asks offset length" },
	{ "range_op", "id process image name file path handle start_ns latency_ns result offset length range_flags" },
	{ "mapping", "op process image name file path handle start_ns result offset length protection shared" },
	{ "handle", "id process image file path flags mode fidelity open_ns close_ns nread bread "
		    "nwrite bwrite nseek read_ns write_ns sequential_reads sequential_writes "
		    "consecutive_reads consecutive_writes mapped exec" },
	{ "sole_use", "handle process image file version nread bread nwrite bwrite nseek first_read last_read "
		     "first_write last_write read_ns write_ns path" },
	{ "shared_use", "handle process image file version nread bread nwrite bwrite nseek first_read last_read "
		     "first_write last_write read_ns write_ns path" },
	{ "any_use", "handle process image file version nread bread nwrite bwrite nseek first_read last_read "
		     "first_write last_write read_ns write_ns path" },
	{ "use", "handle process image file version nread bread nwrite bwrite nseek first_read_ns "
		 "last_read_ns first_write_ns last_write_ns read_ns write_ns first_ns last_ns exec" },
	{ "access", "process file version path opens nread bread nwrite bwrite created truncated "
		    "renamed unlinked executed mapped assumed nmeta first_ns last_ns io_ns reads "
		    "writes first_in_ns first_out_ns last_out_ns emptied" },
	{ "access_parts", "process file version path last_path opens nread bread nwrite bwrite created truncated renamed unlinked "
			  "executed mapped assumed nmeta first_t last_t io_ns first_in first_out last_out emptied" },
	{ "access_rows", "process file version path opens nread bread nwrite bwrite created truncated "
			  "renamed unlinked executed mapped assumed_read assumed_write uncounted nmeta "
			  "first_t last_t io_ns first_in first_out last_out emptied" },
	{ "socket", "file domain type local remote peer time_ns" },
	{ "socket_peer", "file peer" },
	{ "socket_name", "file name" },
	{ "channel_access", "process file version path opens nread bread nwrite bwrite created truncated "
			    "renamed unlinked executed mapped assumed nmeta first_ns last_ns io_ns reads "
			    "writes first_in_ns first_out_ns last_out_ns emptied" },
	{ "pipe_end", "file process bread bwrite nread nwrite first_write_ns last_read_ns divided token" },
	{ "assumed_pipe", "process path reads writes first_t last_t" },
	{ "flow", "writer reader via bytes first_ns last_ns assumed path" },
	{ "process_metric", "t_ns interval_ns process fstype mount operation count errors bytes latency_ns first_ns latencies sizes" },
	{ "metric", "t_ns interval_ns fstype mount operation phase count errors bytes latency_ns latencies" },
	{ "metric_latency", "t_ns interval_ns fstype mount operation phase bucket_ns count" },
	{ "metric_size", "t_ns interval_ns fstype mount operation phase bucket_bytes count" },
	{ "process_time", "process threads_ns running_ns queue_ns file_ns pipe_ns socket_ns lock_ns child_ns sleep_ns "
			  "event_ns memory_ns stopped_ns other_ns" },
	{ "device_io", "file path process name operations bytes completed latency_ns first_ns last_ns" },
	{ "ghost", "process path count first_ns" },
	{ "declared", "key directory target prerequisite order_only" },
	{ "ioprof", "xform pid exe file bread nread bwrite nwrite nseek mode flags nlseek" },
	{ "pprof", "xform pid ppid exe lstart lstop tstart tstop vmpeak rsspeak utime stime wtime" },
};

static void every_view_has_its_columns(void **state)
{
	struct feed *f = *state;
	char names[1024], *column, *rest;

	for (size_t i = 0; i < sizeof(interface) / sizeof(interface[0]); i++) {
		snprintf(names, sizeof(names), "%s", interface[i].columns);
		for (column = strtok_r(names, " ", &rest); column; column = strtok_r(NULL, " ", &rest))
			if (!strcmp("0", ask(f, "SELECT count(*) FROM pragma_table_info(%Q) "
				"WHERE name = %Q", interface[i].view, column)))
				fail_msg("view %s has no column %s", interface[i].view, column);
	}
}

static void there_is_no_view_that_is_not_listed(void **state)
{
	struct feed *f = *state;

	assert_int_equal(atoi(ask(f, "SELECT count(*) FROM sqlite_master WHERE type = 'view'")),
		sizeof(interface) / sizeof(interface[0]));
}

/* Else each operation would be computed with all its columns. */
static void sqlite_flattens_operations(void **state)
{
	const char *plan = ask(*state, "EXPLAIN QUERY PLAN SELECT id, name, handle, bytes FROM op WHERE name = 'read'");

	assert_non_null(strstr(plan, "SCAN o"));
	assert_null(strstr(plan, "CO-ROUTINE"));
	assert_null(strstr(plan, "MATERIALIZE"));
}

static void every_view_can_be_read_in_an_empty_trace(void **state)
{
	for (size_t i = 0; i < sizeof(interface) / sizeof(interface[0]); i++)
		ask(*state, "SELECT * FROM %s", interface[i].view);
}

static void every_view_can_be_read_with_the_short_names_of_columns(void **state)
{
	for (size_t i = 0; i < sizeof(interface) / sizeof(interface[0]); i++) {
		char columns[1024];

		snprintf(columns, sizeof(columns), "%s", interface[i].columns);
		for (char *c = columns; *c; c++)
			*c = *c == ' ' ? ',' : *c;
		ask(*state, "SELECT %s FROM %s", columns, interface[i].view);
	}
}

static void database_says_what_it_is(void **state)
{
	struct feed *f = *state;

	assert_string_equal(ask(f, "SELECT application_id, user_version FROM "
		"pragma_application_id, pragma_user_version"), "1718907491|1");
}

static void operations_have_the_names_of_the_closed_list(void **state)
{
#define X(op, name, by_name, by_handle) " " #name
	assert_string_equal(ask(*state, "SELECT ' ' || group_concat(name, ' ') FROM op_name"), EVENT_OPS(X));
#undef X
}

static void every_operation_can_be_recorded(void **state)
{
	struct feed *f = *state;

	for (enum op op = 0; op < OP_MAX; op++)
		feed_op_names(f, OP_EVENT(f, P, op, .node = NODE_ROOT, .other = NODE_ROOT,
			.result = -EIO), "a", "b");
	assert_string_equal(ask(f, "SELECT group_concat(name) = (SELECT group_concat(name) "
		"FROM op_name) FROM (SELECT name FROM op ORDER BY id)"), "1");
}

static void ioprof_has_a_row_for_each_image_and_handle(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, feed_file(f, P, NODE_ROOT, "a", 9), O_RDWR);

	feed_read(f, P, h, 0, 4); /* two versions, one row */
	feed_write(f, P, h, 4, 2);
	assert_string_equal(ask(f, "SELECT pid, exe, file, nread, bread, nwrite, bwrite, nseek, mode, "
		"flags FROM ioprof"), "10|/bin/p10|/a|1|4|1|2|0|NULL|O_RDWR");
}

static void ioprof_has_files_that_were_opened_and_not_used(void **state)
{
	struct feed *f = *state;

	feed_open(f, P, feed_file(f, P, NODE_ROOT, "a", 9), O_RDONLY);
	feed_open_as(f, P, feed_file(f, P, NODE_ROOT, "b", 9), O_RDONLY, FIDELITY_OPEN);
	feed_open(f, P, feed_dir(f, P, NODE_ROOT, "d"), O_RDONLY | O_DIRECTORY);
	assert_string_equal(ask(f, "SELECT pid, exe, file, nread, bread, nwrite, bwrite, nseek FROM ioprof "
		"ORDER BY file"), "10|/bin/p10|/a|0|0|0|0|0\n10|/bin/p10|/b|NULL|NULL|NULL|NULL|NULL");
}

/* 040: FMODE_EXEC */
static void reads_of_the_kernel_for_an_exec_are_told_from_others(void **state)
{
	struct feed *f = *state;
	uint64_t file = feed_file(f, P, NODE_ROOT, "a", 9), program = feed_open(f, P, file, 040);

	feed_data(f, P, OP_READ, program, 0, 4, VIA_PAGECACHE);
	feed_read(f, P, feed_open(f, P, file, O_RDONLY), 0, 2);
	assert_string_equal(ask(f, "SELECT via, bytes FROM op WHERE name = 'read' ORDER BY id"),
		"exec|4\ndirect|2");
	assert_string_equal(ask(f, "SELECT exec, bread FROM use ORDER BY handle"), "1|4\n0|2");
	assert_string_equal(ask(f, "SELECT exec FROM handle ORDER BY id"), "1\n0");
}

static void standard_streams_are_paths(void **state)
{
	struct feed *f = *state;
	struct facts_of_process facts = { .argv = "x", .argv_len = 2, .stdin_path = "pipe:[12]" };

	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = 40, .tid = 40 }, 0, &facts);
	assert_string_equal(ask(f, "SELECT stdin, stdout FROM image ORDER BY id DESC LIMIT 1"),
		"pipe:[12]|NULL");
}

static void job_and_transformation_of_the_run_are_those_of_each_process(void **state)
{
	struct feed *f = *state;

	assert_int_equal(store_put_meta(f->store, "job", V_STR("7")), 0);
	assert_int_equal(store_put_meta(f->store, "xform", V_STR("mAdd")), 0);
	assert_int_equal(store_put_meta(f->store, "host", V_STR("n1")), 0);
	assert_string_equal(ask(f, "SELECT DISTINCT host, job, xform FROM process"), "n1|7|mAdd");
}

/* The program that wrote a trace may be another one, or faulty. */
static void arguments_that_are_no_json_are_none(void **state)
{
	struct feed *f = *state;
	sqlite3 *db;

	feed_flush(f);
	assert_int_equal(store_commit(f->store), 0);
	assert_int_equal(sqlite3_open(f->db, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE images SET argv = '[\"x' WHERE process = 1", NULL, NULL,
		NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(store_begin(f->store), 0);
	assert_string_equal(ask(f, "SELECT id, command, program FROM process"),
		"1|NULL|p10\n2|/bin/p20|p20\n3|/bin/p30|p30");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, feed_setup_processes, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_view_has_its_columns),
		TEST(there_is_no_view_that_is_not_listed),
		TEST(sqlite_flattens_operations),
		cmocka_unit_test_setup_teardown(every_view_can_be_read_in_an_empty_trace, feed_setup,
			feed_teardown),
		TEST(every_view_can_be_read_with_the_short_names_of_columns),
		TEST(database_says_what_it_is),
		TEST(operations_have_the_names_of_the_closed_list),
		TEST(every_operation_can_be_recorded),
		TEST(ioprof_has_a_row_for_each_image_and_handle),
		TEST(ioprof_has_files_that_were_opened_and_not_used),
		TEST(reads_of_the_kernel_for_an_exec_are_told_from_others),
		TEST(standard_streams_are_paths),
		TEST(job_and_transformation_of_the_run_are_those_of_each_process),
		cmocka_unit_test_setup_teardown(arguments_that_are_no_json_are_none, feed_setup_processes,
			feed_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
