/* SPDX-License-Identifier: MIT */
#ifndef DAG_GENERATE_H
#define DAG_GENERATE_H

/*
 * A workflow for other workflow systems, from its jobs (jobs.h).
 *
 *   WfFormat   https://github.com/wfcommons/WfFormat, versions 1.5 and 1.6: what ran, for archives and simulators
 *   DAGMan     https://htcondor.readthedocs.io/en/latest/automated-workflows/dagman-reference.html: one file,
 *              with the submit description; jobs run where the files are seen (a shared file system)
 *   Pegasus    the abstract workflow of version 5.0, in YAML; its catalogs are the site's matter
 *   DAX        the one of Pegasus 4, version 3.6, in XML
 *
 * The same trace gives the same bytes.  What is not known is left out.
 */

#include <stdio.h>

#include "dag/jobs.h"

/* What is known of the run; texts are "" where they are not known. */
struct generate_facts {
	const char *name, *host, *user, *kernel, *cpu_model;
	int64_t cpus, memory_bytes; /* 0: not known */
	int64_t begin_ns, end_ns;
	int wfformat; /* the minor number of its version: 5, 6 */
};

/* 0 or -errno.  -EILSEQ: *ret_text cannot be said in that format. */
int generate_wfformat(const struct jobs *, const struct generate_facts *, FILE *out);
int generate_dagman(const struct jobs *, const struct generate_facts *, FILE *out,
	const char **ret_text);
int generate_pegasus(const struct jobs *, const struct generate_facts *, FILE *out);
int generate_dax(const struct jobs *, const struct generate_facts *, FILE *out);

#endif
