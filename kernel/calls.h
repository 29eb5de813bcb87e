/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_CALLS_H
#define KERNEL_CALLS_H

/*
 * The system calls that are recorded: the one table, for the programs in the kernel and for us.
 *
 *   X(NAME, number on x86-64, number on i386, CLASS, how, OP, fd, path, dir, offset, length, flags)
 *
 * A number NO: there is no such call.  A further architecture is a further column.  i386 is for 32-bit programs.  OP is
 * the operation of db/event.h; a class that decides it by the arguments, or that makes none, has NONE.
 *
 * fd ... flags say which argument has what, counted from 1; 0: none has it.  A path without dir begins at the working
 * directory.  Classes use them as their names say, except:
 *   PATHS     offset and length: directory and path of the second one
 *   STAT      length: where the result goes
 *   PIPE      fd: where the two descriptors go
 *   MESSAGE, MESSAGES  length: the message, or an array of them, of which the next argument is the number
 *   MAP       flags 7: protection and flags of the mapping
 *   UNMAP     offset, length: addresses; dir: the length before; flags 7: as MAP
 *   TRANSFER  fd, offset: descriptor and pointer to the offset that is read from; path, dir: those of the other side
 */

#include <stdint.h>

#define CALL_NO 0xffff

enum call_class {
	CLASS_NONE,
	CLASS_FD,	   /* about a descriptor */
	CLASS_DATA,	   /* reads or writes a descriptor */
	CLASS_MESSAGE,	   /* sends or receives a message of several parts */
	CLASS_MESSAGES,	   /* several of them */
	CLASS_CLOSE,
	CLASS_CLOSE_RANGE,
	CLASS_DUP,
	CLASS_FCNTL,
	CLASS_OPEN,
	CLASS_OPENAT2,
	CLASS_ADDRESS,	   /* gives a socket an address */
	CLASS_NEW,	   /* returns a descriptor of something without a path */
	CLASS_PIPE,	   /* makes two descriptors */
	CLASS_PATH,
	CLASS_PATHS,	   /* two paths, or a path and a target */
	CLASS_STAT,
	CLASS_MAP,
	CLASS_UNMAP,	   /* about a range of addresses */
	CLASS_TRANSFER,	   /* from one descriptor to another */
	CLASS_SUBMIT,	   /* io_submit(2) */
	CLASS_REAP,	   /* io_getevents(2) */
	CLASS_EXEC,
	CLASS_LLSEEK,	   /* the offset is two arguments, the higher half first; length: where the result goes */
	CLASS_INDIRECT,	   /* of 32-bit programs: another call, of which the arguments are at 'length' */
	CLASS_MAX
};

/* how */
#define HOW_WRITE 1   /* DATA: an append decides where the data land */
#define HOW_VECTOR 2  /* DATA: length is the argument with the vector; the next one has its length */
#define HOW_WIDE 4    /* 32-bit calls: offset is two arguments, the lower half first */
#define HOW_STREAM 8  /* DATA: there is no offset */
#define HOW_WIDER 16  /* 32-bit calls: length, too */
#define HOW_NAME 32   /* FD: path is the argument with the name of an attribute */
#define HOW_PAGES 64  /* offset counts pages of 4096 bytes */
#define HOW_CURRENT 128 /* DATA: offset -1 means the position of the descriptor */

#define CALLS(X, NO)                                                                                  \
	/* data */                                                                                    \
	X(read, 0, 3, DATA, 0, READ, 1, 0, 0, 0, 3, 0)                                                \
	X(write, 1, 4, DATA, HOW_WRITE, WRITE, 1, 0, 0, 0, 3, 0)                                      \
	X(pread64, 17, 180, DATA, HOW_WIDE, READ, 1, 0, 0, 4, 3, 0)                                   \
	X(pwrite64, 18, 181, DATA, HOW_WIDE | HOW_WRITE, WRITE, 1, 0, 0, 4, 3, 0)                     \
	X(readv, 19, 145, DATA, HOW_VECTOR, READ, 1, 0, 0, 0, 2, 0)                                   \
	X(writev, 20, 146, DATA, HOW_VECTOR | HOW_WRITE, WRITE, 1, 0, 0, 0, 2, 0)                     \
	X(preadv, 295, 333, DATA, HOW_VECTOR | HOW_WIDE, READ, 1, 0, 0, 4, 2, 0)                      \
	X(pwritev, 296, 334, DATA, HOW_VECTOR | HOW_WIDE | HOW_WRITE, WRITE, 1, 0, 0, 4, 2, 0)        \
	X(preadv2, 327, 378, DATA, HOW_VECTOR | HOW_WIDE | HOW_CURRENT, READ, 1, 0, 0, 4, 2, 6)       \
	X(pwritev2, 328, 379, DATA, HOW_VECTOR | HOW_WIDE | HOW_WRITE | HOW_CURRENT, WRITE, 1, 0, 0, 4, 2, 6) \
	X(sendto, 44, 369, DATA, HOW_STREAM, SEND, 1, 0, 0, 0, 3, 4)                                  \
	X(recvfrom, 45, 371, DATA, HOW_STREAM, RECV, 1, 0, 0, 0, 3, 4)                                \
	X(sendmsg, 46, 370, MESSAGE, 0, SEND, 1, 0, 0, 0, 2, 3)                                       \
	X(recvmsg, 47, 372, MESSAGE, 0, RECV, 1, 0, 0, 0, 2, 3)                                       \
	X(sendmmsg, 307, 345, MESSAGES, 0, SEND, 1, 0, 0, 0, 2, 4)                                    \
	X(recvmmsg, 299, 337, MESSAGES, 0, RECV, 1, 0, 0, 0, 2, 4)                                    \
	X(recvmmsg_time64, NO, 417, MESSAGES, 0, RECV, 1, 0, 0, 0, 2, 4)                              \
	X(vmsplice, 278, 316, DATA, HOW_VECTOR | HOW_STREAM, WRITE, 1, 0, 0, 0, 2, 4)                 \
	X(sendfile, 40, 187, TRANSFER, 0, SENDFILE, 2, 1, 0, 3, 4, 0)                                 \
	X(sendfile64, NO, 239, TRANSFER, 0, SENDFILE, 2, 1, 0, 3, 4, 0)                               \
	X(splice, 275, 313, TRANSFER, 0, SPLICE, 1, 3, 4, 2, 5, 6)                                    \
	X(tee, 276, 315, TRANSFER, 0, SPLICE, 1, 2, 0, 0, 3, 4)                                       \
	X(copy_file_range, 326, 377, TRANSFER, 0, COPY, 1, 3, 4, 2, 5, 6)                             \
	X(io_submit, 209, 248, SUBMIT, 0, NONE, 0, 0, 0, 0, 0, 0)                                     \
	X(io_getevents, 208, 247, REAP, 0, NONE, 0, 0, 0, 0, 4, 0)                                    \
	X(io_pgetevents, 333, 385, REAP, 0, NONE, 0, 0, 0, 0, 4, 0)                                   \
	X(io_pgetevents_time64, NO, 416, REAP, 0, NONE, 0, 0, 0, 0, 4, 0)                             \
	/* descriptors */                                                                             \
	X(open, 2, 5, OPEN, 0, OPEN, 0, 1, 0, 0, 3, 2)                                                \
	X(creat, 85, 8, OPEN, 0, OPEN, 0, 1, 0, 0, 2, 0)                                              \
	X(openat, 257, 295, OPEN, 0, OPEN, 0, 2, 1, 0, 4, 3)                                          \
	X(openat2, 437, 437, OPENAT2, 0, OPEN, 0, 2, 1, 0, 0, 3)                                      \
	X(open_by_handle_at, 304, 342, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                \
	X(close, 3, 6, CLOSE, 0, CLOSE, 1, 0, 0, 0, 0, 0)                                             \
	X(close_range, 436, 436, CLOSE_RANGE, 0, CLOSE, 0, 0, 0, 0, 0, 0)                             \
	X(dup, 32, 41, DUP, 0, DUP, 1, 0, 0, 0, 0, 0)                                                 \
	X(dup2, 33, 63, DUP, 0, DUP, 1, 0, 0, 2, 0, 0)                                                \
	X(dup3, 292, 330, DUP, 0, DUP, 1, 0, 0, 2, 0, 3)                                              \
	X(fcntl, 72, 55, FCNTL, 0, FCNTL, 1, 0, 0, 0, 3, 2)                                           \
	X(fcntl64, NO, 221, FCNTL, 0, FCNTL, 1, 0, 0, 0, 3, 2)                                        \
	X(pipe, 22, 42, PIPE, 0, PIPE, 1, 0, 0, 0, 0, 0)                                              \
	X(pipe2, 293, 331, PIPE, 0, PIPE, 1, 0, 0, 0, 0, 2)                                           \
	X(socketpair, 53, 360, PIPE, 0, SOCKET, 4, 0, 0, 0, 0, 1)                                     \
	X(socket, 41, 359, NEW, 0, SOCKET, 0, 0, 0, 0, 0, 1)                                          \
	X(accept, 43, NO, NEW, 0, ACCEPT, 1, 0, 0, 0, 0, 0)                                           \
	X(accept4, 288, 364, NEW, 0, ACCEPT, 1, 0, 0, 0, 0, 4)                                        \
	X(connect, 42, 362, ADDRESS, 0, CONNECT, 1, 0, 0, 0, 0, 0)                                    \
	X(bind, 49, 361, ADDRESS, 0, NONE, 1, 0, 0, 0, 0, 0)                                          \
	X(memfd_create, 319, 356, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                     \
	X(memfd_secret, 447, 447, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                     \
	X(eventfd, 284, 323, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                          \
	X(eventfd2, 290, 328, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                         \
	X(epoll_create, 213, 254, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                     \
	X(epoll_create1, 291, 329, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                    \
	X(timerfd_create, 283, 322, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                   \
	X(signalfd, 282, 321, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                         \
	X(signalfd4, 289, 327, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                        \
	X(inotify_init, 253, 291, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                     \
	X(inotify_init1, 294, 332, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                    \
	X(fanotify_init, 300, 338, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                    \
	X(userfaultfd, 323, 374, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                      \
	X(perf_event_open, 298, 336, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                  \
	X(io_uring_setup, 425, 425, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                   \
	X(pidfd_open, 434, 434, NEW, 0, NONE, 0, 0, 0, 0, 0, 0)                                       \
	X(lseek, 8, 19, FD, 0, LSEEK, 1, 0, 0, 2, 0, 3)                                               \
	X(llseek, NO, 140, LLSEEK, 0, LSEEK, 1, 0, 0, 3, 4, 5)                                        \
	X(fsync, 74, 118, FD, 0, FSYNC, 1, 0, 0, 0, 0, 0)                                             \
	X(fdatasync, 75, 148, FD, 0, FSYNC, 1, 0, 0, 0, 0, 0)                                         \
	X(sync_file_range, 277, NO, FD, 0, FSYNC, 1, 0, 0, 2, 3, 0)                                   \
	X(sync_file_range32, NO, 314, FD, HOW_WIDE | HOW_WIDER, FSYNC, 1, 0, 0, 2, 4, 0)              \
	X(syncfs, 306, 344, FD, 0, FSYNC, 1, 0, 0, 0, 0, 0)                                           \
	X(ftruncate, 77, 93, FD, 0, TRUNCATE, 1, 0, 0, 0, 2, 0)                                       \
	X(ftruncate64, NO, 194, FD, HOW_WIDER, TRUNCATE, 1, 0, 0, 0, 2, 0)                            \
	X(fallocate, 285, NO, FD, 0, FALLOCATE, 1, 0, 0, 3, 4, 2)                                     \
	X(fallocate32, NO, 324, FD, HOW_WIDE | HOW_WIDER, FALLOCATE, 1, 0, 0, 3, 5, 2)                \
	X(getdents, 78, 141, FD, 0, READDIR, 1, 0, 0, 0, 3, 0)                                        \
	X(getdents64, 217, 220, FD, 0, READDIR, 1, 0, 0, 0, 3, 0)                                     \
	X(ioctl, 16, 54, FD, 0, IOCTL, 1, 0, 0, 0, 3, 2)                                              \
	X(flock, 73, 143, FD, 0, LOCK, 1, 0, 0, 0, 0, 2)                                              \
	X(fchmod, 91, 94, FD, 0, CHMOD, 1, 0, 0, 0, 2, 0)                                             \
	X(fchown, 93, 207, FD, 0, CHOWN, 1, 0, 0, 0, 0, 0)                                            \
	X(fchown16, NO, 95, FD, 0, CHOWN, 1, 0, 0, 0, 0, 0)                                           \
	X(fstatfs, 138, 100, FD, 0, STATFS, 1, 0, 0, 0, 0, 0)                                         \
	X(fstatfs64, NO, 269, FD, 0, STATFS, 1, 0, 0, 0, 0, 0)                                        \
	X(fsetxattr, 190, 228, FD, HOW_NAME, SETXATTR, 1, 2, 0, 0, 4, 5)                              \
	X(fgetxattr, 193, 231, FD, HOW_NAME, GETXATTR, 1, 2, 0, 0, 4, 0)                              \
	X(flistxattr, 196, 234, FD, 0, LISTXATTR, 1, 0, 0, 0, 3, 0)                                   \
	X(fremovexattr, 199, 237, FD, HOW_NAME, REMOVEXATTR, 1, 2, 0, 0, 0, 0)                        \
	X(mmap, 9, NO, MAP, 0, MMAP, 5, 0, 0, 6, 2, 7)                                                \
	X(mmap2, NO, 192, MAP, HOW_PAGES, MMAP, 5, 0, 0, 6, 2, 7)                                     \
	X(munmap, 11, 91, UNMAP, 0, MUNMAP, 0, 0, 0, 1, 2, 0)                                         \
	X(msync, 26, 144, UNMAP, 0, MSYNC, 0, 0, 0, 1, 2, 3)                                          \
	X(mprotect, 10, 125, UNMAP, 0, MPROTECT, 0, 0, 0, 1, 2, 7)                                    \
	X(mremap, 25, 163, UNMAP, 0, MREMAP, 0, 0, 2, 1, 3, 4)                                        \
	X(mmap1, NO, 90, INDIRECT, 0, NONE, 0, 0, 0, 0, 1, 0)                                         \
	X(socketcall, NO, 102, INDIRECT, 0, NONE, 0, 0, 0, 0, 2, 0)                                   \
	/* paths */                                                                                   \
	X(stat, 4, NO, STAT, 0, GETATTR, 0, 1, 0, 0, 2, 0)                                            \
	X(fstat, 5, NO, STAT, 0, GETATTR, 1, 0, 0, 0, 2, 0)                                           \
	X(lstat, 6, NO, STAT, 0, GETATTR, 0, 1, 0, 0, 2, 0)                                           \
	X(newfstatat, 262, NO, STAT, 0, GETATTR, 0, 2, 1, 0, 3, 4)                                    \
	X(stat64, NO, 195, STAT, 0, GETATTR, 0, 1, 0, 0, 2, 0)                                        \
	X(lstat64, NO, 196, STAT, 0, GETATTR, 0, 1, 0, 0, 2, 0)                                       \
	X(fstat64, NO, 197, STAT, 0, GETATTR, 1, 0, 0, 0, 2, 0)                                       \
	X(fstatat64, NO, 300, STAT, 0, GETATTR, 0, 2, 1, 0, 3, 4)                                     \
	X(statx, 332, 383, STAT, 0, GETATTR, 0, 2, 1, 0, 5, 3)                                        \
	X(stat32, NO, 106, PATH, 0, GETATTR, 0, 1, 0, 0, 0, 0)                                        \
	X(lstat32, NO, 107, PATH, 0, GETATTR, 0, 1, 0, 0, 0, 0)                                       \
	X(fstat32, NO, 108, FD, 0, GETATTR, 1, 0, 0, 0, 0, 0)                                         \
	X(access, 21, 33, PATH, 0, ACCESS, 0, 1, 0, 0, 2, 0)                                          \
	X(faccessat, 269, 307, PATH, 0, ACCESS, 0, 2, 1, 0, 3, 0)                                     \
	X(faccessat2, 439, 439, PATH, 0, ACCESS, 0, 2, 1, 0, 3, 4)                                    \
	X(readlink, 89, 85, PATH, 0, READLINK, 0, 1, 0, 0, 3, 0)                                      \
	X(readlinkat, 267, 305, PATH, 0, READLINK, 0, 2, 1, 0, 4, 0)                                  \
	X(truncate, 76, 92, PATH, 0, TRUNCATE, 0, 1, 0, 0, 2, 0)                                      \
	X(truncate64, NO, 193, PATH, HOW_WIDER, TRUNCATE, 0, 1, 0, 0, 2, 0)                           \
	X(chmod, 90, 15, PATH, 0, CHMOD, 0, 1, 0, 0, 2, 0)                                            \
	X(fchmodat, 268, 306, PATH, 0, CHMOD, 0, 2, 1, 0, 3, 0)                                       \
	X(fchmodat2, 452, 452, PATH, 0, CHMOD, 0, 2, 1, 0, 3, 4)                                      \
	X(chown, 92, 212, PATH, 0, CHOWN, 0, 1, 0, 0, 0, 0)                                           \
	X(chown16, NO, 182, PATH, 0, CHOWN, 0, 1, 0, 0, 0, 0)                                         \
	X(lchown, 94, 198, PATH, 0, CHOWN, 0, 1, 0, 0, 0, 0)                                          \
	X(lchown16, NO, 16, PATH, 0, CHOWN, 0, 1, 0, 0, 0, 0)                                         \
	X(fchownat, 260, 298, PATH, 0, CHOWN, 0, 2, 1, 0, 0, 5)                                       \
	X(utime, 132, 30, PATH, 0, UTIMENS, 0, 1, 0, 0, 0, 0)                                         \
	X(utimes, 235, 271, PATH, 0, UTIMENS, 0, 1, 0, 0, 0, 0)                                       \
	X(futimesat, 261, 299, PATH, 0, UTIMENS, 0, 2, 1, 0, 0, 0)                                    \
	X(utimensat, 280, 320, PATH, 0, UTIMENS, 0, 2, 1, 0, 0, 4)                                    \
	X(utimensat_time64, NO, 412, PATH, 0, UTIMENS, 0, 2, 1, 0, 0, 4)                              \
	X(setxattr, 188, 226, PATH, 0, SETXATTR, 0, 1, 0, 0, 4, 0)                                    \
	X(lsetxattr, 189, 227, PATH, 0, SETXATTR, 0, 1, 0, 0, 4, 0)                                   \
	X(getxattr, 191, 229, PATH, 0, GETXATTR, 0, 1, 0, 0, 4, 0)                                    \
	X(lgetxattr, 192, 230, PATH, 0, GETXATTR, 0, 1, 0, 0, 4, 0)                                   \
	X(listxattr, 194, 232, PATH, 0, LISTXATTR, 0, 1, 0, 0, 3, 0)                                  \
	X(llistxattr, 195, 233, PATH, 0, LISTXATTR, 0, 1, 0, 0, 3, 0)                                 \
	X(removexattr, 197, 235, PATH, 0, REMOVEXATTR, 0, 1, 0, 0, 0, 0)                              \
	X(lremovexattr, 198, 236, PATH, 0, REMOVEXATTR, 0, 1, 0, 0, 0, 0)                             \
	X(setxattrat, 463, 463, PATH, 0, SETXATTR, 0, 2, 1, 0, 0, 3)                                  \
	X(getxattrat, 464, 464, PATH, 0, GETXATTR, 0, 2, 1, 0, 0, 3)                                  \
	X(listxattrat, 465, 465, PATH, 0, LISTXATTR, 0, 2, 1, 0, 5, 3)                                \
	X(removexattrat, 466, 466, PATH, 0, REMOVEXATTR, 0, 2, 1, 0, 0, 3)                            \
	X(statfs, 137, 99, PATH, 0, STATFS, 0, 1, 0, 0, 0, 0)                                         \
	X(statfs64, NO, 268, PATH, 0, STATFS, 0, 1, 0, 0, 0, 0)                                       \
	X(mkdir, 83, 39, PATH, 0, MKDIR, 0, 1, 0, 0, 2, 0)                                            \
	X(mkdirat, 258, 296, PATH, 0, MKDIR, 0, 2, 1, 0, 3, 0)                                        \
	X(mknod, 133, 14, PATH, 0, MKNOD, 0, 1, 0, 0, 2, 0)                                           \
	X(mknodat, 259, 297, PATH, 0, MKNOD, 0, 2, 1, 0, 3, 0)                                        \
	X(rmdir, 84, 40, PATH, 0, RMDIR, 0, 1, 0, 0, 0, 0)                                            \
	X(unlink, 87, 10, PATH, 0, UNLINK, 0, 1, 0, 0, 0, 0)                                          \
	X(unlinkat, 263, 301, PATH, 0, UNLINK, 0, 2, 1, 0, 0, 3)                                      \
	X(rename, 82, 38, PATHS, 0, RENAME, 0, 1, 0, 0, 2, 0)                                         \
	X(renameat, 264, 302, PATHS, 0, RENAME, 0, 2, 1, 3, 4, 0)                                     \
	X(renameat2, 316, 353, PATHS, 0, RENAME, 0, 2, 1, 3, 4, 5)                                    \
	X(link, 86, 9, PATHS, 0, LINK, 0, 1, 0, 0, 2, 0)                                              \
	X(linkat, 265, 303, PATHS, 0, LINK, 0, 2, 1, 3, 4, 5)                                         \
	X(symlink, 88, 83, PATHS, 0, SYMLINK, 0, 2, 0, 0, 1, 0)                                       \
	X(symlinkat, 266, 304, PATHS, 0, SYMLINK, 0, 3, 2, 0, 1, 0)                                   \
	X(execve, 59, 11, EXEC, 0, OPEN, 0, 1, 0, 0, 0, 0)                                            \
	X(execveat, 322, 358, EXEC, 0, OPEN, 0, 2, 1, 0, 0, 5)

/*
 * Calls that wait for something else than for the file of their descriptor: X(number on x86-64, enum wire_wait).  Of others that
 * wait without a file: OTHER.
 */
#define CALLS_WAITING(X)                                                                                       \
	X(202, LOCK) /* futex */ X(449, LOCK) /* futex_waitv */ X(455, LOCK) /* futex_wait */ X(73, LOCK) /* flock */ \
	X(65, LOCK) /* semop */ X(220, LOCK) /* semtimedop */ X(70, OTHER) /* msgrcv */                        \
	X(61, CHILD) /* wait4 */ X(247, CHILD) /* waitid */ X(58, CHILD) /* vfork */ X(56, CHILD) /* clone */   \
	X(435, CHILD) /* clone3 */                                                                             \
	X(35, SLEEP) /* nanosleep */ X(230, SLEEP) /* clock_nanosleep */ X(34, SLEEP) /* pause */               \
	X(130, SLEEP) /* rt_sigsuspend */ X(128, SLEEP) /* rt_sigtimedwait */ X(219, SLEEP) /* restart_syscall() of an unknown call */ \
	X(7, EVENT) /* poll */ X(271, EVENT) /* ppoll */ X(23, EVENT) /* select */ X(270, EVENT) /* pselect6 */ \
	X(232, EVENT) /* epoll_wait */ X(281, EVENT) /* epoll_pwait */ X(441, EVENT) /* epoll_pwait2 */         \
	X(426, EVENT) /* io_uring_enter */ X(208, EVENT) /* io_getevents */ X(333, EVENT) /* io_pgetevents */   \
	X(9, MEMORY) /* mmap */ X(11, MEMORY) /* munmap */ X(10, MEMORY) /* mprotect */ X(25, MEMORY) /* mremap */ \
	X(12, MEMORY) /* brk */ X(28, MEMORY) /* madvise */                                                    \
	X(162, FILE) /* sync */ X(306, FILE) /* syncfs */

#define RESTART_NATIVE 219 /* restart_syscall() goes on with a call that a stop has interrupted */

enum call {
	CALL_none,
#define X(name, ...) CALL_##name,
	CALLS(X, CALL_NO)
#undef X
	CALL_MAX
};

/* What the programs need of a line. */
struct call_row {
	uint8_t class;
	uint8_t how;
	uint8_t fd, path, dir, offset, length, flags;
};

#define CALL_NUMBERS 512 /* higher numbers are not recorded */

#endif
