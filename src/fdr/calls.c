/* calls.c - puts function records straight onto the stacks of a profile, without events in between. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/calls.h"
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/loops.h"
#include "fdr/layout.h"
#include "fdr/state.h"

#include <assert.h>

/* ---- The fast path: entries and exits that match, in little-endian logs. It stops at the first other record. `make
 * bench` measures it (stat). The processor cannot predict whether a record is an entry or an exit, and a mispredicted
 * jump costs as much as all the work for a record: so no jump depends on it. What only one of them needs is done for
 * both, and left unused or overwritten. ---- */

enum {
	KIND_BITS = 0xf, /* the first bits of a function record: its kind, times two */
	EXIT_BITS = TW_FDR_EXIT << 1,
	TAIL_BITS = TW_FDR_TAIL_EXIT << 1,
	ARGS_BITS = TW_FDR_ENTER_ARGS << 1,
	STEP = sizeof(struct tw_frame)
};

static_assert(sizeof(struct tw_frame) == sizeof(struct tw_left_call), "one step for both");

/* By the bits of a plain record that tell an exit from an entry. */
struct moves {
	uintptr_t near[EXIT_BITS + 1]; /* the table of functions, less these bits: the others are a place in it */
	ptrdiff_t down[EXIT_BITS + 1]; /* bytes from the frame above the top to the record's own */
	uint64_t kept[EXIT_BITS + 1]; /* mask: the new top's time in calls inside it is known; it is 0 in a new frame */
	uint64_t more[EXIT_BITS + 1]; /* added to the function's calls on the stack: 1 or -1, for union tw_on_stack */
};

static_assert(sizeof(struct fdr_near) == 1 << 4, "an id, where it stands in a record, is a place among them");

static struct moves moves_among(const struct fdr_near *near)
{
	const uint64_t one = (union tw_on_stack){.calls = 1}.function;
	return (struct moves){
	    .near = {(uintptr_t)near, [EXIT_BITS] = (uintptr_t)near - EXIT_BITS},
	    .down = {[EXIT_BITS] = -STEP},
	    .kept = {[EXIT_BITS] = UINT64_MAX},
	    .more = {one, [EXIT_BITS] = -one},
	};
}

/* A row of records that the fast path takes. */
struct plain_run {
	struct moves moves;
	struct tw_frame *top;
	struct tw_left_call *left;
	uint32_t odd; /* mask: bits that are 0 in the first word of a plain entry or exit */
	struct tw_ticks_walk walk;
	uint64_t horizon;     /* tick count that the walk may reach */
	uint64_t whole, part; /* of the clock */
	uint64_t last;        /* time of the last event */
	bool any;             /* there was one */
};

/* Moves a pointer to a frame or to a call: bytes is 0, STEP or -STEP. */
static inline void *moved(void *pointer, ptrdiff_t bytes)
{
	return (char *)pointer + bytes;
}

/* Turns the bits of a tail exit into those of an exit, and of an entry with arguments, which are records of their own,
 * into those of an entry. False for any other record. */
static inline bool make_plain(uint32_t *bits, uint32_t odd)
{
	static_assert((TAIL_BITS ^ ARGS_BITS) == EXIT_BITS,
	              "what turns one into an exit turns the other into an entry");
	if ((*bits & (odd | KIND_BITS) & ~(uint32_t)EXIT_BITS) != TAIL_BITS)
		return false;
	*bits ^= ARGS_BITS;
	return true;
}

/* Takes records until one is of another kind or does not match, and returns that one. Each record writes a frame above
 * the top and a left call, and keeps one of the two: there must be room for as many frames as there are records, and
 * for one left call more. whole: the clock's. To save instructions and stores, a function's row and name are one word,
 * a row and its open calls another, and what depends on the kind stands in tables on the stack. */
TW_INLINE const uint8_t *take_all(struct plain_run *run, const uint8_t *bytes, size_t size, uint64_t whole)
{
	struct tw_frame *top = run->top;
	struct tw_left_call *left = run->left;
	struct tw_ticks_walk walk = run->walk;
	const struct moves by = run->moves;
	const uint32_t odd = run->odd;
	const uint64_t part = run->part;
	const uint8_t *const end = bytes + size;
	uint64_t inside = top->children; /* of the top; its frame has it when another comes on top */
	const uint8_t *p = bytes;
	for (; p < end; p += TW_FDR_FUNCTION_SIZE) {
		uint32_t bits = tw_load32(p, false);
		if (bits & odd && !make_plain(&bits, odd))
			break;
		const uint32_t exit = bits & EXIT_BITS;
		const struct fdr_near *const known = (const struct fdr_near *)(by.near[exit] + bits);
		const struct fdr_near here = {.function = known->function};
		const ptrdiff_t down = by.down[exit];
		top[1].function = here.function;
		if (!here.row || ((struct tw_frame *)moved(top + 1, down))->function != here.function ||
		    !tw_ticks_step(&walk, tw_load32(p + 4, false), whole, part))
			break;
		left->children = inside;
		top->children = inside;
		const uint64_t now = tw_ticks_walked(&walk);
		left->duration = inside = now - top->begin;
		left->function = known->open->function += by.more[exit];
		left = moved(left, -down);
		top[1].begin = now;
		top = moved(top, STEP + 2 * down);
		inside = (inside + top->children) & by.kept[exit];
	}
	top->children = inside;
	run->top = top;
	run->left = left;
	run->walk = walk;
	return p;
}

/* The same for clocks of more than 10^9 ticks per second, which most are. */
TW_NOINLINE const uint8_t *take_fast_clock(struct plain_run *run, const uint8_t *bytes, size_t size)
{
	return take_all(run, bytes, size, 0);
}

TW_NOINLINE const uint8_t *take_any_clock(struct plain_run *run, const uint8_t *bytes, size_t size)
{
	return take_all(run, bytes, size, run->whole);
}

/* Notes the row of the function that the next record is about. False when it was known, or has none. */
static bool learn(struct fdr_names *names, const struct tw_calls *calls, const uint8_t *bytes, size_t size)
{
	uint32_t id = size < TW_FDR_FUNCTION_SIZE ? UINT32_MAX : tw_load32(bytes, false) >> 4;
	if (id >= names->near_room || names->near[id].row)
		return false;
	uint32_t name = names->near[id].name;
	if (!name || name >= calls->name_limit || name >= calls->stack->space->name_room ||
	    calls->row_of[name] < TW_ROW_FIRST)
		return false;
	names->near[id].row = calls->row_of[name];
	names->near[id].open = &calls->stack->space->on_stack[name];
	names->near[id].open->row = calls->row_of[name];
	return true;
}

/* Rows are known only where the space has room for their names. */
static void forget(struct fdr_names *names, const struct tw_call_space *space)
{
	if (names->space == space && names->on_stack == space->on_stack)
		return;
	for (size_t id = 0; id < names->near_room; id++)
		names->near[id].row = 0;
	names->space = space;
	names->on_stack = space->on_stack;
}

/* ---- Records between them that change nothing but the time: one in a hundred, of which each would cost as much as
 * forty. ---- */

enum { FIRST = 1 /* of a metadata record, the bytes before its body */ };

/* The count of ticks. */
static uint64_t count_now(const struct plain_run *run)
{
	return run->horizon - run->walk.left;
}

static void note_event(struct plain_run *run)
{
	run->last = tw_ticks_walked(&run->walk);
	run->any = true;
}

/* Lets time go by; false when it would go back, or beyond the walk. */
static bool go_on(struct plain_run *run, uint64_t ticks)
{
	return tw_ticks_step(&run->walk, ticks, run->whole, run->part);
}

/* A custom event that is there to its end. */
static size_t pass_event(const struct fdr_cursor *cursor, struct plain_run *run, const uint8_t *bytes, size_t size)
{
	uint32_t payload = tw_load32(bytes + FIRST, false);
	uint64_t ticks = (uint64_t)(int64_t)(int32_t)tw_load32(bytes + FIRST + 4, false);
	if (cursor->log->header.version < 5 || !payload || payload > INT32_MAX || payload > cursor->payload_limit ||
	    payload > size - TW_FDR_METADATA_SIZE || !go_on(run, ticks))
		return 0;
	note_event(run);
	return TW_FDR_METADATA_SIZE + (size_t)payload;
}

/* Passes the next record. Returns how many bytes it has, 0 when it is none of these. */
static size_t pass(struct fdr_cursor *cursor, struct plain_run *run, const uint8_t *bytes, size_t size)
{
	if (size < TW_FDR_METADATA_SIZE || !(*bytes & 1))
		return 0;
	switch (FDR_METADATA + (*bytes >> 1)) {
	case TW_FDR_NEW_CPU_ID:
		if (!go_on(run, tw_load64(bytes + FIRST + 2, false) - count_now(run)))
			return 0;
		cursor->cpu = tw_load16(bytes + FIRST, false);
		return TW_FDR_METADATA_SIZE;
	case TW_FDR_TSC_WRAP:
		return go_on(run, tw_load64(bytes + FIRST, false) - count_now(run)) ? TW_FDR_METADATA_SIZE : 0;
	case TW_FDR_CALL_ARGUMENT:
		return TW_FDR_METADATA_SIZE;
	case TW_FDR_CUSTOM_EVENT:
		return pass_event(cursor, run, bytes, size);
	default:
		return 0;
	}
}

/* ---- Runs. ---- */

/* Sets out. False where a call could end before it began, or the last event would be later than the next. */
static bool begin_run(struct fdr_stream *stream, const struct tw_calls *calls, struct plain_run *run)
{
	run->walk = tw_ticks_walk(&stream->clock, stream->cursor.tsc);
	run->horizon = stream->cursor.tsc + run->walk.left;
	uint64_t now = tw_ticks_walked(&run->walk);
	return stream->names->near_room && now >= stream->latest_ns && now >= calls->stack->last;
}

/* Takes entries and exits, at most so many; returns how many. */
static size_t take_plain(struct plain_run *run, const uint8_t *bytes, size_t most)
{
	const size_t size = most * TW_FDR_FUNCTION_SIZE;
	size_t taken = (size_t)((run->whole ? take_any_clock : take_fast_clock)(run, bytes, size) - bytes);
	if (taken)
		note_event(run);
	return taken / TW_FDR_FUNCTION_SIZE;
}

static void end_run(struct fdr_stream *stream, struct tw_calls *calls, struct tw_left_calls *left,
                    const struct plain_run *run)
{
	stream->cursor.tsc = count_now(run);
	if (run->any)
		stream->latest_ns = stream->last_ns = calls->stack->last = run->last;
	calls->stack->depth = (uint32_t)(run->top - calls->stack->space->frames);
	left->count = (size_t)(run->left - left->calls);
}

/* Takes what it can of the bytes, and of entries and exits at most *most, which it counts down; returns how many
 * bytes. */
static size_t take_bytes(struct fdr_stream *stream, struct tw_calls *calls, struct tw_left_calls *left,
                         const uint8_t *bytes, size_t size, size_t *most)
{
	struct plain_run run = {
	    .moves = moves_among(stream->names->near),
	    .top = calls->stack->space->frames + calls->stack->depth,
	    .left = left->calls + left->count,
	    .odd = (KIND_BITS ^ EXIT_BITS) | ~(uint32_t)((stream->names->near_room << 4) - 1),
	    .whole = stream->clock.whole,
	    .part = stream->clock.part,
	};
	size_t at = 0, step;
	if (!begin_run(stream, calls, &run))
		return 0;
	do {
		size_t here = (size - at) / TW_FDR_FUNCTION_SIZE;
		size_t taken = take_plain(&run, bytes + at, here < *most ? here : *most);
		*most -= taken;
		at += taken * TW_FDR_FUNCTION_SIZE;
		step = pass(&stream->cursor, &run, bytes + at, size - at);
		at += step;
	} while (*most && (step || learn(stream->names, calls, bytes + at, size - at)));
	end_run(stream, calls, left, &run);
	return at;
}

/* Takes what it can. *full: there is no room for the calls of more. */
static int take_run(struct fdr_stream *stream, struct tw_calls *calls, struct tw_left_calls *left, bool *full)
{
	struct tw_call_stack *stack = calls->stack;
	struct tw_call_space *space = stack->space;
	const uint8_t *bytes;
	size_t size, most = left->room - left->count;
	*full = false;
	int status = fdr_cursor_bytes(&stream->cursor, &bytes, &size);
	if (status < 0 || fdr_in_doubt(&stream->cursor) || !space || stack->timed_count || stack->folded ||
	    !calls->row_of ||
	    !tw_budget_grow(calls->budget, TW_FOR_STACKS, &space->frames, &space->frame_room,
	                    stack->depth + left->room + 1, sizeof *space->frames))
		return status;
	forget(stream->names, space);
	stream->cursor.at += take_bytes(stream, calls, left, bytes, size, &most);
	*full = most == 0;
	return 0;
}

/* ---- Any record. ---- */

static int take_one(struct fdr_stream *stream, struct tw_calls *calls, struct fdr_rows *rows)
{
	fdr_rows_empty(rows);
	int status = fdr_stream_take(stream, rows);
	if (stream->last_ns > stream->latest_ns)
		stream->latest_ns = stream->last_ns;
	for (size_t i = 0; i < rows->event_count; i++)
		tw_calls_take(calls, &rows->events[i]);
	return status;
}

static int take_part(struct fdr_state *state, struct tw_calls *calls, struct tw_left_calls *left)
{
	struct fdr_stream *stream = &state->stream;
	const struct fdr_log *log = stream->cursor.log;
	bool runs = log->header.layout == TW_FDR_LITTLE && !fdr_is_basic(log) && !stream->checker &&
	            tw_loop_is_on(TW_LOOP_XRAY_CALLS);
	int status = 0;
	if (calls->track != stream->track)
		tw_calls_switch(calls, stream->track);
	bool full = false;
	while (status >= 0 && !full && (stream->in_buffer || fdr_stream_enter(stream))) {
		stream->latest_ns = calls->stack->depth ? stream->latest_ns : 0;
		if (runs)
			status = take_run(stream, calls, left, &full);
		if (status >= 0 && !full)
			status = take_one(stream, calls, &state->rows);
	}
	return status;
}

int fdr_read_calls(struct tw_reader *reader, struct tw_calls *calls, struct tw_left_calls *left)
{
	struct fdr_state *state = reader->state;
	left->count = 0;
	for (;;) {
		int status = take_part(state, calls, left);
		if (status >= 0 && state->stream.last_ns > reader->clock.end_ns)
			reader->clock.end_ns = state->stream.last_ns;
		if (status < 0 || left->count)
			return status < 0 ? status : (int)left->count;
		status = state->stream.in_buffer ? 1 : fdr_next_part(reader);
		if (status <= 0)
			return status;
	}
}
