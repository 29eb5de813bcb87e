/* SPDX-License-Identifier: MIT */
#include "db/merge_clocks.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "db/differences.h"
#include "db/merge_starts.h"
#include "db/origin.h"

#define TOLERANCE_NS 1000000 /* an operation takes some time */
#define INSIDE_NS 10000000   /* and so does what a program does to a file */
#define MS "1000000"

struct merge_clocks {
	sqlite3 *seen; /* what the traces say, and did to files: a temporary database */
	sqlite3_stmt *put_part, *put_former, *put_file, *put_fact, *put_starter, *put_end;
	const struct same *same;
	int n; /* clocks; 0: not known yet */
	struct difference *found; /* of each */
};

/* parts: the traces; formers: the hosts of a trace that was merged before; seen: files; part_facts, starters and ends: what is known of where
 * runs were started, and of what starts them.  Times are since the epoch. */
static const char tables_sql[] =
	"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; PRAGMA cache_size = -16384;"
	"CREATE TABLE parts (n INTEGER PRIMARY KEY, name, boot_id, namespace, start, boot, synchronized, merged, clock, step, slack);"
	"CREATE TABLE formers (n INTEGER, name, boot_id, offset, uncertainty);"
	"CREATE TABLE seen (n INTEGER, ino, birth, path, place, made, first, data, first_out, last_out, bwrite, size_first, size_last, ended, said);"
	"CREATE TABLE part_facts (part INTEGER, key, value, PRIMARY KEY (part, key)) WITHOUT ROWID;"
	"CREATE TABLE starters (n INTEGER, program, count, start);"
	"CREATE TABLE ends (n INTEGER, local, remote, first);"
	"CREATE TABLE clocks (id INTEGER PRIMARY KEY, machine TEXT UNIQUE, name, boot_id, merged, namespace, boot);"
	"BEGIN";

static const char part_sql[] =
	"SELECT max(iif(key = 'host', value, NULL)), max(iif(key = 'boot_id', value, NULL)), max(iif(key = 'time_namespace', value, NULL)),"
	"  max(iif(key = 'start_ns', value, NULL)), (SELECT boot FROM clocks ORDER BY part, t LIMIT 1),"
	"  (SELECT min(synchronized) FROM clocks), EXISTS (SELECT 1 FROM hosts) FROM meta";

static const char formers_sql[] = "SELECT name, boot_id, offset, uncertainty FROM hosts";

static const char facts_sql[] = "SELECT key, value FROM meta WHERE key IN (" ORIGIN_KEYS ") AND value NOTNULL AND NOT EXISTS (SELECT 1 FROM parts)";

/* How often each program was run, and when first; and when each connection is first known. */
static const char starters_sql[] =
	"SELECT comm, count(*), (SELECT value FROM meta WHERE key = 'start_ns') + min(start_t) FROM images WHERE base IS NULL GROUP BY comm";
static const char ends_sql[] =
	"SELECT l.path, r.path, (SELECT value FROM meta WHERE key = 'start_ns') + min(t) FROM sockets s JOIN paths l ON l.id = s.local"
	"  JOIN paths r ON r.id = s.remote WHERE l.path NOT GLOB '127.*' AND l.path NOT GLOB '[[]::1]:*' GROUP BY s.local, s.remote";

/* Of regular files.  data: when data was first read or written. */
static const char files_sql[] =
	"SELECT f.ino, f.birth, CAST(p.path AS BLOB), CAST(e.place AS BLOB), f.state & 1, m.t0 + (SELECT min(from_t) FROM names n WHERE n.file = f.id),"
	"  m.t0 + a.data, m.t0 + a.first_out, m.t0 + a.last_out, a.bwrite, f.size_first, coalesce(f.size_last, f.size_first),"
	"  iif(f.state & 2, m.t0 + (SELECT max(to_t) FROM names n WHERE n.file = f.id), NULL)"
	" FROM (SELECT value AS t0 FROM meta WHERE key = 'start_ns') m, files f JOIN kinds k ON k.id = f.kind"
	"  JOIN paths p ON p.id = f.path JOIN file_identity e ON e.file = f.id LEFT JOIN (SELECT file, min(coalesce(min(first_in, first_out), first_in, first_out)) AS data,"
	"    min(first_out) AS first_out, max(last_out) AS last_out, sum(bwrite) AS bwrite FROM access_rows GROUP BY file) a ON a.file = f.id"
	" WHERE k.mode & 61440 = 32768 AND f.ino NOTNULL";

/* Which clock each trace has.  An earlier trace of the machine tells when that was booted; a difference of less than a millisecond is
 * none, because it takes time to read two clocks. */
#define MACHINE(prefix) "coalesce(" prefix "boot_id, 'host ' || " prefix "name, 'unknown ' || " prefix "n)"
static const char clocks_sql[] =
	"COMMIT; CREATE TEMP TABLE machine AS SELECT n, iif(merged, 'merged ' || start || ' ' || (SELECT group_concat(m || ' ' || offset) FROM"
	"    (SELECT " MACHINE("f.") " AS m, offset FROM formers f WHERE f.n = p.n ORDER BY 1)), " MACHINE("p.") ") AS machine,"
	"  iif(merged, NULL, name) AS name, boot_id, merged, namespace, start, boot, synchronized FROM parts p;"
	"INSERT INTO clocks SELECT NULL, machine, name, boot_id, merged, namespace, boot FROM (SELECT *, max(synchronized) OVER m AS known,"
	"    count(*) OVER m AS traces, row_number() OVER m AS i FROM machine WINDOW m AS (PARTITION BY machine ORDER BY start, name"
	"      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) WHERE i = 1"
	"  ORDER BY merged DESC, known DESC, traces DESC, name, machine;"
	"INSERT OR IGNORE INTO clocks SELECT DISTINCT NULL, " MACHINE("f.") ", name, boot_id, 0, NULL, NULL FROM formers f ORDER BY 2;"
	"UPDATE parts SET clock = c.id, step = iif(abs(c.boot - parts.boot) >= " MS " AND c.namespace IS parts.namespace AND NOT c.merged,"
	"    c.boot - parts.boot, 0) FROM machine m JOIN clocks c ON c.machine = m.machine WHERE m.n = parts.n;"
	/* Times of a trace that was merged may be wrong by as much as was not known then. */
	"UPDATE parts SET slack = (SELECT iif(count(*) = count(uncertainty), coalesce(max(uncertainty), 0), NULL) FROM formers f"
	"    WHERE f.n = parts.n) WHERE merged";

/* The number of the first clock minus that of the second one is no larger than that. */
static const char bounds_sql[] =
	/* Where a file is, by what the user has said or by its file system. */
	"CREATE INDEX ends_local ON ends (local); CREATE INDEX starters_n ON starters (n);"
	"UPDATE seen SET said = same_path((SELECT name FROM parts p WHERE p.n = seen.n), path);"
	"UPDATE seen SET path = coalesce(said, place);"
	/* If a file has no time of birth, the place decides where the user has said that it is one; but only if one trace alone made a file there,
	 * and none removed it. */
	"UPDATE seen SET ino = 0, birth = 0 WHERE said NOTNULL AND path IN (SELECT path FROM seen WHERE said NOTNULL AND birth ISNULL);"
	"DELETE FROM seen WHERE birth ISNULL OR birth = 0 AND path IN (SELECT path FROM seen WHERE birth = 0 GROUP BY path"
	"    HAVING sum(made) <> 1 OR count(ended) OR count(*) > count(DISTINCT n));"
	"CREATE INDEX seen_file ON seen (ino, birth, path);"
	"CREATE TEMP TABLE event AS SELECT s.n, ino, birth, path, made, first + p.step AS first, data + p.step AS data,"
	"    first_out + p.step AS first_out, last_out + p.step AS last_out, bwrite, iif(made, 0, size_first) AS size_first, size_last,"
	"    ended + p.step AS ended, p.clock, p.slack FROM seen s JOIN parts p USING (n)"
	"  WHERE (ino, birth, path) IN (SELECT ino, birth, path FROM seen JOIN parts USING (n) GROUP BY 1, 2, 3"
	"    HAVING min(clock) <> max(clock));"
	"CREATE INDEX temp.event_file ON event (ino, birth, path);"
	"CREATE TEMP TABLE grown AS SELECT * FROM event WHERE (ino, birth, path) IN (SELECT ino, birth, path FROM event GROUP BY 1, 2, 3"
	"    HAVING sum(size_last - size_first IS NOT coalesce(bwrite, 0)) = 0);"
	"CREATE INDEX temp.grown_file ON grown (ino, birth, path);"
	"CREATE TEMP TABLE bounds AS SELECT a.clock AS i, b.clock AS j, b.first - a.first + a.slack + b.slack AS most"
	"    FROM event a JOIN event b USING (ino, birth, path) WHERE a.clock <> b.clock AND a.made AND NOT b.made"
	"  UNION ALL SELECT b.clock, a.clock, a.ended - b.first + a.slack + b.slack FROM event a JOIN event b USING (ino, birth, path)"
	"    WHERE a.clock <> b.clock AND a.ended NOTNULL AND NOT b.made"
	/* A file that only grows: a trace that finds it as long as another one left it finds what that wrote; else that was before its last write, or
	 * before its first one. */
	"  UNION ALL SELECT a.clock, b.clock, b.data - a.last_out + a.slack + b.slack FROM grown a JOIN grown b USING (ino, birth, path)"
	"    WHERE a.clock <> b.clock AND a.bwrite > 0 AND NOT b.made AND b.size_first >= a.size_last"
	"  UNION ALL SELECT b.clock, a.clock, iif(b.size_first <= a.size_first, a.first_out, a.last_out) - b.first + a.slack + b.slack"
	"    FROM grown a JOIN grown b USING (ino, birth, path)"
	"    WHERE a.clock <> b.clock AND a.bwrite > 0 AND NOT b.made AND b.size_first < a.size_last"
	/* A run begins after what has started it: the only process that may have, or else the run of it. */
	"  UNION ALL SELECT r.clock, x.clock, x.start + x.step - r.step - iif(sum(s.count) = 1, min(s.start), r.start) FROM wanted w JOIN parts x ON x.n = w.x"
	"    JOIN parts r ON r.n = w.r LEFT JOIN starters s ON s.n = w.r AND s.program GLOB w.program WHERE r.clock <> x.clock GROUP BY w.x, w.r"
	"  UNION ALL SELECT r.clock, x.clock, x.start + x.step - r.step - e.first FROM part_facts c JOIN part_facts d ON d.part = c.part"
	"    JOIN ends e ON e.local = c.value AND e.remote = d.value JOIN parts x ON x.n = c.part JOIN parts r ON r.n = e.n"
	"    WHERE c.key = 'ssh_client' AND d.key = 'ssh_server' AND r.clock <> x.clock"
	"      AND (SELECT count(*) FROM ends o WHERE o.local = e.local AND o.remote = e.remote) = 1"
	"  UNION ALL SELECT h.id, p.clock, f.offset + coalesce(f.uncertainty, 0)"
	"    FROM formers f JOIN parts p USING (n) JOIN clocks h ON h.machine = " MACHINE("f.")
	"  UNION ALL SELECT p.clock, h.id, coalesce(f.uncertainty, 0) - f.offset"
	"    FROM formers f JOIN parts p USING (n) JOIN clocks h ON h.machine = " MACHINE("f.");

struct merge_clocks *merge_clocks_create(const struct same *same)
{
	struct merge_clocks *clocks = calloc(1, sizeof(*clocks));

	if (clocks)
		clocks->same = same;
	return clocks;
}

void merge_clocks_destroy(struct merge_clocks *clocks)
{
	if (!clocks)
		return;
	sqlite3_finalize(clocks->put_part);
	sqlite3_finalize(clocks->put_former);
	sqlite3_finalize(clocks->put_file);
	sqlite3_finalize(clocks->put_fact);
	sqlite3_finalize(clocks->put_starter);
	sqlite3_finalize(clocks->put_end);
	sqlite3_close(clocks->seen);
	free(clocks->found);
	free(clocks);
}

/* The statement that puts a row of so many columns. */
static int prepare_put(sqlite3 *seen, const char *table, const char *values, sqlite3_stmt **ret)
{
	char *sql = sqlite3_mprintf("INSERT INTO %s VALUES (%s)", table, values);
	int r = sql ? sqlite3_prepare_v2(seen, sql, -1, ret, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return r;
}

static int begin(struct merge_clocks *clocks)
{
	int r = sqlite3_open_v2("", &clocks->seen, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);

	if (r == SQLITE_OK)
		r = same_register(clocks->seen, clocks->same);
	if (r == SQLITE_OK)
		r = sqlite3_exec(clocks->seen, tables_sql, NULL, NULL, NULL);
	if (r == SQLITE_OK)
		r = prepare_put(clocks->seen, "parts", "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL, 0, 0", &clocks->put_part);
	if (r == SQLITE_OK)
		r = prepare_put(clocks->seen, "formers", "?1, ?2, ?3, ?4, ?5", &clocks->put_former);
	if (r == SQLITE_OK)
		r = prepare_put(clocks->seen, "part_facts", "?1, ?2, ?3", &clocks->put_fact);
	if (r == SQLITE_OK)
		r = prepare_put(clocks->seen, "starters", "?1, ?2, ?3, ?4", &clocks->put_starter);
	if (r == SQLITE_OK)
		r = prepare_put(clocks->seen, "ends", "?1, ?2, ?3, ?4", &clocks->put_end);
	return r == SQLITE_OK ? prepare_put(clocks->seen, "seen", "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, NULL", &clocks->put_file) : r;
}

/* Puts each row that the trace has, behind the number of the trace. */
static int copy_rows(sqlite3 *trace, const char *sql, sqlite3_stmt *put, int n)
{
	sqlite3_stmt *rows = NULL;
	int r = sqlite3_prepare_v2(trace, sql, -1, &rows, NULL);

	while (r == SQLITE_OK && (r = sqlite3_step(rows)) == SQLITE_ROW) {
		sqlite3_bind_int(put, 1, n);
		for (int i = 0; i < sqlite3_column_count(rows); i++)
			sqlite3_bind_value(put, i + 2, sqlite3_column_value(rows, i));
		r = sqlite3_step(put) == SQLITE_DONE ? SQLITE_OK : SQLITE_FULL;
		sqlite3_reset(put);
	}
	sqlite3_finalize(rows);
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

int merge_clocks_add(struct merge_clocks *clocks, int n, sqlite3 *trace)
{
	int r = clocks->seen ? SQLITE_OK : begin(clocks);

	if (r == SQLITE_OK)
		r = copy_rows(trace, part_sql, clocks->put_part, n);
	return r == SQLITE_OK ? copy_rows(trace, formers_sql, clocks->put_former, n) : r;
}

/* A trace that was merged keeps its times. */
static int add_starts(struct merge_clocks *clocks, int n, sqlite3 *trace)
{
	int r = copy_rows(trace, facts_sql, clocks->put_fact, n);

	if (r == SQLITE_OK)
		r = copy_rows(trace, starters_sql, clocks->put_starter, n);
	return r == SQLITE_OK ? copy_rows(trace, ends_sql, clocks->put_end, n) : r;
}

int merge_clocks_add_files(struct merge_clocks *clocks, int n, sqlite3 *trace)
{
	int r = add_starts(clocks, n, trace);

	return r == SQLITE_OK ? copy_rows(trace, files_sql, clocks->put_file, n) : r;
}

static int64_t number(const struct merge_clocks *clocks, const char *sql, int n)
{
	sqlite3_stmt *stmt = NULL;
	int64_t found = 0;

	if (sqlite3_prepare_v2(clocks->seen, sql, -1, &stmt, NULL) == SQLITE_OK) {
		sqlite3_bind_int(stmt, 1, n);
		if (sqlite3_step(stmt) == SQLITE_ROW)
			found = sqlite3_column_int64(stmt, 0);
	}
	sqlite3_finalize(stmt);
	return found;
}

int merge_clocks_sort(struct merge_clocks *clocks)
{
	int r = sqlite3_exec(clocks->seen, clocks_sql, NULL, NULL, NULL);

	if (r == SQLITE_OK)
		clocks->n = (int)number(clocks, "SELECT count(*) FROM clocks", 0);
	if (r == SQLITE_OK)
		clocks->found = calloc(clocks->n + 1, sizeof(*clocks->found));
	for (int i = 1; clocks->found && i < clocks->n; i++) {
		clocks->found[i].least = -DIFFERENCES_NONE;
		clocks->found[i].most = DIFFERENCES_NONE;
	}
	return r != SQLITE_OK ? r : clocks->found ? SQLITE_OK : SQLITE_NOMEM;
}

bool merge_clocks_are_several(const struct merge_clocks *clocks)
{
	return clocks->n > 1 && clocks->n <= DIFFERENCES_MOST;
}

static int read_bounds(const struct merge_clocks *clocks, int64_t *bounds)
{
	sqlite3_stmt *rows = NULL;
	int r = sqlite3_prepare_v2(clocks->seen, "SELECT i - 1, j - 1, min(most) FROM bounds WHERE most NOTNULL GROUP BY i, j", -1, &rows, NULL);

	while (r == SQLITE_OK && (r = sqlite3_step(rows)) == SQLITE_ROW) {
		bounds[sqlite3_column_int64(rows, 0) * clocks->n + sqlite3_column_int64(rows, 1)] = sqlite3_column_int64(rows, 2);
		r = SQLITE_OK;
	}
	sqlite3_finalize(rows);
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

int merge_clocks_solve(struct merge_clocks *clocks)
{
	size_t all = (size_t)clocks->n * clocks->n;
	cleanup_free int64_t *bounds = malloc(all * sizeof(*bounds));
	int r = bounds ? sqlite3_exec(clocks->seen, merge_starts_wanted_sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	if (r == SQLITE_OK)
		r = sqlite3_exec(clocks->seen, bounds_sql, NULL, NULL, NULL);

	for (size_t i = 0; bounds && i < all; i++)
		bounds[i] = DIFFERENCES_NONE;
	if (r == SQLITE_OK)
		r = read_bounds(clocks, bounds);
	if (r == SQLITE_OK && differences_solve(clocks->n, bounds, TOLERANCE_NS, INSIDE_NS, clocks->found) < 0)
		r = SQLITE_NOMEM;
	return r;
}

int64_t merge_clocks_shift(const struct merge_clocks *clocks, int n)
{
	int64_t clock = number(clocks, "SELECT clock FROM parts WHERE n = ?1", n);
	int64_t step = number(clocks, "SELECT step FROM parts WHERE n = ?1", n);

	return clock > 0 ? step + clocks->found[clock - 1].value : 0;
}

/* How wrong the value may be. */
static bool get_uncertainty(const struct difference *d, int64_t *ret)
{
	if (d->least == -DIFFERENCES_NONE || d->most == DIFFERENCES_NONE || d->contradiction)
		return false;
	*ret = d->most - d->value > d->value - d->least ? d->most - d->value : d->value - d->least;
	return true;
}

static int put_host(sqlite3_stmt *put, sqlite3_stmt *row, const struct difference *d)
{
	int64_t uncertainty;
	int r;

	sqlite3_reset(put);
	sqlite3_clear_bindings(put);
	sqlite3_bind_value(put, 1, sqlite3_column_value(row, 1));
	sqlite3_bind_value(put, 2, sqlite3_column_value(row, 2));
	sqlite3_bind_int64(put, 3, d->value);
	if (get_uncertainty(d, &uncertainty))
		sqlite3_bind_int64(put, 4, uncertainty);
	if (d->contradiction)
		sqlite3_bind_int64(put, 5, d->contradiction);
	r = sqlite3_step(put);
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

int merge_clocks_store(const struct merge_clocks *clocks, sqlite3 *merged)
{
	sqlite3_stmt *rows = NULL, *put = NULL;
	int r = sqlite3_prepare_v2(clocks->seen, "SELECT id, name, boot_id FROM clocks WHERE NOT merged ORDER BY name, boot_id", -1, &rows, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_prepare_v2(merged, "INSERT INTO main.hosts VALUES (?, ?, ?, ?, ?)", -1, &put, NULL);
	while (r == SQLITE_OK && (r = sqlite3_step(rows)) == SQLITE_ROW)
		r = put_host(put, rows, &clocks->found[sqlite3_column_int(rows, 0) - 1]);
	sqlite3_finalize(rows);
	sqlite3_finalize(put);
	return r == SQLITE_DONE ? sqlite3_exec(merged,
		"INSERT INTO main.meta SELECT 'clocks_contradict_ms', (most + " MS " - 1) / " MS
		"  FROM (SELECT max(contradiction) AS most FROM main.hosts) WHERE most;"
		"INSERT INTO main.meta SELECT 'clocks_contradict', names"
		"  FROM (SELECT group_concat(name, ''', ''') AS names FROM main.hosts WHERE contradiction) WHERE names NOTNULL",
		NULL, NULL, NULL) : r;
}
