/* SPDX-License-Identifier: MIT */

/*
 * What FUSE does not do, or does otherwise than other file systems; printed as by the programs
 * regress_*.c (see regress.h).  Each section stays with what is natively possible on ext4; what
 * needs a source that shares blocks stands in "clones".
 */

#include "regress.h"

#include <linux/fiemap.h>
#include <linux/fs.h>
#include <poll.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>

static char page[4 * PAGE] __attribute__((aligned(PAGE)));
static void *volatile nowhere = (void *)8; /* what no compiler is to see through */

static int opened(const char *path, int flags)
{
	return (int)must(open(path, flags, 0644));
}

/* ---- space ---- */

/* Ranges of whole blocks taken out and put in. */
static void ranges(void)
{
	int fd = make("f", 8 * PAGE);

	EMIT(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, PAGE, PAGE));
	emit_content("collapsed", fd);
	EMIT(fallocate(fd, FALLOC_FL_INSERT_RANGE, PAGE, PAGE));
	emit_content("inserted", fd);
}

static void extents(void)
{
	struct {
		struct fiemap map;
		struct fiemap_extent extents[4];
	} m = { .map = { .fm_length = ~0ull, .fm_extent_count = 4 } };
	int fd = make("f", 8 * PAGE), block = 0;

	must(fsync(fd));
	EMIT(ioctl(fd, FS_IOC_FIEMAP, &m));
	EMIT(ioctl(fd, FIBMAP, &block));
	EMIT(ioctl(fd, FIGETBSZ, &block));
}

/* On a source that can share blocks. */
static void clones(void)
{
	struct file_clone_range range = { .src_fd = -1, .src_length = 4 * PAGE };
	struct {
		struct file_dedupe_range range;
		struct file_dedupe_range_info info;
	} same = { .range = { .src_length = 4 * PAGE, .dest_count = 1 } };
	int from = make("from", 8 * PAGE), to = opened("to", O_RDWR | O_CREAT);
	int copy = make("copy", 8 * PAGE);

	EMIT(ioctl(to, FICLONE, from));
	range.src_fd = from;
	EMIT(ioctl(to, FICLONERANGE, &range));
	same.info.dest_fd = copy;
	EMIT(ioctl(from, FIDEDUPERANGE, &same));
	say("shared", "%d, %ld bytes", same.info.status, (long)same.info.bytes_deduped);
	EMIT(fallocate(copy, FALLOC_FL_UNSHARE_RANGE, 0, PAGE));
	EMIT(copy_file_range(from, &(off_t){ 0 }, to, &(off_t){ 0 }, 8 * PAGE, 0));
	emit_content("copied", to);
	emit_content("copy", copy);
}

/* More names of extended attributes than can be listed, on a source that takes them. */
static void many_names(void)
{
	char name[100];
	int fd = make("f", 10);

	for (int i = 0; i < 1300; i++) {
		snprintf(name, sizeof(name),
			"user.%d of very many, and with a name as long as this one", i);
		must(fsetxattr(fd, name, "", 0, 0));
	}
	EMIT(flistxattr(fd, NULL, 0));
	EMIT(flistxattr(fd, page, sizeof(page)));
}

/* ---- calls ---- */

static void flags_of_calls(void)
{
	int fd = make("f", 2 * PAGE), append;
	struct iovec one = { page, 10 };

	EMIT(preadv2(fd, &one, 1, 0, RWF_NOWAIT));
	EMIT(preadv2(fd, &one, 1, 0, 0x80)); /* RWF_DONTCACHE, of Linux 6.14 */
	EMIT(pwritev2(fd, &one, 1, 0, 0x80));
	EMIT(pwritev2(fd, &one, 1, 0, 0x40)); /* RWF_ATOMIC, of Linux 6.11 */
	emit_content("f", fd);
	append = opened("f", O_WRONLY | O_APPEND);
	EMIT(pwritev2(append, &one, 1, 100, 0x20)); /* RWF_NOAPPEND, of Linux 6.9 */
	emit_content("f, written by a file opened to append", fd);
}

/* Flags that fcntl(2) changes while the file is open. */
static void flags_later(void)
{
	int fd = make("f", 100), append = opened("f", O_RDWR | O_APPEND);
	struct stat was, is;

	must(fcntl(append, F_SETFL, 0));
	EMIT(pwrite(append, page, 10, 0));
	EMIT(lseek(fd, 0, SEEK_END));
	must(fcntl(fd, F_SETFL, O_NOATIME));
	must(fstat(fd, &was));
	tick();
	EMIT(pread(fd, page, 10, 0));
	must(fstat(fd, &is));
	say("accessed", "%d", later(was.st_atim, is.st_atim));
}

/* A read that finds all it wants in memory. */
static void from_memory(void)
{
	const struct timespec times[2] = { { 1000, 0 }, { 2000, 0 } };
	int fd = make("f", 100);
	struct stat st;

	must(pread(fd, page, 100, 0));
	must(futimens(fd, times));
	must(pread(fd, page, 100, 0));
	must(fstat(fd, &st));
	say("accessed", "%d", st.st_atim.tv_sec != 1000);
}

/* Buffers for O_DIRECT that are not where a disk could write to. */
static void odd_buffers(void)
{
	int d, fd = make("f", 2 * PAGE);

	d = opened("f", O_RDWR | O_DIRECT);
	EMIT(pread(d, page + 3, PAGE, 0));
	EMIT(pwrite(d, page + 3, PAGE, 0));
	EMIT(pread(fd, nowhere, 10, 10 * PAGE)); /* but there is nothing to read either */
}

static void positions(void)
{
	int fd = make("f", 10);

	EMIT(lseek(fd, (off_t)1 << 62, SEEK_SET));
	EMIT(read(fd, page, 10));
	EMIT(write(fd, page, 10));
}

static void handles(void)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = { .handle = { .handle_bytes = MAX_HANDLE_SZ } };
	int mount, dir = opened(".", O_RDONLY);

	make("f", 10);
	if (EMIT(name_to_handle_at(AT_FDCWD, "f", &u.handle, &mount, 0)) < 0)
		return;
	EMIT_IF(open_by_handle_at(dir, &u.handle, O_RDONLY));
}

static void waiting(void)
{
	int fd = make("f", 10), set = epoll_create1(0);
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT };
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT | POLLPRI };

	EMIT(poll(&p, 1, -1));
	say("events", "%x", p.revents);
	EMIT(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
	EMIT(epoll_wait(set, &event, 1, 0));
}

static void watching(void)
{
	int plain = fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK, O_RDONLY);
	int named = fanotify_init(FAN_REPORT_DFID_NAME | FAN_NONBLOCK, O_RDONLY);

	must(mkdir("d", 0755));
	EMIT(fanotify_mark(plain, FAN_MARK_ADD, FAN_OPEN | FAN_CLOSE | FAN_EVENT_ON_CHILD, AT_FDCWD,
		"d"));
	close(make("d/f", 10));
	EMIT(read(plain, page, sizeof(page)) > 0);
	EMIT(fanotify_mark(named, FAN_MARK_ADD, FAN_CREATE | FAN_ONDIR, AT_FDCWD, "d"));
}

/* ---- attributes ---- */

static void shown_flags(void)
{
	struct statx sx;
	int fd = make("f", 10), flags;

	must(ioctl(fd, FS_IOC_GETFLAGS, &flags));
	flags |= FS_NODUMP_FL;
	must(ioctl(fd, FS_IOC_SETFLAGS, &flags));
	must(statx(AT_FDCWD, "f", AT_STATX_FORCE_SYNC, STATX_BASIC_STATS | STATX_BTIME, &sx));
	say("no dump", "%d", !!(sx.stx_attributes & STATX_ATTR_NODUMP));
	must(statx(AT_FDCWD, "f", 0, 0x2000, &sx)); /* STATX_DIOALIGN */
	say("alignment of O_DIRECT", "%s", sx.stx_mask & 0x2000 ? "known" : "unknown");
}

/* Files that are not to be changed; the flag is taken away again. */
static void flagged(int flag)
{
	int flags, fd = make("f", 10), append = opened("f", O_WRONLY | O_APPEND);

	must(ioctl(fd, FS_IOC_GETFLAGS, &flags));
	flags |= flag;
	must(ioctl(fd, FS_IOC_SETFLAGS, &flags));
	EMIT(access("f", W_OK));
	EMIT_IF(open("f", O_WRONLY));
	EMIT(fcntl(append, F_SETFL, 0));
	flags &= ~flag;
	must(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

static void immutable(void)
{
	flagged(FS_IMMUTABLE_FL);
}

static void append_only(void)
{
	flagged(FS_APPEND_FL);
}

static void file_system(void)
{
	struct statfs st;

	must(statfs(".", &st));
	say("type", "%lx", (long)st.f_type);
	say("own number", "%s", st.f_fsid.__val[0] || st.f_fsid.__val[1] ? "yes" : "no");
}

/* What goes through a FIFO changes its times where it goes through. */
static void fifo(void)
{
	struct stat was, is;
	int fd;

	must(mkfifo("p", 0600));
	fd = opened("p", O_RDWR);
	must(stat("p", &was));
	tick();
	must(write(fd, page, 10));
	must(stat("p", &is));
	say("changed", "%d", later(was.st_mtim, is.st_mtim));
	must(read(fd, page, 10));
}

/* Calls of single file systems. */
static void ioctls(void)
{
	int fd = make("f", 10);
	char label[256];

	EMIT(ioctl(fd, 0x81009431, label)); /* FS_IOC_GETFSLABEL */
	EMIT_IF(ioctl(fd, FS_IOC_GETFLAGS, label));
	EMIT_IF(ioctl(fd, FS_IOC_GETVERSION, label));
	EMIT(ioctl(fd, 0xdead, label));
	EMIT(syncfs(fd));
}

/* ---- mappings ---- */

static sigjmp_buf back;

static void on_fault(int sig)
{
	siglongjmp(back, sig);
}

/* What stood beyond the end of a file must not come back with it. */
static void stale_end(void)
{
	for (int how = 0; how < 3; how++) {
		char name[] = { 'f', (char)('0' + how), 0 };
		int fd = make(name, 100);
		unsigned char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		must((long)p);
		memset(p + 100, 'T', PAGE - 100);
		if (how == 0)
			must(ftruncate(fd, 2 * PAGE));
		else if (how == 1)
			must(pwrite(fd, "end", 3, 2 * PAGE));
		else
			must(fallocate(fd, 0, 0, 2 * PAGE));
		must(munmap(p, PAGE));
		must(pread(fd, page, 1, 200));
		say(how == 0 ? "truncated" : how == 1 ? "written" : "allocated", "%d", page[0]);
	}
}

/* When the times change: natively with the first store or access, in a mount when it is told. */
static void times_of_stores(void)
{
	struct stat was, is;
	int fd = make("f", PAGE);
	volatile unsigned char *p;

	must(stat("f", &was));
	tick();
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must((long)p);
	must(stat("f", &is));
	say("accessed when mapped", "%d", later(was.st_atim, is.st_atim));
	p[0] = 'x';
	must(stat("f", &is));
	say("changed when stored", "%d", later(was.st_mtim, is.st_mtim));
	must(msync((void *)p, PAGE, MS_SYNC));
	must(stat("f", &is));
	say("changed when synced", "%d", later(was.st_mtim, is.st_mtim));
}

/* DIR is on a file system without room for what is stored. */
static void no_room(void)
{
	const struct sigaction action = { .sa_handler = on_fault };
	int fd = opened("f", O_RDWR | O_CREAT);
	volatile unsigned char *p;

	must(ftruncate(fd, 8 << 20));
	p = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must((long)p);
	sigaction(SIGBUS, &action, NULL);
	if (sigsetjmp(back, 1) == 0) {
		for (long at = 0; at < 8 << 20; at += PAGE)
			p[at] = 1;
		say("stored", "all");
	} else {
		say("stored", "SIGBUS");
	}
	EMIT(msync((void *)p, 8 << 20, MS_SYNC));
	EMIT(fsync(fd));
}

static const struct section sections[] = {
	{ "ranges", ranges },
	{ "extents", extents },
	{ "flags_of_calls", flags_of_calls },
	{ "flags_later", flags_later },
	{ "from_memory", from_memory },
	{ "odd_buffers", odd_buffers },
	{ "positions", positions },
	{ "handles", handles },
	{ "waiting", waiting },
	{ "watching", watching },
	{ "shown_flags", shown_flags },
	{ "immutable", immutable },
	{ "append_only", append_only },
	{ "file_system", file_system },
	{ "fifo", fifo },
	{ "ioctls", ioctls },
	{ "stale_end", stale_end },
	{ "times_of_stores", times_of_stores },
	{ "clones", clones },
	{ "many_names", many_names },
	{ "no_room", no_room },
};

int main(int argc, char **argv)
{
	(void)argc;
	return run_sections(sections, COUNT(sections), argv);
}
