/* SPDX-License-Identifier: MIT */
#include "dag/export/collapsed.h"

#include <errno.h>
#include <inttypes.h>

#include "dag/export/stacks.h"

static void put_name(const char *name, FILE *out)
{
	for (; *name; name++)
		if (*name == ';')
			fputs("\\x3b", out);
		else
			fputc(*name, out);
}

static void put_stack(const struct stacks *stacks, int32_t stack, int64_t value, FILE *out)
{
	int32_t way[STACKS_DEPTH + 1], n = stacks_way(stacks, stack, way);

	for (int32_t i = 0; i < n; i++) {
		if (i)
			fputc(';', out);
		put_name(stacks->list[way[i]].name, out);
	}
	fprintf(out, " %" PRId64 "\n", value);
}

int collapsed_write(const struct shape *shape, const struct stacks_kind *kind, FILE *out)
{
	struct stacks *stacks = NULL;
	int r = stacks_create(shape, kind->of, &stacks);

	for (int32_t i = 0; r == 0 && i < stacks->n; i++) {
		int64_t value = stacks->list[i].values[kind->value];

		if (value > 0)
			put_stack(stacks, i, value, out);
	}
	stacks_destroy(stacks);
	return r < 0 ? r : ferror(out) || fflush(out) != 0 ? -EIO : 0;
}
