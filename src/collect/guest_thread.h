/* guest_thread.h - where a thread of the program is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_GUEST_THREAD_H
#define COLLECT_GUEST_THREAD_H

#include "collect/block.h"
#include "collect/calls.h"
#include "collect/machine.h"
#include "collect/scalable/state.h"
#include "collect/stream.h"
#include "collect/windows/windows.h"

enum { ACCESS_MAX = 64 };

/* What is to be done at the beginning of the next block. */
enum { AFTER_CALL = 1, AFTER_TPIDR = 2 };

struct guest_thread {
	struct stream stream;
	struct window_position part;
	unsigned marks;            /* that ended a part */
	struct collect_exec *exec; /* that has not returned, as far as is known */
	struct guest machine;
	const struct translated_block *block; /* that runs, NULL: none that is recorded */
	uint16_t cursor;                      /* its instructions before this are written */
	bool recording, began, needs_pc;      /* the next instruction is to be a PCINST wherever it is */
	bool owes_order;                      /* the next access is to have a TIME, though there is one thread only */
	uint8_t pending;
	struct {                                            /* of the instruction at the cursor */
		uint8_t size;                               /* bytes */
		uint8_t value[ACCESS_MAX + MACHINE_VECTOR]; /* read in steps of a vector */
		uint64_t address;                           /* of the first of them */
		uint64_t operands[4];                       /* LSE: what registers were before */
		uint8_t old[16];                            /* LSE: memory before, where no register tells */
	} access;
	struct scalable_state scalable;
	uint64_t tpidr;
	struct interrupted where;
	bool is_interrupted; /* registers are those of `where` */
};

#endif
