/* log.h - the file of a flight recorder: an XRay FDR log of version 5 that can be read at any moment.
 *
 * The file is mapped, shared with nobody but readers. It is made of chunks, each of one thread, each a buffer of the
 * log behind a few bytes that readers skip: a chunk begins at a multiple of 4 KiB with its size, then zeros, then a
 * BufferExtents record whose count says how much of the chunk is written. The count is stored, with release, after the
 * bytes of a record: so whoever reads the file, while it grows or after any death, sees whole records alone. The first
 * chunk begins behind the header of the file.
 *
 *     at  0  the size of the chunk, u32
 *     at  4  the time of its last record, u64, as soon as its thread has another chunk; zeros
 *     at 15  BufferExtents: 0x0f, then the count, u64, which is aligned so
 *     at 31  NewBuffer, WallTime, Pid, NewCPUId: 16 bytes each
 *     at 95  records
 *
 * Everything that a record needs runs with general registers alone, without libc, locks and memory of the heap: a hook
 * may be called with the arguments of a function in vector registers, and in signal handlers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_LOG_H
#define FLIGHT_LOG_H

#include "flight/log/file.h"
#include "flight/log/pairs.h"
#include "flight/record/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FLIGHT_FILE_HEADER = 32,
	FLIGHT_PAGE = 4096,
	FLIGHT_LEFT_AT = 4,
	FLIGHT_EXTENTS_AT = 15,
	FLIGHT_METADATA = 16, /* bytes of a metadata record */
	FLIGHT_FUNCTION = 8,  /* bytes of a function record */
	FLIGHT_BEGUN = 95,    /* where the records of a chunk begin */
	FLIGHT_SMALLEST = 1 << 12,
	FLIGHT_LARGEST = 1 << 20, /* of chunks */
	FLIGHT_RING_CHUNKS = 8,
	FLIGHT_UNSHARED = 128, /* bytes that processors take from each other at once: two cache lines */
};

/* What the first custom event of a log tells, behind its name: values of the machine's byte order, aligned. It changes
 * while the log grows. Source: doc/formats/xray-fdr.md, "Logs of the flight recorder". */
struct flight_state {
	uint32_t version; /* FLIGHT_VERSION */
	uint32_t pid;
	uint64_t state;         /* enum flight_states */
	uint64_t lost;          /* records that had no room */
	uint64_t lost_since_ns; /* CLOCK_MONOTONIC of the first of them; 0: none */
	struct flight_clock first, last;
};

/* What the third event of a log tells behind its name, aligned: why something is not in it. */
struct flight_losses {
	uint64_t in_handlers; /* of `lost`, records of handlers that interrupt handlers that interrupt handlers */
	uint64_t children;    /* forked, and without a log */
	uint64_t error;       /* errno of the last of these */
};

enum { FLIGHT_VERSION = 1 };
enum flight_states { FLIGHT_RECORDING = 1, FLIGHT_ENDED };

struct flight_options {
	char path[4096];
	uint64_t max_size; /* bytes of the file */
	uint64_t ring;     /* bytes that each thread keeps, the newest; 0: all */
	uint64_t shortest; /* ns: calls that take less are left out; 0: none are */
	uint32_t deepest;  /* calls in so many others are left out; 0: none are */
	bool delayed;      /* nothing is recorded before flight_log_pause(false) */
	bool count;        /* how often each function is called, and no records */
	enum flight_clock_choice {
		FLIGHT_SOUND,     /* the processor's counter where it is sound, else the kernel's clock */
		FLIGHT_MONOTONIC, /* the kernel's clock */
		FLIGHT_TICKS      /* the processor's counter */
	} clock;
};

/* What the custom event "trackway.counts" has, aligned: a table, by a hash of the function's number. It changes while
 * the log is there. */
struct flight_count {
	uint64_t calls;
	uint32_t id; /* 0: the place is free */
	uint32_t reserved;
};
enum { FLIGHT_COUNT_BITS = 17, FLIGHT_COUNTS = 1 << FLIGHT_COUNT_BITS };

/* The log of this process. Its pages are zeros in a forked child, which then records nothing until it has a log of its
 * own: so no child writes into the log of its parent, whatever system call made it. */
struct flight_log {
	uint64_t generation; /* 0: nothing is recorded; another for each log of the process and its parents */
	uint64_t is_known;   /* 0: this is a child, and nobody has told of it; stubs.S looks, too */
	uint64_t paused;     /* what it is otherwise, while the recording pauses; 0: it does not */
	uint8_t *base;
	uint64_t room; /* bytes that are mapped */
	struct flight_state *state;
	struct flight_losses *losses;
	uint64_t ring_chunk; /* 0: no ring */
	uint64_t shortest;   /* in units of the clock: calls that take less are left out */
	uint32_t deepest;
	uint32_t pid;
	struct flight_count *counts; /* FLIGHT_COUNTS of them; NULL: calls are recorded, and not counted */
	bool full, ticks;            /* ticks: times are the processor's counter, else nanoseconds */
	/* Each chunk changes it: not in the cache lines of all that each record reads. */
	_Alignas(FLIGHT_UNSHARED) uint64_t used; /* bytes that are handed out */
	uint64_t ends;                           /* bytes of the file that have disk */
	struct flight_file file;
	struct flight_pairs pairs;
};
extern struct flight_log *flight_log;

/* A thread's place in the log. */
struct flight_thread {
	uint64_t generation; /* of the log that the rest is about */
	uint8_t *at, *end;   /* the next record; the end of the chunk */
	uint64_t *extents;
	uint64_t begun; /* the time when the chunk was */
	uint64_t last;  /* the time of the last record */
	uint8_t *floor; /* behind it are entries alone, which their exits may take away again */
	uint32_t cpu, tid;
	uint32_t next_chunk; /* bytes */
	uint32_t ring_count, ring_next;
	uint8_t *ring[FLIGHT_RING_CHUNKS];
	struct flight_call *calls; /* that are open */
	uint32_t open, most;       /* most: for how many there is memory */
};

struct flight_event {
	const void *payload;
	uint64_t size;
	bool typed;
	uint16_t type;
};
enum { FLIGHT_PAYLOAD_MOST = FLIGHT_LARGEST - FLIGHT_PAGE };

/* Makes the file and switches recording on, or lets it pause as flight_log_pause() was told. Returns 0 or an errno.
 * Uses libc: not from a hook. */
int flight_log_open(const struct flight_options *options);

/* In a forked child: closes the log of its parent. Before the child opens one. */
void flight_log_leave(void);

/* Pauses, or goes on: also a log that a forked child makes later. From any place. */
void flight_log_pause(bool pause);

/* Whether there is a log, also of a recording that pauses. */
bool flight_has_log(void);

/* The program ends in order, which the log tells. What threads still do is recorded until they are no more. */
void flight_log_end(void);

/* Ends it, and records no more; what threads are at may still come. Another can be opened then. Returns 0, or ENODATA
 * where there is none. */
int flight_log_close(void);

/* The time as the log has it. */
uint64_t flight_now(void);

/* Ticks a second, as they are known by now. */
uint64_t flight_frequency(const struct flight_log *log);

/* Notes a pair of clocks. The header's frequency is what the first and the last pair say. */
void flight_note_clock(struct flight_log *log);

/* Which processor this is, as far as it can be told without a system call; else 0. */
uint32_t flight_cpu(void);

/* Begins a thread's place in the log of this process, where it is about another one. False: there is no log. */
bool flight_join(struct flight_thread *thread);

/* Makes room for a record of `size` bytes at thread->at, and sets thread->last so that the record's delta fits. False:
 * there is none, which is counted. */
bool flight_prepare(struct flight_thread *thread, uint64_t now, uint32_t cpu, uint64_t size);

/* Shows what is written to readers. */
static inline void flight_commit(struct flight_thread *thread, uint8_t *end)
{
	thread->at = end;
	__atomic_store_n(thread->extents, (uint64_t)(end - (uint8_t *)(thread->extents + 1)) - 7, __ATOMIC_RELEASE);
}

/* Appends the record of a function: `word` is its first half. */
void flight_function(uint32_t word, struct flight_frame frame);

/* Appends an enter record with the first argument behind it. */
void flight_function_argument(uint32_t word, struct flight_frame frame, uint64_t argument);

/* Appends the exit of the call that has this frame; nothing, where its entry is not known. */
void flight_return(struct flight_frame frame);

/* Appends a custom or typed event, as the program has it. One without a payload, or with more than
 * FLIGHT_PAYLOAD_MOST bytes or than a chunk of a ring has room for, is lost, which is counted. */
void flight_event(const struct flight_event *event);

/* Counts a call; one that has no place in the table, as lost. From any place. */
void flight_count(struct flight_log *log, uint32_t id);

/* Counts a record that could not be written. */
void flight_lose(void);

/* The same, because handlers are nested too deep. */
void flight_lose_in_handler(void);

/* In a forked child that could not make a log: its parent's tells so. error: the errno; 0: it was not forked by fork(),
 * and no handler of pthread_atfork() has run. */
void flight_lose_child(int error);

/* Whether nothing is recorded: before anything else is done. */
static inline bool flight_is_off(void)
{
	if (__builtin_expect(flight_log->generation != 0, 1))
		return false;
	if (!flight_log->is_known)
		flight_lose_child(0);
	return true;
}

/* Appends a custom event to the part of the log that no ring overwrites: two texts, one behind the other. False:
 * there is no room, or another thread, or what a signal interrupted, is at it for too long. */
bool flight_note(const char *kind, size_t kind_size, const char *text, size_t size);

#endif
