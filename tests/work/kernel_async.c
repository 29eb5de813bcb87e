/* SPDX-License-Identifier: MIT */
/*
 * kernel_async: asynchronous I/O in the working directory: by io_uring, with a polling thread of the kernel and without,
 * and Linux AIO.  Prints for each request what is to be recorded: operation, asked length, offset, result, path.  A
 * descriptor is printed as 0.
 */
#include <fcntl.h>
#include <liburing.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char buffer[65536];

static void say(const char *op, long length, long offset, long result, const char *path)
{
	printf("%s\t%ld\t%ld\t%ld\t%s\n", op, length, offset, result, path);
}

static int finish(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	int result = -1;

	io_uring_submit(ring);
	if (io_uring_wait_cqe(ring, &cqe) == 0) {
		result = cqe->res;
		io_uring_cqe_seen(ring, cqe);
	}
	return result;
}

static void data(struct io_uring *ring, int fd)
{
	struct iovec parts[2] = { { buffer, 100 }, { buffer, 30 } };
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	io_uring_prep_write(sqe, fd, buffer, 5000, 100);
	say("write", 5000, 100, finish(ring), "u.dat");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_read(sqe, fd, buffer, 4096, 4000);
	say("read", 4096, 4000, finish(ring), "u.dat");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_readv(sqe, fd, parts, 2, 16);
	say("read", 130, 16, finish(ring), "u.dat");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_writev(sqe, fd, parts, 2, 9000);
	say("write", 130, 9000, finish(ring), "u.dat");
	lseek(fd, 7, SEEK_SET);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_read(sqe, fd, buffer, 50, -1);
	say("read", 50, 7, finish(ring), "u.dat");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_fsync(sqe, fd, 0);
	say("fsync", 0, 0, finish(ring), "u.dat");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_fallocate(sqe, fd, 0, 100, 20000);
	say("fallocate", 20000, 100, finish(ring), "u.dat");
}

static void fixed(struct io_uring *ring, int fd)
{
	struct iovec part = { buffer, sizeof(buffer) };
	struct io_uring_sqe *sqe;

	if (io_uring_register_buffers(ring, &part, 1) < 0 || io_uring_register_files(ring, &fd, 1) < 0)
		return;
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_write_fixed(sqe, 0, buffer, 600, 50, 0);
	sqe->flags |= IOSQE_FIXED_FILE;
	say("write", 600, 50, finish(ring), "u.dat");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_read_fixed(sqe, 0, buffer, 700, 60, 0);
	sqe->flags |= IOSQE_FIXED_FILE;
	say("read", 700, 60, finish(ring), "u.dat");
}

static void names(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	int fd;

	io_uring_prep_mkdirat(sqe, AT_FDCWD, "ud", 0700);
	say("mkdir", 0, 0, finish(ring), "ud");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_openat(sqe, AT_FDCWD, "ud/new", O_CREAT | O_RDWR, 0600);
	fd = finish(ring);
	say("create", 0, 0, fd < 0 ? fd : 0, "ud/new");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_write(sqe, fd, buffer, 3, 0);
	say("write", 3, 0, finish(ring), "new");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_close(sqe, fd);
	say("close", 0, 0, finish(ring), "new");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_openat(sqe, AT_FDCWD, "absent", O_RDONLY, 0);
	say("open", 0, 0, finish(ring), "absent");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_renameat(sqe, AT_FDCWD, "ud/new", AT_FDCWD, "moved", 0);
	say("rename", 0, 0, finish(ring), "ud/new\\x00moved");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_unlinkat(sqe, AT_FDCWD, "moved", 0);
	say("unlink", 0, 0, finish(ring), "moved");
}

static void uring(unsigned flags, int fd)
{
	struct io_uring ring;

	if (io_uring_queue_init(8, &ring, flags) < 0)
		return;
	data(&ring, fd);
	fixed(&ring, fd);
	names(&ring);
	io_uring_queue_exit(&ring);
}

static void aio(int fd)
{
	aio_context_t context = 0;
	struct iocb write_one = { .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = fd, .aio_buf = (uintptr_t)buffer,
		.aio_nbytes = 800, .aio_offset = 40 };
	struct iocb read_one = { .aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = fd, .aio_buf = (uintptr_t)buffer,
		.aio_nbytes = 900, .aio_offset = 44 };
	struct iocb *both[2] = { &write_one, &read_one };
	struct io_event events[2];

	if (syscall(SYS_io_setup, 4, &context) < 0)
		return;
	syscall(SYS_io_submit, context, 2, both);
	syscall(SYS_io_getevents, context, 2, 2, events, NULL);
	for (int i = 0; i < 2; i++)
		say(events[i].obj == (uintptr_t)&write_one ? "write" : "read",
			events[i].obj == (uintptr_t)&write_one ? 800 : 900, events[i].obj == (uintptr_t)&write_one ? 40 : 44,
			events[i].res, "u.dat");
	syscall(SYS_io_destroy, context);
}

int main(void)
{
	int fd = open("u.dat", O_RDWR | O_CREAT, 0644);

	uring(0, fd);
	uring(IORING_SETUP_SQPOLL, fd);
	aio(fd);
	return 0;
}
