/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_STATE_BPF_H
#define KERNEL_STATE_BPF_H

/*
 * What the programs share: the state of each traced thread, the tables, and how records are sent.
 *
 * Programs on tracepoints run with preemption disabled, so memory of a processor is theirs until they return.
 *
 * Addresses of the kernel are plain numbers here (uint64_t), and FIELD() reads members at them.  The verifier checks a
 * global function once, for any arguments, so such functions take numbers, and pointers to our own structs.
 */

#include "types.h"

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "calls.h"
#include "wire.h"

#define inlined static __always_inline
#define S_IFMT 0170000

#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#endif

/* A bound that the verifier sees: the compiler would compare a copy of the value. */
#define at_most(value, most)                                                                               \
	({                                                                                                 \
		uint64_t bounded_ = (value);                                                               \
		asm volatile("if %0 <= %1 goto +1\n%0 = %1" : "+r"(bounded_) : "i"((int32_t)(most)));      \
		bounded_;                                                                                  \
	})

/* ---- constants, set before loading ---- */

const volatile bool kernel_has_casts = false;	 /* bpf_rdonly_cast(): members are loaded, not copied */
const volatile uint32_t kernel_wake_bytes = 1 << 20; /* so much in the ring wakes the reader */
uint32_t kernel_pid_level = 0;			 /* of our pid namespace */
const volatile int64_t kernel_clock_offset = 0;	 /* of the monotonic clock in our time namespace */

const volatile bool kernel_has_devices = false; /* the tracepoints of requests to block devices */
const volatile bool kernel_has_mappings = false; /* the iterator over mappings */
/* The user may not trace processes of others: what executes a program that gives it further rights is left out from then on. */
const volatile bool kernel_spares_others = false;

/* As ftrac reads its clock. */
inlined uint64_t clock_ns(void)
{
	return bpf_ktime_get_ns() + kernel_clock_offset;
}

/*
 * Of a mount: the calls of any thread on files of the mount are recorded, and nothing else.  The number of its device
 * as the kernel has it; 0: nothing yet.
 */
const volatile bool kernel_is_of_mount = false;
uint32_t kernel_mount_device = 0;

extern int bpf_iter_task_vma_new(struct bpf_iter_task_vma *it, struct task_struct *task, uint64_t addr) __ksym __weak;
extern struct vm_area_struct *bpf_iter_task_vma_next(struct bpf_iter_task_vma *it) __ksym __weak;
extern void bpf_iter_task_vma_destroy(struct bpf_iter_task_vma *it) __ksym __weak;
extern void *bpf_rdonly_cast(const void *obj, uint32_t btf_id) __ksym __weak;

/* A member of a struct of the kernel at an address, by a load where the kernel has a way for that. */
#define FIELD(type, address, member)                                                                \
	({                                                                                          \
		const void *address_ = (const void *)(address);                                     \
		__typeof__(((struct type *)0)->member) value_ = 0;                                  \
		if (kernel_has_casts)                                                               \
			value_ = ((struct type *)bpf_rdonly_cast(address_,                          \
					  bpf_core_type_id_kernel(struct type)))                    \
					 ->member;                                                  \
		else                                                                                \
			bpf_core_read(&value_, sizeof(value_), &((struct type *)address_)->member); \
		value_;                                                                             \
	})

/* The verifier keeps pointers of the kernel apart from numbers; a pointer that is negated twice is a number. */
inlined uint64_t number(const void *pointer)
{
	uint64_t value = (uint64_t)pointer;

	asm volatile("%0 = -%0\n%0 = -%0" : "+r"(value));
	return value;
}

/* As FIELD(), of a member that is a pointer: its address. */
#define POINTER(type, address, member) number(FIELD(type, address, member))

/*
 * POINTER(type2, POINTER(type, pointer, member), member2), where the verifier knows what the pointer is.  With casts it is
 * not to use that: for each member of a pointer that it trusts, it looks for names in all types of the kernel, some
 * milliseconds each.
 */
#define FOLLOW(type, pointer, member, type2, member2)                                       \
	(kernel_has_casts ? POINTER(type2, POINTER(type, pointer, member), member2) : \
			    number((pointer)->member->member2))

/*
 * A 0 that the verifier does not know.  Before Linux 6.7 it examines one step of a loop alone, and removes the code that a
 * first step does not reach.
 */
uint64_t kernel_none = 0;

/* ---- the state of a thread ---- */

struct task_state {
	uint16_t call; /* that it is inside of; CALL_none: none that is recorded */
	uint8_t flags; /* WIRE_* of the call */
	bool is_spared; /* runs with rights that the user does not have: its end alone is recorded */
	int32_t tid;
	int32_t pid;
	uint32_t cached_epoch;
	int64_t start_ns;
	uint64_t args[8]; /* from 1 on; args[0] is 0 */
	uint64_t file; /* of the call's descriptor; 0: none */
	uint64_t handle;
	int64_t position; /* of exec: the bytes that the thread had read before */
	uint64_t other_file, other_handle; /* of its second descriptor */
	/* the newest file, so that most calls need no table */
	uint64_t cached_file, cached_inode, cached_handle;
	/* the names of the working directory and of the root directory */
	uint64_t cwd_dentry, cwd_mnt, cwd_name;
	uint64_t root_dentry, root_mnt, root_name;
	uint64_t ran_ns, since_ns; /* CPU time when it began to run last, and when that was */
	uint64_t clock_ns;	   /* what the scheduler's clock said then */
	/* where its time goes, since it is traced */
	uint64_t born_ns;
	uint64_t off_ns;   /* when it left the processor; 0: it has it, or was not seen leaving it */
	uint64_t off_ran_ns, off_clock_ns; /* how long it had run then; what the scheduler's clock said, 0: not known */
	uint64_t woken_ns; /* when it was woken last */
	uint64_t waits_ns[WAIT_MAX];
	uint64_t opening_ns; /* what of it may have been for the other side of a FIFO */
	uint16_t number;   /* of the system call that it is inside of, + 1; 0: none */
	uint16_t restarts; /* the same of the call that restart_syscall() goes on with; 0: none */
	uint8_t why;	   /* enum wire_wait, since off_ns */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} kernel_tasks SEC(".maps");

/*
 * Open file descriptions by the address of their struct file.  The address may be used again: the inode tells.  The entry
 * of an address stays when its handle ends, because the kernel uses addresses again soon, and a new entry takes longer;
 * unless there are so many of these that the table might have to give up others for them.
 */
struct open_file {
	uint64_t inode;
	uint64_t handle; /* 0: it has ended */
	uint64_t walk; /* the last walk over a table of descriptors that met it, */
	uint64_t seen; /* and how often */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 131072);
	__type(key, uint64_t);
	__type(value, struct open_file);
} kernel_files SEC(".maps");

#define ENDED_MOST 32768
uint64_t kernel_ended; /* entries without a handle */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 32 << 20);
} kernel_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct wire_counters);
} kernel_counters SEC(".maps");

/*
 * Grow with each new handle, one of them for each address: what was cached before may be of a struct file that is used again.
 * So many that threads rarely wait for each other's.
 */
#define EPOCHS 1024
uint32_t kernel_epochs[EPOCHS];

inlined uint32_t *epoch_of(uint64_t file)
{
	return &kernel_epochs[(file >> 6 ^ file >> 16) & (EPOCHS - 1)];
}

uint64_t kernel_next_id = 1;

inlined uint64_t next_id(void)
{
	return __sync_fetch_and_add(&kernel_next_id, 1);
}

inlined struct task_state *any_state_of(struct task_struct *task)
{
	return bpf_task_storage_get(&kernel_tasks, task, 0, 0);
}

/* Of a thread whose calls, forks and execs are recorded. */
inlined struct task_state *state_of(struct task_struct *task)
{
	struct task_state *state = any_state_of(task);

	return state && !state->is_spared ? state : NULL;
}

/* ---- records ---- */

#define LOOK_AFTER 256 /* records of a processor; a power of two */

inlined struct wire_counters *counters_of_processor(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&kernel_counters, &zero);
}

/* A table has no room for what should be recorded. */
inlined void count_lost(void)
{
	struct wire_counters *counters = counters_of_processor();

	if (!counters)
		return;
	__sync_fetch_and_add(&counters->submitted, 1);
	__sync_fetch_and_add(&counters->dropped, 1);
}

/* Wakes the reader if much has come.  That is looked at after many records only, and a wake-up costs an interrupt. */
inlined uint64_t wake_flag(void)
{
	struct wire_counters *counters = counters_of_processor();

	if (!counters || counters->submitted % LOOK_AFTER)
		return BPF_RB_NO_WAKEUP;
	return bpf_ringbuf_query(&kernel_ring, BPF_RB_AVAIL_DATA) < kernel_wake_bytes ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP;
}

/* Counts a record as dropped until it is sent: whether a pointer to one is NULL may be asked only once, as the verifier of old
 * kernels (6.1) does not remember the answer. */
inlined void count_asked(void)
{
	struct wire_counters *counters = counters_of_processor();

	if (!counters)
		return;
	counters->submitted++;
	counters->dropped++;
}

inlined void count_sent(void)
{
	struct wire_counters *counters = counters_of_processor();

	if (counters)
		counters->dropped--;
}

inlined void count_spared(void)
{
	struct wire_counters *counters = counters_of_processor();

	if (counters)
		counters->spared++;
}

/* Room for a record of fixed size, which send_reserved() sends; NULL, and counted, where there is none. */
#define reserve(type)                                                        \
	({                                                                   \
		count_asked();                                               \
		(struct type *)bpf_ringbuf_reserve(&kernel_ring, sizeof(struct type), 0); \
	})

inlined void send_reserved(void *record)
{
	bpf_ringbuf_submit(record, wake_flag());
	count_sent();
}

/* Sends a copy.  Whether there was room. */
inlined bool send_copy(void *record, uint64_t size)
{
	count_asked();
	if (bpf_ringbuf_output(&kernel_ring, record, size, wake_flag()) != 0)
		return false;
	count_sent();
	return true;
}

inlined void head_now(struct wire_head *head, enum wire_type type, int32_t tid)
{
	*head = (struct wire_head){ .type = type, .tid = tid, .time_ns = clock_ns() };
}

/* ---- functions of other files ---- */

/* names.bpf.h: the id of the name at a place, which is sent if it is new, with its parents.  0: unknown. */
uint64_t name_of(uint64_t dentry, uint64_t mnt);

inlined uint64_t name_of_file(uint64_t file)
{
	return file ? name_of(POINTER(file, file, f_path.dentry), POINTER(file, file, f_path.mnt)) : 0;
}

/* The names of the root directory and of the working directory. */
inlined uint64_t name_of_root(struct task_struct *task)
{
	return name_of(FOLLOW(task_struct, task, fs, fs_struct, root.dentry), FOLLOW(task_struct, task, fs, fs_struct, root.mnt));
}

inlined uint64_t name_of_pwd(struct task_struct *task)
{
	return name_of(FOLLOW(task_struct, task, fs, fs_struct, pwd.dentry), FOLLOW(task_struct, task, fs, fs_struct, pwd.mnt));
}

/* process.bpf.h: what the current process is: after an exec of that program (struct linux_binprm), or, with 0, as it runs. */
int send_image(struct task_state *state, uint64_t program);

/* The number of a thread in our pid namespace; 0: it is in none that we see. */
inlined int32_t id_of(uint64_t task)
{
	uint64_t pid = POINTER(task_struct, task, thread_pid);
	int32_t id = 0;

	if (!pid || FIELD(pid, pid, level) < kernel_pid_level)
		return 0;
	bpf_probe_read_kernel(&id, sizeof(id), (const void *)(pid + bpf_core_field_offset(struct pid, numbers)
		+ (kernel_pid_level & 31) * bpf_core_type_size(struct upid)));
	return id;
}

/* files.bpf.h */
/* A handle for a file that was opened now: replaces what the address meant.  Its id. */
uint64_t handle_make(uint64_t file);
/* A handle for a file that was opened now, but not by a path; reports it.  Its id. */
uint64_t handle_report(uint64_t file, int32_t tid);
/* The handle of a file; one that is not known is reported as open already. */
uint64_t handle_of(uint64_t file, uint64_t inode, int32_t tid);
/* Forgets the file if its last descriptor is about to be closed; whether that is so. */
int handle_last(uint64_t file);
/* The references to a file. */
int64_t file_references(uint64_t file);
/* One more mapping of the file ends, by the call with that id. */
int count_mapping(uint64_t file, uint64_t walk);
/* Whether those were all that held the file; forgets it then, and reports its end if that is wanted. */
int end_mapped(uint64_t file, uint64_t walk, int32_t tid, uint32_t is_reported);

/* Walks over open descriptors of the current process, and the files that it has mapped. */
enum walk_what {
	WALK_EXIT,  /* all, at the end of the process: reports the handles that end */
	WALK_EXEC,  /* those to close at exec: announces the handles that end */
	WALK_CLOSE, /* first to last: reports them as closed */
};
int walk_descriptors(uint32_t what, uint32_t first, uint32_t last, int32_t tid, uint32_t call);

/* The struct file of a descriptor of the current process; 0: there is none. */
inlined uint64_t file_at(struct task_struct *task, int fd)
{
	uint64_t table = FOLLOW(task_struct, task, files, files_struct, fdt);

	if (!table || fd < 0 || (uint32_t)fd >= FIELD(fdtable, table, max_fds))
		return 0;
	return POINTER(hlist_head, POINTER(fdtable, table, fd) + fd * sizeof(struct file *), first);
}

#endif
