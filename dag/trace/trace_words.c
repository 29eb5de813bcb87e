/* SPDX-License-Identifier: MIT */
#include "dag/trace/trace_words.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/event.h"
#include "db/query.h"

#define WORDS_MOST "1000"

const char *const trace_words_dimensions[] = { "step", "task", "command", "exe", "xform", "job", "phase", "process", "rank", "ranks", "file",
	"directory", "fstype", "mount", "host", "operation", "class", "all", NULL };

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static struct query_db *open_trace(void)
{
	const char *path = "trace.db", *word;
	struct query_db *db = NULL;

	for (int i = 0; (word = complete_word(i)); i++)
		if (is_file(word)) {
			path = word;
			break;
		}
	if (is_file(path) && query_open(&path, 1, 0, &db) == 0 && query_fact(db, "complete", 0) == 1)
		return db;
	query_close(db);
	return NULL;
}

/* Two columns: the word and its help, which may be NULL. */
static void add_rows(const char *sql)
{
	struct query_db *db = open_trace();
	struct query *query = NULL;

	if (db && query_start(db, sql, &query) == 0)
		while (query_next(query) > 0) {
			size_t len, help_len;
			const char *word = query_bytes(query, 0, &len), *help = query_bytes(query, 1, &help_len);
			char text[100];

			snprintf(text, sizeof(text), "%.*s", help ? (int)help_len : 0, help ? help : "");
			if (word)
				complete_add(word, len, text);
		}
	query_end(query);
	query_close(db);
}

void trace_words_phases(const struct cli *cli)
{
	(void)cli;
	add_rows("SELECT phase, count(DISTINCT job) || ' jobs' FROM process WHERE phase NOTNULL GROUP BY phase ORDER BY 1 "
		 "LIMIT " WORDS_MOST);
}

void trace_words_jobs(const struct cli *cli)
{
	(void)cli;
	add_rows("SELECT job, min(xform) FROM process WHERE job NOTNULL GROUP BY job ORDER BY min(id) LIMIT " WORDS_MOST);
}

void trace_words_processes(const struct cli *cli)
{
	(void)cli;
	add_rows("SELECT CAST(id AS TEXT), command FROM process ORDER BY id LIMIT " WORDS_MOST);
}

void trace_words_operations(const struct cli *cli)
{
	(void)cli;
	for (int i = 0; i < OP_MAX; i++)
		complete_add(event_op_names[i], strlen(event_op_names[i]), NULL);
}

struct query_db *trace_words_empty(void)
{
	struct query_db *db = NULL;

	if (query_open(NULL, 0, 0, &db) == 0)
		return db;
	query_close(db);
	return NULL;
}
