/* vectors.h - basic block vectors alone: how many instructions of each interval were executed in which block. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_WINDOWS_VECTORS_H
#define COLLECT_WINDOWS_VECTORS_H

#include "collect/board.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A block as QEMU translates it: a basic block, or a part of one. */
struct vector_block {
	uint64_t pc, behind; /* behind: where it goes on in the same basic block; 1: its last instruction ends that */
	uint32_t number;     /* of the basic blocks that begin here */
	uint32_t count;      /* instructions */
};

/* Must be called before any thread runs. Returns whether it can be done. */
bool vectors_setup(struct collect_board *board);

/* Makes a block; NULL without memory. They stay: QEMU may execute what it has forgotten once more. */
struct vector_block *vectors_make(uint64_t pc, const uint32_t *opcodes, size_t count);

/* QEMU's call, in the thread: a block begins. */
void vectors_take(unsigned cpu, void *block);

/* The same of a core of a machine, below CORES_MOST. */
void vectors_take_core(unsigned core, const struct vector_block *block);

/* The same of a program before a system call: programs that are executed in the place of this one are told. */
void vectors_call(unsigned cpu, void *data);

/* The process ends in good order: what each thread has of its last interval is written. */
void vectors_end(void);

#endif
