/* SPDX-License-Identifier: MIT */
#include "dag/output/statement.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "dag/output/json.h"

#define BUILD_TYPE "https://example.org/ftrac/command/v1"

/* RFC 8089 */
static json_t *file_uri(const char *path)
{
	json_t *encoded = json_uri(path), *uri = encoded ? json_sprintf("file://%s", json_string_value(encoded)) : NULL;

	json_decref(encoded);
	return uri;
}

static json_t *text_or_null(const char *text)
{
	return text ? json_text(text, strlen(text)) : NULL;
}

static json_t *time_of(int64_t ns)
{
	return ns > 0 ? json_time(ns, false) : NULL;
}

static json_t *descriptor(const struct artifact *a)
{
	json_t *name = text_or_null(a->name), *uri = file_uri(a->path);

	if (a->sha256)
		return json_pack("{s:o,s:o,s:{s:s}}", "name", name, "uri", uri, "digest", "sha256", a->sha256);
	return json_pack("{s:o,s:o,s:{s:s}}", "name", name, "uri", uri, "annotations", "ftrac_not_hashed", a->reason);
}

enum which { ALL, HASHED, NOT_HASHED };

static json_t *descriptors(const struct artifacts *artifacts, enum which which)
{
	json_t *array = json_array();
	bool failed = !array;

	for (int32_t i = 0; i < artifacts->n_list && !failed; i++) {
		const struct artifact *a = &artifacts->list[i];

		if (which == ALL || (which == HASHED) == (a->sha256 != NULL))
			failed = json_array_append_new(array, descriptor(a)) < 0;
	}
	if (!failed)
		return array;
	json_decref(array);
	return NULL;
}

/* s:o* leaves out what is not known. */
static json_t *definition(const struct statement *s)
{
	return json_pack("{s:s,s:{s:o*,s:o*},s:o}", "buildType", BUILD_TYPE, "externalParameters", "command", text_or_null(s->command),
		"directory", text_or_null(s->directory), "resolvedDependencies", descriptors(&s->materials, ALL));
}

static json_t *invocation(const struct statement *s)
{
	char text[512];

	if (!s->host || !s->start_ns)
		return NULL;
	snprintf(text, sizeof(text), "%s/%lld", s->host, (long long)s->start_ns);
	return json_text(text, strlen(text));
}

static json_t *details(const struct statement *s)
{
	return json_pack("{s:{s:s,s:{s:o*}},s:{s:o*,s:o*,s:o*},s:o}", "builder", "id", s->builder, "version", "ftrac",
		text_or_null(s->version), "metadata", "invocationId", invocation(s), "startedOn", time_of(s->start_ns), "finishedOn",
		time_of(s->end_ns), "byproducts", descriptors(&s->products, NOT_HASHED));
}

int statement_write(const struct statement *s, FILE *out)
{
	json_t *json = json_pack("{s:s,s:o,s:s,s:{s:o,s:o}}", "_type", "https://in-toto.io/Statement/v1", "subject",
		descriptors(&s->products, HASHED), "predicateType", "https://slsa.dev/provenance/v1", "predicate", "buildDefinition",
		definition(s), "runDetails", details(s));
	int r = json ? 0 : -ENOMEM;

	if (r == 0 && json_dumpf(json, out, JSON_INDENT(2)) < 0)
		r = ferror(out) ? -EIO : -ENOMEM;
	json_decref(json);
	if (r == 0 && (fputc('\n', out) == EOF || fflush(out) != 0))
		r = -errno;
	return r < 0 ? r : json_memory_failed() ? -ENOMEM : 0;
}
