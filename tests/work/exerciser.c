/* SPDX-License-Identifier: MIT */

/*
 * exerciser [options] FILE [SOURCE]: random operations on FILE, each compared with a model of the
 * file in memory: every byte that is read, the size after each operation, and in the end the whole
 * of FILE, of its companion FILE.second, and of both as they are without the mount, at SOURCE.
 *
 *	--seed N --operations N --size MAX
 *	--no-mmap   no mappings
 *	--direct    O_DIRECT, aligned
 *	--append    O_APPEND
 *	--sync      O_SYNC
 *	--two-fds   up to four descriptors at once, with flags of all kinds
 *	--reopen N  after N operations each descriptor is closed and opened again
 *	--aio       reads and writes by the AIO of the kernel, in pieces
 *	--uring     the same by io_uring
 *	--without OPERATION	as the table `operations` names it; may be repeated
 *
 * Ends with 0 and two lines, "N operations, M bytes verified" and "refused: ..." (what this file
 * system does not offer); with 1 and what went before if anything was not as it must be.
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rng.h"
#include "history.h"
#include "pieces.h"

#define PAGE 4096
#define SLOTS 4 /* descriptors of the first file */

static struct {
	long operations, reopen;
	off_t size;
	int no_mmap, direct, append, sync, two_fds, aio, uring;
} options = { .operations = 10000, .size = 256 * 1024 };

/* A file and what must be in it; beyond size the model is zeros. */
struct file {
	char path[4096];
	unsigned char *model;
	off_t size;
};

struct slot {
	int fd; /* -1: not open */
	int flags;
	off_t at;	     /* where the descriptor stands */
	unsigned char *kept; /* a mapping of the file that outlives the operation */
	bool kept_writes;
};

static struct file first, second;
static struct slot slots[SLOTS];
static int second_fd;
static unsigned char *buffer; /* of options.size, aligned */
static uint64_t verified;
static bool refused_zero, refused_uring;

/* ---- random numbers */

static off_t least(off_t a, off_t b)
{
	return a < b ? a : b;
}

/* Now and then at the limits where things go wrong: pages and the end of the file. */
static off_t some_offset(off_t limit)
{
	off_t off = below(limit);

	switch (below(6)) {
	case 0: off = off / PAGE * PAGE; break;
	case 1: off = first.size + below(17) - 8; break;
	case 2: off = off / PAGE * PAGE + below(9) - 4; break;
	default: break;
	}
	return off < 0 || off >= limit ? below(limit) : off;
}

static size_t some_length(off_t room)
{
	static const size_t limits[] = { 1, 16, 512, PAGE, 3 * PAGE, 20000, 70000, 2 << 20 };
	size_t len = 1 + below(limits[below(sizeof(limits) / sizeof(limits[0]))]);

	if (room <= 0)
		return 0;
	if (one_in(4))
		len = (len + PAGE - 1) / PAGE * PAGE;
	return least(len, room);
}

/* What is written: never the same twice. */
static void fill(size_t len)
{
	for (size_t i = 0; i < len; i += 8) {
		uint64_t bits = random_bits();

		memcpy(buffer + i, &bits, len - i < 8 ? len - i : 8);
	}
}

/* To be read if it fails. */
static const char *flags_text(int flags)
{
	static char text[4][64];
	static int turn;
	char *out = text[turn++ % 4];

	snprintf(out, sizeof(text[0]), "%s%s%s%s",
		(flags & O_ACCMODE) == O_RDWR ? "rw" : flags & O_WRONLY ? "w" : "r",
		flags & O_APPEND ? " append" : "", flags & O_DIRECT ? " direct" : "",
		(flags & O_SYNC) == O_SYNC ? " sync" : "");
	return out;
}

/* ---- the model */

/* len bytes at off must be as in the model. */
static void compare(const struct file *file, const char *what, const void *got, off_t off,
	size_t len)
{
	const unsigned char *bytes = got;

	verified += len;
	if (memcmp(bytes, file->model + off, len) == 0)
		return;
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != file->model[off + i])
			fail("%s of %s: at %#lx is %02x, must be %02x (in %#lx + %#lx)", what,
				file->path, (long)(off + i), bytes[i], file->model[off + i],
				(long)off, (long)len);
}

static void model_resize(struct file *file, off_t size)
{
	if (size < file->size)
		memset(file->model + size, 0, file->size - size);
	file->size = size;
}

static void model_write(struct file *file, off_t off, const void *data, size_t len)
{
	memcpy(file->model + off, data, len);
	if (file->size < off + (off_t)len)
		file->size = off + len;
}

/* ---- descriptors */

static bool may_read(const struct slot *s)
{
	return (s->flags & O_ACCMODE) != O_WRONLY;
}

static bool may_write(const struct slot *s)
{
	return (s->flags & O_ACCMODE) != O_RDONLY;
}

/* The first is always there and may do both. */
static struct slot *some_slot(bool reads, bool writes)
{
	struct slot *s = &slots[below(SLOTS)];

	return s->fd >= 0 && (!reads || may_read(s)) && (!writes || may_write(s)) ? s : &slots[0];
}

static int some_flags(const struct slot *s)
{
	static const int access[] = { O_RDWR, O_RDWR, O_RDONLY, O_WRONLY };
	int flags = s == &slots[0] ? O_RDWR : access[below(4)];

	if (options.append ? s == &slots[0] || one_in(2) : options.two_fds && one_in(4))
		flags |= O_APPEND;
	if (options.direct && (s == &slots[0] || one_in(2)))
		flags |= O_DIRECT;
	if (options.sync && one_in(2))
		flags |= O_SYNC;
	return flags | (one_in(8) ? O_NOATIME : 0);
}

static void forget_mapping(struct slot *s)
{
	if (s->kept && munmap(s->kept, options.size) < 0)
		fail("munmap");
	s->kept = NULL;
}

static void open_slot(struct slot *s)
{
	int more = one_in(40) ? O_TRUNC : 0;

	s->flags = some_flags(s);
	if ((s->flags & O_ACCMODE) == O_RDONLY)
		more = 0;
	s->fd = open(first.path, s->flags | more | O_CLOEXEC);
	if (s->fd < 0)
		fail("open %s (%s)", first.path, flags_text(s->flags));
	s->at = 0;
	if (more)
		model_resize(&first, 0);
}

/* A mapping may stay longer than the descriptor. */
static void close_slot(struct slot *s)
{
	if (one_in(2))
		forget_mapping(s);
	if (s->fd >= 0 && close(s->fd) < 0)
		fail("close");
	s->fd = -1;
}

static void reopen_all(void)
{
	for (int i = 0; i < SLOTS; i++) {
		close_slot(&slots[i]);
		if (i == 0 || options.two_fds)
			open_slot(&slots[i]);
	}
}

/* ---- moving data: plainly, or in pieces that are under way together */

static void move_plainly(const struct slot *s, bool writes, unsigned char *data, struct piece *p)
{
	size_t third = p->len / 3;
	struct iovec parts[2] = { { data, third }, { data + third, p->len - third } };
	bool in_parts = one_in(4) && !(s->flags & O_DIRECT);

	if (writes)
		p->result = in_parts ? pwritev(s->fd, parts, 2, p->off)
				     : pwrite(s->fd, data, p->len, p->off);
	else
		p->result = in_parts ? preadv(s->fd, parts, 2, p->off)
				     : pread(s->fd, data, p->len, p->off);
	if (p->result < 0)
		p->result = -errno;
}

/* Cut at pages, so that direct I/O may do it too. */
static int cut(off_t off, size_t len, struct piece *pieces)
{
	size_t step = (len / PIECES + PAGE) / PAGE * PAGE;
	int n = 0;

	for (size_t done = 0; done < len; done += step)
		pieces[n++] = (struct piece){ .off = off + done,
			.len = least(step, len - done) };
	return n;
}

/* Moves buffer, and says how much of it as pread(2) would. */
static long move(const struct slot *s, bool writes, off_t off, size_t len)
{
	struct piece pieces[PIECES + 1] = { { .off = off, .len = len } };
	long sum = 0;
	int n = 1;

	if (!options.aio && !options.uring) {
		move_plainly(s, writes, buffer, pieces);
		return pieces[0].result;
	}
	/* Appends under way together would come in any order. */
	if (!(writes && s->flags & O_APPEND))
		n = cut(off, len, pieces);
	if ((options.aio ? pieces_by_aio : pieces_by_ring)(s->fd, writes, buffer, pieces, n) < 0)
		fail("requests for %d pieces", n);
	for (int i = 0; i < n; i++) {
		if (pieces[i].result < 0)
			return pieces[i].result;
		/* A short piece must be the end of the file. */
		if (i && pieces[i].result && pieces[i - 1].result != (long)pieces[i - 1].len)
			fail("piece %d is short, and after it there is more", i - 1);
		sum += pieces[i].result;
	}
	return sum;
}

/* ---- operations */

/* Where a descriptor may read or write: aligned for O_DIRECT. */
static size_t some_range(const struct slot *s, bool grows, off_t *ret_off)
{
	off_t off = some_offset(grows ? options.size : least(first.size + PAGE, options.size));
	size_t len = some_length(options.size - off);

	if (s->flags & O_DIRECT) {
		off = least(off, options.size - 1) / PAGE * PAGE;
		len = least((len + PAGE - 1) / PAGE * PAGE, options.size - off);
	}
	*ret_off = off;
	return len;
}

static void check_read(const char *what, long got, off_t off, size_t len)
{
	off_t there = off < first.size ? least(len, first.size - off) : 0;

	must(what, got, there);
	if (got > 0)
		compare(&first, what, buffer, off, got);
}

static void do_pread(void)
{
	struct slot *s = some_slot(true, false);
	off_t off;
	size_t len = some_range(s, one_in(8), &off);

	note("pread %ld (%s) %#lx + %#lx", (long)(s - slots), flags_text(s->flags), (long)off,
		(long)len);
	memset(buffer, 0xee, len);
	check_read("pread", move(s, false, off, len), off, len);
}

static void do_read(void)
{
	struct slot *s = some_slot(true, false);
	size_t len = some_length(options.size);
	long n;

	if (s->flags & O_DIRECT) {
		do_pread();
		return;
	}
	note("read %ld (%s) at %#lx + %#lx", (long)(s - slots), flags_text(s->flags),
		(long)s->at, (long)len);
	n = read(s->fd, buffer, len);
	check_read("read", n, s->at, len);
	s->at += n;
}

/* What is near a change must be as before, and the change there. */
static void look_around(off_t off, size_t len)
{
	struct slot *s = some_slot(true, false);
	off_t from = off > 100 ? off - 100 : 0;

	len = least(len + 200, options.size - from);
	if (s->flags & O_DIRECT) {
		len = least((from % PAGE + len + PAGE - 1) / PAGE * PAGE,
			options.size - from / PAGE * PAGE);
		from = from / PAGE * PAGE;
	}
	check_read("look around", pread(s->fd, buffer, len, from), from, len);
}

static void do_pwrite(void)
{
	struct slot *s = some_slot(false, true);
	off_t off;
	size_t len = some_range(s, true, &off);

	if (s->flags & O_APPEND) {
		off = first.size;
		if (s->flags & O_DIRECT && off % PAGE) /* it would be misaligned */
			return;
		len = least(len, options.size - off);
	}
	if (len == 0)
		return;
	note("pwrite %ld (%s) %#lx + %#lx", (long)(s - slots), flags_text(s->flags), (long)off,
		(long)len);
	fill(len);
	must("pwrite", move(s, true, off, len), len);
	model_write(&first, off, buffer, len);
	if (one_in(2))
		look_around(off, len);
}

static void do_write(void)
{
	struct slot *s = some_slot(false, true);
	off_t at = s->flags & O_APPEND ? first.size : s->at;
	size_t len = at < options.size ? some_length(options.size - at) : 0;

	if (s->flags & O_DIRECT || len == 0) {
		do_pwrite();
		return;
	}
	note("write %ld (%s) at %#lx + %#lx", (long)(s - slots), flags_text(s->flags), (long)at,
		(long)len);
	fill(len);
	must("write", write(s->fd, buffer, len), len);
	model_write(&first, at, buffer, len);
	s->at = at + len;
	if (one_in(2))
		look_around(at, len);
}

/* One write that is appended although the descriptor may say otherwise. */
static void do_append_once(void)
{
	struct slot *s = some_slot(false, true);
	size_t len = some_length(options.size - first.size);
	struct iovec part = { buffer, len };
	off_t end = first.size;

	if (s->flags & O_DIRECT || len == 0)
		return;
	note("pwritev2 %ld (%s) appending %#lx", (long)(s - slots), flags_text(s->flags),
		(long)len);
	fill(len);
	must("pwritev2", pwritev2(s->fd, &part, 1, some_offset(options.size), RWF_APPEND), len);
	model_write(&first, end, buffer, len);
	look_around(end, len);
}

static void do_splice_in(void)
{
	struct slot *s = some_slot(false, true);
	size_t len = least(some_length(PAGE * 8), PAGE * 8);
	off_t off = some_offset(options.size - len);
	loff_t to = off;
	int ends[2];

	if (s->flags & (O_DIRECT | O_APPEND))
		return;
	note("splice %ld (%s) %#lx + %#lx", (long)(s - slots), flags_text(s->flags), (long)off,
		(long)len);
	fill(len);
	if (pipe2(ends, O_CLOEXEC) < 0 || write(ends[1], buffer, len) != (ssize_t)len)
		fail("pipe");
	for (size_t done = 0; done < len;) {
		ssize_t n = splice(ends[0], NULL, s->fd, &to, len - done, 0);

		if (n <= 0)
			fail("splice: %zd after %zu", n, done);
		done += n;
	}
	close(ends[0]);
	close(ends[1]);
	model_write(&first, off, buffer, len);
	look_around(off, len);
}

static void do_truncate(void)
{
	struct slot *s = some_slot(false, true);
	off_t size = one_in(3) ? first.size / 2 : some_offset(options.size);
	bool by_path = one_in(3);

	note("%s to %#lx", by_path ? "truncate" : "ftruncate", (long)size);
	if ((by_path ? truncate(first.path, size) : ftruncate(s->fd, size)) < 0)
		fail("truncate to %#lx", (long)size);
	model_resize(&first, size);
	look_around(size > 200 ? size - 200 : 0, 400);
}

static void do_fallocate(void)
{
	static const int modes[] = { 0, FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE,
		FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE };
	struct slot *s = some_slot(false, true);
	int mode = modes[below(5)];
	off_t off = some_offset(options.size);
	size_t len = some_length(options.size - off);

	if (len == 0)
		return;
	note("fallocate %ld mode %d %#lx + %#lx", (long)(s - slots), mode, (long)off, (long)len);
	if (fallocate(s->fd, mode, off, len) < 0) {
		if (errno != EOPNOTSUPP || !(mode & FALLOC_FL_ZERO_RANGE))
			fail("fallocate, mode %d", mode);
		refused_zero = true;
		return;
	}
	if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE) && off < first.size)
		memset(first.model + off, 0, least(len, first.size - off));
	if (!(mode & FALLOC_FL_KEEP_SIZE) && first.size < off + (off_t)len)
		first.size = off + len;
	look_around(off, len);
}

/* Copies what is there; how much of it at once is the file system's choice. */
static void copy(struct file *from, int in, off_t off_in, struct file *to, int out, off_t off_out,
	size_t len)
{
	while (len > 0) {
		loff_t a = off_in, b = off_out;
		ssize_t n = copy_file_range(in, &a, out, &b, len, 0);

		if (n < 0 || (n == 0) != (off_in >= from->size))
			fail("copy_file_range: %zd of %#lx", n, (long)len);
		if (n == 0)
			return;
		must("copied", n, least(n, from->size - off_in));
		model_write(to, off_out, from->model + off_in, n);
		off_in += n;
		off_out += n;
		len -= n;
	}
}

static void do_copy_within(void)
{
	struct slot *in = some_slot(true, false), *out = some_slot(false, true);
	off_t from = some_offset(first.size + 1), to = some_offset(options.size);
	size_t len = some_length(options.size - (from > to ? from : to));

	if (out->flags & O_APPEND || (in->flags | out->flags) & O_DIRECT)
		return;
	len = least(len, from > to ? from - to : to - from);
	if (len == 0)
		return;
	note("copy %ld to %ld: %#lx to %#lx + %#lx", (long)(in - slots), (long)(out - slots),
		(long)from, (long)to, (long)len);
	copy(&first, in->fd, from, &first, out->fd, to, len);
	look_around(to, len);
}

static void check_second(void)
{
	ssize_t n = pread(second_fd, buffer, options.size, 0);

	must("size of the second", n, second.size);
	compare(&second, "read", buffer, 0, n);
}

static void do_copy_across(void)
{
	struct slot *s = some_slot(true, true);
	off_t from, to = some_offset(options.size);
	bool back = one_in(2) && !(s->flags & O_APPEND);
	size_t len;

	if (s->flags & O_DIRECT) /* it would have to be aligned */
		return;
	from = some_offset((back ? second.size : first.size) + 1);
	len = some_length(options.size - (from > to ? from : to));
	note("copy %s the second by %ld: %#lx to %#lx + %#lx", back ? "from" : "to",
		(long)(s - slots), (long)from, (long)to, (long)len);
	if (back)
		copy(&second, second_fd, from, &first, s->fd, to, len);
	else
		copy(&first, s->fd, from, &second, second_fd, to, len);
	check_second();
}

static void do_sendfile(void)
{
	struct slot *s = some_slot(true, false);
	off_t off;
	size_t len = some_range(s, false, &off), done = 0;
	off_t from = off;
	int out = memfd_create("sendfile", MFD_CLOEXEC);
	ssize_t n;

	note("sendfile %ld (%s) %#lx + %#lx", (long)(s - slots), flags_text(s->flags), (long)off,
		(long)len);
	while (done < len && (n = sendfile(out, s->fd, &from, len - done)) > 0)
		done += n;
	if (out < 0 || (done < len && n < 0))
		fail("sendfile");
	must("from memory", pread(out, buffer, len, 0), done);
	close(out);
	check_read("sendfile", done, off, len);
}

static bool is_zero(const unsigned char *bytes, off_t len)
{
	for (off_t i = 0; i < len; i++)
		if (bytes[i])
			return false;
	return true;
}

/* What the file system calls a hole must hold nothing.  A file system may take zeros for data. */
static void do_seek_data(void)
{
	struct slot *s = some_slot(false, false);
	off_t at = 0, data, hole;

	note("lseek for data and holes, %ld", (long)(s - slots));
	while (at < first.size) {
		data = lseek(s->fd, at, SEEK_DATA);
		if (data < 0 && errno != ENXIO)
			fail("SEEK_DATA");
		if (data < 0)
			data = first.size;
		if (data < at || data > first.size || !is_zero(first.model + at, data - at))
			fail("SEEK_DATA from %#lx gives %#lx, and there is data before",
				(long)at, (long)data);
		verified += data - at;
		if (data == first.size)
			break;
		hole = lseek(s->fd, data, SEEK_HOLE);
		if (hole <= data || hole > first.size)
			fail("SEEK_HOLE from %#lx gives %#lx", (long)data, (long)hole);
		at = hole;
	}
	must("SEEK_DATA at the end", lseek(s->fd, first.size, SEEK_DATA), -1);
	must("the error of that", errno, ENXIO);
	must("back", lseek(s->fd, s->at, SEEK_SET), s->at);
}

static void do_lseek(void)
{
	struct slot *s = some_slot(false, false);
	off_t back = least(below(5000), first.size);

	note("lseek %ld", (long)(s - slots));
	if (one_in(2)) {
		s->at = first.size - back;
		must("SEEK_END", lseek(s->fd, -back, SEEK_END), s->at);
	} else {
		s->at = some_offset(options.size);
		must("SEEK_SET", lseek(s->fd, s->at, SEEK_SET), s->at);
	}
}

/* Some bytes inside of the file, and the pages they are in. */
static size_t mapped_range(off_t *ret_off, off_t *ret_start)
{
	off_t off = some_offset(first.size);
	size_t len = some_length(first.size - off);

	*ret_off = off;
	*ret_start = off / PAGE * PAGE;
	return len;
}

static unsigned char *map(const struct slot *s, int protection, int type, off_t start, size_t len)
{
	unsigned char *at = mmap(NULL, len, protection, type, s->fd, start);

	if (at == MAP_FAILED)
		fail("mmap");
	return at;
}

static void do_mmap_read(void)
{
	struct slot *s = some_slot(true, false);
	off_t off, start;
	size_t len = mapped_range(&off, &start), tail;
	unsigned char *at;

	if (len == 0)
		return;
	note("mmap for reading %ld (%s) %#lx + %#lx", (long)(s - slots), flags_text(s->flags),
		(long)off, (long)len);
	at = map(s, PROT_READ, one_in(2) ? MAP_SHARED : MAP_PRIVATE, start, off - start + len);
	compare(&first, "mapping", at + (off - start), off, len);
	/* After the end of the file the page is zeros: no client here has stored there. */
	tail = (off + len) % PAGE ? PAGE - (off + len) % PAGE : 0;
	if (off + (off_t)len == first.size && !is_zero(at + (off - start) + len, tail))
		fail("a mapped page is not zero after the end of the file");
	munmap(at, off - start + len);
}

static void synchronise(void *at, size_t len)
{
	static const int how[] = { MS_SYNC, MS_ASYNC, MS_SYNC | MS_INVALIDATE };
	int i = below(5);

	if (i < 3 && msync(at, len, how[i]) < 0)
		fail("msync");
}

static void do_mmap_write(void)
{
	struct slot *s = some_slot(true, true);
	off_t off, start;
	size_t len = mapped_range(&off, &start);
	unsigned char *at;

	if (len == 0)
		return;
	note("mmap for writing %ld (%s) %#lx + %#lx", (long)(s - slots), flags_text(s->flags),
		(long)off, (long)len);
	at = map(s, PROT_READ | PROT_WRITE, MAP_SHARED, start, off - start + len);
	fill(len);
	memcpy(at + (off - start), buffer, len);
	model_write(&first, off, buffer, len);
	synchronise(at, off - start + len);
	if (one_in(3))
		look_around(off, len);
	munmap(at, off - start + len);
}

/* Through a mapping that is there while all else goes on. */
static void do_kept_mapping(void)
{
	struct slot *s = some_slot(true, false);
	off_t off, start;
	size_t len = mapped_range(&off, &start);

	if (one_in(20))
		forget_mapping(s);
	if (!s->kept) {
		s->kept_writes = may_write(s);
		s->kept = map(s, PROT_READ | (s->kept_writes ? PROT_WRITE : 0), MAP_SHARED, 0,
			options.size);
	}
	if (len == 0)
		return;
	note("kept mapping %ld %#lx + %#lx", (long)(s - slots), (long)off, (long)len);
	compare(&first, "kept mapping", s->kept + off, off, len);
	if (!s->kept_writes || one_in(2))
		return;
	note("kept mapping %ld %#lx + %#lx, written", (long)(s - slots), (long)off, (long)len);
	fill(len);
	memcpy(s->kept + off, buffer, len);
	model_write(&first, off, buffer, len);
	if (one_in(4))
		synchronise(s->kept + start, off - start + len);
}

static void do_sync(void)
{
	struct slot *s = some_slot(false, false);

	note("fsync %ld", (long)(s - slots));
	if ((one_in(2) ? fsync(s->fd) : fdatasync(s->fd)) < 0)
		fail("fsync");
}

static void do_advise(void)
{
	static const int advice[] = { POSIX_FADV_DONTNEED, POSIX_FADV_DONTNEED,
		POSIX_FADV_WILLNEED, POSIX_FADV_RANDOM, POSIX_FADV_SEQUENTIAL };
	struct slot *s = some_slot(true, false);
	int i = below(5);

	note("posix_fadvise %ld, %d", (long)(s - slots), advice[i]);
	must("posix_fadvise", posix_fadvise(s->fd, 0, one_in(2) ? 0 : first.size / 2, advice[i]),
		0);
}

static void do_reopen(void)
{
	struct slot *s = &slots[options.two_fds ? below(SLOTS) : 0];

	note("close and open %ld", (long)(s - slots));
	close_slot(s);
	open_slot(s);
	note("close and open %ld (%s)", (long)(s - slots), flags_text(s->flags));
}

/* A program may change its mind about appending while the file is open. */
static void do_change_flags(void)
{
	struct slot *s = some_slot(false, false);
	int flags = s->flags ^ O_APPEND;

	note("fcntl %ld (%s)", (long)(s - slots), flags_text(flags));
	if (fcntl(s->fd, F_SETFL, flags & (O_APPEND | O_DIRECT | O_NOATIME)) < 0)
		fail("F_SETFL");
	s->flags = flags;
}

static void read_all(const struct file *file, const char *path, const char *what)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	off_t done = 0;

	for (;;) {
		ssize_t n = fd < 0 ? -1 : read(fd, buffer, some_length(options.size));

		if (n < 0)
			fail("reading %s %s", path, what);
		if (n == 0)
			break;
		if (done + n > file->size)
			fail("%s %s is too long", path, what);
		compare(file, what, buffer, done, n);
		done += n;
	}
	close(fd);
	must(what, done, file->size);
}

static void do_read_all(void)
{
	note("read all");
	read_all(&first, first.path, "as a whole");
}

/* ---- all of it */

static struct {
	const char *name;
	void (*run)(void);
	int weight; /* 0: not done */
	bool maps;
} operations[] = {
	{ "pread", do_pread, 12, false },
	{ "read", do_read, 8, false },
	{ "pwrite", do_pwrite, 12, false },
	{ "write", do_write, 8, false },
	{ "append-once", do_append_once, 2, false },
	{ "splice-in", do_splice_in, 2, false },
	{ "truncate", do_truncate, 6, false },
	{ "fallocate", do_fallocate, 8, false },
	{ "copy-within", do_copy_within, 4, false },
	{ "copy-across", do_copy_across, 4, false },
	{ "sendfile", do_sendfile, 4, false },
	{ "seek-data", do_seek_data, 3, false },
	{ "lseek", do_lseek, 4, false },
	{ "mmap-read", do_mmap_read, 6, true },
	{ "mmap-write", do_mmap_write, 6, true },
	{ "kept-mapping", do_kept_mapping, 10, true },
	{ "sync", do_sync, 2, false },
	{ "advise", do_advise, 2, false },
	{ "reopen", do_reopen, 3, false },
	{ "change-flags", do_change_flags, 2, false },
	{ "read-all", do_read_all, 1, false },
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static void one_operation(void)
{
	static int total;
	off_t choice;
	size_t i;

	if (!total)
		for (i = 0; i < OPERATIONS; i++)
			total += operations[i].weight;
	choice = below(total);
	for (i = 0; choice >= operations[i].weight; i++)
		choice -= operations[i].weight;
	note("%s", operations[i].name);
	operations[i].run();
	note_more(" -> size %#lx", (long)first.size);
}

static void check_size(void)
{
	struct slot *s = some_slot(false, false);
	struct stat st;

	if (fstat(s->fd, &st) < 0 || st.st_size != first.size)
		fail("fstat: size %#lx, must be %#lx", (long)st.st_size, (long)first.size);
	if (one_in(8) && (stat(first.path, &st) < 0 || st.st_size != first.size))
		fail("stat: size %#lx, must be %#lx", (long)st.st_size, (long)first.size);
}

static void run(void)
{
	for (operation = 0; operation < options.operations; operation++) {
		one_operation();
		check_size();
		if (options.reopen && operation % options.reopen == options.reopen - 1)
			reopen_all();
	}
	operation--;
	for (int i = 0; i < SLOTS; i++) {
		close_slot(&slots[i]);
		forget_mapping(&slots[i]);
	}
	close(second_fd);
}

static void compare_all(const char *source)
{
	char path[4200];

	read_all(&first, first.path, "in the end");
	read_all(&second, second.path, "in the end");
	if (!source)
		return;
	read_all(&first, source, "of the source");
	snprintf(path, sizeof(path), "%s.second", source);
	read_all(&second, path, "of the source");
}

static void begin_file(struct file *file, const char *path, const char *suffix)
{
	int fd;

	snprintf(file->path, sizeof(file->path), "%s%s", path, suffix);
	file->model = calloc(1, options.size + 2 * PAGE);
	fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || !file->model)
		err(1, "%s", file->path);
	if (file == &second)
		second_fd = fd;
	else
		close(fd);
}

static void leave_out(const char *name)
{
	for (size_t i = 0; i < OPERATIONS; i++)
		if (strcmp(operations[i].name, name) == 0) {
			operations[i].weight = 0;
			return;
		}
	errx(2, "no operation '%s'", name);
}

static void parse(int argc, char **argv)
{
	static const struct option known[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "operations", required_argument, NULL, 'n' },
		{ "size", required_argument, NULL, 'm' },
		{ "reopen", required_argument, NULL, 'r' },
		{ "no-mmap", no_argument, &options.no_mmap, 1 },
		{ "direct", no_argument, &options.direct, 1 },
		{ "append", no_argument, &options.append, 1 },
		{ "sync", no_argument, &options.sync, 1 },
		{ "two-fds", no_argument, &options.two_fds, 1 },
		{ "aio", no_argument, &options.aio, 1 },
		{ "uring", no_argument, &options.uring, 1 },
		{ "without", required_argument, NULL, 'o' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 's': seed = strtoul(optarg, NULL, 0); break;
		case 'n': options.operations = strtol(optarg, NULL, 0); break;
		case 'm': options.size = strtol(optarg, NULL, 0) / PAGE * PAGE; break;
		case 'r': options.reopen = strtol(optarg, NULL, 0); break;
		case 'o': leave_out(optarg); break;
		case 0: break;
		default: exit(2);
		}
	}
	for (size_t i = 0; i < OPERATIONS; i++)
		if (options.no_mmap && operations[i].maps)
			operations[i].weight = 0;
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	if (optind >= argc || options.size < 16 * PAGE)
		errx(2, "usage: exerciser [options] FILE [SOURCE]");
	setvbuf(stdout, NULL, _IOLBF, 0);
	rng_state = seed;
	buffer = aligned_alloc(PAGE, options.size + 2 * PAGE);
	if (options.uring && pieces_open_ring() < 0) {
		options.uring = 0;
		refused_uring = true;
	}
	begin_file(&first, argv[optind], "");
	begin_file(&second, argv[optind], ".second");
	for (int i = 0; i < SLOTS; i++)
		slots[i].fd = -1;
	reopen_all();
	run();
	compare_all(argv[optind + 1]);
	printf("%ld operations, %lu bytes verified\n", options.operations, (unsigned long)verified);
	printf("refused:%s%s\n", refused_zero ? " zero-range" : "",
		refused_uring ? " io_uring" : "");
	return 0;
}
