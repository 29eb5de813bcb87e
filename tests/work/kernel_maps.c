/* SPDX-License-Identifier: MIT */
/*
 * kernel_maps: mappings of files in the working directory, in each form, for kernel_strace: in parts, moved, over each
 * other, of files that are closed, and of programs' libraries.  Prints nothing; errors are wanted where they happen.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-result"

#define PAGE 4096UL

static int made(const char *name, off_t pages)
{
	int fd = open(name, O_RDWR | O_CREAT, 0644);

	ftruncate(fd, pages * PAGE + 100);
	return fd;
}

/* A mapping of a file of its own, which is closed. */
static char *mapped(const char *name, size_t pages, int prot, int how)
{
	int fd = made(name, pages);
	char *at = mmap(NULL, pages * PAGE, prot, how, fd, 0);

	close(fd);
	return at;
}

static void parts(void)
{
	char *at = mapped("parts", 9, PROT_READ | PROT_WRITE, MAP_SHARED);

	munmap(at + 3 * PAGE, PAGE);
	msync(at + 4 * PAGE, PAGE, MS_ASYNC);
	munmap(at, PAGE);
	msync(at + PAGE, 100, MS_SYNC);
	munmap(at + 8 * PAGE, 7);
	munmap(at, 9 * PAGE); /* the parts that are left, with nothing between them */
	munmap(at + 1, PAGE);
	msync(at, PAGE, MS_SYNC);
}

static void several(void)
{
	char *at = mapped("first", 4, PROT_READ, MAP_PRIVATE);
	int second = made("second", 4);

	mmap(at + 2 * PAGE, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, second, PAGE);
	close(second);
	mmap(at, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	munmap(at, 4 * PAGE); /* no file, the first, the second */
}

static void replaced(void)
{
	char *at = mapped("under", 2, PROT_READ, MAP_SHARED);
	int over = made("over", 2);

	mmap(at, 2 * PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, over, 0);
	close(over);
	mmap(at, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	munmap(at, 2 * PAGE);
}

static void moved(void)
{
	char *at = mapped("moved", 4, PROT_READ | PROT_WRITE, MAP_SHARED), *to;

	at = mremap(at, 4 * PAGE, 2 * PAGE, 0);
	at = mremap(at, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
	to = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	at = mremap(at + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	mremap(at, PAGE, 1L << 46, 0);
	munmap(at, PAGE);
}

static void protected(void)
{
	char *at = mapped("protected", 3, PROT_NONE, MAP_SHARED);
	int reader = open("protected", O_RDONLY);
	char *closed = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, reader, 0), *private;

	close(reader);
	mprotect(at, PAGE, PROT_READ);
	mprotect(at + PAGE, PAGE, PROT_READ | PROT_WRITE);
	at[PAGE] = 1;
	mprotect(closed, PAGE, PROT_WRITE);
	private = mapped("private", 1, PROT_READ, MAP_PRIVATE);
	mprotect(private, PAGE, PROT_READ | PROT_WRITE);
	munmap(private, PAGE);
	munmap(closed, PAGE);
	munmap(at, 3 * PAGE);
}

static void refused(void)
{
	int reader = made("refused", 1), writer = open("refused", O_WRONLY);

	close(reader);
	reader = open("refused", O_RDONLY);
	mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, reader, 0);
	mmap(NULL, PAGE, PROT_READ, MAP_SHARED, writer, 0);
	mmap(NULL, 0, PROT_READ, MAP_SHARED, reader, 0);
	mmap(NULL, PAGE, PROT_READ, MAP_SHARED, reader, 17);
	munmap(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, reader, 1L << 40), PAGE);
	close(writer);
	close(reader);
}

/* Left mapped, by a child that ends; and by us. */
static void left(void)
{
	char *at = mapped("left", 2, PROT_READ, MAP_SHARED);

	if (fork() == 0)
		_exit(at[0]);
	wait(NULL);
}

static void libraries(void)
{
	void *library = dlopen("libm.so.6", RTLD_NOW);

	if (library)
		dlclose(library);
}

static void *thread_maps(void *arg)
{
	const char *name = arg;

	for (int i = 0; i < 20; i++)
		munmap(mapped(name, 1 + i, PROT_READ, MAP_PRIVATE), (1 + i) * PAGE);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[2];

	pthread_create(&thread[0], NULL, thread_maps, (char []){ "thread0" });
	pthread_join(thread[0], NULL);
	pthread_create(&thread[1], NULL, thread_maps, (char []){ "thread1" });
	pthread_join(thread[1], NULL);
}

int main(void)
{
	parts();
	several();
	replaced();
	moved();
	protected();
	refused();
	left();
	libraries();
	threads();
	return 0;
}
