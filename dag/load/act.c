/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/vector.h"
#include "dag/load/walk_internal.h"

#define OPEN_FLAGS \
	(O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_DIRECTORY | O_NOFOLLOW | O_SYNC | O_DSYNC | O_DIRECT | O_NOATIME | O_PATH)
#define ATTRIBUTE "user.ftrac"

static int64_t result_of(int64_t r)
{
	return r < 0 ? -errno : r;
}

/* ---- descriptors ---- */

static bool is_pipe(const struct plan *plan, int32_t handle)
{
	int32_t file = plan->handles[handle].file;

	return file >= 0 && plan->files[file].kind == KIND_PIPE;
}

static int keep(struct walk_process *process, int32_t handle, int fd)
{
	int r = 0;

	pthread_mutex_lock(&process->mutex);
	if (!process->fds[handle]) {
		process->fds[handle] = fd + 1;
		if (is_pipe(process->plan, handle))
			r = vector_push(process->pipes, process->n_pipes, handle);
	} else {
		r = vector_push(process->copies, process->n_copies, (struct walk_copy){ handle, fd });
	}
	pthread_mutex_unlock(&process->mutex);
	if (r < 0)
		close(fd);
	return r;
}

/* Takes one descriptor of the handle out of the table: a copy if there is one.  -1: it is not open. */
static int take(struct walk_process *process, int32_t handle)
{
	int fd;

	pthread_mutex_lock(&process->mutex);
	for (int32_t i = process->n_copies - 1; i >= 0; i--)
		if (process->copies[i].handle == handle) {
			fd = process->copies[i].fd;
			process->copies[i] = process->copies[--process->n_copies];
			pthread_mutex_unlock(&process->mutex);
			return fd;
		}
	fd = process->fds[handle] - 1;
	process->fds[handle] = 0;
	for (int32_t i = process->n_pipes - 1; fd >= 0 && i >= 0; i--)
		if (process->pipes[i] == handle) {
			process->pipes[i] = process->pipes[--process->n_pipes];
			break;
		}
	pthread_mutex_unlock(&process->mutex);
	return fd;
}

void load_close_ends(struct walk_thread *thread, int64_t t_ns)
{
	struct walk_process *process = thread->process;

	for (int32_t i = process->n_pipes - 1; i >= 0; i--) {
		int32_t handle = process->pipes[i];
		int fd;

		if (load_plan_needed_until(process->plan, process->index, handle) > t_ns)
			continue;
		while ((fd = take(process, handle)) >= 0) {
			close(fd);
			thread->counts.closed_ends++;
		}
	}
}

/* Nothing above the working directory is reached, by whatever name, and no link is followed. */
static int64_t open_beneath(const char *name, uint32_t flags, uint32_t mode)
{
	struct open_how how = { .flags = flags & OPEN_FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };

	if (how.flags & O_PATH)
		how.flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW;
	how.flags |= O_CLOEXEC;
	if (how.flags & O_CREAT || (how.flags & O_TMPFILE) == O_TMPFILE)
		how.mode = (mode | 0600) & 0777;
	return result_of(syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof(how)));
}

/* The descriptor of a handle.  One whose open is not in the trace is opened now. */
static int fd_of(struct walk_thread *thread, int32_t handle)
{
	struct walk_process *process = thread->process;
	const struct plan_handle *h = &process->plan->handles[handle];
	int64_t fd;

	if (process->fds[handle])
		return process->fds[handle] - 1;
	if (h->path < 0 || is_pipe(process->plan, handle))
		return -1;
	fd = open_beneath(process->plan->paths[h->path].text, h->flags & ~(uint32_t)(O_CREAT | O_EXCL | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)), 0);
	if (fd < 0)
		return -1;
	thread->counts.late_opens++;
	return keep(process, handle, (int)fd) < 0 ? -1 : (int)fd;
}

/* ---- data ---- */

static char *buffer_of(struct walk_thread *thread)
{
	if (!thread->buffer) {
		thread->buffer = mmap(NULL, WALK_BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (thread->buffer == MAP_FAILED)
			thread->buffer = NULL;
	}
	return thread->buffer;
}

/* One call, of whatever length: a long one names the same memory several times. */
static int64_t move(struct walk_thread *thread, const struct plan_step *step, int fd, int64_t length, int64_t offset)
{
	bool writes = step->kind != OP_READ;
	char *memory = writes ? (char *)thread->process->noise + (size_t)(offset >= 0 ? offset : 0) / 4096 * 4096 % WALK_BLOCK : buffer_of(thread);
	struct iovec parts[1024];
	int n = 0;

	if (!memory)
		return -ENOMEM;
	if (length <= (int64_t)WALK_BLOCK) {
		if (offset < 0)
			return result_of(writes ? write(fd, memory, (size_t)length) : read(fd, memory, (size_t)length));
		return result_of(writes ? pwrite(fd, memory, (size_t)length, offset) : pread(fd, memory, (size_t)length, offset));
	}
	for (; length > 0 && n < 1024; n++, length -= (int64_t)WALK_BLOCK)
		parts[n] = (struct iovec){ memory, length < (int64_t)WALK_BLOCK ? (size_t)length : WALK_BLOCK };
	if (offset < 0)
		return result_of(writes ? writev(fd, parts, n) : readv(fd, parts, n));
	return result_of(writes ? pwritev(fd, parts, n, offset) : preadv(fd, parts, n, offset));
}

/* Through a pipe exactly what was moved in the trace. */
static int64_t move_all(struct walk_thread *thread, const struct plan_step *step, int fd)
{
	int64_t done = 0;

	if (step->result <= 0)
		return move(thread, step, fd, step->length > 0 && step->length < 65536 ? step->length : 1, -1);
	while (done < step->result) {
		int64_t n = move(thread, step, fd, step->result - done, -1);

		if (n == -EINTR && atomic_load(&thread->process->shared->stop) == 0)
			continue;
		if (n <= 0)
			return done ? done : n;
		done += n;
		if (done < step->result)
			thread->counts.pieces++;
	}
	return done;
}

static int64_t transfer(struct walk_thread *thread, const struct plan_step *step, int fd)
{
	int64_t length = step->length == PLAN_UNKNOWN ? step->result : step->length;
	bool writes = step->kind != OP_READ;

	if (step->handle >= 0 && is_pipe(thread->process->plan, step->handle))
		return move_all(thread, step, fd);
	/* What a write had no room for is not written here, either. */
	if (writes && step->result >= 0 && length > step->result)
		length = step->result;
	return move(thread, step, fd, length < 0 ? 0 : length, step->offset < 0 ? -1 : step->offset);
}

/* ---- mappings ---- */

static int64_t map(struct walk_thread *thread, const struct plan_step *step, int fd)
{
	struct walk_process *process = thread->process;
	int protection = PROT_READ | (step->flags & MAP_MAY_WRITE ? PROT_WRITE : 0) | (step->flags & MAP_MAY_EXECUTE ? PROT_EXEC : 0);
	size_t length = step->length > 0 && step->length < INT64_C(1) << 40 ? (size_t)step->length : 1;
	void *address = mmap(NULL, length, protection, step->flags & MAP_IS_SHARED ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE, fd,
		step->offset > 0 ? step->offset & ~INT64_C(4095) : 0);

	if (address == MAP_FAILED)
		return -errno;
	pthread_mutex_lock(&process->mutex);
	(void)!vector_push(process->mappings, process->n_mappings, (struct walk_mapping){ step->handle,
		process->plan->handles[step->handle].file, step->offset, length, address });
	pthread_mutex_unlock(&process->mutex);
	return 0;
}

static int64_t unmap(struct walk_process *process, const struct plan_step *step, enum plan_skip *ret_skip)
{
	struct walk_mapping found = { .address = NULL };

	pthread_mutex_lock(&process->mutex);
	for (int32_t i = process->n_mappings - 1; i >= 0 && !found.address; i--)
		if (step->handle >= 0 && process->mappings[i].file == process->plan->handles[step->handle].file &&
			(step->offset < 0 || process->mappings[i].offset == step->offset)) {
			found = process->mappings[i];
			process->mappings[i] = process->mappings[--process->n_mappings];
		}
	pthread_mutex_unlock(&process->mutex);
	if (!found.address) {
		*ret_skip = SKIP_OTHER;
		return 0;
	}
	return result_of(munmap(found.address, found.length));
}

/* ---- by descriptor ---- */

static int64_t close_one(struct walk_process *process, const struct plan_step *step)
{
	int fd = step->handle < 0 ? -1 : take(process, step->handle);

	return result_of(close(fd));
}

static int64_t duplicate(struct walk_process *process, const struct plan_step *step, int fd)
{
	int64_t copy = result_of(dup(fd));

	if (copy >= 0 && step->handle >= 0)
		return keep(process, step->handle, (int)copy) < 0 ? -ENOMEM : copy;
	return copy;
}

static int64_t resized(const struct plan *plan, const struct plan_step *step)
{
	int32_t file = step->handle >= 0 ? plan->handles[step->handle].file : PLAN_NONE;

	return file >= 0 && plan->files[file].size_last > 0 ? plan->files[file].size_last : 0;
}

static int64_t act_on_fd(struct walk_thread *thread, const struct plan_step *step, int fd, enum plan_skip *ret_skip)
{
	struct walk_process *process = thread->process;
	struct stat st;
	struct statfs fs;

	switch (step->kind) {
	case OP_READ: case OP_WRITE: case OP_COPY: case OP_SENDFILE: return transfer(thread, step, fd);
	case OP_GETATTR: return result_of(fstat(fd, &st));
	case OP_STATFS: return result_of(fstatfs(fd, &fs));
	case OP_DUP: return duplicate(process, step, fd);
	case OP_FCNTL: return result_of(fcntl(fd, F_GETFD));
	case OP_LSEEK: return result_of(lseek(fd, step->result > 0 ? step->result : 0, SEEK_SET));
	case OP_FSYNC: return result_of(fsync(fd));
	case OP_CHMOD: return result_of(fchmod(fd, 0755));
	case OP_CHOWN: return result_of(fchown(fd, (uid_t)-1, (gid_t)-1));
	case OP_UTIMENS: return result_of(futimens(fd, NULL));
	case OP_TRUNCATE: return result_of(ftruncate(fd, resized(process->plan, step)));
	case OP_FALLOCATE: return result_of(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, resized(process->plan, step) + 1));
	case OP_READDIR: return buffer_of(thread) ? result_of(syscall(SYS_getdents64, fd, thread->buffer, 32768)) : -ENOMEM;
	case OP_GETXATTR: return result_of(fgetxattr(fd, ATTRIBUTE, NULL, 0));
	case OP_SETXATTR: return result_of(fsetxattr(fd, ATTRIBUTE, "1", 1, 0));
	case OP_LISTXATTR: return result_of(flistxattr(fd, NULL, 0));
	case OP_REMOVEXATTR: return result_of(fremovexattr(fd, ATTRIBUTE));
	case OP_IOCTL: return result_of(ioctl(fd, TIOCGWINSZ, &(struct winsize){ 0 }));
	case OP_MMAP: return step->handle >= 0 ? map(thread, step, fd) : -EBADF;
	default: *ret_skip = SKIP_OTHER; return 0;
	}
}

/* ---- by name ---- */

/* A target of that length which leads nowhere. */
static int64_t make_link(const char *name, int64_t length)
{
	char target[4096];
	size_t n = length <= 0 ? 1 : length < (int64_t)sizeof(target) ? (size_t)length : sizeof(target) - 1;

	memset(target, 'x', n);
	target[n] = '\0';
	return result_of(symlink(target, name));
}

/* The flags of an open that failed are not known: those with which it fails in that way. */
static uint32_t failing_flags(int64_t result)
{
	return result == -EEXIST ? O_WRONLY | O_CREAT | O_EXCL : result == -EISDIR || result == -EROFS ? O_WRONLY :
		result == -ENOTDIR ? O_DIRECTORY : result == -ELOOP ? O_NOFOLLOW : O_RDONLY;
}

static int64_t open_file(struct walk_thread *thread, const struct plan_step *step, const char *name)
{
	struct walk_process *process = thread->process;
	const struct plan_handle *handle = step->handle >= 0 ? &process->plan->handles[step->handle] : NULL;
	uint32_t flags = step->result < 0 ? failing_flags(step->result) : handle ? handle->flags : O_RDONLY;
	int64_t fd;

	if (step->kind == OP_TMPFILE)
		name = process->plan->paths[step->path].parent < 0 ? "." : process->plan->paths[process->plan->paths[step->path].parent].text;
	if (step->kind == OP_OPENDIR)
		flags |= O_DIRECTORY;
	fd = open_beneath(name, flags, handle ? handle->mode : 0644);
	if (fd >= 0 && (step->result < 0 || !handle)) {
		close((int)fd); /* it was to fail, or nothing is done with it */
		return fd;
	}
	return fd >= 0 && keep(process, step->handle, (int)fd) < 0 ? -ENOMEM : fd;
}

static int64_t act_by_name(struct walk_thread *thread, const struct plan_step *step, const char *name, const char *name2, enum plan_skip *ret_skip)
{
	struct stat st;
	struct statfs fs;

	switch (step->kind) {
	case OP_OPEN: case OP_CREATE: case OP_OPENDIR: case OP_TMPFILE: return open_file(thread, step, name);
	case OP_GETATTR: return result_of(fstatat(AT_FDCWD, name, &st, AT_SYMLINK_NOFOLLOW));
	case OP_ACCESS: return result_of(faccessat(AT_FDCWD, name, F_OK, 0));
	case OP_READLINK: return buffer_of(thread) ? result_of(readlink(name, thread->buffer, 4096)) : -ENOMEM;
	case OP_STATFS: return result_of(statfs(name, &fs));
	case OP_MKDIR: return result_of(mkdir(name, 0755));
	case OP_MKNOD: return result_of(mknod(name, S_IFREG | 0644, 0));
	case OP_RMDIR: return result_of(rmdir(name));
	case OP_UNLINK: return result_of(unlink(name));
	case OP_RENAME: return name2 ? result_of(rename(name, name2)) : (*ret_skip = SKIP_NAME, 0);
	case OP_LINK: return name2 ? result_of(linkat(AT_FDCWD, name, AT_FDCWD, name2, 0)) : (*ret_skip = SKIP_NAME, 0);
	case OP_SYMLINK: return make_link(name, step->length);
	case OP_CHMOD: return result_of(fchmodat(AT_FDCWD, name, 0755, 0));
	case OP_CHOWN: return result_of(fchownat(AT_FDCWD, name, (uid_t)-1, (gid_t)-1, AT_SYMLINK_NOFOLLOW));
	case OP_UTIMENS: return result_of(utimensat(AT_FDCWD, name, NULL, AT_SYMLINK_NOFOLLOW));
	case OP_TRUNCATE: return result_of(truncate(name, 0));
	case OP_GETXATTR: return result_of(lgetxattr(name, ATTRIBUTE, NULL, 0));
	case OP_SETXATTR: return result_of(lsetxattr(name, ATTRIBUTE, "1", 1, 0));
	case OP_LISTXATTR: return result_of(llistxattr(name, NULL, 0));
	case OP_REMOVEXATTR: return result_of(lremovexattr(name, ATTRIBUTE));
	default: *ret_skip = SKIP_OTHER; return 0;
	}
}

/* ---- any ---- */

static int64_t make_pipe(struct walk_process *process, const struct plan_step *step)
{
	int32_t other = process->plan->handles[step->handle].other_end;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	r = keep(process, step->handle, fds[0]);
	if (other >= 0)
		return r < 0 ? (close(fds[1]), r) : keep(process, other, fds[1]);
	close(fds[1]);
	return r;
}

int64_t load_act(struct walk_thread *thread, const struct plan_step *step, enum plan_skip *ret_skip)
{
	const struct plan *plan = thread->process->plan;
	int fd;

	if (!step->by_handle) {
		if (step->kind == OP_PIPE && step->handle >= 0)
			return make_pipe(thread->process, step);
		if (step->path >= 0)
			return act_by_name(thread, step, plan->paths[step->path].text, step->path2 >= 0 ? plan->paths[step->path2].text : NULL, ret_skip);
		*ret_skip = SKIP_NAME;
		return 0;
	}
	if (step->kind == OP_PIPE && step->handle >= 0)
		return make_pipe(thread->process, step);
	if (step->kind == OP_MUNMAP)
		return unmap(thread->process, step, ret_skip);
	fd = step->handle < 0 ? -1 : fd_of(thread, step->handle);
	if (fd < 0 && step->handle >= 0) {
		*ret_skip = SKIP_CLOSED;
		return 0;
	}
	return step->kind == OP_CLOSE ? close_one(thread->process, step) : act_on_fd(thread, step, fd, ret_skip);
}
