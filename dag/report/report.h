/* SPDX-License-Identifier: MIT */
#ifndef DAG_REPORT_REPORT_H
#define DAG_REPORT_REPORT_H

/*
 * The page of wfreport.  Its sections are written one by one into memory, in the order in which what they
 * need is there, and then put together (report_page.h).  What a section shows is an exhibit: charts, the
 * table of their numbers, the SQL that found them, and the same numbers as JSON, from which the charts are
 * drawn.  Tables of wfstat and wfdag are filled by these, so that they say the same.
 *
 * Errors are printed; results are exit statuses.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dag/output/table.h"
#include "dag/report/options.h"

struct critical;
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
	SECTION_GRAPH,
	SECTION_MAX
};

struct report {
	const struct report_options *options;
	struct query_db *db;
	bool whole;   /* the trace is */
	bool has_ops; /* single operations were recorded */
	/* The trace is complete, so that several connections see the same; and it is one trace: several are merged for
	 * each connection anew. */
	bool is_still;
	int64_t begin_ns, span_ns;
	struct choice choice; /* that of the options, with the length of an interval */
	struct workflow *workflow;
	struct critical *critical;
	struct shape *shape; /* all of the workflow */
	struct palette *palette;
	struct report_scan *scan;
	char *sections[SECTION_MAX];
	FILE *out;	    /* the section that is written */
	bool out_of_memory; /* something is missing in it */
	struct table_style style;
};

struct exhibit {
	const char *id, *title;
	const char *about;  /* what it shows and how it is read; NULL */
	const char *charts; /* their names, with blanks between them; NULL: none */
	bool closed;        /* the table is folded away: there are charts */
};

/* A table of wfstat. */
struct exhibit_source {
	const char *table, *by, *of, *sort;
	int64_t top; /* 0: all */
};

/* ---- exhibits: report_exhibit.c ---- */

#define EXHIBIT_ROWS 30 /* of a query's, which are in the order of their weight */

/* sql: NULL, or what found it. */
int exhibit_put(struct report *report, const struct exhibit *exhibit, struct table *table,
	const char *sql);
int exhibit_wfstat(struct report *report, const struct exhibit *exhibit,
	const struct exhibit_source *source);
/* The first rows of a query; a note says of how many. */
int exhibit_query(struct report *report, const struct exhibit *exhibit, const char *query);
/* Fills a table with the rows of a query. */
int exhibit_fill(struct report *report, const char *query, struct table *table);
/* Its SQL, to be freed; NULL: report->out_of_memory. */
char *exhibit_sql(struct report *report, const char *query);
/* That of what a command of wfdag works out from the graph, in the same way. */
char *exhibit_graph_sql(struct report *report, const char *command);
/* To be opened under an exhibit; NULL: nothing. */
void exhibit_put_sql(struct report *report, const char *id, const char *sql);
int report_out_of_memory(void);

/* ---- sections ---- */

int report_banner(struct report *report);   /* report_banner.c */
int report_findings(struct report *report); /* report_findings.c */
int report_timeline(struct report *report); /* report_timeline.c */
int report_phases(struct report *report);   /* report_phases.c */
int report_io(struct report *report);       /* report_io.c */
int report_files(struct report *report);    /* report_files.c */
int report_graph(struct report *report);    /* report_graph.c */

/* What the signs and colours of a picture mean: report_legend.c. */
int report_legend(struct report *report, const struct shape *shape);
/* The same colours for the charts, as JSON. */
int report_colours(struct report *report);

/* ---- the pass over all operations: report_scan.c ---- */

/* Beside all else, if the trace does not grow. */
int report_scan_start(struct report *report);
/* Waits for it.  NULL after an error, which was printed. */
const struct stat_scan *report_scan_wait(struct report *report);
void report_scan_finish(struct report *report);

/* ---- others ---- */

/* What is going on, on a terminal, when it takes longer than a second; NULL: nothing more. */
void report_progress(const char *what);
/* Chrome's trace events: report_perfetto.c. */
int report_perfetto(struct report *report);

#endif
