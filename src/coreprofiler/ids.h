/* ids.h - internal ids: a number for each of the runtime's ids, which may be used again for others. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COREPROFILER_IDS_H
#define COREPROFILER_IDS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ids {
	pthread_mutex_t mutex; /* held for no call of the runtime: it may wait for a collection that waits for us */
	struct id {
		uint64_t key; /* 0: free */
		uint32_t iid;
		bool logged; /* a record of it is in the log */
	} * table;
	size_t count, room; /* room: a power of two */
	uint32_t next;
};

#define IDS_BEGIN(first)                                                                                               \
	{                                                                                                              \
		.mutex = PTHREAD_MUTEX_INITIALIZER, .next = (first)                                                    \
	}

/* The internal id, TEXT_NO_ID where there is no memory for it. key is not 0. */
uint32_t ids_of(struct ids *ids, uint64_t key);

/* The same. `logged`: a record of it is in the log, or there is no memory for one. Who finds none writes it
 * before the number stands anywhere: the program may end between two threads' lines. */
uint32_t ids_look(struct ids *ids, uint64_t key, bool *logged);

/* Has the record, which is complete, put into the log, unless one is there: false. `put` may be NULL, and asks the
 * runtime nothing. */
bool ids_write(struct ids *ids, uint64_t key, void (*put)(void *context), void *context);

/* What the runtime may use the id for from now on is something else. */
void ids_forget(struct ids *ids, uint64_t key);
void ids_forget_all(struct ids *ids);

/* A copy of all keys, to be freed; NULL: there are none, or no memory. */
uint64_t *ids_keys(struct ids *ids, size_t *count);

#endif
