/* SPDX-License-Identifier: MIT */

/*
 * procfs: what stands in /proc comes out as fields, whatever a process calls itself; what cannot
 * be read is marked as not known; of the environment only what is on the list is kept.
 */

#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "db/event.h"
#include "db/figures.h"
#include "db/text.h"
#include "procmon/environ.h"
#include "procmon/proc_snapshot.h"
#include "procmon/procfs.h"
#include "procmon/usage.h"

#define STAT_TAIL                                                                              \
	" S 77 88 66 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 123456 10000 300 "                   \
	"18446744073709551615 4194304 4200000 140736000000000 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 " \
	"5000000 5001000 6000000 140736000001000 140736000001010 140736000001010 140736000001fff 0\n"

static struct procfs_stat parse(const char *text)
{
	struct procfs_stat stat;

	assert_int_equal(procfs_parse_stat(text, strlen(text), &stat), 0);
	return stat;
}

static void stat_gives_family_start_and_threads(TEST_UNUSED void **state)
{
	struct procfs_stat stat = parse("4711 (make)" STAT_TAIL);

	assert_int_equal(stat.pid, 4711);
	assert_int_equal(stat.ppid, 77);
	assert_int_equal(stat.session, 66);
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.threads, 3);
	assert_int_equal(stat.start_ticks, 123456);
	assert_string_equal(stat.comm, "make");
	assert_true(stat.image != 0);
	assert_false(stat.hidden);
}

static void stat_understands_any_name(TEST_UNUSED void **state)
{
	static const char *const names[] = { "a b", ") R 1 (", "((", "", ")", "x\ny", "1 (2) S 3" };
	char text[1024];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "1 (%s)%s", names[i], STAT_TAIL);
		assert_string_equal(parse(text).comm, names[i]);
		assert_int_equal(parse(text).ppid, 77);
	}
}

static void stat_refuses_what_is_cut_or_is_not_one(TEST_UNUSED void **state)
{
	static const char *const texts[] = { "", "1", "1 (x", "1 (x)", "1 (x) ", "1 (x) S",
		"1 (x) S 2 3 4", "(((", ")(", "1 )x( S 1 2 3" };
	struct procfs_stat stat;
	char large[2000];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(procfs_parse_stat(texts[i], strlen(texts[i]), &stat), -EBADMSG);
	memset(large, '(', sizeof(large));
	assert_int_equal(procfs_parse_stat(large, sizeof(large), &stat), -EBADMSG);
}

static void image_is_not_known_of_those_we_may_not_see(TEST_UNUSED void **state)
{
	struct procfs_stat stat = parse("9 (su) S 1 9 9 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 "
		"0 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n");

	assert_true(stat.hidden);
	assert_int_equal(stat.image, 0);
}

static void ended_process_has_no_image(TEST_UNUSED void **state)
{
	struct procfs_stat stat = parse("9 (true) Z 1 9 9 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 "
		"0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n");

	assert_false(stat.hidden);
	assert_int_equal(stat.image, 0);
}

static void status_gives_effective_ids(TEST_UNUSED void **state)
{
	static const char text[] = "Name:\tTgid:\\nTgid: 5\nUmask:\t0022\nState:\tS (sleeping)\n"
		"Tgid:\t17\nNgid:\t0\nPid:\t18\nPPid:\t3\nTracerPid:\t0\n"
		"Uid:\t1000\t1001\t1002\t1003\nGid:\t100\t101\t102\t103\nFDSize:\t64\n";
	struct procfs_status status;

	assert_int_equal(procfs_parse_status(text, sizeof(text) - 1, &status), 0);
	assert_int_equal(status.tgid, 17);
	assert_int_equal(status.ppid, 3);
	assert_int_equal(status.uid, 1001);
	assert_int_equal(status.gid, 101);
	for (size_t len = 0; len < strlen(text) - 30; len++)
		assert_int_equal(procfs_parse_status(text, len, &status), -EBADMSG);
}

static void syscall_gives_number_and_arguments(TEST_UNUSED void **state)
{
	static const char text[] = "1 0x3 0x7f0000000030 0x100000 0x0 0x0 0x0 0x7ffd00000000 0x7f1111111111\n";
	struct procfs_syscall call;

	assert_int_equal(procfs_parse_syscall(text, strlen(text), &call), 0);
	assert_int_equal(call.number, 1);
	assert_int_equal(call.arguments[0], 3);
	assert_int_equal(call.arguments[1], 0x7f0000000030);
	assert_int_equal(call.arguments[2], 1 << 20);
	assert_int_equal(procfs_parse_syscall(text, 20, &call), -EBADMSG);
}

static void thread_that_runs_is_in_no_syscall(TEST_UNUSED void **state)
{
	struct procfs_syscall call;

	assert_int_equal(procfs_parse_syscall("running\n", 8, &call), -EAGAIN);
	assert_int_equal(procfs_parse_syscall("-1 0x7ffd 0x7f11\n", 17, &call), -EAGAIN);
	assert_int_equal(procfs_parse_syscall("", 0, &call), -EAGAIN);
}

static void status_gives_what_access_is_judged_by(TEST_UNUSED void **state)
{
	static const char text[] = "Name:\tGroups:\\nUid:\nUmask:\t0022\n"
		"Uid:\t1000\t1001\t1002\t1003\nGid:\t100\t101\t102\t4294967294\n"
		"FDSize:\t64\nGroups:\t4 24 4294967293 \nNStgid:\t5\nCapInh:\t0000000000000000\n"
		"CapEff:\t000001ffffffffff\n";
	struct procfs_credentials read;
	gid_t groups[3] = { 0 };

	assert_int_equal(procfs_parse_credentials(text, sizeof(text) - 1, groups, 2, &read), 0);
	assert_int_equal(read.fsuid, 1003);
	assert_int_equal(read.fsgid, 4294967294);
	assert_int_equal(read.effective, 0x1ffffffffff);
	assert_int_equal(read.n_groups, 3);
	assert_int_equal(groups[0], 4);
	assert_int_equal(groups[1], 24);
	assert_int_equal(groups[2], 0);
	for (size_t len = 0; len < strlen(text) - 26; len++)
		assert_int_equal(procfs_parse_credentials(text, len, groups, 3, &read), -EBADMSG);
}

static void no_groups_are_none(TEST_UNUSED void **state)
{
	static const char text[] = "Name:\tx\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t \n"
		"CapEff:\t0000000000000000\n";
	struct procfs_credentials read;

	assert_int_equal(procfs_parse_credentials(text, sizeof(text) - 1, NULL, 0, &read), 0);
	assert_int_equal(read.n_groups, 0);
}

static void assert_cgroup(const char *text, const char *expected)
{
	size_t len;
	const char *path = procfs_parse_cgroup(text, strlen(text), &len);

	if (!expected) {
		assert_null(path);
		return;
	}
	assert_non_null(path);
	assert_int_equal(len, strlen(expected));
	assert_memory_equal(path, expected, len);
}

static void cgroup_is_the_deepest(TEST_UNUSED void **state)
{
	assert_cgroup("0::/user.slice\n", "/user.slice");
	assert_cgroup("12:pids:/a\n9:memory:/slurm/uid_0/job_5\n1:name=systemd:/b\n0::/\n",
		"/slurm/uid_0/job_5");
	assert_cgroup("0::/with:colon", "/with:colon");
	assert_cgroup("", NULL);
	assert_cgroup("nothing\n", NULL);
}

/* ---- the list of variables ---- */

static void names_of_jobs_are_let_through(TEST_UNUSED void **state)
{
	assert_true(environ_allowed("PEGASUS_DAG_JOB_ID", NULL));
	assert_true(environ_allowed("SLURM_JOB_ID", NULL));
	assert_true(environ_allowed("PBS_JOBID", NULL));
	assert_true(environ_allowed("MAKELEVEL", NULL));
	assert_true(environ_allowed("FTRAC_JOB", NULL));
}

static void secrets_are_not(TEST_UNUSED void **state)
{
	assert_false(environ_allowed("AWS_SECRET_ACCESS_KEY", NULL));
	assert_false(environ_allowed("SLURM_JWT", NULL));
	assert_false(environ_allowed("SNAKEMAKE_STORAGE_S3_SECRET_KEY", NULL));
	assert_false(environ_allowed("_CONDOR_CREDS", NULL));
	assert_false(environ_allowed("MAKELEVELS", NULL));
	assert_false(environ_allowed("", NULL));
}

static void patterns_of_the_user_add_to_the_list(TEST_UNUSED void **state)
{
	const char *const more[] = { "LANG", "*_THREADS", "[xy]?", NULL };

	assert_true(environ_allowed("LANG", more));
	assert_true(environ_allowed("OMP_NUM_THREADS", more));
	assert_true(environ_allowed("y1", more));
	assert_true(environ_allowed("MAKELEVEL", more));
	assert_false(environ_allowed("LANGUAGE", more));
}

static void filter_keeps_whole_variables_in_their_order(TEST_UNUSED void **state)
{
	char vars[] = "HOME=/root\0MAKELEVEL=2\0broken\0PATH=/a:/b\0SLURM_JOBID=7=8\0FTRAC_X=cut";
	static const char kept[] = "MAKELEVEL=2\0SLURM_JOBID=7=8";

	assert_int_equal(environ_filter(vars, sizeof(vars) - 1, NULL), sizeof(kept));
	assert_memory_equal(vars, kept, sizeof(kept));
	assert_int_equal(environ_filter(vars, 0, NULL), 0);
}

/* ---- the text of a process ---- */

static const struct procfs_stat twelve = { .pid = 12, .comm = "cc" };

struct fake {
	struct temp temp;
	int proc;
	struct procfs_text text;
};

static void write_file(const char *path, const char *bytes, size_t len)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static int make_fake(void **state)
{
	static const char argv[] = "cc\0-c\0a b.c", vars[] = "HOME=/\0MAKELEVEL=1";
	struct fake *fake = calloc(1, sizeof(*fake));

	temp_make(&fake->temp);
	mkdir(temp_path(&fake->temp, "12"), 0700);
	mkdir(temp_path(&fake->temp, "12/fd"), 0700);
	write_file(temp_path(&fake->temp, "12/cmdline"), argv, sizeof(argv));
	write_file(temp_path(&fake->temp, "12/environ"), vars, sizeof(vars));
	write_file(temp_path(&fake->temp, "12/cgroup"), "0::/job\n", 8);
	assert_int_equal(symlink("/usr/bin/cc (deleted)", temp_path(&fake->temp, "12/exe")), 0);
	assert_int_equal(symlink("/src", temp_path(&fake->temp, "12/cwd")), 0);
	assert_int_equal(symlink("/dev/null", temp_path(&fake->temp, "12/fd/0")), 0);
	assert_int_equal(symlink("pipe:[55]", temp_path(&fake->temp, "12/fd/1")), 0);
	fake->proc = open(fake->temp.dir, O_RDONLY | O_DIRECTORY);
	assert_true(fake->proc >= 0);
	*state = fake;
	return 0;
}

static int drop_fake(void **state)
{
	struct fake *fake = *state;

	procfs_text_finish(&fake->text);
	close(fake->proc);
	temp_take_away(&fake->temp);
	free(fake);
	return 0;
}

static void assert_part(const struct fake *fake, enum process_part part, const char *bytes,
	size_t len)
{
	size_t found;
	const char *at = text_part(fake->text.text.bytes, fake->text.text.len, part, &found);

	if (!bytes) {
		assert_null(at);
		return;
	}
	assert_non_null(at);
	assert_int_equal(found, len);
	assert_memory_equal(at, bytes, len);
}

static void text_has_all_parts_in_order(void **state)
{
	struct fake *fake = *state;

	assert_int_equal(procfs_read_text(fake->proc, &twelve, NULL, &fake->text), 0);
	assert_part(fake, PROCESS_CWD, "/src", 4);
	assert_part(fake, PROCESS_COMM, "cc", 2);
	assert_part(fake, PROCESS_ARGV, "cc\0-c\0a b.c", 12);
	assert_part(fake, PROCESS_ENVIRON, "MAKELEVEL=1", 12);
	assert_part(fake, PROCESS_STDIN, "/dev/null", 9);
	assert_part(fake, PROCESS_STDOUT, "pipe:[55]", 9);
	assert_part(fake, PROCESS_CGROUP, "/job", 4);
}

static void deleted_program_keeps_its_name(void **state)
{
	struct fake *fake = *state;

	assert_int_equal(procfs_read_text(fake->proc, &twelve, NULL, &fake->text), 0);
	assert_part(fake, PROCESS_EXE, "/usr/bin/cc", 11);
}

static void part_that_cannot_be_read_is_unknown(void **state)
{
	struct fake *fake = *state;

	unlink(temp_path(&fake->temp, "12/exe"));
	write_file(temp_path(&fake->temp, "12/cmdline"), "", 0);
	assert_int_equal(procfs_read_text(fake->proc, &twelve, NULL, &fake->text), 0);
	assert_part(fake, PROCESS_EXE, NULL, 0);
	assert_part(fake, PROCESS_ARGV, NULL, 0);
	assert_part(fake, PROCESS_STDERR, NULL, 0);
	assert_part(fake, PROCESS_COMM, "cc", 2);
}

static void ended_process_is_reported_as_gone(void **state)
{
	struct fake *fake = *state;
	struct procfs_stat stat;
	struct procfs_status status;
	uid_t uid;
	gid_t gid;

	assert_int_equal(procfs_read_stat(fake->proc, 13, &stat), -ESRCH);
	assert_int_equal(procfs_read_status(fake->proc, 13, &status), -ESRCH);
	assert_int_equal(procfs_read_owner(fake->proc, 13, &uid, &gid), -ESRCH);
}

static void file_that_is_a_link_is_not_followed(void **state)
{
	struct fake *fake = *state;

	unlink(temp_path(&fake->temp, "12/cmdline"));
	assert_int_equal(symlink("/etc/passwd", temp_path(&fake->temp, "12/cmdline")), 0);
	assert_int_equal(procfs_read_text(fake->proc, &twelve, NULL, &fake->text), 0);
	assert_part(fake, PROCESS_ARGV, NULL, 0);
}

static void arguments_longer_than_a_page_are_whole(void **state)
{
	struct fake *fake = *state;
	static char argv[100000];

	memset(argv, 'x', sizeof(argv) - 1);
	write_file(temp_path(&fake->temp, "12/cmdline"), argv, sizeof(argv));
	assert_int_equal(procfs_read_text(fake->proc, &twelve, NULL, &fake->text), 0);
	assert_part(fake, PROCESS_ARGV, argv, sizeof(argv));
}

/* The kernel says no such things; if it does, they are not known. */
static void figures_that_cannot_be_are_unknown(void **state)
{
	static const char stat[] = "12 (x) R 1 1 1 0 -1 0 1 0 2 0 9223372036854775807 9223372036854775807 0";
	static const char status[] = "Name:\tx\nVmPeak:\t9223372036854775807 kB\nVmHWM:\t-1 kB\n";
	struct fake *fake = *state;
	struct figures figures = { 0 };

	mkdir(temp_path(&fake->temp, "12/task"), 0700);
	mkdir(temp_path(&fake->temp, "12/task/12"), 0700);
	write_file(temp_path(&fake->temp, "12/stat"), stat, strlen(stat));
	write_file(temp_path(&fake->temp, "12/task/12/status"), status, strlen(status));
	write_file(temp_path(&fake->temp, "12/statm"), "1 9223372036854775807", 21);
	usage_of_process(fake->proc, 12, &figures);
	usage_of_memory(fake->proc, 12, 12, &figures);
	assert_false(figures_has(&figures, FIGURE_VMPEAK));
	assert_false(figures_has(&figures, FIGURE_RSSPEAK));
	assert_true(figures_has(&figures, FIGURE_MINFLT));
	assert_int_equal(usage_rss_bytes(fake->proc, 12), -1);
}

/* As traced threads stay until the tracer has waited for each. */
static void put_thread(struct fake *fake, pid_t tid, char state)
{
	char path[32], text[200];
	int n;

	snprintf(path, sizeof(path), "12/task/%d", tid);
	mkdir(temp_path(&fake->temp, path), 0700);
	snprintf(path, sizeof(path), "%d", tid);
	mkdir(temp_path(&fake->temp, path), 0700);
	snprintf(path, sizeof(path), "%d/stat", tid);
	n = snprintf(text, sizeof(text), "%d (x) %c 1 1 1 0 -1 0 1 0 2 0 1 1 0 0 20 0 3 0 100 0 0 0 0 0 0\n", tid,
		state);
	write_file(temp_path(&fake->temp, path), text, n);
}

static void process_has_ended_when_all_of_its_threads_have(void **state)
{
	struct fake *fake = *state;
	struct proc_snapshot snapshot = { 0 };

	mkdir(temp_path(&fake->temp, "12/task"), 0700);
	put_thread(fake, 12, 'Z');
	put_thread(fake, 13, 'Z');
	put_thread(fake, 14, 'S');
	assert_int_equal(proc_snapshot_take(&snapshot, fake->proc, 12), 0);
	put_thread(fake, 14, 'X');
	assert_int_equal(proc_snapshot_take(&snapshot, fake->proc, 12), -ESRCH);
	proc_snapshot_finish(&snapshot);
}

static void look_at_ourselves_finds_us(TEST_UNUSED void **state)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	struct proc_snapshot snapshot = { 0 };
	int64_t start;

	assert_int_equal(proc_snapshot_take(&snapshot, proc, getpid()), 0);
	proc_snapshot_read_text(&snapshot, proc, NULL);
	start = procfs_ticks_ns(snapshot.stat.start_ticks) - clock_suspended_ns();
	assert_int_equal(snapshot.stat.ppid, getppid());
	assert_int_equal(snapshot.stat.session, getsid(0));
	assert_true(start <= clock_now_ns() && start > clock_now_ns() - INT64_C(600000000000));
	assert_true(snapshot.owner_known);
	assert_int_equal(snapshot.uid, geteuid());
	assert_int_equal(snapshot.gid, getegid());
	assert_true(snapshot.text_known);
	proc_snapshot_finish(&snapshot);
	close(proc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_gives_family_start_and_threads),
		cmocka_unit_test(stat_understands_any_name),
		cmocka_unit_test(stat_refuses_what_is_cut_or_is_not_one),
		cmocka_unit_test(image_is_not_known_of_those_we_may_not_see),
		cmocka_unit_test(ended_process_has_no_image),
		cmocka_unit_test(status_gives_effective_ids),
		cmocka_unit_test(syscall_gives_number_and_arguments),
		cmocka_unit_test(thread_that_runs_is_in_no_syscall),
		cmocka_unit_test(status_gives_what_access_is_judged_by),
		cmocka_unit_test(no_groups_are_none),
		cmocka_unit_test(cgroup_is_the_deepest),
		cmocka_unit_test(names_of_jobs_are_let_through),
		cmocka_unit_test(secrets_are_not),
		cmocka_unit_test(patterns_of_the_user_add_to_the_list),
		cmocka_unit_test(filter_keeps_whole_variables_in_their_order),
		cmocka_unit_test_setup_teardown(text_has_all_parts_in_order, make_fake, drop_fake),
		cmocka_unit_test_setup_teardown(deleted_program_keeps_its_name, make_fake, drop_fake),
		cmocka_unit_test_setup_teardown(
			part_that_cannot_be_read_is_unknown, make_fake, drop_fake),
		cmocka_unit_test_setup_teardown(
			ended_process_is_reported_as_gone, make_fake, drop_fake),
		cmocka_unit_test_setup_teardown(
			file_that_is_a_link_is_not_followed, make_fake, drop_fake),
		cmocka_unit_test_setup_teardown(
			arguments_longer_than_a_page_are_whole, make_fake, drop_fake),
		cmocka_unit_test_setup_teardown(
			figures_that_cannot_be_are_unknown, make_fake, drop_fake),
		cmocka_unit_test_setup_teardown(
			process_has_ended_when_all_of_its_threads_have, make_fake, drop_fake),
		cmocka_unit_test(look_at_ourselves_finds_us),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
