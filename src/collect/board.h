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
	COLLECT_SLACK = 64, /* behind it: what is copied in steps may go beyond the end */
	COLLECT_WINDOWS = 1 << 16,
	COLLECT_EXECS = 16, /* that are told */
	COLLECT_EXEC_PATH = 256
};

/* COLLECT_TAKEN: the thread's files are not there yet. */
enum collect_slot_state { COLLECT_FREE, COLLECT_TAKEN, COLLECT_USED };

/* A thread's file of tokens. Bytes [start, end) of it are in the buffer, always whole tokens. Without a name it is
 * complete. */
struct collect_slot {
	_Atomic uint32_t state;
	_Atomic uint64_t start, end;
	_Atomic uint64_t stored; /* where it is compressed: bytes of the file up to `start` */
	uint32_t snapshot_size;  /* 0: there is none yet */
	char data_name[TW_XTRACE_NAME_SIZE + 4], snapshot_name[TW_XTRACE_NAME_SIZE]; /* room for ".zst" */
	uint8_t buffer[COLLECT_BUFFER + COLLECT_SLACK];
};

/* A part of each thread that is recorded, or of one of them, in instructions of the thread. */
struct collect_window {
	uint64_t from, length;
	double weight;
	uint32_t thread; /* from 0, in the order in which they begin; UINT32_MAX: each */
	uint32_t phase;  /* UINT32_MAX: it and the weight are not known */
	_Atomic uint32_t begun;
};

/* By tool before the program runs; in the order of `from`. */
struct collect_windows {
	uint64_t warm_up;         /* instructions recorded before each */
	uint64_t every;           /* not 0: there is one window, and it comes again after so many instructions */
	uint32_t count;           /* 0: all is recorded */
	_Atomic uint32_t threads; /* that have begun */
	struct collect_window items[COLLECT_WINDOWS];
};

/* COLLECT_EXEC_BEGUN: and it has not returned. */
enum collect_exec_state { COLLECT_EXEC_NONE, COLLECT_EXEC_BEGUN };

/* A program that was to be executed in the place of a process, and could not be followed. */
struct collect_exec {
	_Atomic uint32_t state;
	char path[COLLECT_EXEC_PATH];
};

struct collect_board {
	char directory[PATH_MAX];
	char timestamp[TW_XTRACE_TIMESTAMP_SIZE];
	int32_t file;        /* the tool's descriptor of this board */
	int32_t tool;        /* its process, */
	uint64_t tool_start; /* and when that began, as alive.h has it */
	struct {
		uint64_t interval;   /* instructions between snapshots, or of a vector */
		uint32_t from_hint;  /* begin and end at HINT #9 */
		uint32_t compress;   /* the files of tokens are of frames of zstd */
		uint32_t vectors;    /* nothing but basic block vectors is wanted */
		uint32_t of_machine; /* QEMU runs a whole machine */
		uint32_t scalable;   /* the processor has SVE */
	} options;
	_Atomic uint32_t resized;             /* vectors have another length than at a thread's first snapshot */
	_Atomic uint32_t matrix;              /* instructions of SME were met */
	_Atomic uint32_t refused;             /* why the plugin did not begin: enum collect_refusal */
	_Atomic int32_t error;                /* errno of the first failed write: nothing is recorded after it */
	_Atomic uint32_t streams, unrecorded; /* threads; and those for which there was no slot */
	_Atomic uint32_t programs;            /* that have begun: each process's, and what it executes in its place */
	_Atomic uint32_t unlisted;            /* there was more code than the list of mappings has room for */
	_Atomic uint64_t order;               /* the next TIME: of all threads and processes */
	_Atomic uint32_t used;                /* slots, from the first */
	struct collect_exec execs[COLLECT_EXECS];
	struct collect_windows windows;
	struct collect_slot slots[COLLECT_SLOTS];
};

enum collect_refusal { COLLECT_BEGAN = 1, COLLECT_NO_REGISTERS };

#endif
