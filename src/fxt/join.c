/* join.c - archives that are merged, straight to the records of one.
 *
 * Threads that read ahead have made nearly all events ready to be written. A tree of all chunks that events are taken
 * from tells which is next: its record goes from where it was made to the output. In the tree, each archive has a gate,
 * too, which stands where its next chunk begins. What could not be made ready is a row: feed.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "fxt/feed.h"
#include "fxt/writer.h"

/* A chunk that events are taken from, or the gate of an archive. */
struct strand {
	const struct tw_brief *next, *end; /* NULL: it is a gate */
	uint64_t late_until;               /* what is earlier came too late: events after it had been delivered */
	struct fxt_shift shift;
	const struct tw_slab *slab;
	struct tw_order_lane *lane;
	struct fxt_feed *feed; /* NULL: nothing; it can be used */
};

struct join {
	struct fxt_passage passage;
	struct fxt_feed feeds[TW_MERGE_SOURCES]; /* those that have events, in the order of the sources */
	size_t count, open;
	struct strand *strands;
	uint64_t *times; /* of each strand: when its next event is; UINT64_MAX: there is none */
	uint32_t *tree;  /* number n is the earlier of 2n and 2n + 1; leaves are strands */
	size_t width;    /* leaves: a power of two */
};

/* ---- Which is next. ---- */

/* Of two at one time. What is behind a gate may be first; of one archive, the order is that of its sorter. */
static __attribute__((noinline)) uint32_t first_of_equals(const struct join *join, uint32_t left, uint32_t right)
{
	const struct strand *a = &join->strands[left], *b = &join->strands[right];
	if (!a->feed || !b->feed)
		return a->feed ? left : right;
	if (!a->next || !b->next)
		return a->next ? right : left;
	if (a->feed != b->feed)
		return a->feed < b->feed ? left : right;
	return tw_sorter_goes_first(&a->feed->fxt->sorter, a->lane, a->next, b->lane, b->next) ? left : right;
}

static inline uint32_t earlier(const struct join *join, uint32_t left, uint32_t right)
{
	uint64_t a = join->times[left], b = join->times[right];
	if (__builtin_expect(a == b, 0))
		return first_of_equals(join, left, right);
	return b < a ? right : left;
}

/* Finds the first again, after the time of one has changed. */
static inline void play(const struct join *join, uint32_t strand)
{
	uint32_t *tree = join->tree, winner = strand;
	for (size_t i = join->width + strand; i > 1; i /= 2) {
		winner = earlier(join, winner, tree[i ^ 1]);
		tree[i / 2] = winner;
	}
}

static void plant(struct join *join)
{
	for (size_t i = 0; i < join->width; i++)
		join->tree[join->width + i] = (uint32_t)i;
	for (size_t i = join->width - 1; i > 0; i--)
		join->tree[i] = earlier(join, join->tree[2 * i], join->tree[2 * i + 1]);
}

static int no_memory(const struct join *join)
{
	return tw_fail(join->passage.merged, TW_ERR_MEMORY, "out of memory");
}

/* Twice as many leaves. Returns 0 or a negative status. */
static int widen(struct join *join)
{
	enum { LEAVES_LEAST = 8 };
	size_t width = join->width ? join->width * 2 : LEAVES_LEAST, rooms[] = {join->width, join->width, 0};
	if (!tw_grow(&join->strands, &rooms[0], width, sizeof *join->strands) ||
	    !tw_grow(&join->times, &rooms[1], width, sizeof *join->times))
		return no_memory(join);
	free(join->tree);
	join->tree = NULL;
	if (!tw_grow(&join->tree, &rooms[2], 2 * width, sizeof *join->tree))
		return no_memory(join);
	for (size_t i = join->width; i < width; i++)
		join->times[i] = UINT64_MAX;
	join->width = width;
	plant(join);
	return 0;
}

static int find_unused(struct join *join, uint32_t *found)
{
	size_t i = 0;
	while (i < join->width && join->strands[i].feed)
		i++;
	*found = (uint32_t)i;
	return i < join->width ? 0 : widen(join);
}

/* ---- Chunks. ---- */

static void set_gate(struct join *join, const struct fxt_feed *feed)
{
	const struct tw_sorter *sorter = &feed->fxt->sorter;
	join->times[feed->gate] =
	    sorter->head_count ? fxt_merged_time(&feed->shift, tw_sorter_first(sorter)) : UINT64_MAX;
	play(join, feed->gate);
}

/* After a chunk has been made or used up: others may come, which may be first. Returns 0 or a negative status. */
static int go_on(struct join *join, struct fxt_feed *feed)
{
	struct tw_reader *reader = feed->input->reader;
	int status = fxt_go_on(reader);
	if (status < 0)
		return tw_fail(join->passage.merged, status, "%s", tw_reader_error(reader));
	set_gate(join, feed);
	if (status > 0)
		return 0;
	join->strands[feed->gate] = (struct strand){0};
	join->open--;
	return tw_merge_end(join->passage.merged, feed->input);
}

/* The time of the last event of an archive that was delivered. */
static uint64_t last_time(const struct join *join, const struct fxt_feed *feed)
{
	uint64_t last = feed->last;
	for (size_t i = 0; i < join->width; i++) {
		const struct strand *strand = &join->strands[i];
		if (strand->feed != feed || !strand->next || strand->next == strand->slab->briefs)
			continue;
		last = strand->next[-1].time > last ? strand->next[-1].time : last;
	}
	return last;
}

static int add_strand(struct join *join, struct fxt_feed *feed, struct tw_order_lane *lane)
{
	const struct tw_slab *slab = lane->slab;
	uint32_t i;
	int status = find_unused(join, &i);
	if (status < 0)
		return status;
	join->strands[i] = (struct strand){.next = slab->briefs,
	                                   .end = slab->briefs + slab->brief_count,
	                                   .late_until = last_time(join, feed),
	                                   .shift = feed->shift,
	                                   .slab = slab,
	                                   .lane = lane,
	                                   .feed = feed};
	join->times[i] = fxt_merged_time(&feed->shift, slab->briefs->time);
	play(join, i);
	return 0;
}

/* Takes what is behind the gate. Returns 0 or a negative status. */
static int pass_gate(struct join *join, struct fxt_feed *feed)
{
	struct tw_order_lane *lane;
	int status = tw_sorter_take(&feed->fxt->sorter, &lane);
	if (status < 0)
		return tw_fail(join->passage.merged, status, "%s", tw_reader_error(feed->input->reader));
	if (!lane)
		return go_on(join, feed);
	set_gate(join, feed);
	return add_strand(join, feed, lane);
}

static int end_strand(struct join *join, uint32_t i)
{
	struct strand *strand = &join->strands[i];
	struct fxt_feed *feed = strand->feed;
	uint64_t last = strand->end[-1].time;
	feed->last = last > feed->last ? last : feed->last;
	strand->lane->next = strand->slab->brief_count;
	*strand = (struct strand){0};
	join->times[i] = UINT64_MAX;
	play(join, i);
	return go_on(join, feed);
}

/* ---- Events. ---- */

/* Another processor wrote them: `make bench` measures merge. */
static inline void look_ahead(const struct strand *strand)
{
	enum { FAR = 32, NEAR = 6 };
	if (strand->end - strand->next <= FAR)
		return;
	const struct tw_brief *near = strand->next + NEAR;
	__builtin_prefetch(strand->next + FAR);
	__builtin_prefetch(near->tags & TW_BRIEF_READY ? (const void *)(strand->slab->ready + near->number)
	                                               : (const void *)&strand->slab->events[near->number]);
}

static int put_row(struct join *join, const struct strand *strand, uint64_t time)
{
	const struct tw_argument *arguments = NULL;
	const struct tw_event *row = tw_slab_row(strand->slab, strand->next, &arguments);
	return fxt_feed_row(&join->passage, strand->feed, row, arguments, time);
}

static __attribute__((noinline)) void note_late(const struct strand *strand)
{
	struct tw_sorter *sorter = &strand->feed->fxt->sorter;
	sorter->last = strand->late_until;
	tw_sorter_note_late(sorter, strand->slab, strand->next);
}

/* Goes to the next event of a strand. Returns 0 or a negative status. */
static inline int step(struct join *join, uint32_t i)
{
	struct strand *strand = &join->strands[i];
	if (++strand->next == strand->end)
		return end_strand(join, i);
	look_ahead(strand);
	join->times[i] = fxt_merged_time(&strand->shift, strand->next->time);
	play(join, i);
	return 0;
}

/* Copies a record that was made ready. Returns its size. */
static inline size_t copy(char *to, const struct strand *strand)
{
	enum { SHORT = 4 * TW_FXT_WORD }; /* most records; so much can be read from any place */
	const uint8_t *record = strand->slab->ready + strand->next->number;
	size_t size = (size_t)tw_bits(tw_load64(record, false), 4, 15) * TW_FXT_WORD;
	memcpy(to, record, SHORT);
	if (__builtin_expect(size > SHORT, 0))
		memcpy(to + SHORT, record + SHORT, size - SHORT);
	return size;
}

/* Writes events as long as they have been made ready and there is room for them. Returns 0 or a negative status. */
static int put_ready(struct join *join)
{
	struct tw_output *out = &join->passage.writer->out;
	char *from = tw_output_room(out, FXT_READY_MOST), *to = from;
	const char *last = out->buffer + TW_OUTPUT_BUFFER - FXT_READY_MOST;
	uint64_t count = 0, end = 0;
	int status = 0;
	for (; to <= last && status == 0; count++) {
		uint32_t i = join->tree[1];
		const struct strand *strand = &join->strands[i];
		if (!strand->next || !(strand->next->tags & TW_BRIEF_READY))
			break;
		if (__builtin_expect(strand->next->time < strand->late_until, 0))
			note_late(strand);
		to += copy(to, strand);
		end = join->times[i];
		status = step(join, i);
	}
	if (count)
		join->passage.merged->clock.end_ns = end;
	tw_output_took(out, (size_t)(to - from));
	join->passage.passed->events += count;
	return status;
}

/* Goes on where no record is ready: at a row or a gate. Returns 0 or a negative status. */
static int put_other(struct join *join)
{
	uint32_t i = join->tree[1];
	const struct strand *strand = &join->strands[i];
	if (!strand->next)
		return strand->feed ? pass_gate(join, strand->feed) : 0;
	if (strand->next->tags & TW_BRIEF_READY)
		return 0;
	if (strand->next->time < strand->late_until)
		note_late(strand);
	join->passage.merged->clock.end_ns = join->times[i];
	int status = put_row(join, strand, join->times[i]);
	return status < 0 ? status : step(join, i);
}

/* ---- The beginning. ---- */

/* Adds a feed with its gate. Returns 0 or a negative status. */
static int add_feed(struct join *join, struct tw_merge_input *input)
{
	struct fxt_feed *feed = &join->feeds[join->count];
	*feed = (struct fxt_feed){.input = input, .fxt = input->reader->state};
	int status = find_unused(join, &feed->gate);
	if (status < 0)
		return status;
	join->strands[feed->gate].feed = feed;
	join->count++;
	join->open++;
	return 0;
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
	input->some = lane;
	if (lane)
		status = add_feed(join, input);
	return status < 0 || !lane ? status : add_strand(join, &join->feeds[join->count - 1], lane);
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
	set_gate(join, feed);
	if (can_link(join))
		fxt_links_begin(&feed->fxt->links, feed->fxt->ahead, &feed->input->time);
}

/* The first event of each; then it is known how times change. */
static int begin(struct join *join)
{
	struct tw_merge *merge = join->passage.merged->state;
	int status = widen(join);
	for (size_t i = 0; i < merge->count && status == 0; i++)
		status = begin_input(join, &merge->inputs[i]);
	status = status < 0 ? status : tw_merge_align(join->passage.merged);
	for (size_t i = 0; i < join->count && status == 0; i++)
		link_feed(join, &join->feeds[i]);
	for (size_t i = 0; i < join->width && status == 0; i++) {
		struct strand *strand = &join->strands[i];
		if (!strand->next)
			continue;
		strand->shift = strand->feed->shift;
		join->times[i] = fxt_merged_time(&strand->shift, strand->next->time);
	}
	plant(join);
	return status;
}

static int join_all(struct join *join)
{
	struct fxt_passage *passage = &join->passage;
	int status = begin(join);
	while (status == 0 && join->open && passage->passed->written >= 0 && !passage->writer->out.error) {
		status = put_ready(join);
		status = status < 0 || join->open == 0 ? status : put_other(join);
	}
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
	int status = join_all(join);
	free(join->strands);
	free(join->times);
	free(join->tree);
	free(join);
	return status;
}
