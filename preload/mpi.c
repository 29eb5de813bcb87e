/* SPDX-License-Identifier: MIT */
/*
 * Functions of MPI-IO, for MPICH and those of its ABI (Intel MPI, MVAPICH, Cray MPI), and for Open MPI.  The functions of Fortran call
 * those of C, through another library, and so come here, too.
 *
 * There is no mpi.h here, for the two have different types.  A handle of Open MPI is an address, one of MPICH a number of 32 bits,
 * an MPI_File of both an address, an MPI_Offset of both a number of 64 bits.  All of them, and counts, are words of the machine in
 * registers; at most six are passed, and the upper half of a shorter one has no meaning.
 *
 * Nothing is communicated: what is asked of MPI here is known to the process itself, and is asked after a call that has
 * succeeded, for a wrong argument may end the program.
 */
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/function.h"

typedef uintptr_t word;

#define UNDEFINED (-32766)	  /* MPI_UNDEFINED of both */
#define MODE_SEQUENTIAL 256	  /* MPI_MODE_SEQUENTIAL of both */
#define MPICH_WORLD 0x44000000	  /* MPI_COMM_WORLD of MPICH; in Open MPI a variable is there */
#define STATUS_BYTES 256	  /* both have some 24 bytes */
#define FILES 1024		  /* open at a time, of which something is known */
#define GROUPS 256		  /* of processes that open files together */

/* ---- memory, which only programs with MPI have ---- */

struct file {
	_Atomic word handle; /* 0: free */
	int64_t opened;
	int32_t rank, size;
	bool sequential;
	_Atomic int32_t collective; /* calls */
	_Atomic word split_type;    /* of the split collective call that has begun */
};

struct group {
	_Atomic uint64_t hash;
	_Atomic uint64_t opens;
};

struct functions {
	bool works;
	word world;
	int (*comm_rank)(word, int *);
	int (*comm_size)(word, int *);
	int (*comm_group)(word, word *);
	int (*group_translate_ranks)(word, int, const int *, word, int *);
	int (*group_free)(word *);
	int (*type_size_x)(word, int64_t *);
	int (*get_count)(word, word, int *);
	int (*get_count_c)(word, word, int64_t *);
	int (*file_get_position)(word, int64_t *);
	int (*file_get_byte_offset)(word, int64_t, int64_t *);
	int (*error_class)(int, int *);
	bool is_open_mpi;
};

static const struct functions no_functions;
static const struct functions *_Atomic mpi = &no_functions; /* of the library */

static struct tables {
	struct functions functions;
	struct file files[FILES];
	struct group groups[GROUPS];
} *_Atomic tables;

static bool make_tables(void)
{
	struct tables *no_tables = NULL;
	void *made = (void *)syscall(SYS_mmap, NULL, sizeof(*tables), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // NOLINT(performance-no-int-to-ptr)

	if (made != MAP_FAILED && !atomic_compare_exchange_strong(&tables, &no_tables, made))
		syscall(SYS_munmap, made, sizeof(*tables));
	return tables;
}

/* ---- the functions of the library ---- */

/* next: a function of the library.  Two threads find the same. */
static void find_functions(const void *next)
{
	struct functions *found;
	void *world;

	if (mpi != &no_functions || !make_tables())
		return;
	found = &tables->functions;
#define FIND(field, name) found->field = object_look_for("PMPI_" name, next)
	FIND(comm_rank, "Comm_rank");
	FIND(comm_size, "Comm_size");
	FIND(comm_group, "Comm_group");
	FIND(group_translate_ranks, "Group_translate_ranks");
	FIND(group_free, "Group_free");
	FIND(type_size_x, "Type_size_x");
	FIND(get_count, "Get_count");
	FIND(get_count_c, "Get_count_c");
	FIND(file_get_position, "File_get_position");
	FIND(file_get_byte_offset, "File_get_byte_offset");
	FIND(error_class, "Error_class");
#undef FIND
	/* A program may have the variable itself, by a copy relocation. */
	world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
	if (!world)
		world = object_look_for("ompi_mpi_comm_world", next);
	found->is_open_mpi = world;
	found->world = world ? (word)world : MPICH_WORLD;
	found->works = found->comm_rank && found->comm_size && found->comm_group && found->group_translate_ranks && found->group_free && found->type_size_x &&
		found->get_count && found->file_get_position && found->file_get_byte_offset && found->error_class;
	mpi = found;
}

/* ---- open files ---- */

static size_t place_of(word handle)
{
	return (handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 54;
}

/* By its handle, or a free one by 0. */
static struct file *file_at(word handle, size_t place)
{
	for (size_t i = 0; i < FILES; i++) {
		struct file *file = &tables->files[(place + i) % FILES];

		if (atomic_load_explicit(&file->handle, memory_order_acquire) == handle)
			return file;
	}
	return NULL;
}

static struct file *file_of(word handle)
{
	return handle ? file_at(handle, place_of(handle)) : NULL;
}

static void keep_file(word handle, bool sequential, const struct layer_mpi *about)
{
	struct file *file = file_of(handle);
	word none = 0;

	while (!file) {
		file = file_at(0, place_of(handle));
		if (!file)
			return;
		none = 0;
		/* Taken by this number; the handle comes last. */
		if (!atomic_compare_exchange_strong(&file->handle, &none, 1))
			file = NULL;
	}
	file->opened = about->opened;
	file->rank = about->rank;
	file->size = about->size;
	file->sequential = sequential;
	atomic_store(&file->collective, 0);
	atomic_store_explicit(&file->handle, handle, memory_order_release);
}

static void forget_file(word handle)
{
	struct file *file = file_of(handle);

	if (file)
		atomic_store_explicit(&file->handle, 0, memory_order_release);
}

/* ---- which open it is, the same in all processes that make it ---- */

static uint64_t mix(uint64_t hash, uint64_t n)
{
	hash = (hash ^ n) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ hash >> 29;
}

/* Of the ranks in the world of the processes of this communicator; 0: not known. */
static uint64_t group_of(word comm, int size)
{
	word group = 0, world = 0;
	uint64_t hash = mix(UINT64_C(0x94d049bb133111eb), (uint64_t)size);
	int ranks[64], there[64];

	if (mpi->comm_group(comm, &group) || mpi->comm_group(mpi->world, &world))
		return 0;
	for (int at = 0; at < size; at += 64) {
		int n = size - at < 64 ? size - at : 64;

		for (int i = 0; i < n; i++)
			ranks[i] = at + i;
		if (mpi->group_translate_ranks(group, n, ranks, world, there))
			hash = 0;
		for (int i = 0; i < n && hash; i++)
			hash = mix(hash, (uint64_t)there[i]);
	}
	mpi->group_free(&group);
	mpi->group_free(&world);
	return hash;
}

/* The how many-th open of these processes it is: all of them make these in the same order.  0: too many groups. */
static uint64_t count_open(uint64_t hash)
{
	for (size_t i = 0; i < GROUPS; i++) {
		struct group *group = &tables->groups[i];
		uint64_t none = 0;

		if (atomic_load(&group->hash) == hash || atomic_compare_exchange_strong(&group->hash, &none, hash) || none == hash)
			return atomic_fetch_add(&group->opens, 1) + 1;
	}
	return 0;
}

static void describe_open(word comm, struct layer_mpi *ret)
{
	uint64_t hash, n;
	int rank, size;

	if (mpi->comm_rank(comm, &rank) || mpi->comm_size(comm, &size))
		return;
	ret->rank = rank;
	ret->size = size;
	hash = group_of(comm, size);
	n = hash ? count_open(hash) : 0;
	ret->opened = n ? (int64_t)(mix(hash, n) >> 1 | 1) : 0;
	ret->order = n ? 0 : -1;
}

/* ---- calls ---- */

struct front {
	struct call call;
	struct layer_mpi about;
	_Alignas(16) char status[STATUS_BYTES];
};

static bool enter(struct front *front, enum layer_call code, void *next)
{
	if (!object_enter(&front->call, code))
		return false;
	find_functions(next);
	front->about = (struct layer_mpi){ .order = -1, .rank = -1, .size = -1 };
	return true;
}

/* A call on that file begins. */
static struct file *on_file(struct front *front, word handle)
{
	struct file *file = mpi->works ? file_of(handle) : NULL;

	if (!file)
		return NULL;
	front->about.opened = file->opened;
	front->about.rank = file->rank;
	front->about.size = file->size;
	if (layer_calls[front->call.record.code].collective)
		front->about.order = atomic_fetch_add(&file->collective, 1) + 1;
	return file;
}

static void at_byte(struct front *front, word handle, int64_t offset)
{
	int64_t bytes;

	if (mpi->file_get_byte_offset(handle, offset, &bytes) == 0)
		object_offset(&front->call, bytes);
}

static void at_offset(struct front *front, word handle, int64_t offset)
{
	const struct file *file = on_file(front, handle);

	if (file && !file->sequential)
		at_byte(front, handle, offset);
}

static void at_pointer(struct front *front, word handle)
{
	const struct file *file = on_file(front, handle);
	int64_t offset;

	if (file && !file->sequential && mpi->file_get_position(handle, &offset) == 0)
		at_byte(front, handle, offset);
}

/* The classes of errors have other numbers in each; those that say what errno would. */
static int errno_of(int result)
{
	static const struct {
		int mpich, open_mpi, error;
	} known[] = { { 20, 20, EACCES }, { 25, 28, EEXIST }, { 26, 29, EBUSY }, { 36, 41, ENOSPC }, { 37, 42, ENOENT }, { 39, 44, EDQUOT },
		{ 40, 45, EROFS }, { 34, 39, ENOMEM }, { 32, 35, EIO }, { 44, 52, EOPNOTSUPP } };
	int class = 0;

	if (!mpi->works || mpi->error_class(result, &class))
		return EIO;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (class == (mpi->is_open_mpi ? known[i].open_mpi : known[i].mpich))
			return known[i].error;
	return EINVAL;
}

/* The result of calls that return no number; of those that begin something, nothing is known of a success. */
static void outcome(struct front *front, int result, bool ends)
{
	if (result)
		object_result(&front->call, -errno_of(result));
	else if (ends)
		object_result(&front->call, 0);
}

static int64_t size_of(word type)
{
	int64_t size;

	return mpi->works && mpi->type_size_x(type, &size) == 0 && size >= 0 ? size : -1;
}

/* What was asked for. */
static void asked(struct front *front, int result, int64_t count, word type)
{
	int64_t size = result ? -1 : size_of(type), bytes;

	if (size >= 0 && count >= 0 && !__builtin_mul_overflow(size, count, &bytes))
		object_length(&front->call, (uint64_t)bytes);
}

/* The program's, or ours if it wants none. */
static word status_of(struct front *front, word status)
{
	return status > 1 ? status : (word)front->status;
}

/* What was moved. */
static void moved(struct front *front, int result, word type, word status, bool large)
{
	int64_t size = result ? -1 : size_of(type), count = UNDEFINED;
	int small = UNDEFINED;

	if (result)
		object_result(&front->call, -errno_of(result));
	if (size < 0)
		return;
	if (large && mpi->get_count_c)
		mpi->get_count_c(status, type, &count);
	else if (mpi->get_count(status, type, &small) == 0)
		count = small;
	if (count >= 0)
		object_result(&front->call, count * size);
}

static void begins_split(struct front *front, int result, word fh, word type)
{
	struct file *file = result ? NULL : file_of(fh);

	outcome(front, result, false);
	if (file)
		atomic_store(&file->split_type, type);
}

static void ends_split(struct front *front, int result, word fh, word status)
{
	struct file *file = mpi->works ? file_of(fh) : NULL;

	if (file)
		moved(front, result, atomic_load(&file->split_type), status, true);
	else
		outcome(front, result, false);
}

static void put(struct front *front)
{
	if (front->about.size > 0)
		front->call.mpi = &front->about;
	object_put(&front->call);
}

/* ---- functions; each has two names, and those of MPI 4 have counts of 64 bits ---- */

#define FRONT(symbol, code, parameters, arguments, before, after)                          \
	OBJECT_EXPORT int front_##symbol parameters __asm__(#symbol);                      \
	int front_##symbol parameters                                                      \
	{                                                                                  \
		static void *_Atomic real;                                                 \
		int (*next) parameters = (int (*) parameters)object_find_for(&real, #symbol, __builtin_return_address(0)); \
		struct front front;                                                        \
		int result;                                                                \
                                                                                           \
		if (!enter(&front, CALL_MPI_##code, (void *)next))                         \
			return next arguments;                                             \
		before;                                                                    \
		object_begin(&front.call);                                                 \
		result = next arguments;                                                   \
		object_end(&front.call);                                                   \
		after;                                                                     \
		put(&front);                                                               \
		return result;                                                             \
	}

#define BOTH(name, code, parameters, arguments, before, after)                             \
	FRONT(MPI_File_##name, code, parameters, arguments, before, after)                 \
	FRONT(PMPI_File_##name, code, parameters, arguments, before, after)

#define SIZES(name, code, parameters, arguments, before, after, after_large)               \
	BOTH(name, code, parameters, arguments, before, after)                             \
	BOTH(name##_c, code, parameters, arguments, before, after_large)

#define COUNT (int)count
#define MOVES(count, large) asked(&front, result, count, type); moved(&front, result, type, status, large)
#define STARTS(count) asked(&front, result, count, type); outcome(&front, result, false)
#define SPLITS(count) asked(&front, result, count, type); begins_split(&front, result, fh, type)
#define POINTER at_pointer(&front, fh)
#define AT at_offset(&front, fh, (int64_t)offset)
#define SHARED on_file(&front, fh)
#define STATUS status = status_of(&front, status)

#define DATA(name, code, where)                                                            \
	SIZES(name, code, (word fh, word buffer, word count, word type, word status), (fh, buffer, count, type, status), \
		where; STATUS, MOVES((int)count, false), MOVES((int64_t)count, true))
#define DATA_AT(name, code)                                                                \
	SIZES(name, code, (word fh, word offset, word buffer, word count, word type, word status), \
		(fh, offset, buffer, count, type, status), AT; STATUS, MOVES((int)count, false), MOVES((int64_t)count, true))
#define START(name, code, where)                                                           \
	SIZES(name, code, (word fh, word buffer, word count, word type, word request), (fh, buffer, count, type, request), \
		where, STARTS((int)count), STARTS((int64_t)count))
#define START_AT(name, code)                                                               \
	SIZES(name, code, (word fh, word offset, word buffer, word count, word type, word request), \
		(fh, offset, buffer, count, type, request), AT, STARTS((int)count), STARTS((int64_t)count))
#define SPLIT(name, code, where)                                                           \
	SIZES(name##_begin, code##_BEGIN, (word fh, word buffer, word count, word type), (fh, buffer, count, type), \
		where, SPLITS((int)count), SPLITS((int64_t)count))                         \
	BOTH(name##_end, code##_END, (word fh, word buffer, word status), (fh, buffer, status), \
		SHARED; STATUS, ends_split(&front, result, fh, status))
#define SPLIT_AT(name, code)                                                               \
	SIZES(name##_begin, code##_BEGIN, (word fh, word offset, word buffer, word count, word type), \
		(fh, offset, buffer, count, type), AT, SPLITS((int)count), SPLITS((int64_t)count)) \
	BOTH(name##_end, code##_END, (word fh, word buffer, word status), (fh, buffer, status), \
		SHARED; STATUS, ends_split(&front, result, fh, status))

#define ALL(read, READ)                                                                    \
	DATA(read, READ, POINTER)                                                          \
	DATA(read##_all, READ##_ALL, POINTER)                                              \
	DATA(read##_shared, READ##_SHARED, SHARED)                                         \
	DATA(read##_ordered, READ##_ORDERED, SHARED)                                       \
	DATA_AT(read##_at, READ##_AT)                                                      \
	DATA_AT(read##_at_all, READ##_AT_ALL)                                              \
	START(i##read, I##READ, POINTER)                                                   \
	START(i##read##_all, I##READ##_ALL, POINTER)                                       \
	START(i##read##_shared, I##READ##_SHARED, SHARED)                                  \
	START_AT(i##read##_at, I##READ##_AT)                                               \
	START_AT(i##read##_at_all, I##READ##_AT_ALL)                                       \
	SPLIT(read##_all, READ##_ALL, POINTER)                                             \
	SPLIT(read##_ordered, READ##_ORDERED, SHARED)                                      \
	SPLIT_AT(read##_at_all, READ##_AT_ALL)

ALL(read, READ)
ALL(write, WRITE)

#define DONE outcome(&front, result, true)

/* What was opened is known afterwards. */
static void after_open(struct front *front, int result, word comm, bool sequential, const word *handle)
{
	outcome(front, result, true);
	if (!mpi->works || (result && errno_of(result) == EINVAL))
		return;
	describe_open(comm, &front->about);
	if (result == 0 && *handle > 1)
		keep_file(*handle, sequential, &front->about);
}

BOTH(open, OPEN, (word comm, const char *path, word mode, word info, word *fh), (comm, path, mode, info, fh), ,
	front.call.text = path; after_open(&front, result, comm, (mode & MODE_SEQUENTIAL) != 0, fh))

/* The handle is gone afterwards, and may be another file's at once. */
static void before_close(struct front *front, const word *fh)
{
	if (fh && on_file(front, *fh))
		forget_file(*fh);
}

BOTH(close, CLOSE, (word *fh), (fh), before_close(&front, fh), DONE)
BOTH(delete, DELETE, (const char *path, word info), (path, info), , front.call.text = path; DONE)
BOTH(set_view, SET_VIEW, (word fh, word displacement, word elementary, word type, const char *representation, word info),
	(fh, displacement, elementary, type, representation, info), SHARED, object_offset(&front.call, (int64_t)displacement); DONE)
BOTH(set_size, SET_SIZE, (word fh, word size), (fh, size), SHARED, object_length(&front.call, size); DONE)
BOTH(preallocate, PREALLOCATE, (word fh, word size), (fh, size), SHARED, object_length(&front.call, size); DONE)
BOTH(get_size, GET_SIZE, (word fh, int64_t *size), (fh, size), SHARED, if (!result) object_length(&front.call, (uint64_t)*size); DONE)
BOTH(set_info, SET_INFO, (word fh, word info), (fh, info), SHARED, DONE)
BOTH(set_atomicity, SET_ATOMICITY, (word fh, word flag), (fh, flag), SHARED, DONE)
BOTH(sync, SYNC, (word fh), (fh), SHARED, DONE)
BOTH(seek, SEEK, (word fh, word offset, word whence), (fh, offset, whence), SHARED, DONE)
BOTH(seek_shared, SEEK_SHARED, (word fh, word offset, word whence), (fh, offset, whence), SHARED, DONE)
BOTH(get_position, GET_POSITION, (word fh, int64_t *offset), (fh, offset), SHARED, DONE)
BOTH(get_position_shared, GET_POSITION_SHARED, (word fh, int64_t *offset), (fh, offset), SHARED, DONE)
