/* SPDX-License-Identifier: MIT */
#include "serve/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/fd_path.h"
#include "base/place.h"

#define WAITING 64 /* connections that are not accepted yet */
#define FILE_MODE 0660
#define UNIX "unix:"

union any {
	struct sockaddr one;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un file;
};

/* ---- ADDRESS:PORT ---- */

static const char *explain_port(int error)
{
	switch (error) {
	case EADDRINUSE: return "another program listens there; name another port, or 0 for a free one";
	case EADDRNOTAVAIL: return "this machine has no such address; 127.0.0.1 is for programs of this machine";
	case EACCES: return "a port below 1024 takes privileges; name another one";
	default: return strerror(error);
	}
}

static int refuse(struct failure *failure, const char *address)
{
	return failure_set(failure, FAILURE_USAGE, "invalid value '%s' for --metrics-listen (ADDRESS:PORT with numbers, like 127.0.0.1:9100 or "
		"[::1]:9100, or unix:PATH)", address);
}

static int read_port(const char *text, in_port_t *ret_port)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || port > UINT16_MAX)
		return -EINVAL;
	*ret_port = htons((in_port_t)port);
	return 0;
}

/* The address without port and brackets. */
static int read_host(const char *address, const char *colon, char host[INET6_ADDRSTRLEN])
{
	size_t len = colon ? (size_t)(colon - address) : 0;
	bool has_brackets = len >= 2 && address[0] == '[' && address[len - 1] == ']';

	if (len >= INET6_ADDRSTRLEN + 2 || (memchr(address, ':', len) && !has_brackets))
		return -EINVAL;
	snprintf(host, INET6_ADDRSTRLEN, "%.*s", (int)(has_brackets ? len - 2 : len), address + has_brackets);
	if (len == 0 || strcmp(host, "localhost") == 0)
		strcpy(host, "127.0.0.1");
	return 0;
}

static int read_address(const char *address, union any *ret_any, socklen_t *ret_len)
{
	const char *colon = strrchr(address, ':');
	char host[INET6_ADDRSTRLEN];
	in_port_t port;

	if (read_port(colon ? colon + 1 : address, &port) < 0 || read_host(address, colon, host) < 0)
		return -EINVAL;
	*ret_any = (union any){ .v4 = { .sin_family = AF_INET, .sin_port = port } };
	*ret_len = sizeof(ret_any->v4);
	if (inet_pton(AF_INET, host, &ret_any->v4.sin_addr) == 1)
		return 0;
	*ret_any = (union any){ .v6 = { .sin6_family = AF_INET6, .sin6_port = port } };
	*ret_len = sizeof(ret_any->v6);
	return inet_pton(AF_INET6, host, &ret_any->v6.sin6_addr) == 1 ? 0 : -EINVAL;
}

static void note_chosen(struct listener *listener, union any any, socklen_t len)
{
	char host[INET6_ADDRSTRLEN];
	bool is_v6 = any.one.sa_family == AF_INET6;

	if ((is_v6 ? any.v6.sin6_port : any.v4.sin_port) != 0 || getsockname(listener->fd, &any.one, &len) < 0)
		return;
	inet_ntop(any.one.sa_family, is_v6 ? (void *)&any.v6.sin6_addr : (void *)&any.v4.sin_addr, host, sizeof(host));
	snprintf(listener->text, sizeof(listener->text), is_v6 ? "[%s]:%u" : "%s:%u", host, ntohs(is_v6 ? any.v6.sin6_port : any.v4.sin_port));
}

/* A port of which connections have just ended is free. */
static int open_port(const char *address, struct listener *listener, struct failure *failure)
{
	union any any;
	socklen_t len;

	if (read_address(address, &any, &len) < 0)
		return refuse(failure, address);
	listener->fd = socket(any.one.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->fd < 0 || setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) < 0 ||
		bind(listener->fd, &any.one, len) < 0 || listen(listener->fd, WAITING) < 0)
		return failure_set(failure, -errno, "cannot listen at '%s': %s", address, explain_port(errno));
	note_chosen(listener, any, len);
	return 0;
}

/* ---- unix:PATH ---- */

/* Of any length, and in the directory as it was when it was opened, whatever is mounted over it since. */
static int file_address(const struct listener *listener, union any *ret_any)
{
	int len;

	*ret_any = (union any){ .file = { .sun_family = AF_UNIX } };
	len = snprintf(ret_any->file.sun_path, sizeof(ret_any->file.sun_path), "%s/%s", fd_path(listener->dir).text, listener->name);
	return len < (int)sizeof(ret_any->file.sun_path) ? 0 : -ENAMETOOLONG;
}

/* Removes a socket that no program listens at any more. */
static int clear_file(const struct listener *listener, const union any *any)
{
	cleanup_fd int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (probe < 0)
		return -errno;
	if (fstatat(listener->dir, listener->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode) || place_is_foreign(listener->dir, &st))
		return -EEXIST;
	if (connect(probe, &any->one, sizeof(any->file)) == 0 || errno != ECONNREFUSED)
		return -EADDRINUSE;
	return unlinkat(listener->dir, listener->name, 0) < 0 ? -errno : 0;
}

/* The file has its mode from the beginning: to change it later could change another file. */
static int bind_file(struct listener *listener, const union any *any)
{
	mode_t before;
	int r;

	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->fd < 0)
		return -errno;
	before = umask(0777 & ~FILE_MODE);
	r = bind(listener->fd, &any->one, sizeof(any->file)) < 0 ? -errno : 0;
	umask(before);
	if (r == 0 && (fstatat(listener->dir, listener->name, &listener->file, AT_SYMLINK_NOFOLLOW) < 0 || listen(listener->fd, WAITING) < 0))
		r = -errno;
	return r;
}

static const char *explain_file(int error)
{
	switch (error) {
	case -EADDRINUSE: return "another program listens there; name another file";
	case -EEXIST: return "there is something else; name another file, or remove it";
	case -ENAMETOOLONG: return "the name is too long; name another file";
	default: return place_explain(error);
	}
}

static int open_file(const char *path, struct listener *listener, struct failure *failure)
{
	union any any;
	int r = listener->dir = place_open(path, false, &listener->name);

	if (r >= 0)
		r = file_address(listener, &any);
	if (r == 0)
		r = clear_file(listener, &any);
	if (r == 0)
		r = bind_file(listener, &any);
	return r < 0 ? failure_set(failure, r, "cannot listen at '%s': %s", path, explain_file(r)) : 0;
}

/* ---- both ---- */

int listener_open(const char *address, struct listener *ret_listener, struct failure *failure)
{
	size_t n = sizeof(UNIX) - 1;
	int r;

	*ret_listener = (struct listener){ .fd = -1, .dir = -1 };
	r = strncmp(address, UNIX, n) == 0 ? open_file(address + n, ret_listener, failure) : open_port(address, ret_listener, failure);
	if (r < 0)
		listener_close(ret_listener);
	return r;
}

static void remove_file(const struct listener *listener)
{
	struct stat st;

	if (listener->file.st_ino && fstatat(listener->dir, listener->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		st.st_dev == listener->file.st_dev && st.st_ino == listener->file.st_ino)
		unlinkat(listener->dir, listener->name, 0);
}

void listener_close(struct listener *listener)
{
	if (listener->dir >= 0) {
		remove_file(listener);
		close(listener->dir);
	}
	if (listener->fd >= 0)
		close(listener->fd);
	free(listener->name);
	*listener = (struct listener){ .fd = -1, .dir = -1 };
}
