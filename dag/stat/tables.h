/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_TABLES_H
#define DAG_STAT_TABLES_H

/* All tables of wfstat, in the order of its help.  The file NAME.c defines stat_NAME_table. */

#define STAT_TABLES(X) \
	X(overview)    \
	X(io)          \
	X(mem)         \
	X(run)         \
	X(util)        \
	X(waits)       \
	X(sys)         \
	X(layers)      \
	X(hierarchy)   \
	X(slowest)     \
	X(phase)       \
	X(file)        \
	X(proc)        \
	X(handle)      \
	X(pattern)     \
	X(hist)        \
	X(cdf)         \
	X(time)        \
	X(flow)        \
	X(errors)      \
	X(list)

#endif
