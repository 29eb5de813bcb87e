/* SPDX-License-Identifier: MIT */
#ifndef DAG_REPORT_REPORT_H
#define DAG_REPORT_REPORT_H

/*
 * The page of wfreport.  Its sections are written into memory one by one, sections that wait for the pass over all
 * operations last, and then joined (page.h).  A section consists of exhibits.  An exhibit has charts, the table of their
 * numbers, the SQL that found them, and the same numbers as JSON, from which the page draws the charts.  The functions of
 * wfstat and wfdag fill their tables, so that the numbers are the same.
 *
 * Functions return 0, or a negative errno with report->failure set.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dag/output/table.h"
#include "dag/report/options.h"

struct critical;
struct failure;
struct palette;
struct query;
struct query_db;
struct report_scan;
struct shape;
struct stat_scan;
struct workflow;

enum section {
	SECTION_BANNER,
	SECTION_FINDINGS,
	SECTION_TIMELINE,
	SECTION_PHASES,
	SECTION_IO,
	SECTION_FILES,
	SECTION_LAYERS,
	SECTION_GRAPH,
	SECTION_MAX
};

struct report {
	const struct report_options *options;
	struct query_db *db;
	struct failure *failure;
	bool whole;   /* the trace has all of the run */
	bool has_ops; /* single operations were recorded */
	/* Several connections see the same trace: it is complete, and it is a single trace (each connection would merge
	 * several anew). */
	bool is_still;
	int64_t begin_ns, span_ns; /* of the trace */
	int64_t run_ns;            /* from the first start to the last exit: what parts of the run are parts of */
	struct choice choice; /* of the options, with the length of an interval */
	struct workflow *workflow;
	struct critical *critical;
	struct shape *shape; /* the whole workflow */
	struct palette *palette;
	struct report_scan *scan;
	char *sections[SECTION_MAX];
	FILE *out;          /* the current section */
	bool out_of_memory; /* a part of the section is missing */
	struct table_style style;
};

struct exhibit {
	const char *id, *title;
	const char *about;  /* what it shows and how to read it; or NULL */
	const char *charts; /* names of charts, separated by blanks; NULL: none */
	bool closed;        /* the table is hidden until the reader opens it */
};

/* A table of wfstat. */
struct exhibit_source {
	const char *table, *by, *of, *sort;
	int64_t top; /* 0: all */
	const char *columns; /* NULL: all; the numbers as CSV have these, too */
};

/* Whether system calls were recorded, which tell of pipes, sockets and waits. */
bool report_has_calls(const struct report *report);

/* ---- exhibits: exhibit.c ---- */

#define EXHIBIT_ROWS 30 /* rows of a query that are shown */

/* Writes an exhibit.  sql: the query of the table, or NULL. */
int exhibit_put(struct report *report, const struct exhibit *exhibit, struct table *table,
	const char *sql);
/* Writes a table of wfstat. */
int exhibit_wfstat(struct report *report, const struct exhibit *exhibit,
	const struct exhibit_source *source);
/* Writes the first rows of a query.  A note has the number of all rows. */
int exhibit_query(struct report *report, const struct exhibit *exhibit, const char *query);
/* Fills a table with all rows of a query. */
int exhibit_fill(struct report *report, const char *query, struct table *table);
/* The SQL of a query, which the caller frees.  NULL: out of memory, and report->out_of_memory is set. */
char *exhibit_sql(struct report *report, const char *query);
/* The same of the queries from which a command of wfdag makes the graph. */
char *exhibit_graph_sql(struct report *report, const char *command);
/* Writes SQL that the reader opens under an exhibit.  NULL: nothing. */
void exhibit_put_sql(struct report *report, const char *id, const char *sql);

/* ---- sections ---- */

/* Each in the file of its name. */
int report_banner(struct report *report);
int report_findings(struct report *report);
int report_timeline(struct report *report);
int report_phases(struct report *report);
int report_io(struct report *report);
int report_files(struct report *report);
/* Writes nothing if no calls of libraries were recorded: then the page has no such section. */
int report_layers(struct report *report);
int report_graph(struct report *report);

/* legend.c: the meaning of the signs and colours of a picture. */
int report_legend(struct report *report, const struct shape *shape);
/* The same colours for the charts, as JSON. */
int report_colours(struct report *report);

/* ---- scan.c: the pass over all operations ---- */

/* Starts it, in a thread if report->is_still. */
int report_scan_start(struct report *report);
/* Waits for its end.  Its failure becomes that of the report. */
int report_scan_wait(struct report *report, const struct stat_scan **ret_scan);
void report_scan_finish(struct report *report);

/* ---- others ---- */

/* compare.c: the page of two traces, or of two sides of several.  The exit status. */
int report_compare(const struct report_options *options);

/* Shows on a terminal what the program does, after the first second; NULL: ends that. */
void report_progress(const char *what);
/* perfetto.c: writes the time line as Chrome's trace events. */
int report_perfetto(struct report *report);

#endif
