/* join.c - several FXT archives merged straight to the records of one.
 *
 * Threads that read ahead have made nearly all events ready to be written (ready.c). From every chunk that is open, the
 * events up to some time are taken, a few thousand in all, sorted at once, and their records are copied to the output.
 * That time lies before the end of every open chunk, and no chunk that is still to come begins before it. Events that
 * could not be made ready are rows: feed.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/inline.h"
#include "base/memory/memory.h"
#include "fxt/merge/feed.h"
#include "fxt/write/writer.h"

#include <stdlib.h>

enum {
	SLOT = 8192,     /* events that are sorted at once, at most: they stay in a near cache (`make bench`, merge) */
	QUOTA_LEAST = 8, /* but at least so many of each chunk, however many there are */
	SPAN_BITS = 40   /* of ns that the events of a slot may span, so that time and number fit one key */
};

/* A chunk that events are taken from. */
struct strand {
	const struct tw_event_key *next, *end;
	uint64_t head;       /* time of the next event, in the merged trace */
	size_t share;        /* events of it that the next slot may take */
	uint64_t bound;      /* time of the last of these, in the merged trace */
	bool all_move;       /* merging adds the same to all of their times */
	size_t first, taken; /* its events in the slot: number of the first, which is `next`, and how many */
	uint64_t late_until; /* events before this came too late: later ones had been delivered */
	const struct tw_slab *slab;
	struct tw_order_lane *lane;
	struct fxt_feed *feed;
};

/* Events that are sorted at once, numbered as they are taken, strand by strand: those of one time stay in the order of
 * the command line, and of their archive. */
struct slot {
	size_t room, most, count; /* events: there is room for, there may be, there are */
	unsigned number_bits;
	uint64_t from, last;     /* times in the merged trace */
	uint64_t *keys;          /* time since `from`, above the number; with room to sort: twice as much */
	const uint8_t **records; /* by number: the record that was made ready; NULL: there is a row */
	uint32_t *strands;       /* by number: of the strand */
};

struct join {
	struct fxt_passage passage;
	struct fxt_feed feeds[TW_MERGE_DIRECT]; /* archives that have events, in the order of the command line */
	size_t count, open;                     /* feeds; those that have not ended */
	struct fxt_crew *crew;
	struct strand *strands; /* by feed and lane */
	size_t strand_count, strand_room;
	struct slot slot;
};

static int no_memory(const struct join *join)
{
	return tw_fail(join->passage.merged, TW_ERR_MEMORY, "out of memory");
}

/* The time of an event in the merged trace. */
static inline uint64_t time_of(const struct strand *strand, const struct tw_event_key *brief)
{
	return fxt_merged_time(&strand->feed->shift, brief->time);
}

/* ---- Chunks. ---- */

/* Sets which events of a strand the next slot may take. */
static void look(const struct join *join, struct strand *strand)
{
	size_t quota = SLOT / join->strand_count, left = (size_t)(strand->end - strand->next);
	quota = quota > QUOTA_LEAST ? quota : QUOTA_LEAST;
	strand->share = left < quota ? left : quota;
	const struct fxt_shift *shift = &strand->feed->shift;
	uint64_t first = strand->next->time, last = strand->next[strand->share - 1].time;
	strand->head = fxt_merged_time(shift, first);
	strand->bound = fxt_merged_time(shift, last);
	strand->all_move = first >= shift->from && last - shift->from < shift->count;
}

/* Finds when the next chunk begins. */
static void set_gate(struct fxt_feed *feed)
{
	const struct tw_sorter *sorter = &feed->fxt->sorter;
	feed->gated = sorter->head_count;
	feed->gate = fxt_merged_time(&feed->shift, tw_sorter_first(sorter));
}

/* Goes on with an archive after a chunk of it was made or used up. Returns 0 or a negative status. */
static int go_on(struct join *join, struct fxt_feed *feed)
{
	struct tw_reader *reader = feed->input->reader;
	int status = fxt_go_on(reader);
	if (status < 0)
		return tw_fail(join->passage.merged, status, "%s", tw_reader_error(reader));
	set_gate(feed);
	if (status > 0)
		return 0;
	join->open--;
	return tw_merge_end(join->passage.merged, feed->input);
}

/* The time of the last event of an archive that was delivered. */
static uint64_t last_time(const struct join *join, const struct fxt_feed *feed)
{
	uint64_t last = feed->last;
	for (size_t i = 0; i < join->strand_count; i++) {
		const struct strand *strand = &join->strands[i];
		if (strand->feed == feed && strand->next != strand->slab->keys && strand->next[-1].time > last)
			last = strand->next[-1].time;
	}
	return last;
}

static bool stands_before(const struct strand *strand, const struct fxt_feed *feed, const struct tw_order_lane *lane)
{
	return strand->feed != feed ? strand->feed < feed : strand->lane->number < lane->number;
}

static int add_strand(struct join *join, struct fxt_feed *feed, struct tw_order_lane *lane)
{
	uint64_t last = last_time(join, feed);
	size_t place = join->strand_count;
	if (!tw_grow(&join->strands, &join->strand_room, join->strand_count + 1, sizeof *join->strands))
		return no_memory(join);
	for (; place > 0 && !stands_before(&join->strands[place - 1], feed, lane); place--)
		join->strands[place] = join->strands[place - 1];
	join->strands[place] = (struct strand){.next = lane->slab->keys,
	                                       .end = lane->slab->keys + lane->slab->key_count,
	                                       .late_until = last,
	                                       .slab = lane->slab,
	                                       .lane = lane,
	                                       .feed = feed};
	join->strand_count++;
	look(join, &join->strands[place]);
	return 0;
}

/* Opens the next chunk of an archive, or first has its rows made. Returns 0 or a negative status. */
static int take_chunk(struct join *join, struct fxt_feed *feed)
{
	struct tw_order_lane *lane;
	int status = tw_sorter_take(&feed->fxt->sorter, &lane);
	if (status < 0)
		return tw_fail(join->passage.merged, status, "%s", tw_reader_error(feed->input->reader));
	if (!lane)
		return go_on(join, feed);
	set_gate(feed);
	return add_strand(join, feed, lane);
}

/* The archive whose next chunk begins first, and not after a time; NULL where there is none. */
static struct fxt_feed *next_feed(struct join *join, uint64_t until)
{
	struct fxt_feed *next = NULL;
	for (size_t i = 0; i < join->count; i++) {
		struct fxt_feed *feed = &join->feeds[i];
		if (feed->gated && (next ? feed->gate < until : feed->gate <= until)) {
			next = feed;
			until = feed->gate;
		}
	}
	return next;
}

static int end_strand(struct join *join, struct strand *strand)
{
	struct fxt_feed *feed = strand->feed;
	uint64_t last = strand->end[-1].time;
	feed->last = last > feed->last ? last : feed->last;
	strand->lane->next = strand->slab->key_count;
	join->strand_count--;
	memmove(strand, strand + 1, (size_t)(join->strands + join->strand_count - strand) * sizeof *strand);
	return go_on(join, feed);
}

/* Those that come before the time that became 0 are among them. */
static void note_late(const struct join *join, const struct strand *strand, const struct tw_event_key *brief)
{
	struct tw_sorter *sorter = &strand->feed->fxt->sorter;
	if (tw_merge_raises(&strand->feed->shift.whole, brief->time))
		tw_count_loss(join->passage.writer, "time", true);
	sorter->last = strand->late_until;
	tw_sorter_note_late(sorter, strand->slab, brief);
}

/* Moves a strand behind the events that were taken of it, and counts those that came too late. */
static void pass(const struct join *join, struct strand *strand)
{
	if (strand->taken == 0)
		return;
	const struct tw_event_key *to = strand->next + strand->taken;
	for (; strand->next < to && strand->next->time < strand->late_until; strand->next++)
		note_late(join, strand, strand->next);
	strand->next = to;
	strand->taken = 0;
	if (to < strand->end)
		look(join, strand);
}

/* ---- What goes into a slot. ---- */

/* Sets the span of the next slot: from the earliest event to the first time at which a strand has had its share. */
static void find_span(struct join *join)
{
	struct slot *slot = &join->slot;
	slot->from = slot->last = UINT64_MAX;
	slot->most = 0;
	for (size_t i = 0; i < join->strand_count; i++) {
		const struct strand *strand = &join->strands[i];
		slot->from = strand->head < slot->from ? strand->head : slot->from;
		slot->last = strand->bound < slot->last ? strand->bound : slot->last;
		slot->most += strand->share;
	}
	if ((slot->last - slot->from) >> SPAN_BITS)
		slot->last = slot->from + FXT_BITS(0, SPAN_BITS - 1);
}

static int make_room(struct join *join)
{
	struct slot *slot = &join->slot;
	size_t room = slot->most > SLOT ? 2 * slot->most : SLOT;
	size_t rooms[] = {2 * slot->room, slot->room, slot->room};
	slot->count = 0;
	if (slot->room >= slot->most)
		return 0;
	if (!tw_grow(&slot->keys, &rooms[0], 2 * room, sizeof *slot->keys) ||
	    !tw_grow(&slot->records, &rooms[1], room, sizeof *slot->records) ||
	    !tw_grow(&slot->strands, &rooms[2], room, sizeof *slot->strands))
		return no_memory(join);
	slot->room = room;
	slot->number_bits = tw_bits_of(room);
	return 0;
}

/* Takes the events of a strand that are in the span. all_move: as in struct strand. Returns the slot's new count. */
TW_INLINE size_t take_until(struct join *join, const struct strand *strand, bool all_move)
{
	const struct slot *slot = &join->slot;
	const struct fxt_shift *shift = &strand->feed->shift;
	const struct tw_event_key *brief = strand->next, *end = brief + strand->share;
	const uint8_t *ready = strand->slab->ready, **records = slot->records;
	const uint64_t begin = all_move ? brief->time : strand->head, most = slot->last - strand->head;
	const uint64_t away = strand->head - slot->from;
	const uint32_t number = (uint32_t)(strand - join->strands);
	const unsigned bits = slot->number_bits;
	uint64_t *keys = slot->keys, since;
	uint32_t *strands = slot->strands;
	size_t count = slot->count;
	for (; brief < end; brief++, count++) {
		since = (all_move ? brief->time : fxt_merged_time(shift, brief->time)) - begin;
		if (since > most)
			break;
		const uint8_t *record = brief->tags & TW_KEY_READY ? ready + brief->number : NULL;
		__builtin_prefetch(record); /* another processor wrote it: 5% of merge (`make bench`) */
		keys[count] = (since + away) << bits | count;
		records[count] = record;
		strands[count] = number;
	}
	return count;
}

/* Takes the events of a strand that are in the span. */
static void take(struct join *join, struct strand *strand)
{
	struct slot *slot = &join->slot;
	if (strand->head > slot->last)
		return;
	size_t count = strand->all_move ? take_until(join, strand, true) : take_until(join, strand, false);
	strand->first = slot->count;
	strand->taken = count - slot->count;
	slot->count = count;
}

static inline size_t number_of(const struct slot *slot, uint64_t key)
{
	return (size_t)(key & ((UINT64_C(1) << slot->number_bits) - 1));
}

static inline struct strand *strand_of(const struct join *join, uint64_t key)
{
	return &join->strands[join->slot.strands[number_of(&join->slot, key)]];
}

static const struct tw_event_key *brief_of(const struct join *join, uint64_t key)
{
	const struct strand *strand = strand_of(join, key);
	return strand->next + (number_of(&join->slot, key) - strand->first);
}

/* ---- Writing. ---- */

/* Copies a record that was made ready. Returns its size. */
static inline size_t copy(char *to, const uint8_t *record)
{
	enum { SHORT = 4 * TW_FXT_WORD }; /* most records; so much can be read from any place */
	size_t size = (size_t)tw_bits(tw_load64(record, false), 4, 15) * TW_FXT_WORD;
	memcpy(to, record, SHORT);
	if (__builtin_expect(size > SHORT, 0))
		memcpy(to + SHORT, record + SHORT, size - SHORT);
	return size;
}

/* Writes events as long as they have been made ready and there is room for them. Returns how many. */
static size_t put_ready(struct join *join, const uint64_t *keys, size_t count)
{
	struct tw_output *out = &join->passage.writer->out;
	char *from = tw_output_room(out, FXT_READY_MOST), *to = from;
	const char *last = out->buffer + TW_OUTPUT_BUFFER - FXT_READY_MOST;
	size_t i = 0;
	for (; i < count && to <= last; i++) {
		const uint8_t *record = join->slot.records[number_of(&join->slot, keys[i])];
		if (!record)
			break;
		to += copy(to, record);
	}
	tw_output_took(out, (size_t)(to - from));
	join->passage.passed->events += i;
	return i;
}

static int put_row(struct join *join, uint64_t key)
{
	const struct strand *strand = strand_of(join, key);
	const struct tw_event_key *brief = brief_of(join, key);
	if (brief->tags & TW_KEY_SWITCH)
		return fxt_feed_switch(&join->passage, strand->feed, strand->slab, brief);
	const struct tw_argument *arguments = NULL;
	const struct tw_event *row = tw_slab_row(strand->slab, brief, &arguments);
	return fxt_feed_row(&join->passage, strand->feed, row, arguments, time_of(strand, brief));
}

/* Writes events. Returns 0 or a negative status. */
static int put_events(struct join *join, const uint64_t *keys, size_t count)
{
	int status = 0;
	for (size_t i = 0; i < count && status == 0 && join->passage.passed->written >= 0;) {
		i += put_ready(join, keys + i, count - i);
		if (i < count && !join->slot.records[number_of(&join->slot, keys[i])])
			status = put_row(join, keys[i++]);
	}
	join->passage.merged->clock.end_ns = join->slot.from + (keys[count - 1] >> join->slot.number_bits);
	return status;
}

/* ---- Slots. ---- */

/* Those before the last time of the span: no strand ends with them. */
static int put_slot(struct join *join)
{
	struct slot *slot = &join->slot;
	slot->last--;
	for (size_t i = 0; i < join->strand_count; i++)
		take(join, &join->strands[i]);
	uint64_t *keys = tw_sort_keys(slot->keys, slot->count, slot->number_bits, tw_bits_of(slot->last - slot->from));
	int status = put_events(join, keys, slot->count);
	for (size_t i = 0; i < join->strand_count; i++)
		pass(join, &join->strands[i]);
	return status;
}

/* Where all of the span is one time: events of the first strand that has some, which may end with them. */
static int put_equals(struct join *join)
{
	struct strand *strand = join->strands;
	while (strand->head != join->slot.from)
		strand++;
	take(join, strand);
	int status = put_events(join, join->slot.keys, join->slot.count);
	pass(join, strand);
	return status < 0 || strand->next < strand->end ? status : end_strand(join, strand);
}

/* Takes all chunks that begin in the span, which may make it shorter. Returns 0 or a negative status. */
static int take_chunks(struct join *join)
{
	struct fxt_feed *feed;
	int status = 0;
	do {
		find_span(join);
		feed = next_feed(join, join->slot.last);
		status = feed ? take_chunk(join, feed) : 0;
	} while (feed && status == 0);
	return status;
}

/* Writes some events. Returns 0 or a negative status. */
static int put_some(struct join *join)
{
	int status = take_chunks(join);
	if (status == 0 && join->strand_count)
		status = make_room(join);
	if (status < 0 || join->strand_count == 0)
		return status;
	return join->slot.from < join->slot.last ? put_slot(join) : put_equals(join);
}

/* ---- The beginning. ---- */

/* From now on threads may read an input ahead. Returns 0 or a negative status. */
static int set_out(const struct join *join, struct tw_merge_input *input)
{
	int status = fxt_set_out(input->reader, join->crew);
	return status < 0 ? tw_fail(join->passage.merged, status, "%s", tw_reader_error(input->reader)) : 0;
}

/* Goes to the first event of an input, if there is one. Returns 0 or a negative status. */
static int begin_input(struct join *join, struct tw_merge_input *input)
{
	struct tw_reader *reader = input->reader;
	struct fxt_reader *fxt = reader->state;
	struct tw_order_lane *lane = NULL;
	int status = fxt_go_on(reader);
	while (status > 0 && !lane) {
		status = tw_sorter_take(&fxt->sorter, &lane);
		status = status < 0 || lane ? status : fxt_go_on(reader);
	}
	if (status < 0)
		return tw_fail(join->passage.merged, status, "%s", tw_reader_error(reader));
	input->trace->some = lane;
	if (!lane)
		return 0;
	struct fxt_feed *feed = &join->feeds[join->count++];
	*feed = (struct fxt_feed){.input = input, .fxt = fxt};
	join->open++;
	return add_strand(join, feed, lane);
}

/* Records are made ready where ticks are nanoseconds and words little endian, as they are unless somebody wants others.
 */
static bool can_link(const struct join *join)
{
	const struct tw_write_options *options = &join->passage.writer->options;
	bool big = options->byte_order == TW_BYTES_BIG || options->byte_order == TW_BYTES_BIG_LSB;
	return (options->ticks_per_second == 0 || options->ticks_per_second == TW_NS_PER_SECOND) && !big;
}

/* Brings what is known of a feed to the times of the merged trace. */
static void link_feed(struct join *join, struct fxt_feed *feed)
{
	feed->shift = fxt_shift_of(&feed->input->time);
	set_gate(feed);
	if (can_link(join))
		fxt_links_begin(&feed->fxt->links, feed->fxt->ahead, &feed->input->time);
}

/* The first event of each; then it is known how times change. */
static int begin(struct join *join)
{
	struct tw_merge *merge = join->passage.merged->state;
	int status = 0;
	for (size_t i = 0; i < merge->count && status == 0; i++)
		status = set_out(join, &merge->inputs[i]);
	for (size_t i = 0; i < merge->count && status == 0; i++)
		status = begin_input(join, &merge->inputs[i]);
	status = status < 0 ? status : tw_merge_align(join->passage.merged);
	for (size_t i = 0; i < join->count && status == 0; i++)
		link_feed(join, &join->feeds[i]);
	for (size_t i = 0; i < join->strand_count && status == 0; i++)
		look(join, &join->strands[i]);
	return status;
}

static int join_all(struct join *join)
{
	struct fxt_passage *passage = &join->passage;
	int status = begin(join);
	while (status == 0 && join->open && passage->passed->written >= 0 && !passage->writer->out.error)
		status = put_some(join);
	tw_merge_count_findings(passage->merged);
	/* names that tracks got at the end, and what went wrong with the output */
	if (status == 0 && passage->passed->written >= 0)
		passage->passed->written = tw_write(passage->writer, passage->merged, &(struct tw_batch){0});
	return status;
}

int fxt_join(struct tw_writer *writer, struct tw_reader *merged, struct tw_passed *passed)
{
	struct join *join = calloc(1, sizeof *join);
	if (!join)
		return tw_fail(merged, TW_ERR_MEMORY, "out of memory");
	join->passage.writer = writer;
	join->passage.merged = merged;
	join->passage.passed = passed;
	join->crew = fxt_crew_new(merged->options.jobs);
	int status = join->crew ? join_all(join) : no_memory(join);
	fxt_crew_release(join->crew);
	free(join->strands);
	free(join->slot.keys);
	free(join->slot.records);
	free(join->slot.strands);
	free(join);
	return status;
}
