/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_TYPES_H
#define KERNEL_TYPES_H

/*
 * The types of the kernel that the programs in *.bpf.h read: only the members that they read.  libbpf finds the place of
 * each member when it loads the programs (CO-RE), so that order, size and what lies between do not matter here.
 *
 * Each type is one that all kernels have: libbpf looks for others in the types of modules, which takes CAP_SYS_ADMIN.
 *
 * What moved between kernels has a second type, NAME___old: what comes after the three underscores is not part of the
 * name.  The programs ask bpf_core_field_exists() which of them this kernel has.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long bp, bx, r10, r9, r8, cx, dx, si, di, ip;
};

struct thread_info {
	uint32_t status;
};
#define code_address(registers) ((registers)->ip)
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	uint64_t regs[31];
	uint64_t pc;
	uint64_t orig_x0;
};

struct thread_info {
	unsigned long flags;
};
#define code_address(registers) ((registers)->pc)
#endif

/* ---- files ---- */

struct super_block {
	uint32_t s_dev;
	unsigned long s_magic;
};

struct inode {
	uint16_t i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	unsigned int i_nlink;
	int64_t i_size;
	uint32_t i_generation;
};

struct qstr {
	uint64_t hash_len;
	uint32_t len;
	const unsigned char *name;
};

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};

/* Stands for a place in memory that has a pointer. */
struct hlist_head {
	struct hlist_node *first;
};

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	int mnt_id;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct counter64 {
	int64_t counter;
};

/* Its count is one less than the number of references. */
struct file_ref {
	struct counter64 refcnt;
};

struct file {
	uint32_t f_mode;
	struct inode *f_inode;
	unsigned int f_flags;
	struct path f_path;
	int64_t f_pos;
	void *private_data;
	struct file_ref f_ref; /* since 6.13 */
};

struct file___old {
	struct counter64 f_count;
};

/* Of the module fuse, perhaps: FIELD() does not load its members. */
struct fuse_file {
	uint64_t fh; /* what the daemon has replied to the open */
	struct file *passthrough; /* since 6.9 */
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *close_on_exec;
	unsigned long *open_fds;
};

struct counter32 {
	int counter;
};

struct files_struct {
	struct counter32 count;
	struct fdtable *fdt;
};

struct fs_struct {
	struct path root;
	struct path pwd;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

/* The iterator over mappings, since 6.7. */
struct bpf_iter_task_vma {
	uint64_t opaque[1];
} __attribute__((aligned(8)));

/* ---- sockets ---- */

struct socket {
	struct file *file;
	struct sock *sk;
};

struct in6_addr {
	uint8_t in6_u[16];
};

struct sock_common {
	uint32_t skc_daddr;
	uint32_t skc_rcv_saddr;
	uint16_t skc_dport; /* in the order of the network */
	uint16_t skc_num;
	uint16_t skc_family;
	struct in6_addr skc_v6_daddr; /* unless the kernel is without IPv6 */
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
	uint16_t sk_type;
};

struct unix_sock {
	struct sock *peer;
};

/* ---- processes ---- */

/* The tree of mappings; its nodes have as many pivots and slots in all kernels. */
enum maple_type { maple_dense, maple_leaf_64, maple_range_64, maple_arange_64 };

struct maple_metadata {
	unsigned char end;
};

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
	struct maple_metadata meta;
};

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
	struct maple_metadata meta;
};

struct maple_tree {
	void *ma_root;
};

/* Counts in each processor, and sums that up now and then. */
struct percpu_counter {
	int64_t count;
	int *counters;
};

struct mm_struct {
	struct maple_tree mm_mt;
	struct percpu_counter rss_stat[4]; /* since 6.2 */
	int map_count;
	struct counter32 mm_users;
	unsigned long hiwater_vm;
	unsigned long total_vm;
	unsigned long arg_start, arg_end;
	unsigned long env_start, env_end;
	struct file *exe_file;
};

struct mm_struct___old {
	struct {
		struct counter64 count[4];
	} rss_stat;
};

struct list_head {
	struct list_head *next;
};

/* A map that is an array: of values that each processor has, their addresses, relative to the processor's memory. */
struct bpf_array {
	void *pptrs[1];
};

struct task_io_accounting {
	uint64_t rchar, wchar;
	uint64_t read_bytes, write_bytes;
};

struct signal_struct {
	int nr_threads;
	struct counter32 live;
	int group_exit_code;
	unsigned int flags;
	unsigned long maxrss;
	struct list_head thread_head;
	uint64_t sum_sched_runtime; /* of threads that are freed, which is counted under the lock */
	struct {
		struct {
			struct {
				unsigned int sequence;
			} seqcount;
		} seqcount;
	} stats_lock;
};

struct sched_entity {
	uint64_t exec_start;
	uint64_t sum_exec_runtime;
};

struct cred {
	struct {
		uint32_t val;
	} euid, egid;
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct kernfs_node {
	const char *name;
	struct kernfs_node *__parent; /* since 6.15 */
};

struct kernfs_node___old {
	struct kernfs_node *parent;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	struct sched_entity se;
	struct mm_struct *mm;
	struct mm_struct *active_mm;
	struct task_struct *real_parent;
	uint64_t start_time;
	int exit_code;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	uint64_t utime, stime;
	unsigned long nvcsw, nivcsw;
	unsigned long min_flt, maj_flt;
	const struct cred *cred;
	char comm[16];
	struct fs_struct *fs;
	struct files_struct *files;
	struct css_set *cgroups;
	struct signal_struct *signal;
	struct list_head thread_node;
	struct task_io_accounting ioac;
};

struct linux_binprm {
	unsigned int secureexec : 1;
	struct file *file;
	const char *filename;
	const char *interp;
};

/* ---- devices ---- */

struct address_space {
	struct inode *host;
};

struct page {
	unsigned long compound_head;
};

struct folio {
	struct address_space *mapping;
};

struct bio_vec {
	struct page *bv_page;
};

struct bvec_iter {
	unsigned int bi_size;
	unsigned int bi_idx;
};

struct block_device {
	uint32_t bd_dev;
};

struct request {
	struct bio *bio;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	unsigned short bi_flags;
	struct bvec_iter bi_iter;
	struct bio_vec *bi_io_vec;
};

/* ---- io_uring ---- */

struct kiocb {
	int64_t ki_pos;
};

struct filename {
	const char *name;
};

struct open_how {
	uint64_t flags;
	uint64_t mode;
};

/* What an io_kiocb has of one operation. */
struct io_rw {
	struct kiocb kiocb;
	uint64_t addr;
	uint32_t len;
};

struct io_open {
	int dfd;
	uint32_t file_slot;
	struct filename *filename;
	struct open_how how;
};

struct io_sync {
	int64_t len, off;
	int flags, mode;
};

struct io_sr_msg {
	void *umsg;
	int len;
	unsigned int msg_flags;
};

struct io_close {
	int fd;
	uint32_t file_slot;
};

struct io_accept {
	uint32_t file_slot;
};

struct io_socket {
	uint32_t file_slot;
};

struct io_splice {
	int64_t off_out, off_in;
	uint64_t len;
	int splice_fd_in;
	unsigned int flags;
};

struct io_statx {
	int dfd;
	unsigned int flags;
	struct filename *filename;
};

struct io_unlink {
	int dfd;
	int flags;
	struct filename *filename;
};

struct io_mkdir {
	int dfd;
	uint16_t mode;
	struct filename *filename;
};

struct io_rename {
	int old_dfd, new_dfd;
	struct filename *oldpath, *newpath;
	int flags;
};

struct io_link {
	int old_dfd, new_dfd;
	struct filename *oldpath, *newpath;
	int flags;
};

struct io_cqe {
	uint64_t user_data;
	int res;
	int fd;
};

/* The files that a ring has in slots of its own; since 6.13 by nodes. */
struct io_rsrc_node {
	unsigned long file_ptr;
};

struct io_rsrc_data {
	unsigned int nr;
	struct io_rsrc_node **nodes;
};

struct io_file_table {
	struct io_rsrc_data data;
};

struct io_file_table___old {
	void *files;
};

struct io_ring_ctx {
	struct io_file_table file_table;
};

struct io_kiocb {
	struct file *file;
	uint8_t opcode;
	uint64_t flags;
	struct io_cqe cqe;
	struct io_ring_ctx *ctx;
};

struct io_uring_cqe {
	uint64_t user_data;
	int res;
};

#pragma clang attribute pop

#endif
