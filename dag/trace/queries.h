/* SPDX-License-Identifier: MIT */
#ifndef DAG_TRACE_QUERIES_H
#define DAG_TRACE_QUERIES_H

/* The queries of all .sql files of dag/, as one text (made by the build); parts.sql says how they are written. */

extern const char sql_queries[];

#endif
