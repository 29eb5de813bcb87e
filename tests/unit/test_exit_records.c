/* SPDX-License-Identifier: MIT */

/*
 * taskstats: the records that the kernel sends of real children agree with what the child said of itself just
 * before it ended, and with what wait4(2) says behind.
 */

#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/taskstats.h>
#include <pthread.h>
#include <sched.h>
#include <sys/acct.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "procmon/taskstats.h"

/* Known where the kernel counts them. */
#define DELAYS (1U << FIGURE_BLKIO_DELAY | 1U << FIGURE_SWAPIN_DELAY | 1U << FIGURE_RECLAIM_DELAY)

static void listen_or_skip(struct taskstats_listener **ret_listener)
{
	int r = taskstats_create(ret_listener);

	if (r < 0) {
		print_message("# taskstats want CAP_NET_ADMIN in the initial namespaces: %s\n",
			strerror(-r));
		skip();
	}
}

/* What the child says of itself last, in memory that both see. */
struct account {
	struct rusage usage;
	int64_t cpu_ns;
	int64_t vmpeak;
	int64_t read_bytes, write_bytes;
};

static struct account *account_make(void)
{
	void *map = mmap(NULL, sizeof(struct account), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(map != MAP_FAILED);
	return map;
}

/* The number behind "name:" in a file of /proc, or -1. */
static int64_t number_in(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	long long value = -1;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			sscanf(line + strlen(name) + 1, "%lld", &value);
	if (file)
		fclose(file);
	return value;
}

/* As the machine is set; without the switch, before 5.14, they are. */
static bool delays_are_counted(void)
{
	FILE *file = fopen("/proc/sys/kernel/task_delayacct", "re");
	int counted = 1;

	if (file && fscanf(file, "%d", &counted) != 1)
		counted = -1;
	if (file)
		fclose(file);
	return counted;
}

static int64_t cpu_now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static void burn_ms(int64_t ms)
{
	int64_t end = cpu_now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;

	while (cpu_now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void write_to_storage(struct temp *temp)
{
	static char bytes[1 << 20];
	int fd = open(temp_path(temp, "file"), O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes) || fsync(fd) < 0)
		_exit(99);
	close(fd);
}

/* Asking the clock makes the scheduler look: from then on its time cannot be less in the record. */
static void give_account(struct account *account)
{
	account->vmpeak = number_in("/proc/self/status", "VmPeak") * 1024;
	account->read_bytes = number_in("/proc/self/io", "read_bytes");
	account->write_bytes = number_in("/proc/self/io", "write_bytes");
	getrusage(RUSAGE_SELF, &account->usage);
	account->cpu_ns = cpu_now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void be_busy(struct temp *temp, struct account *account)
{
	char *memory = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		0);

	if (memory == MAP_FAILED)
		_exit(98);
	memset(memory, 1, 8 << 20);
	munmap(memory, 8 << 20); /* a peak, not what is left */
	for (int i = 0; i < 5; i++)
		usleep(1000);
	burn_ms(100);
	write_to_storage(temp);
	give_account(account);
	_exit(3);
}

/* All that is there of process pid; how many. */
static int records_of(struct taskstats_listener *listener, pid_t pid,
	struct taskstats_record *records, int max)
{
	int r, n = 0;

	while (n < max) {
		r = taskstats_read(listener, &records[n]);
		if (r == 0)
			break;
		assert_int_equal(r, 1);
		n += records[n].tgid == pid || records[n].tid == pid;
	}
	return n;
}

static void between(const struct taskstats_record *record, enum figure figure, int64_t before,
	int64_t after)
{
	int64_t value = record->figures.value[figure];

	if (!figures_has(&record->figures, figure))
		fail_msg("figure %d is not known", figure);
	if (value < before || value > after)
		fail_msg("figure %d is %lld, not %lld to %lld", figure, (long long)value,
			(long long)before, (long long)after);
}

static int64_t time_ns(const struct timeval *tv)
{
	return (tv->tv_sec * INT64_C(1000000) + tv->tv_usec) * 1000;
}

/* Both of them in us, thus up to 2 us less than it was. */
static int64_t usage_ns(const struct rusage *usage)
{
	return time_ns(&usage->ru_utime) + time_ns(&usage->ru_stime) + 2000;
}

/* The child's own account before the record was made, and the kernel's behind. */
static void check_busy(const struct taskstats_record *record, const struct account *account,
	const struct rusage *after)
{
	const struct rusage *before = &account->usage;

	between(record, FIGURE_CPU, account->cpu_ns, usage_ns(after));
	assert_int_equal(record->figures.value[FIGURE_UTIME] + record->figures.value[FIGURE_STIME],
		record->figures.value[FIGURE_CPU]);
	between(record, FIGURE_UTIME, 0, INT64_MAX);
	between(record, FIGURE_STIME, 0, INT64_MAX);
	between(record, FIGURE_VMPEAK, account->vmpeak, account->vmpeak);
	between(record, FIGURE_RSSPEAK, INT64_C(8) << 20, INT64_MAX);
	between(record, FIGURE_RSSPEAK, before->ru_maxrss * 1024, after->ru_maxrss * 1024);
	between(record, FIGURE_READ_BYTES, account->read_bytes / 1024 * 1024,
		after->ru_inblock * 512);
	between(record, FIGURE_WRITE_BYTES, account->write_bytes / 1024 * 1024,
		after->ru_oublock * 512);
	between(record, FIGURE_NVCSW, before->ru_nvcsw, after->ru_nvcsw);
	between(record, FIGURE_NVCSW, 5, INT64_MAX);
	between(record, FIGURE_NIVCSW, before->ru_nivcsw, after->ru_nivcsw);
	between(record, FIGURE_MINFLT, before->ru_minflt, after->ru_minflt);
	between(record, FIGURE_MINFLT, 8 << 20 >> 16, INT64_MAX);
	between(record, FIGURE_MAJFLT, before->ru_majflt, after->ru_majflt);
	between(record, FIGURE_CPU_DELAY, 0, INT64_MAX);
	assert_int_equal(record->figures.known & DELAYS, delays_are_counted() ? DELAYS : 0);
}

static void record_agrees_with_the_child_and_wait4(TEST_UNUSED void **state)
{
	struct taskstats_listener *listener;
	struct taskstats_record records[3];
	struct account *account = account_make();
	struct rusage usage;
	struct temp temp;
	time_t before = time(NULL);
	char name[16];
	int status;
	pid_t pid;

	listen_or_skip(&listener);
	temp_make(&temp);
	pid = fork();
	if (pid == 0)
		be_busy(&temp, account);
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_int_equal(status, 3 << 8);
	assert_int_equal(records_of(listener, pid, records, 3), 1); /* one thread: no group */
	check_busy(&records[0], account, &usage);
	assert_int_equal(records[0].tid, pid);
	assert_int_equal(records[0].tgid, pid);
	assert_int_equal(records[0].ppid, getpid());
	assert_int_equal(records[0].status, status);
	assert_int_equal(records[0].uid, getuid());
	assert_int_equal(records[0].gid, getgid());
	assert_true(records[0].last);
	assert_true(records[0].flags & AFORK);
	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_string_equal(records[0].comm, name);
	assert_in_range(records[0].begin_s, before - 1, time(NULL) + 1);
	assert_true(records[0].elapsed_ns >= 100000000 / sysconf(_SC_NPROCESSORS_CONF));
	taskstats_destroy(listener);
	temp_take_away(&temp);
	munmap(account, sizeof(*account));
}

static void *burn_a_little(void *nothing)
{
	usleep(1000);
	burn_ms(5);
	return nothing;
}

static void be_five(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, burn_a_little, NULL) != 0)
			_exit(99);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	burn_ms(5);
	_exit(0);
}

static int64_t sum_of(const struct taskstats_record *records, int count, enum figure figure)
{
	int64_t sum = 0;

	for (int i = 0; i < count; i++) {
		assert_true(figures_has(&records[i].figures, figure));
		sum += records[i].figures.value[figure];
	}
	return sum;
}

static void five_threads_make_five_records_and_one(TEST_UNUSED void **state)
{
	struct taskstats_listener *listener;
	struct taskstats_record records[8];
	const struct taskstats_record *group = &records[5];
	struct rusage usage;
	pid_t pid;

	listen_or_skip(&listener);
	pid = fork();
	if (pid == 0)
		be_five();
	assert_int_equal(wait4(pid, NULL, 0, &usage), pid);
	assert_int_equal(records_of(listener, pid, records, 8), 6);
	for (int i = 0; i < 5; i++) {
		assert_false(records[i].group);
		assert_int_equal(records[i].tgid, pid);
		assert_int_equal(records[i].last, i == 4);
		assert_int_equal(records[i].tid == pid, i == 4);
		assert_int_equal(records[i].status, i == 4 ? 0 : -1);
	}
	assert_true(group->group);
	assert_int_equal(group->tgid, pid);
	/* Each is added to it a moment before its own record is made */
	between(group, FIGURE_CPU, 25000000, sum_of(records, 5, FIGURE_CPU));
	between(group, FIGURE_CPU_DELAY, 0, sum_of(records, 5, FIGURE_CPU_DELAY));
	if (figures_has(&group->figures, FIGURE_NVCSW))
		between(group, FIGURE_NVCSW, 4, sum_of(records, 5, FIGURE_NVCSW));
	assert_false(figures_has(&group->figures, FIGURE_MINFLT));
	assert_false(figures_has(&group->figures, FIGURE_VMPEAK));
	assert_true(sum_of(records, 5, FIGURE_CPU) <= usage_ns(&usage));
	assert_true(sum_of(records, 5, FIGURE_MINFLT) <= usage.ru_minflt);
	taskstats_destroy(listener);
}

static void *exec_true(void *nothing)
{
	execl("/bin/true", "true", (char *)NULL);
	_exit(99);
	return nothing;
}

/* The first thread ends at the exec of another, which takes its id over. */
static void exec_by_a_thread_gives_its_id_away(TEST_UNUSED void **state)
{
	struct taskstats_listener *listener;
	struct taskstats_record records[4];
	pthread_t thread;
	pid_t pid;
	int n;

	listen_or_skip(&listener);
	pid = fork();
	if (pid == 0) {
		pthread_create(&thread, NULL, exec_true, NULL);
		for (;;)
			pause();
	}
	waitpid(pid, NULL, 0);
	n = records_of(listener, pid, records, 4);
	assert_int_equal(n, 3);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(records[i].tid, pid);
		assert_int_equal(records[i].last, i == 1);
		assert_int_equal(records[i].flags & AFORK, i == 0 ? AFORK : 0);
	}
	assert_string_equal(records[1].comm, "true");
	assert_true(records[2].group);
	taskstats_destroy(listener);
}

static void listeners_do_not_disturb_each_other(TEST_UNUSED void **state)
{
	struct taskstats_listener *listeners[3];
	struct taskstats_record records[2];
	pid_t pid;

	for (int i = 0; i < 3; i++)
		listen_or_skip(&listeners[i]);
	taskstats_destroy(listeners[2]);
	pid = fork();
	if (pid == 0)
		_exit(5);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(records_of(listeners[i], pid, records, 2), 1);
		assert_int_equal(records[0].status, 5 << 8);
		taskstats_destroy(listeners[i]);
	}
}

/* What taskstats_create() says to a child that has gone somewhere else first. */
static int answer_after(bool (*go)(void))
{
	struct taskstats_listener *listener;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(go() ? -taskstats_create(&listener) : 255);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool be_ordinary_user(void)
{
	return geteuid() != 0 || setresuid(65534, 65534, 65534) == 0;
}

static bool leave_network(void)
{
	return unshare(CLONE_NEWNET) == 0;
}

/* Only a child is inside. */
static bool leave_pids(void)
{
	int status = 0;
	pid_t pid;

	if (unshare(CLONE_NEWPID) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		return true;
	waitpid(pid, &status, 0);
	_exit(WEXITSTATUS(status));
}

static void without_the_capability_it_is_eperm(TEST_UNUSED void **state)
{
	assert_int_equal(answer_after(be_ordinary_user), EPERM);
}

static void outside_of_the_namespaces_the_error_says_so(TEST_UNUSED void **state)
{
	struct taskstats_listener *listener;
	int answer;

	listen_or_skip(&listener);
	taskstats_destroy(listener);
	answer = answer_after(leave_network);
	if (answer == 255) {
		print_message("# unshare(2) wants CAP_SYS_ADMIN\n");
		skip();
	}
	assert_true(answer == ENONET || answer == ENOENT);
	assert_int_equal(answer_after(leave_pids), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_agrees_with_the_child_and_wait4),
		cmocka_unit_test(five_threads_make_five_records_and_one),
		cmocka_unit_test(exec_by_a_thread_gives_its_id_away),
		cmocka_unit_test(listeners_do_not_disturb_each_other),
		cmocka_unit_test(without_the_capability_it_is_eperm),
		cmocka_unit_test(outside_of_the_namespaces_the_error_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
