/* monitor.c - a lock, and waiting for what others do with it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/monitor.h"

#include <sched.h>
#include <stdbool.h>

/* Lies on the stack of the thread that waits. */
struct tw_sleeper {
	struct tw_sleeper *next;
	pthread_t thread;
	cpu_set_t before; /* where it may run, once `moved` */
	bool moved;       /* it may not run where it was woken from */
};

void tw_monitor_init(struct tw_monitor *monitor)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP /* the lock is held for so short a time that nobody should sleep for it */
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(&monitor->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	pthread_cond_init(&monitor->change, NULL);
	monitor->sleepers = NULL;
}

void tw_monitor_destroy(struct tw_monitor *monitor)
{
	pthread_cond_destroy(&monitor->change);
	pthread_mutex_destroy(&monitor->lock);
}

void tw_monitor_enter(struct tw_monitor *monitor)
{
	pthread_mutex_lock(&monitor->lock);
}

void tw_monitor_leave(struct tw_monitor *monitor)
{
	pthread_mutex_unlock(&monitor->lock);
}

static void take_out(struct tw_monitor *monitor, const struct tw_sleeper *sleeper)
{
	struct tw_sleeper **place = &monitor->sleepers;
	while (*place != sleeper)
		place = &(*place)->next;
	*place = sleeper->next;
}

void tw_monitor_wait(struct tw_monitor *monitor)
{
	struct tw_sleeper own = {.next = monitor->sleepers, .thread = pthread_self()};
	monitor->sleepers = &own;
	pthread_cond_wait(&monitor->change, &monitor->lock);
	take_out(monitor, &own);
	if (own.moved)
		pthread_setaffinity_np(own.thread, sizeof own.before, &own.before);
}

/* Keeps a thread that sleeps away from a processor, if there is another one for it. */
static void move_away(struct tw_sleeper *sleeper, unsigned processor)
{
	if (sleeper->moved || pthread_getaffinity_np(sleeper->thread, sizeof sleeper->before, &sleeper->before) != 0)
		return;
	cpu_set_t others = sleeper->before;
	CPU_CLR(processor, &others);
	sleeper->moved = CPU_COUNT(&others) && pthread_setaffinity_np(sleeper->thread, sizeof others, &others) == 0;
}

void tw_monitor_wake(struct tw_monitor *monitor)
{
	int processor = monitor->sleepers ? sched_getcpu() : -1;
	if (processor >= 0 && processor < CPU_SETSIZE)
		for (struct tw_sleeper *sleeper = monitor->sleepers; sleeper; sleeper = sleeper->next)
			move_away(sleeper, (unsigned)processor);
	pthread_cond_broadcast(&monitor->change);
}
