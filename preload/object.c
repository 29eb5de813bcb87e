/* SPDX-License-Identifier: MIT */
#include "preload/inside.h"
#include "preload/operations.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define LONGEST 4096 /* of a text */
#define NAP_NS 200000
#define FULL_NS 1000000 /* for so long a thread looks for no chunk after it found none */

_Thread_local struct thread self;
struct process process;

int64_t object_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* ---- the process ---- */

static bool is_ours(const struct wire_header *header)
{
	return header->magic == WIRE_MAGIC && header->version == WIRE_VERSION;
}

/* The number of a process with a lock is told as the caller would see it. */
static bool sees_reader(int fd, const struct wire_header *header)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return syscall(SYS_fcntl, fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0 &&
		lock.l_pid == atomic_load(&header->reader);
}

/* By system calls: our own functions stand in front of those of libc. */
static struct wire_header *map_file(const char *path)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0);
	struct stat st;
	void *map = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (syscall(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)WIRE_BYTES)
		map = (void *)syscall(SYS_mmap, NULL, WIRE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); // NOLINT(performance-no-int-to-ptr)
	process.sees_reader = map != MAP_FAILED && sees_reader(fd, map);
	syscall(SYS_close, fd);
	if (map == MAP_FAILED)
		return NULL;
	if (is_ours(map))
		return map;
	syscall(SYS_munmap, map, WIRE_BYTES);
	return NULL;
}

static struct generation *map_generation(void)
{
	void *page = (void *)syscall(SYS_mmap, NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // NOLINT(performance-no-int-to-ptr)

	if (page == MAP_FAILED)
		return NULL;
	if (syscall(SYS_madvise, page, PAGE, MADV_WIPEONFORK) == 0) {
		*(volatile uint64_t *)page = 0; /* a page that is read first is made twice */
		return page;
	}
	syscall(SYS_munmap, page, PAGE);
	return NULL;
}

static void begin_process(void)
{
	const char *path = secure_getenv("FTRAC_CALLS"); /* WIRE_VARIABLE */
	int error = errno;

	process.current = path ? map_generation() : NULL;
	if (process.current)
		process.header = map_file(path);
	errno = error;
}

static bool is_begun(void)
{
	int none = 0;

	if (atomic_load_explicit(&process.begun, memory_order_acquire) == 2)
		return process.header;
	if (!atomic_compare_exchange_strong(&process.begun, &none, 1))
		return false;
	begin_process();
	atomic_store_explicit(&process.begun, 2, memory_order_release);
	return process.header;
}

/* ---- chunks ---- */

static bool claim_one(struct slot *slot)
{
	struct wire_header *header = process.header;
	uint32_t start = atomic_load_explicit(&header->hint, memory_order_relaxed);

	for (uint32_t i = 0; i < WIRE_CHUNKS; i++) {
		struct wire_chunk *chunk = wire_chunk(header, (start + i) % WIRE_CHUNKS);
		uint64_t state = atomic_load_explicit(&chunk->state, memory_order_relaxed);

		if (state % WIRE_STATES != WIRE_FREE)
			continue;
		slot->claim = atomic_fetch_add(&header->claims, 1) + 1;
		if (!atomic_compare_exchange_strong(&chunk->state, &state, slot->claim * WIRE_STATES + WIRE_OWNED))
			continue;
		slot->chunk = chunk;
		return true;
	}
	return false;
}

static bool may_wait(void)
{
	const struct wire_header *header = process.header;

	return !header->drop && !atomic_load(&header->over) && object_now_ns() - atomic_load(&header->beat_ns) < WIRE_GONE_NS;
}

static bool claim(struct slot *slot)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	int64_t start_ns;

	if (self.full_until_ns && object_now_ns() < self.full_until_ns)
		return false;
	if (claim_one(slot))
		return true;
	start_ns = object_now_ns();
	while (may_wait()) {
		syscall(SYS_nanosleep, &nap, NULL);
		if (claim_one(slot)) {
			atomic_fetch_add(&process.header->waited_ns, object_now_ns() - start_ns);
			return true;
		}
	}
	self.full_until_ns = object_now_ns() + FULL_NS;
	return false;
}

/* Whether the chunk is still ours; then the reader leaves it alone. */
static bool begin_writing(const struct slot *slot)
{
	uint64_t owned = slot->claim * WIRE_STATES + WIRE_OWNED;

	return atomic_compare_exchange_strong_explicit(&slot->chunk->state, &owned, slot->claim * WIRE_STATES + WIRE_BUSY,
		memory_order_acquire, memory_order_relaxed);
}

static void end_writing(const struct slot *slot, enum wire_state state)
{
	atomic_store_explicit(&slot->chunk->state, slot->claim * WIRE_STATES + state, memory_order_release);
}

static char *append(char *to, const void *from, size_t len)
{
	return from ? (char *)memcpy(to, from, len) + len : to;
}

static void copy_message(char *to, const struct message *message)
{
	to = append(to, message->record, sizeof(*message->record));
	to = append(to, message->mpi, sizeof(*message->mpi));
	to = append(to, message->sum, sizeof(*message->sum));
	to = append(to, message->more, sizeof(*message->more));
	to = append(to, message->seen, sizeof(*message->seen));
	to = append(to, message->text, message->len);
	if (message->len2) {
		*to++ = '\0';
		append(to, message->text2, message->len2 - 1);
	}
}

static bool write_record(struct slot *slot, const struct message *message)
{
	const struct wire_record *record = message->record;

	while (slot->chunk || claim(slot)) {
		uint32_t used;

		if (!begin_writing(slot)) {
			slot->chunk = NULL;
			continue;
		}
		used = atomic_load_explicit(&slot->chunk->used, memory_order_relaxed);
		if (used > sizeof(slot->chunk->data) || record->bytes > sizeof(slot->chunk->data) - used) {
			end_writing(slot, WIRE_FULL);
			slot->chunk = NULL;
			continue;
		}
		copy_message(slot->chunk->data + used, message);
		/* A signal handler may have forked meanwhile: then the chunk is the parent's. */
		if (self.generation != atomic_load_explicit(&process.current->number, memory_order_relaxed))
			return true;
		atomic_store_explicit(&slot->chunk->used, used + record->bytes, memory_order_release);
		end_writing(slot, WIRE_OWNED);
		return true;
	}
	return false;
}

/* The writers of this thread that a longjmp(3) out of a signal handler has left keep their chunks, which are lost. */
static void forget_left(uintptr_t user)
{
	while (self.writing > 0 && self.slots[self.writing - 1].user <= user)
		self.slots[--self.writing].chunk = NULL;
}

static size_t len_of(const char *text)
{
	return text ? strnlen(text, LONGEST) : 0;
}

/* The lengths of the texts and of all. */
static void measure(struct message *message)
{
	struct wire_record *record = message->record;

	message->len = len_of(message->text);
	message->len2 = message->text2 ? len_of(message->text2) + 1 : 0;
	record->text_len = (uint16_t)(message->len + message->len2 + (message->mpi ? sizeof(*message->mpi) : 0) +
		(message->sum ? sizeof(*message->sum) : 0) + (message->more ? sizeof(*message->more) : 0) +
		(message->seen ? sizeof(*message->seen) : 0));
	record->bytes = (uint16_t)WIRE_ROUND(sizeof(*record) + record->text_len);
}

void object_hand_over(struct message *message)
{
	uintptr_t user = (uintptr_t)__builtin_frame_address(0);
	bool done = false;

	forget_left(user);
	measure(message);
	if (self.writing < INTERRUPTED) {
		struct slot *slot = &self.slots[self.writing];

		slot->user = user;
		atomic_signal_fence(memory_order_seq_cst);
		self.writing++;
		atomic_signal_fence(memory_order_seq_cst);
		done = write_record(slot, message);
		atomic_signal_fence(memory_order_seq_cst);
		if (self.writing > 0)
			self.writing--;
	}
	if (!done)
		atomic_fetch_add(&process.header->lost, 1);
}

/* ---- threads ---- */

static bool has_same_namespace(void)
{
	struct stat st;

	return syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &st, 0) == 0 && st.st_ino == process.header->pid_namespace;
}

/* Whether the ids that we see are those of the reader.  A child in another namespace does not see its parent.  /proc costs more than the rest
 * of a record, and each process that looks there once more at its end. */
static bool has_same_ids(const struct wire_record *begin)
{
	if (begin->offset == WIRE_THREAD)
		return process.pid;
	if (begin->offset == WIRE_PROGRAM ? process.sees_reader : begin->length > 0 && syscall(SYS_getppid) == begin->length)
		return true;
	return has_same_namespace();
}

/* Of this process, after a fork or for the first time. */
static uint64_t new_generation(void)
{
	uint64_t none = 0, generation = (uint64_t)object_now_ns() << 1 | 1;

	if (!atomic_compare_exchange_strong(&process.current->number, &none, generation))
		return none;
	atomic_store(&process.current->epoch, (uint32_t)generation); /* not 0, which it is after a fork */
	return generation;
}

/* A thread that was copied is in the child of a fork, or of vfork(2). */
static void note_begin(const struct thread *thread, uint64_t generation, int32_t tid, struct wire_record *record)
{
	bool in_vforked = thread->vforked && thread->generation == generation && tid != thread->vforked;

	if (!generation && !process.has_begun) {
		record->offset = WIRE_PROGRAM;
		record->length = (int32_t)syscall(SYS_getppid);
	} else if (!generation || in_vforked) {
		record->offset = WIRE_CHILD;
		record->length = in_vforked ? thread->pid : process.pid;
		record->number = thread->mark;
	}
}

static void begin_thread(struct thread *thread, int32_t tid)
{
	struct wire_record record = { .kind = WIRE_CALLER, .start_ns = object_now_ns(), .offset = WIRE_THREAD };
	uint64_t generation = atomic_load(&process.current->number);
	bool same_ids;

	note_begin(thread, generation, tid, &record);
	same_ids = has_same_ids(&record);
	sums_begin(thread, thread->generation == generation && generation);
	memset(thread->slots, 0, sizeof(thread->slots));
	thread->depth = thread->writing = thread->number = 0;
	if (thread->generation && thread->generation != generation)
		thread->vforked = (int32_t)(thread->mark = 0); /* a child of its own memory */
	thread->generation = generation ? generation : new_generation();
	thread->tid = tid;
	thread->caller = record.caller = atomic_fetch_add(&process.header->callers, 1) + 1;
	record.pid = thread->pid = same_ids ? (int32_t)syscall(SYS_getpid) : 0;
	record.tid = same_ids ? tid : 0;
	if (!generation)
		process.pid = record.pid;
	process.has_begun = true;
	object_hand_over(&(struct message){ .record = &record });
}

/* In the parent, and in its child until that has memory of its own. */
static void check_vforked(struct thread *thread)
{
	int32_t tid = (int32_t)syscall(SYS_gettid);

	if (tid == thread->vforked)
		thread->vforked = (int32_t)(thread->mark = 0);
	if (tid != thread->tid)
		begin_thread(thread, tid);
}

void *object_before_vfork(void);

/* Returns the real function, for the code in vfork.S. */
__attribute__((visibility("hidden"))) void *object_before_vfork(void)
{
	static void *_Atomic real;

	if (object_enter_files() && !self.vforked)
		operations_fork(true);
	if (self.generation && !self.vforked)
		self.vforked = self.tid;
	return object_find(&real, "vfork");
}

static void check_thread(struct thread *thread)
{
	if (thread->generation != atomic_load_explicit(&process.current->number, memory_order_relaxed) || !thread->generation)
		begin_thread(thread, (int32_t)syscall(SYS_gettid));
	else if (thread->vforked)
		check_vforked(thread);
}

/* ---- calls ---- */

/* Calls that were left by longjmp(3) are not on the stack any more. */
static void forget_left_calls(struct thread *thread, uintptr_t address)
{
	while (thread->depth > 0 && thread->outer[thread->depth - 1].address <= address)
		thread->depth--;
}

static bool is_inside(const struct thread *thread, enum layer layer)
{
	for (unsigned i = 0; i < thread->depth; i++)
		if (layer_calls[thread->outer[i].code].layer == layer)
			return true;
	return false;
}

static void push(struct thread *thread, struct call *call)
{
	uintptr_t address = (uintptr_t)call;

	call->record.parent = thread->depth ? thread->outer[thread->depth - 1].number : 0;
	if (thread->depth)
		thread->outer[thread->depth - 1].has_inner = true;
	if (thread->depth == NEST)
		return;
	thread->outer[thread->depth].address = address;
	thread->outer[thread->depth].number = call->record.number;
	thread->outer[thread->depth].code = call->record.code;
	thread->outer[thread->depth].has_inner = false;
	atomic_signal_fence(memory_order_seq_cst);
	thread->depth++;
}

static bool is_recorded(void)
{
	return is_begun() && !atomic_load_explicit(&process.header->over, memory_order_relaxed);
}

bool object_enter_files(void)
{
	int error = errno;

	if (!is_recorded() || !process.header->files)
		return false;
	check_thread(&self);
	errno = error;
	return true;
}

/* A page that is read first is made twice. */
void object_forked(void)
{
	atomic_fetch_or(&process.current->number, 0);
	object_enter_files();
}

static void enter_layer(struct thread *thread, struct call *call)
{
	call->record.number = ++thread->number;
	push(thread, call);
	sums_forget(call->record.code);
}

/* Of MPI, calls inside of another one of MPI are not recorded. */
static bool is_of_layer(const struct thread *thread, enum layer_call code)
{
	enum layer layer = layer_calls[code].layer;

	return process.header->layers >> layer & 1 && !(layer == LAYER_MPI && is_inside(thread, LAYER_MPI));
}

static void enter(struct thread *thread, struct call *call, enum layer_call code)
{
	call->record = (struct wire_record){ .kind = WIRE_CALL, .code = (uint16_t)code, .caller = thread->caller };
	call->text = call->text2 = NULL;
	call->mpi = NULL;
	call->stream = NULL;
	call->thread = thread;
	call->has_seen = false;
	if (call->op)
		call->more = (struct wire_more){ .dir = AT_FDCWD, .dir2 = AT_FDCWD };
	if (call->is_layer)
		enter_layer(thread, call);
	errno = call->error;
	call->record.start_ns = object_now_ns();
}

bool object_enter(struct call *call, enum layer_call code)
{
	struct thread *thread = &self;
	bool files;

	if (!is_begun() || !(process.header->layers >> layer_calls[code].layer & 1 || process.header->files) || !is_recorded())
		return false;
	files = process.header->files && operations_of[code];
	if (!files && !(process.header->layers >> layer_calls[code].layer & 1))
		return false;
	call->error = errno;
	check_thread(thread);
	forget_left_calls(thread, (uintptr_t)call);
	call->is_layer = is_of_layer(thread, code);
	call->op = files ? operations_of[code] : 0;
	if (!call->is_layer && !call->op) {
		errno = call->error;
		return false;
	}
	enter(thread, call, code);
	return true;
}

bool object_enter_op(struct call *call, int op)
{
	if (!object_enter_files())
		return false;
	call->error = errno;
	call->is_layer = false;
	call->op = (uint8_t)op;
	enter(&self, call, CALL_MAX);
	return true;
}

void object_begin(struct call *call)
{
	call->record.start_ns = object_now_ns();
}

void object_end(struct call *call)
{
	call->record.latency_ns = object_now_ns() - call->record.start_ns;
	call->error = errno;
}

/* Whether the kernel has read the path: else its address may be wrong. */
static bool has_text(const struct call *call)
{
	return call->record.result != -EFAULT && call->record.result != -EINVAL;
}

static bool has_inner(const struct thread *thread, const struct call *call)
{
	for (unsigned i = 0; i < thread->depth; i++)
		if (thread->outer[i].number == call->record.number)
			return thread->outer[i].has_inner;
	return false;
}

/* Calls inside of others come before these, and refer to their rows. */
static bool is_added(struct thread *thread, const struct call *call, bool inner)
{
	if (!process.header->detail_above_ns || thread->caller != call->record.caller)
		return false;
	if (!inner)
		return sums_take(thread, call);
	sums_end_inner(thread, call->record.number);
	return false;
}

static void put_call(struct call *call)
{
	struct thread *thread = call->thread;
	bool inner = has_inner(thread, call);

	forget_left_calls(thread, (uintptr_t)call);
	thread->measured_ns = call->record.start_ns + call->record.latency_ns;
	call->record.known |= call->mpi ? WIRE_HAS_MPI : 0;
	/* A fork inside of the call: its record is the parent's. */
	if (!is_added(thread, call, inner) && (thread->caller == call->record.caller || thread->vforked))
		object_hand_over(&(struct message){ .record = &call->record, .mpi = call->mpi, .text = has_text(call) ? call->text : NULL });
}

void object_put(struct call *call)
{
	if (call->op)
		operations_put(call);
	if (call->is_layer)
		put_call(call);
	errno = call->error;
}

void object_leave(struct call *call)
{
	if (call->is_layer)
		forget_left_calls(call->thread, (uintptr_t)call);
	errno = call->error;
}

static _Noreturn void missing(void)
{
	abort();
}

void *object_look_for(const char *name, const void *caller)
{
	void *found = dlsym(RTLD_NEXT, name), *handle;
	Dl_info info;

	if (found || !caller || !dladdr(caller, &info))
		return found;
	handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	found = dlsym(handle, name);
	dlclose(handle);
	return found;
}

/* errno stays what it was: perror(3) prints it. */
static void *look_once(const char *name, const void *caller)
{
	int error = errno;
	void *found = object_look_for(name, caller);

	errno = error;
	return found ? found : (void *)missing;
}

void *object_find_for(void *_Atomic *real, const char *name, const void *caller)
{
	void *found = atomic_load_explicit(real, memory_order_acquire);

	if (found)
		return found;
	found = look_once(name, caller);
	atomic_store_explicit(real, found, memory_order_release);
	return found;
}

/* Programs that call nothing of ours are seen, too. */
__attribute__((constructor)) static void begin(void)
{
	int error = errno;

	if (is_begun())
		check_thread(&self);
	if (object_enter_files())
		operations_begin();
	errno = error;
}

__attribute__((destructor)) static void end(void)
{
	int error = errno;

	if (object_enter_files())
		operations_end(true);
	errno = error;
}
