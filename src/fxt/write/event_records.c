/* event_records.c - events to event records, and an instant for what the format has nothing for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/write/writer.h"

#include "base/inline.h"

static uint64_t scope_of(uint16_t flags)
{
	if (flags & TW_FLAG_GLOBAL)
		return 2;
	return flags & TW_FLAG_PROCESS ? 1 : 0;
}

/* Words that arguments must leave for what stands behind them. The scope of a thread is what instants without a scope
 * have: where there is no room, it needs no word. */
static size_t tail_words(enum fxt_tail tail, uint16_t flags)
{
	return tail != FXT_NO_TAIL && (tail != FXT_TAIL_SCOPE || scope_of(flags));
}

TW_INLINE void put_tail(struct fxt_writer *w, struct fxt_new_record *record, const struct tw_event *event,
                        enum fxt_tail tail)
{
	if (tail == FXT_TAIL_SCOPE && fxt_record_left(record))
		fxt_put_word(record, scope_of(event->flags));
	else if (tail == FXT_TAIL_ID)
		fxt_put_word(record, event->id);
	else if (tail == FXT_TAIL_END)
		fxt_put_word(record, fxt_ticks_of(w, tw_sum(event->time, event->value)));
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
	put_tail(w, &record, event, as->tail);
	fxt_record_end(&w->writer->out, &record,
	               TW_FXT_TYPE_EVENT | (uint64_t)(as->kind - TW_FXT_INSTANT) << 16 | count << 20 | thread << 24 |
	                   (uint64_t)category.reference << 32 | (uint64_t)name->reference << 48);
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

void fxt_put_event(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
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
