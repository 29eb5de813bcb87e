/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_SOCKETS_BPF_H
#define KERNEL_SOCKETS_BPF_H

/* Sockets: their addresses, and the socket at the other end where it is on this machine. */

#include "state.bpf.h"

#define S_IFSOCK 0140000
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_DGRAM 2
#define EINPROGRESS 115

inlined bool is_socket(uint64_t file)
{
	uint64_t inode = file ? POINTER(file, file, f_inode) : 0;

	return inode && (FIELD(inode, inode, i_mode) & S_IFMT) == S_IFSOCK && POINTER(file, file, private_data);
}

inlined uint64_t sock_of(uint64_t file)
{
	return POINTER(socket, POINTER(file, file, private_data), sk);
}

inlined bool is_datagram_socket(uint64_t file)
{
	uint64_t sock = is_socket(file) ? sock_of(file) : 0;

	return sock && FIELD(sock, sock, sk_type) == SOCK_DGRAM;
}

/* The inode number of the socket that a Unix socket is connected with; 0: none, or no process has accepted it yet. */
inlined uint64_t unix_peer(uint64_t sock)
{
	uint64_t peer, socket, file;

	if (!bpf_core_field_exists(struct unix_sock, peer))
		return 0;
	peer = POINTER(unix_sock, sock, peer);
	socket = peer ? POINTER(sock, peer, sk_socket) : 0;
	file = socket ? POINTER(socket, socket, file) : 0;
	return file ? FIELD(inode, POINTER(file, file, f_inode), i_ino) : 0;
}

inlined void fill_ports(struct wire_socket *record, uint64_t sock)
{
	record->local_port = FIELD(sock, sock, __sk_common.skc_num);
	record->remote_port = __builtin_bswap16(FIELD(sock, sock, __sk_common.skc_dport));
}

inlined void fill_ends(struct wire_socket *record, uint64_t sock)
{
	struct sock *at = (struct sock *)sock;
	uint32_t local, remote;

	if (record->family == AF_UNIX) {
		record->peer_ino = unix_peer(sock);
	} else if (record->family == AF_INET) {
		local = FIELD(sock, sock, __sk_common.skc_rcv_saddr);
		remote = FIELD(sock, sock, __sk_common.skc_daddr);
		__builtin_memcpy(record->local, &local, sizeof(local));
		__builtin_memcpy(record->remote, &remote, sizeof(remote));
		fill_ports(record, sock);
	} else if (record->family == AF_INET6 && bpf_core_field_exists(at->__sk_common.skc_v6_daddr)) {
		bpf_core_read(record->local, sizeof(record->local), &at->__sk_common.skc_v6_rcv_saddr);
		bpf_core_read(record->remote, sizeof(record->remote), &at->__sk_common.skc_v6_daddr);
		fill_ports(record, sock);
	}
}

/* The address that a call has of the program's memory. */
inlined void fill_address(struct wire_socket *record, uint64_t address, uint32_t length)
{
	uint32_t n = length < sizeof(record->address) ? length : sizeof(record->address);

	if (address && bpf_probe_read_user(record->address, at_most(n, sizeof(record->address)), (const void *)address) == 0)
		record->length = n;
}

/* A call that sends knows the address from its start: what comes of it may be over before it returns. */
inlined int64_t time_of_address(uint32_t call)
{
	struct task_state *state = call == CALL_sendto || call == CALL_sendmsg || call == CALL_sendmmsg ?
		state_of(bpf_get_current_task_btf()) : NULL;

	return state ? state->start_ns : clock_ns();
}

/* address: that of the program in its memory, 0: none.  call: what had it. */
__noinline int send_socket(uint64_t file, uint64_t handle, uint64_t address, uint32_t length, uint32_t call)
{
	uint64_t sock = sock_of(file), inode = POINTER(file, file, f_inode);
	struct wire_socket *record;

	if (!sock)
		return 0;
	record = reserve(wire_socket);
	if (!record)
		return 0;
	__builtin_memset(record, 0, sizeof(*record));
	record->head = (struct wire_head){ .type = WIRE_SOCKET, .call = call, .time_ns = time_of_address(call) };
	record->handle = handle;
	record->dev = FIELD(super_block, POINTER(inode, inode, i_sb), s_dev);
	record->family = FIELD(sock, sock, __sk_common.skc_family);
	record->kind = FIELD(sock, sock, sk_type);
	fill_ends(record, sock);
	fill_address(record, address, length);
	send_reserved(record);
	return 0;
}

#endif
