/* pool.h - threads that work for archives which are read at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_POOL_H
#define FXT_WALK_POOL_H

#include "base/threads/monitor.h"
#include "fxt/walk/chunk.h"

#include <pthread.h>

enum { FXT_POOL_MOST = 64 };

/* An archive that the threads work for. */
struct fxt_client {
	/* With the lock, does a piece of work, letting the lock go meanwhile, or returns false when there is none. */
	bool (*work)(void *context, struct fxt_scratch *scratch);
	void *context;
	unsigned busy; /* threads that are at it */
};

struct fxt_pool {
	struct tw_monitor monitor;  /* there is work, or some has been done */
	struct fxt_scratch scratch; /* of the thread that reads the archives */
	struct fxt_client **clients;
	size_t client_count, client_room;
	size_t next; /* client that has its turn */
	pthread_t threads[FXT_POOL_MOST];
	unsigned thread_count;
	unsigned users;
	bool stop;
};

/* Of `jobs` threads in all, the one that reads the archives included (0: as many as there are processors); fewer than
 * asked for are no failure. The caller holds it. NULL when there is no memory. */
struct fxt_pool *fxt_pool_new(unsigned jobs);

/* Another holder. */
struct fxt_pool *fxt_pool_share(struct fxt_pool *pool);

/* The last holder ends the threads. NULL is fine. */
void fxt_pool_release(struct fxt_pool *pool);

/* Works for a client from now on. False when there is no memory. */
bool fxt_pool_add_client(struct fxt_pool *pool, struct fxt_client *client);

/* Ends working for a client; waits until no thread is at it. Fine for one that has not joined. */
void fxt_pool_remove_client(struct fxt_pool *pool, struct fxt_client *client);

/* With the lock, in any thread: a piece of work for the client whose turn it is, or the next that has some. False when
 * none has. */
bool fxt_pool_work(struct fxt_pool *pool, struct fxt_scratch *scratch);

#endif
