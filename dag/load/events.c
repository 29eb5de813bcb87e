/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/vector.h"
#include "dag/load/read_internal.h"

/* ---- threads ---- */

static int add_thread(struct reading *in, int32_t process, int64_t t_ns, int32_t *ret_thread)
{
	struct plan *plan = in->plan;
	struct plan_process *p = &plan->processes[process];
	struct plan_thread thread = { .process = process, .next = PLAN_NONE };
	int r = vector_push(in->thread_state, in->n_thread_state, (struct read_thread){ .end_ns = t_ns, .done = { .thread = plan->n_threads } });

	if (r == 0)
		r = vector_push(plan->threads, plan->n_threads, thread);
	if (r < 0)
		return r;
	*ret_thread = plan->n_threads - 1;
	if (p->thread < 0) {
		p->thread = *ret_thread;
	} else {
		plan->threads[*ret_thread].next = plan->threads[p->thread].next;
		plan->threads[p->thread].next = *ret_thread;
	}
	if (++in->living > plan->most_threads)
		plan->most_threads = in->living;
	return 0;
}

/* Process 0 and its thread are the program that replays. */
int load_read_begin(struct reading *in)
{
	int32_t thread;
	int r = vector_push(in->process_state, in->n_process_state, (struct read_process){ .started = true, .parent = PLAN_NONE });

	if (r == 0)
		r = vector_push(in->plan->processes, in->plan->n_processes, (struct plan_process){ .thread = PLAN_NONE });
	return r ? r : add_thread(in, 0, PLAN_UNKNOWN, &thread);
}

/* The end of what was before the step, and of all that it waits for: its think time counts from there. */
static int64_t gap(int64_t from_ns, int64_t latest_ns, int64_t until_ns)
{
	int64_t begin = latest_ns > from_ns ? latest_ns : from_ns;

	return begin == PLAN_UNKNOWN || until_ns < begin ? 0 : until_ns - begin;
}

/* It waits for children that have ended. */
static int wait_for_children(struct reading *in, int32_t thread, uint32_t step, int64_t *latest_ns)
{
	struct read_process *process = &in->process_state[in->plan->threads[thread].process];
	struct read_thread *state = &in->thread_state[thread];
	int r = 0;

	for (; r == 0 && state->n_ended < process->n_ended; state->n_ended++)
		r = load_order_wait(&in->order, thread, step, process->ended[state->n_ended], latest_ns);
	return r;
}

/* A step that takes no time. */
static int add_moment(struct reading *in, int32_t thread, struct plan_step step, int64_t t_ns, bool after_threads)
{
	struct plan *plan = in->plan;
	struct read_thread *state = &in->thread_state[thread];
	int64_t latest = PLAN_UNKNOWN;
	uint32_t at;
	int r = load_plan_append(plan, in->dir, thread, &step, &at);

	if (r == 0)
		r = wait_for_children(in, thread, at, &latest);
	for (int32_t t = plan->threads[thread].next; r == 0 && after_threads && t >= 0; t = plan->threads[t].next)
		r = load_order_wait(&in->order, thread, at, in->thread_state[t].done, &latest);
	if (r < 0)
		return r;
	plan->steps[at].think_ns = gap(state->end_ns, latest, t_ns);
	if (state->end_ns < t_ns)
		state->end_ns = t_ns;
	state->done = (struct order_ref){ thread, plan->threads[thread].n_steps, t_ns };
	return 0;
}

/* ---- lives ---- */

static int start(struct reading *in, int32_t process, int64_t t_ns)
{
	struct read_process *state = &in->process_state[process];
	int32_t parent = state->parent_id == PLAN_UNKNOWN ? PLAN_NONE : load_read_find(in->processes, state->parent_id), thread;
	int r;

	if (state->started)
		return 0;
	if (parent < 0 || !in->process_state[parent].started || in->process_state[parent].is_over)
		parent = 0;
	state->started = true;
	state->parent = parent;
	state->start_ns = t_ns;
	r = add_moment(in, in->plan->processes[parent].thread,
		(struct plan_step){ .kind = STEP_FORK, .handle = process, .offset = t_ns }, t_ns, true);
	return r ? r : add_thread(in, process, t_ns, &thread);
}

/* What was written to pipes before the process ended was not refused; what came later may have been. */
static int close_pipes(struct reading *in, int32_t process, int32_t thread, int64_t t_ns)
{
	const struct read_process *state = &in->process_state[process];
	int64_t latest = in->thread_state[thread].end_ns;
	uint32_t step = in->plan->threads[thread].last;
	int r = 0;

	for (int32_t i = 0; r == 0 && i < state->n_reads; i++) {
		struct read_file *file = &in->file_state[in->plan->handles[state->reads[i]].file];

		r = load_order_wait(&in->order, thread, step, file->thing.changed, &latest);
		file->closed = (struct order_ref){ thread, in->plan->threads[thread].n_steps, t_ns };
	}
	return r;
}

static int end(struct reading *in, int32_t process, int64_t t_ns)
{
	struct read_process *state = &in->process_state[process], *parent = &in->process_state[state->parent < 0 ? 0 : state->parent];
	int32_t thread = in->plan->processes[process].thread;
	int r;

	if (!state->started || state->is_over)
		return 0;
	state->is_over = true;
	for (int32_t t = thread; t >= 0; t = in->plan->threads[t].next)
		in->living--;
	r = add_moment(in, thread, (struct plan_step){ .kind = STEP_EXIT, .offset = t_ns }, t_ns, true);
	if (r == 0)
		r = close_pipes(in, process, thread, t_ns);
	if (r == 0 && state->parent > 0 && !parent->is_over)
		r = vector_push(parent->ended, parent->n_ended, (struct order_ref){ thread, in->plan->threads[thread].n_steps, t_ns });
	return r;
}

/* ---- operations ---- */

static uint8_t kind_of(const struct reading *in, const struct read_row *row)
{
	int32_t file = row->handle >= 0 ? in->plan->handles[row->handle].file : row->file;

	return file < 0 ? KIND_FILE : in->plan->files[file].kind;
}

static bool moves(uint8_t op)
{
	return op == OP_READ || op == OP_WRITE || op == OP_COPY || op == OP_SENDFILE || op == OP_SPLICE || op == OP_SEND || op == OP_RECV;
}

static bool is_open(uint8_t op)
{
	return op == OP_OPEN || op == OP_CREATE || op == OP_OPENDIR || op == OP_TMPFILE;
}

static bool opens(const struct read_row *row)
{
	return row->result >= 0 && (is_open(row->op) || row->op == OP_PIPE);
}

/* Why an operation on something of this kind is not done. */
static enum plan_skip skip_of_kind(const struct read_row *row, uint8_t kind)
{
	switch (kind) {
	case KIND_SOCKET: return row->handle >= 0 ? SKIP_SOCKET : SKIP_NONE;
	case KIND_OBJECT: return SKIP_OBJECT;
	case KIND_DEVICE: return row->handle >= 0 && (moves(row->op) || row->op == OP_MMAP || row->op == OP_IOCTL || row->op == OP_LSEEK ||
			row->op == OP_FSYNC) ? SKIP_DEVICE : SKIP_NONE;
	case KIND_FIFO: return row->handle >= 0 ? SKIP_FIFO : SKIP_NONE;
	case KIND_PIPE: return row->op == OP_SPLICE ? SKIP_OTHER : SKIP_NONE;
	default: return SKIP_NONE;
	}
}

static enum plan_skip skip_of(const struct reading *in, const struct read_row *row)
{
	uint8_t kind = kind_of(in, row);
	enum plan_skip skip = skip_of_kind(row, kind);

	if (row->by_kernel)
		return SKIP_KERNEL;
	if (skip)
		return skip;
	if (row->result == PLAN_UNKNOWN)
		return SKIP_OTHER;
	if (row->result == -EAGAIN || row->result == -EINTR || row->result <= -512)
		return SKIP_AGAIN;
	switch (row->op) {
	case OP_SOCKET: case OP_CONNECT: case OP_ACCEPT: case OP_SEND: case OP_RECV:
		return SKIP_SOCKET;
	case OP_LOCK:
		return SKIP_LOCK;
	case OP_IOCTL:
		return row->result < 0 ? SKIP_NONE : SKIP_IOCTL;
	case OP_MPROTECT: case OP_MREMAP: case OP_MSYNC: case OP_SPLICE: case OP_LOOKUP: case OP_FLUSH: case OP_RELEASE: case OP_RELEASEDIR:
		return SKIP_OTHER;
	default:
		/* Without a descriptor it is by name; a wrong descriptor is one, too. */
		return row->handle < 0 && row->path < 0 && row->result != -EBADF ? SKIP_NAME : SKIP_NONE;
	}
}

static bool is_by_handle(const struct read_row *row)
{
	return !is_open(row->op) && (row->handle >= 0 || (row->path < 0 && row->result == -EBADF));
}

/* What arrives there is read when the call ends. */
static bool is_late(const struct reading *in, const struct read_row *row)
{
	uint8_t kind = kind_of(in, row);

	return row->op == OP_LOCK || (row->op == OP_WRITE && row->result == -EPIPE) ||
		((row->op == OP_READ || row->op == OP_RECV) && (kind == KIND_PIPE || kind == KIND_SOCKET));
}

static bool changes_content(const struct reading *in, const struct read_row *row)
{
	return row->result >= 0 && (row->op == OP_WRITE || row->op == OP_SEND || row->op == OP_TRUNCATE || row->op == OP_FALLOCATE || row->op == OP_COPY ||
		row->op == OP_SENDFILE || row->op == OP_CREATE || row->op == OP_LOCK ||
		(row->op == OP_OPEN && row->handle >= 0 && in->plan->handles[row->handle].flags & 01000));
}

static bool uses_content(const struct read_row *row)
{
	return row->result >= 0 && (row->op == OP_READ || row->op == OP_RECV || row->op == OP_MMAP || row->op == OP_CLOSE);
}

static bool changes_names(const struct read_row *row)
{
	return row->result >= 0 && (row->op == OP_CREATE || row->op == OP_MKDIR || row->op == OP_MKNOD || row->op == OP_RMDIR || row->op == OP_UNLINK ||
		row->op == OP_RENAME || row->op == OP_LINK || row->op == OP_SYMLINK || row->op == OP_TMPFILE);
}

typedef int visit_thing(struct reading *in, const struct read_flight *flight, struct order_thing *thing, bool change, void *arg);

/* All names of a path are used; the last one may be changed. */
static int visit_path(struct reading *in, const struct read_flight *flight, int32_t path, bool change, visit_thing *visit, void *arg)
{
	int r = 0;

	for (; r == 0 && path > 0; path = in->plan->paths[path].parent, change = false)
		if (in->names.things[path].changes)
			r = visit(in, flight, &in->names.things[path], change, arg);
	return r;
}

/* The things that an operation uses or changes. */
static int visit_things(struct reading *in, const struct read_flight *flight, visit_thing *visit, void *arg)
{
	const struct read_row *row = &flight->row;
	int32_t file = row->handle >= 0 ? in->plan->handles[row->handle].file : row->file;
	bool change = changes_content(in, row), change_names = changes_names(row);
	int r = 0;

	if (change && file >= 0 && in->plan->files[file].kind == KIND_SOCKET && row->op != OP_LOCK)
		file = in->file_state[file].peer;
	if (file >= 0 && (change || uses_content(row)) && in->file_state[file].thing.changes)
		r = visit(in, flight, &in->file_state[file].thing, change, arg);
	if (r == 0 && !is_by_handle(row)) {
		r = visit_path(in, flight, row->path, change_names && row->op != OP_LINK, visit, arg);
		if (r == 0)
			r = visit_path(in, flight, row->path2, change_names, visit, arg);
	}
	return r;
}

struct waiting {
	uint32_t step;
	int64_t latest_ns;
};

static int wait_for_thing(struct reading *in, const struct read_flight *flight, struct order_thing *thing, bool change, void *arg)
{
	struct waiting *waiting = arg;

	return load_order_after(&in->order, flight->thread, waiting->step, thing, change, &waiting->latest_ns);
}

static int note_done(struct reading *in, const struct read_flight *flight, struct order_thing *thing, bool change, void *arg)
{
	(void)in;
	(void)arg;
	return load_order_done(thing, (struct order_ref){ flight->thread, flight->steps, flight->row.t_ns + flight->row.latency_ns }, flight->row.t_ns, change);
}

/* The open, if another thread of the process made it. */
static int wait_for_open(struct reading *in, const struct read_flight *flight, int64_t *latest_ns)
{
	const struct read_open *open = flight->row.handle >= 0 ? &in->opener[flight->row.handle] : NULL;

	if (!open || open->thread < 0 || in->plan->threads[open->thread].process != flight->row.process)
		return 0;
	return load_order_wait(&in->order, flight->thread, flight->step, (struct order_ref){ open->thread, open->steps, open->end_ns }, latest_ns);
}

/* What it waits for, and its think time. */
static int set_waits(struct reading *in, const struct read_flight *flight)
{
	struct plan_step *step = &in->plan->steps[flight->step];
	struct waiting waiting = { flight->step, PLAN_UNKNOWN };
	int r = wait_for_children(in, flight->thread, flight->step, &waiting.latest_ns);

	if (r == 0 && flight->steps == 1) /* a thread begins after what the first one had done */
		r = load_order_wait(&in->order, flight->thread, flight->step, in->thread_state[in->plan->processes[flight->row.process].thread].done,
			&waiting.latest_ns);
	if (r == 0)
		r = wait_for_open(in, flight, &waiting.latest_ns);
	if (r == 0 && flight->row.result == -EPIPE && flight->row.handle >= 0 && in->plan->handles[flight->row.handle].file >= 0)
		r = load_order_wait(&in->order, flight->thread, flight->step, in->file_state[in->plan->handles[flight->row.handle].file].closed,
			&waiting.latest_ns);
	if (r == 0)
		r = visit_things(in, flight, wait_for_thing, &waiting);
	step = &in->plan->steps[flight->step];
	/* What is not done takes its time nevertheless, but not that of waiting. */
	step->think_ns = gap(flight->before_ns, waiting.latest_ns, flight->row.t_ns + (step->skip ? flight->row.latency_ns : 0));
	return r;
}

/* ---- the end of an operation ---- */

/* Until when processes use an end of a pipe, which their ancestors have to keep until they have started them. */
static int note_need(struct reading *in, const struct read_row *row)
{
	int32_t opener = in->opener[row->handle].thread, process = row->process;
	int64_t until = row->t_ns + row->latency_ns;

	opener = opener >= 0 ? in->plan->threads[opener].process : 0;
	while (process > 0 && load_plan_needed_until(in->plan, process, row->handle) < until) {
		struct read_process *state = &in->process_state[process];
		bool is_new = load_plan_needed_until(in->plan, process, row->handle) == PLAN_UNKNOWN;
		int r = load_plan_need(in->plan, process, row->handle, until);

		if (r == 0 && is_new && (in->plan->handles[row->handle].flags & 3) == 0)
			r = vector_push(state->reads, state->n_reads, row->handle);
		if (r < 0)
			return r;
		if (process == opener)
			break;
		until = in->process_state[process].start_ns;
		process = in->process_state[process].parent;
	}
	return 0;
}

/* A file that was there has all that was read of it, and ends where a read got less than it asked for. */
static void note_size(struct reading *in, const struct read_row *row)
{
	int32_t index = in->plan->handles[row->handle].file;
	struct plan_file *file = index < 0 ? NULL : &in->plan->files[index];
	bool is_short = row->length > row->bytes;
	int64_t end = row->offset + row->bytes;

	if (file && changes_content(in, row))
		in->file_state[index].is_written = true;
	if (!file || in->file_state[index].is_written || row->op != OP_READ || row->bytes < 0 || row->offset < 0)
		return;
	if (file->size < end || (is_short && file->size > end))
		file->size = end;
}

/* Whether the first name of an operation that failed is there: that is why. */
static bool shows_file(const struct read_row *row)
{
	switch (-row->result) {
	case EEXIST: return row->op != OP_LINK && row->op != OP_RENAME && row->op != OP_SYMLINK;
	case EINVAL: return row->op == OP_READLINK;
	case EISDIR: case ENOTEMPTY: case ENODATA: case EOPNOTSUPP: case ERANGE: case ETXTBSY: return true;
	default: return false;
	}
}

/* Names that it found, made or removed. */
static void note_names(struct reading *in, const struct read_row *row)
{
	if (row->path < 0)
		return;
	if (row->result < 0) {
		if (row->result == -ENOENT)
			load_names_found(&in->names, row->path, PLAN_NONE, false);
		else if (shows_file(row))
			load_names_found(&in->names, row->path, PLAN_NONE, true);
		return;
	}
	switch (row->op) {
	case OP_CREATE: case OP_MKDIR: case OP_MKNOD: case OP_SYMLINK:
		load_names_found(&in->names, row->path, PLAN_NONE, false);
		load_names_made(&in->names, row->path, row->file);
		break;
	case OP_TMPFILE:
		load_names_found(&in->names, in->plan->paths[row->path].parent, PLAN_NONE, true);
		break;
	case OP_UNLINK: case OP_RMDIR:
		load_names_found(&in->names, row->path, row->file, true);
		if (row->op == OP_RMDIR)
			in->plan->paths[row->path].is_directory = true;
		load_names_removed(&in->names, row->path);
		break;
	case OP_RENAME:
		load_names_moved(&in->names, row->path, row->path2, row->file);
		break;
	case OP_LINK:
		load_names_found(&in->names, row->path, row->file, true);
		load_names_made(&in->names, row->path2, row->file);
		break;
	default:
		load_names_found(&in->names, row->path, row->file, true);
		if (row->op == OP_OPENDIR)
			in->plan->paths[row->path].is_directory = true;
	}
}

static int land(struct reading *in, const struct read_flight *flight)
{
	const struct read_row *row = &flight->row;
	struct read_thread *state = &in->thread_state[flight->thread];
	int64_t end_ns = row->t_ns + row->latency_ns;
	int r = flight->is_late ? set_waits(in, flight) : 0;

	if (r == 0)
		r = visit_things(in, flight, note_done, NULL);
	if (r == 0 && row->handle >= 0 && kind_of(in, row) == KIND_PIPE) {
		r = note_need(in, row);
		if (row->op == OP_CLOSE && (in->plan->handles[row->handle].flags & 3) == 0)
			in->file_state[in->plan->handles[row->handle].file].closed = (struct order_ref){ flight->thread, flight->steps, end_ns };
	}
	if (row->handle >= 0) {
		/* What was open before the record is there. */
		if (in->opener[row->handle].thread < 0)
			load_names_found(&in->names, in->plan->handles[row->handle].path, in->plan->handles[row->handle].file, true);
		note_size(in, row);
	}
	if (!is_by_handle(row))
		note_names(in, row);
	if (state->done.steps < flight->steps)
		state->done = (struct order_ref){ flight->thread, flight->steps, end_ns };
	return r;
}

static bool ends_before(const void *arg, int32_t a, int32_t b)
{
	const struct read_flight *flights = arg;
	int64_t end_a = flights[a].row.t_ns + flights[a].row.latency_ns, end_b = flights[b].row.t_ns + flights[b].row.latency_ns;

	return end_a != end_b ? end_a < end_b : a < b;
}

/* Operations that had ended until then. */
static int land_until(struct reading *in, int64_t t_ns)
{
	int r = 0;

	while (r == 0 && in->n_heap > 0 && in->flights[in->heap[0]].row.t_ns + in->flights[in->heap[0]].row.latency_ns <= t_ns) {
		int32_t first = heap_pop(in->heap, &in->n_heap, ends_before, in->flights);

		r = land(in, &in->flights[first]);
		in->heap[in->n_heap] = first; /* a free one */
	}
	return r;
}

/* A place for one more: those behind the heap are free. */
static int take_off(struct reading *in, const struct read_flight *flight)
{
	int32_t place;

	if (in->n_heap == in->n_flights) {
		if (vector_push(in->flights, in->n_flights, *flight) < 0 || vector_fit(in->heap, in->room_heap, (size_t)in->n_flights) < 0)
			return -ENOMEM;
		place = in->n_flights - 1;
	} else {
		place = in->heap[in->n_heap];
		in->flights[place] = *flight;
	}
	heap_push(in->heap, &in->n_heap, place, ends_before, in->flights);
	return 0;
}

/* ---- rows ---- */

static int find_thread(struct reading *in, const struct read_row *row, int32_t *ret_thread)
{
	struct plan *plan = in->plan;
	int32_t first = plan->processes[row->process].thread, thread;
	int64_t key = (int64_t)row->process << 32 | (uint32_t)row->tid;
	int r;

	*ret_thread = first;
	if (row->tid == PLAN_UNKNOWN || row->tid == in->process_state[row->process].pid)
		return 0;
	*ret_thread = load_read_find(in->threads, key);
	if (*ret_thread >= 0)
		return 0;
	r = add_thread(in, row->process, in->thread_state[first].end_ns, &thread);
	*ret_thread = thread;
	return r ? r : load_read_add(in, &in->threads, key, thread);
}

int load_read_life(struct reading *in, int what, int32_t process, int64_t t_ns)
{
	int r = land_until(in, t_ns);

	if (r < 0)
		return r;
	switch (what) {
	case READ_FORK: return start(in, process, t_ns);
	case READ_EXIT: return end(in, process, t_ns);
	default:
		if (!in->process_state[process].started || in->process_state[process].is_over)
			return 0;
		return add_moment(in, in->plan->processes[process].thread, (struct plan_step){ .kind = STEP_EXEC, .offset = t_ns }, t_ns, false);
	}
}

static struct plan_step make_step(const struct reading *in, const struct read_row *row)
{
	return (struct plan_step){ .kind = row->op, .skip = (uint8_t)skip_of(in, row), .by_handle = is_by_handle(row), .latency_ns = row->latency_ns,
		.result = row->result, .offset = row->offset, .length = row->length, .handle = row->handle, .path = row->path, .path2 = row->path2,
		.flags = row->flags };
}

static bool may_store(const struct read_row *row)
{
	uint32_t both = MAP_MAY_WRITE | MAP_IS_SHARED;

	return row->op == OP_MMAP && row->result >= 0 && (row->flags & both) == both;
}

int load_read_operation(struct reading *in, const struct read_row *row)
{
	struct plan *plan = in->plan;
	struct read_flight flight = { .row = *row, .is_late = is_late(in, row) };
	struct plan_step step = make_step(in, row);
	struct read_thread *state;
	int r;

	plan->counts[row->op]++;
	plan->stored += may_store(row);
	if (row->process <= 0 || in->process_state[row->process].is_over) {
		plan->skips[SKIP_OTHER]++;
		return 0;
	}
	plan->skips[step.skip]++;
	r = land_until(in, row->t_ns);
	if (r == 0)
		r = start(in, row->process, row->t_ns);
	if (r == 0)
		r = find_thread(in, row, &flight.thread);
	if (r == 0)
		r = load_plan_append(plan, in->dir, flight.thread, &step, &flight.step);
	if (r < 0)
		return r;
	flight.steps = plan->threads[flight.thread].n_steps;
	state = &in->thread_state[flight.thread];
	flight.before_ns = state->end_ns;
	if (state->end_ns < row->t_ns + row->latency_ns)
		state->end_ns = row->t_ns + row->latency_ns;
	if (!flight.is_late)
		r = set_waits(in, &flight);
	if (r == 0 && opens(row) && row->handle >= 0) {
		int32_t other = row->op == OP_PIPE ? plan->handles[row->handle].other_end : PLAN_NONE;

		in->opener[row->handle] = (struct read_open){ flight.thread, flight.steps, row->t_ns + row->latency_ns };
		if (other >= 0)
			in->opener[other] = in->opener[row->handle];
	}
	return r ? r : take_off(in, &flight);
}

int load_read_end(struct reading *in)
{
	int r = land_until(in, INT64_MAX);

	/* Those of which the end is not known end after their last step. */
	for (int32_t process = 1; r == 0 && process < in->n_process_state; process++)
		if (in->process_state[process].started && !in->process_state[process].is_over)
			r = end(in, process, in->thread_state[in->plan->processes[process].thread].end_ns);
	return r;
}
