/* SPDX-License-Identifier: MIT */
#include "db/summary.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sqlite3.h>

#include "base/units.h"
#include "db/json_valid.h"

/* Rows of a query, one after the other; NULL when there are no more. */
static sqlite3_stmt *query(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return NULL;
	if (sqlite3_step(stmt) == SQLITE_ROW)
		return stmt;
	sqlite3_finalize(stmt);
	return NULL;
}

static double number(sqlite3_stmt *row, int column)
{
	return sqlite3_column_double(row, column);
}

static bool known(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) != SQLITE_NULL;
}

static const char *bytes(char text[32], sqlite3_stmt *row, int column)
{
	if (!known(row, column))
		return "-";
	units_bytes(number(row, column), text, 32);
	return text;
}

static const char *plural(sqlite3_stmt *row, int column)
{
	return number(row, column) == 1 ? "" : "s";
}

static const char *text(sqlite3_stmt *row, int column)
{
	char *found = (char *)sqlite3_column_text(row, column);

	/* The name may have line breaks; this changes the row's own copy. */
	for (char *at = found; at && *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	return found ? found : "-";
}

static void print_head(sqlite3 *db, FILE *out)
{
	sqlite3_stmt *row = query(db, "SELECT (SELECT value FROM trace WHERE key = 'command'), "
		"(SELECT value FROM trace WHERE key = 'exit_status'), "
		"(SELECT max(end_ns) - min(start_ns) FROM process WHERE parent IS NULL) / 1e9, "
		"((SELECT value FROM trace WHERE key = 'end_ns') - (SELECT value FROM trace WHERE key = 'start_ns')) / 1e9");

	if (row && !known(row, 0)) {
		fprintf(out, "ftrac: recorded %.1f s of processes that ran already\n", number(row, 3));
		sqlite3_finalize(row);
		return;
	}
	if (!row)
		return;
	fprintf(out, "ftrac: %.60s: exit status %s", text(row, 0), text(row, 1));
	if (known(row, 2))
		fprintf(out, ", %.1f s", number(row, 2));
	fputc('\n', out);
	sqlite3_finalize(row);
}

static void print_work(sqlite3 *db, FILE *out)
{
	char read[32], written[32], peak[32];
	sqlite3_stmt *row = query(db, "SELECT (SELECT count(*) FROM process), "
		"(SELECT value FROM trace WHERE key = 'ops_recorded'), "
		"(SELECT count(DISTINCT file) FROM access WHERE opens > 0), "
		"(SELECT sum(bread) FROM handle), (SELECT sum(bwrite) FROM handle), "
		"(SELECT max(rsspeak_bytes) FROM process), (SELECT sum(cpu_ns) / 1e9 FROM process), "
		"(SELECT comm FROM process ORDER BY rsspeak_bytes DESC LIMIT 1), "
		"(SELECT value FROM trace WHERE key = 'tracer_cpu_ns') / 1e9");

	if (row) {
		fprintf(out, "ftrac: %.0f process%s, %.0f operation%s, %.0f file%s opened, %s read, "
			"%s written\n", number(row, 0), number(row, 0) == 1 ? "" : "es",
			number(row, 1), plural(row, 1), number(row, 2), plural(row, 2),
			bytes(read, row, 3), bytes(written, row, 4));
		if (known(row, 5) && known(row, 7))
			fprintf(out, "ftrac: %.1f s of CPU, and %.1f s for tracing; most memory: %s (%s)\n",
				number(row, 6), number(row, 8), bytes(peak, row, 5), text(row, 7));
	}
	sqlite3_finalize(row);
}

/* The time of a process in which none of its children lived: so no time counts twice. */
static void print_slowest(sqlite3 *db, FILE *out)
{
	sqlite3_stmt *row = query(db, "WITH child AS (SELECT c.parent, max(c.start_ns, p.start_ns) AS start_ns, min(c.end_ns, p.end_ns) AS end_ns "
		"FROM process c JOIN process p ON p.id = c.parent WHERE c.start_ns NOTNULL AND c.end_ns NOTNULL AND p.end_ns NOTNULL), "
		"part AS (SELECT parent, start_ns, end_ns, max(end_ns) OVER (PARTITION BY parent ORDER BY start_ns, end_ns "
		"ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns FROM child), "
		"waited AS (SELECT parent, sum(max(0, end_ns - max(start_ns, coalesce(before_ns, start_ns)))) AS ns FROM part GROUP BY parent) "
		"SELECT p.command, (p.end_ns - p.start_ns - coalesce(w.ns, 0)) / 1e9 AS own FROM process p LEFT JOIN waited w ON w.parent = p.id "
		"WHERE own > 0 ORDER BY own DESC, p.id LIMIT 3");

	for (int i = 0; row; i++) {
		fprintf(out, "ftrac: %s %6.2f s  %.70s\n", i ? "        " : "slowest:", number(row, 1),
			text(row, 0));
		if (sqlite3_step(row) != SQLITE_ROW)
			break;
	}
	sqlite3_finalize(row);
}

/* A trace without a mount has all calls; what is not seen is what mapped pages moved. */
static void print_calls(sqlite3 *db, FILE *out)
{
	char recorded[32], all[32], pages[32];
	sqlite3_stmt *row = query(db, "SELECT (SELECT value FROM trace WHERE key = 'bytes_recorded'), "
		"(SELECT value FROM trace WHERE key = 'bytes_kernel'), "
		"(SELECT value FROM trace WHERE key = 'bytes_mapped')");

	if (row) {
		fprintf(out, "ftrac: %s in recorded calls", bytes(recorded, row, 0));
		if (known(row, 1))
			fprintf(out, ", of %s that the processes moved in all", bytes(all, row, 1));
		if (known(row, 2) && number(row, 2) > 0)
			fprintf(out, "; %s of files mapped, of which the accesses are not seen",
				bytes(pages, row, 2));
		fputc('\n', out);
	}
	sqlite3_finalize(row);
}

/* Data that did not go through the mount: pipes, files elsewhere, reads from the page cache. */
static void print_share(sqlite3 *db, FILE *out)
{
	char mount[32], kernel[32];
	sqlite3_stmt *row = query(db, "SELECT (SELECT value FROM trace WHERE key = 'bytes_mount'), "
		"(SELECT value FROM trace WHERE key = 'bytes_kernel'), "
		"(SELECT count(*) - count(read_char) FROM process)");

	if (row && known(row, 1)) {
		fprintf(out, "ftrac: %s read and written by the processes in all (pipes and files "
			"elsewhere, too", bytes(kernel, row, 1));
		if (number(row, 2) > 0)
			fprintf(out, "; unknown of %.0f process%s", number(row, 2),
				number(row, 2) == 1 ? "" : "es");
		fprintf(out, "), %s through the mount (what is mapped, too)\n", bytes(mount, row, 0));
	} else if (row) {
		fprintf(out, "ftrac: %s through the mount; how much the processes moved elsewhere is "
			"known only of those that ptrace follows\n", bytes(mount, row, 0));
	}
	sqlite3_finalize(row);
}

static void print_coverage(sqlite3 *db, FILE *out)
{
	sqlite3_stmt *row = query(db, "SELECT 1 FROM trace WHERE key = 'files' AND value = 'kernel'");

	(row ? print_calls : print_share)(db, out);
	sqlite3_finalize(row);
}

static void print_failed(sqlite3 *db, FILE *out)
{
	sqlite3_stmt *row = query(db, "SELECT count(*), (SELECT command FROM process WHERE exit_signal "
		"IS NOT NULL ORDER BY end_ns LIMIT 1) FROM process WHERE exit_signal IS NOT NULL");

	if (row && number(row, 0) > 0)
		fprintf(out, "ftrac: ended by a signal: %.0f process%s, first %.60s\n",
			number(row, 0), number(row, 0) == 1 ? "" : "es", text(row, 1));
	sqlite3_finalize(row);
}

/* The kernel may have overwritten data of the run with old pages. */
static void print_mixed(sqlite3 *db, FILE *out)
{
	sqlite3_stmt *row = query(db, "SELECT value, (SELECT f.path FROM trace t JOIN file f ON f.id = t.value "
		"WHERE t.key = 'mixed_file') FROM trace WHERE key = 'mixed_writes'");

	if (row)
		fprintf(out, "ftrac: data may be wrong: %.0f file%s written by write(2) and by many mapped pages at once, "
			"first %s; see Mappings in ftrac(1), or use --fidelity open or cached\n", number(row, 0),
			number(row, 0) == 1 ? " was" : "s were", text(row, 1));
	sqlite3_finalize(row);
}

/* Records for which the kernel's buffer had no room. */
static void print_dropped(sqlite3 *db, FILE *out)
{
	sqlite3_stmt *row = query(db, "SELECT (SELECT value FROM trace WHERE key = 'kernel_dropped'), "
		"(SELECT value FROM trace WHERE key = 'kernel_submitted')");

	if (row && number(row, 0) > 0)
		fprintf(out, "ftrac: the kernel dropped %.0f of %.0f records, because its buffer was full: what they "
			"said is missing in the trace\n", number(row, 0), number(row, 1));
	sqlite3_finalize(row);
}

/* Programs with rights that the user does not have. */
static void print_spared(sqlite3 *db, FILE *out)
{
	sqlite3_stmt *row = query(db, "SELECT value FROM trace WHERE key = 'kernel_spared'");

	if (row && number(row, 0) > 0)
		fprintf(out, "ftrac: not recorded: what %.0f setuid or similar program%s did; root, or CAP_SYS_PTRACE, "
			"records it\n", number(row, 0), number(row, 0) == 1 ? "" : "s");
	sqlite3_finalize(row);
}

static const char *source_of(const char *files)
{
	return strcmp(files, "both") == 0 ? "the mount and the kernel" :
		strcmp(files, "kernel") == 0 ? "the kernel" : "the mount";
}

static void print_lost(sqlite3 *db, const char *path, FILE *out)
{
	sqlite3_stmt *row = query(db, "SELECT (SELECT value FROM trace WHERE key = 'ops_lost'), "
		"(SELECT value FROM trace WHERE key = 'process_events_lost'), "
		"(SELECT value FROM trace WHERE key = 'fidelity'), "
		"(SELECT value FROM trace WHERE key = 'process_tier'), "
		"(SELECT value FROM trace WHERE key = 'files')");

	if (row)
		fprintf(out, "ftrac: lost: %.0f operations, %.0f process events; files by %s (%s), processes by "
			"%s; the trace is %s\n", number(row, 0), number(row, 1), source_of(text(row, 4)), text(row, 2),
			text(row, 3), path);
	sqlite3_finalize(row);
}

int summary_print(const char *path, FILE *out)
{
	sqlite3 *db;
	int r = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (r == SQLITE_OK)
		r = json_valid_create(db);
	if (r == SQLITE_OK) {
		print_head(db, out);
		print_work(db, out);
		print_slowest(db, out);
		print_failed(db, out);
		print_coverage(db, out);
		print_mixed(db, out);
		print_dropped(db, out);
		print_spared(db, out);
		print_lost(db, path, out);
	}
	sqlite3_close(db);
	return r == SQLITE_OK ? 0 : -EIO;
}
