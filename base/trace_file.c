/* SPDX-License-Identifier: MIT */
#include "base/trace_file.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* https://www.sqlite.org/fileformat.html#the_database_header */
enum { ID_OFFSET = 68, HEADER_BYTES = 72 };

const char *const trace_file_suffix[TRACE_FILE_MAX] = {
	[TRACE_FILE_DATABASE] = "",
	[TRACE_FILE_LOG] = "-wal",
	[TRACE_FILE_INDEX] = "-shm",
	[TRACE_FILE_JOURNAL] = "-journal",
};

bool trace_file_is(int fd)
{
	static const char magic[16] = "SQLite format 3";
	unsigned char header[HEADER_BYTES];
	const unsigned char *id = header + ID_OFFSET;

	return pread(fd, header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
	       memcmp(header, magic, sizeof(magic)) == 0 &&
	       ((uint32_t)id[0] << 24 | id[1] << 16 | id[2] << 8 | id[3]) == TRACE_FILE_ID;
}
