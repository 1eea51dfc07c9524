/* memory.c - the memory of a program that is executed again, in chunks that the emulator uses in place. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CHUNK_BITS = 16, CHUNK = 1 << CHUNK_BITS, BUCKET_BITS = 12, BUCKETS = 1 << BUCKET_BITS };

struct replay_chunk {
	struct replay_chunk *next; /* of the bucket */
	uint64_t address;
	uint8_t *bytes;
};

static size_t bucket_of(uint64_t address)
{
	return (size_t)((address >> CHUNK_BITS) * 0x9e3779b97f4a7c15 >> (64 - BUCKET_BITS));
}

static struct replay_chunk *find(struct replay_memory *memory, uint64_t address)
{
	uint64_t start = address & ~(uint64_t)(CHUNK - 1);
	if (memory->last && memory->last->address == start)
		return memory->last;
	struct replay_chunk *chunk = memory->buckets[bucket_of(start)];
	while (chunk && chunk->address != start)
		chunk = chunk->next;
	memory->last = chunk ? chunk : memory->last;
	return chunk;
}

bool replay_memory_open(struct replay_memory *memory, uc_engine *engine)
{
	*memory = (struct replay_memory){.engine = engine, .buckets = calloc(BUCKETS, sizeof(struct replay_chunk *))};
	return memory->buckets != NULL;
}

void replay_memory_close(struct replay_memory *memory)
{
	for (size_t i = 0; memory->buckets && i < BUCKETS; i++)
		for (struct replay_chunk *chunk = memory->buckets[i], *next; chunk; chunk = next) {
			next = chunk->next;
			munmap(chunk->bytes, CHUNK);
			free(chunk);
		}
	free(memory->buckets);
}

static bool add(struct replay_memory *memory, uint64_t start)
{
	struct replay_chunk *chunk = malloc(sizeof *chunk), **bucket = &memory->buckets[bucket_of(start)];
	void *bytes = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk && bytes != MAP_FAILED &&
	    replay_emulator.uc_mem_map_ptr(memory->engine, start, CHUNK, UC_PROT_ALL, bytes) == UC_ERR_OK) {
		*chunk = (struct replay_chunk){*bucket, start, bytes};
		*bucket = chunk;
		return true;
	}
	free(chunk);
	if (bytes != MAP_FAILED)
		munmap(bytes, CHUNK);
	return false;
}

bool replay_memory_need(struct replay_memory *memory, uint64_t address, size_t size)
{
	uint64_t last = (address + size - 1) & ~(uint64_t)(CHUNK - 1);
	for (uint64_t start = address & ~(uint64_t)(CHUNK - 1);; start += CHUNK) {
		if (!find(memory, start) && !add(memory, start))
			return false;
		if (start == last)
			return true;
	}
}

/* Of bytes that may go beyond a chunk, how many are in the first. */
static size_t in_chunk(uint64_t address, size_t size)
{
	size_t left = CHUNK - (size_t)(address & (CHUNK - 1));
	return size < left ? size : left;
}

void replay_memory_write(struct replay_memory *memory, uint64_t address, const uint8_t *bytes, size_t size)
{
	for (size_t step; size; address += step, bytes += step, size -= step) {
		struct replay_chunk *chunk = find(memory, address);
		step = in_chunk(address, size);
		if (chunk)
			memcpy(chunk->bytes + (address & (CHUNK - 1)), bytes, step);
	}
}

void replay_memory_read(struct replay_memory *memory, uint64_t address, uint8_t *bytes, size_t size)
{
	for (size_t step; size; address += step, bytes += step, size -= step) {
		struct replay_chunk *chunk = find(memory, address);
		step = in_chunk(address, size);
		if (chunk)
			memcpy(bytes, chunk->bytes + (address & (CHUNK - 1)), step);
		else
			memset(bytes, 0, step);
	}
}
