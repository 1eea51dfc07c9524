/* slab.c - a block of rows with their arguments, and their order in time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/order/slab.h"

#include "base/memory/memory.h"

#include <stdlib.h>
#include <string.h>

void tw_slab_clear(struct tw_slab *slab)
{
	slab->count = slab->argument_count = 0;
	slab->sorted = slab->failed = slab->trackless = false;
}

void tw_slab_free(struct tw_slab *slab)
{
	free(slab->events);
	free(slab->arguments);
	free(slab->bases);
	free(slab->order);
	*slab = (struct tw_slab){0};
}

bool tw_slab_reserve(struct tw_slab *slab, size_t rows, size_t arguments)
{
	size_t room = slab->room;
	if (tw_extend(&slab->events, &room, rows, sizeof *slab->events) &&
	    tw_grow(&slab->bases, &slab->base_room, room / TW_SLAB_BLOCK + 1, sizeof *slab->bases) &&
	    tw_extend(&slab->arguments, &slab->argument_room, arguments, sizeof *slab->arguments)) {
		slab->room = room; /* all of it has bases */
		return true;
	}
	slab->failed = true;
	return false;
}

struct tw_event *tw_slab_add(struct tw_slab *slab, const struct tw_event *event)
{
	struct tw_event *row = tw_slab_next(slab);
	if (!row)
		return NULL;
	uint16_t first = row->first_argument;
	*row = *event;
	row->first_argument = first;
	row->argument_count = 0;
	return row;
}

void tw_slab_argument(struct tw_slab *slab, const struct tw_argument *argument)
{
	if (slab->failed) /* the row may be missing */
		return;
	struct tw_event *row = &slab->events[slab->count - 1];
	if (row->argument_count == UINT8_MAX)
		return;
	if (slab->argument_count == slab->argument_room &&
	    !tw_slab_reserve(slab, slab->count, slab->argument_count + 1))
		return;
	slab->arguments[slab->argument_count++] = *argument;
	row->argument_count++;
}

/* ---- The order. ---- */

/* A chunk of an FXT archive spans some milliseconds: two digits. */
enum { DIGIT_LEAST = 6, DIGIT = 12, DIGITS = 1 << DIGIT, KEY_BITS = 64 };

/* False also where only slices of several tracks seem to be out of order. */
static bool is_sorted(const struct tw_slab *slab)
{
	uint64_t time = 0, shortest = UINT64_MAX; /* of the complete slices of that time, whatever is between them */
	for (size_t i = 0; i < slab->count; i++) {
		const struct tw_event *row = &slab->events[i];
		bool complete = row->kind == TW_SLICE_COMPLETE;
		if (row->time != time)
			shortest = UINT64_MAX;
		if (row->time < time || (complete && row->value > shortest))
			return false;
		time = row->time;
		shortest = complete ? row->value : shortest;
	}
	return true;
}

unsigned tw_bits_of(uint64_t number)
{
	return number ? (unsigned)(KEY_BITS - __builtin_clzll(number)) : 0;
}

static void sort_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned shift, unsigned width)
{
	uint32_t starts[DIGITS + 1];
	size_t digits = (size_t)1 << width;
	memset(starts, 0, (digits + 1) * sizeof *starts);
	for (size_t i = 0; i < count; i++)
		starts[(from[i] >> shift) % digits + 1]++;
	for (size_t i = 1; i < digits; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < count; i++)
		to[starts[(from[i] >> shift) % digits]++] = from[i];
}

uint64_t *tw_sort_keys(uint64_t *keys, size_t count, unsigned number_bits, unsigned key_bits)
{
	uint64_t *from = keys, *to = keys + count;
	unsigned digit = tw_bits_of(count); /* to go through more places than there are keys would take longer */
	digit = digit < DIGIT_LEAST ? DIGIT_LEAST : digit > DIGIT ? DIGIT : digit;
	unsigned passes = (key_bits + digit - 1) / digit;
	unsigned width = passes ? (key_bits + passes - 1) / passes : 0;
	for (unsigned pass = 0; pass < passes; pass++) {
		sort_digit(from, to, count, number_bits + pass * width, width);
		uint64_t *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

/* Rows by their keys: times in the order that was made, each above `shift` bits. */
struct sorted {
	const uint64_t *keys;
	unsigned shift;
};

/* A row and its time as one number: the time since `base` above, the row below. Rows that are not later than one before
 * them stand apart: complete slices, nearly always, and of a quarter of the rows they make up a few. */
struct time_split {
	uint64_t *kept; /* behind a 0 */
	uint64_t *late; /* room for two of each */
	size_t kept_count, late_count;
	uint64_t base;
	unsigned row_bits;
};

/* False where times are so far apart that both are more than a number holds: only damage is. */
static bool split_rows(const struct tw_slab *slab, struct time_split *to)
{
	uint64_t last = 0, all = 0;
	size_t kept = 0, late = 0;
	for (size_t i = 0; i < slab->count; i++) {
		uint64_t time = slab->events[i].time, since = time - to->base;
		bool is_late = time < last;
		all |= since;
		to->kept[kept] = to->late[late] = since << to->row_bits | i;
		kept += !is_late;
		late += is_late;
		last = is_late ? last : time;
	}
	to->kept_count = kept;
	to->late_count = late;
	return all >> (KEY_BITS - 1 - to->row_bits) == 0;
}

/* Digit by digit, because they are out of order everywhere, but a slab spans a short time. *least is what was taken off
 * all of them. */
static const uint64_t *sort_late(const struct time_split *split, uint64_t *least)
{
	uint64_t first = UINT64_MAX, last = 0;
	for (size_t i = 0; i < split->late_count; i++) {
		first = split->late[i] < first ? split->late[i] : first;
		last = split->late[i] > last ? split->late[i] : last;
	}
	*least = split->late_count ? first >> split->row_bits << split->row_bits : 0;
	for (size_t i = 0; i < split->late_count; i++)
		split->late[i] -= *least;
	return tw_sort_keys(split->late, split->late_count, split->row_bits,
	                    tw_bits_of((last - *least) >> split->row_bits));
}

/* Puts the late ones where they belong, from the last on. */
static void merge_late(const struct time_split *split)
{
	uint64_t least;
	const uint64_t *late = sort_late(split, &least), *last = late + split->late_count - 1;
	const uint64_t *kept = split->kept + split->kept_count - 1;
	for (uint64_t *to = split->kept + split->kept_count + split->late_count - 1; last >= late; to--) {
		uint64_t key = *last + least;
		bool is_kept = *kept > key;
		*to = is_kept ? *kept : key;
		kept -= is_kept;
		last -= !is_kept;
	}
}

/* Makes the order by keys: those of the same time keep theirs. */
static struct sorted sort_packed(struct tw_slab *slab, const struct time_split *split)
{
	merge_late(split);
	for (size_t i = 0; i < slab->count; i++)
		slab->order[i] = (uint32_t)(split->kept[i] & ((UINT64_C(1) << split->row_bits) - 1));
	return (struct sorted){split->kept, split->row_bits};
}

static int earlier_first(const void *a, const void *b, void *context)
{
	const struct tw_event *events = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	if (events[left].time != events[right].time)
		return events[left].time < events[right].time ? -1 : 1;
	return left < right ? -1 : 1;
}

/* Sorts rows whose times are too far apart for keys, as only damage makes them. */
static struct sorted sort_rows(struct tw_slab *slab, uint64_t *keys)
{
	for (size_t i = 0; i < slab->count; i++)
		slab->order[i] = (uint32_t)i;
	qsort_r(slab->order, slab->count, sizeof *slab->order, earlier_first, slab->events);
	for (size_t i = 0; i < slab->count; i++)
		keys[i] = slab->events[slab->order[i]].time;
	return (struct sorted){keys, 0};
}

/* Puts rows of one time in order: places `from` to `to`. */
static bool nest_equals(struct tw_slab *slab, size_t from, size_t to, struct tw_equal_times *equal)
{
	equal->count = 0;
	for (size_t i = from; i < to; i++)
		if (!tw_equal_times_add(equal, slab, slab->order[i]))
			return false;
	if (!tw_equal_times_nest(equal))
		return false;
	for (size_t i = from; i < to; i++)
		slab->order[i] = equal->rows[i - from].row;
	return true;
}

/* Keys lie in order, rows anywhere. False when there is no memory. */
static bool nest(struct tw_slab *slab, const struct sorted *sorted, struct tw_equal_times *equal)
{
	const uint64_t *keys = sorted->keys;
	uint64_t time = slab->count ? keys[0] >> sorted->shift : 0;
	bool fine = true;
	for (size_t i = 1; i < slab->count; i++) {
		size_t from = i - 1;
		uint64_t before = time;
		time = keys[i] >> sorted->shift;
		if (__builtin_expect(time != before, 1))
			continue;
		while (i + 1 < slab->count && keys[i + 1] >> sorted->shift == time)
			i++;
		fine &= nest_equals(slab, from, i + 1, equal);
	}
	return fine;
}

/* Returns the time that keys count from: so far before the first that as many are behind it as before it, but so small
 * that keys do not wrap. */
static uint64_t base_of(uint64_t first, unsigned row_bits)
{
	uint64_t half = UINT64_C(1) << (KEY_BITS - 2 - row_bits), most = UINT64_C(0) - 2 * half;
	uint64_t base = first > half ? first - half : 0;
	return base < most ? base : most;
}

void tw_slab_sort(struct tw_slab *slab, struct tw_slab_scratch *scratch)
{
	size_t count = slab->count;
	slab->sorted = is_sorted(slab);
	if (slab->sorted)
		return;
	if (!tw_extend(&slab->order, &slab->order_room, count, sizeof *slab->order) ||
	    !tw_extend(&scratch->bytes, &scratch->room, (count * 3 + 1) * sizeof(uint64_t), 1)) {
		slab->failed = slab->sorted = true;
		return;
	}
	uint64_t *keys = (uint64_t *)(void *)scratch->bytes;
	unsigned row_bits = tw_bits_of(count);
	struct time_split split = {.kept = keys + 1,
	                           .late = keys + 1 + count,
	                           .base = base_of(slab->events[0].time, row_bits),
	                           .row_bits = row_bits};
	keys[0] = 0;
	const struct sorted sorted = split_rows(slab, &split) ? sort_packed(slab, &split) : sort_rows(slab, keys);
	scratch->equal.trackless = false;
	slab->failed |= !nest(slab, &sorted, &scratch->equal);
	slab->trackless = scratch->equal.trackless;
}

void tw_slab_scratch_free(struct tw_slab_scratch *scratch)
{
	free(scratch->bytes);
	tw_equal_times_free(&scratch->equal);
	*scratch = (struct tw_slab_scratch){0};
}
