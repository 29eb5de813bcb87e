/* SPDX-License-Identifier: MIT */
#include "dag/output/json.h"

#include <errno.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/output.h"
#include "base/utf8.h"

static atomic_bool failed;

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory && size)
		atomic_store(&failed, true);
	return memory;
}

void json_memory_watch(void)
{
	json_set_alloc_funcs(allocate, free);
}

bool json_memory_failed(void)
{
	return atomic_load(&failed);
}

json_t *json_text(const char *bytes, size_t len)
{
	json_t *json = json_stringn(bytes, len);
	size_t fit_len;
	cleanup_free char *fit = json ? NULL : utf8_replace(bytes, len, &fit_len);

	return fit ? json_stringn(fit, fit_len) : json;
}

json_t *json_time(int64_t ns, bool fraction)
{
	const time_t seconds = (time_t)(ns / 1000000000);
	char text[64];
	struct tm tm;
	size_t len;

	if (ns < 0 || !gmtime_r(&seconds, &tm) || !(len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm)))
		return NULL;
	if (fraction)
		snprintf(text + len, sizeof(text) - len, ".%09lldZ", (long long)(ns % 1000000000));
	else
		snprintf(text + len, sizeof(text) - len, "Z");
	return json_string(text);
}

char *json_uri_text(const char *path)
{
	char *uri = NULL;
	size_t size;
	FILE *out = open_memstream(&uri, &size);

	if (!out)
		return NULL;
	for (; *path; path++)
		if (strchr("-._~/", *path) || (*path >= '0' && *path <= '9') || (*path >= 'A' && *path <= 'Z') ||
			(*path >= 'a' && *path <= 'z'))
			fputc(*path, out);
		else
			fprintf(out, "%%%02X", (unsigned char)*path);
	return output_close_text(out, &uri);
}

json_t *json_uri(const char *path)
{
	char *uri = json_uri_text(path);
	json_t *json = uri ? json_string(uri) : NULL;

	free(uri);
	return json;
}

int json_read_pairs(FILE *in, const char *const names[2], int (*take)(void *arg, const char *const texts[2]), void *arg)
{
	json_t *all = json_loadf(in, 0, NULL), *one;
	size_t i;
	int r = json_is_array(all) ? 0 : -EPROTO;

	json_array_foreach(all, i, one) {
		const char *const texts[] = { json_string_value(json_object_get(one, names[0])),
			json_string_value(json_object_get(one, names[1])) };

		if (r == 0)
			r = take(arg, texts);
	}
	json_decref(all);
	return r;
}
