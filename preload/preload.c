/* SPDX-License-Identifier: MIT */
#include "preload/preload.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/helper.h"
#include "db/layers.h"
#include "preload/drain.h"
#include "preload/wire.h"

#define NAME "ftrac-calls-"
#define FILE_NAME "calls"
#define BUSY_NS 1000000 /* between two passes */
#define IDLE_NS 10000000

struct preload {
	char directory[64];
	char object[PATH_MAX];
	int lock; /* the directory, locked as long as we live */
	int file; /* the memory */
	struct wire_header *header;
	struct drain *drain;
	struct ring *ring;
	pthread_t thread;
	bool running;
	_Atomic bool stop, broken;
};

int preload_parse(const char *text, unsigned *ret_layers)
{
	unsigned layers = 0;
	bool known = true;

	for (const char *at = text; known; at += *at == ',') {
		size_t len = strcspn(at, ",");

		known = false;
		for (int i = 0; i < LAYER_MAX; i++)
			if (strlen(layer_names[i]) == len && memcmp(layer_names[i], at, len) == 0) {
				layers |= 1u << i;
				known = true;
			}
		at += len;
		if (!*at)
			break;
	}
	*ret_layers = layers;
	return known ? 0 : -EINVAL;
}

int preload_parse_detail(const char *text, int64_t *ret_above_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	double n = isdigit((unsigned char)text[0]) ? strtod(text, &end) : -1;

	for (size_t i = 0; n >= 0 && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].name) == 0 && n * units[i].ns >= 1 && n * units[i].ns < 1e18) {
			*ret_above_ns = (int64_t)(n * units[i].ns);
			return 0;
		}
	return -EINVAL;
}

/* ---- the object ---- */

static bool is_there(const char *path)
{
	return access(path, R_OK) == 0;
}

/* In the build tree it lies in the folder beside that of the program; else where it is installed. */
static int find_object(struct preload *preload, struct failure *failure)
{
	static const char *const places[] = { "../preload/ftrac-preload.so", PRELOAD_FROM_BIN };
	char own[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[n < 0 ? 0 : n] = '\0';
	slash = strrchr(own, '/');
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++) {
		cleanup_free char *path = NULL;

		if (asprintf(&path, "%.*s/%s", places[i][0] == '/' ? 0 : (int)(slash - own), own, places[i]) < 0)
			return failure_memory(failure);
		if (is_there(path) && realpath(path, preload->object))
			break;
		preload->object[0] = '\0';
	}
	if (!preload->object[0])
		return failure_set(failure, -ENOENT, "cannot record calls of libraries: there is no 'ftrac-preload.so' beside ftrac "
			"('%s'); install ftrac with it, which works on x86-64", PRELOAD_FROM_BIN);
	if (preload->object[strcspn(preload->object, " :")])
		return failure_set(failure, -EINVAL, "cannot record calls of libraries: the loader takes no blanks and colons in the path "
			"'%s'; install ftrac elsewhere", preload->object);
	return 0;
}

int preload_explain(struct failure *failure)
{
	struct preload preload = { 0 };

	return find_object(&preload, failure);
}

/* ---- the memory ---- */

/* The owner holds a lock as long as it lives; a process that gets it may remove what the owner left. */
static void remove_left(const char *parent, const char *name)
{
	cleanup_free char *path = NULL;
	struct stat st;
	int fd;

	if (asprintf(&path, "%s/%s", parent, name) < 0)
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && (st.st_uid == geteuid() || geteuid() == 0) && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		unlinkat(fd, FILE_NAME, 0);
		rmdir(path);
	}
	close(fd);
}

static void remove_all_left(const char *parent)
{
	DIR *dir = opendir(parent);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strncmp(entry->d_name, NAME, strlen(NAME)) == 0)
			remove_left(parent, entry->d_name);
	if (dir)
		closedir(dir);
}

static int give_to(const struct passwd *user, int dir, int file)
{
	if (!user)
		return 0;
	return fchown(dir, user->pw_uid, user->pw_gid) < 0 || fchown(file, user->pw_uid, user->pw_gid) < 0 ? -errno : 0;
}

/* All of it is allocated now: a program must not find later that there is no room. */
static int make_file(struct preload *preload, const char *path, const struct passwd *user)
{
	cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	void *map;
	int r = fd < 0 ? -errno : -posix_fallocate(fd, 0, WIRE_BYTES);

	if (r == 0)
		r = give_to(user, preload->lock, fd);
	if (r < 0)
		return r;
	map = mmap(NULL, WIRE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	preload->header = map;
	preload->file = fd;
	fd = -1;
	return 0;
}

static int make_one_place(struct preload *preload, const char *parent, const struct passwd *user)
{
	cleanup_free char *path = NULL;
	int r;

	snprintf(preload->directory, sizeof(preload->directory), "%s/" NAME "XXXXXX", parent);
	if (!mkdtemp(preload->directory)) {
		preload->directory[0] = '\0';
		return -errno;
	}
	if (asprintf(&path, "%s/" FILE_NAME, preload->directory) < 0)
		return -ENOMEM;
	preload->lock = open(preload->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = preload->lock < 0 || flock(preload->lock, LOCK_EX) < 0 ? -errno : make_file(preload, path, user);
	if (r == 0)
		return 0;
	unlink(path);
	rmdir(preload->directory);
	if (preload->lock >= 0)
		close(preload->lock);
	preload->lock = -1;
	preload->directory[0] = '\0';
	return r;
}

/* Another ftrac may take the new directory for one that was left, before it is locked. */
static int make_place(struct preload *preload, const char *parent, const struct passwd *user)
{
	int r = -ENOENT;

	remove_all_left(parent);
	for (int i = 0; i < 100 && r == -ENOENT; i++)
		r = make_one_place(preload, parent, user);
	return r;
}

static int make_memory(struct preload *preload, const char *name, struct failure *failure)
{
	const struct passwd *user = name ? getpwnam(name) : NULL;
	int r;

	if (name && !user)
		return failure_set(failure, -ENOENT, "there is no user '%s'", name);
	r = make_place(preload, "/dev/shm", user);
	if (r < 0)
		r = make_place(preload, "/tmp", user);
	return r < 0 ? failure_set(failure, r, "cannot record calls of libraries: no 32 MiB in '/dev/shm' or '/tmp': %s; make room there",
			      strerror(-r)) : 0;
}

static void fill_header(struct preload *preload, const struct preload_options *options)
{
	struct wire_header *header = preload->header;
	struct stat st = { 0 };

	header->version = WIRE_VERSION;
	header->layers = options->layers;
	header->files = options->files;
	header->drop = options->drop;
	header->detail_above_ns = options->detail_above_ns;
	header->pid_namespace = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
	header->beat_ns = clock_now_ns();
	header->magic = WIRE_MAGIC;
}

/* ---- the environment ---- */

static int set_environment(const struct preload *preload)
{
	cleanup_free char *before = helper_original_variable("LD_PRELOAD"), *all = NULL, *file = NULL;
	bool has_others = before && *before;

	if (asprintf(&all, "%s%s%s", preload->object, has_others ? ":" : "", has_others ? before : "") < 0 ||
		asprintf(&file, "%s/" FILE_NAME, preload->directory) < 0)
		return -ENOMEM;
	return setenv("LD_PRELOAD", all, 1) < 0 || setenv(WIRE_VARIABLE, file, 1) < 0 ? -errno : 0;
}

int preload_prepare(const struct preload_options *options, struct preload **ret_preload, struct failure *failure)
{
	struct preload *preload = calloc(1, sizeof(*preload));
	int r;

	if (!preload)
		return failure_memory(failure);
	preload->lock = preload->file = -1;
	r = find_object(preload, failure);
	if (r == 0)
		r = make_memory(preload, options->user, failure);
	if (r == 0) {
		fill_header(preload, options);
		r = failure_of_memory(failure, drain_create(preload->header, &preload->drain));
	}
	if (r == 0)
		r = failure_of_memory(failure, set_environment(preload));
	if (r < 0) {
		preload_destroy(preload);
		return r;
	}
	*ret_preload = preload;
	return 0;
}

const char *preload_directory(const struct preload *preload)
{
	return preload->directory;
}

const char *preload_object(const struct preload *preload)
{
	return preload->object;
}

/* ---- the thread ---- */

static void *read_calls(void *arg)
{
	struct preload *preload = arg;

	prctl(PR_SET_NAME, "ftrac-calls");
	while (!atomic_load(&preload->stop)) {
		int n = drain_pass(preload->drain, preload->ring, false);

		if (n < 0) {
			atomic_store(&preload->broken, true);
			return NULL;
		}
		nanosleep(&(struct timespec){ .tv_nsec = n ? BUSY_NS : IDLE_NS }, NULL);
	}
	return NULL;
}

/* It ends with this process, and with each descriptor of the file that is closed here.  Without it programs look into /proc. */
static void lock_file(const struct preload *preload)
{
	if (fcntl(preload->file, F_SETLK, &(struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 }) == 0)
		atomic_store(&preload->header->reader, getpid());
}

int preload_start(struct preload *preload, struct ring *ring)
{
	int r;

	preload->ring = ring;
	lock_file(preload);
	r = -pthread_create(&preload->thread, NULL, read_calls, preload);
	preload->running = r == 0;
	return r;
}

void preload_finish(struct preload *preload)
{
	int n = 1;

	if (!preload || !preload->running)
		return;
	atomic_store(&preload->stop, true);
	pthread_join(preload->thread, NULL);
	preload->running = false;
	if (atomic_load(&preload->broken)) {
		drain_end(preload->drain);
		return;
	}
	/* A program that outlives us may be in the middle of its last record; the bound is for one that writes on. */
	for (int i = 0; n > 0 && i < WIRE_CHUNKS; i++)
		n = drain_pass(preload->drain, preload->ring, true);
	if (n < 0)
		atomic_store(&preload->broken, true);
	drain_end(preload->drain);
}

void preload_destroy(struct preload *preload)
{
	cleanup_free char *file = NULL;

	if (!preload)
		return;
	preload_finish(preload);
	drain_destroy(preload->drain);
	if (preload->header)
		munmap(preload->header, WIRE_BYTES);
	if (preload->directory[0] && asprintf(&file, "%s/" FILE_NAME, preload->directory) >= 0) {
		unlink(file);
		rmdir(preload->directory);
	}
	if (preload->file >= 0)
		close(preload->file);
	if (preload->lock >= 0)
		close(preload->lock);
	free(preload);
}

struct preload_counts preload_count(const struct preload *preload)
{
	struct preload_counts counts = { 0 };

	if (!preload)
		return counts;
	counts.calls = drain_taken(preload->drain);
	counts.operations = drain_operations(preload->drain);
	counts.lost = drain_lost(preload->drain) + atomic_load(&preload->broken); /* at least one */
	counts.waited_ns = drain_waited_ns(preload->drain);
	return counts;
}
