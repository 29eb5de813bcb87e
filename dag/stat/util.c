/* SPDX-License-Identifier: MIT */

/* Use of the processor, and where the rest of the time went. */

#include <errno.h>

#include "base/failure.h"
#include "base/saturate.h"
#include "dag/container/distribution.h"
#include "dag/stat/levels.h"
#include "dag/trace/traces.h"
#include "db/query.h"

enum { LIFE, CPU, QUEUE, BLOCK_IO, MEMORY, TRACED_IO, PART_MAX };

struct use {
	struct reals utilization;
	int64_t parts[PART_MAX];
	bool unknown[PART_MAX];
	int64_t count;
};

static int add_use(struct level *level, const struct query *query)
{
	struct use *use = groups_find(level->groups, query);
	int column = level->keys + 1;

	if (!use)
		return -ENOMEM;
	use->count++;
	if (query_type(query, column) != QUERY_NULL &&
		reals_add(&use->utilization, query_real(query, column)) < 0)
		return -ENOMEM;
	for (int i = 0; i < PART_MAX; i++) {
		use->unknown[i] |= query_type(query, column + 1 + i) == QUERY_NULL;
		use->parts[i] = saturate_add(use->parts[i], query_int(query, column + 1 + i));
	}
	return 0;
}

static int read_uses(struct stat_run *run, const char *name, const struct choice *choice,
	struct level *level)
{
	struct query *query;
	int r = traces_query(run->db, name, NULL, choice, &query, &level->keys, run->failure);

	if (r == 0)
		r = failure_of_memory(run->failure,
			groups_create(level->keys + 1, sizeof(struct use), &level->groups));
	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0)
		r = failure_of_memory(run->failure, add_use(level, query));
	query_end(query);
	return r;
}

/* The rest is the life without all known parts.  It is unknown if their sum is larger: threads ran at the same time. */
static void put_parts(struct table *table, const struct use *use)
{
	int64_t rest = use->parts[LIFE];

	for (int i = 0; i < PART_MAX; i++) {
		if (use->unknown[i])
			table_null(table);
		else
			table_int(table, use->parts[i]);
		if (i != LIFE && !use->unknown[i])
			rest = saturate_subtract(rest, use->parts[i]);
	}
	if (!use->unknown[LIFE] && !use->unknown[CPU] && rest >= 0)
		table_int(table, rest);
}

static void put_use(struct stat_run *run, const struct level *level, size_t group, bool all,
	int64_t memory)
{
	const struct use *use = groups_data(level->groups, group);
	struct table *table = run->table;

	(void)memory;
	groups_put(level->groups, group, 0, level->keys - 1, table);
	if (all)
		table_string(table, LEVELS_ALL);
	groups_put(level->groups, group, level->keys, level->keys, table);
	table_int(table, use->count);
	table_real(table, reals_min(&use->utilization));
	table_real(table, reals_max(&use->utilization));
	table_real(table, reals_mean(&use->utilization));
	table_real(table, reals_deviation(&use->utilization));
	put_parts(table, use);
	table_row(table);
}

static void uses_finish(struct level *level)
{
	for (size_t i = 0; level->groups && i < groups_count(level->groups); i++)
		reals_finish(&((struct use *)groups_data(level->groups, i))->utilization);
	level_finish(level);
}

static void note_tracing(struct stat_run *run)
{
	int64_t cpu_ns = query_fact(run->db, "tracer_cpu_ns", -1);

	if (cpu_ns >= 0)
		table_note(run->table, "Tracing itself used %.1f s of CPU time, which is in none of these rows; how "
			"much longer the run took because of tracing is unknown.", cpu_ns / 1e9);
}

static void note_util(struct stat_run *run)
{
	table_note(run->table,
		"min, max, mean, sd: of (user + system time) / run time.  The times are sums "
		"over the processes: life is the time in which the job or process lived; queue, block io and memory (swap "
		"and reclaim) "
		"are delays that the kernel counts, traced io is spent in operations of "
		"the traced file system, of all kinds, rest is the remaining time: sleep, children, pipes, the "
		"network.");
	table_note(run->table,
		"'-': unknown.  queue, block io and memory need taskstats, the latter two also "
		"kernel.task_delayacct=1.  rest includes what is unknown; it is '-' if threads ran at the same time.  For a trace of "
		"system calls the table waits has all of it.");
	note_tracing(run);
}

static int fill_steps(struct stat_run *run)
{
	int r = stat_rows_total(run, "util.steps");

	table_note(run->table,
		"time: in which any process of the row lived, so that rows overlap.  utilization: cpu / time, of one processor.  cpu and what "
		"follows are sums over the processes: queue is waiting for a processor, block io and memory (swap and reclaim) are delays "
		"that the kernel counts, traced io is spent in operations of traced files.  rest is the time without any of these and without a "
		"child that lived: sleep, pipes, the network, page faults.");
	table_note(run->table, "'-': unknown.  block io and memory need taskstats and kernel.task_delayacct=1.  rest is '-' if threads ran at the "
		"same time, or a process worked beside its children.  For a trace of system calls the table waits has all of it.");
	note_tracing(run);
	return r;
}

static int fill_table(struct stat_run *run)
{
	static const struct levels_table kind = { "util", "util",
		"of count min_share max_share mean_share sd_share life_ns "
		"cpu_ns queue_ns block_io_ns memory_ns traced_io_ns rest_ns",
		0, read_uses, put_use };
	struct level upper = { 0 }, lower = { 0 };
	int r;

	if (stat_is_by_step(run->options))
		return fill_steps(run);
	r = levels_fill(run, &kind, &upper, &lower);

	if (r == 0)
		levels_note_counts(run, &upper, &lower);
	note_util(run);
	uses_finish(&upper);
	uses_finish(&lower);
	return r;
}

const struct stat_table stat_util_table = {
	.name = "util",
	.fill = fill_table,
	.needs_ops = false,
	.options = STAT_BY | STAT_PER | STAT_CHOICE,
	.queries = "util",
	.steps = "util.steps",
	.help = "use of the processor, and where the rest of the time went",
};
