/* test_order_ends_first.c - of slices of one time, ends before complete ones. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/order/ends_first.h"

#include <trackway/status.h>

#include "suite.h"

enum { EVENTS_MOST = 8, TEXT = 80, WORD = 8 };

/* Rows as "Bz2": kind (B, E, X, or i for an instant), name (. for none), time; an X has a length behind its time. Rows
 * with names in capitals are of another track. */
struct scene {
	const char *what;
	const char *given, *wanted;
};

static const struct scene scenes[] = {
    {"nothing of one time", "Bb1 Xz25 Eb8", "Bb1 Xz25 Eb8"},
    {"an end behind a complete slice", "Bb1 Xz25 Eb2", "Bb1 Eb2 Xz25"},
    {"without a name", "Bb1 Xz25 E.2", "Bb1 E.2 Xz25"},
    {"instants stay behind the slice", "Bb1 Xz25 ii2 Eb2 ij2", "Bb1 Eb2 Xz25 ii2 ij2"},
    {"what takes no time stays inside", "Bb1 Xz20 Eb2", "Bb1 Xz20 Eb2"},
    {"but not behind what does", "Bb1 Xz25 Xy20 Eb2", "Bb1 Eb2 Xz25 Xy20"},
    {"slices on both sides stand the longest first", "Bb1 Xz23 Eb2 Xy25", "Bb1 Eb2 Xy25 Xz23"},
    {"also those of no time", "Bb1 Xz20 Xy23 Eb2 Xx25", "Bb1 Xz20 Eb2 Xx25 Xy23"},
    {"a begin of the same time has its own end", "Bb1 Bz2 Ez2 Eb2", "Bb1 Bz2 Ez2 Eb2"},
    {"of the same name", "Bb1 Bb2 Eb2 Eb2", "Bb1 Bb2 Eb2 Eb2"},
    {"or none: then the end is its own, too", "Bb1 Bz2 Xy25 Eb2 Xx26", "Bb1 Bz2 Eb2 Xx26 Xy25"},
    {"or one behind it", "Bb1 Bz2 Eb2 Ez2", "Bb1 Bz2 Eb2 Ez2"},
    {"a slice does not go on in what takes no time", "Bz2 Xq25 Ez2", "Bz2 Ez2 Xq25"},
    {"two ends keep their order", "Ba1 Bb1 Xz25 Eb2 Ea2", "Ba1 Bb1 Eb2 Ea2 Xz25"},
    {"other tracks stay", "Bb1 XZ25 Eb2", "Bb1 XZ25 Eb2"},
    {"each track by itself", "Bb1 BC1 Xz25 XZ26 EC2 Eb2", "Bb1 BC1 Eb2 Xz25 EC2 XZ26"},
    {"an end that ends nothing", "Xz25 Eb2 Bb3", "Eb2 Xz25 Bb3"},
};

static struct tw_event parse(const char *word)
{
	static const char kinds[] = "BEXi";
	static const uint8_t meant[] = {TW_SLICE_BEGIN, TW_SLICE_END, TW_SLICE_COMPLETE, TW_INSTANT};
	const char name = word[1];
	return (struct tw_event){
	    .kind = meant[strchr(kinds, word[0]) - kinds],
	    .name = name == '.' ? 0 : (uint32_t)name,
	    .track = name >= 'A' && name <= 'Z' ? 2 : 1,
	    .time = (uint64_t)(word[2] - '0'),
	    .value = word[0] == 'X' ? (uint64_t)(word[3] - '0') : 0,
	};
}

/* The text of a row is its argument, which must come along. */
static int take(void *context, const struct tw_batch *batch)
{
	char *text = context;
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_argument *argument = tw_event_arguments(batch, &batch->events[i]);
		const size_t length = strlen(text);
		assert_non_null(argument);
		snprintf(text + length, TEXT - length, "%s%.*s", length ? " " : "", (int)argument->size,
		         (const char *)argument->value.bytes);
	}
	return 0;
}

/* Splits a text into words; returns how many. */
static size_t split(const char *text, char (*words)[WORD])
{
	size_t count = 0;
	for (const char *at = text; *at; at += strspn(at, " ")) {
		const size_t length = strcspn(at, " ");
		snprintf(words[count++], WORD, "%.*s", (int)length, at);
		at += length;
	}
	return count;
}

/* One batch, whose memory is of no use afterwards. */
static void give(struct tw_ends_first *ends, const char (*words)[WORD], size_t count, char *found)
{
	struct tw_event events[EVENTS_MOST];
	struct tw_argument arguments[EVENTS_MOST] = {0};
	char texts[EVENTS_MOST][WORD];
	for (size_t i = 0; i < count; i++) {
		memcpy(texts[i], words[i], WORD);
		events[i] = parse(words[i]);
		events[i].first_argument = (uint16_t)i;
		events[i].argument_count = 1;
		arguments[i].type = TW_ARG_TEXT;
		arguments[i].size = (uint32_t)strlen(texts[i]);
		arguments[i].value.bytes = (const uint8_t *)texts[i];
	}
	const struct tw_batch batch = {events, count, arguments};
	assert_int_equal(tw_ends_first_take(ends, &batch, take, found), 0);
	memset(texts, 'X', sizeof texts);
}

static void run(const struct scene *scene, size_t rows)
{
	struct tw_ends_first ends = {0};
	char words[EVENTS_MOST][WORD], found[TEXT] = "";
	const size_t count = split(scene->given, words);
	for (size_t from = 0; from < count; from += rows)
		give(&ends, (const char(*)[WORD])words + from, count - from < rows ? count - from : rows, found);
	assert_int_equal(tw_ends_first_finish(&ends, take, found), 0);
	if (strcmp(found, scene->wanted) != 0)
		fail_msg("%s, in batches of %zu: %s, not %s", scene->what, rows, found, scene->wanted);
	tw_ends_first_free(&ends);
}

static void ends_go_first(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		for (size_t rows = 1; rows <= EVENTS_MOST; rows++)
			run(&scenes[i], rows);
}

static int refuse(void *context, const struct tw_batch *batch)
{
	(void)context;
	return batch->count ? TW_ERR_SYSTEM : 0;
}

static void a_failure_is_reported(void **state)
{
	(void)state;
	struct tw_ends_first ends = {0};
	const struct tw_event event = parse("Xb15");
	const struct tw_batch batch = {&event, 1, NULL};
	assert_int_equal(tw_ends_first_take(&ends, &batch, refuse, NULL), 0); /* it is held */
	assert_int_equal(tw_ends_first_finish(&ends, refuse, NULL), TW_ERR_SYSTEM);
	tw_ends_first_free(&ends);
}

static int take_same(void *context, const struct tw_batch *batch)
{
	*(const struct tw_event **)context = batch->events;
	return 0;
}

static void what_is_in_order_is_not_copied(void **state)
{
	(void)state;
	struct tw_ends_first ends = {0};
	const struct tw_event events[] = {parse("Bb1"), parse("Xz23"), parse("Eb8")}, *found = NULL;
	const struct tw_batch batch = {events, 3, NULL};
	assert_int_equal(tw_ends_first_take(&ends, &batch, take_same, &found), 0);
	assert_ptr_equal(found, events);
	tw_ends_first_free(&ends);
}

SUITE(order_ends_first)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ends_go_first),
	    cmocka_unit_test(a_failure_is_reported),
	    cmocka_unit_test(what_is_in_order_is_not_copied),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
