/* SPDX-License-Identifier: MIT */

/* Files that are mapped: see regress.h. */

#include "regress.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <sys/resource.h>

static char data[64 * PAGE];

/* ---- touching memory that may not be there ---- */

static sigjmp_buf back;

static void on_fault(int sig)
{
	siglongjmp(back, sig);
}

static void catch_faults(void)
{
	const struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

static void emit_fault(const char *what, int sig, int value)
{
	if (sig)
		say(what, "SIG%s", sigabbrev_np(sig));
	else
		say(what, "%d", value);
}

static void load(const char *what, const volatile unsigned char *p)
{
	volatile int value = 0;
	int sig = sigsetjmp(back, 1);

	if (sig == 0)
		value = *p;
	emit_fault(what, sig, value);
}

static void store(const char *what, volatile unsigned char *p, unsigned char value)
{
	int sig = sigsetjmp(back, 1);

	if (sig == 0)
		*p = value;
	emit_fault(what, sig, value);
}

#define LOAD(p) load("load " #p, p)
#define STORE(p, value) store("store " #p, p, value)

static unsigned char *shared(int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	must((long)p);
	return p;
}

static unsigned char *readable(int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	must((long)p);
	return p;
}

/* ---- times ----
 * Not that of the last access: mmap(2), by which it is changed, is not told to a file system. */

static int store_and_unmap(int fd)
{
	unsigned char *p = shared(fd, 2 * PAGE);

	p[5] ^= 1;
	return munmap(p, 2 * PAGE);
}

static int store_and_sync(unsigned char *p)
{
	p[PAGE + 7] ^= 1;
	return msync(p, 2 * PAGE, MS_SYNC);
}

static int store_and_fsync(unsigned char *p, int fd)
{
	p[9] ^= 1;
	return fsync(fd);
}

static int load_all(const unsigned char *p)
{
	volatile int sum = 0;

	for (int i = 0; i < 2 * PAGE; i += 100)
		sum += p[i];
	(void)sum;
	return 0;
}

static void times(void)
{
	int fd = make("f", 2 * PAGE);
	unsigned char *p;

	EMIT_CHANGED("f", store_and_unmap(fd));
	EMIT_CHANGED("f", store_and_unmap(fd));
	p = shared(fd, 2 * PAGE);
	EMIT_CHANGED("f", load_all(p));
	EMIT_CHANGED("f", store_and_sync(p));
	EMIT_CHANGED("f", store_and_sync(p));
	EMIT_CHANGED("f", msync(p, 2 * PAGE, MS_SYNC));
	EMIT_CHANGED("f", store_and_fsync(p, fd));
	EMIT_CHANGED("f", munmap(p, 2 * PAGE));
	p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	EMIT_CHANGED("f", store_and_sync(p));
	EMIT_CHANGED("f", munmap(p, 2 * PAGE));
	EMIT_CHANGED("f", close(fd));
	emit_file("f");
}

/* The file is closed and opened again: what was stored and when must not be forgotten. */
static void times_after_close(void)
{
	struct stat was, is;
	int fd = make("f", 2 * PAGE);
	unsigned char *p = shared(fd, 2 * PAGE);

	must(stat("f", &was));
	close(fd);
	tick();
	p[1] = 99;
	must(munmap(p, 2 * PAGE));
	must(stat("f", &is));
	emit_changed("stored after close, unmapped", &was, &is);
	emit_file("f");
	p = shared(fd = (int)must(open("f", O_RDWR)), 2 * PAGE);
	must(fstat(fd, &was));
	tick();
	p[1] = 98;
	must(msync(p, PAGE, MS_SYNC));
	must(fstat(fd, &is));
	emit_changed("stored and synced, by fstat", &was, &is);
}

/* ---- one file, many ways to it ---- */

static void coherence(void)
{
	static char buf[PAGE] __attribute__((aligned(PAGE)));
	int fd = make("f", 4 * PAGE), other = (int)must(open("f", O_RDWR));
	int direct = (int)EMIT_IF(open("f", O_RDWR | O_DIRECT));
	unsigned char *p = shared(fd, 4 * PAGE), *q = readable(other, 4 * PAGE);

	memcpy(p + 100, "by mapping", 10);
	EMIT(memcmp(q + 100, "by mapping", 10));
	EMIT(pread(fd, buf, PAGE, 0));
	EMIT(memcmp(buf + 100, "by mapping", 10));
	EMIT(pread(other, buf, 10, 100));
	EMIT(memcmp(buf, "by mapping", 10));
	EMIT(pread(direct, buf, PAGE, 0));
	EMIT(memcmp(buf + 100, "by mapping", 10));
	EMIT(pwrite(other, "by write", 8, PAGE + 3));
	EMIT(memcmp(p + PAGE + 3, "by write", 8));
	EMIT(memcmp(q + PAGE + 3, "by write", 8));
	memset(buf, 'D', PAGE);
	EMIT(pwrite(direct, buf, PAGE, 2 * PAGE));
	EMIT(memcmp(p + 2 * PAGE, buf, PAGE));
	EMIT(memcmp(q + 2 * PAGE, buf, PAGE));
	p[3 * PAGE] = 7; /* dirty, when the file is written beside it */
	EMIT(pwrite(fd, "beside", 6, 3 * PAGE + 10));
	p[3 * PAGE + 1] = 8;
	EMIT(pread(other, buf, PAGE, 3 * PAGE));
	say("beside", "%d %d %.6s", buf[0], buf[1], buf + 10);
	EMIT(pwrite(direct, buf, PAGE, 0));
	EMIT(memcmp(p, buf, PAGE));
	EMIT(msync(p, 4 * PAGE, MS_SYNC));
	emit_content("f", fd);
	emit_content("f, by the other descriptor", other);
}

/* A file grows through one descriptor while it is mapped through another. */
static void growth(void)
{
	int fd = make("f", 10), other = (int)must(open("f", O_RDWR));
	unsigned char *p = shared(fd, 4 * PAGE);

	catch_faults();
	LOAD(p + 9);
	LOAD(p + 10);
	LOAD(p + PAGE);
	EMIT(pwrite(other, "more", 4, PAGE + 1));
	LOAD(p + PAGE);
	LOAD(p + PAGE + 1);
	LOAD(p + 2 * PAGE);
	EMIT(ftruncate(other, 4 * PAGE));
	STORE(p + 3 * PAGE, 3);
	STORE(p + 4 * PAGE - 1, 4);
	EMIT(msync(p, 4 * PAGE, MS_SYNC));
	emit_content("f", other);
}

/* ---- the end of the file ---- */

static void beyond_the_end(void)
{
	int fd = make("f", PAGE + 100);
	unsigned char *p = shared(fd, 3 * PAGE);

	catch_faults();
	LOAD(p + PAGE + 99);
	LOAD(p + PAGE + 100);
	LOAD(p + 2 * PAGE - 1);
	LOAD(p + 2 * PAGE);
	STORE(p + 2 * PAGE, 1);
	STORE(p + PAGE + 200, 77); /* in the last page, but beyond the end: of no file */
	EMIT(msync(p, 3 * PAGE, MS_SYNC));
	emit_content("f", fd);
	EMIT(ftruncate(fd, 3 * PAGE));
	LOAD(p + PAGE + 200);
	emit_content("f, longer", fd);
	EMIT(ftruncate(fd, 50));
	LOAD(p + 49);
	LOAD(p + 50);
	LOAD(p + PAGE);
	STORE(p + PAGE, 1);
	EMIT(ftruncate(fd, 2 * PAGE));
	LOAD(p + 50);
	LOAD(p + PAGE);
	STORE(p + PAGE, 5);
	EMIT(msync(p, 2 * PAGE, MS_SYNC));
	emit_content("f, again", fd);
}

/* A process truncates a file again and again that another one reads by a mapping. */
static void truncated_meanwhile(void)
{
	enum { TURNS = 300 };
	int fd = make("f", 4 * PAGE), status;
	pid_t pid;
	unsigned char *p;
	volatile long faults = 0, zeros = 0, others = 0, turn;

	pid = (pid_t)must(fork());
	if (pid == 0) {
		memset(data, 'x', sizeof(data));
		for (int i = 0; i < TURNS; i++) {
			must(ftruncate(fd, PAGE));
			must(pwrite(fd, data, 3 * PAGE, PAGE));
		}
		_exit(0);
	}
	catch_faults();
	p = readable(fd, 4 * PAGE);
	for (turn = 0; waitpid(pid, &status, WNOHANG) == 0; turn++) {
		if (sigsetjmp(back, 1) != 0) {
			faults++;
			continue;
		}
		if (p[3 * PAGE + turn % PAGE] == 'x' || p[3 * PAGE + turn % PAGE] == 0)
			zeros++;
		else if (turn > 0)
			others++; /* what make() wrote may be seen before the first turn */
	}
	/* How often differs from run to run. */
	say("the other process", "%d", WEXITSTATUS(status));
	emit_content("f", fd);
	LOAD(p + 4 * PAGE - 1);
}

/* ---- what may be mapped how ---- */

static void mapped_as(const char *how, int fd, int prot, int flags)
{
	void *p = mmap(NULL, PAGE, prot, flags, fd, 0);

	emit_if(how, (long)p);
	if (p == MAP_FAILED)
		return;
	EMIT(mprotect(p, PAGE, PROT_READ | PROT_WRITE));
	EMIT(mprotect(p, PAGE, PROT_READ | PROT_EXEC));
	munmap(p, PAGE);
}

static void kinds(void)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_APPEND, O_PATH };

	close(make("f", PAGE));
	for (size_t i = 0; i < COUNT(modes); i++) {
		int fd = (int)must(open("f", modes[i]));

		say("mode", "%zu", i);
		mapped_as("shared, to read", fd, PROT_READ, MAP_SHARED);
		mapped_as("shared, to write", fd, PROT_WRITE, MAP_SHARED);
		mapped_as("shared, both", fd, PROT_READ | PROT_WRITE, MAP_SHARED);
		mapped_as("private, to read", fd, PROT_READ, MAP_PRIVATE);
		mapped_as("private, both", fd, PROT_READ | PROT_WRITE, MAP_PRIVATE);
		mapped_as("validated", fd, PROT_READ, MAP_SHARED_VALIDATE);
		mapped_as("populated", fd, PROT_READ, MAP_SHARED | MAP_POPULATE);
		mapped_as("none", fd, PROT_NONE, MAP_SHARED);
		close(fd);
	}
}

static void refusals(void)
{
	int fd = make("f", PAGE), dir = (int)must(open(".", O_RDONLY));

	EMIT_IF(mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0));
	EMIT_IF(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 100));
	EMIT_IF(mmap(NULL, PAGE, PROT_READ, 0, fd, 0));
	EMIT_IF(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, dir, 0));
	EMIT_IF(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, dir, 0));
	EMIT_IF(mmap(NULL, PAGE, PROT_READ, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0));
	EMIT_IF(mmap(NULL, PAGE, PROT_READ, MAP_SHARED_VALIDATE | 0x80000000, fd, 0));
	EMIT_IF(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, (off_t)1 << 50));
	EMIT_IF(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, -1, 0));
}

/* A store goes to no page of a file that is open for appending only at its end. */
static void appended(void)
{
	int fd = make("f", 2 * PAGE), append = (int)must(open("f", O_RDWR | O_APPEND));
	unsigned char *p = shared(append, 2 * PAGE);

	p[10] = 99;
	EMIT(msync(p, PAGE, MS_SYNC));
	emit_content("f", fd);
	EMIT(write(append, "end", 3));
	p[PAGE] = 98;
	EMIT(munmap(p, 2 * PAGE));
	emit_content("f", fd);
}

/* A mapping of a file opened read-only and one of the same file opened to write. */
static void read_only_shared(void)
{
	int fd = make("f", PAGE), reader = (int)must(open("f", O_RDONLY));
	unsigned char *p = shared(fd, PAGE), *q = readable(reader, PAGE);
	unsigned char *r = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, reader, 0);

	catch_faults();
	STORE(p + 3, 200);
	LOAD(q + 3);
	LOAD(r + 3);
	STORE(r + 4, 201);
	LOAD(p + 4);
	STORE(p + 5, 202);
	LOAD(q + 5);
	STORE(q + 5, 1);
	close(fd);
	close(reader);
	STORE(p + 6, 203);
	LOAD(q + 6);
	EMIT(munmap(p, PAGE));
	LOAD(q + 6);
	emit_file("f");
}

static void unlinked(void)
{
	int fd = make("f", PAGE), again;
	unsigned char *p = shared(fd, 2 * PAGE);
	struct stat st;
	char path[64];

	catch_faults();
	EMIT(unlink("f"));
	STORE(p + 10, 42);
	EMIT(msync(p, PAGE, MS_SYNC));
	EMIT(ftruncate(fd, 2 * PAGE));
	STORE(p + PAGE + 10, 43);
	EMIT(fstat(fd, &st));
	say("links and size", "%lu %ld", (long)st.st_nlink, (long)st.st_size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = (int)EMIT_IF(open(path, O_RDWR));
	emit_content("again", again);
	close(fd);
	close(again);
	LOAD(p + 10);
	LOAD(p + PAGE + 10);
	STORE(p + PAGE + 11, 44);
	EMIT(msync(p, 2 * PAGE, MS_SYNC));
	LOAD(p + PAGE + 11);
	EMIT(munmap(p, 2 * PAGE));
	EMIT_IF(open("f", O_RDONLY));
}

/* Another file of the same name does not become the one that is mapped. */
static void replaced(void)
{
	int fd = make("f", PAGE), other = make("g", PAGE);
	unsigned char *p = shared(fd, PAGE), *q;

	must(pwrite(other, "other", 5, 0));
	EMIT(rename("g", "f"));
	memcpy(p + 100, "old", 3);
	q = readable((int)must(open("f", O_RDONLY)), PAGE);
	EMIT(memcmp(q, "other", 5));
	EMIT(memcmp(q + 100, "old", 3) != 0);
	EMIT(msync(p, PAGE, MS_SYNC));
	emit_content("old", fd);
	emit_file("f");
}

/* ---- holes ---- */

static void holes(void)
{
	int fd = make("f", 8 * PAGE);
	unsigned char *p = shared(fd, 8 * PAGE);

	catch_faults();
	LOAD(p + 2 * PAGE);
	EMIT(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * PAGE - 100, PAGE + 200));
	LOAD(p + 2 * PAGE - 101);
	LOAD(p + 2 * PAGE - 100);
	LOAD(p + 2 * PAGE);
	LOAD(p + 3 * PAGE + 99);
	LOAD(p + 3 * PAGE + 100);
	STORE(p + 2 * PAGE + 5, 50); /* dirty, when the hole is made */
	EMIT(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * PAGE, PAGE));
	LOAD(p + 2 * PAGE + 5);
	STORE(p + 5 * PAGE, 51);
	EMIT(fallocate(fd, FALLOC_FL_ZERO_RANGE, 5 * PAGE, 100));
	LOAD(p + 5 * PAGE);
	LOAD(p + 5 * PAGE + 100);
	EMIT(msync(p, 8 * PAGE, MS_SYNC));
	emit_content("f", fd);
	EMIT(madvise(p + 6 * PAGE, PAGE, MADV_REMOVE));
	LOAD(p + 6 * PAGE);
	LOAD(p + 7 * PAGE);
	emit_content("f, removed", fd);
	EMIT(fallocate(fd, FALLOC_FL_ZERO_RANGE, 7 * PAGE, 2 * PAGE));
	emit_content("f, longer", fd);
}

/* Space that was only reserved reads as zero, and holds what is stored there. */
static void reserved(void)
{
	int fd = (int)must(open("f", O_RDWR | O_CREAT, 0644));
	unsigned char *p;

	catch_faults();
	EMIT(fallocate(fd, 0, 0, 16 * PAGE));
	p = shared(fd, 16 * PAGE);
	LOAD(p + 3 * PAGE);
	STORE(p + 3 * PAGE + 1, 9);
	EMIT(pwrite(fd, "x", 1, 7 * PAGE));
	LOAD(p + 7 * PAGE);
	LOAD(p + 7 * PAGE + 1);
	EMIT(msync(p, 16 * PAGE, MS_SYNC));
	emit_content("f", fd);
	EMIT(lseek(fd, 0, SEEK_DATA));
	EMIT(munmap(p, 16 * PAGE));
}

static void far_away(void)
{
	const off_t far = ((off_t)5 << 30) + PAGE;
	int fd = (int)must(open("f", O_RDWR | O_CREAT, 0644));
	unsigned char *p;
	char c[3];

	EMIT(ftruncate(fd, far + PAGE));
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, far);
	must((long)p);
	memcpy(p + 17, "far", 3);
	EMIT(pread(fd, c, 3, far + 17));
	say("there", "%.3s", c);
	EMIT(munmap(p, PAGE));
	EMIT(lseek(fd, far, SEEK_DATA));
	EMIT((lseek(fd, 0, SEEK_DATA) + (1 << 19)) >> 20); /* what the kernel reads around a page counts as data */
	EMIT(lseek(fd, far, SEEK_HOLE));
}

/* ---- calls about mappings ---- */

static void moved(void)
{
	int fd = make("f", 4 * PAGE);
	unsigned char *p = shared(fd, PAGE), *q;

	catch_faults();
	q = mremap(p, PAGE, 5 * PAGE, MREMAP_MAYMOVE);
	emit_if("mremap", (long)q);
	LOAD(q + 3 * PAGE);
	LOAD(q + 4 * PAGE);
	STORE(q + 2 * PAGE, 90);
	p = mremap(q, 0, 2 * PAGE, MREMAP_MAYMOVE); /* a second one of the same pages */
	emit_if("mremap of nothing", (long)p);
	STORE(p + PAGE, 91);
	LOAD(q + PAGE);
	q = mremap(q, 5 * PAGE, 3 * PAGE, 0);
	LOAD(q + 2 * PAGE);
	LOAD(q + 4 * PAGE);
	EMIT(remap_file_pages(q, PAGE, 0, 1, 0));
	LOAD(q);
	EMIT(munmap(q, 3 * PAGE));
	EMIT(munmap(p, 2 * PAGE));
	emit_content("f", fd);
}

static void advised(void)
{
	static const int advices[] = { MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
		MADV_DONTNEED, MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ, MADV_POPULATE_WRITE,
		MADV_FREE, MADV_MERGEABLE, MADV_DONTFORK, MADV_DOFORK, MADV_DONTDUMP, 999 };
	int fd = make("f", 8 * PAGE);
	unsigned char *p = shared(fd, 8 * PAGE), *q;

	p[PAGE] = 70;
	for (size_t i = 0; i < COUNT(advices); i++) {
		say("advice", "%zu", i);
		EMIT(madvise(p, 8 * PAGE, advices[i]));
		LOAD(p + PAGE);
		LOAD(p + 3 * PAGE);
	}
	q = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	STORE(q, 71);
	EMIT(madvise(q, PAGE, MADV_DONTNEED));
	LOAD(q);
	EMIT(madvise(q, PAGE, MADV_REMOVE));
	EMIT(madvise(p + 1, PAGE, MADV_WILLNEED));
	EMIT(msync(p + 1, PAGE, MS_SYNC));
	EMIT(msync(p, PAGE, MS_SYNC | MS_ASYNC));
	EMIT(msync(p, PAGE, MS_INVALIDATE));
	EMIT(msync(p, PAGE, 64));
	EMIT(mlock(p, 2 * PAGE));
	EMIT(munlock(p, 2 * PAGE));
	EMIT(munmap(p, 8 * PAGE));
	EMIT(msync(p, PAGE, MS_SYNC));
	emit_content("f", fd);
}

/* ---- several processes ---- */

static void processes(void)
{
	int fd = make("f", PAGE), status;
	unsigned char *p = shared(fd, PAGE);
	unsigned char *q = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	pid_t pid = (pid_t)must(fork());

	if (pid == 0) {
		int own = open("f", O_RDWR);
		unsigned char *r = shared(own, PAGE);

		p[1] = 101;
		q[2] = 102;
		r[3] = 103;
		pwrite(own, "\x68", 1, 4);
		_exit(r[1] == 101 && p[4] == 0x68 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	say("the child", "%d", status);
	LOAD(p + 1);
	LOAD(q + 1);
	LOAD(q + 2);
	LOAD(p + 3);
	LOAD(p + 4);
	emit_content("f", fd);
}

enum { WRITERS = 4, ROUNDS = 400, SLOT = 64 };

/* Counts in its own slots of two pages, by stores or by writes; how often it did not see that. */
static int count(int number)
{
	int fd = open("f", O_RDWR), unseen = 0;
	unsigned char *p = shared(fd, 2 * PAGE);
	uint32_t value, seen;

	for (uint32_t i = 1; i <= ROUNDS; i++) {
		off_t at = (off_t)number * SLOT + (i & 1) * PAGE;

		if (number % 2)
			memcpy(p + at, &i, sizeof(i));
		else
			must(pwrite(fd, &i, sizeof(i), at));
		must(pread(fd, &seen, sizeof(seen), at));
		memcpy(&value, p + at, sizeof(value));
		unseen += seen != i || value != i;
	}
	return unseen < 255 ? unseen : 255;
}

/* Bytes of one page that different processes change by different means at once: none is lost. */
static void neighbours(void)
{
	int fd = make("f", 2 * PAGE), status;
	pid_t pids[WRITERS];
	uint32_t last;

	for (int i = 0; i < WRITERS; i++)
		if (must(pids[i] = fork()) == 0)
			_exit(count(i));
	for (int i = 0; i < WRITERS; i++) {
		must(waitpid(pids[i], &status, 0));
		say(i % 2 ? "stores not seen" : "writes not seen", "%d", WEXITSTATUS(status));
	}
	for (int i = 0; i < WRITERS; i++)
		for (int half = 0; half < 2; half++) {
			must(pread(fd, &last, sizeof(last), i * SLOT + half * PAGE));
			say(i % 2 ? "last store" : "last write", "%u", last);
		}
}

/* Writes its own pages of the file in its own way, again and again; how often it did not read them
 * as it had written them. */
static int rewrite(int number)
{
	static char own[PAGE] __attribute__((aligned(PAGE))),
		seen[PAGE] __attribute__((aligned(PAGE)));
	int fd = open("f", O_RDWR | (number % 3 == 2 ? O_DIRECT : 0)), wrong = 0;
	unsigned char *p = shared(fd, 4 * WRITERS * PAGE);

	for (int i = 0; i < ROUNDS / 4; i++) {
		off_t at = (off_t)(number + i % 4 * WRITERS) * PAGE;

		memset(own, number * 50 + i % 50, PAGE);
		if (number % 3 == 0)
			memcpy(p + at, own, PAGE);
		else
			must(pwrite(fd, own, PAGE, at));
		must(pread(fd, seen, PAGE, at));
		wrong += memcmp(own, seen, PAGE) != 0;
	}
	return wrong < 255 ? wrong : 255;
}

/* By mappings, by writes, and with O_DIRECT, at once, each process in pages of its own. */
static void pages_at_once(void)
{
	int fd = make("f", (size_t)4 * WRITERS * PAGE), status;
	pid_t pids[WRITERS];

	for (int i = 0; i < WRITERS; i++)
		if (must(pids[i] = fork()) == 0)
			_exit(rewrite(i));
	for (int i = 0; i < WRITERS; i++) {
		must(waitpid(pids[i], &status, 0));
		say("pages read that were not as written", "%d", WEXITSTATUS(status));
	}
	emit_content("f", fd);
	emit_file("f");
}

/* ---- a file's own pages as the buffer ---- */

static void own_pages(void)
{
	int fd = make("f", 8 * PAGE), direct = (int)must(open("f", O_RDWR | O_DIRECT));
	unsigned char *p = shared(fd, 8 * PAGE);

	EMIT(pwrite(fd, p, 2 * PAGE, 4 * PAGE));
	EMIT(pwrite(fd, p + 100, PAGE, 50)); /* over itself */
	EMIT(pread(fd, p + 6 * PAGE, PAGE, 0));
	EMIT(pwrite(direct, p, PAGE, 7 * PAGE));
	madvise(p, 8 * PAGE, MADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	EMIT(pwrite(fd, p + 3 * PAGE, PAGE, 3 * PAGE)); /* a page that is not there */
	EMIT(pread(direct, p + 2 * PAGE, PAGE, 3 * PAGE));
	EMIT(msync(p, 8 * PAGE, MS_SYNC));
	emit_content("f", fd);
}

/* A limit on the size of files is none for what is stored in pages that are there. */
static void limited(void)
{
	int fd = make("f", 4 * PAGE);
	unsigned char *p = shared(fd, 4 * PAGE);

	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ PAGE, PAGE });
	p[3 * PAGE] = 33;
	EMIT(msync(p, 4 * PAGE, MS_SYNC));
	emit_content("f", fd);
}

static const struct section sections[] = {
	{ "times", times },
	{ "times_after_close", times_after_close },
	{ "coherence", coherence },
	{ "growth", growth },
	{ "beyond_the_end", beyond_the_end },
	{ "truncated_meanwhile", truncated_meanwhile },
	{ "kinds", kinds },
	{ "refusals", refusals },
	{ "appended", appended },
	{ "read_only_shared", read_only_shared },
	{ "unlinked", unlinked },
	{ "replaced", replaced },
	{ "holes", holes },
	{ "reserved", reserved },
	{ "far_away", far_away },
	{ "moved", moved },
	{ "advised", advised },
	{ "processes", processes },
	{ "neighbours", neighbours },
	{ "pages_at_once", pages_at_once },
	{ "own_pages", own_pages },
	{ "limited", limited },
};

int main(int argc, char **argv)
{
	(void)argc;
	return run_sections(sections, COUNT(sections), argv);
}
