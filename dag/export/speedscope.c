/* SPDX-License-Identifier: MIT */
#include "dag/export/export.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/version.h"
#include "dag/container/path_names.h"
#include "dag/export/stacks.h"
#include "dag/output/json.h"

struct writing {
	struct stacks *stacks[2]; /* by enum stacks_of */
	struct path_names *frames;
	FILE *out;
	int n_profiles;
};

static int put(struct writing *w, json_t *json, bool is_first)
{
	int r = json ? 0 : -ENOMEM;

	if (!is_first)
		fputs(",\n", w->out);
	if (r == 0 && json_dumpf(json, w->out, JSON_COMPACT | JSON_ENCODE_ANY) != 0)
		r = ferror(w->out) ? -EIO : -ENOMEM;
	json_decref(json);
	return r;
}

/* ---- frames ---- */

static int name_frames(struct writing *w)
{
	for (int of = 0; of < 2; of++)
		for (int32_t i = 0; i < w->stacks[of]->n; i++) {
			const char *name = w->stacks[of]->list[i].name;

			if (path_names_add(w->frames, name, strlen(name)) < 0)
				return -ENOMEM;
		}
	return 0;
}

static int put_frames(struct writing *w)
{
	int r = name_frames(w);

	fputs("\"shared\":{\"frames\":[\n", w->out);
	for (int32_t i = 0; i < path_names_count(w->frames) && r == 0; i++)
		r = put(w, json_pack("{s:s}", "name", path_names_text(w->frames, i)), i == 0);
	fputs("]},\n", w->out);
	return r;
}

/* ---- profiles ---- */

static json_t *sample_of(const struct writing *w, const struct stacks *stacks, int32_t stack)
{
	int32_t way[STACKS_DEPTH + 1], n = stacks_way(stacks, stack, way);
	json_t *sample = json_array();

	for (int32_t i = 0; i < n; i++) {
		const char *name = stacks->list[way[i]].name;

		json_array_append_new(sample, json_integer(path_names_find(w->frames, name, strlen(name))));
	}
	return sample;
}

static int64_t sum_of(const struct stacks *stacks, enum stacks_value value)
{
	int64_t sum = 0;

	for (int32_t i = 0; i < stacks->n; i++)
		if (stacks->list[i].values[value] > 0)
			sum = saturate_add(sum, stacks->list[i].values[value]);
	return sum;
}

static int put_values(struct writing *w, const struct stacks *stacks, enum stacks_value value, bool is_weight)
{
	bool is_first = true;
	int r = 0;

	for (int32_t i = 0; i < stacks->n && r == 0; i++) {
		int64_t number = stacks->list[i].values[value];

		if (number <= 0)
			continue;
		r = put(w, is_weight ? json_integer(number) : sample_of(w, stacks, i), is_first);
		is_first = false;
	}
	return r;
}

static int put_profile(struct writing *w, const struct stacks_kind *kind)
{
	const struct stacks *stacks = w->stacks[kind->of];
	int64_t sum = sum_of(stacks, kind->value);
	int r;

	if (sum == 0)
		return 0;
	fprintf(w->out, "%s{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%lld,\"samples\":[\n",
		w->n_profiles++ ? ",\n" : "", kind->title, kind->unit, (long long)sum);
	r = put_values(w, stacks, kind->value, false);
	fputs("],\"weights\":[\n", w->out);
	if (r == 0)
		r = put_values(w, stacks, kind->value, true);
	fputs("]}", w->out);
	return r;
}

static int put_all(struct writing *w)
{
	int r;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"ftrac " FTRAC_VERSION "\",\n", w->out);
	r = put_frames(w);
	fputs("\"profiles\":[\n", w->out);
	for (int i = 0; stacks_names[i] && r == 0; i++)
		r = put_profile(w, &stacks_kinds[i]);
	fputs("]}\n", w->out);
	return r;
}

int export_speedscope(const struct shape *shape, FILE *out)
{
	struct writing w = { .frames = path_names_create(), .out = out };
	int r = w.frames ? 0 : -ENOMEM;

	for (int of = 0; of < 2 && r == 0; of++)
		r = stacks_create(shape, of, &w.stacks[of]);
	if (r == 0)
		r = put_all(&w);
	stacks_destroy(w.stacks[STACKS_PROCESSES]);
	stacks_destroy(w.stacks[STACKS_DIRECTORIES]);
	path_names_destroy(w.frames);
	return r < 0 ? r : json_memory_failed() ? -ENOMEM : ferror(out) || fflush(out) != 0 ? -EIO : 0;
}
