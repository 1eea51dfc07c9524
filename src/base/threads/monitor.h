/* monitor.h - a lock, and waiting for what others do with it: for threads that hand each other short pieces of work,
 * and are no more than there are processors.
 *
 * Who is woken runs on another processor than who wakes it, which goes on working there. The system would often let it
 * wait for that one: a processor of a virtual machine that has nothing to do counts as taken as soon as its host uses
 * it otherwise, and what waits in the wrong place is moved only by the next tick, after up to 4 ms. Who waits stays
 * awake for a moment, because most waits are short (`make bench` measures info). With more threads both would take
 * processors from those that work: convert to CTF or to what is compressed took a tenth longer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_THREADS_MONITOR_H
#define BASE_THREADS_MONITOR_H

#include <pthread.h>
#include <stdatomic.h>

struct tw_sleeper;

struct tw_monitor {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct tw_sleeper *sleepers; /* who waits and is asleep */
	atomic_uint wakes;
	unsigned patience; /* how often who waits looks for a wake before it goes to sleep */
};

void tw_monitor_init(struct tw_monitor *monitor);

/* Nobody is in it or waits. */
void tw_monitor_destroy(struct tw_monitor *monitor);

void tw_monitor_enter(struct tw_monitor *monitor);
void tw_monitor_leave(struct tw_monitor *monitor);

/* Inside: lets others in until one of them calls tw_monitor_wake(), or for no reason. */
void tw_monitor_wait(struct tw_monitor *monitor);

/* Inside: wakes all who wait. */
void tw_monitor_wake(struct tw_monitor *monitor);

#endif
