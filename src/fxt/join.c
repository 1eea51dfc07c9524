/* join.c - archives that are merged, from the rows of each straight to the records of one.
 *
 * Nearly all rows are events whose names and thread have been written before: then a row is its record but for the time
 * and a few indices, which two tables for each archive tell. It goes from where it was decoded to the output, and
 * nothing is copied in between. All others go the way of rows from any format: they are mapped to the merged
 * dictionary and given to the writer, which leaves what the tables need. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>

#include "core/merge.h"
#include "fxt/fxt.h"
#include "fxt/writer.h"

enum { STATE_MAX = 15 }; /* of a thread, in a context switch */

/* A track of an archive, as far as it has been written. */
struct seat {
	uint64_t koid;
	uint8_t index; /* of the thread table; 0: it was full */
	bool met;
};

/* An archive. */
struct feed {
	struct tw_merge_input *input;
	struct tw_sorter *sorter;
	const struct tw_brief *brief; /* of the next row */
	bool turned;                  /* the one before it was of another chunk */
	uint16_t *names;              /* by number of its dictionary: the index of the string table, or 0 */
	size_t name_room;
	struct seat *seats; /* by number of the track */
	size_t seat_room;
};

struct join {
	struct tw_writer *writer;
	struct tw_reader *merged;
	struct tw_passed *passed;
	struct feed feeds[TW_MERGE_SOURCES]; /* those that have rows, in the order of the sources */
	size_t count;
	uint64_t heads[TW_MERGE_SOURCES + 1]; /* when their next rows are; behind them the end of time */
	size_t width;                         /* leaves of the tree: a power of two */
	uint16_t tree[2 * TW_MERGE_SOURCES];  /* number n is the earlier of 2n and 2n + 1; leaves are feeds */
	struct tw_argument arguments[UINT8_MAX];
};

/* ---- Which is next. ---- */

static uint16_t earlier(const struct join *join, uint16_t left, uint16_t right)
{
	return join->heads[right] < join->heads[left] ? right : left;
}

/* Finds the first again, after the head of one has changed. */
static inline void play(struct join *join, size_t feed)
{
	for (size_t i = (join->width + feed) / 2; i > 0; i /= 2)
		join->tree[i] = earlier(join, join->tree[2 * i], join->tree[2 * i + 1]);
}

static void plant(struct join *join)
{
	join->width = 2;
	while (join->width < join->count)
		join->width *= 2;
	join->heads[join->count] = UINT64_MAX;
	for (size_t i = 0; i < join->width; i++)
		join->tree[join->width + i] = (uint16_t)(i < join->count ? i : join->count);
	for (size_t i = join->width - 1; i > 0; i--)
		join->tree[i] = earlier(join, join->tree[2 * i], join->tree[2 * i + 1]);
}

/* ---- Rows that are known. ---- */

static inline uint64_t index_of(const struct feed *feed, uint32_t name)
{
	return name < feed->name_room ? feed->names[name] : 0;
}

static inline const struct seat *seat_of(const struct feed *feed, uint32_t track)
{
	static const struct seat none = {0};
	return track < feed->seat_room ? &feed->seats[track] : &none;
}

static inline bool is_whole(const struct tw_brief *brief)
{
	return brief->form & TW_BRIEF_WHOLE;
}

static inline uint8_t flags_of(const struct tw_brief *brief)
{
	return brief->form >> 1;
}

static inline void put_tail(struct fxt_writer *w, struct fxt_put *put, const struct tw_brief *brief, uint64_t time)
{
	enum fxt_tail tail = fxt_shapes[brief->kind].tail;
	if (tail == FXT_TAIL_SCOPE)
		fxt_put_word(put, fxt_scope_of(flags_of(brief)));
	else if (tail == FXT_TAIL_ID)
		fxt_put_word(put, brief->word);
	else if (tail == FXT_TAIL_END)
		fxt_put_word(put, fxt_ticks_of(w, tw_sum(time, brief->word)));
}

/* The arguments of a row; false where a name of theirs is new. */
static bool gather(const struct feed *feed, const struct tw_event *row, const struct tw_argument *arguments,
                   struct fxt_items *items)
{
	items->count = row->argument_count;
	if (items->count > TW_FXT_ARGUMENTS_MAX)
		return false;
	for (unsigned i = 0; i < items->count; i++) {
		uint64_t index = index_of(feed, arguments[i].name);
		if (index == 0 && arguments[i].name)
			return false;
		items->items[i] = (struct fxt_item){.name.reference = (uint16_t)index, .argument = &arguments[i]};
	}
	return true;
}

/* Writes an event whose names have been written; false where one has not. items: its arguments, or NULL. */
static inline bool put_event(struct fxt_writer *w, const struct feed *feed, const struct tw_brief *brief, uint64_t time,
                             uint32_t track, const struct fxt_items *items)
{
	const struct fxt_shape *shape = &fxt_shapes[brief->kind];
	uint64_t name = index_of(feed, brief->name), category = index_of(feed, brief->category);
	uint64_t thread = seat_of(feed, track)->index;
	if (!thread || !name != !brief->name || !category != !brief->category)
		return false;
	uint64_t header = fxt_event_header(shape->kind, thread, category, name);
	struct fxt_put put = fxt_put_begin(&w->writer->out, w->intern->big);
	fxt_put_word(&put, fxt_ticks_of(w, time));
	if (items && items->count)
		header |= fxt_put_items(w, &put, items, shape->tail != FXT_NO_TAIL) << 20;
	put_tail(w, &put, brief, time);
	fxt_put_end(&w->writer->out, &put, header);
	return true;
}

/* The same of one that has a row. */
static __attribute__((noinline)) bool put_row(struct fxt_writer *w, const struct feed *feed, uint64_t time)
{
	struct fxt_items items;
	const struct tw_argument *arguments = NULL;
	const struct tw_event *row = tw_sorter_row(feed->sorter, feed->brief, &arguments);
	struct tw_brief brief = *feed->brief;
	brief.name = row->name;
	brief.category = row->category;
	brief.form = (uint8_t)(row->flags << 1);
	return !(row->flags & ~(TW_FLAG_PROCESS | TW_FLAG_GLOBAL)) && gather(feed, row, arguments, &items) &&
	       put_event(w, feed, &brief, time, row->track, &items);
}

static bool put_scheduling(struct fxt_writer *w, const struct feed *feed, uint64_t time)
{
	const struct tw_argument *unused = NULL;
	const struct tw_event *row = tw_sorter_row(feed->sorter, feed->brief, &unused);
	const struct seat *seat = seat_of(feed, row->track), *other = seat_of(feed, row->other);
	bool wakeup = row->kind == TW_WAKEUP;
	if (!seat->met || (row->other && (wakeup || !other->met)) || row->argument_count || row->name ||
	    row->category || row->value > STATE_MAX)
		return false;
	struct fxt_put put = fxt_put_begin(&w->writer->out, w->intern->big);
	fxt_put_word(&put, fxt_ticks_of(w, time));
	fxt_put_word(&put, seat->koid);
	if (!wakeup)
		fxt_put_word(&put, row->other ? other->koid : 0);
	fxt_put_end(&w->writer->out, &put,
	            fxt_scheduling_header(fxt_shapes[row->kind].kind, row->cpu, wakeup ? 0 : row->value, 0));
	return true;
}

static inline bool put_known(struct fxt_writer *w, const struct feed *feed, uint64_t time)
{
	const struct tw_brief *brief = feed->brief;
	if (is_whole(brief))
		return put_event(w, feed, brief, time, brief->track, NULL);
	if (brief->kind <= TW_FLOW_END)
		return put_row(w, feed, time);
	return (brief->kind == TW_SWITCH || brief->kind == TW_WAKEUP) && put_scheduling(w, feed, time);
}

/* ---- Rows with something new. ---- */

static bool learn_name(const struct join *join, struct feed *feed, uint32_t own)
{
	const struct fxt_intern *in = ((const struct fxt_writer *)join->writer->state)->intern;
	uint32_t known = own < feed->input->name_room ? feed->input->names[own] : 0;
	if (known == 0 || known >= in->string_room || in->strings[known] == 0)
		return true;
	if (!tw_grow(&feed->names, &feed->name_room, own + (size_t)1, sizeof *feed->names))
		return false;
	feed->names[own] = in->strings[known];
	return true;
}

static bool learn_track(const struct join *join, struct feed *feed, uint32_t own)
{
	const struct fxt_intern *in = ((const struct fxt_writer *)join->writer->state)->intern;
	uint32_t known = own < feed->input->track_room ? feed->input->tracks[own] : 0;
	if (known == 0 || known >= in->tracks_seen || !in->tracks[known].met)
		return true;
	if (!tw_grow(&feed->seats, &feed->seat_room, own + (size_t)1, sizeof *feed->seats))
		return false;
	feed->seats[own] = (struct seat){fxt_koids_of(in, known).thread, in->tracks[known].index, true};
	return true;
}

/* Learns what the writer knows now. */
static bool learn(const struct join *join, struct feed *feed, const struct tw_event *row,
                  const struct tw_argument *arguments)
{
	bool fine = learn_name(join, feed, row->name) && learn_name(join, feed, row->category) &&
	            learn_track(join, feed, row->track);
	if (fine && (row->kind == TW_SWITCH || row->kind == TW_WAKEUP))
		fine = learn_track(join, feed, row->other);
	for (unsigned i = 0; i < row->argument_count && fine; i++)
		fine = learn_name(join, feed, arguments[i].name);
	return fine;
}

static int no_memory(struct tw_reader *merged)
{
	return tw_fail(merged, TW_ERR_MEMORY, "out of memory");
}

/* The whole of what is next. */
static struct tw_event event_of(const struct feed *feed, const struct tw_argument **arguments)
{
	const struct tw_brief *brief = feed->brief;
	if (!is_whole(brief))
		return *tw_sorter_row(feed->sorter, brief, arguments);
	bool complete = brief->kind == TW_SLICE_COMPLETE;
	return (struct tw_event){
	    .time = brief->time,
	    .offset = tw_sorter_slab(feed->sorter)->offset + brief->place,
	    .value = complete ? brief->word : 0,
	    .id = complete ? 0 : brief->word,
	    .track = brief->track,
	    .name = brief->name,
	    .category = brief->category,
	    .kind = brief->kind,
	    .flags = flags_of(brief),
	};
}

/* As a row of any format. Returns 0 or a negative status. */
static int put_new(struct join *join, struct feed *feed, uint64_t time)
{
	const struct tw_argument *arguments = NULL;
	const struct tw_event own = event_of(feed, &arguments);
	struct tw_event event = own;
	if (event.argument_count)
		memcpy(join->arguments, arguments, event.argument_count * sizeof *join->arguments);
	event.first_argument = 0;
	event.time = time;
	if (!tw_merge_map(join->merged, feed->input, &event, join->arguments))
		return no_memory(join->merged);
	join->passed->written = tw_write(join->writer, join->merged, &(struct tw_batch){&event, 1, join->arguments});
	if (join->passed->written < 0)
		return 0;
	return learn(join, feed, &own, arguments) ? 0 : no_memory(join->merged);
}

/* ---- The feeds. ---- */

static inline void take_row(struct join *join, size_t i)
{
	struct feed *feed = &join->feeds[i];
	feed->brief = tw_sorter_brief(feed->sorter);
	join->heads[i] = tw_merge_time(&feed->input->time, feed->brief->time);
}

static void free_feed(struct feed *feed)
{
	free(feed->names);
	free(feed->seats);
}

/* One that has no more rows. */
static int end_feed(struct join *join, size_t i)
{
	struct tw_merge_input *input = join->feeds[i].input;
	free_feed(&join->feeds[i]);
	join->count--;
	memmove(&join->feeds[i], &join->feeds[i + 1], (join->count - i) * sizeof *join->feeds);
	memmove(&join->heads[i], &join->heads[i + 1], (join->count - i) * sizeof *join->heads);
	plant(join);
	return tw_merge_end(join->merged, input);
}

/* Goes to the next row of a feed where it is not in the same lane, or there is none. */
static int turn(struct join *join, size_t i)
{
	struct tw_reader *reader = join->feeds[i].input->reader;
	int status = fxt_turn(reader);
	if (status < 0)
		return tw_fail(join->merged, status, "%s", tw_reader_error(reader));
	if (status == 0)
		return end_feed(join, i);
	take_row(join, i);
	join->feeds[i].turned = true;
	play(join, i);
	return 0;
}

static inline int step(struct join *join, size_t i)
{
	if (!tw_sorter_step(join->feeds[i].sorter))
		return turn(join, i);
	take_row(join, i);
	join->feeds[i].turned = false;
	play(join, i);
	return 0;
}

static uint64_t lost_bytes(const struct feed *feed)
{
	const struct tw_argument *unused = NULL;
	return tw_sorter_row(feed->sorter, feed->brief, &unused)->value;
}

static inline void count(struct join *join, const struct feed *feed)
{
	const struct tw_brief *brief = feed->brief;
	assert(brief);
	if (brief->kind == TW_LOST)
		join->passed->lost_bytes = tw_sum(join->passed->lost_bytes, lost_bytes(feed));
	else
		join->passed->events++;
	if (brief->time >= feed->sorter->last)
		feed->sorter->last = brief->time;
	else if (feed->turned) /* the end of a blob, which has the time of its beginning, is not late */
		tw_sorter_note_late(feed->sorter);
}

/* Writes the next row of all. Returns 0 or a negative status. */
static inline int put_first(struct join *join)
{
	size_t i = join->tree[1];
	struct feed *feed = &join->feeds[i];
	uint64_t time = join->heads[i];
	struct fxt_writer *w = join->writer->state;
	count(join, feed);
	join->merged->clock.end_ns = time;
	int status = put_known(w, feed, time) ? 0 : put_new(join, feed, time);
	return status < 0 ? status : step(join, i);
}

/* The first row of each; then it is known how times change. */
static int begin(struct join *join)
{
	struct tw_merge *merge = join->merged->state;
	for (size_t i = 0; i < merge->count; i++) {
		struct tw_merge_input *input = &merge->inputs[i];
		struct fxt_reader *fxt = input->reader->state;
		int status = fxt_turn(input->reader);
		if (status < 0)
			return tw_fail(join->merged, status, "%s", tw_reader_error(input->reader));
		input->some = status > 0;
		if (input->some)
			join->feeds[join->count++] = (struct feed){.input = input, .sorter = &fxt->sorter};
	}
	int status = tw_merge_align(join->merged);
	for (size_t i = 0; i < join->count && status == 0; i++)
		take_row(join, i);
	plant(join);
	return status;
}

static int join_all(struct join *join)
{
	int status = begin(join);
	while (status == 0 && join->count && join->passed->written >= 0) {
		status = put_first(join);
		if (join->writer->out.error)
			break;
	}
	tw_merge_count_findings(join->merged);
	/* names that tracks got at the end, and what went wrong with the output */
	if (status == 0 && join->passed->written >= 0)
		join->passed->written = tw_write(join->writer, join->merged, &(struct tw_batch){0});
	return status;
}

int fxt_join(struct tw_writer *writer, struct tw_reader *merged, struct tw_passed *passed)
{
	struct join *join = calloc(1, sizeof *join);
	if (!join)
		return no_memory(merged);
	join->writer = writer;
	join->merged = merged;
	join->passed = passed;
	int status = join_all(join);
	for (size_t i = 0; i < join->count; i++)
		free_feed(&join->feeds[i]);
	free(join);
	return status;
}
