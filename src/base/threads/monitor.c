/* monitor.c - a lock, and waiting for what others do with it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/monitor.h"

#include "base/threads/parallel.h"

#include <sched.h>
#include <stdbool.h>

/* Some 30 microseconds: as long as falling asleep and being woken takes. */
enum { PATIENCE = 1000 };

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
	atomic_init(&monitor->wakes, 0);
	monitor->patience = tw_processors() > 1 ? PATIENCE : 0;
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

static inline void pause_briefly(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#elif defined __aarch64__
	__asm__ volatile("isb");
#endif
}

/* Lets others in for a moment. Returns whether one of them called tw_monitor_wake(). */
static bool wait_awake(struct tw_monitor *monitor)
{
	const unsigned before = atomic_load_explicit(&monitor->wakes, memory_order_relaxed);
	unsigned now = before;
	tw_monitor_leave(monitor);
	for (unsigned i = 0; i < monitor->patience && now == before; i++) {
		pause_briefly();
		now = atomic_load_explicit(&monitor->wakes, memory_order_relaxed);
	}
	tw_monitor_enter(monitor);
	return atomic_load_explicit(&monitor->wakes, memory_order_relaxed) != before;
}

void tw_monitor_wait(struct tw_monitor *monitor)
{
	if (wait_awake(monitor))
		return;
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
	atomic_fetch_add_explicit(&monitor->wakes, 1, memory_order_relaxed);
	pthread_cond_broadcast(&monitor->change);
}
