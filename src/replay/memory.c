/* memory.c - the memory of a program that is executed again, in chunks that the emulator uses in place.
 *
 * A chunk takes no memory but for pages that are written to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BUCKET_BITS = 12, BUCKETS = 1 << BUCKET_BITS };

/* Unicorn ends the program where it has more than 1,022, and takes the longer for each the more there are. */
enum { CHUNKS_MOST = 500 };

struct replay_chunk {
	struct replay_chunk *next; /* of the bucket */
	uint64_t address;
	uint8_t *bytes;
};

static uint64_t chunk_size(const struct replay_memory *memory)
{
	return UINT64_C(1) << memory->chunk_bits;
}

/* The first address of the chunk that an address is in, and how far behind that it is. */
static uint64_t start_of(const struct replay_memory *memory, uint64_t address)
{
	return address & ~(chunk_size(memory) - 1);
}

static size_t offset_in(const struct replay_memory *memory, uint64_t address)
{
	return (size_t)(address & (chunk_size(memory) - 1));
}

static size_t bucket_of(const struct replay_memory *memory, uint64_t address)
{
	return (size_t)((address >> memory->chunk_bits) * 0x9e3779b97f4a7c15 >> (64 - BUCKET_BITS));
}

static struct replay_chunk *find(struct replay_memory *memory, uint64_t address)
{
	uint64_t start = start_of(memory, address);
	if (memory->last && memory->last->address == start)
		return memory->last;
	struct replay_chunk *chunk = memory->buckets[bucket_of(memory, start)];
	while (chunk && chunk->address != start)
		chunk = chunk->next;
	memory->last = chunk ? chunk : memory->last;
	return chunk;
}

bool replay_memory_open(struct replay_memory *memory, uc_engine *engine, unsigned chunk_bits)
{
	*memory = (struct replay_memory){.engine = engine,
	                                 .chunk_bits = chunk_bits,
	                                 .buckets = calloc(BUCKETS, sizeof(struct replay_chunk *))};
	return memory->buckets != NULL;
}

void replay_memory_close(struct replay_memory *memory)
{
	for (size_t i = 0; memory->buckets && i < BUCKETS; i++)
		for (struct replay_chunk *chunk = memory->buckets[i], *next; chunk; chunk = next) {
			next = chunk->next;
			munmap(chunk->bytes, (size_t)chunk_size(memory));
			free(chunk);
		}
	free(memory->buckets);
}

/* A huge page would be much more than what is written to. */
static void *reserve(size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes != MAP_FAILED)
		madvise(bytes, size, MADV_NOHUGEPAGE);
	return bytes;
}

static bool add(struct replay_memory *memory, uint64_t start)
{
	size_t size = (size_t)chunk_size(memory);
	memory->crowded = memory->chunks == CHUNKS_MOST;
	if (memory->crowded)
		return false;
	struct replay_chunk *chunk = malloc(sizeof *chunk), **bucket = &memory->buckets[bucket_of(memory, start)];
	void *bytes = reserve(size);
	if (chunk && bytes != MAP_FAILED &&
	    replay_emulator.uc_mem_map_ptr(memory->engine, start, size, UC_PROT_ALL, bytes) == UC_ERR_OK) {
		*chunk = (struct replay_chunk){*bucket, start, bytes};
		*bucket = chunk;
		memory->chunks++;
		return true;
	}
	free(chunk);
	if (bytes != MAP_FAILED)
		munmap(bytes, size);
	return false;
}

bool replay_memory_need(struct replay_memory *memory, uint64_t address, size_t size)
{
	uint64_t last = start_of(memory, address + size - 1);
	for (uint64_t start = start_of(memory, address);; start += chunk_size(memory)) {
		if (!find(memory, start) && !add(memory, start))
			return false;
		if (start == last)
			return true;
	}
}

/* Of bytes that may go beyond a chunk, how many are in the first. */
static size_t in_chunk(const struct replay_memory *memory, uint64_t address, size_t size)
{
	size_t left = (size_t)chunk_size(memory) - offset_in(memory, address);
	return size < left ? size : left;
}

void replay_memory_write(struct replay_memory *memory, uint64_t address, const uint8_t *bytes, size_t size)
{
	for (size_t step; size; address += step, bytes += step, size -= step) {
		struct replay_chunk *chunk = find(memory, address);
		step = in_chunk(memory, address, size);
		if (chunk)
			memcpy(chunk->bytes + offset_in(memory, address), bytes, step);
	}
}

void replay_memory_read(struct replay_memory *memory, uint64_t address, uint8_t *bytes, size_t size)
{
	for (size_t step; size; address += step, bytes += step, size -= step) {
		struct replay_chunk *chunk = find(memory, address);
		step = in_chunk(memory, address, size);
		if (chunk)
			memcpy(bytes, chunk->bytes + offset_in(memory, address), step);
		else
			memset(bytes, 0, step);
	}
}
