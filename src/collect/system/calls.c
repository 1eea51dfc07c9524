/* calls.c - system calls that the kernel has not yet returned from. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system/calls.h"

#include <pthread.h>
#include <string.h>

enum { CALLS_MOST = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct call {
	uint64_t task, pc;
} calls[CALLS_MOST]; /* the newest last */
static unsigned count;

void system_calls_enter(uint64_t task, uint64_t pc)
{
	pthread_mutex_lock(&lock);
	if (count == CALLS_MOST)
		memmove(calls, calls + 1, --count * sizeof *calls);
	calls[count++] = (struct call){task, pc};
	pthread_mutex_unlock(&lock);
}

static void forget_from(unsigned first, uint64_t task)
{
	unsigned kept = first;
	for (unsigned i = first; i < count; i++)
		if (calls[i].task != task)
			calls[kept++] = calls[i];
	count = kept;
}

bool system_calls_leave(uint64_t task, uint64_t pc)
{
	bool is_there = false;
	pthread_mutex_lock(&lock);
	for (unsigned i = count; !is_there && i-- > 0;) {
		is_there = calls[i].task == task && calls[i].pc == pc;
		if (is_there)
			forget_from(i, task);
	}
	pthread_mutex_unlock(&lock);
	return is_there;
}
