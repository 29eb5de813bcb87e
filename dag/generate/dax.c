/* SPDX-License-Identifier: MIT */
#include "dag/generate/generate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cli.h"
#include "dag/output/xml.h"
#include "dag/shape/attributes.h"

struct writer {
	struct xml xml;
	const struct jobs *jobs;
	const struct generate_facts *facts;
	const struct job *job; /* the one that is being written */
	struct printable clean;
};

static void attribute(struct writer *w, const char *name, const char *value)
{
	xml_attribute(&w->xml, name, value);
}

/* A descriptive text: any bytes become UTF-8. */
static void title(struct writer *w, const char *name, const char *value)
{
	attribute(w, name, printable_text(&w->clean, value));
}

/* Version 2.1, as simulators read it: a size is required, and a file comes from one job, or from outside.  A job that is the only one to
 * write a file makes it; where several do, they wait for each other as the elements "child" say. */
static void put_simulated_use(void *arg, int32_t index, bool input, bool output)
{
	struct writer *w = arg;
	const struct job_file *file = &w->jobs->files[index];
	const bool makes = output && !file->source && file->producer == w->job - w->jobs->jobs;

	if (file->directory)
		return;
	(void)input;
	xml_begin(&w->xml, "uses");
	attribute(w, "file", file->path);
	attribute(w, "link", makes ? "output" : "input");
	attribute(w, "register", "false");
	attribute(w, "transfer", makes && !file->kept ? "false" : "true");
	xml_attribute_id(&w->xml, "size", 0, file->bytes == WORKFLOW_UNKNOWN ? 0 : file->bytes);
	xml_end(&w->xml);
}

static void put_simulated_job(struct writer *w, const struct job *job)
{
	const int64_t ns = generate_runtime_ns(w->facts, job);
	char runtime[64];

	snprintf(runtime, sizeof(runtime), "%lld.%09lld", (long long)(ns / 1000000000), (long long)(ns % 1000000000));
	xml_begin(&w->xml, "job");
	attribute(w, "id", job->name);
	attribute(w, "name", job_program(w->jobs, job));
	attribute(w, "runtime", runtime);
	w->job = job;
	job_each_use(job, put_simulated_use, w);
	xml_end(&w->xml);
}

static void put_use(void *arg, int32_t index, bool input, bool output)
{
	struct writer *w = arg;
	const struct job_file *file = &w->jobs->files[index];

	if (file->directory)
		return;
	xml_begin(&w->xml, "uses");
	attribute(w, "name", file->path);
	attribute(w, "link", input && output ? "inout" : input ? "input" : "output");
	attribute(w, "register", "false");
	attribute(w, "transfer", output && !file->kept ? "false" : "true");
	if (file->bytes != WORKFLOW_UNKNOWN)
		xml_attribute_id(&w->xml, "size", 0, file->bytes);
	xml_end(&w->xml);
}

static void put_job(struct writer *w, const struct job *job)
{
	char **argv = job->command == JOBS_NONE ? NULL : w->jobs->commands[job->command].argv;
	cleanup_free char *arguments = argv && argv[0] ? cli_join(argv + 1) : NULL;

	xml_begin(&w->xml, "job");
	attribute(w, "id", job->name);
	attribute(w, "name", job_program(w->jobs, job));
	if (job->xform)
		title(w, "node-label", job->xform);
	w->clean.failed |= argv && argv[0] && !arguments;
	if (arguments && *arguments) {
		xml_begin(&w->xml, "argument");
		xml_text(&w->xml, arguments);
		xml_end(&w->xml);
	}
	job_each_use(job, put_use, w);
	xml_end(&w->xml);
}

static void put_parents(struct writer *w, const struct job *job)
{
	if (job->n_deps == 0)
		return;
	xml_begin(&w->xml, "child");
	attribute(w, "ref", job->name);
	for (int32_t i = 0; i < job->n_deps; i++) {
		xml_begin(&w->xml, "parent");
		attribute(w, "ref", w->jobs->jobs[job->deps[i]].name);
		xml_end(&w->xml);
	}
	xml_end(&w->xml);
}

int generate_dax(const struct jobs *jobs, const struct generate_facts *facts, FILE *out,
	struct failure *failure)
{
	struct writer w = { .jobs = jobs, .facts = facts };
	bool failed;
	int r = generate_check(jobs, "XML", xml_says, failure);

	if (r == 0)
		r = xml_open(&w.xml, out);
	if (r < 0)
		return r;
	xml_begin(&w.xml, "adag");
	attribute(&w, "xmlns", "http://pegasus.isi.edu/schema/DAX");
	attribute(&w, "version", facts->simulated ? "2.1" : "3.6");
	title(&w, "name", *facts->name ? facts->name : "workflow");
	for (int32_t i = 0; i < jobs->n_jobs; i++)
		(facts->simulated ? put_simulated_job : put_job)(&w, &jobs->jobs[i]);
	for (int32_t i = 0; i < jobs->n_jobs; i++)
		put_parents(&w, &jobs->jobs[i]);
	r = xml_close(&w.xml, out);
	failed = w.clean.failed;
	printable_finish(&w.clean);
	return failed ? -ENOMEM : r;
}
