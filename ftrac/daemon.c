/* SPDX-License-Identifier: MIT */
#include "ftrac/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/helper.h"
#include "base/mountinfo.h"
#include "base/progress.h"
#include "db/facts.h"
#include "db/recording.h"
#include "db/ring.h"
#include "db/store.h"
#include "db/writer.h"
#include "ftrac/creds.h"
#include "ftrac/defer.h"
#include "ftrac/inode.h"
#include "ftrac/locks.h"
#include "ftrac/mounts.h"
#include "ftrac/pins.h"
#include "ftrac/rights.h"
#include "ftrac/shares.h"
#include "kernel/kernel.h"
#include "preload/preload.h"
#include "serve/serve.h"

#define RING_SLOTS 65536 /* of 128 bytes */
#define START_NAPS 1000 /* of 10 ms each; normally less than one passes */
#define MAX_THREADS 512	 /* a request that blocks must not block the others */
#define MOST_FILES (1 << 30)
#define OWN_FILES 24   /* files of the daemon itself */
#define RING_FILES 2   /* and for each processor, with io_uring */
#define LEAST_FILES 16 /* files for clients, without which a mount is useless */
#define MANY_FILES 4096 /* few programs open more */
#define LEASE_THREADS 64 /* threads that wait for the holder of a lease */
#define LOCK_THREADS 2048
#define THREAD_BYTES (12 << 20) /* address space of a thread of libfuse: stack and buffer */

/* ---- start ---- */

/* Raises the soft limit to the hard limit; *ret_before is the limit that we inherited. */
static void raise_files(rlim_t *ret_before)
{
	struct rlimit files;

	*ret_before = 0;
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	*ret_before = files.rlim_cur;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static rlim_t file_limit(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur > MOST_FILES)
		return MOST_FILES;
	return files.rlim_cur;
}

/* before: the limit that we inherited, which clients have, too. */
static int check_files(const struct daemon *d, rlim_t before)
{
	rlim_t limit = file_limit(), needs = OWN_FILES + pins_reserve(limit);

	if (d->options.listen)
		needs += SERVE_FILES;
	if (d->fs.uring)
		needs += RING_FILES * (rlim_t)sysconf(_SC_NPROCESSORS_CONF);
	if (limit < needs + LEAST_FILES)
		return err_status(EXIT_OWN, "%ju open files (ulimit -Hn) are too few for a mount: ftrac needs %ju and "
			"one for each file that is open in the mount; raise the hard limit", (uintmax_t)limit,
			(uintmax_t)(needs + LEAST_FILES));
	if (before > limit - needs && limit < MANY_FILES)
		err_print("about %ju files can be open in the mount at once, fewer than the %ju that each program may "
			  "open: programs may get EMFILE earlier; raise the hard limit (ulimit -Hn)",
			(uintmax_t)(limit - needs), (uintmax_t)before);
	return 0;
}

static void raise_limits(void)
{
	struct rlimit size = { RLIM_INFINITY, RLIM_INFINITY };

	/* The kernel checks the writer's limit before it sends the request. */
	if (setrlimit(RLIMIT_FSIZE, &size) < 0 && getrlimit(RLIMIT_FSIZE, &size) == 0) {
		size.rlim_cur = size.rlim_max;
		setrlimit(RLIMIT_FSIZE, &size);
	}
	signal(SIGXFSZ, SIG_IGN);
}

/*
 * By default each thread has a heap of its own, 64 MiB of address space. If address space is
 * limited, all threads share one heap, and half of the rest is for thread stacks: libfuse ends the
 * mount if a thread gets no buffer.
 */
static void share_heap(void)
{
	struct rlimit space;

	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
		mallopt(M_ARENA_MAX, 1);
}

static unsigned max_threads(void)
{
	cleanup_file FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long pages, used;
	struct rlimit space;

	if (getrlimit(RLIMIT_AS, &space) < 0 || space.rlim_cur == RLIM_INFINITY || !f ||
		fscanf(f, "%llu", &pages) != 1)
		return MAX_THREADS;
	used = pages * sysconf(_SC_PAGESIZE);
	if (used >= space.rlim_cur)
		return 1;
	used = 1 + (space.rlim_cur - used) / 2 / THREAD_BYTES;
	return used < MAX_THREADS ? used : MAX_THREADS;
}

static int check_device(void)
{
	int fd;

	if (access("/dev/fuse", F_OK) < 0)
		return err_status(EXIT_OWN, "there is no '/dev/fuse': the kernel has no FUSE, or the "
			"container has no such device; try 'modprobe fuse' as root");
	if (geteuid() != 0 && access("/dev/fuse", R_OK | W_OK) < 0)
		return err_status(EXIT_OWN, "cannot open '/dev/fuse': %s; ask root to set its mode to 0666, or "
			"run ftrac as root", strerror(errno));
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_status(EXIT_OWN, "cannot open '/dev/fuse': %s", strerror(errno));
	close(fd);
	return 0;
}

static void guard_own_files(struct daemon *d)
{
	struct store_file files[STORE_FILES];
	struct store_file dir = store_directory(d->recording.store);

	store_files(d->recording.store, files);
	for (int i = 0; i < FS_OWN_FILES; i++) {
		d->fs.own.files[i].dev = files[i].dev;
		d->fs.own.files[i].ino = files[i].ino;
		snprintf(d->fs.own.names[i], sizeof(d->fs.own.names[i]), "%s%s",
			store_name(d->recording.store), trace_file_suffix[i]);
	}
	d->fs.trace_path = store_place(d->recording.store);
	d->fs.owner = geteuid();
	d->fs.own.dir_dev = dir.dev;
	d->fs.own.dir_ino = dir.ino;
}

int daemon_open_trace(struct daemon *d)
{
	const struct options *o = &d->options;
	struct failure failure = { 0 };
	int status = recording_open(&d->recording, &(struct recording_options){ .db = o->db, .force = o->force, .slots = RING_SLOTS,
		.drop = o->drop, .totals = o->listen, .metrics = o->metrics, .interval_ns = o->interval_ns });

	if (status == 0 && o->listen)
		serve_open(o->listen, &d->serve, &failure);
	return status ? status : failure_status(&failure);
}

void daemon_close_trace(struct daemon *d)
{
	serve_close(d->serve);
	d->serve = NULL;
	recording_close(&d->recording);
}

static int open_store(struct daemon *d)
{
	int status = d->options.no_record ? 0 : daemon_open_trace(d);

	if (d->recording.store)
		guard_own_files(d);
	return status;
}

static int open_tree_of(struct daemon *d)
{
	struct inode_options o = { .ring = d->recording.ring, .names = d->fs.choice,
		.left_open = fs_left_open, .squash = d->squash, .hide_mirrors = d->fs.uring };
	int r;

	o.root = open(d->options.source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (o.root < 0)
		return err_status(EXIT_OWN, "cannot open source '%s': %s", d->options.source,
			strerror(errno));
	o.covered = d->options.mountpoint
		? open(d->options.mountpoint, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (d->options.mountpoint && o.covered < 0)
		return err_status(EXIT_OWN, "cannot open mount point '%s': %s",
			d->options.mountpoint, strerror(errno));
	r = inode_table_create(&o, &d->fs.inodes);
	return r < 0 ? err_status(EXIT_OWN, "cannot read source '%s': %s", d->options.source,
			       strerror(-r)) : 0;
}

/* ---- ready ---- */

int daemon_start_monitor(struct daemon *d)
{
	struct monitor_options o = { .ring = d->recording.ring, .env = d->options.env.word,
		.processes = d->options.processes, .command = d->command,
		.inband_will_do = d->options.files != RUN_FILES_PRELOAD };
	int r = monitor_start(&o, &d->monitor);

	if (r < 0 && o.processes == MONITOR_CONNECTOR)
		err_print("cannot use --processes connector: %s",
			monitor_explain(MONITOR_SOURCE_CONNECTOR, r));
	if (r < 0 && o.processes == MONITOR_PTRACE)
		err_print("cannot use --processes ptrace: %s",
			monitor_explain(MONITOR_SOURCE_PTRACE, r));
	if (r < 0 && o.processes != MONITOR_CONNECTOR && o.processes != MONITOR_PTRACE)
		err_print("cannot start recording: %s", strerror(-r));
	if (r < 0)
		return r;
	d->trace = (struct trace){ .ring = d->recording.ring, .monitor = d->monitor,
		.known = monitor_known(d->monitor), .aside = d->is_aside,
		.in_band = strncmp(monitor_tier(d->monitor), "inband", 6) == 0 };
	return 0;
}

/* ---- the record ---- */

static void monitor_sync_of(void *arg)
{
	monitor_sync(((struct daemon *)arg)->monitor);
}

static uint64_t monitor_lost_of(void *arg)
{
	return monitor_lost(((struct daemon *)arg)->monitor);
}

static uint64_t monitor_waited_of(void *arg)
{
	const struct daemon *d = arg;

	return monitor_waited_ns(d->monitor) + preload_count(d->preload).waited_ns;
}

static uint64_t ops_lost_of(void *arg)
{
	const struct daemon *d = arg;

	return monitor_ops_lost(d->monitor) + (d->fs.kernel ? kernel_lost(d->fs.kernel) : 0) + preload_count(d->preload).lost;
}

static int put_facts(void *arg, struct store *store)
{
	const struct daemon *d = arg;

	return d->fs.kernel ? monitor_put_kernel(d->fs.kernel, store) : monitor_put_facts(d->monitor, store);
}

static bool may_wait_of(void *arg)
{
	return monitor_may_wait(((struct daemon *)arg)->monitor);
}

static void set_watched_of(void *arg, bool is_watched)
{
	monitor_set_watched(((struct daemon *)arg)->monitor, is_watched);
}

static uint64_t left_of(void *arg)
{
	const struct daemon *d = arg;

	return monitor_left(d->monitor) + (d->fs.kernel ? kernel_left(d->fs.kernel) : 0);
}

static int64_t seen_until_of(void *arg)
{
	return kernel_seen_until_ns(((struct daemon *)arg)->fs.kernel);
}

static int start_layers(struct daemon *d)
{
	int r = d->preload ? preload_start(d->preload, d->recording.ring) : 0;

	if (r < 0)
		err_print("cannot start a thread: %s", strerror(-r));
	return r;
}

static int start_server(struct daemon *d)
{
	struct failure failure = { 0 };
	int r = d->serve ? serve_start(d->serve, d->recording.totals, &failure) : 0;

	if (r < 0)
		err_print("%s", failure.text);
	else if (serve_chosen(d->serve))
		err_print("metrics are at http://%s/metrics", serve_chosen(d->serve));
	return r;
}

int daemon_start_writer(struct daemon *d, struct facts *facts)
{
	const struct options *o = &d->options;
	struct writer_options w = {
		.record = {
			.paths = d->choice,
			.ops = !o->no_ops,
			.declared = d->notes,
			.probe = d->probe,
			.start_ns = d->monitor ? monitor_began_ns(d->monitor) : 0,
		},
		.sync = monitor_sync_of,
		.events_lost = monitor_lost_of,
		.waited_ns = monitor_waited_of,
		.ops_lost = ops_lost_of,
		.may_wait = strcmp(facts->files, "kernel") == 0 ? may_wait_of : NULL,
		.set_watched = set_watched_of,
		.seen_until = d->fs.kernel ? seen_until_of : NULL,
		.put_facts = put_facts,
		.arg = d,
	};
	int r;

	facts->command = d->command;
	facts->cwd = d->cwd;
	facts->options = o->text;
	facts->job = o->job;
	facts->xform = o->xform;
	facts->origin = d->origin;
	facts->process_tier = monitor_tier(d->monitor);
	facts->layers = o->layers ? o->layers_text : NULL;
	r = recording_start(&d->recording, facts, &w);
	r = r < 0 ? r : start_server(d);
	return r < 0 ? r : start_layers(d);
}

int daemon_stop_writer(struct daemon *d)
{
	bool began = d->recording.was_started;
	struct progress *progress = began ? progress_start(left_of, d) : NULL;
	int r;

	writer_begin_end(d->recording.writer);
	if (d->fs.kernel)
		kernel_finish(d->fs.kernel);
	monitor_finish(d->monitor); /* pushes the last events, so before the writer stops */
	preload_finish(d->preload);
	r = recording_stop(&d->recording);
	progress_stop(progress);
	d->has_trace = began && r == 0;
	if (began)
		d->lost = ring_lost(d->recording.ring) + ops_lost_of(d) + monitor_lost(d->monitor);
	monitor_stop(d->monitor);
	d->monitor = NULL;
	return r;
}

/* Of any mount but one of ftrac run, of which the command has not begun. */
static void watch_calls(struct daemon *d)
{
	if (d->fs.kernel && !d->is_aside)
		kernel_watch_mount(d->fs.kernel, d->device);
}

static int start_calls(struct daemon *d)
{
	int r = d->fs.kernel ? kernel_run_for_mount(d->fs.kernel, d->recording.ring) : 0;

	if (r < 0)
		err_print("cannot record in the kernel: %s", strerror(-r));
	else
		watch_calls(d);
	return r;
}

static int start_recording(struct daemon *d)
{
	const struct options *o = &d->options;
	int r = daemon_start_monitor(d);

	if (r == 0)
		r = start_calls(d);
	return r < 0 ? r : daemon_start_writer(d, &(struct facts){ .source = o->source,
		.files = d->fs.kernel ? "both" : "mount", .mountpoint = o->mountpoint, .fidelity = event_fidelity_names[d->fs.fidelity],
		.transport = transport_name(d->fs.uring), .mount_connection = minor(d->device),
		.mount_namespace = d->device ? mountinfo_namespace() : 0 });
}

static void complain_fidelity(enum fidelity fidelity)
{
	if (fidelity == FIDELITY_OPEN || fidelity == FIDELITY_CALL)
		err_print("cannot record with --fidelity %s: it needs root and Linux 6.9; use "
			  "--fidelity cached", event_fidelity_names[fidelity]);
	else
		err_print("cannot record with --fidelity exact: this kernel cannot map files with "
			  "direct I/O (Linux 6.6 can); use --fidelity cached");
}

static void on_ready(void *arg, int error)
{
	struct daemon *d = arg;

	atomic_store(&d->is_live, true);
	if (error == -EOPNOTSUPP)
		complain_fidelity(d->fs.fidelity);
	else if ((error = inode_table_start_sweeper(d->fs.inodes)) < 0)
		err_print("cannot start a thread: %s", strerror(-error));
	else if (!d->options.no_record)
		error = start_recording(d);
	if (error < 0) {
		d->status = EXIT_OWN;
		fuse_session_exit(d->session);
	}
	d->ready(d, error);
}

/* ---- the mount ---- */

/* Flags of the source's own mount (nosuid, nodev, noexec) apply here, too. */
static void add_flags(const char *source, char *out, size_t size)
{
	struct statvfs st = { 0 };

	statvfs(source, &st);
	snprintf(out, size, "-oallow_other,default_permissions,subtype=ftrac,%s,%s%s%s",
		st.f_flag & ST_NODEV ? "nodev" : "dev", st.f_flag & ST_NOSUID ? "nosuid" : "suid",
		st.f_flag & ST_NOEXEC ? ",noexec" : "", st.f_flag & ST_RDONLY ? ",ro" : "");
}

static int add_defaults(struct daemon *d)
{
	struct fuse_args *args = &d->options.fuse;
	char name[64 + PATH_MAX], defaults[128] = "-odefault_permissions,subtype=ftrac";
	int r;

	if (geteuid() == 0)
		add_flags(d->options.source, defaults, sizeof(defaults));
	/* Before the user's options, so that these win. */
	r = fuse_opt_insert_arg(args, 1, defaults);
	snprintf(name, sizeof(name), "-ofsname=%s", d->options.source);
	if (!strpbrk(d->options.source, ",\\"))
		r |= fuse_opt_insert_arg(args, 1, name);
	if (d->options.debug)
		r |= fuse_opt_add_arg(args, "-d");
	return r < 0 ? err_status(EXIT_OWN, "out of memory") : 0;
}

/* Prints messages of libfuse in our format; it may pass a line in several calls. */
static void log_line(enum fuse_log_level level, const char *format, va_list args)
{
	static _Thread_local char line[1024];
	static _Thread_local size_t used;
	int n;

	if (level > FUSE_LOG_INFO) {
		vfprintf(stderr, format, args);
		return;
	}
	n = vsnprintf(line + used, sizeof(line) - used, format, args);
	if (n > 0)
		used = used + n < sizeof(line) ? used + n : sizeof(line) - 1;
	if (used == 0 || line[used - 1] != '\n')
		return;
	line[used - 1] = '\0';
	used = 0;
	/* Not errors: the namespace of the mount has ended; a ring's thread may not run on its
	 * processor. */
	if (strstr(line, strerror(ECONNABORTED)) || strstr(line, "Failed to bind qid"))
		return;
	err_print("%s", strncmp(line, "fuse: ", 6) == 0 ? line + 6 : line);
}

/* libfuse says by this why it cannot read from the device. */
void perror(const char *what)
{
	if (errno != ECONNABORTED) /* see log_line() */
		err_print("%s: %s", strncmp(what, "fuse: ", 6) == 0 ? what + 6 : what, strerror(errno));
}

static int choose_transport(struct daemon *d)
{
	const struct options *o = &d->options;
	struct transport_conditions conditions = transport_probe(o->source, o->native_locks);
	const char *why;

	unsetenv("FUSE_URING_ENABLE"); /* libfuse reads this variable, too */
	d->fs.uring = transport_choose(&conditions, o->io_uring, &why);
	if (why)
		return err_status(EXIT_OWN, "cannot use --io-uring on: %s", why);
	if (d->fs.uring && fuse_opt_insert_arg(&d->options.fuse, 1, "-oio_uring") < 0)
		return err_status(EXIT_OWN, "out of memory");
	return 0;
}

static int make_session(struct daemon *d)
{
	int status = choose_transport(d);

	if (status == 0)
		status = add_defaults(d);
	if (status)
		return status;
	d->session = d->fs.session =
		fuse_session_new(&d->options.fuse, &fs_ops, sizeof(fs_ops), &d->fs);
	return d->session ? 0 : EXIT_USAGE;
}

/* Without a request to our mount: no thread answers yet. */
static void check_mount(struct daemon *d)
{
	cleanup_fd int own = open(d->options.mountpoint, O_PATH | O_CLOEXEC);
	struct mount_effects effects;
	struct statx sx;

	if (own < 0 || statx(own, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &sx) < 0)
		return;
	effects = mounts_effects(own);
	d->fs.keep_atime = effects.keeps_atime;
	d->device = makedev(sx.stx_dev_major, sx.stx_dev_minor);
	inode_own_mount(d->fs.inodes, d->device, effects.nosuid, effects.nodev);
}

int daemon_mount(struct daemon *d, int device)
{
	char name[32], **environment = helper_hide_environment(); /* libfuse starts fusermount3 */
	int r;

	if (!environment)
		return err_status(EXIT_OWN, "out of memory");
	snprintf(name, sizeof(name), "/dev/fd/%d", device);
	r = fuse_session_mount(d->session, device >= 0 ? name : d->options.mountpoint);
	helper_show_environment(environment);
	if (r < 0)
		return EXIT_OWN;
	if (device < 0)
		check_mount(d);
	return 0;
}

/*
 * If libfuse has no memory for the kernel's first request, it refuses the request and goes on; the
 * kernel then refuses all others. Without this thread no process would learn that the mount failed.
 */
static void *watch_start(void *arg)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	struct daemon *d = arg;

	for (int i = 0; i < START_NAPS && !atomic_load(&d->is_live); i++)
		nanosleep(&nap, NULL);
	if (!atomic_load(&d->is_live)) {
		d->status = err_status(EXIT_OWN, "the mount failed: libfuse could not answer the kernel's first "
			"request; try again when more memory is free");
		fuse_session_exit(d->session);
	}
	return NULL;
}

int daemon_loop(struct daemon *d)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	pthread_t watch;
	int r;

	if (!config)
		return err_status(EXIT_OWN, "out of memory");
	r = pthread_create(&watch, NULL, watch_start, d);
	if (r) {
		fuse_loop_cfg_destroy(config);
		return err_status(EXIT_OWN, "cannot start a thread: %s", strerror(r));
	}
	/* With rings, only FORGET requests come by the device. */
	fuse_loop_cfg_set_max_threads(config, d->fs.uring ? 1 : max_threads());
	fuse_loop_cfg_set_idle_threads(config, 16);
	r = fuse_session_loop_mt(d->session, config);
	fuse_loop_cfg_destroy(config);
	atomic_store(&d->is_live, true); /* ends the thread that watches the start */
	pthread_join(watch, NULL);
	/* A signal ends a mount regularly, and so does the end of its namespace. */
	return r < 0 && r != -ECONNABORTED ? err_status(EXIT_OWN, "the mount ended: %s", strerror(-r)) : 0;
}

static void take_options(struct daemon *d)
{
	const struct options *o = &d->options;

	d->choice = (struct paths_options){ .mountpoint = o->mountpoint, .source = o->source,
		.include = o->include.word, .exclude = o->exclude.word, .ours = d->ours };
	d->fs.choice = o->include.n + o->exclude.n && !o->no_record ? &d->choice : NULL;
	d->fs.fidelity = o->fidelity;
	d->fs.fidelity_fixed = o->fidelity_given;
	d->fs.attr_timeout = d->fs.entry_timeout = o->stat ? 0 : 1;
	d->fs.trace = o->no_record ? NULL : &d->trace;
	d->fs.ready = on_ready;
	d->fs.arg = d;
}

void daemon_record(struct daemon *d)
{
	atomic_store(&d->trace.aside, false);
	d->is_aside = false;
	watch_calls(d);
}

static int share_out(struct daemon *d)
{
	size_t room[SHARE_MAX] = { [SHARE_LEASES] = LEASE_THREADS, [SHARE_LOCKS] = LOCK_THREADS };
	rlim_t limit = file_limit();

	/* files take precedence over inode descriptors */
	room[SHARE_FILES] = limit - pins_reserve(limit);
	if (shares_create(room, creds_privileged() ? (uid_t)-1 : geteuid(), &d->fs.shares) < 0)
		return -ENOMEM;
	return defer_create(&d->fs, d->options.mountpoint, &d->fs.defer);
}

/* As many files as can be open in the mount, within reason: the kernel takes 16 bytes for each. */
#define MOST_WATCHED (1 << 18)

static int load_programs(struct daemon *d)
{
	struct failure failure = { 0 };
	rlim_t limit = file_limit();

	if (d->options.fidelity != FIDELITY_CALL || d->options.no_record)
		return 0;
	if (kernel_load_for_mount(limit < MOST_WATCHED ? limit : MOST_WATCHED, &d->fs.kernel, &failure) == 0)
		return 0;
	return err_status(EXIT_OWN, "%s", failure.text);
}

int daemon_open(struct daemon *d)
{
	int status = check_device(), r;
	rlim_t before;

	take_options(d);
	fuse_set_log_func(log_line);
	raise_files(&before);
	raise_limits();
	share_heap();
	if (status == 0)
		status = make_session(d);
	if (status == 0)
		status = check_files(d, before);
	if (status == 0)
		status = load_programs(d);
	if (status == 0)
		status = open_store(d);
	/* Unprivileged users need the setuid fusermount3, unless the mount is made in a
	 * namespace. */
	if (status == 0 && (r = creds_init(rights_needed(&d->options), d->squash)) < 0)
		status = err_status(EXIT_OWN, "cannot set up credentials: %s", strerror(-r));
	if (status == 0 && d->options.native_locks && locks_create(&d->fs.locks) < 0)
		status = err_status(EXIT_OWN, "out of memory");
	if (status == 0 && share_out(d) < 0)
		status = err_status(EXIT_OWN, "out of memory");
	return status ? status : open_tree_of(d);
}

/* ---- the end ---- */

int daemon_finish(struct daemon *d)
{
	inode_table_stop_sweeper(d->fs.inodes);
	defer_stop(d->fs.defer);
	if (d->session) {
		char **environment = helper_hide_environment();

		fuse_session_unmount(d->session);
		helper_show_environment(environment);
		if (d->handles_signals)
			fuse_remove_signal_handlers(d->session);
		fuse_session_destroy(d->session);
	}
	if (daemon_stop_writer(d) < 0)
		d->status = EXIT_OWN;
	inode_table_destroy(d->fs.inodes);
	locks_destroy(d->fs.locks);
	defer_destroy(d->fs.defer);
	shares_destroy(d->fs.shares);
	kernel_destroy(d->fs.kernel);
	daemon_close_trace(d);
	free(d->fs.trace_path);
	return d->status;
}
