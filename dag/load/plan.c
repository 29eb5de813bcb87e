/* SPDX-License-Identifier: MIT */
#include "dag/load/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dag/load/plan_internal.h"

#define ROOM_FIRST 4096

/* A file without a name for an array, and its mapping.  0 or -errno. */
static int map_file(int dir, int *fd, void **ret_map, size_t old, size_t size)
{
	void *map;

	if (*fd < 0)
		*fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (*fd < 0 || ftruncate(*fd, (off_t)size) < 0)
		return -errno;
	map = old ? mremap(*ret_map, old, size, MREMAP_MAYMOVE) : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	*ret_map = map;
	return 0;
}

static int grow(int dir, int *fd, void **map, uint64_t n, uint64_t *room, size_t element)
{
	uint64_t more = *room ? 2 * *room : ROOM_FIRST;
	int r;

	if (n < *room)
		return 0;
	if (more > UINT32_MAX)
		return -EFBIG;
	r = map_file(dir, fd, map, *room * element, more * element);
	if (r == 0)
		*room = more;
	return r;
}

int load_plan_append(struct plan *plan, int dir, int32_t thread, const struct plan_step *step, uint32_t *ret_step)
{
	struct plan_thread *t = &plan->threads[thread];
	int r = grow(dir, &plan->steps_fd, (void **)&plan->steps, plan->n_steps + 1, &plan->room_steps, sizeof(*plan->steps));
	uint32_t at;

	if (r < 0)
		return r;
	if (plan->n_steps == 0)
		plan->n_steps = 1; /* 0 is none */
	at = (uint32_t)plan->n_steps++;
	plan->steps[at] = *step;
	plan->steps[at].next = 0;
	if (t->last)
		plan->steps[t->last].next = at;
	else
		t->first = at;
	t->last = at;
	t->n_steps++;
	*ret_step = at;
	return 0;
}

int load_plan_append_wait(struct plan *plan, int dir, struct plan_wait wait)
{
	int r = grow(dir, &plan->waits_fd, (void **)&plan->waits, plan->n_waits, &plan->room_waits, sizeof(*plan->waits));

	if (r == 0)
		plan->waits[plan->n_waits++] = wait;
	return r;
}

int load_plan_need(struct plan *plan, int32_t process, int32_t handle, int64_t until_ns)
{
	uint64_t key = (uint64_t)process << 32 | (uint32_t)handle;
	struct plan_needs *need;

	HASH_FIND(hh, plan->needs, &key, sizeof(key), need);
	if (!need) {
		need = arena_alloc(&plan->texts, sizeof(*need));
		if (!need)
			return -ENOMEM;
		*need = (struct plan_needs){ .key = key, .until_ns = until_ns };
		HASH_ADD(hh, plan->needs, key, sizeof(key), need);
		if (!need->hh.tbl) /* the hash cannot grow */
			return -ENOMEM;
	}
	if (need->until_ns < until_ns)
		need->until_ns = until_ns;
	return 0;
}

int64_t load_plan_needed_until(const struct plan *plan, int32_t process, int32_t handle)
{
	uint64_t key = (uint64_t)process << 32 | (uint32_t)handle;
	struct plan_needs *need;

	HASH_FIND(hh, plan->needs, &key, sizeof(key), need);
	return need ? need->until_ns : PLAN_UNKNOWN;
}

static void unmap(void *map, size_t size, int fd)
{
	if (size)
		munmap(map, size);
	if (fd >= 0)
		close(fd);
}

void load_plan_finish(struct plan *plan)
{
	unmap(plan->steps, plan->room_steps * sizeof(*plan->steps), plan->steps_fd);
	unmap(plan->waits, plan->room_waits * sizeof(*plan->waits), plan->waits_fd);
	HASH_CLEAR(hh, plan->needs);
	free(plan->threads);
	free(plan->processes);
	free(plan->files);
	free(plan->handles);
	free(plan->paths);
	arena_free(&plan->texts);
}
