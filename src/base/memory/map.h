/* map.h - a hash table from 64-bit keys to 32-bit numbers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEMORY_MAP_H
#define BASE_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tw_map_slot {
	uint64_t key;
	uint32_t value; /* plus 1: 0 is a free slot */
};

/* All zero is an empty map. Values are at most UINT32_MAX - 1. */
struct tw_map {
	struct tw_map_slot *slots;
	size_t mask; /* slots - 1, or 0 while there are none */
	size_t count;
};

/* What hashes of this process depend on: see tw_hash64(). */
struct tw_hash_key {
	uint64_t offset, factor;
};
extern struct tw_hash_key tw_hash_key;

/* A hash for tables in memory, another one in each process: nobody can make a trace whose keys all share a place, in
 * which time would grow with the square of its size. Nothing that is written, and no order, may depend on it. */
static inline uint64_t tw_hash64(uint64_t key)
{
	__extension__ unsigned __int128 product = (unsigned __int128)(key ^ tw_hash_key.offset) * tw_hash_key.factor;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A hash of two numbers. To mix them without this, as `a ^ b`, would show which pairs share a hash. */
static inline uint64_t tw_hash_two(uint64_t first, uint64_t second)
{
	return tw_hash64(tw_hash64(first) ^ second);
}

/* A hash of bytes, continued from `seed`. */
uint64_t tw_hash_bytes(const void *bytes, size_t size, uint64_t seed);

/* A hash that is the same in each process and on each machine, for numbers that are written. */
static inline uint64_t tw_mix64(uint64_t key)
{
	key ^= key >> 32;
	key *= UINT64_C(0xd6e8feb86659fd93);
	key ^= key >> 32;
	key *= UINT64_C(0xd6e8feb86659fd93);
	return key ^ (key >> 32);
}

uint64_t tw_mix_bytes(const void *bytes, size_t size, uint64_t seed);
uint64_t tw_mix_words(const uint64_t *words, size_t count);

/* Finds a key: true and *value, or false. */
static inline bool tw_map_find(const struct tw_map *map, uint64_t key, uint32_t *value)
{
	if (!map->slots)
		return false;
	for (size_t i = (size_t)tw_hash64(key) & map->mask; map->slots[i].value; i = (i + 1) & map->mask)
		if (map->slots[i].key == key) {
			*value = map->slots[i].value - 1;
			return true;
		}
	return false;
}

/* Has the memory fetch where a key is looked for. */
static inline void tw_map_fetch(const struct tw_map *map, uint64_t key)
{
	if (map->slots)
		__builtin_prefetch(&map->slots[(size_t)tw_hash64(key) & map->mask]);
}

/* Where the value of a key is kept, to be changed in place; NULL when the key is not there. It moves with the next add.
 * What stands there is the value plus 1. */
static inline uint32_t *tw_map_stored(struct tw_map *map, uint64_t key)
{
	if (!map->slots)
		return NULL;
	for (size_t i = (size_t)tw_hash64(key) & map->mask; map->slots[i].value; i = (i + 1) & map->mask)
		if (map->slots[i].key == key)
			return &map->slots[i].value;
	return NULL;
}

/* Puts a key that is not in the map. False when there is no memory. Several entries may share a key if the caller tells
 * them apart: see tw_map_next. */
bool tw_map_add(struct tw_map *map, uint64_t key, uint32_t value);

/* Gives a key a value, the key being in the map or not. False when there is no memory. */
static inline bool tw_map_set(struct tw_map *map, uint64_t key, uint32_t value)
{
	uint32_t *stored = tw_map_stored(map, key);
	if (stored)
		*stored = value + 1;
	return stored || tw_map_add(map, key, value);
}

/* Walks all values under a key, for keys that are hashes: start with *slot = SIZE_MAX; false when there are no more. */
bool tw_map_next(const struct tw_map *map, uint64_t key, size_t *slot, uint32_t *value);

/* Empties it, and keeps its memory. */
void tw_map_clear(struct tw_map *map);
void tw_map_free(struct tw_map *map);

#endif
