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
		bool told; /* there is a record of it */
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

/* The same; the caller tells of it, if it is the first. */
uint32_t ids_tell(struct ids *ids, uint64_t key, bool *first);

/* What the runtime may use the id for from now on is something else. */
void ids_forget(struct ids *ids, uint64_t key);

#endif
