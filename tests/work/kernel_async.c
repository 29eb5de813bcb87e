/* SPDX-License-Identifier: MIT */
/*
 * kernel_async: asynchronous I/O in the working directory: by io_uring, with a polling thread of the kernel and without,
 * and Linux AIO.  Prints for each request what is to be recorded: operation, asked length, offset, result, path.  A
 * descriptor is printed as 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
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

/* Files in slots of the ring, without a descriptor: they are opened, used and closed there. */
static void slots(struct io_uring *ring)
{
	struct io_uring_sqe *sqe;
	int slot;

	if (io_uring_register_files_sparse(ring, 8) < 0)
		return;
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_openat_direct(sqe, AT_FDCWD, "slot", O_CREAT | O_RDWR, 0600, 3);
	say("create", 0, 0, finish(ring), "slot");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_write(sqe, 3, buffer, 11, 5);
	sqe->flags |= IOSQE_FIXED_FILE;
	say("write", 11, 5, finish(ring), "slot");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_openat(sqe, AT_FDCWD, "slot", O_RDONLY, 0);
	sqe->file_index = IORING_FILE_INDEX_ALLOC;
	slot = finish(ring);
	say("open", 0, 0, slot < 0 ? slot : 0, "slot");
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_read(sqe, slot, buffer, 12, 3);
	sqe->flags |= IOSQE_FIXED_FILE;
	say("read", 12, 3, finish(ring), "slot");
	for (int i = 0; i < 2; i++) {
		sqe = io_uring_get_sqe(ring);
		io_uring_prep_close_direct(sqe, i ? 3 : slot);
		say("close", 0, 0, finish(ring), "slot");
	}
	io_uring_unregister_files(ring);
	unlink("slot");
	say("read", 10, 0, read(0, buffer, 10), "null");
}

/* Linked requests, of which success is not reported; and a chain that breaks. */
static void chains(struct io_uring *ring, int fd)
{
	struct io_uring_sqe *sqe;

	for (int i = 0; i < 3; i++) {
		sqe = io_uring_get_sqe(ring);
		io_uring_prep_write(sqe, fd, buffer, 200 + i, 300);
		sqe->flags |= IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
		sqe = io_uring_get_sqe(ring);
		io_uring_prep_mkdirat(sqe, AT_FDCWD, i == 0 ? "silent0" : i == 1 ? "silent1" : "silent2", 0700);
		sqe->flags |= IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
		sqe = io_uring_get_sqe(ring);
		io_uring_prep_fsync(sqe, fd, 0);
		finish(ring);
		say("write", 200 + i, 300, 200 + i, "u.dat");
		say("mkdir", 0, 0, 0, i == 0 ? "silent0" : i == 1 ? "silent1" : "silent2");
		say("fsync", 0, 0, 0, "u.dat");
		rmdir(i == 0 ? "silent0" : i == 1 ? "silent1" : "silent2");
	}
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_write(sqe, fd, (void *)8, 5, 0);
	sqe->flags |= IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_read(sqe, fd, buffer, 201, 0);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	say("write", 5, 0, finish(ring), "u.dat");
	say("read", 201, 0, -ECANCELED, "u.dat");
}

/* One request that accepts several connections and one that receives several times. */
static void several(struct io_uring *ring)
{
	struct sockaddr_un name = { AF_UNIX, "listener" };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client[2], server = -1;
	struct io_uring_sqe *sqe;

	unlink("listener");
	bind(listener, (struct sockaddr *)&name, sizeof(name));
	listen(listener, 4);
	sqe = io_uring_get_sqe(ring);
	io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, 0);
	sqe->user_data = 71;
	io_uring_submit(ring);
	for (int i = 0; i < 2; i++) {
		client[i] = socket(AF_UNIX, SOCK_STREAM, 0);
		connect(client[i], (struct sockaddr *)&name, sizeof(name));
		server = finish(ring);
		say("accept", 0, 0, server, "");
	}
	send(client[1], buffer, 21, 0);
	say("read", 30, -1, read(server, buffer, 30), "");
	close(client[0]);
	close(client[1]);
	close(server);
	close(listener);
}

static void uring(unsigned flags, int fd)
{
	struct io_uring ring;

	if (io_uring_queue_init(8, &ring, flags) < 0)
		return;
	data(&ring, fd);
	fixed(&ring, fd);
	names(&ring);
	chains(&ring, fd);
	several(&ring);
	io_uring_unregister_files(&ring);
	slots(&ring);
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

/* Of new kernels, which strace may not know. */
static void new_calls(void)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} one = { (uintptr_t)"1", 1, 0 };
	long result = syscall(463, AT_FDCWD, "u.dat", 0, "user.x", &one, sizeof(one));

	if (result < 0 && errno == ENOSYS)
		return;
	say("setxattr", 0, 0, result < 0 ? -errno : result, "u.dat");
	one.value = (uintptr_t)buffer;
	result = syscall(464, AT_FDCWD, "u.dat", 0, "user.x", &one, sizeof(one));
	say("getxattr", 0, 0, result < 0 ? -errno : result, "u.dat");
	result = syscall(465, AT_FDCWD, "u.dat", 0, buffer, 77);
	say("listxattr", 77, 0, result < 0 ? -errno : result, "u.dat");
	result = syscall(466, AT_FDCWD, "u.dat", 0, "user.x");
	say("removexattr", 0, 0, result < 0 ? -errno : result, "u.dat");
}

int main(void)
{
	int fd = open("u.dat", O_RDWR | O_CREAT, 0644);

	uring(0, fd);
	uring(IORING_SETUP_SQPOLL, fd);
	aio(fd);
	new_calls();
	return 0;
}
