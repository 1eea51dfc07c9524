/* feed.c - what is written of an archive that is merged and was not made ready: rows.
 *
 * A row whose names and thread have been written becomes a record at once. All others go the way of rows from any
 * format: they are mapped to the merged dictionary and given to the writer, and what that has written is linked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/merge/feed.h"

#include "fxt/write/writer.h"

/* ---- Rows that are known. ---- */

/* The arguments of a row; false where a name of theirs is new, where one may be another koid in the whole, and of long
 * texts, which may have to be registered. */
static bool gather(const struct fxt_feed *feed, const struct tw_event *row, const struct tw_argument *arguments,
                   struct fxt_items *items)
{
	items->count = row->argument_count;
	if (items->count > TW_FXT_ARGUMENTS_MAX)
		return false;
	for (unsigned i = 0; i < items->count; i++) {
		uint16_t index = fxt_linked_name(&feed->fxt->links, arguments[i].name);
		bool text = arguments[i].type == TW_ARG_TEXT && arguments[i].size > FXT_LONG_TEXT;
		if ((index == 0 && arguments[i].name) || arguments[i].type == TW_ARG_KOID || text)
			return false;
		items->items[i] = (struct fxt_item){.name.reference = index, .argument = &arguments[i]};
	}
	return true;
}

static void put_tail(struct fxt_writer *w, struct fxt_put *put, const struct tw_event *row, uint64_t time)
{
	enum fxt_tail tail = fxt_shapes[row->kind].tail;
	if (tail == FXT_TAIL_SCOPE)
		fxt_put_scope(put, row->flags);
	else if (tail == FXT_TAIL_ID)
		fxt_put_word(put, row->id);
	else if (tail == FXT_TAIL_END)
		fxt_put_word(put, fxt_ticks_of(w, tw_sum(time, row->value)));
}

/* Writes an event whose names have been written; false where one has not. */
static bool put_event(struct fxt_writer *w, const struct fxt_feed *feed, const struct tw_event *row,
                      const struct tw_argument *arguments, uint64_t time)
{
	struct fxt_items items;
	uint64_t name = fxt_linked_name(&feed->fxt->links, row->name);
	uint64_t category = fxt_linked_name(&feed->fxt->links, row->category);
	const struct fxt_seat *seat = fxt_linked_seat(&feed->fxt->links, row->track);
	if (row->flags & ~(TW_FLAG_PROCESS | TW_FLAG_GLOBAL) || !seat || !name != !row->name ||
	    !category != !row->category || !gather(feed, row, arguments, &items))
		return false;
	const struct fxt_shape *shape = &fxt_shapes[row->kind];
	uint64_t thread = fxt_seat_index(seat);
	uint64_t header = fxt_event_header(shape->kind, thread, category, name);
	struct fxt_put put = fxt_put_begin(&w->writer->out, w->intern->big);
	fxt_put_word(&put, fxt_ticks_of(w, time));
	if (thread == 0) {
		fxt_put_word(&put, seat->process);
		fxt_put_word(&put, seat->thread);
	}
	if (items.count)
		header |= fxt_put_items(w, &put, &items, fxt_tail_words(shape->tail, row->flags)) << 20;
	put_tail(w, &put, row, time);
	fxt_put_end(&w->writer->out, &put, header);
	return true;
}

static bool put_scheduling(struct fxt_writer *w, const struct fxt_feed *feed, const struct tw_event *row, uint64_t time)
{
	const struct fxt_seat *seat = fxt_linked_seat(&feed->fxt->links, row->track);
	const struct fxt_seat *other = fxt_linked_seat(&feed->fxt->links, row->other);
	bool wakeup = row->kind == TW_WAKEUP;
	if (!seat || (row->other && (wakeup || !other)) || row->argument_count || row->name || row->category ||
	    row->flags || row->value > FXT_STATE_MAX)
		return false;
	struct fxt_put put = fxt_put_begin(&w->writer->out, w->intern->big);
	fxt_put_word(&put, fxt_ticks_of(w, time));
	fxt_put_word(&put, seat->thread);
	if (!wakeup)
		fxt_put_word(&put, row->other ? other->thread : 0);
	fxt_put_end(&w->writer->out, &put,
	            fxt_scheduling_header(fxt_shapes[row->kind].kind, row->cpu, wakeup ? 0 : row->value, 0));
	return true;
}

static bool put_known(struct fxt_writer *w, const struct fxt_feed *feed, const struct tw_event *row,
                      const struct tw_argument *arguments, uint64_t time)
{
	if (row->kind <= TW_FLOW_END)
		return put_event(w, feed, row, arguments, time);
	return (row->kind == TW_SWITCH || row->kind == TW_WAKEUP) && put_scheduling(w, feed, row, time);
}

/* ---- Rows with something new. ---- */

static bool learn_name(const struct fxt_passage *passage, const struct fxt_feed *feed, uint32_t own)
{
	const struct fxt_intern *in = ((const struct fxt_writer *)passage->writer->state)->intern;
	uint32_t known = own < feed->input->own.name_room ? feed->input->own.names[own] : 0;
	if (known == 0 || known >= in->string_room || in->strings[known] == 0)
		return true;
	return fxt_link_name(&feed->fxt->links, feed->fxt->ahead, own, in->strings[known]);
}

static bool learn_track(const struct fxt_passage *passage, const struct fxt_feed *feed, uint32_t own)
{
	const struct fxt_intern *in = ((const struct fxt_writer *)passage->writer->state)->intern;
	uint32_t known = own < feed->input->own.track_room ? feed->input->own.tracks[own] : 0;
	if (known == 0 || known >= in->tracks_seen || !in->tracks[known].met)
		return true;
	struct fxt_koids koids = fxt_koids_of(in, known);
	return fxt_link_seat(&feed->fxt->links, feed->fxt->ahead, own, koids.process, koids.thread,
	                     in->tracks[known].index);
}

/* Learns what the writer knows now. */
static bool learn(const struct fxt_passage *passage, const struct fxt_feed *feed, const struct tw_event *row,
                  const struct tw_argument *arguments)
{
	bool fine = learn_name(passage, feed, row->name) && learn_name(passage, feed, row->category) &&
	            learn_track(passage, feed, row->track);
	if (fine && (row->kind == TW_SWITCH || row->kind == TW_WAKEUP))
		fine = learn_track(passage, feed, row->other);
	for (unsigned i = 0; i < row->argument_count && fine; i++)
		fine = learn_name(passage, feed, arguments[i].name);
	return fine;
}

static int no_memory(struct tw_reader *merged)
{
	return tw_fail(merged, TW_ERR_MEMORY, "out of memory");
}

/* As a row of any format. Returns 0 or a negative status. */
static int put_new(struct fxt_passage *passage, const struct fxt_feed *feed, const struct tw_event *row,
                   const struct tw_argument *arguments, uint64_t time)
{
	struct tw_event event = *row;
	if (event.argument_count)
		memcpy(passage->arguments, arguments, event.argument_count * sizeof *passage->arguments);
	event.first_argument = 0;
	event.time = time;
	if (!tw_map_row(&feed->input->own, &event, passage->arguments))
		return no_memory(passage->merged);
	((struct fxt_writer *)passage->writer->state)->source = feed;
	passage->passed->written =
	    tw_write(passage->writer, passage->merged, &(struct tw_batch){&event, 1, passage->arguments});
	if (passage->passed->written < 0)
		return 0;
	return learn(passage, feed, row, arguments) ? 0 : no_memory(passage->merged);
}

int fxt_feed_row(struct fxt_passage *passage, const struct fxt_feed *feed, const struct tw_event *row,
                 const struct tw_argument *arguments, uint64_t time)
{
	if (row->kind == TW_LOST)
		passage->passed->lost_bytes = tw_sum(passage->passed->lost_bytes, row->value);
	else
		passage->passed->events++;
	if (put_known(passage->writer->state, feed, row, arguments, time))
		return 0;
	return put_new(passage, feed, row, arguments, time);
}

static bool is_wakeup(uint64_t header)
{
	return fxt_subtype(header) == fxt_shapes[TW_WAKEUP].kind - TW_FXT_LEGACY_CONTEXT_SWITCH;
}

/* What a record that was made ready tells. */
static struct tw_event switch_of(const struct fxt_feed *feed, const struct tw_slab *slab,
                                 const struct tw_event_key *brief)
{
	struct fxt_state *state = fxt_ahead_state(feed->fxt->ahead);
	const uint8_t *record = slab->ready + brief->number;
	uint64_t header = tw_load64(record, false);
	bool wakeup = is_wakeup(header);
	uint32_t track = fxt_state_track_of_thread(state, tw_load64(record + (size_t)2 * TW_FXT_WORD, false));
	uint64_t comes = wakeup ? 0 : tw_load64(record + (size_t)3 * TW_FXT_WORD, false);
	return (struct tw_event){
	    .time = brief->time,
	    .offset = slab->offset + (brief->tags & TW_KEY_PLACE),
	    .value = tw_bits(header, 36, 39),
	    .track = track,
	    .other = wakeup ? 0 : fxt_state_track_of_thread(state, comes),
	    .kind = wakeup ? TW_WAKEUP : TW_SWITCH,
	    .cpu = (uint16_t)tw_bits(header, 20, 35),
	};
}

/* Its threads: that of a wake-up twice. */
static void threads_of(const uint8_t *record, uint64_t koids[2])
{
	bool wakeup = is_wakeup(tw_load64(record, false));
	koids[0] = tw_load64(record + (size_t)2 * TW_FXT_WORD, false);
	koids[1] = wakeup ? koids[0] : tw_load64(record + (size_t)3 * TW_FXT_WORD, false);
}

static uint64_t *place_of(struct fxt_met *met, uint64_t koid)
{
	return &met->koids[koid % (sizeof met->koids / sizeof *met->koids)];
}

/* Whether both are known to have been written. `make bench` measures merge of FXT. */
static bool have_met(struct fxt_feed *feed, const uint64_t koids[2])
{
	const struct fxt_state *state = fxt_ahead_state(feed->fxt->ahead);
	if (feed->met.moved != state->threads_moved)
		feed->met = (struct fxt_met){.moved = state->threads_moved};
	return koids[0] && koids[1] && *place_of(&feed->met, koids[0]) == koids[0] &&
	       *place_of(&feed->met, koids[1]) == koids[1];
}

/* Whether the thread of a switch has been written, or needs not be: meet_scheduled() in writer_records.c. */
static bool is_written(const struct fxt_feed *feed, uint32_t track)
{
	const struct fxt_state *state = fxt_ahead_state(feed->fxt->ahead);
	const struct tw_track *thread = tw_dictionary_track(state->dictionary, track);
	return fxt_linked_seat(&feed->fxt->links, track) || (track && !thread->process && !thread->name);
}

int fxt_feed_switch(struct fxt_passage *passage, struct fxt_feed *feed, const struct tw_slab *slab,
                    const struct tw_event_key *brief)
{
	const uint8_t *record = slab->ready + brief->number;
	uint64_t koids[2];
	threads_of(record, koids);
	if (!have_met(feed, koids)) {
		const struct tw_event row = switch_of(feed, slab, brief);
		if (!is_written(feed, row.track) || (row.kind == TW_SWITCH && !is_written(feed, row.other)))
			return fxt_feed_row(passage, feed, &row, NULL, fxt_merged_time(&feed->shift, row.time));
		*place_of(&feed->met, koids[0]) = koids[0];
		*place_of(&feed->met, koids[1]) = koids[1];
	}
	passage->passed->events++;
	tw_put(&passage->writer->out, record, (size_t)tw_bits(tw_load64(record, false), 4, 15) * TW_FXT_WORD);
	return 0;
}
