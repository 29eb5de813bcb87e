/* SPDX-License-Identifier: MIT */
#ifndef DAG_WFDAG_VERBS_H
#define DAG_WFDAG_VERBS_H

/*
 * The verbs of wfdag.  Each has its own command line; argv[0] is the name of the verb.  main() returns an exit status.
 */

struct verb {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *help; /* for wfdag --help */
};

extern const struct verb verbs[]; /* ended by a NULL name */

#endif
