/* SPDX-License-Identifier: MIT */

/* Reading, writing and what else moves data: see regress.h. */

#include "regress.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

static char data[300 * 1024];
static char page[16 * PAGE] __attribute__((aligned(PAGE)));

/* What no compiler is to see through, or it would warn of it. */
static void *volatile nowhere = (void *)8;
static volatile size_t too_much = SIZE_MAX;
static volatile int too_many = IOV_MAX + 1, negative = -1;

static int opened(const char *path, int flags)
{
	return (int)must(open(path, flags, 0644));
}

/* ---- vectors ---- */

static void vectors(void)
{
	static struct iovec many[IOV_MAX + 1];
	int fd = opened("f", O_RDWR | O_CREAT);
	char a[7], b[1], c[3000];
	struct iovec odd[5] = { { a, 7 }, { NULL, 0 }, { b, 1 }, { c, 3000 }, { a, 0 } };
	struct iovec huge[2] = { { data, SSIZE_MAX }, { data, SSIZE_MAX } };
	struct iovec below_zero = { data, (size_t)-5 };

	fill(data, sizeof(data), 3);
	for (size_t i = 0; i < COUNT(many); i++)
		many[i] = (struct iovec){ data + i * 7, i % 11 };
	EMIT(writev(fd, many, IOV_MAX));
	EMIT(writev(fd, many, too_many));
	EMIT(writev(fd, many, 0));
	EMIT(writev(fd, many, negative));
	EMIT(writev(fd, huge, 2));
	EMIT(writev(fd, &below_zero, 1));
	EMIT(lseek(fd, 0, SEEK_CUR));
	EMIT(preadv(fd, odd, 5, 1000));
	say("parts", "%016lx", (long)hash(hash(hash(1, a, 7), b, 1), c, 3000));
	EMIT(preadv(fd, odd, 5, 5000));
	EMIT(preadv(fd, odd, 5, 10000));
	EMIT(preadv(fd, odd, 5, -1));
	EMIT(preadv(fd, odd, 0, 0));
	EMIT(preadv(fd, odd, too_many, 0));
	EMIT(pwritev(fd, odd, 5, 100000));
	EMIT(pwritev(fd, odd + 1, 1, 200000));
	EMIT(lseek(fd, 0, SEEK_END));
	emit_content("f", fd);
}

/* Buffers that are not there, wholly or in part. */
static void bad_buffers(void)
{
	int fd = make("f", 3 * PAGE);
	char *edge =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec parts[2] = { { data, 100 }, { nowhere, 100 } };

	must(munmap(edge + PAGE, PAGE));
	EMIT(pread(fd, nowhere, 10, 0));
	EMIT(pwrite(fd, nowhere, 10, 0));
	EMIT(pread(fd, nowhere, 0, 0));
	EMIT(pwrite(fd, nowhere, 0, 0));
	EMIT(pread(fd, edge + PAGE - 10, 10, 0));
	EMIT(pwrite(fd, edge + PAGE - 10, 10, 0));
	EMIT(preadv(fd, parts, 2, 0));
	EMIT(pwritev(fd, parts, 2, 0));
	EMIT(pread(fd, (char *)-1, 5, 0));
	EMIT(read(fd, data, too_much));
	EMIT(write(fd, (char *)1 + SSIZE_MAX, 5));
	emit_content("f", fd);
}

/* ---- positions ---- */

static void positions(void)
{
	int fd = make("f", 5000), rd = opened("f", O_RDONLY), wr = opened("f", O_WRONLY);

	EMIT(lseek(fd, 100, SEEK_SET));
	EMIT(lseek(fd, -200, SEEK_CUR));
	EMIT(lseek(fd, -1, SEEK_SET));
	EMIT(lseek(fd, 10, SEEK_END));
	EMIT(read(fd, data, 10));
	EMIT(write(fd, data, 0));
	EMIT(lseek(fd, 0, SEEK_END));
	EMIT(lseek(fd, 0, 77));
	EMIT(lseek(fd, LONG_MAX, SEEK_CUR));
	EMIT(lseek(fd, 4999, SEEK_SET));
	EMIT(read(fd, data, 10));
	EMIT(read(fd, data, 0));
	EMIT(pread(fd, data, 10, -1));
	EMIT(pwrite(fd, data, 10, -1));
	EMIT(pread(fd, data, 10, LONG_MAX));
	EMIT(pwrite(fd, data, 10, LONG_MAX));
	EMIT(pwrite(fd, data, 3, 9000));
	EMIT(read(wr, data, 1));
	EMIT(write(rd, data, 1));
	EMIT(pwrite(rd, data, 0, 0));
	EMIT(ftruncate(rd, 3));
	EMIT(ftruncate(fd, -1));
	EMIT(ftruncate(fd, LONG_MAX));
	EMIT(truncate("f", -1));
	EMIT(truncate(".", 0));
	EMIT(truncate("nothing", 0));
	EMIT(lseek(dup(fd), 123, SEEK_SET));
	EMIT(lseek(fd, 0, SEEK_CUR));
	EMIT(ftruncate(fd, 9003)); /* it may be very long by now */
	emit_content("f", fd);
}

/* What FUSE's page cache does not know: the end of what a file system can hold. */
static void too_far(void)
{
	static const int shifts[] = { 31, 32, 40, 43, 44, 45, 50, 62 };
	int fd = make("f", 10);

	for (size_t i = 0; i < COUNT(shifts); i++) {
		off_t at = (off_t)1 << shifts[i];
		struct stat st;

		say("2 to the power of", "%d", shifts[i]);
		EMIT(pwrite(fd, "x", 1, at));
		EMIT(fallocate(fd, 0, at, 10));
		EMIT(ftruncate(fd, at));
		EMIT(fstat(fd, &st));
		say("size", "%ld", (long)st.st_size);
		EMIT(ftruncate(fd, 10));
	}
	emit_content("f", fd);
}

/* Partly possible writes around a limit, and the signal for those that are not. */
static void limit(void)
{
	int fd = opened("f", O_RDWR | O_CREAT), append;

	must(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 10000, RLIM_INFINITY }));
	signal(SIGXFSZ, SIG_IGN);
	EMIT(write(fd, data, 9000));
	EMIT(write(fd, data, 3000));
	EMIT(write(fd, data, 1));
	EMIT(pwrite(fd, data, 5, 20000));
	EMIT(write(fd, data, 0));
	EMIT(ftruncate(fd, 10000));
	EMIT(ftruncate(fd, 10001));
	EMIT(truncate("f", 20000));
	EMIT(fallocate(fd, 0, 5000, 5000));
	EMIT(fallocate(fd, 0, 5000, 6000));
	EMIT(fallocate(fd, FALLOC_FL_KEEP_SIZE, 5000, 6000));
	EMIT(fallocate(fd, FALLOC_FL_ZERO_RANGE, 5000, 6000));
	append = opened("f", O_WRONLY | O_APPEND);
	EMIT(write(append, data, 10));
	EMIT(ftruncate(fd, 9990));
	EMIT(write(append, data, 100));
	emit_content("f", fd);
	signal(SIGXFSZ, SIG_DFL);
	fflush(stdout);
	EMIT(write(append, data, 100));
}

static void limit_of_copies(void)
{
	int from = make("from", 20000), fd = opened("f", O_RDWR | O_CREAT);
	off_t at = 0, to = 9000;

	must(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 10000, RLIM_INFINITY }));
	signal(SIGXFSZ, SIG_IGN);
	EMIT(copy_file_range(from, &at, fd, &to, 5000, 0));
	EMIT(copy_file_range(from, &at, fd, &to, 5000, 0));
	EMIT(sendfile(fd, from, NULL, 20000));
	EMIT(sendfile(fd, from, NULL, 20000));
	emit_content("f", fd);
}

/* ---- appending ---- */

static void appends(void)
{
	int a = opened("f", O_RDWR | O_CREAT | O_APPEND), b = opened("f", O_WRONLY | O_APPEND);
	int plain = opened("f", O_RDWR);
	struct iovec two[2] = { { data, 3 }, { data, 4 } };

	fill(data, sizeof(data), 1);
	EMIT(write(a, data, 10));
	EMIT(write(b, data, 20));
	EMIT(pwrite(a, data, 5, 0));
	EMIT(lseek(a, 0, SEEK_CUR));
	EMIT(writev(b, two, 2));
	EMIT(lseek(b, 0, SEEK_CUR));
	EMIT(write(plain, "X", 1));
	EMIT(ftruncate(plain, 100));
	EMIT(write(a, data, 1));
	EMIT(lseek(a, 0, SEEK_CUR));
	EMIT(ftruncate(plain, 3));
	EMIT(write(b, data, 1));
	emit_content("f", plain);
}

/* The flag is set and taken away while the file is open. */
static void append_later(void)
{
	int fd = make("f", 100), append = opened("f", O_RDWR | O_APPEND);

	EMIT(fcntl(fd, F_SETFL, O_APPEND));
	EMIT(pwrite(fd, "appended", 8, 0));
	emit_content("f", fd);
	EMIT(fcntl(fd, F_SETFL, 0));
	EMIT(pwrite(fd, "at 0", 4, 0));
	emit_content("f", fd);
	EMIT(fcntl(append, F_SETFL, 0));
	EMIT(pwrite(append, "AT 0", 4, 0));
	EMIT(lseek(append, 50, SEEK_SET));
	EMIT(write(append, "AT 50", 5));
	EMIT(lseek(append, 0, SEEK_CUR));
	emit_content("f", fd);
	EMIT(fcntl(append, F_SETFL, O_APPEND));
	EMIT(write(append, "appended again", 14));
	emit_content("f", fd);
}

/* ---- flags of single calls ---- */

static void flags_of_writes(void)
{
	int fd = make("f", 100), append = opened("f", O_RDWR | O_APPEND);
	struct iovec one = { data, 10 };

	EMIT(pwritev2(fd, &one, 1, 0, RWF_APPEND));
	EMIT(pwritev2(fd, &one, 1, -1, RWF_APPEND));
	EMIT(lseek(fd, 0, SEEK_CUR));
	EMIT(pwritev2(fd, &one, 1, 5, RWF_DSYNC));
	EMIT(pwritev2(fd, &one, 1, 5, RWF_SYNC));
	EMIT(pwritev2(fd, &one, 1, 5, RWF_HIPRI));
	EMIT(pwritev2(fd, &one, 1, -1, 0));
	EMIT(pwritev2(fd, &one, 1, -2, 0));
	EMIT(pwritev2(fd, &one, 1, 0, 0x40000000));
	EMIT(pwritev2(append, &one, 1, 0, 0));
	emit_content("f", fd);
	EMIT(preadv2(fd, &one, 1, 0, 0));
	EMIT(preadv2(fd, &one, 1, -1, 0));
	EMIT(preadv2(fd, &one, 1, 0, RWF_HIPRI));
	EMIT(preadv2(fd, &one, 1, 0, RWF_APPEND));
	EMIT(preadv2(fd, &one, 1, 0, 0x40000000));
	emit_content("f", fd);
}

/* ---- O_DIRECT ---- */

static void direct(void)
{
	int fd = make("f", 3 * PAGE + 100), d = (int)EMIT_IF(open("f", O_RDWR | O_DIRECT));

	EMIT(pread(d, page, 4 * PAGE, 0));
	EMIT(pread(d, page, PAGE, 3 * PAGE));
	EMIT(pread(d, page, PAGE, 4 * PAGE));
	EMIT(pread(d, page, PAGE, 40 * PAGE));
	memset(page, 'D', sizeof(page));
	EMIT(pwrite(d, page, PAGE, PAGE));
	emit_content("f", fd);
	EMIT(pwrite(d, page, 2 * PAGE, 3 * PAGE));
	emit_content("f, longer", fd);
	EMIT(pwrite(d, page, PAGE, 8 * PAGE));
	EMIT(lseek(fd, 5 * PAGE, SEEK_DATA));
	EMIT(pwrite(fd, "buffered", 8, PAGE + 50));
	EMIT(pread(d, page, PAGE, PAGE));
	EMIT(memcmp(page + 50, "buffered", 8));
	EMIT(ftruncate(fd, PAGE + 10));
	EMIT(pread(d, page, 2 * PAGE, 0));
	EMIT(fcntl(fd, F_SETFL, O_DIRECT));
	EMIT(pwrite(fd, page, PAGE, 0));
	EMIT(fcntl(fd, F_SETFL, 0));
	EMIT(pwrite(fd, page, 100, 33));
	EMIT(fallocate(d, 0, 4 * PAGE, 2 * PAGE));
	EMIT(pread(d, page, 6 * PAGE, 0));
	emit_content("f, in the end", fd);
	EMIT_IF(open("g", O_RDWR | O_CREAT | O_DIRECT, 0644));
	EMIT_IF(open(".", O_RDONLY | O_DIRECT));
}

/* Where and how much is odd: a file system refuses it. */
static void direct_odd(void)
{
	int fd = make("f", 3 * PAGE), d = (int)EMIT_IF(open("f", O_RDWR | O_DIRECT));

	EMIT(pread(d, page, 100, 0));
	EMIT(pread(d, page, PAGE, 100));
	EMIT(pread(d, page, 100, 9 * PAGE + 5));
	EMIT(pwrite(d, page, 100, 0));
	EMIT(pwrite(d, page, PAGE, 5));
	EMIT(pread(d, page, 0, 0));
	EMIT(pwrite(d, page, 0, 0));
	emit_content("f", fd);
}

/* ---- allocating ---- */

static void holes(void)
{
	static const off_t at[] = { 0, 1, PAGE, 9 * PAGE, 10 * PAGE, 10 * PAGE + 5, 11 * PAGE,
		20 * PAGE, 29 * PAGE, 30 * PAGE, 30 * PAGE + 6, 31 * PAGE, 40 * PAGE, 50 * PAGE };
	int fd = opened("f", O_RDWR | O_CREAT);

	EMIT(lseek(fd, 0, SEEK_DATA));
	EMIT(lseek(fd, 0, SEEK_HOLE));
	must(pwrite(fd, "data", 4, 10 * PAGE));
	must(pwrite(fd, "data", 4, 30 * PAGE));
	must(ftruncate(fd, 40 * PAGE));
	for (size_t i = 0; i < COUNT(at); i++) {
		say("at", "%ld", (long)at[i]);
		EMIT(lseek(fd, at[i], SEEK_DATA));
		EMIT(lseek(fd, at[i], SEEK_HOLE));
	}
	EMIT(lseek(fd, -1, SEEK_DATA));
	EMIT(lseek(fd, -1, SEEK_HOLE));
	EMIT(lseek(fd, LONG_MAX, SEEK_DATA));
	EMIT(lseek(fd, 10 * PAGE, SEEK_DATA));
	EMIT(read(fd, data, 10));
	must(fsync(fd));
	EMIT(lseek(fd, 0, SEEK_DATA));
}

static void emit_blocks(int fd)
{
	struct stat st;

	must(fsync(fd));
	must(fstat(fd, &st));
	say("size and blocks", "%ld %ld", (long)st.st_size, (long)st.st_blocks);
}

static void allocation(void)
{
	int fd = opened("f", O_RDWR | O_CREAT);

	EMIT(fallocate(fd, 0, 0, 10 * PAGE));
	emit_blocks(fd);
	EMIT(lseek(fd, 0, SEEK_DATA));
	EMIT(lseek(fd, 0, SEEK_HOLE));
	must(pwrite(fd, data + 5, 100, 5 * PAGE - 50));
	EMIT(fallocate(fd, FALLOC_FL_KEEP_SIZE, 20 * PAGE, 5 * PAGE));
	emit_blocks(fd);
	EMIT(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, 2 * PAGE));
	emit_blocks(fd);
	EMIT(lseek(fd, 0, SEEK_DATA));
	EMIT(lseek(fd, 5 * PAGE, SEEK_HOLE));
	/* Not before: with the page cache, what was read counts as data. */
	EMIT(pread(fd, data, 100000, 0));
	say("read", "%016lx", (long)hash(1, data, 10 * PAGE));
	EMIT(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 5 * PAGE - 20, 30));
	emit_content("f", fd);
	EMIT(fallocate(fd, FALLOC_FL_ZERO_RANGE, 8 * PAGE, 4 * PAGE));
	emit_blocks(fd);
	EMIT(fallocate(fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 11 * PAGE, 4 * PAGE));
	emit_blocks(fd);
	EMIT(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 100 * PAGE));
	emit_blocks(fd);
	emit_content("f, nothing left", fd);
	EMIT(posix_fallocate(fd, 0, 3 * PAGE));
	EMIT(posix_fallocate(fd, 0, 0));
	EMIT(posix_fallocate(fd, -1, 10));
	EMIT(ftruncate(fd, 0));
	emit_blocks(fd);
}

static void allocation_refused(void)
{
	int fd = make("f", PAGE), rd = opened("f", O_RDONLY), dir = opened(".", O_RDONLY);
	int ends[2];

	must(pipe(ends));
	EMIT(fallocate(fd, 0, 0, 0));
	EMIT(fallocate(fd, 0, 0, -1));
	EMIT(fallocate(fd, 0, -1, 10));
	EMIT(fallocate(fd, 0, LONG_MAX, 10));
	EMIT(fallocate(rd, 0, 0, 10));
	EMIT(fallocate(dir, 0, 0, 10));
	EMIT(fallocate(ends[1], 0, 0, 10));
	EMIT(fallocate(opened(".", O_PATH), 0, 0, 10));
	EMIT(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 10));
	EMIT(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE, 0, 10));
	EMIT(fallocate(fd, 0x8000, 0, 10));
	emit_content("f", fd);
}

/* ---- truncating ---- */

/* What was cut off does not come back when the file grows again, by whatever way. */
static void stale_data(void)
{
	for (int how = 0; how < 5; how++) {
		char name[] = { 'f', (char)('0' + how), 0 };
		int fd = make(name, 3 * PAGE);

		emit_content(name, fd); /* into a cache, if there is one */
		must(how == 0 ? truncate(name, 100) : ftruncate(fd, PAGE + 100));
		if (how == 0)
			must(truncate(name, 3 * PAGE));
		else if (how == 1)
			must(ftruncate(fd, 3 * PAGE));
		else if (how == 2)
			must(pwrite(fd, "end", 3, 3 * PAGE));
		else if (how == 3)
			must(fallocate(fd, 0, 0, 3 * PAGE));
		else
			must(pwrite(opened(name, O_WRONLY), "end", 3, 2 * PAGE + 10));
		emit_content(name, fd);
		emit_file(name);
		close(opened(name, O_WRONLY | O_TRUNC));
		must(ftruncate(fd, 2 * PAGE));
		emit_content(name, fd);
	}
}

/* ---- copy_file_range ---- */

static ssize_t copy(int in, off_t from, int out, off_t to, size_t n)
{
	return copy_file_range(in, &from, out, &to, n, 0);
}

static void copies(void)
{
	int in = make("in", 100000), out = make("out", 10);
	off_t from = 1000, to = 50000;

	EMIT(copy_file_range(in, &from, out, &to, 30000, 0));
	say("offsets", "%ld %ld", (long)from, (long)to);
	EMIT(lseek(in, 0, SEEK_CUR));
	EMIT(lseek(out, 0, SEEK_CUR));
	emit_content("out", out);
	EMIT(lseek(in, 99000, SEEK_SET));
	EMIT(copy_file_range(in, NULL, out, NULL, 5000, 0));
	EMIT(lseek(in, 0, SEEK_CUR));
	EMIT(lseek(out, 0, SEEK_CUR));
	EMIT(copy_file_range(in, NULL, out, NULL, 5000, 0));
	EMIT(copy(in, 100000, out, 0, 10));
	EMIT(copy(in, 200000, out, 0, 10));
	EMIT(copy(in, 0, out, 200000, 0));
	EMIT(copy(in, 0, out, 0, 100000));
	emit_content("out", out);
	EMIT(copy(in, 0, in, 50000, 50000));
	EMIT(copy(in, 0, in, 200000, 1000));
	EMIT(copy(in, 0, in, 10, 1000));
	EMIT(copy(in, 10, in, 0, 1000));
	EMIT(copy(in, 5, in, 5, 10));
	EMIT(copy(in, 0, opened("in", O_WRONLY), 10, 1000));
	EMIT(copy(in, 0, in, 0, SIZE_MAX));
	EMIT(ftruncate(out, (off_t)5 << 30));
	EMIT(copy(in, 0, out, (off_t)5 << 30, 5000));
	EMIT(copy(out, (off_t)5 << 30, in, 0, 5000));
	emit_content("in", in);
}

static void copies_refused(void)
{
	int in = make("in", 5000), out = make("out", 5000), dir = opened(".", O_RDONLY);
	int rd = opened("out", O_RDONLY), wr = opened("in", O_WRONLY), ends[2];
	off_t from = 0;

	must(pipe(ends));
	EMIT(copy(in, 0, rd, 0, 10));
	EMIT(copy(wr, 0, out, 0, 10));
	EMIT(copy(in, 0, opened("out", O_WRONLY | O_APPEND), 0, 10));
	EMIT(copy(in, 0, opened("out", O_PATH), 0, 10));
	EMIT(copy(dir, 0, out, 0, 10));
	EMIT(copy(in, 0, dir, 0, 10));
	EMIT(copy_file_range(in, &from, ends[1], NULL, 10, 0));
	EMIT(copy_file_range(ends[0], NULL, out, &from, 10, 0));
	EMIT(copy_file_range(in, NULL, out, NULL, 10, 1));
	EMIT(copy(in, -1, out, 0, 10));
	EMIT(copy(in, 0, out, -1, 10));
	EMIT(copy(in, LONG_MAX, out, 0, 10));
	EMIT(copy(in, 0, out, LONG_MAX, 10));
	EMIT(copy_file_range(in, nowhere, out, NULL, 10, 0));
	EMIT(copy(in, 0, out, (off_t)1 << 50, 10));
	EMIT(copy(999, 0, out, 0, 10));
	EMIT(ftruncate(out, 5000)); /* not every file system ends before 2^50 */
	emit_content("out", out);
}

/* ---- pipes and sendfile ---- */

static void pipes(void)
{
	int in = make("in", 40000), out = make("out", 10), append, ends[2];
	off_t at = 5000, to = 7000;

	must(pipe2(ends, O_NONBLOCK));
	EMIT(splice(in, NULL, ends[1], NULL, 10000, 0));
	EMIT(lseek(in, 0, SEEK_CUR));
	EMIT(splice(ends[0], NULL, out, NULL, 10000, 0));
	EMIT(splice(in, &at, ends[1], NULL, 3000, 0));
	EMIT(splice(ends[0], NULL, out, &to, 3000, 0));
	say("offsets", "%ld %ld", (long)at, (long)to);
	at = 39000;
	EMIT(splice(in, &at, ends[1], NULL, 3000, 0));
	EMIT(splice(in, &at, ends[1], NULL, 3000, 0));
	append = opened("out", O_WRONLY | O_APPEND);
	EMIT(splice(ends[0], NULL, append, NULL, 1000, 0));
	EMIT(splice(in, NULL, out, NULL, 1000, 0));
	EMIT(splice(ends[0], NULL, out, NULL, 100, 0));
	emit_content("out", out);
	at = 100;
	EMIT(sendfile(out, in, &at, 20000));
	EMIT(sendfile(out, in, NULL, 50000));
	EMIT(sendfile(out, in, NULL, 50000));
	at = -1;
	EMIT(sendfile(out, in, &at, 10));
	at = 50000;
	EMIT(sendfile(out, in, &at, 10));
	EMIT(sendfile(append, in, &at, 10));
	EMIT(sendfile(opened("out", O_RDONLY), in, NULL, 10));
	emit_content("out", out);
}

/* What has just been written is what sendfile sends, also when it has sent the old before. */
static void pipes_see_writes(void)
{
	int in = make("in", PAGE), out = make("out", 0);
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, in, 0);
	off_t at = 0;

	EMIT(sendfile(out, in, &at, PAGE));
	must(pwrite(in, "written", 7, 100));
	at = 0;
	EMIT(sendfile(out, in, &at, PAGE));
	memcpy(p + 200, "stored", 6);
	at = 0;
	EMIT(sendfile(out, in, &at, PAGE));
	must(pwrite(opened("in", O_WRONLY), "elsewhere", 9, 300));
	at = 0;
	EMIT(sendfile(out, in, &at, PAGE));
	emit_content("out", out);
}

/* ---- advice and safety ---- */

static void advice(void)
{
	int fd = make("f", 100000), ends[2];

	must(pipe(ends));
	for (int i = -1; i < 8; i++) {
		say("advice", "%d", i);
		EMIT(posix_fadvise(fd, 0, 0, i));
		EMIT(posix_fadvise(fd, 5000, 10000, i));
		EMIT(posix_fadvise(ends[0], 0, 0, i));
		EMIT(posix_fadvise(fd, 0, -1, i));
	}
	EMIT(readahead(fd, 0, 50000));
	EMIT(readahead(ends[0], 0, 50000));
	EMIT(readahead(opened("f", O_WRONLY), 0, 50000));
	EMIT(readahead(opened(".", O_RDONLY), 0, 50000));
	emit_content("f", fd);
}

static void syncs(void)
{
	int fd = make("f", 100000), rd = opened("f", O_RDONLY), dir = opened(".", O_RDONLY),
	    ends[2];

	must(pipe(ends));
	EMIT(fsync(fd));
	EMIT(fdatasync(fd));
	EMIT(fsync(rd));
	EMIT(fsync(dir));
	EMIT(fdatasync(dir));
	EMIT(fsync(ends[1]));
	EMIT(fsync(opened("f", O_PATH)));
	EMIT(syncfs(fd));
	EMIT(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
	EMIT(sync_file_range(fd, 5000, 5000,
		SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER));
	EMIT(sync_file_range(fd, 0, 0, 64));
	EMIT(sync_file_range(fd, -1, 0, 0));
	EMIT(sync_file_range(ends[1], 0, 0, 0));
	EMIT(sync_file_range(dir, 0, 0, 0));
	fd = opened("g", O_WRONLY | O_CREAT | O_SYNC);
	EMIT(write(fd, data, 5000));
	fd = opened("g", O_WRONLY | O_DSYNC);
	EMIT(pwrite(fd, data, 5000, 3));
	must(unlink("g"));
	EMIT(fsync(fd));
	mkdir("d", 0755);
	dir = opened("d", O_RDONLY);
	must(rmdir("d"));
	EMIT(fsync(dir));
}

/* ---- opening ---- */

static void emit_open(const char *what, const char *path, int flags, mode_t mode)
{
	int fd = open(path, flags, mode);

	if (fd < 0) {
		say(what, "%s", strerrorname_np(errno));
		return;
	}
	say(what, "flags %x", fcntl(fd, F_GETFL) & ~O_LARGEFILE);
	close(fd);
}

#define EMIT_OPEN(path, flags) emit_open("open " #path " " #flags, path, flags, 0644)

static void open_links(void)
{
	EMIT_OPEN("link", O_RDONLY | O_NOFOLLOW);
	EMIT_OPEN("link", O_PATH | O_NOFOLLOW);
	EMIT_OPEN("link", O_CREAT | O_EXCL);
	EMIT_OPEN("link", O_CREAT);
	EMIT_OPEN("link/", O_RDONLY);
	EMIT_OPEN("dangling", O_RDONLY);
	EMIT_OPEN("dangling", O_CREAT | O_EXCL);
	EMIT_OPEN("dangling", O_CREAT | O_NOFOLLOW);
	EMIT_OPEN("dangling", O_CREAT | O_WRONLY);
}

/* Of 255 bytes, which are allowed, and of one more. */
static void open_long_names(void)
{
	char name[300];

	memset(name, 'n', sizeof(name));
	name[255] = '\0';
	emit_open("of 255 bytes", name, O_CREAT | O_RDWR, 0644);
	EMIT(unlink(name));
	name[255] = 'n';
	name[256] = '\0';
	emit_open("of 256 bytes", name, O_CREAT | O_RDWR, 0644);
	EMIT(mkdir(name, 0755));
}

static void openings(void)
{
	close(make("f", 100));
	mkdir("dir", 0755);
	symlink("f", "link");
	symlink("nothing", "dangling");
	symlink("loop", "loop");
	EMIT_OPEN("f", O_RDONLY);
	EMIT_OPEN("f", O_WRONLY | O_APPEND);
	EMIT_OPEN("f", O_RDWR | O_NONBLOCK | O_SYNC | O_NOATIME | O_CLOEXEC | O_NOCTTY);
	EMIT_OPEN("f", O_RDWR | O_DSYNC | O_DIRECT | O_ASYNC);
	EMIT_OPEN("f", 3);
	EMIT_OPEN("f", O_PATH | O_RDWR | O_TRUNC);
	EMIT_OPEN("f", O_DIRECTORY);
	EMIT_OPEN("f", O_EXCL);
	EMIT_OPEN("f", O_CREAT | O_EXCL);
	EMIT_OPEN("f", O_CREAT | O_DIRECTORY);
	EMIT_OPEN("f/", O_RDONLY);
	EMIT_OPEN("f/x", O_RDONLY);
	EMIT_OPEN("f/.", O_RDONLY);
	EMIT_OPEN("dir", O_RDONLY | O_DIRECTORY);
	EMIT_OPEN("dir", O_WRONLY);
	EMIT_OPEN("dir", O_RDWR);
	EMIT_OPEN("dir", O_CREAT);
	EMIT_OPEN("dir", O_CREAT | O_EXCL);
	EMIT_OPEN("dir", O_TRUNC);
	EMIT_OPEN("dir", O_RDONLY | O_DIRECT);
	EMIT_OPEN("dir/", O_RDONLY);
	open_links();
	EMIT_OPEN("nothing", O_RDONLY);
	EMIT_OPEN("loop", O_RDONLY);
	EMIT_OPEN("loop", O_CREAT);
	EMIT_OPEN("new/", O_CREAT);
	EMIT_OPEN("nodir/f", O_CREAT);
	EMIT_OPEN("", O_RDONLY);
	EMIT_OPEN("", O_CREAT);
	EMIT_OPEN(".", O_CREAT);
	EMIT_OPEN("..", O_RDONLY);
	EMIT_OPEN("dir", O_TMPFILE);
	EMIT_OPEN("dir", O_TMPFILE | O_RDWR);
	EMIT_OPEN("dir", O_TMPFILE | O_RDWR | O_EXCL | O_APPEND | O_SYNC);
	EMIT_OPEN("f", O_TMPFILE | O_RDWR);
	EMIT_OPEN("nothing here", O_TMPFILE | O_RDWR);
	open_long_names();
	emit_open("without rights", "closed", O_CREAT | O_RDWR, 0);
	EMIT_OPEN("closed", O_RDWR);
}

static void of_fifos(void)
{
	struct stat st;
	int rd, wr;

	EMIT(mkfifo("fifo", 0644));
	EMIT_OPEN("fifo", O_WRONLY | O_NONBLOCK);
	rd = (int)EMIT_IF(open("fifo", O_RDONLY | O_NONBLOCK));
	wr = (int)EMIT_IF(open("fifo", O_WRONLY));
	EMIT(write(wr, "abc", 3));
	EMIT(ioctl(rd, FIONREAD, &(int){ 0 }));
	EMIT(read(rd, data, 10));
	EMIT(read(rd, data, 10));
	EMIT(lseek(rd, 0, SEEK_SET));
	EMIT(ftruncate(wr, 0));
	EMIT(truncate("fifo", 0));
	EMIT(fsync(wr));
	EMIT(fstat(wr, &st));
	say("mode", "%o", st.st_mode);
	close(wr);
	EMIT(read(rd, data, 10));
	EMIT_OPEN("fifo", O_RDWR);
	EMIT(unlink("fifo"));
	wr = (int)EMIT_IF(open("/proc/self/fd/3", O_WRONLY | O_NONBLOCK));
}

/* Settings of descriptors, and questions that every regular file answers. */
static void settings(void)
{
	int fd = make("f", 1000), number = 0;
	uint64_t hint = 2;

	EMIT(lseek(fd, 100, SEEK_SET));
	EMIT(ioctl(fd, FIONREAD, &number));
	say("to be read", "%d", number);
	EMIT(ioctl(fd, FIONBIO, &(int){ 1 }));
	say("flags", "%x", fcntl(fd, F_GETFL) & ~O_LARGEFILE);
	EMIT(ioctl(fd, FIOCLEX));
	EMIT(fcntl(fd, F_GETFD));
	EMIT(ioctl(fd, 0x5401, data)); /* TCGETS */
	EMIT(isatty(fd));
	EMIT(fcntl(fd, 1036, &hint)); /* F_SET_RW_HINT */
	EMIT(fcntl(fd, 1035, &hint)); /* F_GET_RW_HINT */
	say("hint", "%lu", (long)hint);
	EMIT(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
	EMIT(fcntl(fd, F_GETPIPE_SZ));
	EMIT(fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK | O_NOATIME));
	say("flags", "%x", fcntl(fd, F_GETFL) & ~O_LARGEFILE);
	EMIT(fcntl(fd, F_SETOWN, getpid()));
	EMIT(fcntl(fd, F_SETSIG, SIGUSR1));
	EMIT(fcntl(fd, F_NOTIFY, DN_MODIFY));
	EMIT(fcntl(opened(".", O_RDONLY), F_NOTIFY, DN_MODIFY | DN_CREATE));
}

static const struct section sections[] = {
	{ "vectors", vectors },
	{ "bad_buffers", bad_buffers },
	{ "positions", positions },
	{ "too_far", too_far },
	{ "limit", limit },
	{ "limit_of_copies", limit_of_copies },
	{ "appends", appends },
	{ "append_later", append_later },
	{ "flags_of_writes", flags_of_writes },
	{ "direct", direct },
	{ "direct_odd", direct_odd },
	{ "holes", holes },
	{ "allocation", allocation },
	{ "allocation_refused", allocation_refused },
	{ "stale_data", stale_data },
	{ "copies", copies },
	{ "copies_refused", copies_refused },
	{ "pipes", pipes },
	{ "pipes_see_writes", pipes_see_writes },
	{ "advice", advice },
	{ "syncs", syncs },
	{ "openings", openings },
	{ "of_fifos", of_fifos },
	{ "settings", settings },
};

int main(int argc, char **argv)
{
	(void)argc;
	return run_sections(sections, COUNT(sections), argv);
}
