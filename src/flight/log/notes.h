/* notes.h - what the recorder itself tells in a log: custom events in chunks that no ring overwrites. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_NOTES_H
#define FLIGHT_NOTES_H

#include "flight/log/log.h"

/* Where notes are written. */
extern struct flight_thread flight_notes;

/* Nobody is at it, whoever was in the process that this one was forked from. */
void flight_free_notes(void);

/* Begins a buffer of no thread in a chunk that is empty. */
void flight_begin_notes(struct flight_log *log, struct flight_thread *writer, uint8_t *chunk, uint64_t size);

/* Writes a custom event with room for `size` bytes, zeros, behind the text. Returns their place; flight_commit() up to
 * their end shows them. */
void *flight_begin_table(const struct flight_thread *writer, const char *kind, size_t kind_size, size_t size);

/* The generation of the log, also while the recording pauses. */
static inline uint64_t flight_own_generation(const struct flight_log *log)
{
	return log->generation ? log->generation : log->paused;
}

#endif
