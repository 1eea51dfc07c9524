/* crew.c - threads that work for archives which are read at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/walk/crew.h"

#include "base/memory/memory.h"
#include "base/threads/parallel.h"

#include <stdlib.h>
#include <string.h>

bool fxt_crew_work(struct fxt_crew *crew, struct fxt_scratch *scratch)
{
	bool done = false;
	for (size_t i = 0; i < crew->client_count && !done; i++) {
		struct fxt_client *client = crew->clients[crew->next++ % crew->client_count];
		client->busy++;
		done = client->work(client->context, scratch);
		client->busy--;
	}
	return done;
}

static void *run_thread(void *context)
{
	struct fxt_crew *crew = context;
	struct fxt_scratch *scratch = calloc(1, sizeof *scratch); /* larger than some threads' stacks */
	tw_monitor_enter(&crew->monitor);
	while (scratch && !crew->stop)
		if (!fxt_crew_work(crew, scratch))
			tw_monitor_wait(&crew->monitor);
	tw_monitor_leave(&crew->monitor);
	fxt_scratch_free(scratch);
	free(scratch);
	return NULL;
}

struct fxt_crew *fxt_crew_new(unsigned jobs)
{
	struct fxt_crew *crew = calloc(1, sizeof *crew);
	unsigned wanted = (jobs ? jobs : tw_processors()) - 1;
	if (!crew)
		return NULL;
	tw_monitor_init(&crew->monitor);
	crew->holders = 1;
	wanted = wanted < FXT_CREW_MOST ? wanted : FXT_CREW_MOST;
	while (crew->thread_count < wanted &&
	       pthread_create(&crew->threads[crew->thread_count], NULL, run_thread, crew) == 0)
		crew->thread_count++;
	return crew;
}

struct fxt_crew *fxt_crew_hold(struct fxt_crew *crew)
{
	crew->holders++;
	return crew;
}

void fxt_crew_release(struct fxt_crew *crew)
{
	if (!crew || --crew->holders)
		return;
	tw_monitor_enter(&crew->monitor);
	crew->stop = true;
	tw_monitor_wake(&crew->monitor);
	tw_monitor_leave(&crew->monitor);
	for (unsigned i = 0; i < crew->thread_count; i++)
		pthread_join(crew->threads[i], NULL);
	fxt_scratch_free(&crew->scratch);
	tw_monitor_destroy(&crew->monitor);
	free(crew->clients);
	free(crew);
}

bool fxt_crew_join(struct fxt_crew *crew, struct fxt_client *client)
{
	tw_monitor_enter(&crew->monitor);
	bool fine = tw_grow(&crew->clients, &crew->client_room, crew->client_count + 1, sizeof(struct fxt_client *));
	if (fine)
		crew->clients[crew->client_count++] = client;
	tw_monitor_wake(&crew->monitor);
	tw_monitor_leave(&crew->monitor);
	return fine;
}

void fxt_crew_leave(struct fxt_crew *crew, struct fxt_client *client)
{
	size_t i = 0;
	tw_monitor_enter(&crew->monitor);
	while (i < crew->client_count && crew->clients[i] != client)
		i++;
	if (i < crew->client_count) {
		crew->client_count--;
		memmove(&crew->clients[i], &crew->clients[i + 1],
		        (crew->client_count - i) * sizeof(struct fxt_client *));
	}
	while (client->busy)
		tw_monitor_wait(&crew->monitor);
	tw_monitor_leave(&crew->monitor);
}
