/* image.h - the layout of the shared pages that a traced program writes: a page of header, then chunks.
 *
 * doc/recording.md tells it in whole. All numbers are little endian; every offset is one of 8 bytes. Who reads an image
 * trusts none of it. Who writes it: a chunk's records up to `committed` are complete, whenever the program dies. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_IMAGE_H
#define TRACE_IMAGE_H

#include <stdatomic.h>
#include <stdint.h>

#define IMAGE_MAGIC UINT64_C(0x0a4547414d495754)       /* "TWIMAGE\n" */
#define IMAGE_CHUNK_MAGIC UINT64_C(0x0a4b4e5548435754) /* "TWCHUNK\n" */

enum {
	IMAGE_VERSION = 1,
	IMAGE_PAGE = 4096, /* of the header; chunks are multiples of it */
	IMAGE_CHUNK_HEAD = 64,
	IMAGE_CHUNK_LEAST = 4096,
	IMAGE_CHUNK_MOST = 1 << 16,
	IMAGE_NAME = 64,  /* bytes of a process's name, terminated */
	IMAGE_DEPTH = 32, /* open scopes that are kept of a thread */
	IMAGE_NESTED = 2, /* writers of a thread: the other one is of a signal handler in the middle of an event */
	IMAGE_WORD = 8,
	IMAGE_WRITER_BIT = 56, /* of word 1 of an owner: which writer */
	IMAGE_STATE_BIT = 16   /* of the number of a switch: the state of the thread that leaves */
};

/* How far a recording is. */
enum image_state { IMAGE_NEW, IMAGE_RECORDING, IMAGE_COMPLETE };

enum image_clock { IMAGE_MONOTONIC, IMAGE_TSC, IMAGE_CNTVCT };

/* Ticks, and CLOCK_MONOTONIC in nanoseconds, of one moment. */
struct image_pair {
	uint64_t ticks, ns;
};

struct image_header {
	uint64_t magic;
	uint32_t version;
	uint32_t mode; /* enum tw_trace_mode */
	uint64_t process;
	uint64_t room;                        /* bytes of chunks of events, at most; 0: no limit */
	uint32_t clock;                       /* enum image_clock */
	uint32_t reserved;                    /* 0 */
	struct image_pair start;              /* when recording began */
	uint64_t wall_ns;                     /* the same since 1970 */
	uint64_t ticks_per_second;            /* measured shortly; pairs tell better */
	char name[IMAGE_NAME];                /* of the process */
	uint64_t reserved_words[4];           /* 0 */
	struct {                              /* what changes: each is stored when what it tells is complete */
		_Atomic uint64_t state;       /* enum image_state */
		_Atomic uint64_t chunks;      /* bytes of chunks behind the header */
		_Atomic uint64_t dropped;     /* events that no thread's slot counts */
		_Atomic uint64_t cut;         /* arguments that did not fit */
		_Atomic uint64_t overwritten; /* bytes of records that were overwritten by newer ones */
		_Atomic uint64_t unkept;      /* open scopes that were deeper than IMAGE_DEPTH */
		_Atomic uint64_t pair_number; /* of the last pair: odd while it is written */
		_Atomic uint64_t pair_ticks, pair_ns;
		_Atomic uint64_t given;           /* how often a chunk has been given away */
		_Atomic uint64_t unrecorded;      /* forked processes that found no file */
		_Atomic uint64_t last_unrecorded; /* the process << 32 | errno of the last of them */
		_Atomic uint64_t abandoned;       /* 1: whoever had started the recording was gone, and so it ended */
	} now;
};

/* Whose a chunk is: a thread's number, or one of these. 0: nobody's. */
#define IMAGE_DURABLE UINT32_C(0xffffffff) /* strings, labels, threads, objects: never overwritten */
#define IMAGE_SLOTS UINT32_C(0xfffffffe)   /* struct image_slot, one behind the other */

struct image_chunk {
	uint64_t magic;
	uint64_t size;              /* with this header: a multiple of IMAGE_PAGE */
	_Atomic uint64_t owner;     /* sequence number << 32 | owner: each owner comes with a new sequence number */
	_Atomic uint64_t committed; /* bytes of records behind this header */
	struct image_pair pair;     /* of the moment when it was taken */
	uint64_t reserved[2];
};

/* A scope that is open. */
struct image_scope {
	uint64_t begin; /* ticks */
	uint32_t label, reserved;
};

/* What a thread that lives tells; used again when it has ended. */
struct image_slot {
	_Atomic uint32_t thread; /* its number; 0: nobody's */
	_Atomic uint32_t depth;  /* of the open scopes: those beyond IMAGE_DEPTH are not kept */
	_Atomic uint64_t dropped;
	struct image_scope scopes[IMAGE_DEPTH];
};

/* ---- Records: words. The first: bits 0-7 the kind, 8-23 the size in words, 24-27 the number of arguments, 32-63 a
 * label, a string, a thread. ---- */

enum image_kind {
	/* 0 to 10: events, enum tw_trace_kind, of a label: word 1 the time; then the end of a complete one, the id of
	   those that have one, the scope of an instant; then arguments. */
	IMAGE_EVENTS = 11,
	/* What follows is of this thread. Where a writer of it begins in a chunk: word 1 bits 0-55 how many chunks that
	   writer has had with this one, 56-63 which of the thread's writers; word 2 `given`. */
	IMAGE_OWNER = 16,
	IMAGE_LOG,  /* word 1 the time, word 2 the length, the text */
	IMAGE_BLOB, /* of a string: word 1 the size, the bytes */
	/* The manager's, of the kernel's threads, 32 bits each. Bits 0-15 of the number are the CPU. */
	IMAGE_SWITCH, /* bits 16-19 of the number: enum tw_sched_state; word 1 the time, word 2 who leaves, who comes */
	IMAGE_WAKEUP, /* word 1 the time, word 2 who is woken, who wakes (0: not known) */
	/* In durable chunks; each stands before all that names it. */
	IMAGE_STRING = 32, /* its number; word 1 the length, the bytes */
	IMAGE_LABEL,       /* its number; word 1 bits 0-31 the category's string, 32-63 the name's */
	IMAGE_THREAD, /* its number; word 1 the process, word 2 the thread, as the system numbers them, or bit 63 set */
	IMAGE_THREAD_NAME, /* of a thread: word 1 a string */
	IMAGE_OBJECT,      /* of a string: word 1 the pointer; arguments */
	IMAGE_DROPS,       /* of a thread that has ended: word 1 how many */
	IMAGE_PAIR         /* word 1 ticks, word 2 ns: struct image_pair */
};

/* An argument begins with a word: bits 0-3 enum tw_trace_type, 4-19 its size in words, 32-63 the string of its name.
 * Then the value: nothing, a number, or a length and the bytes. */

static inline uint64_t image_word(unsigned kind, uint64_t words, uint64_t arguments, uint64_t number)
{
	return kind | words << 8 | arguments << 24 | number << 32;
}

static inline uint64_t image_words(uint64_t bytes)
{
	return (bytes + IMAGE_WORD - 1) / IMAGE_WORD;
}

_Static_assert(sizeof(struct image_header) <= IMAGE_PAGE, "the header is a page");
_Static_assert(sizeof(struct image_chunk) == IMAGE_CHUNK_HEAD, "the header of a chunk");
_Static_assert(sizeof(struct image_slot) == 528, "a slot");

#endif
