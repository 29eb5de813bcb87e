/* SPDX-License-Identifier: MIT */
#include "base/mountinfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

	if (!dash || sscanf(line, "%lu %*u %u:%u %*s %4095s %255s", &id, &ret_mount->major,
			     &ret_mount->minor, ret_mount->path, ret_mount->options) != 5)
		return false;
	ret_mount->id = id;
	unescape(ret_mount->path);
	ret_mount->super[0] = '\0'; /* rarely absent */
	return ret_mount->path[0] == '/' && sscanf(dash, " - %63s %*s %255s", ret_mount->fstype, ret_mount->super) >= 1;
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
