/* SPDX-License-Identifier: MIT */
#include "dag/output/annotations.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/output.h"
#include "base/version.h"
#include "dag/output/json.h"

#define ROOT "SRCROOT" /* what relative names are relative to */
#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

static json_t *text_of(const char *text)
{
	return json_text(text, strlen(text));
}

static json_t *message(const char *text)
{
	return json_pack("{s:o}", "text", text_of(text));
}

static json_t *rules_of(const struct annotations *all)
{
	json_t *rules = json_array();

	for (int32_t i = 0; i < all->n_rules; i++) {
		const struct annotation_rule *r = &all->rules[i];

		json_array_append_new(rules, json_pack("{s:s,s:o,s:o,s:o,s:{s:s},s:{s:[s],s:s}}", "id", r->id, "shortDescription",
							     message(r->text), "fullDescription", message(r->help), "help",
							     message(r->help), "defaultConfiguration", "level", r->level,
							     "properties", "tags", "build", "problem.severity",
							     strcmp(r->level, "note") == 0 ? "recommendation" : r->level));
	}
	return rules;
}

/* region: in which line; 0: in the file. */
static json_t *location_of(const char *file, int32_t line)
{
	json_t *place = json_pack("{s:{s:o,s:s}}", "artifactLocation", "uri", json_uri(file), "uriBaseId", ROOT);

	if (line)
		json_object_set_new(place, "region", json_pack("{s:i}", "startLine", line));
	return json_pack("{s:o}", "physicalLocation", place);
}

/* Those that are the same are counted. */
static json_t *fingerprint_of(const struct annotations *all, int32_t n)
{
	char text[sizeof("0123456789abcdef:") + 11];
	int same = 1;

	for (int32_t i = 0; i < n; i++)
		same += all->all[i].fingerprint == all->all[n].fingerprint;
	snprintf(text, sizeof(text), "%016" PRIx64 ":%d", all->all[n].fingerprint, same);
	return json_pack("{s:s}", "primaryLocationLineHash", text);
}

static json_t *result_of(const struct annotations *all, int32_t i)
{
	const struct annotation *a = &all->all[i];
	const struct annotation_rule *rule = &all->rules[a->rule];
	json_t *result = json_pack("{s:s,s:i,s:s,s:o,s:o}", "ruleId", rule->id, "ruleIndex", a->rule, "level", rule->level, "message",
		message(a->text), "partialFingerprints", fingerprint_of(all, i));

	if (a->file)
		json_object_set_new(result, "locations", json_pack("[o]", location_of(a->file, a->line)));
	if (a->other) {
		json_t *other = location_of(a->other, 0);

		json_object_set_new(other, "id", json_integer(1));
		json_object_set_new(other, "message", message("the file"));
		json_object_set_new(result, "relatedLocations", json_pack("[o]", other));
	}
	return result;
}

static json_t *results_of(const struct annotations *all)
{
	json_t *results = json_array();

	for (int32_t i = 0; i < all->n; i++)
		json_array_append_new(results, result_of(all, i));
	return results;
}

int annotations_sarif(const struct annotations *all, FILE *out)
{
	json_t *run = json_pack("{s:{s:{s:s,s:s,s:o}},s:[{s:b,s:[{s:s,s:o}]}],s:{s:{s:o}},s:o,s:s}", "tool", "driver", "name",
		all->program, "version", FTRAC_VERSION, "rules", rules_of(all), "invocations", "executionSuccessful", 1,
		"toolExecutionNotifications", "level", "note", "message", message(all->note), "originalUriBaseIds", ROOT, "description",
		message("the directory of the project"), "results", results_of(all), "columnKind", "utf16CodeUnits");
	json_t *log = json_pack("{s:s,s:s,s:[o]}", "$schema", SCHEMA, "version", "2.1.0", "runs", run);
	int r = !log || json_memory_failed() ? -ENOMEM : json_dumpf(log, out, JSON_INDENT(1)) < 0 ? -EIO : 0;

	json_decref(log);
	if (r == 0)
		fputc('\n', out);
	return r < 0 ? r : ferror(out) || fflush(out) != 0 ? -EIO : 0;
}
