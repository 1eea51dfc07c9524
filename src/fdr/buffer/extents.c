/* extents.c - the end of a buffer that says how long it is. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/buffer/finder.h"

static int walk_from(struct fdr_finder *f, uint64_t from, uint64_t mark, struct fdr_walk *walk)
{
	*walk = (struct fdr_walk){.at = from, .met_mark = from == mark};
	return fdr_walk_on(f, from, mark, FDR_NO_LIMIT, walk);
}

/* Walks, and looks for beginnings of buffers, by their extents, before it goes much further: if each of many walks went
 * to the end of the file first, they would take for ever. */
static int walk_and_look(struct fdr_finder *f, uint64_t from, uint64_t mark, struct fdr_walk *w)
{
	enum { FIRST_SPAN = 1024 };
	uint64_t looked = from + 1;
	int status = 0;
	*w = (struct fdr_walk){.at = from, .met_mark = from == mark};
	for (uint64_t span = FIRST_SPAN; status >= 0 && w->why == FDR_STOP_NOT; span *= 2) {
		const uint64_t until = span < f->size - from ? from + span : FDR_NO_LIMIT;
		status = fdr_walk_on(f, from, mark, until, w);
		const uint64_t to = w->why == FDR_STOP_NOT ? until : w->at;
		if (status >= 0)
			status = fdr_stop_at_swallowed(f, looked, to, true, w);
		looked = to;
	}
	return status;
}

static void report_wrong_extents(struct fdr_finder *f, struct fdr_buffer *buffer)
{
	const struct fdr_log *log = f->log;
	uint64_t body = buffer->offset + FDR_RECORD;
	buffer->cut = buffer->end == f->size && buffer->extents > f->size - body;
	if (buffer->cut)
		tw_report(f->reader, &fdr_rules[FDR_BUFFER_TRUNCATED], buffer->offset, f->size, 0,
		          "expected %" PRIu64 " byte%s of records, found the end of the file after %" PRIu64,
		          buffer->extents, tw_plural(buffer->extents), f->size - body);
	else
		tw_report(f->reader, &fdr_rules[FDR_EXTENTS_WRONG], buffer->offset,
		          buffer->offset + (log->header.layout == TW_FDR_LITTLE ? 1 : 8), 0,
		          "BufferExtents says %" PRIu64 " byte%s, the records go on for %" PRIu64, buffer->extents,
		          tw_plural(buffer->extents), buffer->end - body);
}

/* Whether the next buffer begins as this one does: then this is a copy of its beginning, and belongs to none. */
static int is_begun_twice(struct fdr_finder *f, struct fdr_buffer *buffer, bool *twice)
{
	struct fdr_look look;
	uint8_t lead[4 * FDR_RECORD];
	int status = fdr_look_at(f, buffer->next, &look);
	if (status < 0 || look.have < sizeof lead)
		return status;
	memcpy(lead, look.bytes, sizeof lead);
	status = fdr_look_at(f, buffer->offset, &look);
	*twice = status >= 0 && look.have >= sizeof lead && memcmp(lead, look.bytes, sizeof lead) == 0;
	if (!*twice)
		return status;
	buffer->has_thread = false;
	buffer->end = buffer->offset;
	tw_report(f->reader, &fdr_rules[FDR_BUFFER_TWICE], buffer->offset, buffer->offset, 0,
	          "the beginning of the buffer at 0x%" PRIx64 ": read there", buffer->next);
	return 0;
}

/* Whether the records that go on from one place up to where a size leads are at the wrong byte, or doubled: some of the
 * buffer are missing, or too many. */
static int find_misplaced(struct fdr_finder *f, uint64_t from, uint64_t to, bool *misplaced)
{
	const uint64_t until = f->size - to < to - from ? f->size : to + (to - from);
	uint64_t next;
	int status = fdr_scan(f, to, until, &next);
	if (status >= 0)
		status = fdr_find_misplaced(f->reader, f->log, f->window, from, to, next, misplaced);
	return status;
}

/* The size in BufferExtents does not lead to a buffer: decodes to see what holds. */
static int mend_extents(struct fdr_finder *f, struct fdr_buffer *buffer, uint64_t declared)
{
	struct fdr_walk w;
	struct fdr_look look;
	bool twice = false, misplaced = false;
	buffer->searched = true;
	int status = walk_and_look(f, buffer->offset + FDR_RECORD, declared, &w);
	if (status < 0)
		return status;
	status = fdr_look_at(f, w.at, &look);
	if (status < 0)
		return status;
	if (w.why == FDR_STOP_START && !look.sure)
		w.why = FDR_STOP_DAMAGE;
	bool goes_on = w.at != declared && w.why == FDR_STOP_START && look.extents;
	bool passed = w.at < declared && w.why == FDR_STOP_PASSED;
	bool met = w.met_mark && !goes_on && !passed;
	if (met && (status = find_misplaced(f, buffer->offset, declared, &misplaced)) < 0)
		return status;
	if (met && !misplaced) { /* the size is right, what follows it is not */
		buffer->end = buffer->next = declared;
		return 1;
	}
	buffer->end = buffer->next = w.at;
	if (w.why == FDR_STOP_DAMAGE && (status = fdr_scan(f, w.at, f->size, &buffer->next)) < 0)
		return status;
	if (w.why == FDR_STOP_END)
		buffer->end = buffer->next = f->size;
	else if (w.why == FDR_STOP_DAMAGE)
		buffer->end = buffer->next;
	if (buffer->next < declared && w.why != FDR_STOP_END && (status = is_begun_twice(f, buffer, &twice)) < 0)
		return status;
	if (twice)
		return 1;
	status = fdr_find_end(f->reader, f->log, f->window, buffer, declared);
	if (status < 0)
		return status;
	buffer->excess = declared < buffer->next ? buffer->next - declared : 0;
	if (buffer->next != declared)
		report_wrong_extents(f, buffer);
	return 1;
}

/* Looks at extents above the buffer size: either the buffer is that long, or they lead over other buffers to a later
 * one. */
static int check_overrun(struct fdr_finder *f, struct fdr_buffer *buffer)
{
	struct fdr_finder inside = {.reader = f->reader, .log = f->log, .window = f->window, .size = buffer->end};
	struct fdr_walk w;
	int status = walk_from(&inside, buffer->offset + FDR_RECORD, FDR_NO_LIMIT, &w);
	if (status < 0)
		return status;
	if (w.why == FDR_STOP_START && w.at < buffer->end) {
		buffer->end = buffer->next = w.at;
		report_wrong_extents(f, buffer);
		return 1;
	}
	tw_report(f->reader, &fdr_rules[FDR_BUFFER_OVERRUN], buffer->offset, buffer->offset + 1, 0,
	          "the buffer is %" PRIu64 " byte%s long, the header's buffer size is %" PRIu64, buffer->extents,
	          tw_plural(buffer->extents), f->log->header.buffer_size);
	return 1;
}

int fdr_find_by_extents(struct fdr_finder *f, struct fdr_buffer *buffer)
{
	uint64_t body = buffer->offset + FDR_RECORD, room = f->size - body;
	uint64_t limit = f->log->header.buffer_size;
	struct fdr_look look = {0};
	if (buffer->extents <= room) {
		buffer->end = buffer->next = body + buffer->extents;
		buffer->filled = fdr_is_flight(&f->log->header);
		int status =
		    buffer->filled ? fdr_flight_next(f->reader, f->log, f->window, buffer->offset, &buffer->next) : 0;
		if (status >= 0)
			status = fdr_look_at(f, buffer->next, &look);
		if (status < 0)
			return status;
	}
	bool trusted = buffer->extents <= room && (buffer->next == f->size || look.follows);
	if (trusted && (buffer->extents <= limit || limit == 0))
		return 1;
	if (!trusted)
		return mend_extents(f, buffer, buffer->extents <= room ? buffer->end : FDR_NO_LIMIT);
	return check_overrun(f, buffer);
}
