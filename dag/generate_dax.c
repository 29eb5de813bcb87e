/* SPDX-License-Identifier: MIT */
#include "dag/generate.h"

#include <errno.h>
#include <libxml/xmlwriter.h>
#include <string.h>

#include "base/cli.h"
#include "dag/attributes.h"

#define XML(text) ((const xmlChar *)(text))

struct writer {
	xmlTextWriter *xml;
	const struct jobs *jobs;
	struct attribute_value clean;
};

static void attribute(struct writer *w, const char *name, const char *value)
{
	xmlTextWriterWriteAttribute(w->xml, XML(name), XML(attribute_clean(&w->clean, value)));
}

static void put_use(void *arg, int32_t index, bool input, bool output)
{
	struct writer *w = arg;
	const struct job_file *file = &w->jobs->files[index];

	if (file->directory)
		return;
	xmlTextWriterStartElement(w->xml, XML("uses"));
	attribute(w, "name", file->path);
	attribute(w, "link", input && output ? "inout" : input ? "input" : "output");
	attribute(w, "register", "false");
	attribute(w, "transfer", output && !file->kept ? "false" : "true");
	if (file->bytes != WORKFLOW_UNKNOWN)
		xmlTextWriterWriteFormatAttribute(w->xml, XML("size"), "%lld",
			(long long)file->bytes);
	xmlTextWriterEndElement(w->xml);
}

static void put_job(struct writer *w, const struct job *job)
{
	char **argv = job->command == JOBS_NONE ? NULL : w->jobs->commands[job->command].argv;
	char *arguments = argv && argv[0] ? cli_join(argv + 1) : NULL;

	xmlTextWriterStartElement(w->xml, XML("job"));
	attribute(w, "id", job->name);
	attribute(w, "name", job_program(w->jobs, job));
	if (job->xform)
		attribute(w, "node-label", job->xform);
	if (arguments && *arguments)
		xmlTextWriterWriteElement(w->xml, XML("argument"),
			XML(attribute_clean(&w->clean, arguments)));
	job_each_use(job, put_use, w);
	xmlTextWriterEndElement(w->xml);
	free(arguments);
}

static void put_parents(struct writer *w, const struct job *job)
{
	if (job->n_deps == 0)
		return;
	xmlTextWriterStartElement(w->xml, XML("child"));
	attribute(w, "ref", job->name);
	for (int32_t i = 0; i < job->n_deps; i++) {
		xmlTextWriterStartElement(w->xml, XML("parent"));
		attribute(w, "ref", w->jobs->jobs[job->deps[i]].name);
		xmlTextWriterEndElement(w->xml);
	}
	xmlTextWriterEndElement(w->xml);
}

static int write_bytes(void *out, const char *bytes, int len)
{
	return fwrite(bytes, 1, (size_t)len, out) == (size_t)len ? len : -1;
}

int generate_dax(const struct jobs *jobs, const struct generate_facts *facts, FILE *out)
{
	xmlOutputBuffer *buffer = xmlOutputBufferCreateIO(write_bytes, NULL, out, NULL);
	struct writer w = { .xml = buffer ? xmlNewTextWriter(buffer) : NULL, .jobs = jobs };
	bool failed;

	if (!w.xml)
		return -ENOMEM;
	xmlTextWriterSetIndent(w.xml, 1);
	xmlTextWriterStartDocument(w.xml, NULL, "UTF-8", NULL);
	xmlTextWriterStartElement(w.xml, XML("adag"));
	attribute(&w, "xmlns", "http://pegasus.isi.edu/schema/DAX");
	attribute(&w, "version", "3.6");
	attribute(&w, "name", *facts->name ? facts->name : "workflow");
	for (int32_t i = 0; i < jobs->n_jobs; i++)
		put_job(&w, &jobs->jobs[i]);
	for (int32_t i = 0; i < jobs->n_jobs; i++)
		put_parents(&w, &jobs->jobs[i]);
	xmlTextWriterEndDocument(w.xml);
	xmlFreeTextWriter(w.xml);
	failed = w.clean.failed;
	attribute_value_finish(&w.clean);
	return failed ? -ENOMEM : ferror(out) || fflush(out) != 0 ? -EIO : 0;
}
