/* SPDX-License-Identifier: MIT */
#include "ftrac/top.h"

#include <stdio.h>

#include "dag/live/live.h"
#include "procmon/monitor.h"

#define WAITS_MOST 64

static const enum live_wait_kind kinds[] = { [MONITOR_WAIT_FILE] = LIVE_WAIT_FILE, [MONITOR_WAIT_PIPE] = LIVE_WAIT_PIPE,
	[MONITOR_WAIT_SOCKET] = LIVE_WAIT_SOCKET, [MONITOR_WAIT_CHILD] = LIVE_WAIT_CHILD };

int top_waits(int64_t pid, int64_t start_ns, struct live_thread_wait *ret_waits, int most)
{
	struct monitor_wait waits[WAITS_MOST];
	int n = monitor_waits((pid_t)pid, start_ns, waits, most < WAITS_MOST ? most : WAITS_MOST);

	for (int i = 0; i < n; i++) {
		ret_waits[i] = (struct live_thread_wait){ .tid = waits[i].tid, .kind = kinds[waits[i].kind], .name = waits[i].name,
			.call = { (uint64_t)waits[i].number, waits[i].argument, waits[i].switches } };
		snprintf(ret_waits[i].path, sizeof(ret_waits[i].path), "%s", waits[i].path);
	}
	return n;
}

int top_main(int argc, char **argv)
{
	return live_main(argc, argv, top_waits);
}
