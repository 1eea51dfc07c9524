/* chunks.h - the chunks of a log: handed out, of a ring used again, begun as buffers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_CHUNKS_H
#define FLIGHT_CHUNKS_H

#include "flight/log/log.h"

/* The disk that was had ends at least there: what is behind it, of a full disk, is not there. */
void flight_extend(struct flight_log *log, uint64_t end);

/* An empty chunk. NULL when there is no room: that is so for good, and is not tried again. */
uint8_t *flight_more(struct flight_log *log, uint64_t size);

/* A thread that comes to this log for the first time. */
void flight_begin_thread(struct flight_log *log, struct flight_thread *thread);

/* Begins a buffer in a chunk that is empty. */
void flight_begin_chunk(struct flight_log *log, struct flight_thread *thread, uint8_t *chunk, uint64_t size,
                        uint64_t now);

/* Writes a metadata record, with two values of the body: `first` bytes of a, then b. What is behind them is 0. Returns
 * the place behind it. */
uint8_t *flight_put(uint8_t *at, uint8_t kind, size_t first, uint64_t a, uint64_t b);
uint8_t *flight_put_cpu(struct flight_thread *thread, uint8_t *at, uint64_t now, uint32_t cpu);

#endif
