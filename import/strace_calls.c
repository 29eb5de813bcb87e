/* SPDX-License-Identifier: MIT */
#include "import/strace_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/vector.h"
#include "import/strace_value.h"
#include "kernel/calls.h"

#define OP_NONE OP_MAX

struct known {
	const char *name;
	uint8_t class, op;
	uint16_t how;
	uint8_t fd, path, dir, offset, length, flags;
};

static const struct known known_calls[] = {
#define X(name, x86_64, i386, kind, how, op, ...) { #name, CLASS_##kind, OP_##op, how, __VA_ARGS__ },
	CALLS(X, CALL_NO)
#undef X
};

/* Names that strace gives to calls of other architectures, and older ones. */
static const char *const aliases[][2] = { { "pread", "pread64" }, { "pwrite", "pwrite64" }, { "send", "sendto" }, { "recv", "recvfrom" },
	{ "old_mmap", "mmap" }, { "_llseek", "llseek" }, { "fadvise64_64", "fadvise64" } };

/* A call while its arguments are read. */
struct reading {
	struct arena *arena;
	const struct strace_line *line;
	const struct known *known;
	struct world_call *call;
};

static const struct known *find_known(struct text name)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (text_is(name, aliases[i][0]))
			name = (struct text){ aliases[i][1], strlen(aliases[i][1]) };
	for (size_t i = 0; i < sizeof(known_calls) / sizeof(known_calls[0]); i++)
		if (text_is(name, known_calls[i].name))
			return &known_calls[i];
	return NULL;
}

/* Counted from 1; one that is not there is empty. */
static struct text argument(const struct reading *r, unsigned number)
{
	return number && (int)number <= r->line->n_arguments ? r->line->arguments[number - 1] : (struct text){ "", 0 };
}

static bool has_argument(const struct reading *r, unsigned number)
{
	return (int)number <= r->line->n_arguments;
}

static struct world_fd fd_at(const struct reading *r, unsigned number)
{
	return strace_fd(r->arena, argument(r, number));
}

/* A number that is not said, or is negative, is unknown. */
static int64_t offset_of(struct text text)
{
	int64_t number = strace_number_or(text, -1);

	return number >= 0 ? number : -1;
}

static uint64_t length_of(struct text text)
{
	int64_t number = strace_number_or(text, 0);

	return number > 0 ? (uint64_t)number : 0;
}

/* "[12]", or "[12] => [20]": where a pointer to an offset leads. */
static int64_t pointed_offset(struct text text)
{
	if (text.len < 2 || text.at[0] != '[')
		return -1;
	return offset_of((struct text){ text.at + 1, text.len - 1 });
}

static uint32_t mode_at(const struct reading *r, unsigned number)
{
	return (uint32_t)strace_number_or(argument(r, number), 0) & 07777;
}

/* ---- of each class ---- */

static bool read_name(const struct reading *r)
{
	const struct known *known = r->known;

	if (known->dir)
		r->call->dir = fd_at(r, known->dir);
	else
		r->call->dir.number = AT_FDCWD;
	if (!has_argument(r, known->path))
		return false;
	r->call->path = strace_path(r->arena, argument(r, known->path));
	/* Of the file itself that the descriptor leads to. */
	if (!r->call->path && known->dir && r->call->dir.number >= 0)
		r->call->path = "";
	return r->call->path || !r->line->has_result || r->line->result < 0;
}

static bool read_open(const struct reading *r)
{
	struct world_call *call = r->call;
	struct text flags = argument(r, r->known->flags);

	call->act = WORLD_OPEN;
	call->flags = r->known->flags ? strace_open_flags(flags) : O_CREAT | O_WRONLY | O_TRUNC;
	call->mode = mode_at(r, r->known->length);
	call->expires = call->flags & O_CLOEXEC;
	call->fd = strace_shown(r->arena, WORLD_NO_FD, r->line->shown);
	return read_name(r);
}

static bool read_openat2(const struct reading *r)
{
	struct text how = argument(r, r->known->flags);
	const char *mode = how.len ? memmem(how.at, how.len, ", mode=", 7) : NULL;

	if (!read_open(r))
		return false;
	if (mode)
		r->call->mode = (uint32_t)strace_number_or((struct text){ mode + 7, how.at + how.len - mode - 7 }, 0) & 07777;
	return true;
}

static bool read_data(const struct reading *r)
{
	struct text length = argument(r, r->known->length);

	r->call->act = WORLD_DATA;
	r->call->length = r->known->how & HOW_VECTOR ? strace_vector(length) : length_of(length);
	if (r->known->offset)
		r->call->offset = offset_of(argument(r, r->known->offset));
	if (r->call->op == OP_RECV)
		r->call->flags = (text_has(argument(r, r->known->flags), "MSG_PEEK") ? EVENT_KEEPS : 0) |
				 (text_has(argument(r, r->known->flags), "MSG_TRUNC") ? EVENT_CUTS : 0);
	return has_argument(r, r->known->length);
}

/* Of several messages the result is their number. */
static bool read_messages(const struct reading *r)
{
	struct text messages = argument(r, r->known->length);
	uint64_t sum = 0;
	const char *at;

	if (!read_data(r))
		return false;
	r->call->length = strace_vector(messages);
	if (r->known->class == CLASS_MESSAGE || r->call->result < 0)
		return true;
	while (messages.len && (at = memmem(messages.at, messages.len, "msg_len=", 8))) {
		messages = (struct text){ at + 8, messages.at + messages.len - at - 8 };
		sum += length_of(messages);
	}
	r->call->result = sum <= INT64_MAX ? (int64_t)sum : 0;
	return true;
}

static bool read_range(const struct reading *r)
{
	int64_t first = strace_number_or(argument(r, 1), -1), last = strace_number_or(argument(r, 2), -1);

	r->call->act = WORLD_CLOSE_RANGE;
	if (first < 0 || last < 0)
		return false;
	r->call->fd.number = first <= INT32_MAX ? (int32_t)first : INT32_MAX;
	r->call->other.number = last <= INT32_MAX ? (int32_t)last : INT32_MAX;
	r->call->flags = text_has(argument(r, 3), "CLOSE_RANGE_CLOEXEC") ? 4 : 0;
	return true;
}

static bool read_dup(const struct reading *r)
{
	r->call->act = WORLD_DUP;
	r->call->expires = text_has(argument(r, r->known->flags), "O_CLOEXEC");
	return true;
}

/* "{l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=10}" */
static int64_t field_of(struct text text, const char *field)
{
	const char *at = text.len ? memmem(text.at, text.len, field, strlen(field)) : NULL;

	return at ? strace_number_or((struct text){ at + strlen(field), text.at + text.len - at - strlen(field) }, 0) : 0;
}

static uint32_t type_of_lock(struct text text)
{
	return text_has(text, "F_WRLCK") || text_has(text, "LOCK_EX") ? F_WRLCK : text_has(text, "F_UNLCK") || text_has(text, "LOCK_UN") ? F_UNLCK : F_RDLCK;
}

static void read_lock(const struct reading *r, struct text command)
{
	struct text lock = argument(r, 3);

	r->call->op = OP_LOCK;
	r->call->flags = type_of_lock(lock) | (text_begins(command, "F_OFD") ? LOCK_DESCRIPTION : LOCK_PROCESS) |
			 (text_has(command, "SETLKW") ? LOCK_WAITS : text_has(command, "GETLK") ? LOCK_ASKS : 0);
	r->call->length = (uint64_t)field_of(lock, "l_len=");
	r->call->offset = text_has(lock, "SEEK_SET") ? field_of(lock, "l_start=") : -1;
}

static bool read_fcntl(const struct reading *r)
{
	struct text command = argument(r, 2);

	if (text_begins(command, "F_DUPFD")) {
		r->call->op = OP_DUP;
		r->call->act = WORLD_DUP;
		r->call->expires = text_is(command, "F_DUPFD_CLOEXEC");
	} else if (text_is(command, "F_SETFD")) {
		r->call->act = WORLD_SET_EXPIRY;
		r->call->expires = text_has(argument(r, 3), "FD_CLOEXEC");
	} else if (text_has(command, "ETLK")) {
		read_lock(r, command);
	}
	return has_argument(r, 2);
}

static bool read_new(const struct reading *r)
{
	r->call->act = WORLD_NEW;
	r->call->other = strace_shown(r->arena, WORLD_NO_FD, r->line->shown);
	for (int i = 0; i < r->line->n_arguments; i++)
		r->call->expires |= text_has(r->line->arguments[i], "CLOEXEC");
	return true;
}

static bool read_pair(const struct reading *r)
{
	struct text ends[2];

	r->call->act = WORLD_PAIR;
	r->call->expires = text_has(argument(r, r->known->flags ? r->known->flags : 2), "CLOEXEC");
	if (r->call->op == OP_SOCKET)
		r->call->mode = text_has(argument(r, 2), "SOCK_DGRAM") ? SOCK_DGRAM : text_has(argument(r, 2), "SOCK_SEQPACKET") ? SOCK_SEQPACKET : SOCK_STREAM;
	if (r->call->op == OP_SOCKET)
		r->call->expires = text_has(argument(r, 2), "CLOEXEC");
	if (r->line->result < 0)
		return true;
	if (strace_elements(argument(r, r->known->fd), ends, 2) != 2)
		return false;
	r->call->fd = strace_fd(r->arena, ends[0]);
	r->call->other = strace_fd(r->arena, ends[1]);
	return true;
}

static bool is_nofollow(const struct reading *r)
{
	static const char *const links[] = { "lstat", "lstat64", "lchown", "lchown16", "lgetxattr", "lsetxattr", "llistxattr", "lremovexattr", "lstat32" };

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (text_is(r->line->name, links[i]))
			return true;
	return text_has(argument(r, r->known->flags), "AT_SYMLINK_NOFOLLOW");
}

static bool read_path(const struct reading *r)
{
	struct world_call *call = r->call;
	const struct known *known = r->known;

	if (!read_name(r))
		return false;
	call->flags = is_nofollow(r) ? EVENT_NOFOLLOW : 0;
	if (call->op == OP_UNLINK && text_has(argument(r, known->flags), "AT_REMOVEDIR"))
		call->op = OP_RMDIR;
	if (call->op == OP_CHMOD || call->op == OP_MKDIR || call->op == OP_MKNOD)
		call->mode = mode_at(r, known->length);
	if (call->op == OP_MKNOD) {
		struct text mode = argument(r, known->length);
		const char *bar = mode.len ? memchr(mode.at, '|', mode.len) : NULL;

		call->mode = strace_type(mode) | (bar ? (uint32_t)strace_number_or((struct text){ bar + 1, mode.at + mode.len - bar - 1 }, 0) & 07777 : call->mode);
	}
	if (call->op == OP_TRUNCATE)
		call->length = length_of(argument(r, known->length));
	if (call->op == OP_READLINK && call->result >= 0)
		call->path2 = strace_path(r->arena, argument(r, known->path + 1U));
	return true;
}

static bool read_paths(const struct reading *r)
{
	struct world_call *call = r->call;
	const struct known *known = r->known;

	if (!read_name(r) || !has_argument(r, known->length))
		return false;
	call->path2 = strace_path(r->arena, argument(r, known->length));
	if (known->offset)
		call->dir2 = fd_at(r, known->offset);
	else
		call->dir2.number = AT_FDCWD;
	if (call->op == OP_RENAME)
		call->flags = strace_rename_flags(argument(r, known->flags));
	if (call->op == OP_LINK && text_has(argument(r, known->flags), "AT_SYMLINK_FOLLOW"))
		call->flags = AT_SYMLINK_FOLLOW;
	return call->path2 || call->result < 0;
}

static bool read_stat(const struct reading *r)
{
	if (r->known->path && !read_name(r))
		return false;
	r->call->flags = is_nofollow(r) ? EVENT_NOFOLLOW : 0;
	if (r->call->result >= 0)
		r->call->type = strace_type(argument(r, r->known->length));
	return true;
}

static bool read_map(const struct reading *r)
{
	struct text fd = argument(r, r->known->fd);

	r->call->act = WORLD_MAP;
	r->call->length = length_of(argument(r, r->known->length));
	r->call->offset = offset_of(argument(r, r->known->offset));
	r->call->flags = strace_map_flags(argument(r, 3), argument(r, 4));
	return fd.len > 0;
}

static bool read_unmap(const struct reading *r)
{
	if (r->call->op == OP_MUNMAP)
		r->call->act = WORLD_UNMAP;
	r->call->op = OP_NONE;
	r->call->offset = strace_number_or(argument(r, 1), -1);
	r->call->length = length_of(argument(r, 2));
	return r->call->offset >= 0;
}

static bool read_transfer(const struct reading *r)
{
	const struct known *known = r->known;

	r->call->act = WORLD_TRANSFER;
	r->call->other = fd_at(r, known->fd);
	r->call->fd = fd_at(r, known->path);
	r->call->from = pointed_offset(argument(r, known->offset));
	r->call->offset = known->dir ? pointed_offset(argument(r, known->dir)) : -1;
	r->call->length = length_of(argument(r, known->length));
	r->call->flags = text_is(r->line->name, "tee") ? EVENT_KEEPS : 0;
	return has_argument(r, known->length);
}

static bool read_llseek(const struct reading *r)
{
	r->call->act = WORLD_SEEK;
	if (r->call->result == 0)
		r->call->result = pointed_offset(argument(r, 3));
	return true;
}

/* An exec that failed: the other ones are not calls of the world. */
static bool read_failed_exec(const struct reading *r)
{
	r->call->act = WORLD_PROGRAM;
	return read_name(r);
}

/* About a descriptor. */
static bool read_fd(const struct reading *r)
{
	struct world_call *call = r->call;

	switch (call->op) {
	case OP_LSEEK:
		call->act = WORLD_SEEK;
		call->offset = offset_of(argument(r, r->known->offset));
		break;
	case OP_LOCK:
		call->flags = type_of_lock(argument(r, 2)) | LOCK_FILE | (text_has(argument(r, 2), "LOCK_NB") ? 0 : LOCK_WAITS);
		call->offset = 0;
		break;
	case OP_FALLOCATE:
		call->mode = text_has(argument(r, r->known->flags), "FALLOC_FL_KEEP_SIZE");
		call->offset = offset_of(argument(r, r->known->offset));
		call->length = length_of(argument(r, r->known->length));
		break;
	case OP_TRUNCATE:
		call->length = length_of(argument(r, r->known->length));
		break;
	case OP_CHMOD:
		call->mode = mode_at(r, r->known->length);
		break;
	default:
		break;
	}
	return true;
}

static bool read_close(const struct reading *r)
{
	r->call->act = WORLD_CLOSE;
	return true;
}

static bool read_address(const struct reading *r)
{
	return has_argument(r, 1);
}

static bool (*const readers[CLASS_MAX])(const struct reading *r) = { [CLASS_FD] = read_fd, [CLASS_DATA] = read_data,
	[CLASS_MESSAGE] = read_messages, [CLASS_MESSAGES] = read_messages, [CLASS_CLOSE] = read_close,
	[CLASS_CLOSE_RANGE] = read_range, [CLASS_DUP] = read_dup, [CLASS_FCNTL] = read_fcntl, [CLASS_OPEN] = read_open,
	[CLASS_OPENAT2] = read_openat2, [CLASS_ADDRESS] = read_address, [CLASS_NEW] = read_new, [CLASS_PIPE] = read_pair,
	[CLASS_PATH] = read_path, [CLASS_PATHS] = read_paths, [CLASS_STAT] = read_stat, [CLASS_MAP] = read_map,
	[CLASS_UNMAP] = read_unmap, [CLASS_TRANSFER] = read_transfer, [CLASS_LLSEEK] = read_llseek, [CLASS_EXEC] = read_failed_exec };

/* The descriptor is an argument, and not a list of new ones. */
static bool takes_fd(const struct known *known)
{
	return known->fd && known->class != CLASS_PIPE && known->class != CLASS_TRANSFER;
}

static enum strace_meaning read_known(const struct reading *r)
{
	if (takes_fd(r->known)) {
		if (!has_argument(r, r->known->fd))
			return STRACE_WRONG;
		r->call->fd = fd_at(r, r->known->fd);
	}
	return readers[r->known->class](r) ? STRACE_TAKEN : STRACE_WRONG;
}

/* chdir(2) and fchdir(2) are no operations. */
static enum strace_meaning read_chdir(const struct reading *r)
{
	if (r->line->n_arguments < 1)
		return STRACE_WRONG;
	r->call->act = WORLD_CHDIR;
	r->call->dir.number = AT_FDCWD;
	if (text_is(r->line->name, "chdir"))
		r->call->path = strace_path(r->arena, argument(r, 1));
	else
		r->call->fd = fd_at(r, 1);
	return r->call->path || r->call->fd.number >= 0 || r->line->result < 0 ? STRACE_TAKEN : STRACE_WRONG;
}

enum strace_meaning strace_call(struct arena *arena, const struct strace_item *item, struct world_call *call)
{
	struct reading r = { .arena = arena, .line = &item->line, .known = find_known(item->line.name), .call = call };

	*call = world_no_call();
	if (!item->line.has_result)
		return STRACE_IGNORED;
	call->tid = item->tid;
	call->start_ns = item->start_ns;
	call->latency_ns = item->line.latency_ns;
	call->result = item->line.result;
	if (text_is(item->line.name, "chdir") || text_is(item->line.name, "fchdir"))
		return read_chdir(&r);
	if (!r.known || !readers[r.known->class])
		return STRACE_IGNORED;
	call->op = r.known->op;
	return read_known(&r);
}

/* ---- processes ---- */

bool strace_fork(const struct strace_line *line, int32_t *ret_child, unsigned *ret_shares)
{
	static const char *const names[] = { "clone", "clone3", "fork", "vfork", "clone2" };
	bool is_fork = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_fork |= text_is(line->name, names[i]);
	if (!is_fork || !line->has_result || line->result <= 0 || line->result > INT32_MAX)
		return false;
	*ret_child = line->number_outside ? line->number_outside : (int32_t)line->result;
	*ret_shares = 0;
	for (int i = 0; i < line->n_arguments; i++)
		*ret_shares |= (text_has(line->arguments[i], "CLONE_FILES") ? WORLD_SHARES_FILES : 0) |
			       (text_has(line->arguments[i], "CLONE_FS") ? WORLD_SHARES_CWD : 0) |
			       (text_has(line->arguments[i], "CLONE_THREAD") ? WORLD_IS_THREAD : 0);
	return true;
}

bool strace_exec(struct arena *arena, const struct strace_line *line, struct world_program *program, bool *ret_is_cut)
{
	bool is_at = text_is(line->name, "execveat");
	int path = is_at ? 1 : 0;

	*program = (struct world_program){ .dir = { .number = AT_FDCWD } };
	*ret_is_cut = false;
	if ((!is_at && !text_is(line->name, "execve")) || line->n_arguments < path + 2)
		return false;
	if (is_at)
		program->dir = strace_fd(arena, line->arguments[0]);
	program->exe = strace_path(arena, line->arguments[path]);
	if (program->exe && !program->exe[0] && is_at && program->dir.path)
		program->exe = program->dir.path;
	if (!strace_words(arena, line->arguments[path + 1], &program->argv, &program->argv_len, ret_is_cut))
		program->argv = NULL;
	return program->exe;
}
