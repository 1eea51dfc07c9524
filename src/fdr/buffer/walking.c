/* walking.c - the end of a buffer that does not say how long it is. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/buffer/finder.h"

/* Version 1: where the header's buffer size leads, if a buffer or the end of the file is there; 0 if not. Where all
 * stand at multiples of the size, the beginning of the next ones may be damaged. */
static int filled_end(struct fdr_finder *f, const struct fdr_buffer *buffer, uint64_t *end)
{
	enum { DAMAGED = 3 };
	const uint64_t size = f->log->header.buffer_size;
	*end = 0;
	if (f->log->header.version != 1 || size < FDR_RECORD)
		return 0;
	const uint64_t most = (buffer->offset - TW_FDR_HEADER_SIZE) % size ? 1 : 1 + DAMAGED;
	for (uint64_t i = 1; !*end && i <= most && size <= (f->size - buffer->offset) / i; i++) {
		struct fdr_look look;
		int status = fdr_look_at(f, buffer->offset + i * size, &look);
		if (status < 0)
			return status;
		if (buffer->offset + i * size == f->size || look.strong)
			*end = buffer->offset + size;
	}
	return 0;
}

/* Version 1 after EndOfBuffer: the next buffer follows at once, as LLVM reads it, or after fill, as the document
 * says. */
static int find_after_end(struct fdr_finder *f, struct fdr_buffer *buffer, uint64_t filled)
{
	uint64_t at = buffer->end;
	struct fdr_look look;
	int status = fdr_look_at(f, at, &look);
	if (status < 0)
		return status;
	buffer->filled = filled && !look.strong;
	buffer->next = buffer->filled ? filled : at;
	if (buffer->filled || look.weak || at == f->size)
		return 1;
	uint64_t size = f->log->header.buffer_size;
	buffer->filled = size > f->size - buffer->offset; /* the file is cut in the fill */
	status = fdr_scan(f, at, f->size, &buffer->next);
	return status < 0 ? status : 1;
}

/* The file ends without the buffer's end: in version 1 there is no EndOfBuffer, later a record is cut. */
static void end_with_file(struct fdr_finder *f, struct fdr_buffer *buffer, uint64_t at)
{
	buffer->end = buffer->next = f->size;
	buffer->cut = f->log->header.version == 1 || at != f->size;
	if (buffer->cut)
		tw_report(f->reader, &fdr_rules[FDR_BUFFER_TRUNCATED], buffer->offset, f->size, 0,
		          "expected %s, found the end of the file",
		          at != f->size ? "the rest of a record" : "an EndOfBuffer record");
}

/* Whether a walk ended where a buffer may end: what was walked is then no damage, whatever it looks like. */
static bool ended_well(const struct fdr_finder *f, const struct fdr_walk *w, const struct fdr_look *next,
                       uint64_t filled)
{
	if (f->log->header.version == 1)
		return w->why == FDR_STOP_END_OF_BUFFER && (w->at == f->size || next->strong || w->at <= filled);
	return (w->why == FDR_STOP_START && next->strong) || (w->why == FDR_STOP_END && w->at == f->size);
}

/* How far to walk where a buffer seems to begin at a distance: to see whether all ends well behind it, but not so far
 * that each of many buffers would take the whole rest of the file. */
static uint64_t reach_over(uint64_t from, uint64_t distance)
{
	enum { LEAST = 1 << 12, TIMES = 32 };
	uint64_t reach = distance < FDR_NO_LIMIT / TIMES ? distance * TIMES : FDR_NO_LIMIT;
	reach = reach < LEAST ? LEAST : reach;
	return reach < FDR_NO_LIMIT - from ? from + reach : FDR_NO_LIMIT;
}

/* Walks, but not on where it is sure that the next buffer begins. */
static int walk_to_next(struct fdr_finder *f, uint64_t from, uint64_t filled, struct fdr_walk *w)
{
	enum { FIRST_SPAN = 1024 };
	struct fdr_finder inside = *f;
	struct fdr_walk swallowed = {.why = FDR_STOP_NOT};
	uint64_t looked = from + 1, limit = FDR_NO_LIMIT;
	int status = 0;
	if (filled && f->size - filled > FDR_RECORD)
		inside.size = filled + FDR_RECORD;
	*w = (struct fdr_walk){.at = from};
	for (uint64_t span = FIRST_SPAN; status >= 0 && w->why == FDR_STOP_NOT; span *= 2) {
		uint64_t until = span < inside.size - from ? from + span : FDR_NO_LIMIT;
		until = until < limit ? until : limit;
		status = fdr_walk_on(&inside, from, FDR_NO_LIMIT, until, w);
		const uint64_t to = w->why == FDR_STOP_NOT ? until : w->at;
		if (status >= 0 && swallowed.why == FDR_STOP_NOT && looked < to)
			status = fdr_stop_at_swallowed(f, looked, to, false, &swallowed);
		looked = to;
		if (w->why == FDR_STOP_NOT && until == limit)
			*w = swallowed;
		else if (swallowed.why != FDR_STOP_NOT)
			limit = reach_over(from, swallowed.at - from);
	}
	return status;
}

/* The buffer ends where a walk did, or where the next one begins for certain behind damage. */
static int find_after_walk(struct fdr_finder *f, struct fdr_buffer *buffer, const struct fdr_walk *w,
                           const struct fdr_look *look)
{
	int status = 0;
	if (w->why == FDR_STOP_END)
		end_with_file(f, buffer, w->at);
	else if (w->why != FDR_STOP_PASSED && !(w->why == FDR_STOP_START && look->sure))
		status = fdr_scan(f, w->at, f->size, &buffer->next);
	buffer->end = buffer->next;
	return status;
}

int fdr_find_by_walking(struct fdr_finder *f, struct fdr_buffer *buffer)
{
	struct fdr_walk w;
	struct fdr_look look;
	uint64_t filled;
	int status = filled_end(f, buffer, &filled);
	if (status >= 0)
		status = walk_to_next(f, buffer->offset, filled, &w);
	if (status >= 0)
		status = fdr_look_at(f, w.at, &look);
	if (status >= 0 && !ended_well(f, &w, &look, filled)) {
		buffer->searched = true;
		if (w.doubtful)
			w.why = FDR_STOP_DAMAGE;
		status = fdr_stop_at_swallowed(f, buffer->offset + 1, w.at, false, &w);
		if (status >= 0)
			status = fdr_look_at(f, w.at, &look);
	}
	if (status < 0)
		return status;
	buffer->end = buffer->next = w.at;
	if (w.why == FDR_STOP_END_OF_BUFFER && (!filled || w.at <= filled))
		status = find_after_end(f, buffer, filled);
	else if (!filled || (w.at <= filled && look.strong))
		status = find_after_walk(f, buffer, &w, &look);
	else /* damaged: its place is known all the same */
		buffer->end = buffer->next = filled;
	if (status >= 0 && buffer->searched && buffer->next != filled)
		status = fdr_find_end(f->reader, f->log, f->window, buffer, FDR_NO_LIMIT);
	else if (status >= 0 && !buffer->searched && w.went_back)
		status = fdr_find_joint(f->reader, f->log, f->window, buffer);
	return status < 0 ? status : 1;
}
