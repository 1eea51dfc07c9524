/* test_filter.c - the time window, the minimum duration and the names, on tables of events written by hand.
 *
 * An event is "TRACK TIME KIND NAME", then "for N" (the duration of a complete slice), "with TEXT" (an argument) and
 * "in CATEGORY" and "on OUTER/INNER" (a stack). Kinds are
 * B(egin), E(nd), X (complete), I(nstant), C(ounter), L(ost), M(etadata), S(witch), and of samples K (stack), P (CPU),
 * A(llocation), O(bject). A "!" after the kind is TW_FLAG_CLIPPED. Times are since the start of the trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory/memory.h"
#include "core/dictionary.h"
#include "core/filter/filter.h"
#include "core/format.h"

#include "suite.h"

enum { START = 1000, EVENTS = 64 };

static const struct {
	char letter;
	uint8_t kind;
} letters[] = {
    {'B', TW_SLICE_BEGIN},  {'E', TW_SLICE_END},  {'X', TW_SLICE_COMPLETE},    {'I', TW_INSTANT},
    {'C', TW_COUNTER},      {'L', TW_LOST},       {'M', TW_METADATA},          {'S', TW_SWITCH},
    {'K', TW_STACK_SAMPLE}, {'P', TW_CPU_SAMPLE}, {'A', TW_ALLOCATION_SAMPLE}, {'O', TW_OBJECT},
};

/* A format that delivers a table, some events at a time; bytes of arguments live until the next call. */
struct fixture {
	struct tw_format format;
	struct tw_reader reader;
	struct tw_event events[EVENTS];
	struct tw_argument arguments[EVENTS];
	char texts[EVENTS][16];
	size_t count, at, step;
	char *borrowed[EVENTS];
	int status;    /* what comes after the last event */
	uint64_t made; /* a generated trace: so many slices */
};

static void give_back(struct fixture *f)
{
	for (size_t i = 0; i < EVENTS; i++) {
		free(f->borrowed[i]);
		f->borrowed[i] = NULL;
	}
}

static int read_table(struct tw_reader *reader, struct tw_batch *batch)
{
	struct fixture *f = reader->state;
	give_back(f);
	size_t n = f->count - f->at < f->step ? f->count - f->at : f->step;
	*batch = (struct tw_batch){.events = f->events + f->at, .count = n, .arguments = f->arguments};
	for (size_t i = f->at; i < f->at + n; i++) {
		f->borrowed[i] = strdup(f->texts[i]);
		f->arguments[i].value.bytes = (const uint8_t *)f->borrowed[i];
	}
	f->at += n;
	return n ? (int)n : f->status;
}

/* The words of an event; the last is empty. */
enum { TRACK, TIME, KIND, NAME, WORDS = 9, WORD = 24 };

static void split(const char *line, char words[WORDS][WORD])
{
	memset(words, 0, WORDS * sizeof *words);
	for (size_t n = 0; n < WORDS - 1 && *line && *line != ';'; n++) {
		size_t length = strcspn(line, " ;");
		assert_true(length < sizeof *words);
		memcpy(words[n], line, length);
		line += length + (line[length] == ' ');
	}
}

static const char *word_after(char words[WORDS][WORD], const char *word)
{
	for (size_t i = NAME + 1; i + 1 < WORDS; i++)
		if (strcmp(words[i], word) == 0)
			return words[i + 1];
	return NULL;
}

static uint8_t kind_of(char letter)
{
	for (size_t k = 0; k < sizeof letters / sizeof *letters; k++)
		if (letters[k].letter == letter)
			return letters[k].kind;
	fail_msg("no kind %c", letter);
	return 0;
}

static uint32_t stack_of(struct fixture *f, const char *text)
{
	uint32_t stack = 0;
	for (size_t length; *text; text += length + (text[length] == '/')) {
		length = strcspn(text, "/");
		const struct tw_name name = {.text = text, .length = length};
		const struct tw_location location = {.name = tw_dictionary_intern(f->reader.dictionary, &name)};
		stack = tw_dictionary_push(f->reader.dictionary, stack,
		                           tw_dictionary_add_location(f->reader.dictionary, &location));
	}
	return stack;
}

static void parse_event(struct fixture *f, const char *line)
{
	char words[WORDS][WORD];
	split(line, words);
	size_t i = f->count++;
	assert_true(i < EVENTS);
	const char *duration = word_after(words, "for"), *with = word_after(words, "with");
	const char *category = word_after(words, "in"), *stack = word_after(words, "on");
	f->events[i] = (struct tw_event){
	    .time = START + strtoul(words[TIME], NULL, 10),
	    .offset = i,
	    .value = duration ? strtoul(duration, NULL, 10) : 0,
	    .track = (uint32_t)strtoul(words[TRACK], NULL, 10),
	    .name = strcmp(words[NAME], "-") == 0 ? 0 : tw_dictionary_text(f->reader.dictionary, words[NAME]),
	    .category = category ? tw_dictionary_text(f->reader.dictionary, category) : 0,
	    .other = stack ? stack_of(f, stack) : 0,
	    .first_argument = (uint16_t)i,
	    .argument_count = with ? 1 : 0,
	    .kind = kind_of(words[KIND][0]),
	};
	strcpy(f->texts[i], with ? with : "");
	f->arguments[i] = (struct tw_argument){.type = TW_ARG_TEXT, .size = (uint32_t)strlen(f->texts[i])};
}

static void parse(struct fixture *f, const char *table)
{
	f->count = f->at = 0;
	for (const char *line = table; *line;) {
		parse_event(f, line);
		line = strchr(line, ';');
		if (!line)
			break;
		line += strspn(line, "; ");
	}
}

static void show(struct fixture *f, struct tw_text *out, const struct tw_batch *batch, size_t i)
{
	const struct tw_event *event = &batch->events[i];
	char line[128], kind = '?';
	for (size_t k = 0; k < sizeof letters / sizeof *letters; k++)
		if (letters[k].kind == event->kind)
			kind = letters[k].letter;
	const char *name = event->name ? tw_dictionary_name(f->reader.dictionary, event->name)->text : "-";
	int n = snprintf(line, sizeof line, "%s%u %" PRIu64 " %c%s %s", out->length ? "; " : "", event->track,
	                 event->time - START, kind, event->flags & TW_FLAG_CLIPPED ? "!" : "", name);
	assert_true(event->flags < 2 * TW_FLAG_UNWOUND); /* none that the header does not name */
	tw_text_add(out, line, (size_t)n);
	if (event->kind == TW_SLICE_COMPLETE)
		tw_text_add(out, line, (size_t)snprintf(line, sizeof line, " for %u", (unsigned)event->value));
	for (size_t k = 0; k < event->argument_count; k++) {
		const struct tw_argument *argument = &batch->arguments[event->first_argument + k];
		tw_text_add(out, " with ", 6);
		tw_text_add(out, (const char *)argument->value.bytes, (size_t)argument->size);
	}
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	*state = f;
	f->format.name = "test";
	f->format.reading.read = read_table;
	f->reader.format = &f->format;
	f->reader.state = f;
	f->reader.dictionary = tw_dictionary_new();
	f->reader.clock.start_ns = START;
	assert_int_equal(tw_input_memory(&f->reader.input, "made", "", 0), 0);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	give_back(f);
	tw_dictionary_free(f->reader.dictionary);
	tw_input_close(f->reader.input);
	free(f);
	return 0;
}

/* The table that comes out; *status is what ended it. */
static char *filtered(struct fixture *f, const struct tw_read_options *options, int *status)
{
	struct tw_filter *filter =
	    tw_filter_new(options, f->reader.dictionary, &f->reader.clock, &f->reader.filtering.used);
	assert_non_null(filter);
	struct tw_text out = {0};
	tw_text_add(&out, "", 0);
	struct tw_batch batch;
	int n;
	while ((n = tw_filter_read(filter, &f->reader, &batch)) > 0) {
		assert_int_equal(n, batch.count);
		assert_true(batch.count <= 256);
		for (size_t i = 0; i < batch.count; i++)
			show(f, &out, &batch, i);
	}
	*status = n;
	tw_filter_free(filter);
	return out.bytes;
}

static void check(struct fixture *f, struct tw_read_options options, const char *in, const char *expected)
{
	static const size_t steps[] = {1, 2, 3, EVENTS};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		int status;
		parse(f, in);
		f->step = steps[i];
		char *out = filtered(f, &options, &status);
		assert_string_equal(out, expected);
		assert_int_equal(status, f->status);
		free(out);
	}
}

/* For tables that both orders give the same for. */
static void check_orders(struct fixture *f, struct tw_read_options options, const char *in, const char *expected)
{
	check(f, options, in, expected);
	options.order = TW_ORDER_TIME;
	check(f, options, in, expected);
}

static void test_which_options_need_a_filter(void **state)
{
	(void)state;
	assert_false(tw_filter_needed(&(struct tw_read_options){0}));
	assert_false(tw_filter_needed(&(struct tw_read_options){.thread_count = 1, .order = TW_ORDER_TIME}));
	assert_true(tw_filter_needed(&(struct tw_read_options){.from_ns = 1}));
	assert_true(tw_filter_needed(&(struct tw_read_options){.to_ns = 1}));
	assert_true(tw_filter_needed(&(struct tw_read_options){.min_duration_ns = 1}));
	assert_true(tw_filter_needed(&(struct tw_read_options){.function = "*"}));
	assert_true(tw_filter_needed(&(struct tw_read_options){.category = "*"}));
	assert_false(tw_filter_needs_time(&(struct tw_read_options){.function = "*", .category = "*"}));
}

/* ---- The window. ---- */

static void test_window_edges(void **state)
{
	struct tw_read_options options = {.from_ns = 10, .to_ns = 20};
	check_orders(*state, options, "1 9 I a; 1 10 I b; 1 19 I c; 1 20 I d; 1 21 I e", "1 10 I b; 1 19 I c");
	check_orders(*state, options, "1 9 L -; 1 10 L -; 1 9 M -; 1 20 M -", "1 10 L -");
}

static void test_window_clips_pairs(void **state)
{
	struct tw_read_options options = {.from_ns = 10, .to_ns = 20};
	check_orders(*state, options, "1 1 B f with x; 1 2 B g with yy; 1 15 I i; 1 25 E g; 1 30 E f",
	             "1 10 B! f with x; 1 10 B! g with yy; 1 15 I i; 1 20 E! g; 1 20 E! f");
	check_orders(*state, options, "1 1 B f; 1 2 B g with y; 1 3 E g; 1 15 E f", "1 10 B! f; 1 15 E f");
	check_orders(*state, options, "1 12 B f; 1 13 E f; 1 14 B g; 1 30 E g",
	             "1 12 B f; 1 13 E f; 1 14 B g; 1 20 E! g");
	check_orders(*state, options, "1 1 B f; 1 2 E f; 1 30 B f; 1 31 E f", "");
}

static void test_window_over_everything(void **state)
{
	struct tw_read_options options = {.from_ns = 10, .to_ns = 20};
	check_orders(*state, options, "1 1 B f; 1 30 E f", "1 10 B! f; 1 20 E! f");
	check_orders(*state, (struct tw_read_options){.to_ns = 20}, "1 0 B f; 1 30 E f", "1 0 B f; 1 20 E! f");
	check_orders(*state, (struct tw_read_options){.from_ns = 10}, "1 0 B f; 1 30 E f", "1 10 B! f; 1 30 E f");
}

/* A slice is the times from its begin up to its end, without the end. */
static void test_window_touches(void **state)
{
	struct tw_read_options options = {.from_ns = 10, .to_ns = 20};
	check_orders(*state, options, "1 1 B f; 1 10 E f; 1 12 I i", "1 12 I i");
	check_orders(*state, options, "1 1 B f; 1 10 I i; 1 10 E f", "1 10 I i");
	check_orders(*state, options, "1 10 B f; 1 10 E f", "1 10 B f; 1 10 E f");
	check_orders(*state, options, "1 5 X f for 5; 1 10 X g for 0", "1 10 X g for 0");
	check_orders(*state, options, "1 19 B f; 1 20 E f; 1 20 B g; 1 21 E g", "1 19 B f; 1 20 E! f");
}

static void test_window_clips_complete(void **state)
{
	struct tw_read_options options = {.from_ns = 10, .to_ns = 20};
	check_orders(*state, options, "1 5 X f for 10", "1 10 X! f for 5");
	check_orders(*state, options, "1 15 X f for 10 with z", "1 15 X! f for 5 with z");
	check_orders(*state, options, "1 5 X f for 100", "1 10 X! f for 10");
	check_orders(*state, options, "1 1 X f for 3; 1 12 X g for 8; 1 20 X h for 1", "1 12 X g for 8");
	check_orders(*state, options, "1 1 B o; 1 5 X f for 10; 1 15 E o", "1 10 B! o; 1 10 X! f for 5; 1 15 E o");
}

/* What is open when a track ends stays open; at the start of the window that is a begin. */
static void test_window_open_at_the_end(void **state)
{
	check_orders(*state, (struct tw_read_options){.from_ns = 10, .to_ns = 20}, "1 12 B f; 1 13 I i",
	             "1 12 B f; 1 13 I i");
	check_orders(*state, (struct tw_read_options){.from_ns = 10}, "1 1 B f; 1 2 B g; 1 3 E g", "1 10 B! f");
}

static void test_window_tracks(void **state)
{
	struct tw_read_options options = {.from_ns = 10, .to_ns = 20};
	const char *in = "1 1 B f; 2 2 B g; 1 12 I i; 2 14 I k; 1 22 E f; 2 23 E g; 1 30 I i";
	check(*state, options, in, "1 10 B! f; 1 12 I i; 2 10 B! g; 2 14 I k; 1 20 E! f; 2 20 E! g");
	options.order = TW_ORDER_TIME;
	check(*state, options, in, "1 10 B! f; 2 10 B! g; 1 12 I i; 2 14 I k; 1 20 E! f; 2 20 E! g");
}

/* What happens in a slice when the window starts comes after its begin, of whatever track. */
static void test_window_starts_in_a_slice(void **state)
{
	struct tw_read_options options = {.from_ns = 10, .to_ns = 20};
	check_orders(*state, options, "1 1 B f with x; 1 10 I i with yy; 1 10 C c; 1 15 E f",
	             "1 10 B! f with x; 1 10 I i with yy; 1 10 C c; 1 15 E f");
	check_orders(*state, options, "1 1 B f; 1 10 I i; 1 10 B g; 1 10 I j; 1 12 E g; 1 25 E f",
	             "1 10 B! f; 1 10 I i; 1 10 B g; 1 10 I j; 1 12 E g; 1 20 E! f");
	check_orders(*state, options, "1 1 B f; 1 2 B g; 1 10 I i; 1 10 E g; 1 10 I j; 1 12 E f",
	             "1 10 B! f; 1 10 I i; 1 10 I j; 1 12 E f");
	check_orders(*state, options, "1 1 B f; 1 10 I i; 1 10 E f; 1 10 I j", "1 10 I i; 1 10 I j");
	check_orders(*state, options, "1 1 B f; 1 10 E -; 1 10 E g; 1 10 I j", "1 10 E g; 1 10 I j");
	options.order = TW_ORDER_TIME;
	check(*state, options, "1 1 B f; 2 2 B g; 2 10 I i; 1 10 I j; 2 10 I k; 3 10 I l; 1 11 E f; 2 12 E g",
	      "1 10 B! f; 2 10 B! g; 2 10 I i; 1 10 I j; 2 10 I k; 3 10 I l; 1 11 E f; 2 12 E g");
	check(*state, options, "1 1 B f; 2 2 B g; 2 10 I i; 1 10 I j; 2 10 B h; 1 11 E f; 2 12 E h; 2 13 E g",
	      "2 10 B! g; 2 10 I i; 2 10 B h; 1 10 B! f; 1 10 I j; 1 11 E f; 2 12 E h; 2 13 E g");
}

static void test_window_empty(void **state)
{
	check_orders(*state, (struct tw_read_options){.from_ns = 20, .to_ns = 10}, "1 1 B f; 1 15 I i; 1 30 E f", "");
	check_orders(*state, (struct tw_read_options){.from_ns = 10, .to_ns = 10}, "1 1 B f; 1 10 I i; 1 30 E f", "");
	check_orders(*state, (struct tw_read_options){.from_ns = UINT64_MAX}, "1 1 B f; 1 2 E f", "");
}

/* Of objects that have no time of their own none is outside of a window. */
static void test_window_and_objects(void **state)
{
	struct fixture *f = *state;
	struct tw_read_options options = {.from_ns = 10, .to_ns = 20};
	const char *in = "1 1 B f; 1 2 O a; 1 12 O b; 1 15 I i; 1 30 O c; 2 40 O d; 1 50 E f";
	check_orders(f, options, in, "1 10 B! f; 1 12 O b; 1 15 I i; 1 20 E! f");
	f->reader.traits.timeless = true;
	check_orders(f, options, in, "1 10 O a; 1 10 B! f; 1 12 O b; 1 15 I i; 1 19 O c; 2 19 O d; 1 20 E! f");
	options.to_ns = 0;
	check_orders(f, options, "1 1 O a; 1 9 I i; 1 30 O b", "1 10 O a; 1 30 O b");
	options.to_ns = 10;
	check_orders(f, options, "1 1 O a; 1 9 I i; 1 30 O b", "");
}

/* What comes late is in the window as if it had come in time. */
static void test_window_late(void **state)
{
	struct tw_read_options options = {.from_ns = 10, .to_ns = 20};
	check_orders(*state, options, "1 12 I a; 1 30 I b; 1 15 I c; 1 16 B f; 1 17 E f; 1 18 B g; 1 31 E g",
	             "1 12 I a; 1 15 I c; 1 16 B f; 1 17 E f; 1 18 B g; 1 20 E! g");
}

/* Times that are beyond 64 bits stand at their end, START after the last that one can ask for: they are in what has no
 * end, and so is what comes behind them. */
static void test_window_last_time(void **state)
{
	const char *in = "1 1 I a; 1 18446744073709550615 I b; 1 2 I c", *all = in;
	check_orders(*state, (struct tw_read_options){.category = "*"}, in, all);
	check_orders(*state, (struct tw_read_options){.function = "*"}, in, all);
	check_orders(*state, (struct tw_read_options){.from_ns = 1}, in, all);
	check_orders(*state, (struct tw_read_options){.min_duration_ns = 1}, in, all);
	check_orders(*state, (struct tw_read_options){.to_ns = UINT64_MAX}, in, "1 1 I a; 1 2 I c");
}

/* ---- The stacks. ---- */

static void test_unwound(void **state)
{
	struct tw_read_options options = {.from_ns = 10, .to_ns = 20};
	check_orders(*state, options, "1 1 B f; 1 2 B g; 1 3 B h; 1 15 E f; 1 16 I i",
	             "1 10 B! f; 1 10 B! g; 1 10 B! h; 1 15 E f; 1 16 I i");
	check_orders(*state, options, "1 1 B f; 1 2 B g; 1 3 E f; 1 15 I i", "1 15 I i");
	check_orders(*state, options, "1 12 B f; 1 13 B g; 1 14 E f; 1 25 I i", "1 12 B f; 1 13 B g; 1 14 E f");
}

static void test_recursion(void **state)
{
	struct tw_read_options options = {.min_duration_ns = 10};
	check_orders(*state, options, "1 0 B f; 1 1 B f; 1 2 B g; 1 3 B f; 1 4 E f; 1 5 E g; 1 20 E f; 1 21 E f",
	             "1 0 B f; 1 1 B f; 1 20 E f; 1 21 E f");
	check_orders(*state, options, "1 0 B f; 1 1 B g; 1 2 B f; 1 3 B h; 1 4 E f; 1 5 E g; 1 20 E f",
	             "1 0 B f; 1 20 E f");
}

static void test_ends_without_begins(void **state)
{
	check_orders(*state, (struct tw_read_options){.from_ns = 10}, "1 1 E f; 1 12 E f; 1 13 I i",
	             "1 12 E f; 1 13 I i");
	check_orders(*state, (struct tw_read_options){.min_duration_ns = 10}, "1 1 E f; 1 12 E g", "1 1 E f; 1 12 E g");
}

/* ---- Durations. ---- */

static void test_short_slices(void **state)
{
	struct tw_read_options options = {.min_duration_ns = 10};
	check_orders(*state, options, "1 0 B f with a; 1 9 E f; 1 10 B g with b; 1 20 E g",
	             "1 10 B g with b; 1 20 E g");
	check_orders(*state, options, "1 0 B f; 1 1 B g; 1 2 E g; 1 10 E f", "1 0 B f; 1 10 E f");
	check_orders(*state, options, "1 0 X f for 9; 1 1 X g for 10", "1 1 X g for 10");
}

static void test_what_stays(void **state)
{
	struct tw_read_options options = {.min_duration_ns = 10};
	check_orders(*state, options, "1 0 B f; 1 1 I i with p; 1 2 L -; 1 3 C c; 1 4 E f; 1 5 I k",
	             "1 1 I i with p; 1 2 L -; 1 3 C c; 1 5 I k");
	check_orders(*state, options, "1 0 B f; 1 1 I i with p; 1 2 B g with q; 1 3 I j; 1 30 E g; 1 31 E f",
	             "1 0 B f; 1 1 I i with p; 1 2 B g with q; 1 3 I j; 1 30 E g; 1 31 E f");
}

static void test_open_slices_are_long(void **state)
{
	struct tw_read_options options = {.min_duration_ns = 10};
	check_orders(*state, options, "1 0 B f; 1 1 B g; 1 2 E g; 1 3 B h", "1 0 B f; 1 3 B h");
}

static void test_unwound_durations(void **state)
{
	struct tw_read_options options = {.min_duration_ns = 10};
	check_orders(*state, options, "1 0 B f; 1 1 B g; 1 19 B h; 1 20 E f; 1 40 I i",
	             "1 0 B f; 1 1 B g; 1 20 E f; 1 40 I i");
}

static void test_times_going_back(void **state)
{
	check_orders(*state, (struct tw_read_options){.min_duration_ns = 10}, "1 30 B f; 1 20 E f; 1 31 I i",
	             "1 31 I i");
}

/* Time order holds everything behind what is undecided; otherwise tracks do not wait for each other. */
static void test_tracks_wait(void **state)
{
	struct tw_read_options options = {.min_duration_ns = 10};
	const char *in = "1 0 B f; 2 1 I i; 2 2 B g; 1 5 I k; 2 12 E g; 1 13 E f";
	check(*state, options, in, "2 1 I i; 2 2 B g; 2 12 E g; 1 0 B f; 1 5 I k; 1 13 E f");
	options.order = TW_ORDER_TIME;
	check(*state, options, in, "1 0 B f; 2 1 I i; 2 2 B g; 1 5 I k; 2 12 E g; 1 13 E f");
}

static void test_window_before_durations(void **state)
{
	struct tw_read_options options = {.from_ns = 10, .to_ns = 40, .min_duration_ns = 10};
	check_orders(*state, options, "1 0 B f; 1 15 E f; 1 16 I i", "1 16 I i");
	check_orders(*state, options, "1 35 B f; 1 36 I i; 1 90 E f", "1 36 I i");
	check_orders(*state, options, "1 0 B f; 1 35 B g; 1 90 E g; 1 91 E f", "1 10 B! f; 1 40 E! f");
	check_orders(*state, options, "1 0 X f for 15; 1 0 X g for 20", "1 10 X! g for 10");
}

/* ---- Names. ---- */

static void test_names(void **state)
{
	struct tw_read_options options = {.function = "f*"};
	check_orders(
	    *state, options,
	    "1 0 B fib; 1 1 B g; 1 2 I foo; 1 3 I bar; 1 4 E g; 1 5 E fib; 1 6 X g for 1; 1 7 X f for 1; 1 8 C c",
	    "1 0 B fib; 1 2 I foo; 1 5 E fib; 1 7 X f for 1");
	check_orders(*state, options, "1 0 L x; 1 1 M y; 1 2 S z", "1 0 L x; 1 1 M y; 1 2 S z");
	check_orders(*state, (struct tw_read_options){.function = "[fg]"}, "1 0 I f; 1 1 I g; 1 2 I h; 1 3 I fg",
	             "1 0 I f; 1 1 I g");
	check_orders(*state, (struct tw_read_options){.function = "f"}, "1 0 B f; 1 1 B g; 1 2 E -; 1 3 E -",
	             "1 0 B f; 1 3 E f");
}

/* An end is of the category of its begin. Events of kinds that have none pass. */
static void test_categories(void **state)
{
	check_orders(
	    *state, (struct tw_read_options){.category = "n*"},
	    "1 0 B a in net; 1 1 B b in gfx; 1 2 B c in net; 1 3 E c; 1 4 E b in net; 1 5 E -; 1 6 I d in net; 1 7 I "
	    "e; 1 8 L f",
	    "1 0 B a; 1 2 B c; 1 3 E c; 1 5 E a; 1 6 I d; 1 8 L f");
	check_orders(*state, (struct tw_read_options){.category = "net", .function = "d"},
	             "1 0 I c in net; 1 1 I d in gfx; 1 2 I d in net", "1 2 I d");
	check_orders(*state, (struct tw_read_options){.category = ""}, "1 0 I c in net; 1 1 I d", "1 1 I d");
}

/* A sample is of each function of its stack, an allocation also of its class; its category is its own. */
static void test_samples(void **state)
{
	const char *in =
	    "1 0 K f on main/f; 1 1 K g on main/f/g; 1 2 P h on main/h; 1 3 A C on main/f; 1 4 A fC on main; "
	    "1 5 K -; 1 6 K g on main/f/g";
	check_orders(*state, (struct tw_read_options){.function = "f*"}, in,
	             "1 0 K f; 1 1 K g; 1 3 A C; 1 4 A fC; 1 6 K g");
	check_orders(*state, (struct tw_read_options){.function = "h"}, in, "1 2 P h");
	check_orders(*state, (struct tw_read_options){.function = "main"}, in,
	             "1 0 K f; 1 1 K g; 1 2 P h; 1 3 A C; 1 4 A fC; 1 6 K g");
	check_orders(*state, (struct tw_read_options){.category = "n*"},
	             "1 0 K f on f in net; 1 1 K f on f; 1 2 P g on g", "1 0 K f");
	check_orders(*state, (struct tw_read_options){.category = ""}, "1 0 K f on f in net; 1 1 K f on f", "1 1 K f");
}

/* The end that unwinds a slice is left out: the slice gets its own. */
static void test_names_unwound(void **state)
{
	struct tw_read_options options = {.function = "g"};
	check_orders(*state, options, "1 0 B f; 1 1 B g; 1 2 B h; 1 3 E f; 1 4 B g; 1 5 E g",
	             "1 1 B g; 1 3 E g; 1 4 B g; 1 5 E g");
	options.min_duration_ns = 10;
	check_orders(*state, options, "1 0 B f; 1 1 B g; 1 3 E f; 1 4 B f; 1 5 B g; 1 20 E f", "1 5 B g; 1 20 E g");
}

static void test_all_three(void **state)
{
	struct tw_read_options options = {.from_ns = 10, .to_ns = 50, .min_duration_ns = 5, .function = "f"};
	check_orders(*state, options,
	             "1 0 B f with a; 1 1 B g; 1 12 E g; 1 13 B f; 1 14 E f; 1 20 B f with b; 1 30 E f; 1 60 E f",
	             "1 10 B! f with a; 1 20 B f with b; 1 30 E f; 1 50 E! f");
}

/* ---- Length, memory, failure. ---- */

static void test_failure_comes_last(void **state)
{
	struct fixture *f = *state;
	f->status = TW_ERR_SYSTEM;
	check_orders(f, (struct tw_read_options){.min_duration_ns = 10}, "1 0 B f; 1 1 I i", "1 0 B f; 1 1 I i");
}

/* A slice around very many: it stays open for the whole trace, those inside are short but for each 1000th. */
static int read_many(struct tw_reader *reader, struct tw_batch *batch)
{
	struct fixture *f = reader->state;
	if (f->made == 1000000)
		return 0;
	for (size_t i = 0; i < EVENTS; i += 2, f->made++) {
		uint64_t time = START + 100 * f->made;
		f->events[i] = (struct tw_event){.time = time, .track = 1, .name = 1, .kind = TW_SLICE_BEGIN};
		f->events[i + 1] = f->events[i];
		f->events[i + 1].time += f->made % 1000 ? 10 : 50;
		f->events[i + 1].kind = f->made ? TW_SLICE_END : TW_INSTANT; /* the first one never ends */
	}
	*batch = (struct tw_batch){.events = f->events, .count = EVENTS};
	return EVENTS;
}

static uint64_t count_many(struct fixture *f, const struct tw_read_options *options)
{
	f->made = 0;
	struct tw_filter *filter =
	    tw_filter_new(options, f->reader.dictionary, &f->reader.clock, &f->reader.filtering.used);
	struct tw_batch batch;
	uint64_t count = 0;
	int n;
	while ((n = tw_filter_read(filter, &f->reader, &batch)) > 0)
		count += (uint64_t)n;
	assert_int_equal(n, 0);
	tw_filter_free(filter);
	return count;
}

static void test_many(void **state)
{
	struct fixture *f = *state;
	f->format.reading.read = read_many;
	tw_dictionary_text(f->reader.dictionary, "f");
	struct tw_read_options options = {.min_duration_ns = 50};
	assert_int_equal(count_many(f, &options), 2 + 2 * 999);
	options.order = TW_ORDER_TIME;
	assert_int_equal(count_many(f, &options), 2 + 2 * 999);
	/* The first is undecided to the end, and the others behind it: what is dropped takes no memory. */
	options = (struct tw_read_options){.min_duration_ns = 1000000000, .memory_limit = 64 << 10};
	assert_int_equal(count_many(f, &options), 2);
}

/* Begins without end: the stack stops growing, and all come through. */
static int read_begins(struct tw_reader *reader, struct tw_batch *batch)
{
	struct fixture *f = reader->state;
	if (f->made == 100 * EVENTS)
		return 0;
	for (size_t i = 0; i < EVENTS; i++, f->made++)
		f->events[i] =
		    (struct tw_event){.time = START + f->made, .track = 1, .name = 1, .kind = TW_SLICE_BEGIN};
	*batch = (struct tw_batch){.events = f->events, .count = EVENTS};
	return EVENTS;
}

static void test_memory_limit(void **state)
{
	struct fixture *f = *state;
	f->format.reading.read = read_begins;
	struct tw_read_options options = {.min_duration_ns = 1000000, .memory_limit = 8 << 10};
	assert_int_equal(count_many(f, &options), 100 * EVENTS);
	options = (struct tw_read_options){.from_ns = 10, .memory_limit = 8 << 10};
	assert_in_range(count_many(f, &options), 100 * EVENTS - 10, 100 * EVENTS);
}

/* Each begin waits while 200 others come: what is held moves in memory, with the bytes of its arguments. */
static int read_waiting(struct tw_reader *reader, struct tw_batch *batch)
{
	struct fixture *f = reader->state;
	if (f->made == 100 * EVENTS)
		return 0;
	for (size_t i = 0; i < EVENTS; i++, f->made++) {
		snprintf(f->texts[i], sizeof f->texts[i], "text %u", (unsigned)f->made);
		f->arguments[i] = (struct tw_argument){.type = TW_ARG_TEXT, .size = (uint32_t)strlen(f->texts[i])};
		f->arguments[i].value.bytes = (const uint8_t *)f->texts[i];
		f->events[i] =
		    (struct tw_event){.time = START + f->made, .track = 1, .name = 1, .kind = TW_SLICE_BEGIN};
		f->events[i].first_argument = (uint16_t)i;
		f->events[i].argument_count = 1;
	}
	*batch = (struct tw_batch){.events = f->events, .count = EVENTS, .arguments = f->arguments};
	return EVENTS;
}

static void test_arguments_that_wait(void **state)
{
	struct fixture *f = *state;
	f->format.reading.read = read_waiting;
	struct tw_read_options options = {.min_duration_ns = 200};
	struct tw_filter *filter =
	    tw_filter_new(&options, f->reader.dictionary, &f->reader.clock, &f->reader.filtering.used);
	struct tw_batch batch;
	unsigned at = 0;
	while (tw_filter_read(filter, &f->reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++, at++) {
			const struct tw_argument *argument = &batch.arguments[batch.events[i].first_argument];
			char text[16];
			snprintf(text, sizeof text, "text %u", at);
			assert_int_equal(argument->size, strlen(text));
			assert_memory_equal(argument->value.bytes, text, strlen(text));
		}
	assert_int_equal(at, 100 * EVENTS);
	tw_filter_free(filter);
}

/* What no memory could be had for is told once, with the first begin that it began with; parts only note it. */
static void expect_reported(struct fixture *f, const struct tw_read_options *options, uint64_t warnings)
{
	memset(f->reader.reports.findings, 0, sizeof f->reader.reports.findings);
	f->reader.reports.fell_short = false;
	count_many(f, options);
	assert_int_equal(f->reader.reports.findings[TW_WARNING], f->reader.whole ? 0 : warnings);
	assert_int_equal(f->reader.reports.fell_short, warnings);
	assert_int_equal(f->reader.filtering.used, 0);
}

static void test_limit_is_reported(void **state)
{
	struct fixture *f = *state;
	f->format.reading.read = read_begins;
	expect_reported(f, &(struct tw_read_options){.min_duration_ns = 1000000}, 0);
	expect_reported(f, &(struct tw_read_options){.min_duration_ns = 1000000, .memory_limit = 8 << 10}, 1);
	expect_reported(f, &(struct tw_read_options){.from_ns = 10, .memory_limit = 8 << 10}, 1);
	f->format.reading.read = read_waiting;
	expect_reported(f, &(struct tw_read_options){.min_duration_ns = 200, .memory_limit = 8 << 10}, 1);
	struct tw_reader whole = {.format = &f->format};
	f->reader.whole = &whole;
	expect_reported(f, &(struct tw_read_options){.min_duration_ns = 200, .memory_limit = 8 << 10}, 1);
}

/* Each event a track of its own: beyond the limit tracks are let through, within the window. */
static int read_tracks(struct tw_reader *reader, struct tw_batch *batch)
{
	struct fixture *f = reader->state;
	if (f->made == 100 * EVENTS)
		return 0;
	for (size_t i = 0; i < EVENTS; i++, f->made++)
		f->events[i] = (struct tw_event){.time = START + f->made % 20,
		                                 .track = (uint32_t)f->made,
		                                 .name = 1,
		                                 .kind = TW_SLICE_BEGIN};
	*batch = (struct tw_batch){.events = f->events, .count = EVENTS};
	return EVENTS;
}

static void test_many_tracks(void **state)
{
	struct fixture *f = *state;
	f->format.reading.read = read_tracks;
	expect_reported(f, &(struct tw_read_options){.to_ns = 10}, 0);
	assert_int_equal(count_many(f, &(struct tw_read_options){.to_ns = 10}), 50 * EVENTS);
	expect_reported(f, &(struct tw_read_options){.to_ns = 10, .memory_limit = 64 << 10}, 1);
	assert_int_equal(count_many(f, &(struct tw_read_options){.to_ns = 10, .memory_limit = 64 << 10}), 50 * EVENTS);
}

/* Over the limit the oldest goes undecided; an end follows its begin. */
static void test_oldest_goes(void **state)
{
	struct tw_read_options options = {.min_duration_ns = 100, .memory_limit = 1};
	check_orders(*state, options, "1 0 B f with a; 1 5 E f; 1 6 B g; 1 7 E g",
	             "1 0 B f with a; 1 5 E f; 1 6 B g; 1 7 E g");
}

SUITE(filter)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_which_options_need_a_filter),
	    cmocka_unit_test_setup_teardown(test_window_edges, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_clips_pairs, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_over_everything, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_touches, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_clips_complete, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_open_at_the_end, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_tracks, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_starts_in_a_slice, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_empty, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_late, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_and_objects, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_last_time, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_unwound, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_recursion, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_ends_without_begins, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_short_slices, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_what_stays, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_open_slices_are_long, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_unwound_durations, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_times_going_back, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_tracks_wait, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_window_before_durations, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_names, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_categories, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_samples, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_names_unwound, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_all_three, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_failure_comes_last, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_many, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_memory_limit, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_arguments_that_wait, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_oldest_goes, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_limit_is_reported, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_many_tracks, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
