/* cut_stacks.c - the stacks of threads in a part of a log, which samples change: of those that were left out one is
 * made. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/text/digits.h"
#include "tracelog/format/layout.h"
#include "tracelog/jobs/cut_state.h"

#include <stdlib.h>

enum { IP_STYLE = TW_TRACELOG_POINTERS_32 | TW_TRACELOG_BARE_IP | TW_TRACELOG_PADDED_IP };
enum { THREAD_COST = 2 * sizeof(struct cut_thread) + 64 /* of a map */ };

bool tracelog_cut_take_memory(struct tracelog_cut *cut, size_t bytes)
{
	if (bytes > cut->threads.limit - cut->threads.memory)
		return false;
	cut->threads.memory += bytes;
	return true;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The thread of a number; NULL where there is no memory for it. It lives until the next call. */
static struct cut_thread *thread_of(struct tracelog_cut *cut, uint32_t iid)
{
	uint32_t place;
	if (tw_map_find(&cut->threads.by_iid, iid, &place))
		return &cut->threads.items[place];
	if (!tracelog_cut_take_memory(cut, THREAD_COST))
		return NULL;
	if (!tw_grow(&cut->threads.items, &cut->threads.room, cut->threads.count + 1, sizeof *cut->threads.items) ||
	    !tw_map_add(&cut->threads.by_iid, iid, (uint32_t)cut->threads.count)) {
		cut->failed = true;
		return NULL;
	}
	cut->threads.items[cut->threads.count] = (struct cut_thread){.iid = iid};
	return &cut->threads.items[cut->threads.count++];
}

static void append(struct tracelog_cut *cut, struct cut_thread *thread, struct cut_frame frame)
{
	if (thread->depth == thread->room) {
		size_t before = thread->room, more = before ? before : 16;
		bool fits = tracelog_cut_take_memory(cut, more * sizeof frame);
		if (fits && !tw_grow(&thread->frames, &thread->room, before + more, sizeof frame))
			cut->failed = true;
		if (thread->room == before) {
			thread->cut_off = true;
			return;
		}
	}
	thread->frames[thread->depth++] = frame;
}

/* Moves the innermost frame that stays to another instruction. */
static void move(struct cut_thread *thread, const struct tw_tracelog_record *record)
{
	struct cut_frame *frame = &thread->frames[thread->depth - 1];
	frame->has_ip = true;
	frame->ip_known = record->ip_known;
	frame->ip = record->ip;
	frame->style = (uint16_t)((frame->style & ~(unsigned)IP_STYLE) | (record->style & IP_STYLE));
	if (thread->depth == thread->low) {
		thread->moved = true;
		thread->ip_style = record->style;
	}
}

/* Changes the stack as the reader does. */
static void change_stack(struct tracelog_cut *cut, struct cut_thread *thread, const struct tw_tracelog_record *record)
{
	size_t match = (size_t)lesser(record->match, record->depth);
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	struct tw_tracelog_fault fault;
	while (thread->depth < match && !thread->cut_off && !cut->failed)
		append(cut, thread, (struct cut_frame){.unknown = true});
	thread->depth = (size_t)lesser(match, thread->depth);
	if (thread->depth < thread->low) {
		thread->low = thread->depth;
		thread->moved = false;
	}
	if (record->has_ip && thread->depth)
		move(thread, record);
	while (tw_tracelog_next(record, &list, &item, &fault) > 0)
		append(cut, thread,
		       (struct cut_frame){item.ip, item.iid, (uint16_t)item.style, item.has_ip, item.ip_known, false});
}

/* Notes that the stack has been written as it is now. */
static void catch_up(struct cut_thread *thread)
{
	thread->low = thread->written = thread->depth;
	thread->moved = thread->behind = false;
}

/* All samples of a thread in the window pass, also those of no ticks, which no event tells of; they have no
 * category. */
static bool passes(const struct tracelog_cut *cut, const struct tw_tracelog_record *record)
{
	const uint64_t thread = record->thread == TW_TRACELOG_IID_NONE ? TW_UNKNOWN_TASK : record->thread;
	return cut->without_category && tracelog_cut_in_window(cut) && tw_thread_wanted(cut->options, thread);
}

bool tracelog_cut_take_sample(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	struct cut_thread *thread = thread_of(cut, record->thread);
	bool kept = passes(cut, record);
	cut->untracked = !thread;
	if (!thread)
		return kept;
	bool behind = thread->behind;
	thread->kind = record->kind;
	thread->style = record->style;
	thread->time = cut->now;
	change_stack(cut, thread, record);
	if (kept && behind)
		cut->written.thread = thread;
	else if (kept)
		catch_up(thread);
	else
		thread->behind = true;
	return kept;
}

bool tracelog_cut_take_allocations(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	struct cut_thread *thread = thread_of(cut, record->thread);
	bool kept = passes(cut, record);
	if (kept && thread && thread->behind)
		cut->written.thread = thread;
	return kept;
}

/* ---- Samples that put a stack right. ---- */

static void add_frame(struct tracelog_cut *cut, const struct cut_frame *frame, size_t *used)
{
	const struct tw_tracelog_item item = {
	    .kind = TW_TRACELOG_FRAME,
	    .style = frame->style,
	    .iid = frame->iid,
	    .ip = frame->ip,
	    .has_ip = frame->has_ip,
	    .ip_known = frame->ip_known,
	};
	if (!tw_grow(&cut->written.list, &cut->written.list_room, *used + TRACELOG_FRAME_TEXT, 1)) {
		cut->failed = true;
		return;
	}
	int64_t size = tracelog_encode_item(&item, cut->written.list + *used, TRACELOG_FRAME_TEXT);
	*used += size > 0 ? (size_t)size : 0;
}

/* Puts frames into the list, from one on, as far as they are known and the line has room. Returns the first that is
 * not in it. */
static size_t add_frames(struct tracelog_cut *cut, const struct cut_thread *thread, size_t from, size_t *used)
{
	size_t i = from;
	for (; i < thread->depth && i - from < cut->written.list_frames && !thread->frames[i].unknown; i++)
		add_frame(cut, &thread->frames[i], used);
	return i;
}

/* The next sample on the way to the stack that the thread has: one, but for frames that no record told of, which are
 * skipped in one of their own, and for stacks that are too deep for a line. True when the stack is reached. */
static bool make_sample(struct tracelog_cut *cut, struct cut_thread *thread, struct tw_tracelog_record *made)
{
	size_t match = thread->low, used = 0;
	while (thread->written == thread->low && match < thread->depth && thread->frames[match].unknown)
		match++;
	bool moved = thread->moved && match == thread->low && match > 0;
	*made = (struct tw_tracelog_record){
	    .kind = thread->kind,
	    .style = moved ? thread->ip_style : thread->style,
	    .thread = thread->iid,
	    .ms = (uint32_t)tracelog_cut_clip(cut, thread->time),
	    .has_count = true,
	    .match = (uint32_t)match,
	    .depth = (uint32_t)greater(thread->written, match),
	    .has_ip = moved,
	};
	if (moved) {
		made->ip = thread->frames[match - 1].ip;
		made->ip_known = thread->frames[match - 1].ip_known;
	}
	thread->low = thread->written = add_frames(cut, thread, match, &used);
	thread->moved = false;
	made->list = (struct tw_tracelog_text){used ? cut->written.list : (const uint8_t *)"", used};
	return thread->low == thread->depth;
}

void tracelog_cut_next_sample(struct tracelog_cut *cut, struct tw_tracelog_record *made)
{
	bool last = make_sample(cut, cut->written.thread, made);
	if (!last)
		return;
	catch_up(cut->written.thread);
	cut->written.thread = NULL;
	if (cut->written.record->kind == TW_TRACELOG_SAM_MEM)
		return;
	made->count = cut->written.record->count;
	made->has_count = cut->written.record->has_count;
	cut->written.record = NULL;
}
