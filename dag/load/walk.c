/* SPDX-License-Identifier: MIT */
#include "dag/load/walk.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/failure.h"
#include "dag/load/walk_internal.h"

#define SECOND INT64_C(1000000000)
#define LAG_MOST (SECOND / 200) /* a thread makes up for delays of its own until then */
#define GIVE_UP_S 30		/* nothing has gone on in any thread: then waits end */
#define STUCK_S 60		/* then all are ended */
#define STACK_BYTES ((size_t)256 << 10)

static void walk_steps(struct walk_thread *thread);

/* ---- waiting ---- */

static void futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t until_ns)
{
	struct timespec until = { until_ns / SECOND, until_ns % SECOND };

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, &until, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static bool is_stopped(const struct walk_thread *thread)
{
	return atomic_load(&thread->process->shared->stop) != 0;
}

static void rest_until(struct walk_thread *thread, int64_t until_ns)
{
	struct walk_shared *shared = thread->process->shared;

	atomic_fetch_add(&shared->resting, 1);
	while (!is_stopped(thread) && clock_now_ns() < until_ns)
		futex_wait(&shared->stop, 0, until_ns);
	atomic_fetch_sub(&shared->resting, 1);
}

/* Whether nothing has moved for that long. */
struct patience {
	uint64_t moves;
	int64_t since_ns;
};

static bool is_over(struct patience *patience, const struct walk_shared *shared, int seconds)
{
	uint64_t moves = atomic_load(&shared->moves);
	int64_t now = clock_now_ns();

	if (patience->since_ns == 0 || patience->moves != moves || atomic_load(&shared->resting))
		*patience = (struct patience){ moves, now };
	return now - patience->since_ns > seconds * SECOND;
}

/* True if it had to wait. */
static bool wait_for(struct walk_thread *thread, struct plan_wait wait)
{
	struct walk_shared *shared = thread->process->shared;
	struct walk_progress *progress = &shared->progress[wait.thread];
	struct patience patience = { 0 };
	bool waited = false;
	uint32_t steps;

	while ((steps = atomic_load(&progress->steps)) < wait.steps && !is_stopped(thread)) {
		waited = true;
		if (is_over(&patience, shared, GIVE_UP_S)) {
			thread->counts.given_up++;
			break;
		}
		atomic_fetch_add(&progress->waiters, 1);
		futex_wait(&progress->steps, steps, clock_now_ns() + SECOND);
		atomic_fetch_sub(&progress->waiters, 1);
	}
	return waited;
}

static void note_progress(struct walk_thread *thread, uint32_t steps)
{
	struct walk_shared *shared = thread->process->shared;
	struct walk_progress *progress = &shared->progress[thread->index];

	atomic_store(&progress->steps, steps);
	atomic_fetch_add(&shared->moves, 1);
	if (atomic_load(&progress->waiters))
		futex_wake(&progress->steps);
}

/* ---- counts ---- */

static void add_counts(struct walk_thread *thread)
{
	struct walk_shared *shared = thread->process->shared;
	struct walk_counts *all = &shared->counts;
	const struct walk_counts *own = &thread->counts;

	pthread_mutex_lock(&shared->mutex);
	for (int op = 0; op < OP_MAX; op++) {
		all->done[op] += own->done[op];
		all->changed[op] += own->changed[op];
	}
	for (int skip = 0; skip < SKIP_MAX; skip++)
		all->skips[skip] += own->skips[skip];
	all->read_bytes += own->read_bytes;
	all->written_bytes += own->written_bytes;
	all->io_ns += own->io_ns;
	all->plan_io_ns += own->plan_io_ns;
	all->processes += own->processes;
	all->threads++;
	all->late_opens += own->late_opens;
	all->closed_ends += own->closed_ends;
	all->pieces += own->pieces;
	all->given_up += own->given_up;
	all->failed += own->failed;
	pthread_mutex_unlock(&shared->mutex);
}

/* ---- threads and processes ---- */

static void *run_thread(void *arg)
{
	struct walk_thread *thread = arg;

	walk_steps(thread);
	add_counts(thread);
	if (thread->buffer)
		munmap(thread->buffer, WALK_BLOCK);
	return NULL;
}

/* The threads of the process beside the first one; *ret_n of them were started. */
static struct walk_thread *start_threads(struct walk_thread *first, int32_t *ret_n)
{
	const struct plan *plan = first->process->plan;
	struct walk_thread *threads = NULL;
	pthread_attr_t attributes;
	int32_t n = 0;

	for (int32_t t = plan->threads[first->index].next; t >= 0; t = plan->threads[t].next)
		n++;
	*ret_n = 0;
	if (n == 0 || !(threads = calloc((size_t)n, sizeof(*threads)))) {
		first->counts.failed += (uint64_t)n;
		return NULL;
	}
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (int32_t t = plan->threads[first->index].next; t >= 0; t = plan->threads[t].next) {
		struct walk_thread *thread = &threads[*ret_n];

		*thread = (struct walk_thread){ .process = first->process, .index = t, .clock_ns = first->clock_ns };
		if (pthread_create(&thread->id, &attributes, run_thread, thread) == 0)
			(*ret_n)++;
		else
			first->counts.failed++;
	}
	pthread_attr_destroy(&attributes);
	return threads;
}

/* All are in one group of processes, which is not ours, so that they can be ended together. */
static void join_group(struct walk_shared *shared)
{
	pid_t group = atomic_load(&shared->group);

	if (group > 0 && setpgid(0, group) == 0)
		return;
	if (setpgid(0, 0) == 0)
		atomic_store(&shared->group, getpid());
}

static _Noreturn void run_process(struct walk_thread *parent, int32_t process, int64_t begin_ns, int64_t t_ns)
{
	struct walk_process *self = parent->process;
	struct walk_thread first = { .process = self, .index = self->plan->processes[process].thread, .clock_ns = begin_ns };
	struct walk_thread *threads;
	int32_t n;

	if (self->index == 0)
		join_group(self->shared);
	self->index = process;
	self->n_mappings = 0;
	prctl(PR_SET_NAME, self->plan->processes[process].comm);
	prctl(PR_SET_TIMERSLACK, 1);
	first.counts.processes = 1;
	load_close_ends(&first, t_ns);
	threads = start_threads(&first, &n);
	walk_steps(&first);
	for (int32_t i = 0; i < n; i++)
		pthread_join(threads[i].id, NULL);
	add_counts(&first);
	/* The last step is done when all else is. */
	note_progress(&first, self->plan->threads[first.index].n_steps);
	_exit(0);
}

static void fork_process(struct walk_thread *thread, const struct plan_step *step)
{
	struct walk_process *process = thread->process;
	int32_t child = step->handle, first = process->plan->processes[child].thread;
	pid_t pid;

	pthread_mutex_lock(&process->mutex);
	pid = fork();
	pthread_mutex_unlock(&process->mutex);
	if (pid == 0)
		run_process(thread, child, thread->clock_ns, step->offset);
	if (pid > 0)
		return;
	/* Others are not to wait for it. */
	thread->counts.failed++;
	atomic_store(&process->shared->progress[first].steps, process->plan->threads[first].n_steps);
}

/* ---- steps ---- */

static bool is_as_planned(const struct plan_step *step, int64_t result)
{
	bool counts_bytes = step->kind == OP_READ || step->kind == OP_WRITE || step->kind == OP_COPY || step->kind == OP_SENDFILE;

	return step->result < 0 || counts_bytes ? result == step->result : result >= 0;
}

static void operate(struct walk_thread *thread, const struct plan_step *step)
{
	struct walk_counts *counts = &thread->counts;
	int64_t begin = clock_now_ns(), took;
	enum plan_skip skip = SKIP_NONE;
	int64_t result = load_act(thread, step, &skip);

	took = clock_now_ns() - begin;
	thread->clock_ns += took;
	if (skip) {
		counts->skips[skip]++;
		return;
	}
	counts->done[step->kind]++;
	counts->io_ns += took;
	counts->plan_io_ns += step->latency_ns;
	if (!is_as_planned(step, result))
		counts->changed[step->kind]++;
	if (result > 0 && step->kind == OP_READ)
		counts->read_bytes += (uint64_t)result;
	else if (result > 0 && (step->kind == OP_WRITE || step->kind == OP_COPY || step->kind == OP_SENDFILE))
		counts->written_bytes += (uint64_t)result;
}

/* Waits for others, and thinks. */
static void get_ready(struct walk_thread *thread, const struct plan_step *step)
{
	const struct walk_process *process = thread->process;
	bool waited = false;
	int64_t now;

	for (uint32_t i = 0; i < step->n_waits; i++)
		waited |= wait_for(thread, process->plan->waits[step->waits + i]);
	now = clock_now_ns();
	if (process->options->speed <= 0) {
		thread->clock_ns = now;
		return;
	}
	if (thread->clock_ns < (waited ? now : now - LAG_MOST))
		thread->clock_ns = waited ? now : now - LAG_MOST;
	thread->clock_ns += (int64_t)((double)step->think_ns / process->options->speed);
	if (thread->clock_ns > now)
		rest_until(thread, thread->clock_ns);
}

static void walk_steps(struct walk_thread *thread)
{
	const struct plan *plan = thread->process->plan;
	uint32_t n = 0;

	for (uint32_t at = plan->threads[thread->index].first; at && !is_stopped(thread); at = plan->steps[at].next) {
		const struct plan_step *step = &plan->steps[at];

		get_ready(thread, step);
		if (step->kind == STEP_EXIT)
			return; /* it counts when the process is over */
		if (step->kind == STEP_FORK)
			fork_process(thread, step);
		else if (step->kind == STEP_EXEC)
			load_close_ends(thread, step->offset);
		else if (!step->skip)
			operate(thread, step);
		note_progress(thread, ++n);
	}
}

/* ---- all of it ---- */

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN); /* nothing is left of those that have ended */
}

static void stop_all(struct walk_shared *shared)
{
	atomic_store(&shared->stop, 1);
	futex_wake(&shared->stop);
}

/* Those that are inside of a call that does not end. */
static void end_all(const struct walk_shared *shared)
{
	pid_t group = atomic_load(&shared->group);

	if (group > 0)
		kill(-group, SIGKILL);
}

/* Until all processes have ended. */
static int wait_for_all(struct walk_shared *shared)
{
	struct patience patience = { 0 };
	int r = 0;

	for (;;) {
		struct timespec pause = { 0, 2000000 };

		if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			return r;
		if (interrupted && r == 0)
			r = -EINTR;
		if (is_over(&patience, shared, STUCK_S) && r == 0)
			r = -ETIMEDOUT;
		if (r < 0) {
			stop_all(shared);
			if (is_over(&patience, shared, STUCK_S / 10))
				end_all(shared);
		}
		nanosleep(&pause, NULL);
	}
}

static size_t shared_size(const struct plan *plan)
{
	return sizeof(struct walk_shared) + (size_t)plan->n_threads * sizeof(struct walk_progress);
}

static void *map_memory(size_t size, int how)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void fill(char *noise, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = getrandom(noise + at, size - at, 0);

		at += n > 0 ? (size_t)n : 1;
	}
}

static struct walk_shared *share(const struct plan *plan)
{
	struct walk_shared *shared = map_memory(shared_size(plan), MAP_SHARED);
	pthread_mutexattr_t attributes;

	if (!shared)
		return NULL;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return shared;
}

static int run(struct walk_process *process)
{
	struct walk_thread first = { .process = process, .index = 0 };
	int r;

	catch_signals();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	process->shared->counts.begin_ns = first.clock_ns = clock_now_ns();
	walk_steps(&first);
	r = wait_for_all(process->shared);
	process->shared->counts.end_ns = clock_now_ns();
	return r;
}

int load_walk(const struct plan *plan, const struct walk_options *options, struct walk_counts **ret_counts, struct failure *failure)
{
	struct walk_process process = { .plan = plan, .options = options, .mutex = PTHREAD_MUTEX_INITIALIZER };
	size_t fds_size = ((size_t)plan->n_handles + 1) * sizeof(*process.fds);
	char *noise = map_memory(2 * WALK_BLOCK, MAP_PRIVATE);
	int r;

	process.shared = share(plan);
	process.fds = map_memory(fds_size, MAP_PRIVATE);
	if (!noise || !process.shared || !process.fds)
		return failure_memory(failure);
	fill(noise, 2 * WALK_BLOCK);
	process.noise = noise;
	r = run(&process);
	munmap(noise, 2 * WALK_BLOCK);
	munmap(process.fds, fds_size);
	*ret_counts = &process.shared->counts;
	if (r == -ETIMEDOUT)
		failure_set(failure, r, "nothing went on any more for %d seconds, and the replay was ended", STUCK_S);
	else if (r < 0)
		failure_set(failure, r, "the replay was interrupted");
	return r;
}

