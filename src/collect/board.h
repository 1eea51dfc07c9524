/* board.h - the memory that the tool and the plugin share: what is asked for, and each thread's tokens not yet in its
 * file.
 *
 * The buffers outlive QEMU: when it is killed the tool writes what is left in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_BOARD_H
#define COLLECT_BOARD_H

#include <trackway/xtrace.h>

#include <limits.h>
#include <stdatomic.h>

enum {
	COLLECT_SLOTS = 4096, /* threads at the same time */
	COLLECT_BUFFER = 1 << 18,
	COLLECT_SLACK = 64 /* behind it: what is copied in steps may go beyond the end */
};

/* COLLECT_TAKEN: the thread's files are not there yet. */
enum collect_slot_state { COLLECT_FREE, COLLECT_TAKEN, COLLECT_USED };

/* A thread's file of tokens. Bytes [start, end) of it are in the buffer, always whole tokens. Without a name it is
 * complete. */
struct collect_slot {
	_Atomic uint32_t state;
	_Atomic uint64_t start, end;
	char data_name[TW_XTRACE_NAME_SIZE], snapshot_name[TW_XTRACE_NAME_SIZE];
	uint8_t buffer[COLLECT_BUFFER + COLLECT_SLACK];
};

struct collect_board {
	char directory[PATH_MAX];
	char timestamp[TW_XTRACE_TIMESTAMP_SIZE];
	uint64_t interval;                    /* instructions between snapshots */
	uint32_t from_hint;                   /* begin and end at HINT #9 */
	_Atomic uint32_t refused;             /* why the plugin did not begin: enum collect_refusal */
	_Atomic int32_t error;                /* errno of the first failed write: nothing is recorded after it */
	_Atomic uint32_t streams, unrecorded; /* threads; and those for which there was no slot */
	_Atomic uint32_t unlisted;            /* there was more code than the list of mappings has room for */
	_Atomic uint64_t order;               /* the next TIME: of all threads and processes */
	_Atomic uint32_t used;                /* slots, from the first */
	struct collect_slot slots[COLLECT_SLOTS];
};

enum collect_refusal { COLLECT_BEGAN = 1, COLLECT_NO_REGISTERS };

#endif
