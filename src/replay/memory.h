/* memory.h - the memory of a program that is executed again: only what the trace names is there. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_MEMORY_H
#define REPLAY_MEMORY_H

#include "replay/emulator.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replay_memory {
	uc_engine *engine;
	struct replay_chunk **buckets;
	unsigned chunk_bits;
	unsigned chunks;
	bool crowded;              /* the emulator can have no more of them */
	struct replay_chunk *last; /* that was looked for */
};

/* Chunks have 2^chunk_bits bytes: the emulator can have few of them, so larger ones where accesses are far apart.
 * Returns false without memory. */
bool replay_memory_open(struct replay_memory *memory, uc_engine *engine, unsigned chunk_bits);
void replay_memory_close(struct replay_memory *memory); /* the engine must be closed */

/* Makes the bytes exist, zero at first. Returns false without memory, or where they are crowded. */
bool replay_memory_need(struct replay_memory *memory, uint64_t address, size_t size);

/* Reads or writes bytes that exist; others are left out. */
void replay_memory_write(struct replay_memory *memory, uint64_t address, const uint8_t *bytes, size_t size);
void replay_memory_read(struct replay_memory *memory, uint64_t address, uint8_t *bytes, size_t size);

#endif
