/* tokens.h - a thread's registers, and tokens of its values and of the order of accesses. Inline, as most of what is
 * written comes from here. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_TOKENS_H
#define COLLECT_TOKENS_H

#include "collect/guest_thread.h"

#include <stdatomic.h>

enum { ZERO_REGISTER = 31 };

/* Of all threads: set before any runs. */
extern struct collect_board *tokens_board;

extern _Atomic bool tokens_several;

/* Whether several threads run: then memory may change between an access and our look at it, and registers tell what it
 * was. Set before the first is made: QEMU forgets its translations then, and what it translates anew asks for more
 * calls. */
static inline bool tokens_has_several(void)
{
	return atomic_load_explicit(&tokens_several, memory_order_relaxed);
}

/* This program was executed in the place of another that was recorded. Set before any thread runs. */
extern bool tokens_follows;

/* ---- Registers. ---- */

/* As an operand: register 31 is zero. */
static inline uint64_t tokens_operand(const struct guest_thread *thread, unsigned number)
{
	if (number == ZERO_REGISTER)
		return 0;
	return thread->is_interrupted ? thread->where.x[number] : machine_register(&thread->machine, number);
}

/* As a base: register 31 is SP. The top byte is a tag that no access has. */
static inline uint64_t tokens_base(const struct guest_thread *thread, unsigned number)
{
	uint64_t address =
	    thread->is_interrupted ? thread->where.x[number] : machine_register(&thread->machine, number);
	return tw_bits(address, 0, 55);
}

/* ---- Values, and the order of accesses. ---- */

static inline void tokens_value(struct guest_thread *thread, uint8_t kind, uint64_t value)
{
	static const uint8_t bytes[] = {
#define X(name, token, payload, text) [name] = (token),
	    TW_XTRACE_TOKEN_LIST(X)
#undef X
	};
	uint8_t *to = stream_room(&thread->stream, tokens_board, 9);
	if (to)
		stream_add(&thread->stream, stream_value(to, bytes[kind], value));
}

/* A load or store of 1, 2, 4, ... bytes. */
static inline void tokens_access(struct guest_thread *thread, bool is_load, uint64_t address, const uint8_t *bytes,
                                 size_t size)
{
	const struct tw_xtrace_token token = {.kind = is_load ? TW_XTRACE_LOAD : TW_XTRACE_STORE,
	                                      .value = address,
	                                      .payload = bytes,
	                                      .payload_size = (uint32_t)size};
	stream_token(&thread->stream, tokens_board, &token);
}

/* Of bytes that lie one behind the other, by powers of two of which `most` is the largest. */
static inline void tokens_accesses(struct guest_thread *thread, bool is_load, uint64_t address, const uint8_t *bytes,
                                   size_t total, size_t most)
{
	size_t at = 0;
	for (size_t size = most; size && at < total; size /= 2)
		for (; total - at >= size; at += size)
			tokens_access(thread, is_load, address + at, bytes + at, size);
}

/* One thread alone has the order of its file. */
static inline bool tokens_are_ordered(const struct guest_thread *thread)
{
	return tokens_has_several() || thread->owes_order;
}

/* The access that was written was made: it comes after all that have a smaller number. */
static inline uint64_t tokens_take_order(struct guest_thread *thread)
{
	stream_order(&thread->stream, tokens_board);
	thread->owes_order = false;
	return atomic_fetch_add(&tokens_board->order, 1);
}

static inline void tokens_order(struct guest_thread *thread)
{
	if (tokens_are_ordered(thread))
		tokens_value(thread, TW_XTRACE_TIME, tokens_take_order(thread));
}

#endif
