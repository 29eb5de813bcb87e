/* SPDX-License-Identifier: MIT */
#ifndef DB_SQL_H
#define DB_SQL_H

/* The .sql files of this folder as text; embed.py makes them during the build. */

extern const char sql_schema[];
extern const char sql_views[];
extern const char sql_steps[];
extern const char sql_refill[];
extern const char sql_sum[];
extern const char sql_finish[];
extern const char sql_merge[];
extern const char sql_versions[];
extern const char sql_starts[];
extern const char sql_fit_spent[];

#endif
