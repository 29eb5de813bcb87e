/* SPDX-License-Identifier: MIT */
#ifndef DAG_WFDAG_VERBS_H
#define DAG_WFDAG_VERBS_H

/*
 * What wfdag does beside graphs and their tables; each with a command line of its own, of which argv[0] is
 * its name.  Results are exit statuses.
 */

struct verb {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *help; /* for wfdag --help */
};

extern const struct verb verbs[]; /* ended by a NULL name */

#endif
