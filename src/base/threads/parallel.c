/* parallel.c - the same function in several threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

struct parallel_call {
	void (*run)(void *context, unsigned i);
	void *context;
	unsigned i;
	pthread_t thread;
	bool started;
};

unsigned tw_processors(void)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) < 0)
		return 1;
	int n = CPU_COUNT(&set);
	return n < 1 ? 1 : n > TW_JOBS_MAX ? TW_JOBS_MAX : (unsigned)n;
}

static void *start(void *argument)
{
	struct parallel_call *job = argument;
	job->run(job->context, job->i);
	return NULL;
}

void tw_parallel(unsigned jobs, void (*run)(void *context, unsigned i), void *context)
{
	struct parallel_call all[TW_JOBS_MAX] = {0};
	unsigned threads = jobs > TW_JOBS_MAX ? TW_JOBS_MAX : jobs;
	for (unsigned i = 1; i < threads; i++) {
		all[i] = (struct parallel_call){.run = run, .context = context, .i = i};
		all[i].started = pthread_create(&all[i].thread, NULL, start, &all[i]) == 0;
	}
	if (jobs)
		run(context, 0);
	for (unsigned i = 1; i < jobs; i++)
		if (i >= threads || !all[i].started)
			run(context, i);
	for (unsigned i = 1; i < threads; i++)
		if (all[i].started)
			pthread_join(all[i].thread, NULL);
}
