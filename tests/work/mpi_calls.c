/* SPDX-License-Identifier: MIT */
/*
 * mpi_calls SEED N: calls of MPI-IO in an order that all processes draw from the same numbers, on communicators, views and types that
 * are drawn, too.  Each process writes what it has called to called.RANK, a line for a call:
 *
 *   name rank size group offset length bytes
 *
 * group: the same text in all processes of a collective call, "-" of others.  offset: in bytes, from the view.  "-" is what a call
 * does not tell.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, ROOM = 1 << 16, SPACE = 1 << 22 };

static FILE *called;
static int serial;	   /* of collective calls */
static MPI_Comm comms[3];  /* all, halves, oneself */
static unsigned number;

static struct {
	MPI_File file;
	int comm, rank, size;
	int members; /* of which such communicator */
	/* The view: in elements of the size, blocks of n that begin at each stride-th. */
	long displacement, element, n, stride;
	long position; /* in elements */
} f;

/* The same in all processes. */
static unsigned draw(unsigned below)
{
	number = number * 1664525u + 1013904223u;
	return (number >> 8) % below;
}

static void check(int result, const char *what)
{
	if (result == MPI_SUCCESS)
		return;
	fprintf(stderr, "%s failed\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void note(const char *name, int group, const char *offset, const char *length, const char *bytes)
{
	char text[20];

	snprintf(text, sizeof(text), group ? "%d.%d" : "-", group, f.members);
	fprintf(called, "MPI_File_%s %d %d %s %s %s %s\n", name, f.rank, f.size, text, offset, length, bytes);
}

static const char *text_of(long n)
{
	static char texts[4][30];
	static unsigned turn;
	char *to = texts[turn++ % 4];

	snprintf(to, sizeof(texts[0]), "%ld", n);
	return to;
}

static const char *byte_of(long position)
{
	return text_of(f.displacement + (position / f.n * f.stride + position % f.n) * f.element);
}

/* ---- data ---- */

static MPI_Datatype pairs; /* two ints, with a hole between them */
static char room[2][ROOM];

/* Some ints, or pairs of them; *ret_count of *ret_type, a number of elements of the view. */
static long draw_data(int *ret_count, MPI_Datatype *ret_type)
{
	int paired = draw(3) == 0;
	int n = 2 * (1 + (int)draw(200));

	*ret_type = paired ? pairs : MPI_INT;
	*ret_count = paired ? n / 2 : n;
	return n * (long)sizeof(int);
}

typedef int data_fn(MPI_File, void *, int, MPI_Datatype, MPI_Status *);
typedef int data_at_fn(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *);
typedef int start_fn(MPI_File, void *, int, MPI_Datatype, MPI_Request *);
typedef int start_at_fn(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Request *);

enum where { POINTER, AT, SHARED };

static const struct data {
	const char *name;
	enum where where;
	int collective;
	data_fn *data;
	data_at_fn *data_at;
	start_fn *start;
	start_at_fn *start_at;
} kinds[] = {
#define W(f) (data_fn *)(void *)MPI_File_##f
#define BOTH(read)                                                        \
	{ #read, POINTER, 0, W(read), 0, 0, 0 },                          \
	{ #read "_all", POINTER, 1, W(read##_all), 0, 0, 0 },             \
	{ #read "_shared", SHARED, 0, W(read##_shared), 0, 0, 0 },        \
	{ #read "_ordered", SHARED, 1, W(read##_ordered), 0, 0, 0 },      \
	{ #read "_at", AT, 0, 0, (data_at_fn *)(void *)MPI_File_##read##_at, 0, 0 }, \
	{ #read "_at_all", AT, 1, 0, (data_at_fn *)(void *)MPI_File_##read##_at_all, 0, 0 }, \
	{ "i" #read, POINTER, 0, 0, 0, (start_fn *)(void *)MPI_File_i##read, 0 }, \
	{ "i" #read "_all", POINTER, 1, 0, 0, (start_fn *)(void *)MPI_File_i##read##_all, 0 }, \
	{ "i" #read "_shared", SHARED, 0, 0, 0, (start_fn *)(void *)MPI_File_i##read##_shared, 0 }, \
	{ "i" #read "_at", AT, 0, 0, 0, 0, (start_at_fn *)(void *)MPI_File_i##read##_at }, \
	{ "i" #read "_at_all", AT, 1, 0, 0, 0, (start_at_fn *)(void *)MPI_File_i##read##_at_all },
	BOTH(read) BOTH(write)
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void move(void)
{
	const struct data *kind = &kinds[draw(KINDS)];
	int writes = strstr(kind->name, "write") != NULL, ignores = draw(2), count, r;
	MPI_Datatype type;
	MPI_Status status;
	MPI_Request request;
	long bytes = draw_data(&count, &type), at = draw(100);
	const char *offset = kind->where == POINTER ? byte_of(f.position) : kind->where == AT ? byte_of(at) : "-";

	if (kind->data)
		r = kind->data(f.file, room[writes], count, type, ignores ? MPI_STATUS_IGNORE : &status);
	else if (kind->data_at)
		r = kind->data_at(f.file, at, room[writes], count, type, ignores ? MPI_STATUS_IGNORE : &status);
	else if (kind->start)
		r = kind->start(f.file, room[writes], count, type, &request);
	else
		r = kind->start_at(f.file, at, room[writes], count, type, &request);
	check(r, kind->name);
	note(kind->name, kind->collective ? ++serial : 0, offset, text_of(bytes), kind->data || kind->data_at ? text_of(bytes) : "-");
	if (kind->start || kind->start_at)
		check(MPI_Wait(&request, &status), "MPI_Wait");
	if (kind->where == POINTER)
		f.position += bytes / f.element;
}

static void split(void)
{
	int count;
	MPI_Datatype type;
	MPI_Status status;
	long bytes = draw_data(&count, &type), at = draw(100);

	switch (draw(3)) {
	case 0:
		check(MPI_File_write_at_all_begin(f.file, at, room[1], count, type), "begin");
		note("write_at_all_begin", ++serial, byte_of(at), text_of(bytes), "-");
		check(MPI_File_write_at_all_end(f.file, room[1], &status), "end");
		note("write_at_all_end", ++serial, "-", text_of(bytes), text_of(bytes));
		break;
	case 1:
		check(MPI_File_read_all_begin(f.file, room[0], count, type), "begin");
		note("read_all_begin", ++serial, byte_of(f.position), text_of(bytes), "-");
		check(MPI_File_read_all_end(f.file, room[0], MPI_STATUS_IGNORE), "end");
		note("read_all_end", ++serial, "-", text_of(bytes), text_of(bytes));
		f.position += bytes / f.element;
		break;
	default:
		check(MPI_File_write_ordered_begin(f.file, room[1], count, type), "begin");
		note("write_ordered_begin", ++serial, "-", text_of(bytes), "-");
		check(MPI_File_write_ordered_end(f.file, room[1], &status), "end");
		note("write_ordered_end", ++serial, "-", text_of(bytes), text_of(bytes));
	}
}

/* ---- files ---- */

static void set_view(void)
{
	MPI_Datatype element = draw(2) ? MPI_INT : MPI_DOUBLE, type;

	f.element = element == MPI_INT ? sizeof(int) : sizeof(double);
	f.n = 2 * (1 + (int)draw(20));
	f.stride = f.n * f.size;
	f.displacement = 8 * (long)draw(10) + f.rank * f.n * f.element;
	f.position = 0;
	MPI_Type_vector(1000, (int)f.n, (int)f.stride, element, &type);
	MPI_Type_commit(&type);
	check(MPI_File_set_view(f.file, f.displacement, element, type, "native", MPI_INFO_NULL), "set_view");
	note("set_view", ++serial, text_of(f.displacement), "-", "-");
	MPI_Type_free(&type);
}

static void begin_file(int i)
{
	char name[40];
	int world;

	f.comm = (int)draw(3);
	MPI_Comm_rank(MPI_COMM_WORLD, &world);
	MPI_Comm_rank(comms[f.comm], &f.rank);
	MPI_Comm_size(comms[f.comm], &f.size);
	f.members = f.comm == 0 ? 0 : f.comm == 1 ? world % 2 : world;
	snprintf(name, sizeof(name), "data.%d.%d.%d", f.comm, f.members, i % 3);
	check(MPI_File_open(comms[f.comm], name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f.file), "open");
	note("open", ++serial, "-", "-", "-");
	check(MPI_File_set_size(f.file, SPACE), "set_size");
	note("set_size", ++serial, "-", text_of(SPACE), "-");
	set_view();
}

static void end_file(void)
{
	check(MPI_File_sync(f.file), "sync");
	note("sync", ++serial, "-", "-", "-");
	check(MPI_File_close(&f.file), "close");
	note("close", ++serial, "-", "-", "-");
}

static void seek(void)
{
	f.position = draw(50);
	check(MPI_File_seek(f.file, f.position, MPI_SEEK_SET), "seek");
	note("seek", 0, "-", "-", "-");
}

static void fail(void)
{
	MPI_File none;

	if (MPI_File_open(comms[0], "no/such", MPI_MODE_RDONLY, MPI_INFO_NULL, &none) == MPI_SUCCESS)
		check(1, "no failure");
	f.members = 0;
	MPI_Comm_rank(comms[0], &f.rank);
	MPI_Comm_size(comms[0], &f.size);
	note("open", ++serial, "-", "-", "-");
}

int main(int argc, char **argv)
{
	char name[30];
	int world, n = argc > 2 ? atoi(argv[2]) : 10;

	number = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &world);
	comms[0] = MPI_COMM_WORLD;
	comms[2] = MPI_COMM_SELF;
	MPI_Comm_split(MPI_COMM_WORLD, world % 2, -world, &comms[1]);
	MPI_Type_vector(2, 1, 3, MPI_INT, &pairs);
	MPI_Type_commit(&pairs);
	snprintf(name, sizeof(name), "called.%d", world);
	called = fopen(name, "w");
	for (int i = 0; called && i < n; i++) {
		begin_file(i);
		for (int j = 0; j < 20; j++)
			switch (draw(8)) {
			case 0: seek(); break;
			case 1: split(); break;
			case 2: set_view(); break;
			default: move();
			}
		end_file();
	}
	fail();
	MPI_Comm_free(&comms[1]);
	MPI_Type_free(&pairs);
	MPI_Finalize();
	return fclose(called);
}
