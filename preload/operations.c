/* SPDX-License-Identifier: MIT */
#include "preload/operations.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "db/event.h"
#include "preload/inside.h"
#include "preload/streams.h"

const uint8_t operations_of[CALL_MAX] = {
	[CALL_OPEN] = OP_OPEN,
	[CALL_OPENAT] = OP_OPEN,
	[CALL_CREAT] = OP_OPEN,
	[CALL_CLOSE] = OP_CLOSE,
	[CALL_READ] = OP_READ,
	[CALL_WRITE] = OP_WRITE,
	[CALL_PREAD] = OP_READ,
	[CALL_PWRITE] = OP_WRITE,
	[CALL_READV] = OP_READ,
	[CALL_WRITEV] = OP_WRITE,
	[CALL_PREADV] = OP_READ,
	[CALL_PWRITEV] = OP_WRITE,
	[CALL_LSEEK] = OP_LSEEK,
	[CALL_DUP] = OP_DUP,
	[CALL_DUP2] = OP_DUP,
	[CALL_DUP3] = OP_DUP,
	[CALL_FCNTL] = OP_FCNTL,
	[CALL_TRUNCATE] = OP_TRUNCATE,
	[CALL_FTRUNCATE] = OP_TRUNCATE,
	[CALL_FSYNC] = OP_FSYNC,
	[CALL_FDATASYNC] = OP_FSYNC,
	[CALL_PIPE] = OP_PIPE,
	[CALL_SENDFILE] = OP_SENDFILE,
	[CALL_COPY_FILE_RANGE] = OP_COPY,
	[CALL_MMAP] = OP_MMAP,
	[CALL_FOPEN] = OP_OPEN,
	[CALL_FREOPEN] = OP_OPEN,
	[CALL_TMPFILE] = OP_TMPFILE,
	[CALL_FCLOSE] = OP_CLOSE,
	[CALL_FREAD] = OP_READ,
	[CALL_FWRITE] = OP_WRITE,
	[CALL_FGETS] = OP_READ,
	[CALL_FPUTS] = OP_WRITE,
	[CALL_PUTS] = OP_WRITE,
	[CALL_FGETC] = OP_READ,
	[CALL_GETC] = OP_READ,
	[CALL_GETCHAR] = OP_READ,
	[CALL_FPUTC] = OP_WRITE,
	[CALL_PUTC] = OP_WRITE,
	[CALL_PUTCHAR] = OP_WRITE,
	[CALL_GETLINE] = OP_READ,
	[CALL_GETDELIM] = OP_READ,
	[CALL_PRINTF] = OP_WRITE,
	[CALL_FPRINTF] = OP_WRITE,
	[CALL_VPRINTF] = OP_WRITE,
	[CALL_VFPRINTF] = OP_WRITE,
	[CALL_DPRINTF] = OP_WRITE,
	[CALL_VDPRINTF] = OP_WRITE,
	[CALL_SCANF] = OP_READ,
	[CALL_FSCANF] = OP_READ,
	[CALL_VSCANF] = OP_READ,
	[CALL_VFSCANF] = OP_READ,
	[CALL_FSEEK] = OP_LSEEK,
	[CALL_REWIND] = OP_LSEEK,
	[CALL_FSETPOS] = OP_LSEEK,
	[CALL_FFLUSH] = OP_WRITE,
};

#define MOST_POLLED 64 /* descriptors that a program is asked for when it begins */
#define NS_PER_S INT64_C(1000000000)

/* ---- what a file is ---- */

static int64_t ns_of(struct statx_timestamp time)
{
	return time.tv_sec * NS_PER_S + time.tv_nsec;
}

/* changed: when its content or anything else last was. */
static bool see_changed(int dir, const char *path, int flags, struct wire_seen *ret_seen, int64_t *ret_changed_ns)
{
	struct statx st;

	if (syscall(SYS_statx, dir, path, flags | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID,
		    &st) < 0)
		return false;
	*ret_seen = (struct wire_seen){ .dev = makedev(st.stx_dev_major, st.stx_dev_minor), .ino = st.stx_ino,
		.size = (int64_t)st.stx_size, .mode = st.stx_mode, .nlink = st.stx_nlink,
		.mount = st.stx_mask & STATX_MNT_ID ? st.stx_mnt_id : 0 };
	if (st.stx_mask & STATX_BTIME)
		ret_seen->birth_ns = ns_of(st.stx_btime);
	*ret_changed_ns = ns_of(st.stx_ctime);
	return true;
}

static bool see(int dir, const char *path, int flags, struct wire_seen *ret_seen)
{
	int64_t changed_ns;

	return see_changed(dir, path, flags, ret_seen, &changed_ns);
}

static bool see_fd(int fd, struct wire_seen *ret_seen)
{
	return see(fd, "", AT_EMPTY_PATH, ret_seen);
}

/* ---- files of which the path was told ---- */

#define FOR_A_DESCRIPTOR 1 /* of a program it is the time of its last change: a script may take its place */

static uint64_t mix(uint64_t hash, uint64_t n)
{
	hash = (hash ^ n) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct wire_seen *seen, int64_t what)
{
	return mix(mix(mix(mix(1, seen->dev), seen->ino), (uint64_t)seen->birth_ns), (uint64_t)what) | 1;
}

static bool is_told(uint64_t hash)
{
	return atomic_load_explicit(&process.header->told[hash >> 56], memory_order_relaxed) == hash;
}

static void note_told(uint64_t hash)
{
	_Atomic uint64_t *place = &process.header->told[hash >> 56];

	if (atomic_load_explicit(place, memory_order_relaxed) != hash)
		atomic_store_explicit(place, hash, memory_order_relaxed);
}

_Static_assert(WIRE_TOLD == 1 << 8, "a place for each highest byte of a hash");

/* ---- operations ---- */

/* Whether the kernel has read the paths: else their addresses may be wrong. */
static bool has_paths(const struct call *call)
{
	return call->record.result != -EFAULT && call->record.result != -EINVAL && call->record.result != -ENAMETOOLONG;
}

void operations_put(struct call *call)
{
	struct wire_record record = call->record;
	bool paths = has_paths(call);

	if (self.caller != record.caller && !self.vforked) /* a fork inside of the call */
		return;
	record.kind = WIRE_OP;
	record.code = call->op;
	record.number = record.parent = 0;
	record.known |= (call->has_seen ? WIRE_HAS_SEEN : 0) | (call->op == OP_CLOSE ? WIRE_AT_START : 0);
	object_hand_over(&(struct message){ .record = &record, .more = &call->more, .seen = call->has_seen ? &call->seen : NULL,
		.text = paths ? call->text : NULL, .text2 = paths ? call->text2 : NULL });
	if (call->has_seen && record.known & WIRE_HAS_FD)
		note_told(hash_of(&call->seen, FOR_A_DESCRIPTOR));
}

void operations_before_open(struct call *call, int dir, const char *path, unsigned flags, unsigned mode)
{
	bool makes = flags & O_CREAT && !(flags & O_EXCL), is_new = flags & O_CREAT && flags & O_EXCL;

	if (!call->op)
		return;
	if (makes)
		is_new = syscall(SYS_faccessat, dir, path, F_OK) < 0 && errno == ENOENT;
	if (is_new)
		call->op = OP_CREATE;
	if (makes)
		object_begin(call);
	if ((flags & O_TMPFILE) == O_TMPFILE)
		call->op = OP_TMPFILE;
	call->more = (struct wire_more){ .dir = dir, .flags = flags, .mode = mode };
	errno = call->error;
}

void operations_opened(struct call *call, int fd)
{
	if (!call->op)
		return;
	call->has_seen = fd >= 0 && see_fd(fd, &call->seen);
	if (fd < 0 && call->op == OP_CREATE)
		call->op = OP_OPEN;
	if ((call->has_seen && S_ISDIR(call->seen.mode) && call->op == OP_OPEN) || (fd < 0 && call->more.flags & O_DIRECTORY))
		call->op = call->op == OP_TMPFILE ? OP_TMPFILE : OP_OPENDIR;
}

void operations_found(struct call *call, const struct stat *found)
{
	call->has_seen = true;
	call->seen = (struct wire_seen){ .dev = found->st_dev, .ino = found->st_ino, .size = found->st_size, .mode = found->st_mode,
		.nlink = (uint32_t)found->st_nlink };
}

static struct wire_record record_of(enum wire_kind kind)
{
	return (struct wire_record){ .kind = (uint8_t)kind, .caller = self.caller, .start_ns = object_now_ns() };
}

static void put(struct wire_record *record, const struct wire_more *more, const struct wire_seen *seen, const char *text)
{
	record->known |= seen ? WIRE_HAS_SEEN : 0;
	object_hand_over(&(struct message){ .record = record, .more = more, .seen = seen, .text = text });
}

/* ---- descriptors ---- */

static size_t link_of(int fd, char *ret_path, size_t size)
{
	char name[32] = "/proc/self/fd/", digits[12];
	size_t at = strlen(name), n = 0;
	long len;

	do
		digits[n++] = (char)('0' + fd % 10);
	while ((fd /= 10));
	while (n)
		name[at++] = digits[--n];
	name[at] = '\0';
	len = syscall(SYS_readlinkat, AT_FDCWD, name, ret_path, size - 1);
	ret_path[len < 0 ? 0 : len] = '\0';
	return len < 0 ? 0 : (size_t)len;
}

static void put_fd(int fd, const struct wire_seen *seen, const char *path)
{
	struct wire_record record = record_of(WIRE_FD);
	struct wire_more more = { .flags = (uint32_t)syscall(SYS_fcntl, fd, F_GETFL) };

	record.fd = fd;
	record.known = WIRE_HAS_FD;
	put(&record, &more, seen, path);
}

/* Signal handlers, which may have a small stack, make pipes: a path is for others alone. */
static __attribute__((noinline)) void put_named(int fd, const struct wire_seen *seen)
{
	char path[PATH_MAX];

	link_of(fd, path, sizeof(path));
	put_fd(fd, seen, path);
	note_told(hash_of(seen, FOR_A_DESCRIPTOR));
}

static void emit_fd(int fd)
{
	struct wire_seen seen;

	if (!see_fd(fd, &seen))
		return;
	if (S_ISFIFO(seen.mode) || S_ISSOCK(seen.mode) || is_told(hash_of(&seen, FOR_A_DESCRIPTOR)))
		put_fd(fd, &seen, NULL);
	else
		put_named(fd, &seen);
}

void operations_new_fd(int fd)
{
	int error = errno;

	if (fd >= 0 && object_enter_files())
		emit_fd(fd);
	errno = error;
}

void operations_pair(struct call *call, const int *ends)
{
	if (!call->op || call->record.result < 0)
		return;
	operations_new_fd(ends[0]);
	operations_new_fd(ends[1]);
	call->more = (struct wire_more){ .other = ends[1] };
}

static struct wire_record part_of(const struct call *call, int op, int fd, bool closes)
{
	struct wire_record record = call->record;

	record.kind = WIRE_OP;
	record.code = (uint16_t)op;
	record.number = record.parent = 0;
	record.fd = fd;
	record.known = WIRE_HAS_FD | WIRE_HAS_RESULT;
	if (closes)
		record.known |= WIRE_AT_START;
	record.result = 0;
	return record;
}

void operations_moved(const struct call *call, int op, int fd, int64_t result)
{
	struct wire_record record = part_of(call, op, fd, call->op == OP_CLOSE || call->record.code == CALL_FREOPEN);
	struct wire_more more = { 0 };

	record.result = result;
	record.length = result > 0 ? result : 0;
	record.known |= result >= 0 ? WIRE_HAS_LENGTH : 0;
	put(&record, &more, NULL, NULL);
}

void operations_closed(const struct call *call, int fd)
{
	struct wire_record record = part_of(call, OP_CLOSE, fd, true);
	struct wire_more more = { 0 };

	put(&record, &more, NULL, NULL);
}

void operations_close_range(unsigned first, unsigned last)
{
	struct call call;

	if (first > last || first > INT32_MAX || !object_enter_op(&call, OP_CLOSE))
		return;
	object_end(&call);
	object_fd(&call, (int)first);
	object_length(&call, last < INT32_MAX ? last : INT32_MAX);
	object_result(&call, 0);
	object_put(&call);
}

/* ---- processes ---- */

void operations_moved_to(void)
{
	struct wire_record record = record_of(WIRE_CWD);
	struct wire_more more = { 0 };
	char path[PATH_MAX];

	if (syscall(SYS_getcwd, path, sizeof(path)) < 0 || path[0] != '/')
		path[0] = '\0';
	put(&record, &more, NULL, path);
}

void operations_fork(bool shares)
{
	struct wire_record record = record_of(WIRE_FORK);
	struct wire_more more = { .flags = shares };

	record.number = self.mark = atomic_fetch_add(&process.marks, 1) + 1;
	put(&record, &more, NULL, NULL);
}

static void emit_fds(void)
{
	struct pollfd all[MOST_POLLED];

	for (int i = 0; i < MOST_POLLED; i++)
		all[i] = (struct pollfd){ .fd = i };
	if (syscall(SYS_poll, all, MOST_POLLED, 0) < 0)
		return;
	for (int i = 0; i < MOST_POLLED; i++)
		if (!(all[i].revents & POLLNVAL))
			emit_fd(i);
}

static void emit_file(enum wire_kind kind, const char *path, const struct wire_seen *seen)
{
	struct wire_record record = record_of(kind);
	struct wire_more more = { .dir = AT_FDCWD };

	put(&record, &more, seen, path);
}

/* By its path, and before it the script of which it is the interpreter.  NULL: there is none. */
static __attribute__((noinline)) void emit_program(const char *named, const struct wire_seen *script)
{
	struct wire_seen program;
	char path[PATH_MAX];
	long len = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);
	int64_t changed_ns;

	path[len < 0 ? 0 : len] = '\0';
	if (!see_changed(AT_FDCWD, path, 0, &program, &changed_ns))
		return;
	if (script && (script->dev != program.dev || script->ino != program.ino))
		emit_file(WIRE_EXECUTED, named, script);
	emit_file(WIRE_EXECUTED, path, &program);
	note_told(hash_of(&program, changed_ns));
}

static void emit_executed(void)
{
	const char *named = (const char *)getauxval(AT_EXECFN); // NOLINT(performance-no-int-to-ptr)
	struct wire_seen seen;
	int64_t changed_ns;
	bool is_there = named && see_changed(AT_FDCWD, named, 0, &seen, &changed_ns);

	if (is_there && is_told(hash_of(&seen, changed_ns)))
		emit_file(WIRE_EXECUTED, NULL, &seen);
	else
		emit_program(named, is_there ? &seen : NULL);
}

/* Libraries that the loader has mapped: the program's, when it begins, and those of dlopen(3) that are there at its end. */
static struct {
	unsigned long long adds; /* how many the loader had added by then */
	unsigned n, to_skip;
} loaded;

/* But for ours, and what has no file. */
static int emit_loaded(struct dl_phdr_info *object, size_t size, void *own)
{
	struct wire_seen seen;

	(void)size;
	loaded.adds = object->dlpi_adds;
	loaded.n++;
	if (loaded.to_skip) {
		loaded.to_skip--;
		return 0;
	}
	if (object->dlpi_name[0] == '/' && object->dlpi_addr != *(const ElfW(Addr) *)own &&
		see(AT_FDCWD, object->dlpi_name, 0, &seen))
		emit_file(WIRE_LOADED, object->dlpi_name, &seen);
	return 0;
}

static int read_adds(struct dl_phdr_info *object, size_t size, void *ret_adds)
{
	(void)size;
	*(unsigned long long *)ret_adds = object->dlpi_adds;
	return 1;
}

/* The loader keeps them in the order in which they came. */
static void emit_opened_later(void)
{
	ElfW(Addr) own = 0;
	unsigned long long adds = 0;

	dl_iterate_phdr(read_adds, &adds);
	if (!loaded.n || adds == loaded.adds)
		return;
	loaded.to_skip = loaded.n;
	dl_iterate_phdr(emit_loaded, &own);
}

/* Where this object begins; dladdr(3) would look at all of its symbols. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

void operations_begin(void)
{
	ElfW(Addr) own = (ElfW(Addr))&__ehdr_start;

	operations_moved_to();
	emit_fds();
	emit_executed();
	dl_iterate_phdr(emit_loaded, &own);
}

void operations_end(bool streams)
{
	struct wire_record record;
	struct wire_more more = { 0 };

	if (streams) {
		emit_opened_later();
		streams_emit_unwritten();
	}
	record = record_of(WIRE_END);
	put(&record, &more, NULL, NULL);
}
