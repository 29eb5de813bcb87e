/* SPDX-License-Identifier: MIT */
#ifndef DB_LAYERS_H
#define DB_LAYERS_H

/*
 * Calls of the layers above the system calls: the closed list of ftrac-db(5), in the order of the table call_name.  New ones go
 * to the end, because the codes are in traces.
 *
 *   X(code, name, layer, class, moves)
 *
 * moves: 1: the result of a successful call is the number of bytes that it read or wrote; 0: it is not.  Variants have the name of the
 * function that they stand for: open64 is open, __fgets_chk and fgets_unlocked are fgets.
 */
#define LAYER_CALLS(X)                                  \
	X(OPEN, open, LIB, ADMIN, 0)                    \
	X(OPENAT, openat, LIB, ADMIN, 0)                \
	X(CREAT, creat, LIB, ADMIN, 0)                  \
	X(CLOSE, close, LIB, ADMIN, 0)                  \
	X(READ, read, LIB, READ, 1)                     \
	X(WRITE, write, LIB, WRITE, 1)                  \
	X(PREAD, pread, LIB, READ, 1)                   \
	X(PWRITE, pwrite, LIB, WRITE, 1)                \
	X(READV, readv, LIB, READ, 1)                   \
	X(WRITEV, writev, LIB, WRITE, 1)                \
	X(PREADV, preadv, LIB, READ, 1)                 \
	X(PWRITEV, pwritev, LIB, WRITE, 1)              \
	X(LSEEK, lseek, LIB, POSITION, 0)               \
	X(DUP, dup, LIB, ADMIN, 0)                      \
	X(DUP2, dup2, LIB, ADMIN, 0)                    \
	X(DUP3, dup3, LIB, ADMIN, 0)                    \
	X(FCNTL, fcntl, LIB, ADMIN, 0)                  \
	X(TRUNCATE, truncate, LIB, OTHER, 0)            \
	X(FTRUNCATE, ftruncate, LIB, OTHER, 0)          \
	X(FSYNC, fsync, LIB, OTHER, 0)                  \
	X(FDATASYNC, fdatasync, LIB, OTHER, 0)          \
	X(PIPE, pipe, LIB, ADMIN, 0)                    \
	X(SENDFILE, sendfile, LIB, WRITE, 1)            \
	X(COPY_FILE_RANGE, copy_file_range, LIB, WRITE, 1) \
	X(MMAP, mmap, LIB, OTHER, 0)                    \
	X(MUNMAP, munmap, LIB, OTHER, 0)                \
	X(MSYNC, msync, LIB, OTHER, 0)                  \
	X(SOCKET, socket, LIB, ADMIN, 0)                \
	X(SOCKETPAIR, socketpair, LIB, ADMIN, 0)        \
	X(CONNECT, connect, LIB, ADMIN, 0)              \
	X(ACCEPT, accept, LIB, ADMIN, 0)                \
	X(SEND, send, LIB, WRITE, 1)                    \
	X(SENDTO, sendto, LIB, WRITE, 1)                \
	X(SENDMSG, sendmsg, LIB, WRITE, 1)              \
	X(RECV, recv, LIB, READ, 1)                     \
	X(RECVFROM, recvfrom, LIB, READ, 1)             \
	X(RECVMSG, recvmsg, LIB, READ, 1)               \
	X(FOPEN, fopen, LIB, ADMIN, 0)                  \
	X(FREOPEN, freopen, LIB, ADMIN, 0)              \
	X(FDOPEN, fdopen, LIB, ADMIN, 0)                \
	X(TMPFILE, tmpfile, LIB, ADMIN, 0)              \
	X(FCLOSE, fclose, LIB, ADMIN, 0)                \
	X(FREAD, fread, LIB, READ, 1)                   \
	X(FWRITE, fwrite, LIB, WRITE, 1)                \
	X(FGETS, fgets, LIB, READ, 1)                   \
	X(FPUTS, fputs, LIB, WRITE, 1)                  \
	X(PUTS, puts, LIB, WRITE, 1)                    \
	X(FGETC, fgetc, LIB, READ, 1)                   \
	X(GETC, getc, LIB, READ, 1)                     \
	X(GETCHAR, getchar, LIB, READ, 1)               \
	X(UNGETC, ungetc, LIB, READ, 0)                 \
	X(FPUTC, fputc, LIB, WRITE, 1)                  \
	X(PUTC, putc, LIB, WRITE, 1)                    \
	X(PUTCHAR, putchar, LIB, WRITE, 1)              \
	X(GETLINE, getline, LIB, READ, 1)               \
	X(GETDELIM, getdelim, LIB, READ, 1)             \
	X(PRINTF, printf, LIB, WRITE, 1)                \
	X(FPRINTF, fprintf, LIB, WRITE, 1)              \
	X(VPRINTF, vprintf, LIB, WRITE, 1)              \
	X(VFPRINTF, vfprintf, LIB, WRITE, 1)            \
	X(DPRINTF, dprintf, LIB, WRITE, 1)              \
	X(VDPRINTF, vdprintf, LIB, WRITE, 1)            \
	X(SCANF, scanf, LIB, READ, 0)                   \
	X(FSCANF, fscanf, LIB, READ, 0)                 \
	X(VSCANF, vscanf, LIB, READ, 0)                 \
	X(VFSCANF, vfscanf, LIB, READ, 0)               \
	X(FSEEK, fseek, LIB, POSITION, 0)               \
	X(FTELL, ftell, LIB, POSITION, 0)               \
	X(REWIND, rewind, LIB, POSITION, 0)             \
	X(FGETPOS, fgetpos, LIB, POSITION, 0)           \
	X(FSETPOS, fsetpos, LIB, POSITION, 0)           \
	X(FFLUSH, fflush, LIB, OTHER, 0)                \
	X(SETVBUF, setvbuf, LIB, OTHER, 0)

enum layer { LAYER_LIB, LAYER_MPI, LAYER_MAX };

/* What a call is for: the classes of IOProf. */
enum layer_class { CLASS_READ, CLASS_WRITE, CLASS_POSITION, CLASS_ADMIN, CLASS_OTHER, CLASS_MAX };

enum layer_call {
#define X(code, name, layer, class, moves) CALL_##code,
	LAYER_CALLS(X)
#undef X
	CALL_MAX
};

extern const char *const layer_names[LAYER_MAX];
extern const char *const layer_class_names[CLASS_MAX];

extern const struct layer_call_kind {
	const char *name;
	enum layer layer;
	enum layer_class class;
	int moves;
} layer_calls[CALL_MAX];

#endif
