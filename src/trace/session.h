/* session.h - the recorder inside: a recording, its threads, their chunks.
 *
 * Everything that is called by traced code may be called by a signal handler at any place of the same: a thread counts
 * how deep it is inside (busy), and whoever may hold the lock of the recording has said so before (locking). Nothing
 * allocates by malloc(), for malloc() itself may be traced. Whoever has the file may change it at any time: nothing
 * that is read back from it says where to write. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACE_SESSION_H
#define TRACE_SESSION_H

#include "trace/control.h"
#include "trace/image.h"

#include <trackway/trace.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Names of categories that are recorded, one behind the other, each terminated. */
enum { TRACE_CATEGORIES = CONTROL_CATEGORIES + 2, TRACE_PATH = 4096 };

struct trace_options {
	uint32_t mode;
	uint64_t size; /* bytes of chunks of events; 0: no limit */
	int clock;     /* enum image_clock; -1: the cheapest sound one */
	bool control;
	char categories[TRACE_CATEGORIES]; /* empty: all */
};

/* Where a thread writes. */
struct trace_writer {
	uint8_t *at, *end; /* in the chunk; at == end: there is none */
	struct image_chunk *chunk;
	uint64_t owner;          /* what the chunk says while it is this writer's */
	uint64_t size;           /* of the last chunk */
	uint64_t taken;          /* chunks that the thread has had */
	_Atomic uint64_t events; /* events that the thread has written; written by the thread alone */
	bool fresh;              /* the chunk is new: its pages are to be made */
};

/* How deep a thread may be inside: a signal handler while another event is written. */
enum { TRACE_NESTED = IMAGE_NESTED };

/* A cache line: where a thread writes, reads of other threads are slow. */
enum { TRACE_LINE = 64 };

/* A thread. In pages that are zero after a fork, and in cache lines of its own: two, for they are fetched in pairs. */
struct trace_thread {
	_Atomic uint32_t state; /* the recording that it is in; 0: in none */
	_Atomic uint32_t busy;
	uint32_t number, waiting; /* waiting: events that are dropped before it asks for a chunk again */
	struct trace_writer writers[TRACE_NESTED];
	struct image_slot *slot; /* NULL: no room for one */
	struct trace_thread *next;
} __attribute__((aligned(2 * TRACE_LINE)));

enum { TRACE_PARTS = 64 };

/* The recording; the lock is around all that is not said to be otherwise. */
struct trace_session {
	/* Every event looks at these two. */
	_Atomic uint32_t state; /* tw_trace_state while the recording goes on; 0: there is none */
	int clock;              /* enum image_clock */
	_Atomic uint32_t lock __attribute__((aligned(TRACE_LINE)));
	uint32_t ending; /* the state until it was stopped, while its threads are waited for; 0: none */
	struct image_header *header;
	struct {                            /* bytes */
		uint64_t mapped, allocated; /* of addresses, of the file */
		uint64_t chunks, events;    /* bytes of chunks, and of those of events */
		uint64_t chunk_size;        /* of all of them, in circular mode */
		uint64_t left;              /* bytes of chunks that are in the file alone, in streaming mode */
	} space;
	struct { /* the file */
		int fd;
		dev_t device;
		ino_t inode;
		bool full;             /* nothing more is to be had from the disk */
		char path[TRACE_PATH]; /* that was asked for, for forked processes */
		char file[TRACE_PATH]; /* what it has become */
	} image;
	bool barrier;
	struct {                             /* circular mode */
		uint64_t sequence;           /* how often a chunk has been given away */
		struct image_chunk **chunks; /* those that are full, from the oldest on */
		uint64_t first, count, room;
	} ring;
	struct { /* what has numbers */
		uint32_t threads, strings, labels;
		struct trace_writer durable;
	} tables;
	struct trace_thread *all; /* that are in it */
	struct {
		struct image_slot *free[1024];
		unsigned free_count;
		uint8_t *at, *end;
	} slots;
	struct {                                        /* of threads that have ended */
		struct trace_writer parts[TRACE_PARTS]; /* chunks with room */
		unsigned part_count;
	} ended;
	struct trace_options options;
	struct {                             /* after a fork */
		_Atomic bool again;          /* it is to be started */
		bool rejoins;                /* the manager is asked, if there is one; otherwise a file is made */
		struct image_header *parent; /* the page of the parent's image, until there is a file */
	} fork;
	struct {
		_Atomic uint64_t dropped; /* events that no slot counts, without the lock */
		uint64_t gone;            /* events dropped by threads that have ended */
		uint64_t gone_written;    /* events that these have written */
		uint64_t last_dropped;    /* all that the last recording dropped */
	} losses;
	struct {
		struct image_pair pair; /* the last */
		uint64_t kept_ns;       /* when the last one was that stays in the file */
		uint64_t ticks_per_second;
	} times;
	bool managed; /* the file was given by a manager */
	struct {      /* set by who knows more; all without the lock */
		/* Deals with a fork that no handler was told of, and starts anew what a fork has ended. */
		void (*look_around)(void);
		void (*started)(void); /* a recording has begun */
		void (*forking)(void); /* before a fork */
		void (*forked)(void);  /* in a forked process, before anything else */
		int (*rejoin)(void);   /* the same, at its first event: asks the manager for a file; errno */
		void (*alerted)(const char *name);     /* of an alert */
		void (*on_site)(const char *category); /* a site has been met for the first time; with the lock */
	} hooks;
};

extern struct trace_session trace_session;

/* ---- options.c ---- */

/* Takes options in words. Returns NULL, or the first word that is none. */
const char *trace_options_parse(struct trace_options *options, const char *text);
bool trace_category_wanted(const struct trace_options *options, const char *category);

/* ---- clock.c ---- */

uint64_t trace_monotonic(void);

/* Chooses a clock; wanted: enum image_clock, or -1. */
void trace_clock_choose(int wanted);
struct image_pair trace_pair(void);

/* Measures ticks a second, in less than a millisecond. */
uint64_t trace_frequency(void);

static inline uint64_t trace_now(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(trace_session.clock == IMAGE_TSC, 1))
		return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;
	if (__builtin_expect(trace_session.clock == IMAGE_CNTVCT, 1)) {
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	return trace_monotonic();
}

/* ---- lock.c ---- */

/* Takes the lock. False where this thread holds it already, below: then nothing can be done. */
bool trace_lock(void);
void trace_unlock(void);

/* Tells ThreadSanitizer, where it is in the program, what an atomic orders. */
bool trace_under_tsan(void);
void trace_order_before(void *address);
void trace_order_after(void *address);

/* As memcpy(), of what goes into a chunk: no function of the C library, each of which ThreadSanitizer looks at, though
 * it does not see how a chunk goes from thread to thread. */
static inline void trace_copy(void *to, const void *from, size_t size)
{
	struct word {
		uint64_t bits;
	} __attribute__((packed, may_alias));
	uint8_t *target = to;
	const uint8_t *source = from;
	size_t at = 0;
	for (; size - at >= sizeof(struct word); at += sizeof(struct word)) {
		*(struct word *)(void *)(target + at) = *(const struct word *)(const void *)(source + at);
		__asm__ volatile(""); /* or a compiler makes a call of it */
	}
	for (; at < size; at++) {
		target[at] = source[at];
		__asm__ volatile("");
	}
}

/* Memory of its own, zero; NULL where there is none. */
void *trace_map(size_t size);

/* In a process that was forked: nobody holds it. */
void trace_lock_forked(void);

/* Whoever has to ask what is going on begins with this. */
static inline void trace_look_around(void)
{
	if (trace_session.hooks.look_around)
		trace_session.hooks.look_around();
}

/* A barrier in all threads of the process; false where the system has none. */
bool trace_barrier(void);

/* ---- session.c ---- */

/* As tw_trace_start() into a file that is there, whose descriptor is closed in the end, also on failure. */
int trace_start_on(int fd, const char *options);

/* Whoever has started the recording is gone: it ends, and tells so. */
void trace_abandon(void);

/* Compares the clocks. Returns whether that is of use: a recording goes on whose clock is another. */
bool trace_compare_clocks(void);

/* How the recording stands. */
struct trace_status {
	uint32_t mode;
	bool on;
	uint64_t used, dropped, written; /* bytes; events */
	uint64_t cut, unkept;            /* events whose arguments did not fit; scopes too deep */
	int fd;                          /* a copy of the file's, to be closed; -1: none */
	char file[TRACE_PATH];
};
void trace_look(struct trace_status *status, bool wants_file);

/* Before main(), and where the library is left. */
void trace_load(void);

/* ---- chunk.c ---- */

/* Gives a chunk of `size` bytes that is nobody's, behind the last; NULL where there is no room. Locked. */
struct image_chunk *trace_chunk_new(uint64_t size);

/* Whether the recording's descriptor is still that of its file: the program may close what it has not opened, and open
 * something else. It is asked before each use. */
bool trace_file_is_ours(void);

/* Whether a file may become so large: to go beyond the limit is a signal. */
bool trace_may_grow(uint64_t end);

/* Counts that a chunk is given away. Returns the number, which the chunk's owner has, too. Locked. */
uint64_t trace_next_given(void);

/* Makes a writer's room at least `need` bytes. Returns false where it cannot. Locked. */
bool trace_chunk_take(struct trace_thread *thread, struct trace_writer *writer, uint64_t need);

/* Makes the pages of a fresh chunk at once, by its thread, before anything else is written there. Without the lock. */
void trace_make_pages(struct trace_writer *writer);

/* A thread gives its chunk back. Locked. */
void trace_chunk_leave(struct trace_writer *writer);

/* Bytes that a record may have at most. */
uint64_t trace_record_most(void);

/* What a program names something by may be NULL, which is empty. */
static inline const char *trace_text(const char *text)
{
	return text ? text : "";
}

/* ---- durable.c: all locked. Numbers begin with 1; 0: there is no room for more. ---- */

uint32_t trace_string(const char *text);
uint32_t trace_label(const char *category, const char *name);
void trace_put_thread(uint32_t number, uint64_t process, uint64_t thread, const char *name);
void trace_put_thread_name(uint32_t number, const char *name);

/* A track of the program's own, in the recording. */
uint32_t trace_put_track(const char *name);

/* False: there is no room. */
bool trace_put_drops(uint32_t number, uint64_t count);

/* Room for a durable record of `words`; then it is put. NULL: none. */
uint64_t *trace_durable_room(uint64_t words);
void trace_durable_put(uint64_t words);
void trace_durable_forget(void);

/* ---- tracks.c ---- */

/* Tracks of the program's own: a new one, and the one that the program knows by a number. The number that is returned
 * holds for all recordings; 0: there is no room. Locked. */
uint32_t trace_track(const char *name);
uint32_t trace_virtual_thread(const char *name, uint64_t id);

/* The number of a track in the recording `state`, in which the calling thread is; 0: there is no such track, or it
 * could not be put. Locks. */
uint32_t trace_track_number(uint32_t track, uint32_t state);

/* The name that the calling thread has given itself: kept (false without memory), forgotten, told (NULL: none).
 * Locked. */
bool trace_keep_name(const char *name);
void trace_forget_name(void);
const char *trace_kept_name(void);

/* ---- stay.c ---- */

/* Whatever the library is linked into stays in the process, also where it is unloaded: its threads run in it. */
void trace_stay(void);

/* ---- thread.c ---- */

/* Names the calling thread, in this recording and in all to come. */
void trace_name_thread(const char *name);

/* Begins to write: the calling thread, and in *writer where. NULL: nothing can be written, and that has been counted.
 * Then trace_leave(). */
struct trace_thread *trace_enter(struct trace_writer **writer);

static inline void trace_leave(struct trace_thread *thread)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->busy, atomic_load_explicit(&thread->busy, memory_order_relaxed) - 1,
	                      memory_order_release);
}

/* Room for `bytes` at writer->at; false: there is none, and that has been counted. */
bool trace_room_slow(struct trace_thread *thread, struct trace_writer *writer, uint64_t bytes);

static inline bool trace_room(struct trace_thread *thread, struct trace_writer *writer, uint64_t bytes)
{
	if (__builtin_expect((uint64_t)(writer->end - writer->at) < bytes ||
	                         atomic_load_explicit(&writer->chunk->owner, memory_order_relaxed) != writer->owner,
	                     0))
		return trace_room_slow(thread, writer, bytes);
	return true;
}

/* The record at writer->at is complete. */
static inline void trace_commit(struct trace_writer *writer, uint64_t bytes)
{
	writer->at += bytes;
	uint64_t committed = (uint64_t)(writer->at - (uint8_t *)writer->chunk) - IMAGE_CHUNK_HEAD;
	atomic_store_explicit(&writer->chunk->committed, committed, memory_order_release);
}

/* The same, of an event. */
static inline void trace_commit_event(struct trace_writer *writer, uint64_t bytes)
{
	trace_commit(writer, bytes);
	uint64_t events = atomic_load_explicit(&writer->events, memory_order_relaxed);
	atomic_store_explicit(&writer->events, events + 1, memory_order_relaxed);
}

/* Counts an event that could not be written; thread may be NULL. */
void trace_drop(struct trace_thread *thread);

/* All threads forget what they have, when a recording has ended or a process was forked. */
void trace_threads_forget(void);
bool trace_threads_idle(void);
void trace_threads_forked(void);

#endif
