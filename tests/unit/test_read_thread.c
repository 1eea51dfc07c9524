/* test_read_thread.c - a reader that is read ahead gives what it gives when it is read directly. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory/map.h"
#include "core/order/slab.h"
#include "core/threads/read_thread.h"

#include "suite.h"

/* ---- A trace that is made up while it is read: names, tracks, locations and stacks come, and change later. ---- */

enum { BATCHES = 300, ROWS = 200, PAYLOAD = 1000, LARGE = 200000, SLOW = 200 /* us */ };

struct made {
	unsigned batches; /* that it gives before the end */
	int status;       /* of the end */
	bool slow;        /* the caller waits for each block */
	bool places;      /* batches go where there is room for them */
	unsigned given, placed;
	atomic_uint helped[2]; /* how often it was asked what else there is to do, by who reads and by a guest */
	struct tw_event events[ROWS];
	struct tw_argument arguments[ROWS];
	uint8_t payload[LARGE];
};

static uint32_t number_text(struct tw_dictionary *dictionary, const char *format, unsigned number)
{
	char text[64];
	snprintf(text, sizeof text, format, number);
	return tw_dictionary_text(dictionary, text);
}

/* What a batch changes in what was there before. */
static void change(struct tw_dictionary *dictionary, unsigned n, uint32_t track, uint32_t location)
{
	const struct tw_name name = {.text = "told", .length = 4, .id = n, .file = "a.c", .line = n};
	tw_dictionary_name_track(dictionary, track, number_text(dictionary, "track %u", n));
	tw_dictionary_set_process(dictionary, track, n % 5);
	tw_dictionary_locate(dictionary, location, number_text(dictionary, "file %u", n % 7), n);
	if (n % 3 == 0)
		assert_true(tw_dictionary_rename(dictionary, 1 + n / 2, &name));
}

/* One in ten rows has an argument; that of one batch is larger than any block. */
static void make_row(struct made *made, const struct tw_event *like, unsigned i, unsigned *used)
{
	made->events[i] = *like;
	made->events[i].time += i;
	made->events[i].first_argument = (uint16_t)*used;
	if (i % 10)
		return;
	made->events[i].argument_count = 1;
	made->arguments[(*used)++] = (struct tw_argument){
	    .name = like->name,
	    .type = i % 20 ? TW_ARG_BYTES : TW_ARG_UINT,
	    .value = {.bytes = made->payload},
	    .size = made->given % 50 == 7 ? LARGE : PAYLOAD,
	};
	if (i % 20 == 0)
		made->arguments[*used - 1].value.u = i;
}

/* Puts the batch where the caller wants it, and spoils it where it was. */
static void place(struct made *made, const struct tw_batch_room *room, unsigned used, struct tw_batch *batch)
{
	assert_true(used <= room->argument_room);
	memcpy(room->events, made->events, sizeof made->events);
	memcpy(room->arguments, made->arguments, used * sizeof *made->arguments);
	memset(made->events, -1, sizeof made->events);
	memset(made->arguments, -1, sizeof made->arguments);
	*batch = (struct tw_batch){room->events, ROWS, room->arguments};
	made->placed++;
}

static int read_made(struct tw_reader *reader, struct tw_batch *batch)
{
	struct made *made = reader->state;
	if (reader->help.on_work)
		reader->help.on_work(reader->help.context);
	if (made->slow)
		usleep(SLOW);
	struct tw_dictionary *dictionary = reader->dictionary;
	unsigned n = made->given++, used = 0;
	*batch = (struct tw_batch){0};
	memset(made->payload, (int)n, sizeof made->payload);
	reader->clock.end_ns = n;
	uint32_t name = number_text(dictionary, "name %u", n);
	uint32_t track =
	    tw_dictionary_add_track(dictionary, &(struct tw_track){.process = 7, .thread = n / 4, .kind = n % 2});
	const struct tw_location at = {.name = name, .address = n / 2};
	uint32_t location = tw_dictionary_add_location(dictionary, &at);
	uint32_t stack = tw_dictionary_push(dictionary, n / 3, location);
	change(dictionary, n, track, location);
	if (n == made->batches)
		return made->status < 0 ? tw_fail(reader, made->status, "it broke") : 0;
	const struct tw_event like = {
	    .time = n * ROWS, .name = name, .track = track, .other = stack, .kind = TW_STACK_SAMPLE};
	for (unsigned i = 0; i < ROWS; i++)
		make_row(made, &like, i, &used);
	*batch = (struct tw_batch){made->events, ROWS, made->arguments};
	if (made->places && reader->help.room)
		place(made, reader->help.room, used, batch);
	return ROWS;
}

static void close_made(struct tw_reader *reader)
{
	free(reader->state);
}

static bool help_made(struct tw_reader *reader, bool guest)
{
	struct made *made = reader->state;
	return made->helped[guest]++ % 2 == 0;
}

static const struct tw_format made_format = {.name = "made",
                                             .reading.read = read_made,
                                             .reading.help = help_made,
                                             .reading.close = close_made};

static struct tw_reader *open_made(unsigned batches, int status)
{
	struct tw_reader *reader = tw_reader_new(NULL);
	struct made *made = calloc(1, sizeof *made);
	assert_non_null(reader);
	assert_non_null(made);
	made->batches = batches;
	made->status = status;
	reader->format = &made_format;
	reader->state = made;
	return reader;
}

/* ---- All that can be seen of it, as a number for each batch. ---- */

static uint64_t mix(uint64_t sum, const void *bytes, size_t size)
{
	return tw_hash_bytes(bytes, size, sum);
}

static uint64_t mix_name(uint64_t sum, const struct tw_name *name)
{
	const uint64_t rest[] = {name->length, name->id, name->line, name->file != NULL};
	return mix(mix(sum, name->text, name->length), rest, sizeof rest);
}

static uint64_t mix_dictionary(uint64_t sum, const struct tw_dictionary *dictionary)
{
	for (uint32_t i = 0; i <= tw_dictionary_names(dictionary); i++)
		sum = mix_name(sum, tw_dictionary_name(dictionary, i));
	for (uint32_t i = 0; i <= tw_dictionary_tracks(dictionary); i++) {
		const struct tw_track *track = tw_dictionary_track(dictionary, i);
		const uint64_t all[] = {track->process, track->thread, track->name, track->kind};
		sum = mix(sum, all, sizeof all);
	}
	for (uint32_t i = 0; i <= tw_dictionary_stacks(dictionary); i++) {
		const struct tw_stack *stack = tw_dictionary_stack(dictionary, i);
		const struct tw_location *location = tw_dictionary_location(dictionary, stack->location);
		const uint64_t all[] = {stack->caller,  stack->location, stack->depth,     location->name,
		                        location->file, location->line,  location->address};
		sum = mix(sum, all, sizeof all);
	}
	for (uint64_t process = 0; process < 8; process++)
		sum = mix_name(sum, tw_dictionary_process_name(dictionary, process));
	return sum;
}

static uint64_t mix_event(uint64_t sum, const struct tw_batch *batch, const struct tw_event *event)
{
	const struct tw_argument *arguments = tw_event_arguments(batch, event);
	const uint64_t all[] = {event->time, event->name, event->track, event->other, event->kind};
	sum = mix(sum, all, sizeof all);
	for (unsigned i = 0; i < event->argument_count; i++)
		sum = arguments[i].type == TW_ARG_BYTES ? mix(sum, arguments[i].value.bytes, (size_t)arguments[i].size)
		                                        : mix(sum, &arguments[i].value.u, sizeof arguments[i].value.u);
	return sum;
}

static uint64_t see(const struct tw_reader *reader, const struct tw_batch *batch)
{
	uint64_t sum = mix_dictionary(tw_reader_clock(reader)->end_ns, tw_reader_dictionary(reader));
	for (size_t i = 0; i < batch->count; i++)
		sum = mix_event(sum, batch, &batch->events[i]);
	return sum;
}

/* ---- Tests. ---- */

/* Returns how many batches the source put where the thread wanted them. */
static unsigned compare(unsigned batches, int end, bool places)
{
	struct tw_reader *direct = open_made(batches, end), *source = open_made(batches, end), *opened;
	struct made *made = source->state;
	struct tw_batch expected, got;
	int status;
	made->places = places;
	assert_int_equal(tw_open_read_thread(&opened, source), 0);
	assert_string_equal(tw_reader_format(opened), "made");
	do {
		status = tw_read(direct, &expected);
		assert_int_equal(tw_read(opened, &got), status);
		assert_int_equal(got.count, expected.count);
		assert_true(see(opened, &got) == see(direct, &expected));
	} while (status > 0);
	assert_int_equal(status, end);
	assert_int_equal(tw_read(opened, &got), end);
	tw_close(opened);
	assert_string_equal(tw_reader_error(source), end < 0 ? "it broke" : "");
	unsigned placed = made->placed;
	tw_close(source);
	tw_close(direct);
	return placed;
}

static void nothing_is_seen_before_its_time(void **state)
{
	(void)state;
	assert_int_equal(compare(BATCHES, 0, false), 0);
}

static void batches_may_be_put_in_place(void **state)
{
	(void)state;
	assert_true(compare(BATCHES, 0, true) > BATCHES / 2);
}

static void the_end_may_come_at_once(void **state)
{
	(void)state;
	compare(0, 0, true);
}

static void a_failure_comes_behind_what_was_read(void **state)
{
	(void)state;
	compare(BATCHES / 2, TW_ERR_SYSTEM, true);
}

static void who_waits_helps(void **state)
{
	(void)state;
	struct tw_reader *source = open_made(BATCHES, 0), *opened;
	struct made *made = source->state;
	struct tw_batch batch;
	made->slow = true;
	assert_int_equal(tw_open_read_thread(&opened, source), 0);
	for (unsigned i = 0; i < BATCHES; i++)
		assert_int_equal(tw_read(opened, &batch), ROWS);
	assert_true(made->helped[true] > 0);
	tw_close(opened);
	tw_close(source);
}

/* With nobody to read what is there, the other thread soon waits. */
static void who_is_ahead_helps(void **state)
{
	(void)state;
	struct tw_reader *source = open_made(BATCHES, 0), *opened;
	struct made *made = source->state;
	assert_int_equal(tw_open_read_thread(&opened, source), 0);
	for (unsigned i = 0; i < 100000 && made->helped[false] == 0; i++)
		usleep(SLOW);
	assert_int_equal(made->helped[true], 0);
	assert_true(made->helped[false] > 0);
	tw_close(opened);
	tw_close(source);
}

/* Of four threads that may be used one is the caller. */
static void the_caller_is_one_of_the_threads(void **state)
{
	(void)state;
	struct tw_reader *source = open_made(1, 0), *opened;
	struct tw_batch batch;
	source->options.jobs = 4;
	assert_int_equal(tw_open_read_thread(&opened, source), 0);
	while (tw_read(opened, &batch) > 0)
		;
	tw_close(opened);
	assert_int_equal(source->options.jobs, 3);
	tw_close(source);
}

/* After any number of batches, also where the source waits for one that it has lent. */
static void it_may_be_closed_early(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 20; n++) {
		struct tw_reader *source = open_made(BATCHES, 0), *opened;
		struct tw_batch batch;
		assert_int_equal(tw_open_read_thread(&opened, source), 0);
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(tw_read(opened, &batch), ROWS);
		tw_close(opened);
		tw_close(source);
	}
}

SUITE(read_thread)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_seen_before_its_time),
	    cmocka_unit_test(batches_may_be_put_in_place),
	    cmocka_unit_test(the_end_may_come_at_once),
	    cmocka_unit_test(a_failure_comes_behind_what_was_read),
	    cmocka_unit_test(who_waits_helps),
	    cmocka_unit_test(who_is_ahead_helps),
	    cmocka_unit_test(the_caller_is_one_of_the_threads),
	    cmocka_unit_test(it_may_be_closed_early),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
