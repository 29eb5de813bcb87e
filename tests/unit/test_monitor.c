/* SPDX-License-Identifier: MIT */

/*
 * monitor: it reports a process that uses the tree with its ancestors, and from then on what these
 * start, become and how they end; and no request ever waits for long, whatever /proc does.
 *
 * Called with an argument, the program is one of the processes that are watched.
 */

#include "tests/unit/monitor_world.h"

/* ---- processes ---- */

struct child {
	pid_t pid;
	int go;	       /* closed: it goes on */
	int says, asks; /* its standard output and input */
};

/* Three descriptors become standard input, output, and the one that is waited for. */
static void be_child(const int fds[3], const char *file, const char *const *argv)
{
	char byte;

	dup2(fds[0], 0);
	dup2(fds[1], 1);
	if (read(fds[2], &byte, 1) < 0)
		_exit(126);
	execv(file, (char *const *)argv);
	_exit(127);
}

/* A child that waits before it does anything. */
static struct child spawn(const char *file, const char *const *argv)
{
	struct child child;
	int go[2], out[2], in[2];

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	child.pid = fork();
	if (child.pid == 0) {
		close(go[1]);
		close(in[1]);
		be_child((int[3]){ in[0], out[1], go[0] }, file, argv);
	}
	close(go[0]);
	close(out[1]);
	close(in[0]);
	child.go = go[1];
	child.says = out[0];
	child.asks = in[1];
	return child;
}

#define SPAWN(file, ...) spawn(file, (const char *const[]){ __VA_ARGS__, NULL })

static void go_on(struct child *child)
{
	close(child->go);
	child->go = -1;
}

static int reap(struct child *child)
{
	int status;

	close(child->asks);
	assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
	close(child->says);
	return status;
}

static int release(struct child *child)
{
	go_on(child);
	return reap(child);
}

/* A number that it says. */
static int read_number(struct child *child)
{
	char number[32] = "";

	assert_true(read(child->says, number, sizeof(number) - 1) > 0);
	return atoi(number);
}

/* What it does when it is one of those that are watched. */

static void *nap(TEST_UNUSED void *arg)
{
	usleep(20000);
	return NULL;
}

static void *become_true(TEST_UNUSED void *arg)
{
	usleep(5000);
	execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
	return NULL;
}

static void *leave_with_four(TEST_UNUSED void *arg)
{
	usleep(30000);
	exit(4);
}

static int be_watched(const char *how)
{
	pthread_t thread;

	if (strcmp(how, "threads") == 0) {
		pthread_create(&thread, NULL, nap, NULL);
		pthread_join(thread, NULL);
		return 0;
	}
	pthread_create(&thread, NULL, strcmp(how, "exec") ? leave_with_four : become_true, NULL);
	if (strcmp(how, "exec") == 0)
		pthread_join(thread, NULL);
	else
		syscall(SYS_exit, 0); /* this thread alone */
	return 1;
}

/* ---- both tiers ---- */

static void family_is_reported_from_the_leader_of_the_session_down(struct world *world)
{
	struct child child = SPAWN("/bin/true", "true");
	int mine, ours;

	monitor_discover_slow(world->monitor, child.pid);
	ours = find(world, 0, EVENT_PROCESS, child.pid, child.pid);
	mine = find(world, 0, EVENT_PROCESS, getpid(), getpid());
	assert_true(mine >= 0 && ours > mine);
	assert_int_equal(world->emitted[ours].event.u.process.ppid, getpid());
	assert_true(world->emitted[ours].event.u.process.known);
	assert_int_equal(world->emitted[ours].event.u.process.uid, geteuid());
	assert_true(monitor_known(world->monitor)[child.pid]);
	for (int i = 1; i <= ours; i++)
		assert_int_equal(world->emitted[i].event.u.process.ppid,
			world->emitted[i - 1].event.u.process.pid);
	release(&child);
}

static void connected_family(void **state)
{
	family_is_reported_from_the_leader_of_the_session_down(connected(state));
}

static void inband_family(void **state)
{
	family_is_reported_from_the_leader_of_the_session_down(*state);
}

static void process_is_reported_once(struct world *world)
{
	struct child child = SPAWN("/bin/true", "true");

	for (int i = 0; i < 3; i++) {
		monitor_check(world->monitor, child.pid);
		monitor_discover_slow(world->monitor, child.pid);
	}
	assert_int_equal(count(world, EVENT_PROCESS, child.pid), 1);
	release(&child);
}

static void connected_once(void **state)
{
	process_is_reported_once(connected(state));
}

static void inband_once(void **state)
{
	process_is_reported_once(*state);
}

static void unused_ids_are_not_reported(struct world *world)
{
	struct child child = SPAWN("/bin/true", "true");

	release(&child);
	monitor_discover_slow(world->monitor, child.pid);
	assert_int_equal(find(world, 0, EVENT_PROCESS, child.pid, child.pid), -1);
}

static void connected_unused_ids(void **state)
{
	unused_ids_are_not_reported(connected(state));
}

static void inband_unused_ids(void **state)
{
	unused_ids_are_not_reported(*state);
}

static void tracer_itself_is_never_in_scope(struct world *world)
{
	monitor_discover_slow(world->monitor, gettid());
	collect(world);
	assert_int_equal(world->n, 0);
}

static void connected_tracer(void **state)
{
	tracer_itself_is_never_in_scope(connected(state));
}

static void inband_tracer(void **state)
{
	tracer_itself_is_never_in_scope(*state);
}

/* ---- with the connector ---- */

static void exec_is_reported_and_its_text_follows(void **state)
{
	struct world *world = connected(state);
	struct child child = SPAWN("/bin/sleep", "sleep", "0.02");
	int exec, text, end;

	monitor_discover_slow(world->monitor, child.pid);
	release(&child);
	exec = wait_for(world, 0, EVENT_EXEC, child.pid);
	text = wait_for(world, exec, EVENT_PROCESS, child.pid);
	end = wait_for(world, text, EVENT_EXIT, child.pid);
	assert_argv(world, text, "sleep\0000.02", 11);
	assert_false(world->emitted[text].event.u.process.new_image);
	assert_true(world->emitted[exec].event.time_ns < world->emitted[text].event.time_ns);
	assert_true(world->emitted[text].event.time_ns < world->emitted[end].event.time_ns);
}

static void what_it_forks_is_in_scope(void **state)
{
	struct world *world = connected(state);
	struct child child = SPAWN("/bin/sh", "sh", "-c", "sleep 0.02; exit 3");
	int i, forked;
	pid_t grandchild = 0;

	monitor_discover_slow(world->monitor, child.pid);
	assert_int_equal(release(&child), 3 << 8);
	wait_for(world, 0, EVENT_EXIT, child.pid);
	for (i = 0, forked = -1; i < (int)world->n; i++) {
		if (world->emitted[i].event.kind == EVENT_FORK)
			forked = i;
	}
	assert_true(forked >= 0);
	grandchild = world->emitted[forked].event.u.process.pid;
	assert_int_equal(world->emitted[forked].event.u.process.ppid, child.pid);
	assert_true(find(world, forked, EVENT_EXEC, grandchild, grandchild) > forked);
	i = find(world, forked, EVENT_PROCESS, grandchild, grandchild);
	assert_argv(world, i, "sleep\0000.02", 11);
	assert_true(find(world, i, EVENT_EXIT, grandchild, grandchild) > i);
}

static void exit_has_the_status_of_wait(void **state)
{
	struct world *world = connected(state);
	struct child child = SPAWN("/bin/sh", "sh", "-c", "kill -9 $$");
	int status, i;

	monitor_discover_slow(world->monitor, child.pid);
	status = release(&child);
	i = wait_for(world, 0, EVENT_EXIT, child.pid);
	assert_int_equal(world->emitted[i].event.u.process.status, status);
	assert_false(monitor_known(world->monitor)[child.pid]);
}

static void other_processes_are_not_reported(void **state)
{
	struct world *world = connected(state);
	struct child child = SPAWN("/bin/sh", "sh", "-c", "/bin/true; /bin/true");

	release(&child);
	monitor_sync(world->monitor);
	collect(world);
	assert_int_equal(world->n, 0);
}

static void thread_is_reported_before_its_first_request(void **state)
{
	struct world *world = connected(state);
	struct child child = SPAWN("/proc/self/exe", "watched", "threads");
	int i = 0, end;
	pid_t tid;

	monitor_discover_slow(world->monitor, child.pid);
	release(&child);
	end = wait_for(world, 0, EVENT_EXIT, child.pid);
	while (i < end && world->emitted[i].event.kind != EVENT_THREAD)
		i++;
	assert_true(i < end);
	tid = world->emitted[i].event.u.process.tid;
	assert_int_equal(world->emitted[i].event.u.process.pid, child.pid);
	assert_in_range(find(world, i, EVENT_EXIT, child.pid, tid), i, end);
}

static void exec_by_another_thread_is_no_end(void **state)
{
	struct world *world = connected(state);
	struct child child = SPAWN("/proc/self/exe", "watched", "exec");
	int first, second, end;

	monitor_discover_slow(world->monitor, child.pid);
	assert_int_equal(release(&child), 6 << 8);
	first = wait_for(world, 0, EVENT_EXEC, child.pid);
	second = wait_for(world, first + 1, EVENT_EXEC, child.pid);
	end = wait_for(world, 0, EVENT_EXIT, child.pid);
	assert_true(second < end);
	assert_int_equal(world->emitted[end].event.u.process.status, 6 << 8);
	assert_int_equal(count(world, EVENT_EXIT, child.pid), 1);
}

static void process_ends_with_its_last_thread(void **state)
{
	struct world *world = connected(state);
	struct child child = SPAWN("/proc/self/exe", "watched", "leave");
	int status, begin, end;

	monitor_discover_slow(world->monitor, child.pid);
	status = release(&child);
	begin = wait_for(world, 0, EVENT_EXEC, child.pid);
	end = wait_for(world, 0, EVENT_EXIT, child.pid);
	assert_int_equal(status, 4 << 8);
	assert_int_equal(world->emitted[end].event.u.process.status, status);
	assert_true(world->emitted[end].event.time_ns - world->emitted[begin].event.time_ns > 30000000);
	assert_int_equal(count(world, EVENT_EXIT, child.pid), 1);
}

static void ancestor_that_touches_comes_into_scope(void **state)
{
	struct world *world = connected(state);
	struct child child = SPAWN("/bin/sh", "sh", "-c", "sleep 5 & echo $!; read x; /bin/true; :");
	pid_t grandchild;
	size_t i;

	go_on(&child);
	grandchild = read_number(&child);
	monitor_discover_slow(world->monitor, grandchild);
	assert_true(find(world, 0, EVENT_PROCESS, child.pid, child.pid) >= 0);
	assert_false(monitor_known(world->monitor)[child.pid]);
	monitor_discover_slow(world->monitor, child.pid);
	assert_true(monitor_known(world->monitor)[child.pid]);
	collect(world);
	i = world->n;
	reap(&child);
	kill(grandchild, SIGKILL);
	wait_for(world, 0, EVENT_EXIT, child.pid);
	while (i < world->n && world->emitted[i].event.kind != EVENT_FORK)
		i++;
	assert_true(i < world->n);
	assert_int_equal(count(world, EVENT_PROCESS, child.pid), 1);
}

/* What runs says something, and waits: as if for the answer to a request. */
static void check_finds_the_program_that_asks(void **state)
{
	struct world *world = connected(state);

	for (int i = 0; i < 20; i++) {
		struct child child = SPAWN("/bin/sh", "sh", "-c", "echo 1; read x");
		int exec;

		monitor_discover_slow(world->monitor, child.pid);
		go_on(&child);
		read_number(&child);
		monitor_check(world->monitor, child.pid);
		exec = find(world, 0, EVENT_EXEC, child.pid, child.pid);
		assert_true(exec >= 0);
		assert_true(find(world, exec, EVENT_PROCESS, child.pid, child.pid) > exec);
		assert_true(monitor_known(world->monitor)[child.pid]);
		reap(&child);
	}
}

static void sync_takes_in_what_was_reported(void **state)
{
	struct world *world = connected(state);

	for (int i = 0; i < 50; i++) {
		struct child child = SPAWN("/bin/true", "true");
		int from;

		monitor_discover_slow(world->monitor, child.pid);
		collect(world);
		from = world->n;
		/* The exec closes its end of this pipe when it is as good as done. */
		release(&child);
		monitor_sync(world->monitor);
		assert_true(find(world, from, EVENT_EXEC, child.pid, child.pid) >= 0);
	}
}

/* ---- in band ---- */

static void other_program_is_noticed_at_a_check(void **state)
{
	struct world *world = *state;
	struct child child = SPAWN("/bin/sh", "sh", "-c", "echo 1; read x");
	int i;

	monitor_discover_slow(world->monitor, child.pid);
	monitor_check(world->monitor, child.pid);
	assert_int_equal(count(world, EVENT_PROCESS, child.pid), 1);
	go_on(&child);
	read_number(&child);
	for (int k = 0; k < 3; k++)
		monitor_check(world->monitor, child.pid);
	assert_int_equal(count(world, EVENT_PROCESS, child.pid), 2);
	i = find(world, 0, EVENT_PROCESS, child.pid, child.pid);
	i = find(world, i + 1, EVENT_PROCESS, child.pid, child.pid);
	assert_true(world->emitted[i].event.u.process.new_image);
	assert_argv(world, i, "sh\0-c\0echo 1; read x", 21);
	reap(&child);
}

static void end_is_noticed_within_some_seconds(void **state)
{
	struct world *world = *state;
	struct child child = SPAWN("/bin/true", "true");
	int i;

	monitor_discover_slow(world->monitor, child.pid);
	release(&child);
	i = wait_for(world, 0, EVENT_EXIT, child.pid);
	assert_int_equal(world->emitted[i].event.u.process.status, -1);
	assert_false(monitor_known(world->monitor)[child.pid]);
}

static void end_is_noticed_when_we_finish(void **state)
{
	struct world *world = *state;
	struct child child = SPAWN("/bin/true", "true");

	monitor_discover_slow(world->monitor, child.pid);
	release(&child);
	monitor_finish(world->monitor);
	assert_true(find(world, 0, EVENT_EXIT, child.pid, child.pid) > 0);
	monitor_sync(world->monitor);
}

static void thread_belongs_to_its_process(void **state)
{
	struct world *world = *state;
	struct child child = SPAWN("/proc/self/exe", "watched", "leave");
	char path[64];
	DIR *dir;
	pid_t tid = 0;

	go_on(&child);
	snprintf(path, sizeof(path), "/proc/%d/task", child.pid);
	for (int64_t end = clock_now_ns() + SECOND; !tid && clock_now_ns() < end;) {
		struct dirent *entry;

		dir = opendir(path);
		while (dir && (entry = readdir(dir)))
			if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != child.pid)
				tid = atoi(entry->d_name);
		closedir(dir);
	}
	assert_true(tid > 0);
	monitor_discover_slow(world->monitor, tid);
	assert_true(find(world, 0, EVENT_PROCESS, child.pid, child.pid) >= 0);
	assert_true(find(world, 0, EVENT_THREAD, child.pid, tid) >= 0);
	assert_true(monitor_known(world->monitor)[tid]);
	reap(&child);
}

/* ---- when /proc does not answer ---- */

#define STUCK 4190000

static void fake_file(struct world *world, pid_t pid, const char *name, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%d/%s", pid, name);
	fd = open(temp_path(&world->fake, path), O_CREAT | O_WRONLY | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* A process of a /proc of ours; all are of one session. */
static void fake_process(struct world *world, pid_t pid, pid_t ppid)
{
	char text[512], name[16];

	snprintf(name, sizeof(name), "%d", pid);
	assert_int_equal(mkdir(temp_path(&world->fake, name), 0700), 0);
	snprintf(text, sizeof(text),
		"%d (p) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 1 1 1 1000 2000 %d 0 0 0 0 0 "
		"0 0 0 0 17 1 0 0 0 0 0 5 6 7 8 9 10 11 0\n", pid, ppid, 3000 + pid);
	fake_file(world, pid, "stat", text);
	snprintf(text, sizeof(text),
		"Name:\tp\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n",
		pid, pid, ppid);
	fake_file(world, pid, "status", text);
	fake_file(world, pid, "cmdline", "p");
}

static const char *fifo_path(struct world *world)
{
	char path[64];

	snprintf(path, sizeof(path), "%d/environ", STUCK);
	return temp_path(&world->fake, path);
}

/* A /proc in which one process, like one inside an exec, cannot be read. */
static int start_stuck(void **state)
{
	struct world *world = new_world();
	struct monitor_options options = { .ring = world->ring, .processes = MONITOR_INBAND };

	*state = world;
	temp_make(&world->fake);
	fake_process(world, STUCK, 1);
	assert_int_equal(mkfifo(fifo_path(world), 0600), 0);
	options.proc = world->fake.dir;
	return monitor_start(&options, &world->monitor);
}

/* The exec goes on. */
static void unstick(struct world *world)
{
	int fd = -1;

	for (int64_t end = clock_now_ns() + 5 * SECOND; clock_now_ns() < end; usleep(500)) {
		fd = open(fifo_path(world), O_WRONLY | O_NONBLOCK);
		if (fd >= 0)
			break;
	}
	assert_true(fd >= 0);
	unlink(fifo_path(world));
	close(fd);
}

static int64_t time_to_introduce(struct world *world, pid_t pid)
{
	int64_t begin = clock_now_ns();

	monitor_discover_slow(world->monitor, pid);
	return clock_now_ns() - begin;
}

static void request_waits_a_moment_only(void **state)
{
	struct world *world = *state;

	assert_true(time_to_introduce(world, STUCK) < SECOND);
	assert_false(monitor_known(world->monitor)[STUCK]);
	unstick(world);
	wait_for(world, 0, EVENT_PROCESS, STUCK);
}

static void next_request_of_the_same_does_not_wait(void **state)
{
	struct world *world = *state;
	int64_t all = 0;

	time_to_introduce(world, STUCK);
	for (int i = 0; i < 50; i++)
		all += time_to_introduce(world, STUCK);
	assert_true(all < SECOND);
	unstick(world);
	wait_for(world, 0, EVENT_PROCESS, STUCK);
	time_to_introduce(world, STUCK);
	assert_true(monitor_known(world->monitor)[STUCK]);
}

static void others_are_served_meanwhile(void **state)
{
	struct world *world = *state;

	time_to_introduce(world, STUCK);
	for (pid_t pid = STUCK + 1; pid < STUCK + 50; pid++) {
		fake_process(world, pid, 1);
		assert_true(time_to_introduce(world, pid) < SECOND);
		assert_true(monitor_known(world->monitor)[pid]);
	}
	unstick(world);
}

static void ancestor_that_cannot_be_read_holds_up_one(void **state)
{
	struct world *world = *state;
	int unknown = 0;

	for (pid_t pid = STUCK + 1; pid < STUCK + 50; pid++) {
		fake_process(world, pid, STUCK);
		assert_true(time_to_introduce(world, pid) < SECOND);
		unknown += !monitor_known(world->monitor)[pid];
	}
	assert_int_equal(unknown, 1);
	unstick(world);
	wait_for(world, 0, EVENT_PROCESS, STUCK + 1);
}

static void *introduce_one(void *arg)
{
	void **args = arg;

	monitor_discover_slow(args[0], (pid_t)(intptr_t)args[1]);
	return NULL;
}

static void many_requests_at_once_all_come_back(void **state)
{
	struct world *world = *state;
	pthread_t threads[64];
	void *args[64][2];
	int64_t begin;

	for (int i = 0; i < 64; i++)
		fake_process(world, STUCK + 1 + i, STUCK);
	begin = clock_now_ns();
	for (int i = 0; i < 64; i++) {
		args[i][0] = world->monitor;
		args[i][1] = (void *)(intptr_t)(STUCK + 1 + i);
		pthread_create(&threads[i], NULL, introduce_one, args[i]);
	}
	for (int i = 0; i < 64; i++)
		pthread_join(threads[i], NULL);
	assert_true(clock_now_ns() - begin < 2 * SECOND);
	unstick(world);
}

/* ---- without events ---- */

/* The process that was reported as a child of pid; 0. */
static pid_t child_of(struct world *world, pid_t pid)
{
	collect(world);
	for (size_t i = 0; pid && i < world->n; i++) {
		const struct event *ev = &world->emitted[i].event;

		if (ev->kind == EVENT_PROCESS && ev->u.process.ppid == pid)
			return ev->u.process.pid;
	}
	return 0;
}

static void unreported_child_is_discovered(void **state)
{
	struct world *world = *state;
	struct monitor_options options = { .ring = world->ring, .processes = MONITOR_INBAND };
	struct child child = SPAWN("/bin/sh", "sh", "-c", "sh -c 'sleep 1; :'; :");
	int64_t since = clock_read_ns(CLOCK_BOOTTIME), end = clock_now_ns() + 5 * SECOND;
	struct watch watch;

	assert_int_equal(watch_init(&watch, &options), 0);
	discover_thread(&watch, child.pid);
	go_on(&child);
	while (!child_of(world, child_of(world, child.pid)) && clock_now_ns() < end)
		discover_missed(&watch, since);
	assert_true(child_of(world, child_of(world, child.pid)) > 0);
	kill(child.pid, SIGKILL);
	reap(&child);
	watch_finish(&watch);
}

#define CONNECTED(test) cmocka_unit_test_setup_teardown(test, start_connected, stop)
#define INBAND(test) cmocka_unit_test_setup_teardown(test, start_inband, stop)
#define STUCK_PROC(test) cmocka_unit_test_setup_teardown(test, start_stuck, stop)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CONNECTED(connected_family),
		CONNECTED(connected_once),
		CONNECTED(connected_unused_ids),
		CONNECTED(connected_tracer),
		CONNECTED(exec_is_reported_and_its_text_follows),
		CONNECTED(what_it_forks_is_in_scope),
		CONNECTED(exit_has_the_status_of_wait),
		CONNECTED(other_processes_are_not_reported),
		CONNECTED(thread_is_reported_before_its_first_request),
		CONNECTED(exec_by_another_thread_is_no_end),
		CONNECTED(process_ends_with_its_last_thread),
		CONNECTED(ancestor_that_touches_comes_into_scope),
		CONNECTED(check_finds_the_program_that_asks),
		CONNECTED(sync_takes_in_what_was_reported),
		INBAND(inband_family),
		INBAND(inband_once),
		INBAND(inband_unused_ids),
		INBAND(inband_tracer),
		INBAND(other_program_is_noticed_at_a_check),
		INBAND(end_is_noticed_within_some_seconds),
		INBAND(end_is_noticed_when_we_finish),
		INBAND(thread_belongs_to_its_process),
		STUCK_PROC(request_waits_a_moment_only),
		STUCK_PROC(next_request_of_the_same_does_not_wait),
		STUCK_PROC(others_are_served_meanwhile),
		STUCK_PROC(ancestor_that_cannot_be_read_holds_up_one),
		STUCK_PROC(many_requests_at_once_all_come_back),
		cmocka_unit_test_setup_teardown(unreported_child_is_discovered, make_world, stop),
	};

	if (argc > 1)
		return be_watched(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
