/* SPDX-License-Identifier: MIT */
#include "db/relay.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "db/vfs_file.h"

/* The header of a database file; numbers have the most significant byte first. */
enum {
	WRITE_FORMAT = 18, /* 2: the file may have a log */
	READ_FORMAT = 19,
	CHANGES = 24, /* counted; then come the size and the free pages */
	SCHEMA_COOKIE = 40,
	VALID_FOR = 92, /* the size is, for this count of changes */
	HEADER_SIZE = 100,
};
#define RELAY_TO 1718907492 /* for sqlite3_file_control(), with a path */

/* ---- the file ---- */

/* What SQLite read. */
struct piece {
	sqlite3_int64 offset;
	int size;
	char *bytes;
};

struct relay_file {
	struct vfs_file file;
	bool notes; /* adds what is read to the pieces */
	bool lacks; /* some of them, for want of memory */
	struct piece *pieces; /* with which SQLite has found the schema */
	int n_pieces;
	uint32_t turn;			   /* the count of changes: with another one, SQLite forgets the pages that it has read */
	size_t header_size;		   /* 0: the file is shorter */
	unsigned char header[HEADER_SIZE]; /* as SQLite reads it */
};

static void forget_pieces(struct relay_file *relay)
{
	for (int i = 0; i < relay->n_pieces; i++)
		free(relay->pieces[i].bytes);
	relay->n_pieces = 0;
	relay->lacks = false;
}

static void note_piece(struct relay_file *relay, const void *buf, int size, sqlite3_int64 offset)
{
	struct piece piece = { offset, size, malloc(size) };

	if (piece.bytes)
		memcpy(piece.bytes, buf, size);
	if (!piece.bytes || vector_push(relay->pieces, relay->n_pieces, piece) < 0) {
		free(piece.bytes);
		relay->lacks = true;
	}
}

static void put_number(unsigned char *at, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		at[i] = number >> (24 - 8 * i);
}

/* Without a log, a file that may have one is read as one without. */
static int put_header(struct relay_file *relay)
{
	unsigned char *header = relay->header;
	int r = vfs_file_read(&relay->file.file, header, HEADER_SIZE, 0);
	bool is_valid = memcmp(header + CHANGES, header + VALID_FOR, 4) == 0;

	relay->header_size = r == SQLITE_OK ? HEADER_SIZE : 0;
	if (r != SQLITE_OK)
		return r == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : r;
	for (int i = WRITE_FORMAT; i <= READ_FORMAT; i++)
		header[i] = header[i] == 2 ? 1 : header[i];
	relay->turn++;
	put_number(header + CHANGES, relay->turn);
	put_number(header + VALID_FOR, relay->turn + !is_valid);
	return SQLITE_OK;
}

/* What SQLite knows of a database when it has parsed its schema. */
static bool is_alike(const struct relay_file *one, const struct relay_file *other)
{
	return one->header_size && other->header_size && memcmp(one->header, other->header, CHANGES) == 0 &&
		memcmp(one->header + SCHEMA_COOKIE, other->header + SCHEMA_COOKIE, VALID_FOR - SCHEMA_COOKIE) == 0;
}

static int open_trace(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static int lead_to(struct relay_file *relay, const char *path)
{
	cleanup_fd int fd = open_trace(path);
	struct relay_file next = *relay;

	next.file.fd = fd;
	if (fd < 0 || put_header(&next) != SQLITE_OK || !is_alike(&next, relay))
		return SQLITE_CANTOPEN;
	close(relay->file.fd);
	steal_fd(&fd);
	*relay = next;
	return SQLITE_OK;
}

static int file_close(sqlite3_file *file)
{
	struct relay_file *relay = (struct relay_file *)file;

	forget_pieces(relay);
	free(relay->pieces);
	close(relay->file.fd);
	return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *buf, int size, sqlite3_int64 offset)
{
	struct relay_file *relay = (struct relay_file *)file;
	int r = vfs_file_read(file, buf, size, offset);

	for (sqlite3_int64 at = offset; at < (sqlite3_int64)relay->header_size && at < offset + size; at++)
		((unsigned char *)buf)[at - offset] = relay->header[at];
	if (relay->notes)
		note_piece(relay, buf, size, offset);
	return r;
}

static int file_write(sqlite3_file *file, const void *buf, int size, sqlite3_int64 offset)
{
	(void)file, (void)buf, (void)size, (void)offset;
	return SQLITE_READONLY;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	(void)file, (void)size;
	return SQLITE_READONLY;
}

static int file_control(sqlite3_file *file, int what, void *arg)
{
	return what == RELAY_TO ? lead_to((struct relay_file *)file, arg) : SQLITE_NOTFOUND;
}

/* ---- the VFS: that of the system, except for files ---- */

/* Those of vfs_file.h, for a file that is only read. */
static sqlite3_io_methods methods;

static void make_methods(void)
{
	methods = vfs_file_methods;
	methods.xClose = file_close;
	methods.xRead = file_read;
	methods.xWrite = file_write;
	methods.xTruncate = file_truncate;
	methods.xFileControl = file_control;
}

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *ret_flags)
{
	struct relay_file *relay = (struct relay_file *)file;
	bool is_trace = path && flags & SQLITE_OPEN_MAIN_DB && flags & SQLITE_OPEN_READONLY;
	int r;

	(void)vfs;
	*relay = (struct relay_file){ .file.fd = is_trace ? open_trace(path) : -1 };
	r = relay->file.fd < 0 ? SQLITE_CANTOPEN : put_header(relay);
	if (r == SQLITE_OK)
		file->pMethods = &methods;
	else if (relay->file.fd >= 0)
		close(relay->file.fd);
	if (ret_flags)
		*ret_flags = flags;
	return r;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
	(void)vfs, (void)path, (void)sync;
	return SQLITE_READONLY;
}

int relay_register(void)
{
	static sqlite3_vfs vfs;
	const sqlite3_vfs *base = sqlite3_vfs_find(NULL);

	if (vfs.zName)
		return SQLITE_OK;
	if (!base)
		return SQLITE_ERROR;
	make_methods();
	vfs = *base;
	vfs.zName = RELAY_VFS;
	vfs.szOsFile = sizeof(struct relay_file);
	vfs.xOpen = vfs_open;
	vfs.xAccess = vfs_file_access;
	vfs.xDelete = vfs_delete;
	return sqlite3_vfs_register(&vfs, 0);
}

/* ---- the schema ---- */

void relay_init(struct relay *relay, sqlite3 *sqlite, const char *schema)
{
	*relay = (struct relay){ .sqlite = sqlite, .schema = schema };
}

/* The rows of the schema, one value after another, each behind its type and its size; are they those of a text that is known? */
struct comparison {
	const char *text;
	int size, at;
};

static bool is_next(struct comparison *known, const void *bytes, int size)
{
	bool is = size <= known->size - known->at && memcmp(known->text + known->at, bytes, size) == 0;

	known->at += size;
	return is;
}

static bool is_value(struct comparison *known, sqlite3_stmt *rows, int column)
{
	int type = sqlite3_column_type(rows, column);
	const void *bytes = sqlite3_column_blob(rows, column);
	int size = sqlite3_column_bytes(rows, column);

	return is_next(known, &type, sizeof(type)) && is_next(known, &size, sizeof(size)) && (!bytes || is_next(known, bytes, size));
}

static void add_value(sqlite3_str *text, sqlite3_stmt *rows, int column)
{
	int type = sqlite3_column_type(rows, column);
	const void *bytes = sqlite3_column_blob(rows, column);
	int size = sqlite3_column_bytes(rows, column);

	sqlite3_str_append(text, (const char *)&type, sizeof(type));
	sqlite3_str_append(text, (const char *)&size, sizeof(size));
	if (bytes)
		sqlite3_str_append(text, bytes, size);
}

static int prepare_rows(struct relay *relay)
{
	char *sql = sqlite3_mprintf("SELECT type, name, tbl_name, rootpage, sql FROM %s.sqlite_schema", relay->schema);
	int r = sql ? sqlite3_prepare_v2(relay->sqlite, sql, -1, &relay->rows, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return r;
}

/* All rows as one text; false: an error. */
static bool read_schema(struct relay *relay)
{
	sqlite3_str *text = sqlite3_str_new(relay->sqlite);
	int r = prepare_rows(relay);

	while (r == SQLITE_OK && (r = sqlite3_step(relay->rows)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(relay->rows); i++)
			add_value(text, relay->rows, i);
		r = sqlite3_str_errcode(text);
	}
	sqlite3_reset(relay->rows);
	relay->size = sqlite3_str_length(text);
	relay->text = sqlite3_str_finish(text);
	return r == SQLITE_DONE && relay->text;
}

static bool has_same_rows(struct relay *relay)
{
	struct comparison known = { relay->text, relay->size, 0 };
	bool is_same = true;
	int r = SQLITE_OK;

	while (is_same && (r = sqlite3_step(relay->rows)) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(relay->rows) && is_same; i++)
			is_same = is_value(&known, relay->rows, i);
	sqlite3_reset(relay->rows);
	return is_same && r == SQLITE_DONE && known.at == known.size;
}

/* Whether the file has the same bytes there.  The header was compared before. */
static bool has_piece(struct relay_file *relay, const struct piece *piece)
{
	int skipped = piece->offset >= HEADER_SIZE ? 0 : HEADER_SIZE - (int)piece->offset;
	char bytes[65536];

	return piece->size <= skipped || (piece->size <= (int)sizeof(bytes) &&
		vfs_file_read(&relay->file.file, bytes, piece->size, piece->offset) == SQLITE_OK &&
		memcmp(bytes + skipped, piece->bytes + skipped, piece->size - skipped) == 0);
}

/* Where SQLite found the schema of the last file, this one has the same bytes. */
static bool has_same_pieces(struct relay_file *relay)
{
	bool is_same = relay->n_pieces > 0 && !relay->lacks;

	for (int i = 0; i < relay->n_pieces && is_same; i++)
		is_same = has_piece(relay, &relay->pieces[i]);
	return is_same;
}

/* SQLite has forgotten its pages, so it reads all that it needs. */
static bool has_same_schema(struct relay *relay)
{
	struct relay_file *file = NULL;
	bool is_same;

	sqlite3_file_control(relay->sqlite, relay->schema, SQLITE_FCNTL_FILE_POINTER, &file);
	if (has_same_pieces(file))
		return true;
	forget_pieces(file);
	file->notes = true;
	is_same = has_same_rows(relay);
	file->notes = false;
	if (!is_same)
		forget_pieces(file);
	return is_same;
}

bool relay_lead(struct relay *relay, const char *path)
{
	return sqlite3_file_control(relay->sqlite, relay->schema, RELAY_TO, (void *)path) == SQLITE_OK;
}

bool relay_switch(struct relay *relay, const char *path)
{
	return (relay->text || read_schema(relay)) && relay_lead(relay, path) && has_same_schema(relay);
}

void relay_finish(struct relay *relay)
{
	sqlite3_finalize(relay->rows);
	sqlite3_free(relay->text);
	*relay = (struct relay){ 0 };
}
