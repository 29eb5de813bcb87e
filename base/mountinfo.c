/* SPDX-License-Identifier: MIT */
#include "base/mountinfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"

static bool is_octal(const char *digits)
{
	return digits[0] >= '0' && digits[0] <= '3' && digits[1] >= '0' && digits[1] <= '7' &&
	       digits[2] >= '0' && digits[2] <= '7';
}

/* mountinfo writes space, tab, newline and backslash as octal. */
static void unescape(char *text)
{
	char *out = text;

	for (const char *in = text; *in; in++) {
		if (in[0] == '\\' && is_octal(in + 1)) {
			*out++ = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'));
			in += 3;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
}

/* "36 35 98:0 /root /mount/point options - type source options" */
bool mountinfo_parse(const char *line, struct mountinfo *ret_mount)
{
	const char *dash = strstr(line, " - ");
	unsigned long id;

	if (!dash || sscanf(line, "%lu %*u %u:%u %4095s %4095s %255s", &id, &ret_mount->major,
			     &ret_mount->minor, ret_mount->root, ret_mount->path, ret_mount->options) != 6)
		return false;
	ret_mount->id = id;
	unescape(ret_mount->root);
	unescape(ret_mount->path);
	ret_mount->source[0] = ret_mount->super[0] = '\0'; /* rarely absent */
	if (ret_mount->path[0] != '/' ||
		sscanf(dash, " - %63s %1023s %255s", ret_mount->fstype, ret_mount->source, ret_mount->super) < 1)
		return false;
	unescape(ret_mount->source);
	return true;
}

bool mountinfo_has(const struct mountinfo *mount, const char *option)
{
	size_t n = strlen(option);

	for (const char *at = mount->options; (at = strstr(at, option)); at += n)
		if ((at == mount->options || at[-1] == ',') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

int64_t mountinfo_id(const struct mountinfo *mount, const char *key, int64_t fallback)
{
	size_t n = strlen(key);

	for (const char *at = mount->super; (at = strstr(at, key)); at += n)
		if ((at == mount->super || at[-1] == ',') && at[n] == '=')
			return strtoll(at + n + 1, NULL, 10);
	return fallback;
}

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names) != 0)
		names++;
	return *names;
}

/* "v4 0a000001  801 0:45 5e9a12bc:0 no": version, address and port of the server, device, number of the file system */
bool mountinfo_nfs_fsid(const struct mountinfo *mount, const char *line, char ret_fsid[MOUNTINFO_FSID])
{
	char server[64], fsid[64];
	unsigned major, minor;

	if (sscanf(line, " v%*u %63s %*s %u:%u %63s", server, &major, &minor, fsid) != 4 || major != mount->major || minor != mount->minor)
		return false;
	snprintf(ret_fsid, MOUNTINFO_FSID, "%s/%s", server, fsid);
	return true;
}

static bool find_nfs_fsid(const struct mountinfo *mount, char ret_fsid[MOUNTINFO_FSID])
{
	cleanup_file FILE *f = fopen("/proc/fs/nfsfs/volumes", "re");
	cleanup_free char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0)
		if (mountinfo_nfs_fsid(mount, line, ret_fsid))
			return true;
	return false;
}

bool mountinfo_fsid(const struct mountinfo *mount, int fd, char ret_fsid[MOUNTINFO_FSID])
{
	static const char *const nfs[] = { "nfs", "nfs4", NULL };
	static const char *const cluster[] = { "ceph", "lustre", "gpfs", "beegfs", "ocfs2", "gfs2", "pvfs2", NULL };
	struct statfs st;
	unsigned id[2];

	if (is_one_of(mount->fstype, nfs))
		return find_nfs_fsid(mount, ret_fsid);
	if (!is_one_of(mount->fstype, cluster) || (fd < 0 ? statfs(mount->path, &st) : fstatfs(fd, &st)) < 0)
		return false;
	memcpy(id, &st.f_fsid, sizeof(id));
	snprintf(ret_fsid, MOUNTINFO_FSID, "%08x%08x", id[0], id[1]);
	return id[0] || id[1];
}

static size_t add_text(char *text, size_t len, const char *more)
{
	return len + (size_t)snprintf(text + len, MOUNTINFO_TEXT - len, "%s", more ? more : "") + 1;
}

size_t mountinfo_text(const struct mountinfo *mount, const char *fsid, char ret_text[MOUNTINFO_TEXT])
{
	const char *const parts[] = { mount->fstype, mount->path, mount->root, mount->source, fsid };
	size_t len = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		len = add_text(ret_text, len, parts[i]);
	return len;
}

uint64_t mountinfo_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/mnt", &st) == 0 ? st.st_ino : 0;
}

void mountinfo_each(bool (*take)(void *arg, const struct mountinfo *mount), void *arg)
{
	cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *line = NULL;
	struct mountinfo mount;
	size_t room = 0;
	bool more = true;

	while (more && f && getline(&line, &room, f) > 0)
		if (mountinfo_parse(line, &mount))
			more = take(arg, &mount);
}
