/* SPDX-License-Identifier: MIT */
#ifndef WORK_PIECES_H
#define WORK_PIECES_H

/*
 * Reads and writes that are under way together, by the AIO of the kernel and by io_uring, without
 * a library.  data holds the first piece, the others follow as they do in the file.  What each
 * moved, or -errno, is in its result; the functions end with -1 if there were no results.
 */

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define PIECES 4

struct piece {
	off_t off;
	size_t len;
	long result;
};

static int pieces_by_aio(int fd, bool writes, unsigned char *data, struct piece *p, int n)
{
	static aio_context_t context;
	struct iocb blocks[PIECES], *list[PIECES];
	struct io_event events[PIECES];

	if (!context && syscall(SYS_io_setup, PIECES, &context) < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		blocks[i] = (struct iocb){
			.aio_lio_opcode = writes ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
			.aio_fildes = fd,
			.aio_data = i,
			.aio_nbytes = p[i].len,
			.aio_buf = (uintptr_t)(data + (p[i].off - p[0].off)),
			.aio_offset = p[i].off,
		};
		list[i] = &blocks[i];
	}
	if (syscall(SYS_io_submit, context, n, list) != n ||
		syscall(SYS_io_getevents, context, n, n, events, NULL) != n)
		return -1;
	for (int i = 0; i < n; i++)
		p[events[i].data].result = events[i].res;
	return 0;
}

static struct {
	int fd;
	unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
} pieces_ring;

static void *pieces_map(size_t size, off_t what)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, pieces_ring.fd, what);
}

static int pieces_open_ring(void)
{
	struct io_uring_params p = { 0 };
	unsigned char *sq, *cq;

	pieces_ring.fd = syscall(SYS_io_uring_setup, PIECES, &p);
	if (pieces_ring.fd < 0)
		return -1;
	sq = pieces_map(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	cq = pieces_map(p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe),
		IORING_OFF_CQ_RING);
	pieces_ring.sqes = pieces_map(p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || pieces_ring.sqes == MAP_FAILED)
		return -1;
	pieces_ring.sq_tail = (unsigned *)(sq + p.sq_off.tail);
	pieces_ring.sq_mask = (unsigned *)(sq + p.sq_off.ring_mask);
	pieces_ring.sq_array = (unsigned *)(sq + p.sq_off.array);
	pieces_ring.cq_head = (unsigned *)(cq + p.cq_off.head);
	pieces_ring.cq_tail = (unsigned *)(cq + p.cq_off.tail);
	pieces_ring.cq_mask = (unsigned *)(cq + p.cq_off.ring_mask);
	pieces_ring.cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	return 0;
}

static void pieces_submit(int fd, bool writes, unsigned char *data, const struct piece *p, int n)
{
	unsigned tail = *pieces_ring.sq_tail;

	for (int i = 0; i < n; i++, tail++) {
		unsigned at = tail & *pieces_ring.sq_mask;

		pieces_ring.sqes[at] = (struct io_uring_sqe){
			.opcode = writes ? IORING_OP_WRITE : IORING_OP_READ,
			.fd = fd,
			.flags = i % 2 ? IOSQE_ASYNC : 0, /* by a thread of the kernel */
			.off = p[i].off,
			.len = p[i].len,
			.addr = (uintptr_t)(data + (p[i].off - p[0].off)),
			.user_data = i,
		};
		pieces_ring.sq_array[at] = at;
	}
	__atomic_store_n(pieces_ring.sq_tail, tail, __ATOMIC_RELEASE);
}

static int pieces_by_ring(int fd, bool writes, unsigned char *data, struct piece *p, int n)
{
	unsigned head = *pieces_ring.cq_head;

	pieces_submit(fd, writes, data, p, n);
	if (syscall(SYS_io_uring_enter, pieces_ring.fd, n, n, IORING_ENTER_GETEVENTS, NULL, 0) != n)
		return -1;
	for (int i = 0; i < n; i++, head++) {
		const struct io_uring_cqe *cqe = &pieces_ring.cqes[head & *pieces_ring.cq_mask];

		if (head == __atomic_load_n(pieces_ring.cq_tail, __ATOMIC_ACQUIRE))
			return -1;
		p[cqe->user_data].result = cqe->res;
	}
	__atomic_store_n(pieces_ring.cq_head, head, __ATOMIC_RELEASE);
	return 0;
}

#endif
