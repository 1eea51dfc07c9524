/* sched.h - which thread of the programs runs when, as the kernel tells it: records of perf_event_open(2), written as
 * one more image.
 *
 * Where the kernel lets it, its sched tracepoints tell every switch with both threads, and who wakes whom. Otherwise
 * each thread of the programs tells its own switches: whether it was preempted or blocked, and not who ran instead. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MANAGE_SCHED_H
#define MANAGE_SCHED_H

#include "base/memory/map.h"
#include "trace/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- sched_image.c: an image of the manager's own. ---- */

struct sched_chunk {
	uint64_t offset; /* of it, in the file; 0: there is none yet */
	uint32_t owner;
	size_t used, written; /* bytes */
	uint8_t bytes[IMAGE_CHUNK_MOST];
};

struct sched_image {
	int fd;
	bool failed; /* the disk is full: nothing more is written */
	uint32_t strings;
	struct image_header header;
	struct sched_chunk events, durable;
};

void sched_image_begin(struct sched_image *image, int fd);
void sched_image_switch(struct sched_image *image, uint64_t time, unsigned cpu, unsigned state,
                        const uint32_t threads[2]);
void sched_image_wakeup(struct sched_image *image, uint64_t time, unsigned cpu, uint32_t thread, uint32_t waker);

/* number: from 1 on, once more where something of the thread has become known. */
void sched_image_thread(struct sched_image *image, uint32_t number, uint32_t process, uint32_t thread,
                        const char *name);

/* What has been put is in the file. complete: it was the last. */
void sched_image_flush(struct sched_image *image, bool complete);

/* ---- sched_records.c: what the kernel's records tell. ---- */

enum { SCHED_NAME = 16, SCHED_FORMAT = 8192 };

/* Where a field of a tracepoint stands. */
struct sched_field {
	uint32_t offset, size; /* size 0: there is no such field */
};

struct sched_tracepoint {
	uint32_t id; /* 0: there is none */
	struct sched_field name, thread, state, next_name, next_thread, cpu;
};

struct sched_thread {
	uint32_t thread, process; /* process 0: not known */
	bool traced;
	bool written;    /* stands in the image, as it is */
	uint32_t number; /* in the image; 0: it was never written */
	char name[SCHED_NAME + 1];
};

struct sched_threads {
	struct sched_tracepoint a_switch, waking, waking_new;
	struct sched_image image;
	struct sched_thread *items;
	size_t count, room;
	struct tw_map numbers; /* of threads to items */
	uint64_t lost;         /* records */
	bool own;              /* switches are told by the threads themselves, not by tracepoints */
	uint32_t named;        /* numbers of the image that threads have */
};

/* A thread whose number nobody has: what ran instead of a traced one, where that is not told. */
#define SCHED_OTHERS UINT32_C(0xffffffff)

/* Reads the fields of a tracepoint from its file `format`, which is text. False where one is missing. */
bool sched_format_switch(struct sched_tracepoint *tracepoint, const char *text);
bool sched_format_waking(struct sched_tracepoint *tracepoint, const char *text);

/* Takes one record of `size` bytes with its header: first those of threads that begin and end, then switches. */
void sched_take_task(struct sched_threads *threads, const uint8_t *record, size_t size);
void sched_take_switch(struct sched_threads *threads, const uint8_t *record, size_t size);

/* From now on a thread is a traced one. */
void sched_trace_thread(struct sched_threads *threads, uint32_t process, uint32_t thread);
void sched_threads_free(struct sched_threads *threads);

/* ---- sched.c ---- */

enum { SCHED_REFUSAL = 256 };
struct sched;

/* Begins. path: of the file of its image; "": in memory. Returns NULL where there is nothing to be had. refusal: a line
 * for the user on what the kernel refuses, and which setting lets it; "" where that is nothing. */
struct sched *sched_open(const char *path, char refusal[static SCHED_REFUSAL]);

/* The threads of a process are traced ones, and all that they start. */
void sched_follow(struct sched *sched, pid_t process);

/* What can be waited for: it is readable when there is much to be taken. */
int sched_waits(const struct sched *sched);
void sched_drain(struct sched *sched);

/* Takes the last, and returns the descriptor of the image, which is the caller's. lost: records that the kernel had no
 * room for. */
int sched_close(struct sched *sched, uint64_t *lost);

#endif
