/* known_calls.c - records that a log read before has: a process that forks leaves its buffers to the child, which
 * writes them, too. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "fdr/state.h"

#include <stdlib.h>

enum { LOGS_MOST = 64 }; /* that are looked at */

/* A place of this log and of another one, read at once. */
struct pair {
	struct fdr_cursor mine, other;
	uint64_t calls;  /* entries and exits that both have */
	uint64_t differ; /* where this log's first record is that the other has not; 0: there is none */
	uint64_t tsc;    /* before it */
	uint16_t cpu;
};

static bool is_same(const struct fdr_item *a, const struct fdr_item *b)
{
	const struct tw_fdr_record *l = &a->record, *r = &b->record;
	return l->kind == r->kind && l->function_id == r->function_id && l->tsc_delta == r->tsc_delta &&
	       l->tsc == r->tsc && l->value == r->value && l->microseconds == r->microseconds && l->cpu == r->cpu &&
	       l->event_type == r->event_type && l->payload_size == r->payload_size &&
	       a->payload_have == b->payload_have &&
	       (!a->payload_have || memcmp(l->payload, r->payload, a->payload_have) == 0);
}

/* The next record but for the size of the buffer, which may have grown. */
static int next(struct fdr_cursor *cursor, struct fdr_item *item)
{
	int status;
	do
		status = fdr_cursor_next(cursor, item);
	while (status > 0 && item->record.kind == TW_FDR_BUFFER_EXTENTS);
	return status;
}

/* Goes on while the records are the same. */
static int compare(struct pair *pair)
{
	struct fdr_item mine, other;
	for (;;) {
		pair->tsc = pair->mine.tsc;
		pair->cpu = pair->mine.cpu;
		int status = next(&pair->mine, &mine);
		if (status <= 0)
			return status;
		status = next(&pair->other, &other);
		if (status < 0)
			return status;
		if (status == 0 || !is_same(&mine, &other)) {
			pair->differ = mine.offset;
			return 0;
		}
		pair->calls += mine.record.kind <= TW_FDR_ENTER_ARGS;
	}
}

static int compare_starts(const void *left, const void *right)
{
	const struct fdr_place *a = left, *b = right;
	int order = tw_compare(a->wall_us, b->wall_us);
	return order ? order : tw_compare(a->tsc, b->tsc);
}

/* The place of a thread that begins like another one; the thread's are in this order. */
static const struct fdr_place *find_place(const struct fdr_log *log, const struct fdr_thread *thread,
                                          const struct fdr_place *place)
{
	for (size_t i = 1; i < log->thread_count; i++) {
		const struct fdr_thread *other = &log->threads[i];
		if (other->process == thread->process && other->thread == thread->thread && other->count)
			return bsearch(place, &log->places[other->first], other->count, sizeof *place, compare_starts);
	}
	return NULL;
}

/* Moves a place behind what the other log has of it. *known: all of it is there. */
static int take_off(struct tw_reader *reader, struct tw_reader *before, const struct fdr_log *log,
                    struct fdr_place *place, bool *known)
{
	const struct fdr_log *other = ((struct fdr_state *)before->state)->log;
	const struct fdr_place *twin = find_place(other, &log->threads[place->thread], place);
	struct pair pair = {0};
	*known = false;
	if (!twin || place->tsc == UINT64_MAX)
		return 0;
	fdr_cursor_init(&pair.mine, reader, log, 0);
	fdr_cursor_init(&pair.other, before, other, 0);
	fdr_cursor_enter(&pair.mine, place);
	fdr_cursor_enter(&pair.other, twin);
	const bool quiet = reader->reports.quiet;
	reader->reports.quiet = true;
	int status = compare(&pair);
	reader->reports.quiet = quiet;
	*known = status >= 0 && pair.calls && !pair.differ;
	if (status >= 0 && pair.calls && pair.differ) {
		place->offset = pair.differ;
		place->resumed = true;
		place->stated_tsc = pair.tsc;
		place->stated_cpu = pair.cpu;
	}
	fdr_cursor_free(&pair.mine);
	fdr_cursor_free(&pair.other);
	return status;
}

/* A child's log has the header of its parent's. */
static bool may_be_kin(const struct tw_fdr_header *a, const struct tw_fdr_header *b)
{
	return a->version == b->version && a->layout == b->layout && a->cycle_frequency == b->cycle_frequency &&
	       (a->type == 0 || a->buffer_size == b->buffer_size);
}

static int drop_places(struct tw_reader *reader, struct tw_reader *before, struct fdr_log *log)
{
	size_t kept = 0;
	int status = 0;
	if (!may_be_kin(&log->header, &((struct fdr_state *)before->state)->log->header))
		return 0;
	for (size_t i = 0; i < log->place_count && status >= 0; i++) {
		struct fdr_place *place = &log->places[i];
		bool known = false;
		if (place->thread && !place->resumed)
			status = take_off(reader, before, log, place, &known);
		log->threads[place->thread].count -= known;
		if (!known)
			log->places[kept++] = *place;
	}
	log->place_count = kept;
	return status;
}

int fdr_drop_known(struct tw_reader *reader, struct fdr_log *log)
{
	const struct tw_read_options *options = &reader->options;
	const size_t count = options->before_count;
	int status = 0;
	for (size_t i = count > LOGS_MOST ? count - LOGS_MOST : 0; i < count && status >= 0; i++) {
		struct tw_reader *before;
		/* A log that cannot be read is reported where its own records are read. */
		if (tw_open_before(&before, reader, i))
			status = drop_places(reader, before, log);
		tw_close(before);
	}
	return status;
}
