/* SPDX-License-Identifier: MIT */

/*
 * A random tree of processes, each of which does a known amount of work itself, in threads too, and has
 * children that it waits for, or does not, in all ways there are; programs begin in between.
 *
 *	lineage LOG SEED        makes LOG; in a directory in which it may write
 *	lineage LOG --print     name pid reads writes stored fetched cpu_us cpu_seen_us seen_us minflt nvcsw execs threads
 *	lineage --probe         bytes that the kernel and the loader read for an exec of this program
 *
 * LOG is mapped: nothing is read or written for it.  Each process adds to its line what it does, after it was
 * done; and says at its end what getrusage(2) has of itself alone.
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rng.h"

#define MAX_PROCESSES 2000
#define ENOUGH 60 /* no more children then */
#define DEEP 5
#define BUFFER 65536
#define STORED (512 << 10) /* at a time, to storage and from it */
#define MAX_THREADS 4

struct line {
	char name[16]; /* how it was made */
	pid_t pid;
	_Atomic long reads, writes, stored, fetched, cpu_us;
	long cpu_seen_us, seen_us, minflt, nvcsw;
	_Atomic long execs, threads;
};

struct log {
	_Atomic int n;
	struct line lines[MAX_PROCESSES];
};

static struct log *all;
static const char *log_path, *program;
static struct line *me;
static int depth;

static char buffer[BUFFER];
static char blocks[STORED] __attribute__((aligned(4096)));

/* ---- work that is counted ---- */

static void transfer(long n, bool out)
{
	int fd = open(out ? "/dev/null" : "/dev/zero", (out ? O_WRONLY : O_RDONLY) | O_CLOEXEC);

	while (n > 0) {
		size_t size = n < BUFFER ? n : BUFFER;
		ssize_t done = out ? write(fd, buffer, size) : read(fd, buffer, size);

		if (done <= 0)
			_exit(90);
		atomic_fetch_add(out ? &me->writes : &me->reads, done);
		n -= done;
	}
	close(fd);
}

/* I/O that reaches the storage: writes a new file, reads past the page cache. */
static void store(bool again)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "store.%d.%ld", getpid(), syscall(SYS_gettid));
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, blocks, STORED) != STORED)
		_exit(91);
	atomic_fetch_add(&me->writes, STORED);
	atomic_fetch_add(&me->stored, STORED);
	close(fd);
	fd = again ? open(name, O_RDONLY | O_DIRECT | O_CLOEXEC) : -1;
	if (fd >= 0 && read(fd, blocks, STORED) == STORED) {
		atomic_fetch_add(&me->reads, STORED);
		atomic_fetch_add(&me->fetched, STORED);
	}
	if (fd >= 0)
		close(fd);
	unlink(name);
}

static long clock_us(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000L + ts.tv_nsec / 1000;
}

static void burn(long us)
{
	long from = clock_us(CLOCK_THREAD_CPUTIME_ID), now;

	do
		now = clock_us(CLOCK_THREAD_CPUTIME_ID);
	while (now < from + us);
	atomic_fetch_add(&me->cpu_us, now - from);
}

static void touch(long pages)
{
	char *memory = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (long i = 0; memory != MAP_FAILED && i < pages; i++)
		memory[i * 4096] = 1;
	munmap(memory, pages * 4096);
}

static void doze(int times)
{
	const struct timespec moment = { .tv_nsec = 50000 };

	while (times--)
		nanosleep(&moment, NULL);
}

/* What it is to do is drawn before: threads do not draw. */
struct task {
	long reads, writes, burn_us, pages;
	int naps;
	bool stores, fetches;
};

static struct task draw_task(void)
{
	return (struct task){ .reads = below(300000), .writes = below(200000),
		.burn_us = one_in(3) ? 10000 + below(20000) : 0, .pages = one_in(3) ? below(2000) : 0,
		.naps = one_in(3) ? below(60) : 0, .stores = one_in(4), .fetches = one_in(2) };
}

static void perform(const struct task *task)
{
	transfer(task->reads, false);
	transfer(task->writes, true);
	if (task->burn_us)
		burn(task->burn_us);
	if (task->pages)
		touch(task->pages);
	doze(task->naps);
	if (task->stores)
		store(task->fetches);
}

/* ---- threads ---- */

enum after { RETURN, STAY, HESITATE, LEAVE_MAX };

struct worker {
	struct task task;
	enum after after;
	long hesitate;
	pid_t waits_for;
	_Atomic bool done;
	pthread_t thread;
};

/* By itself, long after; at the end of the process; or at any moment around that. */
static void *work(void *arg)
{
	struct worker *worker = arg;
	enum after after = worker->after;

	perform(&worker->task);
	if (worker->waits_for)
		waitpid(worker->waits_for, NULL, __WALL);
	atomic_store(&worker->done, true);
	while (after == STAY)
		pause();
	for (volatile long i = 0; after == HESITATE && i < worker->hesitate; i++)
		;
	return NULL;
}

static void start(struct worker *worker, enum after after)
{
	*worker = (struct worker){ .task = draw_task(), .after = after, .hesitate = below(40000) };
	atomic_fetch_add(&me->threads, 1);
	if (pthread_create(&worker->thread, NULL, work, worker))
		_exit(92);
}

static void some_threads(void)
{
	static struct worker workers[64];
	static int used;
	int n = 1 + below(MAX_THREADS);

	for (int i = 0; i < n && used < 64; i++) {
		struct worker *worker = &workers[used++];

		start(worker, below(LEAVE_MAX));
		if (worker->after == RETURN && one_in(2)) {
			pthread_join(worker->thread, NULL);
			continue;
		}
		while (!atomic_load(&worker->done))
			sched_yield();
	}
}

/* ---- processes ---- */

static void live(void);

static struct line *new_line(const char *name)
{
	int n = atomic_fetch_add(&all->n, 1);

	if (n >= MAX_PROCESSES)
		_exit(93);
	snprintf(all->lines[n].name, sizeof(all->lines[n].name), "%s", name);
	return &all->lines[n];
}

static void begin(struct line *line)
{
	me = line;
	me->pid = getpid();
}

static void execute(struct line *line)
{
	char at[16], level[16], seed[32];

	snprintf(at, sizeof(at), "%d", (int)(line - all->lines));
	snprintf(level, sizeof(level), "%d", depth);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)random_bits());
	atomic_fetch_add(&line->execs, 1);
	execl(program, program, log_path, seed, at, level, NULL);
	_exit(94);
}

static void see(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	me->minflt = ru.ru_minflt;
	me->nvcsw = ru.ru_nvcsw;
	me->cpu_seen_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
	me->seen_us = clock_us(CLOCK_REALTIME);
}

static void *outlive(void *arg)
{
	perform(arg);
	doze(20);
	see();
	_exit(6);
}

/* The first thread ends before the last one. */
static void end_by_another(void)
{
	static struct task task;
	pthread_t thread;

	task = draw_task();
	atomic_fetch_add(&me->threads, 1);
	if (pthread_create(&thread, NULL, outlive, &task))
		_exit(92);
	syscall(SYS_exit, 0);
}

static void end(void)
{
	if (one_in(6))
		end_by_another();
	see();
	if (one_in(6))
		raise(SIGKILL);
	if (one_in(2))
		_exit(below(4));
	syscall(SYS_exit_group, below(4));
}

/* A child that has this one's place in the log; it does not come back. */
static pid_t make(const char *name, unsigned long flags)
{
	struct line *line = new_line(name);
	uint64_t seed = random_bits();
	pid_t pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);

	if (pid < 0)
		_exit(95);
	if (pid)
		return pid;
	begin(line);
	rng_state = seed;
	depth++;
	if (one_in(3))
		execute(line);
	live();
	end();
	return 0;
}

/* posix_spawn(3) and vfork(2) do so. */
static pid_t make_by_vfork(void)
{
	struct line *line = new_line("vfork");
	char at[16], level[16], seed[32];
	pid_t pid;

	snprintf(at, sizeof(at), "%d", (int)(line - all->lines));
	snprintf(level, sizeof(level), "%d", depth + 1);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)random_bits());
	atomic_fetch_add(&line->execs, 1);
	pid = vfork();
	if (pid == 0) {
		execl(program, program, log_path, seed, at, level, NULL);
		_exit(94);
	}
	return pid;
}

/* Reaped by the kernel itself. */
static void make_and_ignore(bool by_flag)
{
	struct sigaction old, ignore = { .sa_handler = by_flag ? SIG_DFL : SIG_IGN,
		.sa_flags = by_flag ? SA_NOCLDWAIT : 0 };

	sigaction(SIGCHLD, &ignore, &old);
	while (waitpid(make(by_flag ? "nocldwait" : "ignored", 0), NULL, 0) < 0 && errno != ECHILD)
		;
	sigaction(SIGCHLD, &old, NULL);
}

/* The grandchild has lost its parent before, and gets a new parent. */
static void make_orphan(void)
{
	struct line *line = new_line("middle");
	pid_t pid = fork();

	if (pid == 0) {
		begin(line);
		perform(&(struct task){ .reads = 1000 });
		make("orphan", 0);
		see();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void wait_by_thread(void)
{
	static struct worker worker;

	worker = (struct worker){ .task = draw_task(), .waits_for = make("by-thread", 0) };
	atomic_fetch_add(&me->threads, 1);
	if (pthread_create(&worker.thread, NULL, work, &worker))
		_exit(92);
	pthread_join(worker.thread, NULL);
}

static bool parent_waits(void)
{
	return strcmp(me->name, "waited") == 0 || strcmp(me->name, "vfork") == 0 ||
		strcmp(me->name, "by-thread") == 0;
}

static void make_one(void)
{
	switch (below(9)) {
	case 0: make("unwaited", 0); break;
	case 1: make_and_ignore(false); break;
	case 2: make_and_ignore(true); break;
	case 3: make_orphan(); break;
	case 4: waitpid(make_by_vfork(), NULL, 0); break;
	case 5: wait_by_thread(); break;
	case 6:
		if (parent_waits()) { /* and lives: the kernel does not say which other process made it */
			make("sibling", CLONE_PARENT);
			break;
		}
		/* fallthrough */
	default: waitpid(make("waited", 0), NULL, 0);
	}
}

static void *execute_by_thread(void *arg)
{
	execute(me);
	return arg;
}

/* The exec ends the other threads. */
static void change(void)
{
	pthread_t thread;

	if (one_in(2))
		execute(me);
	atomic_fetch_add(&me->threads, 1);
	if (pthread_create(&thread, NULL, execute_by_thread, NULL))
		_exit(92);
	for (;;)
		pause();
}

static void live(void)
{
	int steps = 2 + below(4);

	if (one_in(4))
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	for (int i = 0; i < steps; i++) {
		struct task task = draw_task();

		perform(&task);
		if (one_in(3))
			some_threads();
		if (depth < DEEP && atomic_load(&all->n) < ENOUGH && !one_in(3))
			make_one();
		if (one_in(8) && atomic_load(&me->execs) < 3)
			change();
	}
	if (one_in(3))
		while (wait(NULL) > 0)
			;
}

/* ---- the log ---- */

static void open_log(void)
{
	int fd = open(log_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0 || ftruncate(fd, sizeof(*all)) < 0)
		err(1, "%s", log_path);
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (all == MAP_FAILED)
		err(1, "%s", log_path);
	close(fd);
}

static void print_log(void)
{
	for (int i = 0; i < all->n; i++) {
		const struct line *l = &all->lines[i];

		printf("%s %d %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld\n", l->name, l->pid, l->reads, l->writes,
			l->stored, l->fetched, l->cpu_us, l->cpu_seen_us, l->seen_us, l->minflt, l->nvcsw, l->execs,
			l->threads);
	}
}

static long read_by_now(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	long n = -1;

	if (!f || fscanf(f, "rchar: %ld", &n) != 1)
		err(1, "/proc/self/io");
	fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--probe") == 0) {
		printf("%ld\n", read_by_now());
		return 0;
	}
	if (argc < 3)
		errx(2, "usage: lineage LOG SEED");
	program = argv[0];
	log_path = argv[1];
	open_log();
	if (strcmp(argv[2], "--print") == 0) {
		print_log();
		return 0;
	}
	rng_state = strtoull(argv[2], NULL, 10);
	depth = argc > 4 ? atoi(argv[4]) : 0;
	begin(argc > 3 ? &all->lines[atoi(argv[3])] : new_line("first"));
	if (argc == 3)
		me->execs = 1;
	live();
	end();
}
