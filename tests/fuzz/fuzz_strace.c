/* SPDX-License-Identifier: MIT */

/* The output of strace, up to the events that it becomes. */

#include "base/arena.h"
#include "base/failure.h"
#include "import/strace_calls.h"
#include "import/strace_files.h"
#include "import/world.h"
#include "tests/fuzz/fuzz.h"

struct told {
	struct world *world;
	struct arena arena;
	uint64_t lines;
};

static int take_call(struct told *told, const struct strace_item *item)
{
	struct world_program program;
	struct world_call call;
	int32_t child;
	unsigned shares;
	bool is_cut;

	if (strace_fork(&item->line, &child, &shares))
		return world_fork(told->world, item->tid, child, shares, item->start_ns);
	if (item->line.has_result && item->line.result == 0 && strace_exec(&told->arena, &item->line, &program, &is_cut))
		return world_exec(told->world, item->tid, &program, item->end_ns);
	if (strace_call(&told->arena, item, &call) == STRACE_TAKEN)
		return world_take(told->world, &call);
	return 0;
}

static int take(void *arg, const struct strace_item *item)
{
	struct told *told = arg;

	FUZZ_ASSERT(item->number > told->lines && item->tid > 0 && item->end_ns >= item->start_ns);
	told->lines = item->number;
	arena_clear(&told->arena);
	FUZZ_ASSERT((item->line.kind == STRACE_BAD) == (item->reason != NULL));
	if (item->line.kind == STRACE_BAD)
		return 0;
	FUZZ_ASSERT(world_introduce(told->world, item->tid, 0, item->start_ns) == 0);
	if (item->line.kind == STRACE_EXITED)
		world_exit(told->world, item->tid, item->line.status, item->end_ns);
	return item->line.kind == STRACE_CALL ? take_call(told, item) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct world_options options = { .cwd = size && data[0] % 2 ? "/w" : NULL };
	struct failure failure = { 0 };
	struct told told = { 0 };

	FUZZ_ASSERT(world_create(&options, &told.world) == 0);
	FUZZ_ASSERT(strace_read_text((const char *)data, size, take, &told, &failure) == 0);
	world_end(told.world, 0);
	world_destroy(told.world);
	arena_free(&told.arena);
	return 0;
}
