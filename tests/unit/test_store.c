/* SPDX-License-Identifier: MIT */

/*
 * store.h: the file.  It is never put where something else is, only its owner may read it,
 * and it can be read while it is written.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/watched.h"
#include "db/event.h"
#include "db/store.h"
#include "test.h"

static struct store *create(const char *path, bool force)
{
	struct store *store;

	assert_int_equal(store_create(path, force, &store), 0);
	return store;
}

static void finish(struct store *store)
{
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_conclude(store), 0);
	assert_int_equal(store_commit(store), 0);
	store_fold(store);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_key(struct store *store, const char *key, int64_t value)
{
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_put_meta(store, key, V_INT(value)), 0);
	assert_int_equal(store_commit(store), 0);
}

/* ---- where ---- */

static void new_trace_belongs_to_its_owner_alone(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct stat st;

	umask(0);
	store_destroy(create(path, false));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void existing_trace_is_refused(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);

	put_key(store, "x", 1);
	store_destroy(store);
	assert_int_equal(store_create(path, false, &store), -EEXIST);
	assert_string_equal(sql_ask(path, "SELECT value FROM trace"), "1");
}

static void existing_trace_is_replaced_by_force(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);

	put_key(store, "x", 1);
	store_destroy(store);
	store_destroy(create(path, true));
	assert_string_equal(sql_ask(path, "SELECT count(*) FROM trace"), "0");
}

static void trace_of_a_killed_run_is_replaced_with_its_log(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	pid_t pid = fork();

	if (pid == 0) {
		put_key(create(path, false), "x", 1); /* is in the log */
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	store_destroy(create(path, true));
	assert_string_equal(sql_ask(path, "SELECT count(*) FROM trace"), "0");
}

static void trace_that_is_being_written_is_not_replaced(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *running = create(path, false), *store;

	put_key(running, "x", 1);
	assert_int_equal(store_create(path, true, &store), -EBUSY);
	assert_string_equal(sql_ask(path, "SELECT value FROM trace"), "1");
	store_destroy(running);
}

static void file_that_is_no_trace_is_never_touched(void **state)
{
	const char *path = temp_path(*state, "thesis.txt");
	char text[8] = { 0 };
	struct store *store;
	FILE *f;

	write_file(path, "text");
	assert_int_equal(store_create(path, false, &store), -EINVAL);
	assert_int_equal(store_create(path, true, &store), -EINVAL);
	f = fopen(path, "r");
	assert_non_null(fgets(text, sizeof(text), f));
	assert_string_equal(text, "text");
	fclose(f);
}

static void database_of_another_program_is_never_touched(void **state)
{
	const char *path = temp_path(*state, "other.db");
	struct store *store;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(store_create(path, true, &store), -EINVAL);
	assert_string_equal(sql_ask(path, "SELECT name FROM sqlite_master"), "t");
}

static void empty_file_directory_and_fifo_are_never_touched(void **state)
{
	const char *path = temp_path(*state, "there");
	struct store *store;
	struct stat st;

	write_file(path, "");
	assert_int_equal(store_create(path, true, &store), -EINVAL);
	assert_int_equal(remove(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(store_create(path, true, &store), -EINVAL);
	assert_int_equal(remove(path), 0);
	assert_int_equal(mkfifo(path, 0700), 0);
	assert_int_equal(store_create(path, true, &store), -EINVAL);
	assert_int_equal(lstat(path, &st), 0);
}

static void trace_is_not_made_through_a_symbolic_link(void **state)
{
	struct temp *temp = *state;
	const char *path = temp_path(temp, "link");
	struct store *store = NULL;
	char target[400];

	snprintf(target, sizeof(target), "%s/target", temp->dir);
	assert_int_equal(symlink(target, path), 0);
	assert_true(store_create(path, false, &store) < 0);
	assert_int_equal(access(target, F_OK), -1);
}

static void forced_link_to_a_trace_leaves_that_trace(void **state)
{
	struct temp *temp = *state;
	const char *path = temp_path(temp, "link");
	struct store *store;
	char target[400];

	snprintf(target, sizeof(target), "%s/target.db", temp->dir);
	store = create(target, false);
	put_key(store, "x", 1);
	store_destroy(store);
	assert_int_equal(symlink(target, path), 0);
	if (store_create(path, true, &store) == 0)
		store_destroy(store);
	assert_string_equal(sql_ask(target, "SELECT value FROM trace"), "1");
}

static void directory_that_is_not_there_is_an_error(void **state)
{
	struct store *store;

	assert_int_equal(store_create(temp_path(*state, "no/trace.db"), false, &store), -ENOENT);
}

static void relative_path_is_taken_from_the_working_directory(void **state)
{
	struct temp *temp = *state;
	char *before = getcwd(NULL, 0);

	assert_int_equal(chdir(temp->dir), 0);
	store_destroy(create("trace.db", false));
	assert_int_equal(chdir(before), 0);
	assert_int_equal(access(temp_path(temp, "trace.db"), F_OK), 0);
	free(before);
}

static void working_directory_may_change_while_it_is_open(void **state)
{
	struct temp *temp = *state;
	char *before = getcwd(NULL, 0);
	struct store *store;

	assert_int_equal(chdir(temp->dir), 0);
	store = create("trace.db", false);
	assert_int_equal(chdir("/"), 0);
	put_key(store, "x", 1);
	finish(store);
	store_destroy(store);
	assert_int_equal(chdir(before), 0);
	assert_string_equal(sql_ask(temp_path(temp, "trace.db"), "SELECT value FROM trace"), "1");
	free(before);
}

/* ---- while it is written ---- */

static void second_connection_reads_what_was_committed(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);

	put_key(store, "x", 1);
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_put_meta(store, "x", V_INT(2)), 0);
	assert_string_equal(sql_ask(path, "SELECT value FROM trace"), "1");
	assert_int_equal(store_commit(store), 0);
	assert_string_equal(sql_ask(path, "SELECT value FROM trace"), "2");
	store_destroy(store);
}

static void reader_does_not_keep_the_writer_from_writing(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);
	sqlite3 *reader;

	assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
	assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT * FROM meta", NULL, NULL, NULL),
		SQLITE_OK);
	put_key(store, "x", 1);
	put_key(store, "x", 2);
	sqlite3_close(reader);
	store_destroy(store);
}

/* A reader alone is no mark; the mark of another process is gone when that ends. */
static void trace_is_watched_as_long_as_it_has_a_mark(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);
	sqlite3 *reader;
	pid_t child;
	int ends[2], fd;

	put_key(store, "one", 1);
	assert_int_equal(sqlite3_open_v2(path, &reader, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT * FROM meta", NULL, NULL, NULL), SQLITE_OK);
	assert_false(store_is_watched(store));
	fd = watched_mark(path);
	assert_true(fd >= 0);
	assert_true(store_is_watched(store));
	put_key(store, "two", 2);
	close(fd);
	assert_false(store_is_watched(store));
	sqlite3_close(reader);

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		fd = watched_mark(path);
		_exit(write(ends[1], "x", 1) == 1 && fd >= 0 ? pause() : 1);
	}
	assert_int_equal(read(ends[0], &(char){ 0 }, 1), 1);
	assert_true(store_is_watched(store));
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(store_is_watched(store));
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(watched_mark(temp_path(*state, "another.db")), -ENOENT);
	store_destroy(store);
}

static void rollback_leaves_the_last_commit(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);

	put_key(store, "x", 1);
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_put_meta(store, "x", V_INT(2)), 0);
	store_rollback(store);
	store_rollback(store); /* of nothing is fine */
	assert_string_equal(sql_ask(path, "SELECT value FROM trace"), "1");
	store_destroy(store);
}

static void values_of_all_types_come_back(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);

	assert_int_equal(store_begin(store), 0);
	assert_int_equal(store_put_meta(store, "a", V_NULL), 0);
	assert_int_equal(store_put_meta(store, "b", V_INT(INT64_MIN)), 0);
	assert_int_equal(store_put_meta(store, "c", V_STR("t")), 0);
	assert_int_equal(store_put_meta(store, "d", V_BYTES(VALUE_BLOB, "\0\xff", 2)), 0);
	assert_int_equal(store_put_meta(store, "e", V_ID(0)), 0);
	assert_int_equal(store_put_meta(store, "f", V_STR(NULL)), 0);
	assert_int_equal(store_commit(store), 0);
	assert_string_equal(sql_ask(path, "SELECT value FROM trace ORDER BY key"),
		"NULL\n-9223372036854775808\nt\nx'00ff'\nNULL\nNULL");
	store_destroy(store);
}

static void every_statement_fills_a_row_of_its_table(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);
	struct value row[32];

	for (int i = 0; i < 32; i++)
		row[i] = V_INT(4711);
	assert_int_equal(store_begin(store), 0);
	for (enum put put = 0; put < PUT_MAX; put++)
		assert_int_equal(store_put(store, put, row), 0);
	assert_int_equal(store_commit(store), 0);
	assert_string_equal(sql_ask(path, "SELECT count(*) FROM processes JOIN images USING (id) "
		"JOIN files USING (id) JOIN handles USING (id) JOIN touches "
		"USING (id) JOIN missing_names ON missing_names.process = id JOIN ops_name USING (id) JOIN ops_handle USING (id) "
		"JOIN directories USING (id) JOIN path_names USING (id) JOIN mounts USING (id) JOIN kinds USING (id) JOIN ways USING "
		"(id) JOIN threads USING (id) JOIN names ON names.file = id JOIN moved ON moved.handle = id "
		"JOIN uses ON uses.handle = id JOIN second_operands ON op = id"), "1");
	store_destroy(store);
}

static void image_is_given_its_end(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);
	struct value row[14] = { V_INT(1) };

	assert_int_equal(store_put(store, PUT_IMAGE, row), 0);
	assert_int_equal(store_end_image(store, 1, 99), 0);
	assert_string_equal(sql_ask(path, "SELECT end_t FROM images"), "99");
	store_destroy(store);
}

static void end_of_an_image_is_kept_whether_its_row_waits_or_not(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);
	struct value row[14] = { V_INT(1) };

	assert_int_equal(store_begin(store), 0);
	for (int i = 1; i <= 20; i++) { /* those that make a statement full are in the table, the rest wait */
		row[0] = V_INT(i);
		assert_int_equal(store_put(store, PUT_IMAGE, row), 0);
	}
	for (int i = 1; i <= 20; i++)
		assert_int_equal(store_end_image(store, i, 100 + i), 0);
	assert_int_equal(store_commit(store), 0);
	assert_string_equal(sql_ask(path, "SELECT count(*), min(end_t - id), max(end_t - id) FROM images"),
		"20|100|100");
	store_destroy(store);
}

static void last_row_of_a_key_stays(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);

	assert_int_equal(store_begin(store), 0);
	for (int i = 0; i < 100; i++) { /* the same key again: while its row waits, and after it was written */
		int64_t file = i % 25;

		assert_int_equal(store_put(store, PUT_NAME,
			(struct value[]){ V_INT(file), V_INT(1), V_INT(2), V_INT(i) }), 0);
		assert_int_equal(store_put(store, PUT_NAME,
			(struct value[]){ V_INT(file), V_INT(1), V_INT(2), V_INT(1000 + i) }), 0);
	}
	assert_int_equal(store_commit(store), 0);
	assert_string_equal(sql_ask(path, "SELECT count(*), min(to_t), max(to_t) FROM names"), "25|1075|1099");
	store_destroy(store);
}

static void texts_of_any_length_wait_or_do_not(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);
	char text[40000];

	assert_int_equal(store_begin(store), 0);
	for (int i = 1; i <= 200; i++) {
		size_t len = i % 10 == 0 ? sizeof(text) : (size_t)i * 17 % 3000;

		memset(text, 'a' + i % 26, len);
		assert_int_equal(store_put(store, PUT_PATH_NAME,
			(struct value[]){ V_INT(i), V_NULL, V_BYTES(VALUE_TEXT, text, len) }), 0);
		memset(text, '!', sizeof(text)); /* what was put does not need it any more */
	}
	assert_int_equal(store_commit(store), 0);
	assert_string_equal(sql_ask(path, "SELECT count(*), sum(length(path) = CASE id %% 10 WHEN 0 THEN 40000 "
		"ELSE id * 17 %% 3000 END), sum(trim(path, char(97 + id %% 26)) = '') FROM paths"),
		"200|200|200");
	store_destroy(store);
}

static void nothing_of_a_transaction_that_is_rolled_back_stays(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store = create(path, false);
	struct value row[9] = { V_INT(1) };

	assert_int_equal(store_begin(store), 0);
	for (int i = 1; i <= 20; i++) {
		row[0] = V_INT(i);
		assert_int_equal(store_put(store, PUT_OP_HANDLE, row), 0);
		assert_int_equal(store_put(store, PUT_SECOND_OPERAND, row), 0);
	}
	store_rollback(store);
	put_key(store, "after", 1);
	assert_string_equal(sql_ask(path, "SELECT (SELECT count(*) FROM ops_handle), (SELECT count(*) FROM second_operands), "
		"(SELECT count(*) FROM trace)"), "0|0|1");
	store_destroy(store);
}

/* ---- its own files ---- */

static void files_of_the_database_are_known_by_their_inodes(void **state)
{
	struct temp *temp = *state;
	struct store *store = create(temp_path(temp, "trace.db"), false);
	static const char *const names[] = { "trace.db", "trace.db-wal", "trace.db-shm" };
	struct store_file files[STORE_FILES];
	struct stat st;

	store_files(store, files);
	for (int i = 0; i < STORE_FILES; i++) {
		assert_int_equal(stat(temp_path(temp, names[i]), &st), 0);
		assert_int_equal(files[i].ino, st.st_ino);
		assert_int_equal(files[i].dev, st.st_dev);
		assert_int_equal(st.st_mode & 077, 0);
	}
	assert_int_equal(stat(temp->dir, &st), 0);
	assert_int_equal(store_directory(store).ino, st.st_ino);
	assert_string_equal(store_name(store), "trace.db");
	store_destroy(store);
}

static void reserve_has_no_name_and_is_given_back(void **state)
{
	struct temp *temp = *state;
	struct store *store = create(temp_path(temp, "trace.db"), false);

	assert_int_equal(access(temp_path(temp, "trace.db-reserve"), F_OK), -1);
	store_release_reserve(store);
	store_release_reserve(store);
	store_destroy(store);
}

/* ---- paths that memory has no room for ---- */

#define SPILLED 300000 /* more than SQLite keeps in memory */

static void put_path(struct store *store, int64_t id, const char *text)
{
	assert_int_equal(store_put(store, PUT_PATH_NAME, (struct value[]){ V_INT(id), V_NULL, V_STR(text) }), 0);
}

static int64_t find(struct store *store, uint32_t hash, const char *text)
{
	const struct value path = V_STR(text);
	int64_t id = -1;

	assert_int_equal(store_find_path(store, hash, &path, &id), 0);
	return id;
}

static void paths_of_one_hash_are_told_apart_by_their_text(void **state)
{
	struct store *store = create(temp_path(*state, "trace.db"), false);

	assert_int_equal(store_begin(store), 0);
	assert_int_equal(find(store, 7, "/a"), 0);
	put_path(store, 1, "/a");
	put_path(store, 2, "/b");
	put_path(store, 3, "/c");
	for (int id = 1; id < 4; id++)
		assert_int_equal(store_spill_path(store, id < 3 ? 7 : UINT32_MAX, id), 0);
	assert_int_equal(find(store, 7, "/a"), 1);
	assert_int_equal(find(store, 7, "/b"), 2);
	assert_int_equal(find(store, 7, "/c"), 0);
	assert_int_equal(find(store, UINT32_MAX, "/c"), 3);
	assert_int_equal(store_commit(store), 0);
	assert_int_equal(find(store, 7, "/b"), 2);
	store_destroy(store);
}

/* How many files are open that lie in the directory and have no name there. */
static int count_nameless(const char *dir)
{
	char link[64], target[PATH_MAX];
	int n = 0;

	for (int fd = 0; fd < 256; fd++) {
		ssize_t len;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = readlink(link, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		n += strncmp(target, dir, strlen(dir)) == 0 && strstr(target, " (deleted)");
	}
	return n;
}

static int spill_all(struct store *store)
{
	int r = 0;

	for (int i = 1; i <= SPILLED && r == 0; i++)
		r = store_spill_path(store, i * 2654435761u, i);
	return r;
}

static void what_memory_has_no_room_for_is_beside_the_trace_and_has_no_name(void **state)
{
	struct temp *temp = *state;
	struct store *store = create(temp_path(temp, "trace.db"), false);
	int before = count_nameless(temp->dir);

	assert_int_equal(before, 1); /* the reserve */
	assert_int_equal(store_begin(store), 0);
	assert_int_equal(spill_all(store), 0);
	assert_int_equal(count_nameless(temp->dir), before + 1);
	put_path(store, SPILLED / 3, "/a");
	assert_int_equal(find(store, SPILLED / 3 * 2654435761u, "/a"), SPILLED / 3);
	assert_int_equal(store_commit(store), 0);
	store_destroy(store);
	assert_int_equal(count_nameless(temp->dir), 0);
}

static void what_cannot_be_let_go_fails_the_transaction(void **state)
{
	struct temp *temp = *state;
	struct store *store = create(temp_path(temp, "trace.db"), false);

	assert_int_equal(store_begin(store), 0);
	temp_take_away(temp);
	assert_int_equal(spill_all(store), -EACCES);
	assert_string_equal(store_error(store), "temporary file of paths: "
		"unable to open database file");
	assert_int_equal(store_commit(store), -EACCES);
	store_rollback(store);
	store_destroy(store);
}

static void finished_trace_is_one_file_that_is_worked_out(void **state)
{
	struct temp *temp = *state;
	struct store *store = create(temp_path(temp, "trace.db"), false);

	put_key(store, "x", 1);
	finish(store);
	store_destroy(store);
	assert_int_equal(access(temp_path(temp, "trace.db-wal"), F_OK), -1);
	assert_int_equal(access(temp_path(temp, "trace.db-shm"), F_OK), -1);
	assert_string_equal(sql_ask(temp_path(temp, "trace.db"),
		"SELECT (SELECT value FROM trace), (SELECT count(*) FROM sqlite_master "
		"WHERE sql LIKE 'CREATE VIEW access_rows%%FROM accesses%%'), (SELECT journal_mode FROM "
		"pragma_journal_mode)"), "1|1|delete");
}

static void destroy_takes_null(void **state)
{
	(void)state;
	store_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_setup, temp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(new_trace_belongs_to_its_owner_alone),
		TEST(existing_trace_is_refused),
		TEST(existing_trace_is_replaced_by_force),
		TEST(trace_of_a_killed_run_is_replaced_with_its_log),
		TEST(trace_that_is_being_written_is_not_replaced),
		TEST(file_that_is_no_trace_is_never_touched),
		TEST(database_of_another_program_is_never_touched),
		TEST(empty_file_directory_and_fifo_are_never_touched),
		TEST(trace_is_not_made_through_a_symbolic_link),
		TEST(forced_link_to_a_trace_leaves_that_trace),
		TEST(directory_that_is_not_there_is_an_error),
		TEST(relative_path_is_taken_from_the_working_directory),
		TEST(working_directory_may_change_while_it_is_open),
		TEST(second_connection_reads_what_was_committed),
		TEST(reader_does_not_keep_the_writer_from_writing),
		TEST(trace_is_watched_as_long_as_it_has_a_mark),
		TEST(rollback_leaves_the_last_commit),
		TEST(values_of_all_types_come_back),
		TEST(every_statement_fills_a_row_of_its_table),
		TEST(image_is_given_its_end),
		TEST(end_of_an_image_is_kept_whether_its_row_waits_or_not),
		TEST(last_row_of_a_key_stays),
		TEST(texts_of_any_length_wait_or_do_not),
		TEST(nothing_of_a_transaction_that_is_rolled_back_stays),
		TEST(files_of_the_database_are_known_by_their_inodes),
		TEST(reserve_has_no_name_and_is_given_back),
		TEST(paths_of_one_hash_are_told_apart_by_their_text),
		TEST(what_memory_has_no_room_for_is_beside_the_trace_and_has_no_name),
		TEST(what_cannot_be_let_go_fails_the_transaction),
		TEST(finished_trace_is_one_file_that_is_worked_out),
		TEST(destroy_takes_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
