/* SPDX-License-Identifier: MIT */

/*
 * load --clients N --seconds S --kills-per-second K --seed N DIR: clients that each work in a directory of
 * their own and know every byte that is in it.  Nothing may fail, and nothing may be read that was not
 * written.  Some are killed, wherever they are; others begin in their place.
 *
 * Prints what was done: "clients N operations N bytes N kills N wrong N".  Ends with 1 if anything was wrong.
 */

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rng.h"

#define CLIENTS 256
#define FILES 6
#define ROOM 40000

static struct {
	_Atomic long operations, bytes, wrong;
} *shared;

struct file {
	int generation; /* of its name; 0: not there */
	long size;
	unsigned char bytes[ROOM];
};

static struct file files[FILES];
static unsigned char buffer[ROOM];

static void is_wrong(const char *what, const char *name)
{
	if (atomic_fetch_add(&shared->wrong, 1) < 20)
		printf("%s '%s': %s\n", what, name, strerror(errno));
	fflush(stdout);
}

static void name_of(int i, char *out, size_t size)
{
	snprintf(out, size, "f%d.%d", i, files[i].generation);
}

/* What has not been there before comes into being. */
static int open_file(int i, int flags)
{
	char name[40];
	int fd;

	if (!files[i].generation)
		files[i].generation = 1;
	name_of(i, name, sizeof(name));
	fd = open(name, flags | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		is_wrong("open", name);
	return fd;
}

static void check(const char *what, int i, const unsigned char *got, long n)
{
	char name[40];

	atomic_fetch_add(&shared->bytes, n > 0 ? n : 0);
	name_of(i, name, sizeof(name));
	if (n != files[i].size || (n > 0 && memcmp(got, files[i].bytes, (size_t)n)))
		is_wrong(what, name);
}

static void do_read(int i)
{
	int fd = open_file(i, O_RDWR);
	long n = 0, r;

	while (fd >= 0 && (r = read(fd, buffer + n, (size_t)(one_in(2) ? ROOM - n : below(5000) + 1))) > 0 && n + r < ROOM)
		n += r;
	if (fd >= 0)
		check("read", i, buffer, n);
	close(fd);
}

static void do_map(int i)
{
	int fd = open_file(i, O_RDWR);
	unsigned char *at = files[i].size && fd >= 0
		? mmap(NULL, (size_t)files[i].size, PROT_READ, MAP_SHARED, fd, 0) : NULL;

	if (at == MAP_FAILED)
		is_wrong("mmap", "");
	else if (at) {
		check("mapping", i, at, files[i].size);
		munmap(at, (size_t)files[i].size);
	}
	close(fd);
}

static void do_write(int i)
{
	long offset = below(files[i].size + 1), n = below(one_in(3) ? 8000 : 300) + 1;
	int fd = open_file(i, O_RDWR);

	if (offset + n >= ROOM)
		offset = 0;
	for (long k = 0; k < n; k++)
		files[i].bytes[offset + k] = (unsigned char)random_bits();
	if (fd >= 0 && pwrite(fd, files[i].bytes + offset, (size_t)n, offset) != n)
		is_wrong("write", "");
	if (offset + n > files[i].size)
		files[i].size = offset + n;
	if (one_in(30) && fsync(fd) < 0)
		is_wrong("fsync", "");
	atomic_fetch_add(&shared->bytes, n);
	close(fd);
}

static void do_truncate(int i)
{
	long size = below(files[i].size + 1);
	int fd = open_file(i, O_RDWR);

	if (fd >= 0 && ftruncate(fd, size) < 0)
		is_wrong("truncate", "");
	files[i].size = size;
	close(fd);
}

static void do_rename(int i)
{
	char from[40], to[40];

	close(open_file(i, O_RDWR));
	name_of(i, from, sizeof(from));
	files[i].generation++;
	name_of(i, to, sizeof(to));
	if (rename(from, to) < 0)
		is_wrong("rename", from);
	if (access(from, F_OK) == 0)
		is_wrong("is still there", from);
}

static void do_unlink(int i)
{
	char name[40];
	struct stat st;

	close(open_file(i, O_RDWR));
	name_of(i, name, sizeof(name));
	if (stat(name, &st) < 0 || st.st_size != files[i].size)
		is_wrong("stat", name);
	if (unlink(name) < 0)
		is_wrong("unlink", name);
	files[i].size = files[i].generation = 0;
}

static void (*const operations[])(int i) = { do_read, do_read, do_read, do_write, do_write, do_write, do_map,
	do_truncate, do_rename, do_unlink };

static void work(const char *top, int number, uint64_t seed)
{
	char dir[80];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rng_state = seed;
	snprintf(dir, sizeof(dir), "client%d.%llu", number, (unsigned long long)seed);
	if (chdir(top) < 0 || mkdir(dir, 0755) < 0 || chdir(dir) < 0) {
		is_wrong("mkdir", dir);
		_exit(1);
	}
	for (;;) {
		operations[below(sizeof(operations) / sizeof(operations[0]))]((int)below(FILES));
		atomic_fetch_add(&shared->operations, 1);
	}
}

static pid_t start(const char *top, int number, uint64_t seed)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0)
		work(top, number, seed);
	return pid;
}

static void end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		is_wrong("the end", "a client");
}

int main(int argc, char **argv)
{
	static const struct option known[] = { { "clients", 1, NULL, 'c' }, { "seconds", 1, NULL, 's' },
		{ "kills-per-second", 1, NULL, 'k' }, { "seed", 1, NULL, 'r' }, { 0 } };
	long clients = 64, seconds = 20, kills = 0, per_second = 5;
	pid_t pids[CLIENTS];
	uint64_t seed = 1;
	time_t until;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
		switch (option) {
		case 'c': clients = atol(optarg); break;
		case 's': seconds = atol(optarg); break;
		case 'k': per_second = atol(optarg); break;
		case 'r': seed = strtoull(optarg, NULL, 0); break;
		default: return 2;
		}
	if (optind + 1 != argc || clients < 1 || clients > CLIENTS || per_second < 1)
		errx(2, "usage: load [options] DIR");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(1, "mmap");
	rng_state = seed *= 1000003;
	for (int i = 0; i < clients; i++)
		pids[i] = start(argv[optind], i, ++seed);
	for (until = time(NULL) + seconds; time(NULL) < until; kills++) {
		int victim = (int)below(clients);

		usleep((useconds_t)(1000000 / per_second));
		end(pids[victim]);
		pids[victim] = start(argv[optind], victim, ++seed);
	}
	for (int i = 0; i < clients; i++)
		end(pids[i]);
	printf("clients %ld operations %ld bytes %ld kills %ld wrong %ld\n", clients,
		atomic_load(&shared->operations), atomic_load(&shared->bytes), kills,
		atomic_load(&shared->wrong));
	return atomic_load(&shared->wrong) != 0;
}
