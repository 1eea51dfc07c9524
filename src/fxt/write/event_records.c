/* event_records.c - events to event records, and an instant for what the format has nothing for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/write/writer.h"

#include "base/inline.h"

static uint64_t scope_of(uint16_t flags)
{
	return flags & TW_FLAG_GLOBAL ? 2 : flags & TW_FLAG_PROCESS ? 1 : 0;
}

/* Words that arguments must leave for what stands behind them. The scope of a thread is what instants without a scope
 * have: where there is no room, it needs no word. */
static size_t tail_words(enum fxt_tail tail, uint16_t flags)
{
	return tail != FXT_NO_TAIL && (tail != FXT_TAIL_SCOPE || scope_of(flags));
}

TW_INLINE uint64_t tail_word(const struct fxt_writer *w, const struct tw_event *event, enum fxt_tail tail)
{
	if (tail == FXT_TAIL_END)
		return fxt_ticks_of(w, tw_sum(event->time, event->value));
	return tail == FXT_TAIL_ID ? event->id : scope_of(event->flags);
}

/* The header of an event, but for its size. */
TW_INLINE uint64_t header_of(const struct fxt_written_kind *as, uint64_t arguments, uint64_t thread, uint64_t category,
                             uint64_t name)
{
	return TW_FXT_TYPE_EVENT | (uint64_t)(as->kind - TW_FXT_INSTANT) << 16 | arguments << 20 | thread << 24 |
	       category << 32 | name << 48;
}

/* Writes an event that is a time and perhaps a tail, of a thread and strings in the tables, as most are. False where
 * one is not in the tables. `make bench` measures merge. */
TW_INLINE bool put_plain(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
{
	const struct fxt_tables *tables = w->tables;
	const bool big = tables->big, has_tail = as->tail != FXT_NO_TAIL;
	const uint64_t category = fxt_string_index(tables, event->category), words = 2 + has_tail;
	const uint64_t name = fxt_string_index(tables, event->name);
	const uint64_t thread = event->track < tables->tracks_seen ? tables->threads[event->track].index : 0;
	if (!thread || !category || !name)
		return false;
	uint8_t *to = (uint8_t *)tw_output_room(&w->writer->out, words * TW_FXT_WORD);
	tw_store64(to, header_of(as, 0, thread, category, name) | words << 4, big);
	tw_store64(to + TW_FXT_WORD, fxt_ticks_of(w, event->time), big);
	if (has_tail)
		tw_store64(to + 2 * TW_FXT_WORD, tail_word(w, event, as->tail), big);
	tw_output_took(&w->writer->out, words * TW_FXT_WORD);
	return true;
}

/* Writes an event with these arguments and this name. */
TW_INLINE void put_with(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as,
                        const struct fxt_arguments *list, const struct fxt_string_ref *name)
{
	struct fxt_string_ref category =
	    as->sample ? fxt_own_string(w->tables, as->name) : fxt_string(w->tables, event->category);
	uint64_t thread = fxt_thread_index(w->tables, event->track), count = 0;
	struct fxt_new_record record = fxt_begin_timed(w, event, thread);
	fxt_put_text(&record, &category);
	fxt_put_text(&record, name);
	if (list->count)
		count = fxt_put_arguments(w, &record, list, tail_words(as->tail, event->flags));
	if (as->tail != FXT_NO_TAIL && (as->tail != FXT_TAIL_SCOPE || fxt_record_left(&record)))
		fxt_put_word(&record, tail_word(w, event, as->tail));
	fxt_record_end(&w->writer->out, &record, header_of(as, count, thread, category.reference, name->reference));
}

/* Readers pass over values that are no numbers; in an archive that has them already they are no loss. */
static void count_no_numbers(const struct fxt_writer *w, const struct fxt_arguments *list)
{
	for (unsigned i = 0; i < list->count; i++) {
		unsigned type = list->items[i].argument->type;
		if (type != TW_ARG_INT && type != TW_ARG_UINT && type != TW_ARG_DOUBLE)
			fxt_loss(w, "counter value", true);
	}
}

TW_NOINLINE void put_any(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
{
	struct fxt_arguments list; /* to fill it with zeros would take longer than the rest */
	list.count = list.own_count = 0;
	if (event->argument_count)
		fxt_add_arguments(w, &list, event, 0);
	if (event->kind == TW_COUNTER && w->foreign)
		count_no_numbers(w, &list);
	if (event->flags & TW_FLAG_TAIL)
		fxt_add_own_argument(w, &list, FXT_OWN_TAIL, TW_ARG_BOOL, true);
	if (event->flags & TW_FLAG_CLIPPED)
		fxt_add_own_argument(w, &list, FXT_OWN_CLIPPED, TW_ARG_BOOL, true);
	if (event->flags & TW_FLAG_UNCERTAIN && event->kind <= TW_INSTANT)
		fxt_add_own_argument(w, &list, FXT_OWN_UNCERTAIN, TW_ARG_BOOL, true);
	if (event->flags & TW_FLAG_GLOBAL && as->tail == FXT_TAIL_ID)
		fxt_loss(w, "global id", true);
	if (event->kind == TW_FLOW_END && event->other == TW_FLOW_NEXT)
		fxt_loss(w, "flow that ends in the next slice", true);
	struct fxt_string_ref name = fxt_string(w->tables, event->name);
	put_with(w, event, as, &list, &name);
}

void fxt_put_event(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
{
	enum { MORE = TW_FLAG_TAIL | TW_FLAG_CLIPPED | TW_FLAG_UNCERTAIN | TW_FLAG_GLOBAL }; /* than the words have */
	if (event->argument_count || event->other || event->flags & MORE || !put_plain(w, event, as))
		put_any(w, event, as);
}

static void add_number(struct fxt_writer *w, struct fxt_arguments *list, const struct fxt_as_argument *as,
                       uint64_t value)
{
	if (as->type == TW_ARG_TEXT)
		fxt_add_stack(w, list, as->name, (uint32_t)value);
	else if (as->type != TW_ARG_NULL)
		fxt_add_own_argument(w, list, as->name, as->type, value);
}

void fxt_put_stand_in(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
{
	struct fxt_arguments list = {.count = 0};
	add_number(w, &list, &as->value, event->value);
	if (event->id || !as->no_id)
		add_number(w, &list, &as->id, event->id);
	add_number(w, &list, &as->other, event->other);
	fxt_add_arguments(w, &list, event, 0);
	bool named = event->name != 0 && event->kind != TW_LOST;
	struct fxt_string_ref name = named ? fxt_string(w->tables, event->name) : fxt_own_string(w->tables, as->name);
	put_with(w, event, as, &list, &name);
	if (w->foreign || !as->sample)
		fxt_loss(w, tw_event_kind_name(event->kind), true);
}
