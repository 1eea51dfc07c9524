/* calls.c - system calls that the kernel has not yet returned from. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system/calls.h"

#include "collect/calls.h"

#include <pthread.h>
#include <string.h>

enum { CALLS_MOST = 4096, WORD = 4, ERRORS = 4095 };

struct open_call {
	uint64_t task, pc;
	bool is_open; /* the task waits for it */
	bool handled; /* the handler of a signal began before it returns */
	bool makes;   /* a child of it has not begun */
	bool loads;   /* a new program */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct open_call calls[CALLS_MOST]; /* the newest last */
static unsigned count;

void system_calls_enter(uint64_t task, uint64_t number, uint64_t pc)
{
	pthread_mutex_lock(&lock);
	if (count == CALLS_MOST)
		memmove(calls, calls + 1, --count * sizeof *calls);
	calls[count++] = (struct open_call){
	    .task = task,
	    .pc = pc,
	    .is_open = true,
	    .makes = number == CALL_CLONE || number == CALL_CLONE3,
	    .loads = number == CALL_EXECVE || number == CALL_EXECVEAT,
	};
	pthread_mutex_unlock(&lock);
}

/* The task waits for none of its calls from one on. */
static void close_from(unsigned first, uint64_t task)
{
	unsigned kept = first;
	for (unsigned i = first; i < count; i++) {
		if (calls[i].task == task)
			calls[i].is_open = false;
		if (calls[i].is_open || calls[i].makes)
			calls[kept++] = calls[i];
	}
	count = kept;
}

/* The newest call that a task waits for. NULL: none. */
static struct open_call *newest_of(uint64_t task)
{
	for (unsigned i = count; i-- > 0;)
		if (calls[i].is_open && calls[i].task == task)
			return &calls[i];
	return NULL;
}

static bool go_back(uint64_t task, uint64_t pc, uint64_t x0)
{
	for (unsigned i = count; i-- > 0;) {
		struct open_call *call = &calls[i];
		bool again = call->pc == pc + WORD;
		if (!call->is_open || call->task != task || (call->pc != pc && !again))
			continue;
		if (again || -x0 - 1 < ERRORS)
			call->makes = false;
		close_from(i, task);
		return true;
	}
	return false;
}

/* What its number had waited for before is another task's, that has ended. */
static bool begin_child(uint64_t task, uint64_t pc, uint64_t x0)
{
	for (unsigned i = count; x0 == 0 && i-- > 0;)
		if (calls[i].makes && calls[i].pc == pc && calls[i].task != task) {
			calls[i].makes = false;
			close_from(0, task);
			return true;
		}
	return false;
}

static bool go_elsewhere(uint64_t task)
{
	struct open_call *call = newest_of(task);
	if (!call || call->handled)
		return false;
	call->handled = true;
	if (call->loads)
		close_from(0, task);
	return true;
}

bool system_calls_leave(uint64_t task, uint64_t pc, uint64_t x0)
{
	pthread_mutex_lock(&lock);
	bool leads = go_back(task, pc, x0) || begin_child(task, pc, x0) || go_elsewhere(task);
	pthread_mutex_unlock(&lock);
	return leads;
}
