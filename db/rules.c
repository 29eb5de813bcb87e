/* SPDX-License-Identifier: MIT */
#include "db/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "db/store_internal.h"

#define BYTES_MAX (4 << 20) /* of a file */
#define FOLDER "/.snakemake/metadata/"
#define TASK "\n# NEXTFLOW TASK: "

struct rules {
	sqlite3 *db;
	int64_t since_ns;
};

/* Ends with NUL, to be freed; NULL: not a regular file, too large or older than the run. */
static char *read_whole(const char *path, int64_t since_ns)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	cleanup_free char *text = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > BYTES_MAX ||
		st.st_mtim.tv_sec < since_ns / 1000000000)
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	n = text ? read(fd, text, (size_t)st.st_size) : -1;
	if (n < 0)
		return NULL;
	text[n] = '\0';
	return steal_ptr(&text);
}

static int value_of(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
	const char *at = strchr(digits, c);

	return !c || !at ? -1 : at - digits < 64 ? (int)(at - digits) : (int)(at - digits) - 2;
}

/* RFC 4648.  Characters that are no digits, as the marks of folders, count for nothing.  Returns the length. */
static size_t decode(const char *text, char *bytes)
{
	unsigned int held = 0;
	int bits = 0;
	size_t len = 0;

	for (; *text; text++) {
		int value = *text == '/' ? -1 : value_of(*text);

		if (value < 0)
			continue;
		held = held << 6 | (unsigned int)value;
		bits += 6;
		if (bits >= 8)
			bytes[len++] = (char)(held >> (bits -= 8) & 255);
	}
	return len;
}

static int put(struct rules *rules, const char *sql, sqlite3_int64 process, const char *name, size_t name_len, const char *text)
{
	sqlite3_stmt *statement = NULL;
	int r = sqlite3_prepare_v2(rules->db, sql, -1, &statement, NULL);

	if (r == SQLITE_OK) {
		sqlite3_bind_int64(statement, 1, process);
		sqlite3_bind_text(statement, 2, name, (int)name_len, SQLITE_TRANSIENT);
		sqlite3_bind_text(statement, 3, text, -1, SQLITE_TRANSIENT);
		r = sqlite3_step(statement);
	}
	sqlite3_finalize(statement);
	return r == SQLITE_DONE ? 0 : r == SQLITE_NOMEM ? -ENOMEM : -EIO;
}

/* path: of a file that Snakemake wrote. */
static int take_snakemake(struct rules *rules, const char *path)
{
	const char *folder = strstr(path, FOLDER), *name = folder ? folder + strlen(FOLDER) : NULL;
	cleanup_free char *text = name ? read_whole(path, rules->since_ns) : NULL;
	cleanup_free char *output = text ? malloc(strlen(path) + 1) : NULL;
	size_t root = folder ? (size_t)(folder - path) + 1 : 0, len;

	if (!output)
		return 0;
	memcpy(output, path, root);
	len = decode(name, output + root);
	if (len && output[root] == '/')
		memmove(output, output + root, len);
	else
		len += root;
	return put(rules, "INSERT OR IGNORE INTO outputs SELECT id, json_extract(?3, '$.rule') FROM paths WHERE path = ?2 AND json_valid(?3) AND ?1 = 0",
		0, output, len, text);
}

/* path: of a script that a process runs. */
static int take_nextflow(struct rules *rules, sqlite3_int64 process, const char *path)
{
	cleanup_free char *text = read_whole(path, 0); /* it has run */
	char *task = text ? strstr(text, TASK) : NULL, *tag;

	if (!task)
		return 0;
	task += strlen(TASK);
	task[strcspn(task, "\n")] = '\0';
	tag = strstr(task, " (");
	return put(rules, "INSERT OR IGNORE INTO rules VALUES (?1, ?2, ?3)", process, task, tag ? (size_t)(tag - task) : strlen(task), task);
}

static int take_each(struct rules *rules, const char *sql, bool is_nextflow)
{
	sqlite3_stmt *statement = NULL;
	int r = sqlite3_prepare_v2(rules->db, sql, -1, &statement, NULL) == SQLITE_OK ? 0 : -EIO;

	while (r == 0 && sqlite3_step(statement) == SQLITE_ROW) {
		const char *path = (const char *)sqlite3_column_text(statement, 1);

		if (path)
			r = is_nextflow ? take_nextflow(rules, sqlite3_column_int64(statement, 0), path)
					: take_snakemake(rules, path);
	}
	sqlite3_finalize(statement);
	return r;
}

int rules_store(struct store *store, int64_t since_ns)
{
	struct rules rules = { .db = store->db, .since_ns = since_ns };
	int r;

	r = take_each(&rules, "SELECT 0, path FROM paths WHERE path GLOB '*" FOLDER "*'", false);
	if (r == 0)
		r = take_each(&rules, "SELECT i.process, iif(a.value GLOB '/*', a.value, c.path || '/' || a.value) "
			"FROM images i LEFT JOIN paths c ON c.id = i.cwd, json_each(i.argv) a "
			"WHERE i.argv GLOB '*.command.run*' AND json_valid(i.argv) AND a.value GLOB '*.command.run'", true);
	return r;
}
