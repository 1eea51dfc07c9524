/* pool.c - threads that work for archives which are read at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/walk/pool.h"

#include "base/memory/memory.h"
#include "base/threads/parallel.h"

#include <stdlib.h>
#include <string.h>

bool fxt_pool_work(struct fxt_pool *pool, struct fxt_scratch *scratch)
{
	bool done = false;
	for (size_t i = 0; i < pool->client_count && !done; i++) {
		struct fxt_client *client = pool->clients[pool->next++ % pool->client_count];
		client->busy++;
		done = client->work(client->context, scratch);
		client->busy--;
	}
	return done;
}

static void *run_thread(void *context)
{
	struct fxt_pool *pool = context;
	struct fxt_scratch *scratch = calloc(1, sizeof *scratch); /* larger than some threads' stacks */
	tw_monitor_enter(&pool->monitor);
	while (scratch && !pool->stop)
		if (!fxt_pool_work(pool, scratch))
			tw_monitor_wait(&pool->monitor);
	tw_monitor_leave(&pool->monitor);
	fxt_scratch_free(scratch);
	free(scratch);
	return NULL;
}

struct fxt_pool *fxt_pool_new(unsigned jobs)
{
	struct fxt_pool *pool = calloc(1, sizeof *pool);
	unsigned wanted = (jobs ? jobs : tw_processors()) - 1;
	if (!pool)
		return NULL;
	tw_monitor_init(&pool->monitor);
	pool->users = 1;
	wanted = wanted < FXT_POOL_MOST ? wanted : FXT_POOL_MOST;
	while (pool->thread_count < wanted &&
	       pthread_create(&pool->threads[pool->thread_count], NULL, run_thread, pool) == 0)
		pool->thread_count++;
	return pool;
}

struct fxt_pool *fxt_pool_share(struct fxt_pool *pool)
{
	pool->users++;
	return pool;
}

void fxt_pool_release(struct fxt_pool *pool)
{
	if (!pool || --pool->users)
		return;
	tw_monitor_enter(&pool->monitor);
	pool->stop = true;
	tw_monitor_wake(&pool->monitor);
	tw_monitor_leave(&pool->monitor);
	for (unsigned i = 0; i < pool->thread_count; i++)
		pthread_join(pool->threads[i], NULL);
	fxt_scratch_free(&pool->scratch);
	tw_monitor_destroy(&pool->monitor);
	free(pool->clients);
	free(pool);
}

bool fxt_pool_add_client(struct fxt_pool *pool, struct fxt_client *client)
{
	tw_monitor_enter(&pool->monitor);
	bool fine = tw_grow(&pool->clients, &pool->client_room, pool->client_count + 1, sizeof(struct fxt_client *));
	if (fine)
		pool->clients[pool->client_count++] = client;
	tw_monitor_wake(&pool->monitor);
	tw_monitor_leave(&pool->monitor);
	return fine;
}

void fxt_pool_remove_client(struct fxt_pool *pool, struct fxt_client *client)
{
	size_t i = 0;
	tw_monitor_enter(&pool->monitor);
	while (i < pool->client_count && pool->clients[i] != client)
		i++;
	if (i < pool->client_count) {
		pool->client_count--;
		memmove(&pool->clients[i], &pool->clients[i + 1],
		        (pool->client_count - i) * sizeof(struct fxt_client *));
	}
	while (client->busy)
		tw_monitor_wait(&pool->monitor);
	tw_monitor_leave(&pool->monitor);
}
