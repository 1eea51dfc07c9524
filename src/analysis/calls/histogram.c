/* histogram.c - how often each duration was seen, in buckets of at most 1/64 of their value. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/histogram.h"

#include "base/memory/memory.h"
#include "base/memory/order.h"

#include <stdlib.h>
#include <string.h>

bool tw_histogram_pool_init(struct tw_histogram_pool *pool, struct tw_budget *budget)
{
	*pool = (struct tw_histogram_pool){.budget = budget, .table_count = 1, .chunk_count = 1, .raw_count = 1};
	if (!tw_grow(&pool->tables, &pool->table_room, 1, sizeof *pool->tables) ||
	    !tw_grow(&pool->chunks, &pool->chunk_room, 1, sizeof *pool->chunks) ||
	    !tw_grow(&pool->raws, &pool->raw_room, 1, sizeof *pool->raws))
		return false;
	memset(pool->chunks, UINT8_MAX, sizeof *pool->chunks);
	return true;
}

void tw_histogram_pool_free(struct tw_histogram_pool *pool)
{
	free(pool->tables);
	free(pool->chunks);
	free(pool->raws);
	free(pool->carries);
	tw_map_free(&pool->carried);
}

/* ---- Places in the pool: 0 when there is no room. ---- */

static uint32_t new_raw(struct tw_histogram_pool *pool)
{
	uint32_t raw = pool->free_raw;
	if (raw) {
		pool->free_raw = pool->raws[raw].next;
		pool->raws[raw] = (struct tw_histogram_raw){0};
		return raw;
	}
	if (pool->raw_count == UINT32_MAX || !tw_budget_grow(pool->budget, TW_FOR_ROWS, &pool->raws, &pool->raw_room,
	                                                     pool->raw_count + 1, sizeof *pool->raws))
		return 0;
	return (uint32_t)pool->raw_count++;
}

static uint32_t new_table(struct tw_histogram_pool *pool)
{
	if (pool->table_count == UINT32_MAX / TW_BUCKETS ||
	    !tw_budget_extend(pool->budget, TW_FOR_COUNTS, &pool->tables, &pool->table_room, pool->table_count + 1,
	                      sizeof *pool->tables))
		return 0;
	pool->tables[pool->table_count] = (struct tw_histogram_table){0};
	return (uint32_t)pool->table_count++ * TW_BUCKETS;
}

static uint32_t new_chunk(struct tw_histogram_pool *pool)
{
	if (pool->chunk_count == UINT32_MAX / TW_BUCKETS ||
	    !tw_budget_extend(pool->budget, TW_FOR_COUNTS, &pool->chunks, &pool->chunk_room, pool->chunk_count + 1,
	                      sizeof *pool->chunks))
		return 0;
	pool->chunks[pool->chunk_count] = (struct tw_histogram_chunk){0};
	return (uint32_t)pool->chunk_count++ * TW_BUCKETS;
}

bool tw_histogram_init(struct tw_histogram_pool *pool, struct tw_histogram *histogram)
{
	*histogram = (struct tw_histogram){.raw = new_raw(pool)};
	return histogram->raw != 0;
}

/* ---- Values as they are. ---- */

/* Where a value has its place, of which there are `before` already; NULL when there is no room. */
static uint64_t *raw_place(struct tw_histogram_pool *pool, const struct tw_histogram *histogram, uint64_t before)
{
	uint32_t raw = histogram->raw;
	for (uint64_t blocks = before / TW_RAW_BLOCK; blocks; blocks--) {
		if (!pool->raws[raw].next && blocks == 1 && before % TW_RAW_BLOCK == 0) {
			const uint32_t fresh = new_raw(pool);
			pool->raws[raw].next = fresh;
		}
		raw = pool->raws[raw].next;
		if (!raw)
			return NULL;
	}
	return &pool->raws[raw].value[before % TW_RAW_BLOCK];
}

/* Copies the values out. Returns how many there are: fewer than there were where there was no room. */
static size_t raw_values(const struct tw_histogram_pool *pool, const struct tw_histogram *histogram, uint64_t values,
                         uint64_t *found)
{
	size_t count = 0;
	for (uint32_t raw = histogram->raw; raw && count < values; raw = pool->raws[raw].next)
		for (size_t i = 0; i < TW_RAW_BLOCK && count < values; i++)
			found[count++] = pool->raws[raw].value[i];
	return count;
}

static void give_raws(struct tw_histogram_pool *pool, struct tw_histogram *histogram)
{
	uint32_t last = histogram->raw;
	while (pool->raws[last].next)
		last = pool->raws[last].next;
	pool->raws[last].next = pool->free_raw;
	pool->free_raw = histogram->raw;
	histogram->raw = 0;
}

/* ---- Counting. ---- */

static void carry(struct tw_histogram_pool *pool, uint64_t place, uint64_t units)
{
	uint32_t i;
	if (!tw_map_find(&pool->carried, place, &i)) {
		i = (uint32_t)pool->carry_count;
		if (!tw_budget_grow(pool->budget, TW_FOR_COUNTS, &pool->carries, &pool->carry_room, i + (size_t)1,
		                    sizeof units) ||
		    !tw_budget_map_add(pool->budget, TW_FOR_COUNTS, &pool->carried, place, i)) {
			pool->starved = true;
			return;
		}
		pool->carries[i] = 0;
		pool->carry_count++;
	}
	pool->carries[i] += units;
}

/* The counts of an octave; 0 when there is no room for them. */
static uint32_t chunk_of(struct tw_histogram_pool *pool, const struct tw_histogram *histogram, uint32_t octave)
{
	uint32_t *chunk = tw_histogram_chunks(pool) + histogram->table + octave;
	if (!*chunk) {
		uint32_t made = new_chunk(pool);
		pool->starved |= !made;
		*chunk = made;
	}
	return *chunk;
}

static void add_to_count(struct tw_histogram_pool *pool, uint32_t chunk, uint32_t i, uint64_t times)
{
	uint16_t *count = tw_histogram_counts(pool) + chunk + i;
	uint64_t low = *count + (times & UINT16_MAX);
	uint64_t units = (times >> 16) + (low >> 16);
	*count = (uint16_t)low;
	if (units)
		carry(pool, (uint64_t)chunk + i, units);
}

static void count_bucket(struct tw_histogram_pool *pool, struct tw_histogram *histogram, uint32_t bucket,
                         uint64_t times)
{
	uint32_t chunk = chunk_of(pool, histogram, bucket / TW_BUCKETS);
	if (chunk)
		add_to_count(pool, chunk, bucket % TW_BUCKETS, times);
}

/* Turns the values that were kept as they are into counts. False when there is no room. */
static bool make_table(struct tw_histogram_pool *pool, struct tw_histogram *histogram, uint64_t values)
{
	uint32_t table = new_table(pool);
	if (!table) {
		pool->starved = true;
		return false;
	}
	histogram->table = table;
	uint64_t found[TW_RAW_VALUES];
	const size_t count = raw_values(pool, histogram, values, found);
	for (size_t i = 0; i < count; i++)
		count_bucket(pool, histogram, tw_histogram_bucket(found[i]), 1);
	give_raws(pool, histogram);
	return true;
}

void tw_histogram_spill(struct tw_histogram_pool *pool, struct tw_histogram *histogram, uint64_t before, uint64_t value)
{
	if (!histogram->table && before < TW_RAW_VALUES) {
		uint64_t *place = raw_place(pool, histogram, before);
		if (place)
			*place = value;
		pool->starved |= !place;
	} else if (histogram->table || make_table(pool, histogram, before)) {
		count_bucket(pool, histogram, tw_histogram_bucket(value), 1);
	}
}

/* ---- Reading. ---- */

static uint64_t count_at(const struct tw_histogram_pool *pool, uint32_t chunk, uint32_t i)
{
	uint32_t place;
	uint64_t count = tw_histogram_counts(pool)[chunk + i];
	if (pool->carry_count && tw_map_find(&pool->carried, (uint64_t)chunk + i, &place))
		count += pool->carries[place] << 16;
	return count;
}

static uint64_t bucket_count(const struct tw_histogram_pool *pool, const struct tw_histogram *histogram,
                             uint32_t bucket)
{
	return count_at(pool, tw_histogram_chunks(pool)[histogram->table + bucket / TW_BUCKETS], bucket % TW_BUCKETS);
}

static uint64_t octave_count(const struct tw_histogram_pool *pool, const struct tw_histogram *histogram,
                             uint32_t octave)
{
	uint32_t chunk = tw_histogram_chunks(pool)[histogram->table + octave], sum = 0;
	uint64_t carried = 0;
	if (!chunk)
		return 0;
	const uint16_t *counts = tw_histogram_counts(pool) + chunk;
	for (uint32_t i = 0; i < TW_BUCKETS; i++)
		sum += counts[i];
	for (uint32_t i = 0; pool->carry_count && i < TW_BUCKETS; i++)
		carried += bucket_count(pool, histogram, octave * TW_BUCKETS + i) & ~(uint64_t)UINT16_MAX;
	return sum + carried;
}

/* Whether all sums of two octaves' counts fit. */
static bool sums_fit(const uint16_t *counts, const uint16_t *more)
{
	uint16_t full = 0;
	for (uint32_t i = 0; i < TW_BUCKETS; i++)
		full |= (uint16_t)(counts[i] + more[i]) < more[i];
	return !full;
}

/* A function of its own, so that compilers know by `restrict` that the two do not overlap. */
static void add_counts(uint16_t *restrict counts, const uint16_t *restrict more)
{
	for (uint32_t i = 0; i < TW_BUCKETS; i++)
		counts[i] = (uint16_t)(counts[i] + more[i]);
}

/* Adds all counts of an octave at once. `make bench` measures stat of FXT: one by one took a tenth of its time. */
static void merge_octave(struct tw_histogram_pool *into_pool, uint32_t into, const struct tw_histogram_pool *from_pool,
                         uint32_t from)
{
	uint16_t *counts = tw_histogram_counts(into_pool) + into;
	const uint16_t *more = tw_histogram_counts(from_pool) + from;
	if (!from_pool->carry_count && sums_fit(counts, more)) {
		add_counts(counts, more);
		return;
	}
	for (uint32_t i = 0; i < TW_BUCKETS; i++)
		add_to_count(into_pool, into, i, count_at(from_pool, from, i));
}

void tw_histogram_merge(struct tw_histogram_pool *into_pool, struct tw_histogram *into, uint64_t into_values,
                        const struct tw_histogram_pool *from_pool, const struct tw_histogram *from,
                        uint64_t from_values)
{
	if (!from->table) {
		uint64_t found[TW_RAW_VALUES];
		const size_t count = raw_values(from_pool, from, from_values, found);
		for (size_t i = 0; i < count; i++)
			tw_histogram_add(into_pool, into, into_values + i, found[i]);
		return;
	}
	if (!into->table && !make_table(into_pool, into, into_values))
		return;
	for (uint32_t octave = 0; octave < TW_OCTAVES; octave++) {
		uint32_t more = tw_histogram_chunks(from_pool)[from->table + octave];
		uint32_t chunk = more ? chunk_of(into_pool, into, octave) : 0;
		if (chunk)
			merge_octave(into_pool, chunk, from_pool, more);
	}
}

size_t tw_histogram_rows_cost(uint64_t values)
{
	uint64_t raw = values < TW_RAW_VALUES ? values : TW_RAW_VALUES;
	return (size_t)(raw / TW_RAW_BLOCK + 1) * 2 * sizeof(struct tw_histogram_raw);
}

/* Returns how much memory merging a histogram takes at most: arrays may have twice the room that they need, and with
 * 65536 values or more a count can be carried. */
size_t tw_histogram_cost(const struct tw_histogram_pool *pool, const struct tw_histogram *histogram, uint64_t values)
{
	uint64_t octaves = 0, found[TW_RAW_VALUES];
	const size_t count = raw_values(pool, histogram, values, found);
	for (uint32_t i = 0; i < TW_OCTAVES && histogram->table; i++)
		octaves |= (uint64_t)(tw_histogram_chunks(pool)[histogram->table + i] != 0) << i;
	for (size_t i = 0; i < count; i++)
		octaves |= UINT64_C(1) << tw_histogram_bucket(found[i]) / TW_BUCKETS;
	size_t chunks = (size_t)__builtin_popcountll(octaves), carried = (size_t)(values >> 16) + 1;
	size_t carries = chunks * TW_BUCKETS < carried ? chunks * TW_BUCKETS : carried;
	return 2 * (sizeof *pool->tables + chunks * sizeof *pool->chunks) +
	       carries * (2 * sizeof *pool->carries + 3 * sizeof *pool->carried.slots);
}

static uint64_t bucket_middle(uint32_t bucket)
{
	if (bucket < 2 * TW_BUCKETS)
		return bucket;
	unsigned shift = bucket / TW_BUCKETS - 1;
	uint64_t low = (uint64_t)(bucket % TW_BUCKETS + TW_BUCKETS) << shift;
	return low + (UINT64_C(1) << shift) / 2;
}

/* ceil(part / 1000 * n), at least 1, without overflow. */
static uint64_t rank(unsigned part, uint64_t n)
{
	uint64_t whole = n / 1000 * part + (n % 1000 * part + 999) / 1000;
	return whole ? whole : 1;
}

/* The value at a rank among those of an octave. */
static uint64_t value_at(const struct tw_histogram_pool *pool, const struct tw_histogram *histogram, uint32_t octave,
                         uint64_t left)
{
	uint32_t bucket = octave * TW_BUCKETS;
	for (uint64_t count; (count = bucket_count(pool, histogram, bucket)) < left; bucket++)
		left -= count;
	return bucket_middle(bucket);
}

static void raw_percentiles(uint64_t *found, size_t values, const unsigned *parts, uint64_t *results, size_t count)
{
	qsort(found, values, sizeof *found, tw_compare_u64);
	for (size_t i = 0; i < count && values; i++)
		results[i] = found[rank(parts[i], values) - 1];
}

void tw_histogram_percentiles(const struct tw_histogram_pool *pool, const struct tw_histogram *histogram,
                              uint64_t values, const unsigned *parts, uint64_t *results, size_t count)
{
	memset(results, 0, count * sizeof *results);
	if (!histogram->table) {
		uint64_t found[TW_RAW_VALUES];
		raw_percentiles(found, raw_values(pool, histogram, values, found), parts, results, count);
		return;
	}
	uint64_t counts[TW_OCTAVES], counted = 0, below = 0;
	for (uint32_t octave = 0; octave < TW_OCTAVES; octave++)
		counted += counts[octave] = octave_count(pool, histogram, octave);
	size_t i = 0;
	for (uint32_t octave = 0; octave < TW_OCTAVES; below += counts[octave++])
		for (; i < count && counts[octave] && below + counts[octave] >= rank(parts[i], counted); i++)
			results[i] = value_at(pool, histogram, octave, rank(parts[i], counted) - below);
}
