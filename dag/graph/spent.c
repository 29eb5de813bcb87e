/* SPDX-License-Identifier: MIT */
#include "dag/graph/spent.h"

#include <stddef.h>
#include <stdio.h>

/* Waits, in the order in which they are least what the process waited for. */
static const enum spent_part waits[] = { SPENT_LOCK, SPENT_EVENT, SPENT_SLEEP, SPENT_OTHER, SPENT_STOPPED, SPENT_CHILD, SPENT_SOCKET,
	SPENT_PIPE };

int64_t spent_sum(const struct spent *spent)
{
	int64_t sum = 0;

	for (int i = 0; i < SPENT_MAX; i++)
		sum += spent->ns[i];
	return sum;
}

void spent_of_process(struct spent *spent, int64_t life_ns)
{
	int64_t over, sum;

	life_ns = life_ns > 0 ? life_ns : 0;
	over = spent_sum(spent) - life_ns;

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]) && over > 0; i++) {
		int64_t less = spent->ns[waits[i]] < over ? spent->ns[waits[i]] : over;

		spent->ns[waits[i]] -= less;
		over -= less;
	}
	if (over <= 0)
		return;
	sum = spent_sum(spent);
	for (int i = 0; i < SPENT_MAX; i++)
		spent->ns[i] = (int64_t)((double)spent->ns[i] * ((double)life_ns / (double)sum));
}

const char *spent_mostly(const struct spent *spent, char text[static 32])
{
	static const char *const words[] = {
#define X(name, word) #word,
		SPENT(X)
#undef X
	};
	int64_t sum = spent_sum(spent);
	int most = 0;

	for (int i = 1; i < SPENT_MAX; i++)
		most = spent->ns[i] > spent->ns[most] ? i : most;
	if (sum <= 0 || !spent->whole)
		return NULL;
	snprintf(text, 32, "%s %.0f %%", words[most], 100 * (double)spent->ns[most] / (double)sum);
	return text;
}
