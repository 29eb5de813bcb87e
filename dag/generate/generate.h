/* SPDX-License-Identifier: MIT */
#ifndef DAG_GENERATE_GENERATE_H
#define DAG_GENERATE_GENERATE_H

/*
 * A workflow for other workflow systems, from its jobs (jobs.h).
 *
 *   WfFormat   https://github.com/wfcommons/WfFormat, versions 1.5 and 1.6: what ran, for archives and simulators
 *   DAGMan     https://htcondor.readthedocs.io/en/latest/automated-workflows/dagman-reference.html: one file,
 *              with the submit description; jobs run where the files are seen (a shared file system)
 *   Pegasus    the abstract workflow of version 5.0, in YAML; its catalogs are the site's matter
 *   DAX        the one of Pegasus 4, version 3.6, in XML; or version 2.1 with run times and sizes, which simulators read (SimGrid,
 *              WRENCH)
 *   CWL        v1.2, one file: each job runs in a directory of its own, with the files that it finds (staged.h)
 *
 * The same trace gives the same bytes.  What is not known is left out.
 *
 * A file name or an argument that is written is the one of the run, byte by byte.  Pegasus, DAX and CWL are refused if
 * their language cannot express one: YAML and XML are UTF-8, and XML 1.0 forbids most control characters.  WfFormat
 * only describes, so commands that are not UTF-8 are left out there.  Titles may have \xNN (printable.h).
 */

#include <stdio.h>

#include "base/saturate.h"
#include "dag/jobs/jobs.h"

/* wfdag generate, with a command line of its own; an exit status. */
int generate_main(int argc, char **argv);

/* What is known of the run; texts are "" where they are not known. */
struct generate_facts {
	const char *name, *host, *user, *kernel, *cpu_model;
	int64_t cpus, memory_bytes; /* 0: not known */
	int64_t begin_ns, end_ns;
	int wfformat; /* the minor number of its version: 5, 6 */
	bool simulated; /* DAX 2.1 */
};

/* From the begin of a job to its end, or that of the run if it had not ended. */
static inline int64_t generate_runtime_ns(const struct generate_facts *facts, const struct job *job)
{
	const int64_t end_ns = job->end_ns == GRAPH_NEVER ? facts->end_ns : job->end_ns, ns = saturate_subtract(end_ns, job->start_ns);

	return ns > 0 ? ns : 0;
}

struct failure;

/* 0 or -errno.  -EILSEQ: nothing was written, and the failure says why the format cannot express the workflow. */
int generate_wfformat(const struct jobs *, const struct generate_facts *, FILE *out);
int generate_dagman(const struct jobs *, const struct generate_facts *, FILE *out);
int generate_pegasus(const struct jobs *, const struct generate_facts *, FILE *out,
	struct failure *failure);
int generate_dax(const struct jobs *, const struct generate_facts *, FILE *out,
	struct failure *failure);
int generate_cwl(const struct jobs *, const struct generate_facts *, FILE *out, struct failure *failure);

/* ---- generate_says.c ---- */

bool generate_says_utf8(const char *text);
/* True if says() takes all words of the command, or the command is not known. */
bool generate_says_command(const struct jobs *, const struct job *, bool (*says)(const char *text));
/* Calls says() for all words of commands and all names of files.  0, -ENOMEM, or -EILSEQ with the failure set. */
int generate_check(const struct jobs *, const char *format, bool (*says)(const char *text),
	struct failure *failure);

#endif
