/* ids.c - internal ids, in a table that grows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/ids.h"

#include "coreprofiler/text.h"

#include <stdlib.h>

static size_t place_of(const struct ids *ids, uint64_t key)
{
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (ids->room - 1);
}

static struct id *find(const struct ids *ids, uint64_t key)
{
	size_t i = place_of(ids, key);
	while (ids->table[i].key && ids->table[i].key != key)
		i = (i + 1) & (ids->room - 1);
	return &ids->table[i];
}

static bool grow(struct ids *ids)
{
	enum { LEAST = 1 << 10 };
	struct ids more = {.room = ids->room ? 2 * ids->room : LEAST};
	more.table = calloc(more.room, sizeof *more.table);
	if (!more.table)
		return false;
	for (size_t i = 0; i < ids->room; i++)
		if (ids->table[i].key)
			*find(&more, ids->table[i].key) = ids->table[i];
	free(ids->table);
	ids->table = more.table;
	ids->room = more.room;
	return true;
}

static struct id *take(struct ids *ids, uint64_t key)
{
	if (2 * ids->count >= ids->room && !grow(ids) && ids->count + 1 >= ids->room)
		return NULL;
	struct id *id = find(ids, key);
	if (!id->key) {
		*id = (struct id){.key = key, .iid = ids->next++};
		ids->count++;
	}
	return id;
}

uint32_t ids_look(struct ids *ids, uint64_t key, bool *logged)
{
	pthread_mutex_lock(&ids->mutex);
	const struct id *id = take(ids, key);
	const uint32_t iid = id ? id->iid : TEXT_NO_ID;
	*logged = !id || id->logged;
	pthread_mutex_unlock(&ids->mutex);
	return iid;
}

bool ids_write(struct ids *ids, uint64_t key, void (*put)(void *context), void *context)
{
	pthread_mutex_lock(&ids->mutex);
	struct id *id = take(ids, key);
	const bool first = id && !id->logged;
	if (first && put)
		put(context);
	if (first)
		id->logged = true;
	pthread_mutex_unlock(&ids->mutex);
	return first;
}

uint32_t ids_of(struct ids *ids, uint64_t key)
{
	pthread_mutex_lock(&ids->mutex);
	const struct id *id = take(ids, key);
	const uint32_t iid = id ? id->iid : TEXT_NO_ID;
	pthread_mutex_unlock(&ids->mutex);
	return iid;
}

/* Takes an id out of the table. Ids behind it that could not have their own places move up. */
void ids_forget(struct ids *ids, uint64_t key)
{
	pthread_mutex_lock(&ids->mutex);
	struct id *gone = ids->room ? find(ids, key) : NULL;
	if (gone && gone->key) {
		const size_t mask = ids->room - 1;
		size_t hole = (size_t)(gone - ids->table);
		for (size_t i = (hole + 1) & mask; ids->table[i].key; i = (i + 1) & mask) {
			const size_t home = place_of(ids, ids->table[i].key);
			if (((i - home) & mask) < ((i - hole) & mask))
				continue;
			ids->table[hole] = ids->table[i];
			hole = i;
		}
		ids->table[hole] = (struct id){0};
		ids->count--;
	}
	pthread_mutex_unlock(&ids->mutex);
}

void ids_forget_all(struct ids *ids)
{
	pthread_mutex_lock(&ids->mutex);
	free(ids->table);
	ids->table = NULL;
	ids->count = ids->room = 0;
	pthread_mutex_unlock(&ids->mutex);
}

uint64_t *ids_keys(struct ids *ids, size_t *count)
{
	*count = 0;
	pthread_mutex_lock(&ids->mutex);
	uint64_t *keys = ids->count ? malloc(ids->count * sizeof *keys) : NULL;
	for (size_t i = 0; keys && i < ids->room; i++)
		if (ids->table[i].key)
			keys[(*count)++] = ids->table[i].key;
	pthread_mutex_unlock(&ids->mutex);
	return keys;
}
