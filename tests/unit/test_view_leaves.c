/* test_view_leaves.c - slices that an index does not keep are those that it would: read from the trace again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_archives.h"
#include "suite.h"

#include "core/format.h"
#include "fdr/state.h"
#include "view/index/bare.h"
#include "view/index/leaves.h"
#include "view/serve/starts.h"
#include "view/serve/view.h"
#include "view/serve/window.h"

#include <fcntl.h>
#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

/* The same trace twice: one index keeps all slices, the other none that can be read again. */
struct scene {
	char path[32];
	char *paths[1];
	struct view *whole, *bare;
};

static struct view *read_all(struct scene *scene, uint64_t small, uint64_t window)
{
	const struct view_options options = {.paths = scene->paths,
	                                     .count = 1,
	                                     .small = small,
	                                     .read = {.reorder_window = window}};
	struct view *view = view_new(&options);
	assert_non_null(view);
	assert_int_equal(view_begin(view), 0);
	view_read(view);
	assert_int_equal(view->reading.state, VIEW_DONE);
	return view;
}

static void set_up_with(struct scene *scene, struct archive *archive, uint64_t window)
{
	snprintf(scene->path, sizeof scene->path, "/tmp/trackway-view-XXXXXX");
	assert_true(close(mkstemp(scene->path)) == 0);
	scene->paths[0] = scene->path;
	write_archive(archive, scene->path);
	scene->whole = read_all(scene, UINT64_MAX, window);
	scene->bare = read_all(scene, 1, window);
}

static void set_up(struct scene *scene, struct archive *archive)
{
	set_up_with(scene, archive, 0);
}

static void tear_down(struct scene *scene)
{
	view_free(scene->whole);
	view_free(scene->bare);
	unlink(scene->path);
}

static uint64_t bare_rows(const struct view_index *index)
{
	uint64_t count = 0;
	for (uint64_t i = 0; i < index->rows.count; i++)
		count += view_index_row_at(index, i)->bare;
	return count;
}

/* ---- Items. ---- */

static void expect_same_name(const struct scene *scene, uint32_t one, uint32_t other)
{
	const struct view_index *a = &scene->whole->index, *b = &scene->bare->index;
	const struct view_name *left = view_names_at(&a->names, &a->store, one);
	const struct view_name *right = view_names_at(&b->names, &b->store, other);
	assert_int_equal(left->length, right->length);
	assert_memory_equal(a->store.bytes + left->place, b->store.bytes + right->place, left->length);
}

static void expect_same_item(const struct scene *scene, const struct view_row *one, const struct view_row *other,
                             uint64_t i)
{
	const struct view_slice left = view_row_slice(one, &scene->whole->index.store, i);
	const struct view_slice right = view_row_slice(other, &scene->bare->index.store, i);
	assert_int_equal(left.begin, right.begin);
	assert_int_equal(left.end, right.end);
	assert_int_equal(left.offset, right.offset);
	expect_same_name(scene, left.name, right.name);
}

/* Tracks have numbers in the order in which they are met. */
static uint32_t track_in(const struct view_index *index, const struct view_track *track)
{
	return view_tracks_known(&index->tracks, track->kind, track->process, track->thread);
}

static void expect_same_row(const struct scene *scene, const struct view_row *one, uint64_t step)
{
	const struct view_store *a = &scene->whole->index.store, *b = &scene->bare->index.store;
	const struct view_track *track = &scene->whole->index.tracks.items[one->track];
	const struct view_row *other =
	    view_index_row(&scene->bare->index, track_in(&scene->bare->index, track), one->lane, one->depth);
	assert_non_null(other);
	assert_int_equal(one->count, other->count);
	for (uint64_t i = 0; i < one->count; i += step) {
		expect_same_item(scene, one, other, i);
		const uint64_t begin = view_row_begin(one, a, i);
		for (uint64_t time = begin - 1; time < begin + 2; time++)
			assert_int_equal(view_row_begin_at(one, a, 0, time), view_row_begin_at(other, b, 0, time));
		assert_int_equal(view_row_begin_at(one, a, i, begin), view_row_begin_at(other, b, i, begin));
	}
	assert_int_equal(view_row_begin_at(other, b, 0, UINT64_MAX), one->count);
	assert_int_equal(view_row_begin_at(other, b, 0, 0), 0);
}

static void expect_same_rows(const struct scene *scene, uint64_t step)
{
	const struct view_index *index = &scene->whole->index;
	assert_int_equal(index->rows.count, scene->bare->index.rows.count);
	for (uint64_t i = 0; i < index->rows.count; i++) {
		const struct view_row *row = view_index_row_at(index, i);
		if (row->kind != VIEW_COUNTER && row->count)
			expect_same_row(scene, row, step);
	}
	if (scene->bare->index.store.spans)
		assert_int_equal(view_leaves_wrong(scene->bare->index.store.spans->leaves), 0);
}

/* ---- Groups of items. ---- */

static void expect_near(uint64_t one, uint64_t other, uint64_t most)
{
	assert_true(one > other ? one - other <= most : other - one <= most);
}

/* Times of a group may be off by a 1024th of a span for each grouping, its end by two; of all busy time no more than one
 * is lost. The item is one of its own, of its name, and in the first grouping the longest. */
static void expect_grouping(const struct scene *scene, const struct view_row *plain, const struct view_row *row,
                            unsigned level, uint64_t items)
{
	const struct view_store *store = &scene->bare->index.store;
	const struct view_bare *bare = view_bare_of(row, store);
	const uint64_t off = (level + (uint64_t)1) << (store->spans->shift - 10);
	uint64_t busy = 0, covered = 0;
	for (uint64_t i = 0; i < view_bare_grouped(bare, level)->count; i++) {
		const struct view_group group = view_bare_group(row, store, level, i);
		const uint64_t first = bare->head.count + i * items, next = first + items;
		const struct view_busy sum = view_row_busy(plain, &scene->whole->index.store, first, next);
		expect_near(group.sum.begin, view_row_begin(plain, &scene->whole->index.store, first), off);
		expect_near(group.end, view_row_end(plain, &scene->whole->index.store, next - 1), 2 * off);
		assert_in_range(group.item, level ? first : sum.item, level ? next - 1 : sum.item);
		expect_same_name(scene, view_row_name(plain, &scene->whole->index.store, group.item), group.sum.name);
		busy += sum.busy;
		covered += group.sum.end - group.sum.begin;
		assert_in_range(busy - covered, 0, off);
	}
}

static void expect_groups(const struct scene *scene, const struct view_row *plain, const struct view_row *row)
{
	const struct view_bare *bare = view_bare_of(row, &scene->bare->index.store);
	uint64_t items = 1, parts = row->count - bare->head.count;
	for (unsigned level = 0; level < VIEW_GROUPINGS; level++) {
		parts = level == 0 || parts >= VIEW_GROUPED_FROM ? parts / VIEW_GROUP : 0;
		assert_int_equal(view_bare_grouped(bare, level)->count, parts);
		expect_grouping(scene, plain, row, level, items *= VIEW_GROUP);
	}
}

static void expect_all_groups(const struct scene *scene)
{
	const struct view_index *index = &scene->bare->index;
	assert_true(index->store.spans->shift > 11);
	for (uint64_t i = 0; i < index->rows.count; i++) {
		const struct view_row *row = view_index_row_at(index, i);
		if (row->bare)
			expect_groups(scene, view_index_row(&scene->whole->index, row->track, row->lane, row->depth),
			              row);
	}
}

/* ---- Windows. ---- */

static bool is_same_window(const struct scene *scene, const struct view_window *window)
{
	const uint32_t tracks[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct tw_text one = {0}, other = {0};
	assert_true(view_window_answer(&scene->whole->index, window, tracks, 8, &one));
	assert_true(view_window_answer(&scene->bare->index, window, tracks, 8, &other));
	const bool same = one.length == other.length && memcmp(one.bytes, other.bytes, one.length) == 0;
	tw_text_free(&one);
	tw_text_free(&other);
	return same;
}

static void expect_same_window(const struct scene *scene, uint64_t from, uint64_t to, uint32_t width)
{
	assert_int_equal(scene->whole->reading.start, scene->bare->reading.start);
	assert_true(is_same_window(
	    scene,
	    &(struct view_window){.from = from, .to = to, .start = scene->whole->reading.start, .width = width}));
}

static void expect_same_windows(const struct scene *scene, struct archive *archive, unsigned count)
{
	const uint64_t end = scene->whole->index.end - scene->whole->reading.start;
	for (unsigned i = 0; i < count; i++) {
		const uint64_t from = draw(archive, 1 << 24) * end >> 24;
		const uint64_t span = (draw(archive, 1 << 24) * end >> 24) >> draw(archive, 16);
		expect_same_window(scene, from, from + span + 1, 1 + draw(archive, 1600));
	}
	expect_same_window(scene, 0, end + 1, 1000);
}

/* ---- Wide windows of large traces: a pixel takes groups of groups. ---- */

enum { HEAD_SIZE = 40, ROW_HEAD_SIZE = 16 };

/* A row of an answer, and how many entries and items it has. */
struct answered {
	uint64_t key, entries, items;
	double busy;
};

static double real_at(const struct tw_text *text, size_t place)
{
	double real;
	const uint64_t bits = tw_load64((const uint8_t *)text->bytes + place, false);
	memcpy(&real, &bits, sizeof real);
	return real;
}

/* Takes a row at a place, whose entries overlap by no more than some ns. Returns the place behind it. */
static size_t take_row(const struct tw_text *text, size_t place, double off, struct answered *row)
{
	const uint8_t *head = (const uint8_t *)text->bytes + place;
	const uint32_t n = tw_load32(head + 12, false);
	*row = (struct answered){.key = tw_load64(head, false), .entries = n};
	place += ROW_HEAD_SIZE;
	for (uint32_t i = 0; i < n; i++) {
		row->busy += real_at(text, place + (2 * (size_t)n + i) * 8);
		row->items += tw_load32((const uint8_t *)text->bytes + place + 32 * (size_t)n + 4 * i, false);
		if (i > 0)
			assert_true(real_at(text, place + i * 8) + off >= real_at(text, place + (n + i - 1) * 8));
	}
	return place + 32 * (size_t)n + 2 * ((4 * (size_t)n + 7) / 8 * 8);
}

/* All items are in some entry, whatever they are taken of, and few entries are wider than a pixel. */
static void expect_wide_window(const struct scene *scene, uint32_t width)
{
	const uint32_t tracks[] = {0, 1, 2, 3, 4, 5, 6, 7};
	const uint64_t end = scene->whole->index.end - scene->whole->reading.start;
	const struct view_window window = {.to = end + 1, .start = scene->whole->reading.start, .width = width};
	struct tw_text one = {0}, other = {0};
	assert_true(view_window_answer(&scene->whole->index, &window, tracks, 8, &one));
	assert_true(view_window_answer(&scene->bare->index, &window, tracks, 8, &other));
	const uint32_t rows = tw_load32((const uint8_t *)one.bytes + 24, false);
	const double off = (double)(UINT64_C(4) << (scene->bare->index.store.spans->shift - 10));
	assert_int_equal(tw_load32((const uint8_t *)other.bytes + 24, false), rows);
	size_t left = HEAD_SIZE, right = HEAD_SIZE;
	for (uint32_t i = 0; i < rows; i++) {
		struct answered whole, bare;
		left = take_row(&one, left, 0, &whole);
		right = take_row(&other, right, off, &bare);
		assert_int_equal(bare.key, whole.key);
		assert_int_equal(bare.items, whole.items);
		assert_true(fabs(bare.busy - whole.busy) < (double)end / 1000);
		assert_in_range(bare.entries, 1, 4 * (uint64_t)width + 128);
	}
	tw_text_free(&one);
	tw_text_free(&other);
}

/* One thread's calls, with nothing between their turns. */
static void put_wide_turn(struct archive *archive, uint64_t thread, uint64_t *time, uint64_t stack[], unsigned *depth)
{
	enum { RECORDS = 1000 };
	(void)stack;
	(void)depth;
	for (int i = 0; i < RECORDS && thread == 1; i++) {
		const uint64_t begin = *time += 1 + draw(archive, 90);
		put_event(archive, COMPLETE, thread, 1 + draw(archive, NAMES), begin, *time += 1 + draw(archive, 90));
	}
	*time += 40000;
}

static void test_wide(void **state)
{
	(void)state;
	struct archive archive = {.random = 11};
	struct scene scene;
	make_archive_of(&archive, put_wide_turn, 900);
	set_up(&scene, &archive);
	expect_all_groups(&scene);
	const struct view_row *row = view_index_row(&scene.bare->index, 1, 0, 0);
	const struct view_bare *bare = view_bare_of(row, &scene.bare->index.store);
	assert_int_not_equal(view_bare_grouped(bare, VIEW_GROUPINGS - 1)->count, 0);
	for (uint32_t width = 1; width < 2000; width += 1 + width / 3)
		expect_wide_window(&scene, width);
	tear_down(&scene);
	free(archive.bytes);
}

/* ---- Answers. ---- */

typedef void answer_fn(struct view *view, const struct view_request *request, struct view_answer *answer);

static void expect_same_answer(const struct scene *scene, answer_fn *fn, const char *address)
{
	struct view_answer one = {.status = 200}, other = {.status = 200};
	struct view_request request = {.method = "GET", .address = address};
	assert_true(view_request_parse(&request));
	fn(scene->whole, &request, &one);
	fn(scene->bare, &request, &other);
	assert_int_equal(one.status, 200);
	assert_int_equal(other.status, 200);
	assert_int_equal(one.body.length, other.body.length);
	assert_memory_equal(one.body.bytes, other.body.bytes, one.body.length);
	view_request_free(&request);
	view_answer_free(&one);
	view_answer_free(&other);
}

/* A name that the trace has in it, or that none has. */
static void expect_same_near(const struct scene *scene, uint64_t at, const char *name, const char *direction)
{
	char address[200];
	snprintf(address, sizeof address, "/api/near?name=%s&at=%" PRIu64 "&direction=%s", name, at, direction);
	expect_same_answer(scene, view_answer_near, address);
	strcat(address, "&tracks=0,1,3"); /* of some */
	expect_same_answer(scene, view_answer_near, address);
}

/* Calls whose names hold a text, from a time on, and behind a slice of that time. */
static void expect_same_text(const struct scene *scene, const struct view_row *row, uint64_t item, const char *text,
                             const char *direction)
{
	char address[200];
	const uint64_t at = view_row_begin(row, &scene->whole->index.store, item) - scene->whole->reading.start;
	const int length =
	    snprintf(address, sizeof address, "/api/near?text=%s&at=%" PRIu64 "&direction=%s", text, at, direction);
	expect_same_answer(scene, view_answer_near, address);
	snprintf(address + length, sizeof address - (size_t)length, "&track=%u&lane=%u&depth=%u&item=%" PRIu64,
	         row->track, row->lane, row->depth, item);
	expect_same_answer(scene, view_answer_near, address);
}

static void expect_same_slice(const struct scene *scene, const struct view_row *row, uint64_t item)
{
	char address[200];
	snprintf(address, sizeof address, "/api/slice?track=%u&lane=%u&depth=%u&item=%" PRIu64, row->track, row->lane,
	         row->depth, item);
	expect_same_answer(scene, view_answer_slice, address);
}

static void expect_same_answers(const struct scene *scene, struct archive *archive, const char *name)
{
	const struct view_index *index = &scene->whole->index;
	const uint64_t end = index->end - scene->whole->reading.start;
	for (unsigned i = 0; i < 24; i++) {
		const uint64_t at = draw(archive, 1 << 24) * end >> 24;
		const struct view_row *row = view_index_row_at(index, draw(archive, (uint32_t)index->rows.count));
		expect_same_near(scene, at, name, i % 2 ? "next" : "previous");
		if (row->kind == VIEW_COUNTER || !row->count)
			continue;
		const uint64_t item = draw(archive, (uint32_t)row->count);
		expect_same_slice(scene, row, item);
		expect_same_text(scene, row, item, i % 3 ? name : "", i % 2 ? "next" : "previous");
	}
	expect_same_near(scene, 0, "nobody", "next");
	expect_same_near(scene, end, "nobody", "previous");
	expect_same_near(scene, end, name, "previous");
	expect_same_near(scene, 0, name, "previous");
}

static void expect_same(void (*make)(struct archive *archive), uint64_t step, unsigned windows, const char *name)
{
	struct archive archive = {.random = 11};
	struct scene scene;
	make(&archive);
	set_up(&scene, &archive);
	assert_int_equal(bare_rows(&scene.whole->index), 0);
	assert_true(bare_rows(&scene.bare->index) > 3);
	expect_same_rows(&scene, step);
	expect_all_groups(&scene);
	expect_same_windows(&scene, &archive, windows);
	expect_same_answers(&scene, &archive, name);
	tear_down(&scene);
	free(archive.bytes);
}

static void test_archive(void **state)
{
	(void)state;
	expect_same(make_nesting_archive, 31, 60, "c");
}

/* Bytes by which records may come late; those of a thread are several times as many. */
enum { LITTLE_WINDOW = 1 << 18 };

/* All of a thread at once, also operations, whose rows threads share. */
static void put_whole_thread(struct archive *archive, uint64_t thread, uint64_t *time, uint64_t stack[],
                             unsigned *depth)
{
	enum { TURNS = 200, ASYNC_BEGIN = 5, ASYNC_END = 7 };
	for (uint64_t i = 0; i < TURNS; i++) {
		put_nesting_turn(archive, thread, time, stack, depth);
		put_event(archive, i % 2 ? ASYNC_END : ASYNC_BEGIN, thread, 1, *time, 0);
		archive->bytes[archive->size - 16] += 1 << 4; /* a word more */
		put_word(archive, thread);
	}
}

/* Operations come late by more than is sorted in memory: the trace is read once more, in order. */
static void test_by_thread(void **state)
{
	(void)state;
	struct archive archive = {.random = 11};
	struct scene scene;
	make_archive_of(&archive, put_whole_thread, THREADS);
	set_up_with(&scene, &archive, LITTLE_WINDOW);
	assert_int_equal(scene.bare->reading.order, VIEW_ORDER_OF_TRACKS);
	assert_true(bare_rows(&scene.bare->index) > 3);
	expect_same_rows(&scene, 4999);
	expect_all_groups(&scene);
	tear_down(&scene);
	free(archive.bytes);
}

static void expect_order(put_turn_fn *turn_of, int turns, enum view_order order)
{
	enum { ALL = 1 << 30 };
	struct archive archive = {.random = 11};
	struct scene scene;
	make_archive_of(&archive, turn_of, turns);
	set_up_with(&scene, &archive, LITTLE_WINDOW);
	assert_int_equal(scene.bare->reading.order, order);
	assert_int_equal(scene.bare->findings.count, 0);
	view_free(scene.whole);
	scene.whole = read_all(&scene, UINT64_MAX, ALL);
	assert_int_equal(scene.whole->reading.order, VIEW_ORDER_OF_ROWS);
	expect_same_rows(&scene, 499);
	tear_down(&scene);
	free(archive.bytes);
}

/* Slices alone: those of a thread come late by more than is sorted in memory, but in the order of their rows. */
static void put_slices_of_thread(struct archive *archive, uint64_t thread, uint64_t *time, uint64_t stack[],
                                 unsigned *depth)
{
	enum { TURNS = 200, LATER = 1000 };
	*time += thread * LATER; /* the first thread begins first: the trace begins with it */
	for (int i = 0; i < TURNS; i++)
		put_turn(archive, thread, time, stack, depth);
}

/* Complete slices of a thread as they end: around each is one that stands behind it, perhaps in the next chunk. */
static void put_complete_of_thread(struct archive *archive, uint64_t thread, uint64_t *time, uint64_t stack[],
                                   unsigned *depth)
{
	enum { TURNS = 6000, INSIDE = 3 };
	(void)stack;
	(void)depth;
	for (int i = 0; i < TURNS; i++) {
		const uint64_t begin = *time;
		for (int k = 0; k < INSIDE; k++) {
			const uint64_t inner = *time += draw(archive, 20);
			put_event(archive, COMPLETE, thread, 1 + draw(archive, NAMES), inner,
			          *time += draw(archive, 90));
		}
		put_event(archive, COMPLETE, thread, 1 + draw(archive, NAMES), begin, *time += draw(archive, 20));
	}
}

/* A thread, and what it did before. */
static void put_thread_backwards(struct archive *archive, uint64_t thread, uint64_t *time, uint64_t stack[],
                                 unsigned *depth)
{
	uint64_t before = *time;
	*time += 1000000000;
	put_slices_of_thread(archive, thread, time, stack, depth);
	put_slices_of_thread(archive, thread, &before, stack, depth);
}

/* What is shown is the same as where all is put in order in memory. */
static void test_orders(void **state)
{
	(void)state;
	expect_order(put_turn, 300, VIEW_ORDER_OF_ROWS);
	expect_order(put_slices_of_thread, THREADS, VIEW_ORDER_OF_ROWS);
	expect_order(put_whole_thread, THREADS, VIEW_ORDER_OF_TRACKS);
	expect_order(put_complete_of_thread, THREADS, VIEW_ORDER_OF_TRACKS);
	expect_order(put_thread_backwards, 1, VIEW_NO_ORDER);
}

/* Where most of a damaged trace is is told of all rows, and the trace is read again for none of them. */
static void test_bulk(void **state)
{
	(void)state;
	struct archive archive = {.random = 11};
	struct scene scene;
	make_nesting_archive(&archive);
	set_up(&scene, &archive);
	struct view *bare = scene.bare;
	assert_true(bare_rows(&bare->index) > 3);
	const uint64_t before = view_leaves_bytes(bare->index.store.spans->leaves);
	bare->findings.count++;
	view_bulk(bare);
	assert_int_equal(bare->bulk.of, bare->reading.generation);
	assert_int_equal(view_leaves_bytes(bare->index.store.spans->leaves), before);
	tear_down(&scene);
	free(archive.bytes);
}

static void test_log(void **state)
{
	(void)state;
	expect_same(make_log, 31, 60, "function%205");
}

/* Of more than 2 MiB slices are read again only if that is asked for. */
static void test_exact(void **state)
{
	(void)state;
	struct archive archive = {.random = 11};
	struct scene scene;
	make_archive_of(&archive, put_nesting_turn, 1200);
	assert_in_range(archive.size, 5 << 20, 30 << 20);
	set_up(&scene, &archive);
	struct view_window window = {.to = scene.whole->index.end - scene.whole->reading.start,
	                             .start = scene.whole->reading.start,
	                             .width = VIEW_WIDTH_MOST};
	assert_false(is_same_window(&scene, &window));
	window.exact = true;
	assert_true(is_same_window(&scene, &window));
	tear_down(&scene);
	free(archive.bytes);
}

/* ---- What is read of the trace. ---- */

enum { FAR_RECORDS = 700, FAR_DEPTH = 12 };

/* Slices that stay open begin far from each other. */
static void put_far_turn(struct archive *archive, uint64_t thread, uint64_t *time, uint64_t stack[], unsigned *depth)
{
	(void)stack;
	if (*depth < FAR_DEPTH) {
		++*depth;
		put_event(archive, BEGIN, thread, 1, *time += 10, 0);
	}
	for (int i = 0; i < FAR_RECORDS; i++) {
		const uint64_t begin = *time += 1 + draw(archive, 900);
		put_event(archive, COMPLETE, thread, 1 + draw(archive, NAMES), begin, *time += 1 + draw(archive, 900));
	}
}

/* Of slices that are open their own records are read, not all from there on in parts of 16 KiB. */
static void test_open_far(void **state)
{
	(void)state;
	struct archive archive = {.random = 11};
	struct scene scene;
	make_archive_of(&archive, put_far_turn, 150);
	set_up(&scene, &archive);
	const struct view_spans *spans = scene.bare->index.store.spans;
	const uint64_t from = (scene.whole->index.end - scene.whole->reading.start) / 4 * 3,
		       before = view_leaves_bytes(spans->leaves);
	expect_same_window(&scene, from, from + 1000, 1000);
	const uint64_t first = view_span_of(spans, from + scene.bare->reading.start);
	const uint64_t size =
	    view_spans_size(spans, first, view_span_of(spans, from + 1000 + scene.bare->reading.start));
	assert_in_range(view_leaves_bytes(spans->leaves) - before, size / 2, size + (8 << 14));
	expect_same_rows(&scene, 97);
	tear_down(&scene);
	free(archive.bytes);
}

/* Of a log the buffers are looked for that pieces are in, not all. */
static void test_around(void **state)
{
	(void)state;
	struct archive archive = {.random = 11};
	struct scene scene;
	struct tw_reader *reader;
	make_log(&archive);
	set_up(&scene, &archive);
	const struct view_spans *spans = scene.bare->index.store.spans;
	const uint64_t border = view_spans_border(spans, archive.size / 2);
	assert_in_range(archive.size / 2 - border, 0, 1 << 14);
	const struct tw_piece around = {.offset = border, .size = archive.size / 2 + 1 - border};
	assert_int_equal(tw_open_around(&reader, scene.path, &around, 1, &spans->options), 0);
	const struct fdr_log *log = ((const struct fdr_state *)reader->state)->log;
	assert_in_range(log->place_count, 1, 8);
	assert_true(log->places[0].offset >= border);
	tw_close(reader);
	tear_down(&scene);
	free(archive.bytes);
}

/* ---- Traces that cannot be read again span by span: they are read once more, and all slices are kept. ---- */

static void expect_kept(struct archive *archive)
{
	struct scene scene;
	set_up(&scene, archive);
	assert_null(scene.bare->index.store.spans);
	assert_int_equal(scene.whole->index.events, scene.bare->index.events);
	assert_int_equal(scene.whole->findings.count, scene.bare->findings.count);
	expect_same_rows(&scene, 97);
	expect_same_windows(&scene, archive, 20);
	tear_down(&scene);
	free(archive->bytes);
}

static void test_overlaps(void **state)
{
	(void)state;
	struct archive archive = {.random = 11};
	make_archive(&archive);
	expect_kept(&archive);
}

static void test_two_logs(void **state)
{
	(void)state;
	struct archive archive = {.random = 11};
	make_log(&archive);
	make_log(&archive);
	expect_kept(&archive);
}

/* The end of the last record is missing. */
static void test_damage(void **state)
{
	(void)state;
	struct archive archive = {.random = 11};
	make_nesting_archive(&archive);
	archive.size -= 4;
	expect_kept(&archive);
}

static void expect_answer(struct view *view, const char *path, const char *place, unsigned status, const char *text)
{
	char address[128];
	struct view_answer answer;
	snprintf(address, sizeof address, "%s%s", path, place);
	struct view_request request = {.method = "GET",
	                               .address = address,
	                               .host = "localhost",
	                               .cookie = "trackway-0="};
	view_answer(view, &request, &answer);
	assert_int_equal(answer.status, status);
	assert_non_null(strstr(answer.body.bytes, text));
	view_request_free(&request);
	view_answer_free(&answer);
}

/* Of a file that has become shorter what is not kept cannot be known: answers are of groups, and nothing fails. */
static void test_shorter(void **state)
{
	(void)state;
	struct archive archive = {.random = 11};
	struct scene scene;
	struct tw_text text = {0};
	make_nesting_archive(&archive);
	set_up(&scene, &archive);
	const struct view_index *index = &scene.bare->index;
	const struct view_window window = {.to = index->end - scene.bare->reading.start,
	                                   .start = scene.bare->reading.start,
	                                   .width = 9};
	assert_int_equal(truncate(scene.path, (off_t)archive.size / 2), 0);
	assert_true(view_window_answer(&scene.bare->index, &window, &(uint32_t){1}, 1, &text));
	for (uint64_t i = 0; i < index->rows.count; i++) {
		const struct view_row *row = view_index_row_at(index, i), *other;
		other = view_index_row(&scene.whole->index, row->track, row->lane, row->depth);
		for (uint64_t k = 0; row->bare && k < row->count; k += 7) {
			const struct view_slice slice = view_row_slice(row, &index->store, k);
			const struct view_slice was = view_row_slice(other, &scene.whole->index.store, k);
			assert_true(slice.begin <= was.begin && slice.end <= was.end);
		}
	}
	tw_text_free(&text);
	tear_down(&scene);
	free(archive.bytes);
}

/* Of another file nothing is read, whatever its name and size are. */
static void test_other_file(void **state)
{
	(void)state;
	static const char place[] = "track=1&lane=0&depth=0&item=700";
	static const struct timespec other[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct archive archive = {.random = 11};
	struct scene scene;
	make_nesting_archive(&archive);
	set_up(&scene, &archive);
	expect_answer(scene.bare, "/api/slice?", place, 200, "\"callers\"");
	expect_answer(scene.bare, "/api/near?direction=next&", place, 200, "\"found\":true");
	const struct view_leaves *leaves = scene.bare->index.store.spans->leaves;
	const uint64_t bytes = view_leaves_bytes(leaves);
	assert_true(bytes > 0);
	assert_int_equal(utimensat(AT_FDCWD, scene.path, other, 0), 0);
	expect_answer(scene.bare, "/api/slice?", place, 400, "is another file now");
	expect_answer(scene.bare, "/api/near?direction=next&", place, 400, "is another file now");
	expect_answer(scene.whole, "/api/slice?", place, 200, "\"callers\"");
	for (uint64_t i = 0; i < scene.bare->index.rows.count; i++) {
		const struct view_row *row = view_index_row_at(&scene.bare->index, i);
		if (row->bare)
			(void)view_row_slice(row, &scene.bare->index.store, row->count / 2);
	}
	assert_int_equal(view_leaves_bytes(leaves), bytes);
	tear_down(&scene);
	free(archive.bytes);
}

static void expect_status(struct view *view, answer_fn *fn, const char *address, unsigned status)
{
	struct view_answer answer = {.status = 200};
	struct view_request request = {.method = "GET", .address = address};
	assert_true(view_request_parse(&request));
	fn(view, &request, &answer);
	assert_int_equal(answer.status, status);
	view_request_free(&request);
	view_answer_free(&answer);
}

/* While a file is read, what is not kept is asked for too early; what is kept is there. */
static void test_early(void **state)
{
	(void)state;
	static const char slice[] = "/api/slice?track=1&lane=0&depth=0&item=700";
	struct archive archive = {.random = 11};
	struct scene scene;
	make_nesting_archive(&archive);
	set_up(&scene, &archive);
	for (int early = 1; early >= 0; early--) {
		const unsigned status = early ? 503 : 200;
		scene.bare->reading.state = scene.whole->reading.state = early ? VIEW_READING : VIEW_DONE;
		scene.bare->index.store.spans->ready = !early;
		expect_status(scene.bare, view_answer_slice, slice, status);
		expect_status(scene.whole, view_answer_slice, slice, 200);
		expect_status(scene.bare, view_answer_near, "/api/near?name=c&at=9&direction=next", status);
		expect_status(scene.bare, view_answer_near, "/api/near?track=1&lane=0&depth=0&item=700&direction=next",
		              status);
		expect_status(scene.whole, view_answer_near, "/api/near?name=c&at=9&direction=next", 200);
	}
	expect_status(scene.bare, view_answer_slice, "/api/slice?track=1&lane=0&depth=0&item=99999999", 400);
	tear_down(&scene);
	free(archive.bytes);
}

/* A name that no slice has is looked for in the whole file: not for one who has gone, nor while the server ends. */
static void test_gone(void **state)
{
	static const char address[] = "/api/near?name=nobody&at=0&direction=next";
	(void)state;
	struct archive archive = {.random = 11};
	struct scene scene;
	struct view_answer answer = {.status = 200};
	int ends[2];
	make_nesting_archive(&archive);
	set_up(&scene, &archive);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	struct view_request request = {.method = "GET", .address = address, .socket = ends[0]};
	assert_true(view_request_parse(&request));
	for (unsigned i = 0; i < 2; i++) {
		view_answer_near(scene.bare, &request, &answer);
		assert_int_equal(answer.status, i ? 409 : 200);
		view_answer_free(&answer);
		answer = (struct view_answer){.status = 200};
		close(ends[1]);
	}
	view_request_free(&request);
	close(ends[0]);
	expect_status(scene.bare, view_answer_near, address, 200);
	view_questions_stop(&scene.bare->questions);
	expect_status(scene.bare, view_answer_near, address, 409);
	tear_down(&scene);
	free(archive.bytes);
}

SUITE(view_leaves)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_archive),  cmocka_unit_test(test_by_thread), cmocka_unit_test(test_log),
	    cmocka_unit_test(test_overlaps), cmocka_unit_test(test_two_logs),  cmocka_unit_test(test_damage),
	    cmocka_unit_test(test_shorter),  cmocka_unit_test(test_exact),     cmocka_unit_test(test_early),
	    cmocka_unit_test(test_open_far), cmocka_unit_test(test_around),    cmocka_unit_test(test_wide),
	    cmocka_unit_test(test_bulk),     cmocka_unit_test(test_orders),    cmocka_unit_test(test_other_file),
	    cmocka_unit_test(test_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
