/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_DISK_H
#define DAG_CHECK_DISK_H

/* What a trace does not have, and is looked up in the file system as it is now.  What is not there any more
 * says nothing.  0 or -ENOMEM. */

struct check_trace;

/* The dependency files that recipes wrote: what they name is declared by their targets. */
int check_disk_depfiles(struct check_trace *trace);
/* Where declared names lead by links: the trace has files by the paths that they really have. */
int check_disk_links(struct check_trace *trace);

#endif
