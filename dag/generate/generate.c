/* SPDX-License-Identifier: MIT */

/* wfdag generate: a workflow for other workflow systems, from the trace of a run. */

#include "dag/generate/generate.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/output.h"
#include "base/place.h"
#include "base/version.h"
#include "dag/generate/options.h"
#include "dag/generate/rules.h"
#include "dag/graph/workflow.h"
#include "dag/trace/choice.h"
#include "dag/trace/traces.h"
#include "db/query.h"

struct job_list {
	const struct generate_options *options;
	struct generate_facts facts;
	struct jobs *jobs;
};

/* ---- what is known of the run ---- */

static const char *fact(const struct query_db *db, const char *key)
{
	const char *text = query_fact_text(db, key);

	return text ? text : "";
}

static void read_facts(struct job_list *list, struct query_db *db, const struct workflow *w)
{
	struct generate_facts *f = &list->facts;

	f->host = fact(db, "host");
	f->user = fact(db, "user");
	f->kernel = fact(db, "kernel");
	f->cpu_model = fact(db, "cpu_model");
	f->name = fact(db, "command");
	f->cpus = query_fact(db, "cpus", 0);
	f->memory_bytes = query_fact(db, "memory_bytes", 0);
	f->begin_ns = w->begin_ns;
	f->end_ns = query_fact(db, "end_ns", w->end_ns);
	f->wfformat = list->options->wfformat;
	f->simulated = list->options->simulated;
}

/* ---- what cannot be done, or is to be known ---- */

static bool uses_files(const struct job *job)
{
	return job->changes || job->n_deps + job->n_inputs + job->n_outputs > 0;
}

static int check_commands(const struct jobs *jobs, struct failure *failure)
{
	int32_t unknown = 0, first = JOBS_NONE, users = 0;

	for (int32_t i = 0; i < jobs->n_jobs; i++) {
		users += uses_files(&jobs->jobs[i]);
		if (jobs->jobs[i].script || !uses_files(&jobs->jobs[i]))
			continue;
		first = first == JOBS_NONE ? i : first;
		unknown++;
	}
	if (users == 0)
		return failure_set(failure, -ENODATA,
			"no job used a file of the workflow, so there is nothing to generate (files of the "
			"system do not count): trace the run by 'ftrac run', not by procmon");
	if (unknown)
		return failure_set(failure, -ENODATA,
			"the commands of %d of %d jobs are unknown (%s ...): trace the run by 'ftrac run', which "
			"misses none; put what a shell does itself in a script into a script of its own",
			unknown, jobs->n_jobs, jobs->jobs[first].name);
	return 0;
}

/* What no command does again would be missing, or be wrong. */
static int check_gaps(const struct jobs *jobs, struct failure *failure)
{
	static const char *const texts[] = {
		[GAP_SHELL] = "%2$s (process %3$lld) changed '%1$s' itself, not by a command that it started, so no rule "
			      "can do that again: put it into a command of its own, as with sh -c",
		[GAP_SHARED] = "%2$s (process %3$lld) read a part of '%1$s' by a descriptor that other processes read, too, "
			       "so no rule can run it alone: have it read a file of its own",
	};
	const struct task *task;

	if (jobs->n_gaps < 0)
		return failure_set(failure, -ENODATA,
			"the trace has no single operations, which tell how names changed: trace the run "
			"without --no-ops");
	if (jobs->n_gaps == 0)
		return 0;
	task = workflow_task(jobs->workflow, jobs->gap.process);
	return failure_set(failure, -ENODATA, texts[jobs->gap.kind], jobs->gap.path,
		task->program ? task->program : "a program", (long long)task->pid);
}

/* A pipe of which one end is no command that is known: what a shell itself wrote, or several. */
static int check_pipes(const struct jobs *jobs, struct failure *failure)
{
	for (int32_t i = 0; i < jobs->n_commands; i++) {
		const struct job_command *command = &jobs->commands[i];
		const struct job *job = &jobs->jobs[command->job];

		if (uses_files(job) && jobs_lost_pipe(jobs, i))
			return failure_set(failure, -ENODATA,
				"a pipe joined %s (process %lld) to something that its shell did itself, or to "
				"several commands, so no rule can run it: put the whole pipe into a command of "
				"its own, as with sh -c",
				job_program(jobs, job),
				(long long)workflow_task(jobs->workflow, command->process)->pid);
	}
	return 0;
}

static void warn_failures(const struct jobs *jobs)
{
	int32_t failed = 0, last = 0;

	for (int32_t i = 0; i < jobs->n_jobs; i++)
		if (jobs->jobs[i].status > 0) {
			failed++;
			last = i;
		}
	if (failed)
		err_print("warning: %d jobs failed in the run (%s with status %d ...): the rules ignore their exit "
			  "status",
			failed, jobs->jobs[last].name, jobs->jobs[last].status);
}

/* Files that come from nowhere, if not from the driver. */
static void warn_missing(const struct jobs *jobs)
{
	int32_t missing = 0, last = 0;

	for (int32_t i = 0; i < jobs->n_jobs; i++)
		for (int32_t j = 0; j < jobs->jobs[i].n_inputs; j++)
			if (jobs->files[jobs->jobs[i].inputs[j]].drivers) {
				missing++;
				last = jobs->jobs[i].inputs[j];
			}
	if (missing)
		err_print("warning: the driver of the jobs wrote files that the jobs need ('%s' ...): no rule makes "
			  "them, so they must exist before",
			jobs->files[last].path);
}

/* In a directory of its own, a job finds there what the workflow is known to use. */
static void warn_listed(const struct jobs *jobs)
{
	const char *directory = NULL;
	int32_t listing = 0, last = 0;

	for (int32_t i = 0; i < jobs->n_jobs; i++)
		for (int32_t j = 0; j < jobs->jobs[i].n_listed; j++)
			if (jobs->jobs[i].listed[j][0] != '/') {
				listing += last != i || !directory;
				directory = jobs->jobs[i].listed[j];
				last = i;
			}
	if (directory)
		err_print("warning: %d jobs listed directories (%s '%s' ...): in CWL they find there only files that they, or the jobs "
			  "before them, used",
			listing, jobs->jobs[last].name, directory);
}

/* ---- what is written ---- */

static int put_rules(const struct job_list *list, enum generate_output output, FILE *out)
{
	static bool (*const says[])(const char *) = { [GENERATE_MAKE] = rules_make_says,
		[GENERATE_NINJA] = rules_ninja_says,
		[GENERATE_SNAKEMAKE] = rules_snakemake_says,
		[GENERATE_DASK] = rules_dask_says };
	struct rules *rules = NULL;
	int r = rules_create(list->jobs, says[output], &rules);

	if (r == 0)
		r = output == GENERATE_MAKE    ? rules_write_make(rules, out)
		    : output == GENERATE_NINJA ? rules_write_ninja(rules, out)
		    : output == GENERATE_DASK  ? rules_write_dask(rules, out)
					       : rules_write_snakemake(rules, out);
	rules_destroy(rules);
	return r;
}

static int put(const struct job_list *list, enum generate_output output, FILE *out,
	struct failure *failure)
{
	switch (output) {
	case GENERATE_DAGMAN:
		return generate_dagman(list->jobs, &list->facts, out);
	case GENERATE_PEGASUS:
		return generate_pegasus(list->jobs, &list->facts, out, failure);
	case GENERATE_DAX:
		return generate_dax(list->jobs, &list->facts, out, failure);
	case GENERATE_CWL:
		return generate_cwl(list->jobs, &list->facts, out, failure);
	case GENERATE_WFFORMAT:
		return generate_wfformat(list->jobs, &list->facts, out);
	default:
		return put_rules(list, output, out);
	}
}

static int put_file(const struct job_list *list, enum generate_output output, const char *file,
	struct failure *failure)
{
	struct output to;
	int r = output_open(file, &to);
	FILE *out;

	if (r < 0)
		return r;
	out = output_stream(to.fd);
	if (!out)
		return output_close(&to, -errno);
	r = put(list, output, out, failure);
	if (fclose(out) != 0 && r == 0)
		r = -errno;
	return output_close(&to, r);
}

static int write_all(const struct job_list *list, struct failure *failure)
{
	for (int i = 0; i < GENERATE_MAX; i++) {
		const char *file = list->options->outputs[i];
		struct failure refusal = { 0 };
		int r = file ? put_file(list, i, file, &refusal) : 0;

		if (r == -EILSEQ)
			return failure_set(failure, r,
				"cannot write '%s': %s; take --make, --ninja, --snakemake, --dask or "
				"--wfformat",
				file, refusal.text);
		if (r < 0)
			return r == -ENOMEM ? failure_memory(failure)
					    : failure_set(failure, r, "cannot write '%s': %s", file,
						      place_explain(r));
	}
	return 0;
}

/* WfFormat is JSON, which is UTF-8. */
static void warn_unsaid(const struct job_list *list)
{
	const struct jobs *jobs = list->jobs;
	int32_t unsaid = 0, last = 0;

	for (int32_t i = 0; i < jobs->n_jobs && list->options->outputs[GENERATE_WFFORMAT]; i++)
		if (!generate_says_command(jobs, &jobs->jobs[i], generate_says_utf8)) {
			unsaid++;
			last = i;
		}
	if (unsaid)
		err_print("the commands of %d jobs (%s ...) are not UTF-8, as JSON must be: they "
			  "are left out of '%s'",
			unsaid, jobs->jobs[last].name, list->options->outputs[GENERATE_WFFORMAT]);
}

static bool wants_rules(const struct generate_options *o)
{
	return o->outputs[GENERATE_MAKE] || o->outputs[GENERATE_NINJA] ||
	       o->outputs[GENERATE_SNAKEMAKE] || o->outputs[GENERATE_DASK] || o->outputs[GENERATE_CWL] || o->outputs[GENERATE_DAGMAN];
}

static int check_rules(const struct job_list *list, struct failure *failure)
{
	int r;

	if (!wants_rules(list->options))
		return 0;
	r = check_commands(list->jobs, failure);
	if (r == 0)
		r = check_gaps(list->jobs, failure);
	if (r == 0)
		r = check_pipes(list->jobs, failure);
	if (r == 0) {
		warn_failures(list->jobs);
		warn_missing(list->jobs);
	}
	if (r == 0 && list->options->outputs[GENERATE_CWL])
		warn_listed(list->jobs);
	return r;
}

/* ---- the whole ---- */

static int generate_from(struct query_db *db, const struct generate_options *o,
	struct failure *failure)
{
	const struct workflow_options options = { .choice = &o->choice, .missing_names = true };
	struct job_list list = { .options = o };
	struct workflow *workflow = NULL;
	int r = workflow_load(db, &options, &workflow, failure);

	if (r == 0)
		r = jobs_load(db, workflow, &o->choice, o->level, o->root, &list.jobs, failure);
	if (r == 0 && list.jobs->n_jobs == 0)
		r = failure_set(failure, -ENODATA,
			"there are no jobs in the trace: trace what starts them, as "
			"with 'ftrac run -- make'");
	if (r == 0) {
		read_facts(&list, db, workflow);
		r = check_rules(&list, failure);
	}
	if (r == 0) {
		warn_unsaid(&list);
		r = write_all(&list, failure);
	}
	jobs_destroy(list.jobs);
	workflow_destroy(workflow);
	return r;
}

static int generate(const struct generate_options *o)
{
	struct failure failure = { 0 };
	struct query_db *db = NULL;
	bool whole = false;
	int r = traces_open(&o->traces, QUERY_OPS | (o->foreign ? QUERY_FOREIGN : 0), err_print, &db,
		&failure);

	if (r == 0) {
		whole = traces_are_whole(db, err_print);
		r = generate_from(db, o, &failure);
	}
	query_close(db);
	return r < 0 ? failure_status(&failure) : o->strict && !whole ? TRACES_EXIT_STRICT : 0;
}

int generate_main(int argc, char **argv)
{
	struct generate_options options;
	int status;

	if (generate_options_parse(argc, argv, &options, &status))
		status = generate(&options);
	generate_options_finish(&options);
	return status;
}
