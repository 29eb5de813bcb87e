/* SPDX-License-Identifier: MIT */
#ifndef DB_LAYERS_H
#define DB_LAYERS_H

#include <stdint.h>

/*
 * Calls of the layers above the system calls: the closed list of ftrac-db(5), in the order of the table call_name.  New ones go
 * to the end, because the codes are in traces.
 *
 *   X(code, name, layer, class, moves, collective)
 *
 * moves: 1: the result of a successful call is the number of bytes that it read or wrote; 0: it is not.  collective: 1: all
 * processes that have opened the file make the call together.  Variants have the name of the function that they stand for:
 * open64 is open, __fgets_chk and fgets_unlocked are fgets, PMPI_File_open and that of Fortran are MPI_File_open.
 */
#define LAYER_CALLS(X)                                  \
	X(OPEN, open, LIB, ADMIN, 0, 0)                    \
	X(OPENAT, openat, LIB, ADMIN, 0, 0)                \
	X(CREAT, creat, LIB, ADMIN, 0, 0)                  \
	X(CLOSE, close, LIB, ADMIN, 0, 0)                  \
	X(READ, read, LIB, READ, 1, 0)                     \
	X(WRITE, write, LIB, WRITE, 1, 0)                  \
	X(PREAD, pread, LIB, READ, 1, 0)                   \
	X(PWRITE, pwrite, LIB, WRITE, 1, 0)                \
	X(READV, readv, LIB, READ, 1, 0)                   \
	X(WRITEV, writev, LIB, WRITE, 1, 0)                \
	X(PREADV, preadv, LIB, READ, 1, 0)                 \
	X(PWRITEV, pwritev, LIB, WRITE, 1, 0)              \
	X(LSEEK, lseek, LIB, POSITION, 0, 0)               \
	X(DUP, dup, LIB, ADMIN, 0, 0)                      \
	X(DUP2, dup2, LIB, ADMIN, 0, 0)                    \
	X(DUP3, dup3, LIB, ADMIN, 0, 0)                    \
	X(FCNTL, fcntl, LIB, ADMIN, 0, 0)                  \
	X(TRUNCATE, truncate, LIB, OTHER, 0, 0)            \
	X(FTRUNCATE, ftruncate, LIB, OTHER, 0, 0)          \
	X(FSYNC, fsync, LIB, OTHER, 0, 0)                  \
	X(FDATASYNC, fdatasync, LIB, OTHER, 0, 0)          \
	X(PIPE, pipe, LIB, ADMIN, 0, 0)                    \
	X(SENDFILE, sendfile, LIB, WRITE, 1, 0)            \
	X(COPY_FILE_RANGE, copy_file_range, LIB, WRITE, 1, 0) \
	X(MMAP, mmap, LIB, OTHER, 0, 0)                    \
	X(MUNMAP, munmap, LIB, OTHER, 0, 0)                \
	X(MSYNC, msync, LIB, OTHER, 0, 0)                  \
	X(SOCKET, socket, LIB, ADMIN, 0, 0)                \
	X(SOCKETPAIR, socketpair, LIB, ADMIN, 0, 0)        \
	X(CONNECT, connect, LIB, ADMIN, 0, 0)              \
	X(ACCEPT, accept, LIB, ADMIN, 0, 0)                \
	X(SEND, send, LIB, WRITE, 1, 0)                    \
	X(SENDTO, sendto, LIB, WRITE, 1, 0)                \
	X(SENDMSG, sendmsg, LIB, WRITE, 1, 0)              \
	X(RECV, recv, LIB, READ, 1, 0)                     \
	X(RECVFROM, recvfrom, LIB, READ, 1, 0)             \
	X(RECVMSG, recvmsg, LIB, READ, 1, 0)               \
	X(FOPEN, fopen, LIB, ADMIN, 0, 0)                  \
	X(FREOPEN, freopen, LIB, ADMIN, 0, 0)              \
	X(FDOPEN, fdopen, LIB, ADMIN, 0, 0)                \
	X(TMPFILE, tmpfile, LIB, ADMIN, 0, 0)              \
	X(FCLOSE, fclose, LIB, ADMIN, 0, 0)                \
	X(FREAD, fread, LIB, READ, 1, 0)                   \
	X(FWRITE, fwrite, LIB, WRITE, 1, 0)                \
	X(FGETS, fgets, LIB, READ, 1, 0)                   \
	X(FPUTS, fputs, LIB, WRITE, 1, 0)                  \
	X(PUTS, puts, LIB, WRITE, 1, 0)                    \
	X(FGETC, fgetc, LIB, READ, 1, 0)                   \
	X(GETC, getc, LIB, READ, 1, 0)                     \
	X(GETCHAR, getchar, LIB, READ, 1, 0)               \
	X(UNGETC, ungetc, LIB, READ, 0, 0)                 \
	X(FPUTC, fputc, LIB, WRITE, 1, 0)                  \
	X(PUTC, putc, LIB, WRITE, 1, 0)                    \
	X(PUTCHAR, putchar, LIB, WRITE, 1, 0)              \
	X(GETLINE, getline, LIB, READ, 1, 0)               \
	X(GETDELIM, getdelim, LIB, READ, 1, 0)             \
	X(PRINTF, printf, LIB, WRITE, 1, 0)                \
	X(FPRINTF, fprintf, LIB, WRITE, 1, 0)              \
	X(VPRINTF, vprintf, LIB, WRITE, 1, 0)              \
	X(VFPRINTF, vfprintf, LIB, WRITE, 1, 0)            \
	X(DPRINTF, dprintf, LIB, WRITE, 1, 0)              \
	X(VDPRINTF, vdprintf, LIB, WRITE, 1, 0)            \
	X(SCANF, scanf, LIB, READ, 0, 0)                   \
	X(FSCANF, fscanf, LIB, READ, 0, 0)                 \
	X(VSCANF, vscanf, LIB, READ, 0, 0)                 \
	X(VFSCANF, vfscanf, LIB, READ, 0, 0)               \
	X(FSEEK, fseek, LIB, POSITION, 0, 0)               \
	X(FTELL, ftell, LIB, POSITION, 0, 0)               \
	X(REWIND, rewind, LIB, POSITION, 0, 0)             \
	X(FGETPOS, fgetpos, LIB, POSITION, 0, 0)           \
	X(FSETPOS, fsetpos, LIB, POSITION, 0, 0)           \
	X(FFLUSH, fflush, LIB, OTHER, 0, 0)                \
	X(SETVBUF, setvbuf, LIB, OTHER, 0, 0)            \
	X(MPI_OPEN, MPI_File_open, MPI, ADMIN, 0, 1)            \
	X(MPI_CLOSE, MPI_File_close, MPI, ADMIN, 0, 1)          \
	X(MPI_DELETE, MPI_File_delete, MPI, ADMIN, 0, 0)        \
	X(MPI_SET_VIEW, MPI_File_set_view, MPI, ADMIN, 0, 1)    \
	X(MPI_SET_SIZE, MPI_File_set_size, MPI, OTHER, 0, 1)    \
	X(MPI_PREALLOCATE, MPI_File_preallocate, MPI, OTHER, 0, 1) \
	X(MPI_GET_SIZE, MPI_File_get_size, MPI, ADMIN, 0, 0)    \
	X(MPI_SET_INFO, MPI_File_set_info, MPI, ADMIN, 0, 1)    \
	X(MPI_SET_ATOMICITY, MPI_File_set_atomicity, MPI, ADMIN, 0, 1) \
	X(MPI_SYNC, MPI_File_sync, MPI, OTHER, 0, 1)            \
	X(MPI_SEEK, MPI_File_seek, MPI, POSITION, 0, 0)         \
	X(MPI_SEEK_SHARED, MPI_File_seek_shared, MPI, POSITION, 0, 1) \
	X(MPI_GET_POSITION, MPI_File_get_position, MPI, POSITION, 0, 0) \
	X(MPI_GET_POSITION_SHARED, MPI_File_get_position_shared, MPI, POSITION, 0, 0) \
	X(MPI_READ, MPI_File_read, MPI, READ, 1, 0)             \
	X(MPI_READ_AT, MPI_File_read_at, MPI, READ, 1, 0)       \
	X(MPI_READ_ALL, MPI_File_read_all, MPI, READ, 1, 1)     \
	X(MPI_READ_AT_ALL, MPI_File_read_at_all, MPI, READ, 1, 1) \
	X(MPI_READ_SHARED, MPI_File_read_shared, MPI, READ, 1, 0) \
	X(MPI_READ_ORDERED, MPI_File_read_ordered, MPI, READ, 1, 1) \
	X(MPI_IREAD, MPI_File_iread, MPI, READ, 1, 0)           \
	X(MPI_IREAD_AT, MPI_File_iread_at, MPI, READ, 1, 0)     \
	X(MPI_IREAD_ALL, MPI_File_iread_all, MPI, READ, 1, 1)   \
	X(MPI_IREAD_AT_ALL, MPI_File_iread_at_all, MPI, READ, 1, 1) \
	X(MPI_IREAD_SHARED, MPI_File_iread_shared, MPI, READ, 1, 0) \
	X(MPI_READ_ALL_BEGIN, MPI_File_read_all_begin, MPI, READ, 0, 1) \
	X(MPI_READ_ALL_END, MPI_File_read_all_end, MPI, READ, 1, 1) \
	X(MPI_READ_AT_ALL_BEGIN, MPI_File_read_at_all_begin, MPI, READ, 0, 1) \
	X(MPI_READ_AT_ALL_END, MPI_File_read_at_all_end, MPI, READ, 1, 1) \
	X(MPI_READ_ORDERED_BEGIN, MPI_File_read_ordered_begin, MPI, READ, 0, 1) \
	X(MPI_READ_ORDERED_END, MPI_File_read_ordered_end, MPI, READ, 1, 1) \
	X(MPI_WRITE, MPI_File_write, MPI, WRITE, 1, 0)          \
	X(MPI_WRITE_AT, MPI_File_write_at, MPI, WRITE, 1, 0)    \
	X(MPI_WRITE_ALL, MPI_File_write_all, MPI, WRITE, 1, 1)  \
	X(MPI_WRITE_AT_ALL, MPI_File_write_at_all, MPI, WRITE, 1, 1) \
	X(MPI_WRITE_SHARED, MPI_File_write_shared, MPI, WRITE, 1, 0) \
	X(MPI_WRITE_ORDERED, MPI_File_write_ordered, MPI, WRITE, 1, 1) \
	X(MPI_IWRITE, MPI_File_iwrite, MPI, WRITE, 1, 0)        \
	X(MPI_IWRITE_AT, MPI_File_iwrite_at, MPI, WRITE, 1, 0)  \
	X(MPI_IWRITE_ALL, MPI_File_iwrite_all, MPI, WRITE, 1, 1) \
	X(MPI_IWRITE_AT_ALL, MPI_File_iwrite_at_all, MPI, WRITE, 1, 1) \
	X(MPI_IWRITE_SHARED, MPI_File_iwrite_shared, MPI, WRITE, 1, 0) \
	X(MPI_WRITE_ALL_BEGIN, MPI_File_write_all_begin, MPI, WRITE, 0, 1) \
	X(MPI_WRITE_ALL_END, MPI_File_write_all_end, MPI, WRITE, 1, 1) \
	X(MPI_WRITE_AT_ALL_BEGIN, MPI_File_write_at_all_begin, MPI, WRITE, 0, 1) \
	X(MPI_WRITE_AT_ALL_END, MPI_File_write_at_all_end, MPI, WRITE, 1, 1) \
	X(MPI_WRITE_ORDERED_BEGIN, MPI_File_write_ordered_begin, MPI, WRITE, 0, 1) \
	X(MPI_WRITE_ORDERED_END, MPI_File_write_ordered_end, MPI, WRITE, 1, 1)

enum layer { LAYER_LIB, LAYER_MPI, LAYER_MAX };

/* What a call is for: the classes of IOProf. */
enum layer_class { CLASS_READ, CLASS_WRITE, CLASS_POSITION, CLASS_ADMIN, CLASS_OTHER, CLASS_MAX };

enum layer_call {
#define X(code, name, layer, class, moves, collective) CALL_##code,
	LAYER_CALLS(X)
#undef X
	CALL_MAX
};

/*
 * What is known of a call of the layer mpi beside that.
 *   opened  the same number in all processes of one MPI job that have opened the file together, and no other one in them
 *   order   collective calls on an open file are counted from 0, the open, on; the same in all processes; -1: not collective
 *   rank, size  of the communicator with which the file was opened
 */
struct layer_mpi {
	int64_t opened;
	int32_t order;
	int32_t rank, size;
	int32_t unused;
};

/*
 * What is known of calls that were added up, beside the sums of their times, lengths and results.
 *   measured  of which of them was the time; its sum is known of all
 *   end_ns    of the last of them; 0: not known.  Then nothing was done below
 *   place     where the sum was kept, from 1 on: for preload/ alone
 */
enum layer_measured { MEASURED_NONE, MEASURED_SOME, MEASURED_ALL };

struct layer_sum {
	uint64_t calls;
	int64_t end_ns, least_ns, most_ns;
	uint32_t place;
	uint32_t measured; /* enum layer_measured */
};

static inline enum layer_measured layer_measured(uint64_t calls, uint64_t timed)
{
	return timed == 0 ? MEASURED_NONE : timed < calls ? MEASURED_SOME : MEASURED_ALL;
}

extern const char *const layer_names[LAYER_MAX];
extern const char *const layer_class_names[CLASS_MAX];

extern const struct layer_call_kind {
	char name[32]; /* no pointer: the preloaded object needs no relocation for it */
	enum layer layer;
	enum layer_class class;
	int moves, collective;
} layer_calls[CALL_MAX];

#endif
