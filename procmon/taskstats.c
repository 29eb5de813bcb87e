/* SPDX-License-Identifier: MIT */
#include "procmon/taskstats.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

/*
 * The kernel doubles this value. It then holds about 52,000 records (29,000 of processes with
 * several threads) while this process is not scheduled. The kernel allocates the memory on demand.
 */
#define RECEIVE_BUFFER (32 << 20)
#define ANSWER_MS 200

enum { OLDEST = 8, MIDDLE_GREW = 15, SIZE_14 = 432, FLAG_LAST = 0x20 /* AGROUP */ };

struct taskstats_listener {
	struct nl_sock *sock;
	char *cpus; /* the CPUs that we registered for */
	int error;  /* the last error of the kernel */
	bool registered;
	struct taskstats_input input;
	char datagram[8192] __attribute__((aligned(NLMSG_ALIGNTO)));
};

/* ---- struct taskstats ---- */

enum field {
	FIELD_EXITCODE,
	FIELD_FLAG,
	FIELD_CPU_COUNT,
	FIELD_CPU_DELAY,
	FIELD_BLKIO_DELAY,
	FIELD_SWAPIN_DELAY,
	FIELD_CPU_VIRTUAL,
	FIELD_COMM,
	FIELD_UID,
	FIELD_GID,
	FIELD_PPID,
	FIELD_BTIME,
	FIELD_ETIME,
	FIELD_UTIME,
	FIELD_STIME,
	FIELD_MINFLT,
	FIELD_MAJFLT,
	FIELD_HIWATER_RSS,
	FIELD_HIWATER_VM,
	FIELD_READ_BYTES,
	FIELD_WRITE_BYTES,
	FIELD_NVCSW,
	FIELD_NIVCSW,
	FIELD_FREEPAGES_DELAY,
	FIELD_BTIME64,
	FIELD_TGID,
};

/* The first two bytes are the version. All versions but 15 have one layout. */
static const struct layout {
	uint16_t since;
	uint16_t size;
	uint16_t at; /* offset in all versions but 15 */
	uint16_t at_15;
} layouts[] = {
	[FIELD_EXITCODE] = { 8, 4, 4, 4 },
	[FIELD_FLAG] = { 8, 1, 8, 8 },
	[FIELD_CPU_COUNT] = { 8, 8, 16, 16 },
	[FIELD_CPU_DELAY] = { 8, 8, 24, 24 },
	[FIELD_BLKIO_DELAY] = { 8, 8, 40, 56 },
	[FIELD_SWAPIN_DELAY] = { 8, 8, 56, 88 },
	[FIELD_CPU_VIRTUAL] = { 8, 8, 72, 120 },
	[FIELD_COMM] = { 8, 32, 80, 128 },
	[FIELD_UID] = { 8, 4, 120, 168 },
	[FIELD_GID] = { 8, 4, 124, 172 },
	[FIELD_PPID] = { 8, 4, 132, 180 },
	[FIELD_BTIME] = { 8, 4, 136, 184 },
	[FIELD_ETIME] = { 8, 8, 144, 192 },
	[FIELD_UTIME] = { 8, 8, 152, 200 },
	[FIELD_STIME] = { 8, 8, 160, 208 },
	[FIELD_MINFLT] = { 8, 8, 168, 216 },
	[FIELD_MAJFLT] = { 8, 8, 176, 224 },
	[FIELD_HIWATER_RSS] = { 8, 8, 200, 248 },
	[FIELD_HIWATER_VM] = { 8, 8, 208, 256 },
	[FIELD_READ_BYTES] = { 8, 8, 248, 296 },
	[FIELD_WRITE_BYTES] = { 8, 8, 256, 304 },
	[FIELD_NVCSW] = { 8, 8, 272, 320 },
	[FIELD_NIVCSW] = { 8, 8, 280, 328 },
	[FIELD_FREEPAGES_DELAY] = { 8, 8, 320, 368 },
	[FIELD_BTIME64] = { 10, 8, 344, 424 },
	[FIELD_TGID] = { 12, 4, 368, 464 },
};

struct stats {
	const char *bytes;
	size_t len;
	int version;
};

/* NULL if the record does not have it. */
static const char *find_field(const struct stats *stats, enum field field)
{
	const struct layout *layout = &layouts[field];
	bool grew = stats->version == MIDDLE_GREW ||
		    (stats->version == MIDDLE_GREW - 1 && stats->len > SIZE_14);
	size_t at = grew ? layout->at_15 : layout->at;

	if (stats->version < layout->since || stats->len < at + layout->size)
		return NULL;
	return stats->bytes + at;
}

/* -1 if the record does not have the field, or the value is impossible. */
static int64_t number(const struct stats *stats, enum field field, int64_t unit)
{
	const char *at = find_field(stats, field);
	uint64_t wide;
	uint32_t narrow;
	uint8_t byte;

	if (!at)
		return -1;
	switch (layouts[field].size) {
	case sizeof(byte):
		memcpy(&byte, at, sizeof(byte));
		return byte;
	case sizeof(narrow):
		memcpy(&narrow, at, sizeof(narrow));
		return narrow;
	default:
		memcpy(&wide, at, sizeof(wide));
		return wide <= (uint64_t)(INT64_MAX / unit) ? (int64_t)wide * unit : -1;
	}
}

static int64_t number_or_0(const struct stats *stats, enum field field)
{
	int64_t value = number(stats, field, 1);

	return value < 0 ? 0 : value;
}

/* ---- fields to figures ---- */

static void set_known(struct figures *figures, enum figure figure, int64_t value)
{
	if (value >= 0)
		figures_set(figures, figure, value);
}

/* For figures that cannot be 0: then they were not counted. */
static void set_not_0(struct figures *figures, enum figure figure, int64_t value)
{
	if (value > 0)
		figures_set(figures, figure, value);
}

/* Like cputime_adjust() of the kernel (kernel/sched/cputime.c) for wait4 and /proc. */
static void set_split(struct figures *figures, const struct stats *stats, int64_t cpu_ns)
{
	int64_t utime = number(stats, FIELD_UTIME, 1000);
	int64_t stime = number(stats, FIELD_STIME, 1000);

	if (utime < 0 || stime < 0)
		return;
	if (cpu_ns > 0) {
		double ticks = (double)utime + (double)stime;
		double share = ticks > 0 ? (double)cpu_ns * ((double)stime / ticks) : 0;

		stime = share < (double)cpu_ns ? (int64_t)share : cpu_ns;
		utime = cpu_ns - stime;
	}
	if (utime || stime) {
		figures_set(figures, FIGURE_UTIME, utime);
		figures_set(figures, FIGURE_STIME, stime);
	}
}

/*
 * A task that ends was scheduled at least once. A count of 0 means that the kernel does not count
 * at all: it was built without these statistics, or is old and was booted with nodelayacct.
 */
static void set_scheduled(struct figures *figures, const struct stats *stats, bool delays)
{
	if (number(stats, FIELD_CPU_COUNT, 1) <= 0)
		return;
	set_not_0(figures, FIGURE_CPU, number(stats, FIELD_CPU_VIRTUAL, 1));
	set_known(figures, FIGURE_CPU_DELAY, number(stats, FIELD_CPU_DELAY, 1));
	if (!delays)
		return;
	set_known(figures, FIGURE_BLKIO_DELAY, number(stats, FIELD_BLKIO_DELAY, 1));
	set_known(figures, FIGURE_SWAPIN_DELAY, number(stats, FIELD_SWAPIN_DELAY, 1));
	set_known(figures, FIGURE_RECLAIM_DELAY, number(stats, FIELD_FREEPAGES_DELAY, 1));
}

static void set_summed(struct figures *figures, const struct stats *stats)
{
	int64_t cpu_ns = figures_has(figures, FIGURE_CPU) ? figures->value[FIGURE_CPU] : -1;

	set_split(figures, stats, cpu_ns);
	set_known(figures, FIGURE_NVCSW, number(stats, FIELD_NVCSW, 1));
	set_known(figures, FIGURE_NIVCSW, number(stats, FIELD_NIVCSW, 1));
}

static void set_of_thread(struct figures *figures, const struct stats *stats, bool storage)
{
	set_known(figures, FIGURE_MINFLT, number(stats, FIELD_MINFLT, 1));
	set_known(figures, FIGURE_MAJFLT, number(stats, FIELD_MAJFLT, 1));
	set_not_0(figures, FIGURE_VMPEAK, number(stats, FIELD_HIWATER_VM, 1024));
	set_not_0(figures, FIGURE_RSSPEAK, number(stats, FIELD_HIWATER_RSS, 1024));
	if (!storage)
		return;
	set_known(figures, FIGURE_READ_BYTES, number(stats, FIELD_READ_BYTES, 1));
	set_known(figures, FIGURE_WRITE_BYTES, number(stats, FIELD_WRITE_BYTES, 1));
}

static int status_of(const struct taskstats_record *record, const struct stats *stats)
{
	bool first = !record->tgid || record->tgid == record->tid;
	int64_t status = number(stats, FIELD_EXITCODE, 1);

	return first && status >= 0 ? (int)status : -1;
}

static void describe_thread(struct taskstats_record *record, const struct stats *stats)
{
	const char *comm = find_field(stats, FIELD_COMM);

	record->tgid = number_or_0(stats, FIELD_TGID);
	record->ppid = number_or_0(stats, FIELD_PPID);
	record->status = status_of(record, stats);
	record->uid = number(stats, FIELD_UID, 1);
	record->gid = number(stats, FIELD_GID, 1);
	record->flags = number_or_0(stats, FIELD_FLAG);
	record->last = record->flags & FLAG_LAST;
	record->begin_s = number(stats, FIELD_BTIME64, 1);
	if (record->begin_s < 0)
		record->begin_s = number(stats, FIELD_BTIME, 1);
	record->elapsed_ns = number(stats, FIELD_ETIME, 1000);
	if (comm)
		memcpy(record->comm, comm, sizeof(record->comm) - 1);
}

static struct taskstats_record blank_record(bool group, uint32_t id, int version)
{
	struct taskstats_record record = {
		.group = group,
		.version = version,
		.status = -1,
		.uid = -1,
		.gid = -1,
		.begin_s = -1,
		.elapsed_ns = -1,
	};

	if (group)
		record.tgid = id;
	else
		record.tid = id;
	return record;
}

/* ---- bytes to fields ---- */

/* -1 if there is none. */
static int version_of(const struct nlattr *stats)
{
	uint16_t version;

	if (!stats || nla_len(stats) < (int)sizeof(version))
		return -1;
	memcpy(&version, nla_data(stats), sizeof(version));
	return version;
}

static const struct nlattr *find_inside(const struct nlattr *outer, int type)
{
	return outer ? nla_find(nla_data(outer), nla_len(outer), type) : NULL;
}

/* -1 if the version is unknown. The kernel does not always write a version into the group's
 * record. */
static int layout_of(const struct taskstats_input *input, bool group, int version)
{
	if (group && version == 0)
		version = input->thread_version;
	return version < OLDEST ? -1 : version;
}

static void set_figures(const struct taskstats_input *input, const struct stats *stats, bool summed,
	struct taskstats_record *record)
{
	set_scheduled(&record->figures, stats, input->delays);
	if (summed)
		set_summed(&record->figures, stats);
	if (!record->group)
		set_of_thread(&record->figures, stats, input->storage);
}

static int parse_aggregate(const struct taskstats_input *input, const struct nlattr *aggregate,
	struct taskstats_record *ret_record)
{
	bool group = nla_type(aggregate) == TASKSTATS_TYPE_AGGR_TGID;
	const struct nlattr *id =
		find_inside(aggregate, group ? TASKSTATS_TYPE_TGID : TASKSTATS_TYPE_PID);
	const struct nlattr *attribute = find_inside(aggregate, TASKSTATS_TYPE_STATS);
	int own_version = version_of(attribute);
	struct stats stats = { .version = layout_of(input, group, own_version) };
	uint32_t raw_id;

	if (own_version < 0 || stats.version < 0 || !id || nla_len(id) < (int)sizeof(raw_id))
		return -EBADMSG;
	memcpy(&raw_id, nla_data(id), sizeof(raw_id));
	stats.bytes = nla_data(attribute);
	stats.len = nla_len(attribute);
	*ret_record = blank_record(group, raw_id, stats.version);
	if (!group)
		describe_thread(ret_record, &stats);
	set_figures(input, &stats, own_version != 0, ret_record);
	return 1;
}

/* Parses the head of a message if it has records. -EBADMSG. */
static int open_message(struct taskstats_input *input, struct nlmsghdr *head)
{
	struct genlmsghdr generic;
	const struct nlattr *thread;

	if (head->nlmsg_type != input->family)
		return 0;
	if (nlmsg_datalen(head) < (int)sizeof(generic))
		return -EBADMSG;
	memcpy(&generic, nlmsg_data(head), sizeof(generic));
	if (generic.cmd != TASKSTATS_CMD_NEW)
		return 0;
	input->attributes = (char *)nlmsg_data(head) + GENL_HDRLEN;
	input->attributes_left = nlmsg_datalen(head) - GENL_HDRLEN;
	thread = nla_find(input->attributes, input->attributes_left, TASKSTATS_TYPE_AGGR_PID);
	input->thread_version = version_of(find_inside(thread, TASKSTATS_TYPE_STATS));
	return 0;
}

static int next_message(struct taskstats_input *input)
{
	/* libnl has no const here but only reads */
	struct nlmsghdr *head = (void *)(uintptr_t)input->messages;

	if (!nlmsg_ok(head, input->messages_left)) {
		input->messages_left = 0;
		return -EBADMSG;
	}
	input->messages = nlmsg_next(head, &input->messages_left);
	return open_message(input, head);
}

static int next_attribute(struct taskstats_input *input, struct taskstats_record *ret_record)
{
	const struct nlattr *attribute = input->attributes;

	if (!nla_ok(attribute, input->attributes_left)) {
		input->attributes_left = 0;
		return -EBADMSG;
	}
	input->attributes = nla_next(attribute, &input->attributes_left);
	if (nla_type(attribute) != TASKSTATS_TYPE_AGGR_PID &&
		nla_type(attribute) != TASKSTATS_TYPE_AGGR_TGID)
		return 0;
	return parse_aggregate(input, attribute, ret_record);
}

int taskstats_parse(struct taskstats_input *input, struct taskstats_record *ret_record)
{
	int r = 0;

	while (r == 0) {
		if (input->attributes_left > 0)
			r = next_attribute(input, ret_record);
		else if (input->messages_left > 0)
			r = next_message(input);
		else
			return 0;
	}
	return r;
}

/* ---- the socket ---- */

int taskstats_fd(const struct taskstats_listener *listener)
{
	return nl_socket_get_fd(listener->sock);
}

/* 1 if a datagram of the kernel arrived, 0 if there is none. */
static int receive(struct taskstats_listener *listener)
{
	struct sockaddr_nl from;
	struct iovec iov = { listener->datagram, sizeof(listener->datagram) };
	struct msghdr msg = { .msg_name = &from, .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	do {
		msg.msg_namelen = sizeof(from);
		n = recvmsg(taskstats_fd(listener), &msg, MSG_DONTWAIT);
	} while ((n < 0 && errno == EINTR) || (n >= 0 && from.nl_pid != 0));
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	listener->input.messages = listener->datagram;
	listener->input.messages_left = n;
	return 1;
}

int taskstats_read(struct taskstats_listener *listener, struct taskstats_record *ret_record)
{
	for (;;) {
		int r = taskstats_parse(&listener->input, ret_record);

		if (r != 0)
			return r;
		r = receive(listener);
		if (r <= 0)
			return r;
	}
}

/* libnl has error numbers of its own, but what fails below them is mostly a system call. */
static int system_error(void)
{
	return errno ? -errno : -EIO;
}

static int keep_error(struct sockaddr_nl *from, struct nlmsgerr *answer, void *ret_error)
{
	(void)from;
	*(int *)ret_error = answer->error;
	return NL_STOP;
}

static int fill_request(const struct taskstats_listener *listener, struct nl_msg *message,
	int attribute)
{
	if (!genlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, listener->input.family, 0, 0,
		    TASKSTATS_CMD_GET, TASKSTATS_GENL_VERSION))
		return -ENOMEM;
	return nla_put_string(message, attribute, listener->cpus) < 0 ? -ENOMEM : 0;
}

/* When this returns, the kernel has handled the request; its answer is at the socket. */
static int send_request(const struct taskstats_listener *listener, int attribute)
{
	struct nl_msg *message = nlmsg_alloc();
	int r = message ? fill_request(listener, message, attribute) : -ENOMEM;

	errno = 0;
	if (r == 0 && nl_send_auto(listener->sock, message) < 0)
		r = system_error();
	nlmsg_free(message);
	return r;
}

/* If a record arrives before the answer, the request was granted; the answer is skipped later. */
static int ask_to_listen(struct taskstats_listener *listener)
{
	int r = send_request(listener, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK);

	if (r < 0)
		return r;
	nl_socket_modify_err_cb(listener->sock, NL_CB_CUSTOM, keep_error, &listener->error);
	errno = 0;
	if (nl_wait_for_ack(listener->sock) < 0)
		return listener->error ? listener->error : system_error();
	listener->registered = true;
	return 0;
}

static void enlarge_buffer(int fd)
{
	int size = RECEIVE_BUFFER;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}

static int connect_socket(struct taskstats_listener *listener)
{
	int family;

	listener->sock = nl_socket_alloc();
	if (!listener->sock)
		return -ENOMEM;
	errno = 0;
	if (genl_connect(listener->sock) < 0)
		return system_error();
	enlarge_buffer(taskstats_fd(listener));
	family = genl_ctrl_resolve(listener->sock, TASKSTATS_GENL_NAME);
	if (family < 0)
		return family == -NLE_OBJ_NOTFOUND ? -ENOENT : system_error();
	listener->input.family = family;
	nl_socket_disable_seq_check(listener->sock); /* records are not answers to requests */
	return 0;
}

/* The first line; the caller frees it. */
static int read_line(const char *path, char **ret_line)
{
	cleanup_file FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int r = 0;

	if (!file)
		return -errno;
	errno = 0;
	if (getline(&line, &size, file) < 0)
		r = system_error();
	if (r < 0) {
		free(line);
		return r;
	}
	line[strcspn(line, "\n")] = '\0';
	*ret_line = line;
	return 0;
}

/* Before 5.14 there is no switch: the kernel counts the delays, or has none of these statistics. */
bool taskstats_counts_delays(void)
{
	cleanup_free char *line = NULL;

	return read_line("/proc/sys/kernel/task_delayacct", &line) < 0 || strcmp(line, "0") != 0;
}

static void *end_at_once(void *nothing)
{
	return nothing;
}

/*
 * The kernel accepts the registration from any network namespace, but sends only to the initial
 * one. So this function ends a thread and waits until its record, or another one, arrives.
 */
static int try_out(const struct taskstats_listener *listener)
{
	struct pollfd pollfd = { .fd = taskstats_fd(listener), .events = POLLIN };
	pthread_t thread;
	int r = pthread_create(&thread, NULL, end_at_once, NULL);

	if (r)
		return -r;
	pthread_join(thread, NULL);
	do
		r = poll(&pollfd, 1, ANSWER_MS);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	return r > 0 ? 0 : -ENONET;
}

static int start(struct taskstats_listener *listener)
{
	int r = connect_socket(listener);

	if (r == 0)
		r = read_line("/sys/devices/system/cpu/possible", &listener->cpus);
	if (r == 0)
		r = ask_to_listen(listener);
	if (r == 0)
		r = try_out(listener);
	listener->input.delays = taskstats_counts_delays();
	listener->input.storage = access("/proc/self/io", F_OK) == 0;
	return r;
}

int taskstats_create(struct taskstats_listener **ret_listener)
{
	struct taskstats_listener *listener = calloc(1, sizeof(*listener));
	int r;

	if (!listener)
		return -ENOMEM;
	r = start(listener);
	if (r < 0) {
		taskstats_destroy(listener);
		return r;
	}
	*ret_listener = listener;
	return 0;
}

/* The kernel identifies listeners by their port, which another process may get next. */
void taskstats_destroy(struct taskstats_listener *listener)
{
	if (!listener)
		return;
	if (listener->registered)
		send_request(listener, TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK);
	nl_socket_free(listener->sock);
	free(listener->cpus);
	free(listener);
}
