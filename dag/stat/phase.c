/* SPDX-License-Identifier: MIT */

/*
 * The table of phases (Table 5 of the ParaTrac paper): jobs, bytes, and how many files were only read, only written,
 * both, or neither, and the same of processes.
 *
 * Each process counts once, also a process that used no file.  Accesses come file by file, so that no table of files is
 * needed: each phase remembers its current file and counts it when the next one comes.  A file that one phase only reads
 * may be written by another phase, so the total is counted as a phase of its own, not as a sum.
 */

#include "dag/stat/stat.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/vector.h"
#include "dag/container/groups.h"
#include "dag/trace/traces.h"
#include "db/query.h"

enum { NONE, RO, WO, RW, SIDE_MAX }; /* RO | WO is RW */
static const int shown[SIDE_MAX] = { RO, WO, RW, NONE };

struct phase {
	int64_t jobs;
	__int128 read_bytes, written_bytes;
	bool unknown; /* the bytes are */
	uint64_t files[SIDE_MAX], processes[SIDE_MAX];
	bool has_file;
	int64_t file; /* the current one */
	int sides;    /* of the current file */
	bool started;
	int64_t start_ns; /* when its first process or job began */
};

struct process {
	int64_t id; /* 0: the unknown process */
	int64_t start_ns;
	struct phase *phase;
	bool used_files;
	int sides;
};

struct phases {
	struct groups *groups; /* of struct phase */
	int keys;
	struct phase total;
	struct process *processes; /* in ascending order of ids */
	size_t n_processes;
};

/* ---- processes and jobs ---- */

static void begin(struct phase *phase, int64_t start_ns)
{
	if (!phase->started || start_ns < phase->start_ns)
		phase->start_ns = start_ns;
	phase->started = true;
}

static int add_process(struct phases *all, const struct query *query)
{
	const struct process process = {
		.id = query_int(query, all->keys),
		.start_ns = query_int(query, all->keys + 1),
		.phase = groups_find(all->groups, query),
	};

	return process.phase ? vector_push(all->processes, all->n_processes, process) : -ENOMEM;
}

static int add_jobs(struct phases *all, const struct query *query)
{
	bool total = query_int(query, all->keys + 2);
	struct phase *phase = total ? &all->total : groups_find(all->groups, query);

	if (!phase)
		return -ENOMEM;
	phase->jobs = query_int(query, all->keys);
	if (phase->jobs)
		begin(phase, query_int(query, all->keys + 1));
	return 0;
}

/* ---- accesses ---- */

#define ACCESS_COLUMNS "process file known read_bytes written_bytes r w"
enum { ACCESS_PROCESS, ACCESS_FILE, ACCESS_KNOWN, ACCESS_READ, ACCESS_WRITTEN, ACCESS_READS, ACCESS_WRITES };

static void end_file(struct phase *phase)
{
	if (phase->has_file)
		phase->files[phase->sides]++;
	phase->has_file = false;
}

static void add_to(struct phase *phase, const struct query *query, int sides)
{
	if (phase->has_file && phase->file != query_int(query, ACCESS_FILE))
		end_file(phase);
	if (!phase->has_file)
		phase->sides = NONE;
	phase->has_file = true;
	phase->file = query_int(query, ACCESS_FILE);
	phase->sides |= sides;
	phase->unknown |= !query_int(query, ACCESS_KNOWN);
	phase->read_bytes += query_int(query, ACCESS_READ);
	phase->written_bytes += query_int(query, ACCESS_WRITTEN);
}

static int compare_ids(const void *key, const void *element)
{
	int64_t id = *(const int64_t *)key, other = ((const struct process *)element)->id;

	return (id > other) - (id < other);
}

static int add_access(struct phases *all, const struct query *query)
{
	int64_t id = query_int(query, ACCESS_PROCESS);
	int sides = (query_int(query, ACCESS_READS) ? RO : NONE) | (query_int(query, ACCESS_WRITES) ? WO : NONE);
	struct process *process =
		vector_find(&id, all->processes, all->n_processes, sizeof(*process), compare_ids);

	/* A process without a row is the unknown one. */
	process = process ? process : all->processes;
	process->used_files = true;
	process->sides |= sides;
	add_to(process->phase, query, sides);
	add_to(&all->total, query, sides);
	return 0;
}

static void count_processes(struct phases *all)
{
	for (size_t i = 0; i < all->n_processes; i++) {
		struct process *process = &all->processes[i];

		if (!process->used_files && process->id == 0)
			continue;
		process->phase->processes[process->sides]++;
		all->total.processes[process->sides]++;
		begin(process->phase, process->start_ns);
	}
}

static void count_files(struct phases *all)
{
	for (size_t i = 0; i < groups_count(all->groups); i++)
		end_file(groups_data(all->groups, i));
	end_file(&all->total);
}

/* ---- the table ---- */

static int read_all(struct stat_run *run, const char *name, const char *columns, struct phases *all,
	int (*add)(struct phases *all, const struct query *query))
{
	struct query *query;
	int keys;
	int r = traces_query(run->db, name, columns, &run->options->choice, &query, &keys,
		run->failure);

	if (r == 0 && !all->groups) {
		all->keys = keys;
		stat_columns(run->table, query, 0, all->keys - 1);
		r = failure_of_memory(run->failure,
			groups_create(all->keys, sizeof(struct phase), &all->groups));
	}
	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0)
		r = failure_of_memory(run->failure, add(all, query));
	query_end(query);
	return r;
}

static void put_bytes(struct table *table, const struct phase *phase, __int128 bytes)
{
	if (phase->unknown)
		table_null(table);
	else
		table_sum(table, bytes);
}

static void put_phase(struct table *table, const struct phase *phase)
{
	table_int(table, phase->jobs);
	put_bytes(table, phase, phase->read_bytes);
	put_bytes(table, phase, phase->written_bytes);
	for (int i = 0; i < SIDE_MAX; i++)
		table_int(table, (int64_t)phase->files[shown[i]]);
	for (int i = 0; i < SIDE_MAX; i++)
		table_int(table, (int64_t)phase->processes[shown[i]]);
	table_row(table);
}

static int put_phases(struct stat_run *run, const struct phases *all)
{
	cleanup_free size_t *order = groups_by_time(all->groups, offsetof(struct phase, start_ns));

	if (!order)
		return failure_memory(run->failure);
	for (size_t i = 0; i < groups_count(all->groups); i++) {
		const struct phase *phase = groups_data(all->groups, order[i]);

		if (!phase->started)
			continue;
		groups_put(all->groups, order[i], 0, all->keys - 1, run->table);
		put_phase(run->table, phase);
	}
	return 0;
}

static void put_total(struct stat_run *run, const struct phases *all)
{
	if (table_rows(run->table) == 0)
		return;
	table_string(run->table, "Total");
	for (int i = 1; i < all->keys; i++)
		table_null(run->table);
	put_phase(run->table, &all->total);
	table_total(run->table);
}

static int fill(struct stat_run *run)
{
	struct phases all = { 0 };
	int r = read_all(run, "phase.processes", "id start_ns", &all, add_process);

	if (r == 0)
		r = read_all(run, "phase.jobs", "jobs start_ns total", &all, add_jobs);
	table_columns(run->table,
		"jobs read_bytes written_bytes files_ro files_wo files_rw files_none processes_ro "
		"processes_wo processes_rw processes_none");
	if (r == 0)
		r = read_all(run, "phase", ACCESS_COLUMNS, &all, add_access);
	if (r == 0) {
		count_processes(&all);
		count_files(&all);
		r = put_phases(run, &all);
		put_total(run, &all);
	}
	groups_destroy(all.groups);
	free(all.processes);
	if (r == 0 && !run->has_files)
		stat_blank(run, "read_bytes written_bytes files_ro files_wo files_rw files_none "
				"processes_ro "
				"processes_wo processes_rw processes_none");
	table_note(run->table,
		"Files: regular files that were opened, created or executed; a file that several phases used counts "
		"in each of them, and once in the total.  The columns only read to neither count files, only reading to neither "
		"of them all processes of the phase.  A mapped or executed file counts as read, a created or emptied file as "
		"written.");
	stat_note_fidelity(run);
	return r;
}

const struct stat_table stat_phase_table = {
	.name = "phase",
	.fill = fill,
	.needs_ops = false,
	.options = STAT_BY | STAT_CHOICE,
	.queries = "phase.processes phase.jobs phase",
	.help = "jobs, bytes, and what was only read, only written, both or neither",
};
