/* SPDX-License-Identifier: MIT */
#include "db/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

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

struct relay_file {
	sqlite3_file file;
	int fd;
	uint32_t turn;			   /* the count of changes: with another one, SQLite forgets the pages that it has read */
	size_t header_size;		   /* 0: the file is shorter */
	unsigned char header[HEADER_SIZE]; /* as SQLite reads it */
};

/* Reads as much as there is; -1: an error. */
static ssize_t read_at(int fd, void *buf, size_t size, off_t offset)
{
	size_t done = 0;
	ssize_t n = 1;

	while (n != 0 && done < size) {
		n = pread(fd, (char *)buf + done, size - done, offset + done);
		if (n < 0 && errno != EINTR)
			return -1;
		done += n > 0 ? n : 0;
	}
	return done;
}

static void put_number(unsigned char *at, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		at[i] = number >> (24 - 8 * i);
}

/* Without a log, a file that may have one is read as one without. */
static int put_header(struct relay_file *relay, int fd)
{
	unsigned char *header = relay->header;
	ssize_t n = read_at(fd, header, HEADER_SIZE, 0);
	bool is_valid = memcmp(header + CHANGES, header + VALID_FOR, 4) == 0;

	if (n < 0)
		return SQLITE_IOERR_READ;
	for (int i = WRITE_FORMAT; i <= READ_FORMAT; i++)
		header[i] = header[i] == 2 ? 1 : header[i];
	relay->turn++;
	put_number(header + CHANGES, relay->turn);
	put_number(header + VALID_FOR, relay->turn + !is_valid);
	relay->header_size = n == HEADER_SIZE ? HEADER_SIZE : 0;
	return SQLITE_OK;
}

/* What SQLite knows of a database when it has parsed its schema. */
static bool is_alike(const struct relay_file *one, const struct relay_file *other)
{
	return one->header_size && other->header_size && memcmp(one->header, other->header, CHANGES) == 0 &&
		memcmp(one->header + SCHEMA_COOKIE, other->header + SCHEMA_COOKIE, VALID_FOR - SCHEMA_COOKIE) == 0;
}

static int lead_to(struct relay_file *relay, const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct relay_file next = *relay;

	if (fd < 0 || put_header(&next, fd) != SQLITE_OK || !is_alike(&next, relay))
		return SQLITE_CANTOPEN;
	close(relay->fd);
	next.fd = steal_fd(&fd);
	*relay = next;
	return SQLITE_OK;
}

static int file_close(sqlite3_file *file)
{
	close(((struct relay_file *)file)->fd);
	return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *buf, int size, sqlite3_int64 offset)
{
	struct relay_file *relay = (struct relay_file *)file;
	ssize_t n = read_at(relay->fd, buf, size, offset);

	if (n < 0)
		return SQLITE_IOERR_READ;
	for (sqlite3_int64 at = offset; at < (sqlite3_int64)relay->header_size && at < offset + n; at++)
		((unsigned char *)buf)[at - offset] = relay->header[at];
	memset((char *)buf + n, 0, size - n);
	return n < size ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
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

static int file_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	struct stat st;

	if (fstat(((struct relay_file *)file)->fd, &st) < 0)
		return SQLITE_IOERR_FSTAT;
	*ret_size = st.st_size;
	return SQLITE_OK;
}

/* Of syncs and locks. */
static int file_nothing(sqlite3_file *file, int how)
{
	(void)file, (void)how;
	return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *file, int *ret_is)
{
	(void)file;
	*ret_is = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int what, void *arg)
{
	return what == RELAY_TO ? lead_to((struct relay_file *)file, arg) : SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int file_characteristics(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static const sqlite3_io_methods methods = { .iVersion = 1, .xClose = file_close, .xRead = file_read, .xWrite = file_write,
	.xTruncate = file_truncate, .xSync = file_nothing, .xFileSize = file_size, .xLock = file_nothing, .xUnlock = file_nothing,
	.xCheckReservedLock = file_is_reserved, .xFileControl = file_control, .xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_characteristics };

/* ---- the VFS: that of the system, except for files ---- */

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *ret_flags)
{
	struct relay_file *relay = (struct relay_file *)file;
	bool is_trace = path && flags & SQLITE_OPEN_MAIN_DB && flags & SQLITE_OPEN_READONLY;
	int r;

	(void)vfs;
	*relay = (struct relay_file){ .fd = is_trace ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1 };
	r = relay->fd < 0 ? SQLITE_CANTOPEN : put_header(relay, relay->fd);
	if (r == SQLITE_OK)
		file->pMethods = &methods;
	else if (relay->fd >= 0)
		close(relay->fd);
	if (ret_flags)
		*ret_flags = flags;
	return r;
}

/* A log or a journal: there is none. */
static int vfs_access(sqlite3_vfs *vfs, const char *path, int how, int *ret_is)
{
	(void)vfs, (void)path, (void)how;
	*ret_is = 0;
	return SQLITE_OK;
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
	vfs = *base;
	vfs.zName = RELAY_VFS;
	vfs.szOsFile = sizeof(struct relay_file);
	vfs.xOpen = vfs_open;
	vfs.xAccess = vfs_access;
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

static bool has_same_schema(struct relay *relay)
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
