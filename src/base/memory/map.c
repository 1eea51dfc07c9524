/* map.c - a hash table from 64-bit keys to 32-bit numbers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/map.h"

#include "base/bytes/bytes.h"
#include "base/memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct tw_hash_key tw_hash_key = {UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707345)};

/* Where the system has no random number yet the numbers above stay: pi's digits. */
__attribute__((constructor)) static void choose_hash_key(void)
{
	struct tw_hash_key key;
	if (getrandom(&key, sizeof key, GRND_NONBLOCK) == sizeof key)
		tw_hash_key = (struct tw_hash_key){key.offset, key.factor | 1};
}

/* The hash of bytes by that of words. */
static inline uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed, uint64_t (*hash_word)(uint64_t word))
{
	const uint8_t *p = bytes;
	uint8_t tail[8] = {0};
	uint64_t hash = seed ^ (size * UINT64_C(0x9e3779b97f4a7c15));
	for (; size >= sizeof tail; p += sizeof tail, size -= sizeof tail)
		hash = hash_word(hash ^ tw_load64(p, false));
	if (size)
		memcpy(tail, p, size);
	return hash_word(hash ^ tw_load64(tail, false));
}

uint64_t tw_hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
	return hash_bytes(bytes, size, seed, tw_hash64);
}

uint64_t tw_mix_bytes(const void *bytes, size_t size, uint64_t seed)
{
	return hash_bytes(bytes, size, seed, tw_mix64);
}

uint64_t tw_mix_words(const uint64_t *words, size_t count)
{
	uint64_t hash = count;
	for (size_t i = 0; i < count; i++)
		hash = tw_mix64(hash ^ words[i]);
	return hash;
}

static void insert(struct tw_map *map, uint64_t key, uint32_t stored)
{
	size_t i = (size_t)tw_hash64(key) & map->mask;
	while (map->slots[i].value)
		i = (i + 1) & map->mask;
	map->slots[i] = (struct tw_map_slot){.key = key, .value = stored};
}

static bool rehash(struct tw_map *map, size_t slots)
{
	struct tw_map fresh = {.slots = tw_zeroed(slots, sizeof *fresh.slots), .mask = slots - 1, .count = map->count};
	if (!fresh.slots)
		return false;
	if (map->slots)
		for (size_t i = 0; i <= map->mask; i++)
			if (map->slots[i].value)
				insert(&fresh, map->slots[i].key, map->slots[i].value);
	free(map->slots);
	*map = fresh;
	return true;
}

bool tw_map_add(struct tw_map *map, uint64_t key, uint32_t value)
{
	size_t slots = map->slots ? map->mask + 1 : 0;
	if (map->count * 4 >= slots * 3 && !rehash(map, slots ? slots * 2 : 16))
		return false;
	insert(map, key, value + 1);
	map->count++;
	return true;
}

bool tw_map_next(const struct tw_map *map, uint64_t key, size_t *slot, uint32_t *value)
{
	if (!map->slots)
		return false;
	size_t i = *slot == SIZE_MAX ? (size_t)tw_hash64(key) & map->mask : (*slot + 1) & map->mask;
	for (; map->slots[i].value; i = (i + 1) & map->mask)
		if (map->slots[i].key == key) {
			*slot = i;
			*value = map->slots[i].value - 1;
			return true;
		}
	return false;
}

void tw_map_clear(struct tw_map *map)
{
	if (map->slots)
		memset(map->slots, 0, (map->mask + 1) * sizeof *map->slots);
	map->count = 0;
}

void tw_map_free(struct tw_map *map)
{
	free(map->slots);
	*map = (struct tw_map){0};
}
