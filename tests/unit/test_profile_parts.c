/* test_profile_parts.c - profiles of random calls, whole and in parts, against a plain model; and where memory ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_steps.h"
#include "suite.h"

#include "core/format.h"

/* ---- Parts: a trace of random calls on three tracks, read whole, in parts, and by a plain model. ---- */

enum { RANDOM_EVENTS = 6000, MODEL_DEPTH = 64 };

struct trace {
	struct step steps[TRACKS][RANDOM_EVENTS];
	size_t counts[TRACKS];
};

/* Calls with exits that are missing (unwound or open) and too many. */
static struct trace *make_trace(uint64_t seed)
{
	struct trace *trace = calloc(1, sizeof *trace);
	for (unsigned t = 0; t < TRACKS - 1; t++) {
		char stack[MODEL_DEPTH];
		size_t depth = 0;
		uint64_t time = 1000 * t;
		for (size_t i = 0; i < RANDOM_EVENTS; i++) {
			uint64_t r = next_random(&seed);
			time += r >> (20 + r % 40) & 0xfffff;
			bool begin = depth == 0 || (depth < 40 && r % 2);
			char name = begin ? (char)('a' + (r >> 8) % NAMES) : stack[depth - 1];
			if (!begin && r % 64 == 2) /* an exit somewhere below, or of nothing */
				name = (char)('a' + (r >> 16) % NAMES);
			trace->steps[t][i] = (struct step){begin ? 'B' : 'E', t, time, name, 0};
			if (begin)
				stack[depth++] = name;
			for (size_t d = depth; !begin && d > 0; d--)
				if (stack[d - 1] == name) {
					depth = d - 1;
					break;
				}
		}
		trace->counts[t] = RANDOM_EVENTS;
	}
	return trace;
}

/* A format whose trace is in memory: track by track, 256 rows a batch. Its parts take every n-th track. */
struct memory_trace {
	const struct trace *trace;
	uint32_t names[NAMES], tracks[TRACKS];
	unsigned track, every;
	size_t next;
	struct tw_event events[256];
	int status_at_end;
	unsigned *opened;
};

static void set_dictionary(struct tw_reader *reader, struct memory_trace *state, bool reversed)
{
	tw_dictionary_free(reader->dictionary);
	reader->dictionary = make_dictionary(state->names, state->tracks, reversed);
	reader->state = state;
}

static int memory_open_shard(struct tw_reader *part, unsigned shard, unsigned shards)
{
	struct memory_trace *state = malloc(sizeof *state);
	*state = *(struct memory_trace *)part->whole->state;
	state->track = shard;
	state->every = shards;
	++*state->opened;
	set_dictionary(part, state, shard % 2);
	return 0;
}

static int memory_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct memory_trace *state = reader->state;
	size_t count = 0;
	while (state->track < TRACKS && state->next == state->trace->counts[state->track]) {
		state->track += state->every;
		state->next = 0;
	}
	if (state->track >= TRACKS)
		return state->status_at_end ? tw_fail(reader, state->status_at_end, "it broke") : 0;
	for (; count < COUNT(state->events) && state->next < state->trace->counts[state->track]; count++)
		state->events[count] =
		    make_event(&state->trace->steps[state->track][state->next++], state->names, state->tracks);
	*batch = (struct tw_batch){.events = state->events, .count = count};
	return (int)count;
}

static void memory_close(struct tw_reader *reader)
{
	free(reader->state);
}

static const struct tw_format memory_format = {
    .name = "memory",
    .reading.open_shard = memory_open_shard,
    .reading.read = memory_read,
    .reading.close = memory_close,
};

/* Adds a trace; returns how many parts were opened. */
static unsigned add_trace(struct tw_profile *profile, const struct trace *trace, enum tw_order order, int status)
{
	unsigned opened = 0;
	struct tw_reader *reader = calloc(1, sizeof *reader);
	struct memory_trace *state = calloc(1, sizeof *state);
	*state = (struct memory_trace){.trace = trace, .every = 1, .status_at_end = status, .opened = &opened};
	pthread_mutex_init(&reader->reports.lock, NULL);
	reader->format = &memory_format;
	reader->options.order = order;
	set_dictionary(reader, state, false);
	assert_int_equal(tw_profile_add(profile, reader), status);
	if (status < 0)
		assert_string_equal(tw_reader_error(reader), "it broke");
	tw_close(reader);
	return opened;
}

/* A call of the model. */
struct model_call {
	char name;
	uint64_t begin, children;
};

struct model {
	uint64_t count[NAMES], open[NAMES], unwound[NAMES], total[NAMES], self[NAMES];
	uint64_t exits;
	uint64_t *durations[NAMES];
	size_t ended[NAMES];
};

static void model_pop(struct model *model, struct model_call *stack, size_t depth, uint64_t time, bool ended)
{
	struct model_call *call = &stack[depth];
	int n = call->name - 'a';
	uint64_t duration = time - call->begin;
	bool below = false;
	for (size_t i = 0; i < depth; i++)
		below |= stack[i].name == call->name;
	model->count[n]++;
	model->total[n] += below ? 0 : duration;
	model->self[n] += duration - call->children;
	if (depth)
		stack[depth - 1].children += duration;
	if (ended)
		model->durations[n][model->ended[n]++] = duration;
	else
		model->open[n]++;
}

static void model_end(struct model *model, struct model_call *stack, size_t *depth, const struct step *step)
{
	size_t match = *depth;
	while (match > 0 && stack[match - 1].name != step->name)
		match--;
	model->exits += match == 0;
	while (match > 0 && *depth >= match) {
		--*depth;
		model->unwound[stack[*depth].name - 'a'] += *depth >= match;
		model_pop(model, stack, *depth, step->time, true);
	}
}

static struct model *make_model(const struct trace *trace)
{
	struct model *model = calloc(1, sizeof *model);
	for (int n = 0; n < NAMES; n++)
		model->durations[n] = calloc((size_t)TRACKS * RANDOM_EVENTS, sizeof *model->durations[n]);
	for (unsigned t = 0; t < TRACKS; t++) {
		struct model_call stack[MODEL_DEPTH];
		size_t depth = 0;
		for (size_t i = 0; i < trace->counts[t]; i++) {
			const struct step *step = &trace->steps[t][i];
			if (step->kind == 'B')
				stack[depth++] = (struct model_call){.name = step->name, .begin = step->time};
			else
				model_end(model, stack, &depth, step);
		}
		while (depth--)
			model_pop(model, stack, depth, trace->steps[t][trace->counts[t] - 1].time, false);
	}
	return model;
}

static void expect_model(struct tw_profile *profile, struct model *model)
{
	for (int n = 0; n < NAMES; n++) {
		const struct tw_profile_row *row = tw_profile_row(profile, (size_t)n);
		size_t ended = model->ended[n];
		assert_non_null(row);
		assert_int_equal(row->id, n + 1);
		assert_int_equal(row->count, model->count[n]);
		assert_int_equal(row->open, model->open[n]);
		assert_int_equal(row->unwound, model->unwound[n]);
		assert_int_equal(row->total, model->total[n]);
		assert_int_equal(row->self, model->self[n]);
		qsort(model->durations[n], ended, sizeof *model->durations[n], compare_u64);
		assert_int_equal(row->min_ns, model->durations[n][0]);
		assert_int_equal(row->max_ns, model->durations[n][ended - 1]);
		expect_near(row->p50_ns, exact(model->durations[n], ended, 50));
		expect_near(row->p99_ns, exact(model->durations[n], ended, 99));
	}
	assert_null(tw_profile_row(profile, NAMES));
	assert_int_equal(tw_profile_notes(profile)->exits_without_entry, model->exits);
}

static void free_model(struct model *model)
{
	for (int n = 0; n < NAMES; n++)
		free(model->durations[n]);
	free(model);
}

static void expect_same(struct tw_profile *a, struct tw_profile *b)
{
	size_t i = 0;
	for (; tw_profile_row(a, i); i++) {
		struct tw_profile_row x = *tw_profile_row(a, i), y;
		assert_non_null(tw_profile_row(b, i));
		y = *tw_profile_row(b, i);
		assert_string_equal(x.name, y.name);
		assert_int_equal(x.caller != NULL, y.caller != NULL);
		if (x.caller)
			assert_string_equal(x.caller, y.caller);
		x.name = x.caller = x.file = y.name = y.caller = y.file = NULL;
		assert_memory_equal(&x, &y, sizeof x);
	}
	assert_null(tw_profile_row(b, i));
	assert_memory_equal(tw_profile_notes(a), tw_profile_notes(b), sizeof *tw_profile_notes(a));
}

static void test_model_and_jobs(void **state)
{
	(void)state;
	static const enum tw_profile_by ways[] = {TW_BY_FUNCTION, TW_BY_THREAD, TW_BY_CALLER};
	struct trace *trace = make_trace(4711);
	struct model *model = make_model(trace);
	for (size_t i = 0; i < COUNT(ways); i++) {
		struct tw_profile *one;
		assert_int_equal(tw_profile_new(&one, &(struct tw_profile_options){.by = ways[i], .jobs = 1}), 0);
		assert_int_equal(add_trace(one, trace, TW_ORDER_TRACK, 0), 0);
		if (ways[i] == TW_BY_FUNCTION)
			expect_model(one, model);
		for (unsigned jobs = 2; jobs <= 5; jobs++) {
			struct tw_profile *many;
			assert_int_equal(tw_profile_new(&many,
			                                &(struct tw_profile_options){.by = ways[i], .jobs = jobs}),
			                 0);
			assert_int_equal(add_trace(many, trace, TW_ORDER_TRACK, 0), jobs);
			expect_same(one, many);
			tw_profile_free(many);
		}
		tw_profile_free(one);
	}
	free_model(model);
	free(trace);
}

/* In time order there are no parts; and a read that fails leaves what was read before. */
static void test_status(void **state)
{
	(void)state;
	struct trace *trace = make_trace(99);
	struct model *model = make_model(trace);
	for (unsigned jobs = 1; jobs <= 3; jobs++) {
		struct tw_profile *profile;
		assert_int_equal(tw_profile_new(&profile, &(struct tw_profile_options){.jobs = jobs}), 0);
		assert_int_equal(add_trace(profile, trace, TW_ORDER_TIME, TW_ERR_SYSTEM), 0);
		expect_model(profile, model);
		tw_profile_free(profile);
		assert_int_equal(tw_profile_new(&profile, &(struct tw_profile_options){.jobs = jobs}), 0);
		assert_int_equal(add_trace(profile, trace, TW_ORDER_TRACK, TW_ERR_SYSTEM), jobs == 1 ? 0 : jobs);
		expect_model(profile, model);
		tw_profile_free(profile);
	}
	free_model(model);
	free(trace);
}

/* ---- Limits. ---- */

/* A profile of calls of many functions, one after the other or each inside the one before. */
struct hostile {
	struct tw_profile *profile;
	struct tw_dictionary *dictionary;
	void *part;
	uint64_t time;
};

static struct hostile begin_hostile(size_t limit, enum tw_profile_by by)
{
	struct hostile hostile = {.dictionary = tw_dictionary_new()};
	struct tw_profile_options options = {.by = by, .memory_limit = limit};
	assert_int_equal(tw_profile_new(&hostile.profile, &options), 0);
	hostile.part = tw_profile_consumer.open(hostile.profile, hostile.dictionary);
	assert_non_null(hostile.part);
	return hostile;
}

/* An event of function number `id`, a nanosecond after the one before. */
static void feed_hostile(struct hostile *hostile, enum tw_event_kind kind, uint64_t id, uint32_t track)
{
	struct tw_name name = {.text = "", .id = id + 1};
	struct tw_event event = {
	    .time = hostile->time++,
	    .kind = (uint8_t)kind,
	    .name = tw_dictionary_intern(hostile->dictionary, &name),
	    .track = track,
	};
	tw_consume_batch(&tw_profile_consumer, hostile->part, &(struct tw_batch){.events = &event, .count = 1});
}

static struct tw_profile *end_hostile(struct hostile *hostile)
{
	tw_profile_consumer.finish(hostile->part);
	assert_int_equal(tw_profile_consumer.merge(hostile->profile, hostile->part), 0);
	assert_int_equal(tw_profile_consumer.settle(hostile->profile), 0);
	tw_profile_consumer.close(hostile->part);
	tw_dictionary_free(hostile->dictionary);
	return hostile->profile;
}

/* All calls are counted somewhere, those of "(other)" in the notes too, and every exit found its entry. */
static void expect_all(struct tw_profile *profile, uint64_t calls, bool folded)
{
	uint64_t count = 0, other = 0;
	for (size_t i = 0; tw_profile_row(profile, i); i++) {
		const struct tw_profile_row *row = tw_profile_row(profile, i);
		count += row->count;
		if (strcmp(row->name, "(other)") == 0)
			other += row->count;
	}
	assert_int_equal(count, calls);
	assert_int_equal(other, tw_profile_notes(profile)->rows_folded);
	assert_int_equal(tw_profile_notes(profile)->exits_without_entry, 0);
	assert_int_equal(other != 0, folded);
}

static const size_t limits[] = {1, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 0};

static void test_many_functions(void **state)
{
	(void)state;
	enum { CALLS = 30000 };
	for (size_t i = 0; i < COUNT(limits); i++)
		for (int by = TW_BY_FUNCTION; by <= TW_BY_CALLER; by++) {
			struct hostile hostile = begin_hostile(limits[i], (enum tw_profile_by)by);
			for (uint64_t id = 0; id < CALLS; id++) {
				feed_hostile(&hostile, TW_SLICE_BEGIN, id, 0);
				feed_hostile(&hostile, TW_SLICE_END, id, 0);
			}
			struct tw_profile *profile = end_hostile(&hostile);
			expect_all(profile, CALLS, limits[i] != 0);
			tw_profile_free(profile);
		}
}

static void test_many_tracks(void **state)
{
	(void)state;
	enum { CALLS = 30000 };
	for (size_t i = 0; i < COUNT(limits); i++) {
		struct hostile hostile = begin_hostile(limits[i], TW_BY_THREAD);
		for (uint32_t track = 0; track < CALLS; track++)
			feed_hostile(&hostile, TW_SLICE_BEGIN, 0, track);
		for (uint32_t track = 0; track < CALLS; track++)
			feed_hostile(&hostile, TW_SLICE_END, 0, track);
		struct tw_profile *profile = end_hostile(&hostile);
		expect_all(profile, CALLS, limits[i] != 0);
		tw_profile_free(profile);
	}
}

/* Recursion and distinct functions, deeper than there is memory for: the total of the lowest is still that of all. */
static void test_deep_stacks(void **state)
{
	(void)state;
	enum { DEPTH = 100000 };
	for (size_t i = 0; i < 2 * COUNT(limits); i++) {
		size_t limit = limits[i / 2];
		uint64_t each = i % 2;
		struct hostile hostile = begin_hostile(limit, TW_BY_FUNCTION);
		for (uint64_t depth = 0; depth < DEPTH; depth++)
			feed_hostile(&hostile, TW_SLICE_BEGIN, depth * each, 0);
		for (uint64_t depth = DEPTH; depth-- > 0;)
			feed_hostile(&hostile, TW_SLICE_END, depth * each, 0);
		struct tw_profile *profile = end_hostile(&hostile);
		expect_all(profile, DEPTH, limit != 0);
		if (limit == 0 || limit >= 1 << 16) {
			assert_int_equal(tw_profile_row(profile, 0)->id, 1);
			assert_int_equal(tw_profile_row(profile, 0)->total, 2 * DEPTH - 1);
		}
		tw_profile_free(profile);
	}
}

/* Functions under "(other)" nest in each other: their time counts once. */
static void test_other_total(void **state)
{
	(void)state;
	enum { FUNCTIONS = 600, ROUNDS = 20 };
	struct hostile hostile = begin_hostile(1 << 17, TW_BY_FUNCTION);
	for (uint64_t id = 0; id < FUNCTIONS; id++) {
		feed_hostile(&hostile, TW_SLICE_BEGIN, id, 0);
		feed_hostile(&hostile, TW_SLICE_END, id, 0);
	}
	hostile.time = 1000000;
	for (int round = 0; round < ROUNDS; round++) { /* the last functions have no rows of their own */
		feed_hostile(&hostile, TW_SLICE_BEGIN, FUNCTIONS - 2, 0);
		feed_hostile(&hostile, TW_SLICE_BEGIN, FUNCTIONS - 1, 0);
		feed_hostile(&hostile, TW_SLICE_END, FUNCTIONS - 1, 0);
		feed_hostile(&hostile, TW_SLICE_END, FUNCTIONS - 2, 0);
	}
	struct tw_profile *profile = end_hostile(&hostile);
	uint64_t rows = 0;
	while (tw_profile_row(profile, rows))
		rows++;
	uint64_t once = FUNCTIONS - (rows - 1); /* calls of the first loop under "(other)", each a nanosecond */
	const struct tw_profile_row *other = NULL;
	for (size_t i = 0; i < rows; i++)
		if (strcmp(tw_profile_row(profile, i)->name, "(other)") == 0)
			other = tw_profile_row(profile, i);
	assert_non_null(other);
	assert_int_equal(other->count, once + 2 * ROUNDS);
	assert_int_equal(other->total, once + 3 * ROUNDS);
	assert_int_equal(other->self, once + 3 * ROUNDS);
	assert_int_equal(other->max_ns, 3);
	tw_profile_free(profile);
}

/* Where parts have no room the whole is read instead: the same rows are folded as with one thread. */
static void test_limit_and_jobs(void **state)
{
	(void)state;
	struct trace *trace = make_trace(17);
	for (size_t i = 0; i < COUNT(limits); i++) {
		struct tw_profile *one, *three;
		struct tw_profile_options options = {.by = TW_BY_CALLER, .jobs = 1, .memory_limit = limits[i]};
		assert_int_equal(tw_profile_new(&one, &options), 0);
		options.jobs = 3;
		assert_int_equal(tw_profile_new(&three, &options), 0);
		add_trace(one, trace, TW_ORDER_TRACK, 0);
		add_trace(three, trace, TW_ORDER_TRACK, 0);
		expect_same(one, three);
		tw_profile_free(one);
		tw_profile_free(three);
	}
	free(trace);
}

SUITE(profile_parts)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_model_and_jobs), cmocka_unit_test(test_status),
	    cmocka_unit_test(test_many_functions), cmocka_unit_test(test_many_tracks),
	    cmocka_unit_test(test_deep_stacks),    cmocka_unit_test(test_other_total),
	    cmocka_unit_test(test_limit_and_jobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
