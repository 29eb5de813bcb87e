/* SPDX-License-Identifier: MIT */
#ifndef DB_RULES_H
#define DB_RULES_H

/*
 * The rules of Snakemake and the processes of Nextflow, from the files that these write beside their work:
 *
 *     .snakemake/metadata/NAME   JSON with the key "rule"; NAME is the path of an output from the directory above .snakemake,
 *                                in Base64, of which long names are several folders that begin with @ (Snakemake 5 to 9)
 *     .command.run               a script with the line "# NEXTFLOW TASK: PROCESS (TAG)" (Nextflow)
 *
 * They are read at the end of the run, and only if the traced programs had to do with their paths.  What cannot be read, or is
 * older than the run, says nothing.
 */

#include <stdint.h>

struct store;

/* Stores the rules, in an open transaction in which everything else has been stored.  since: the start of the run, in ns since the
 * epoch.  0 or -errno. */
int rules_store(struct store *store, int64_t since_ns);

#endif
