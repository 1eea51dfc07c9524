/* histogram.h - how often each duration was seen, in buckets of at most 1/64 of their value. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_CALLS_HISTOGRAM_H
#define ANALYSIS_CALLS_HISTOGRAM_H

#include "core/budget.h"

/* Values below 64 have a bucket each; above, every octave (64 to 127, 128 to 255, ...) has 64 buckets of one width. */
enum { TW_BUCKETS = 64, TW_OCTAVES = 59, TW_RAW_VALUES = 16, TW_RAW_BLOCK = 4 };

/* One histogram. Its first TW_RAW_VALUES values are kept as they are, so that what is rare is small and exact. The
 * numbers are places in the pool. */
struct tw_histogram {
	uint32_t table; /* of its first octave among all */
	uint32_t raw;
};

struct tw_histogram_table {
	uint32_t chunk[TW_BUCKETS]; /* by octave: the place of its first count among all; 0: nothing in it yet */
};

/* The counts of an octave. They are as short as can be, because all that are in use should fit the second-level cache;
 * what they cannot hold goes to the pool's carries. */
struct tw_histogram_chunk {
	uint16_t count[TW_BUCKETS];
};

/* Values as they are: most rows have few. */
struct tw_histogram_raw {
	uint64_t value[TW_RAW_BLOCK];
	uint32_t next; /* the block of the values that follow; 0: none */
};

/* Where histograms live. Number 0 of each kind is none; the counts of chunk 0 are full. */
struct tw_histogram_pool {
	struct tw_budget *budget;
	struct tw_histogram_table *tables; /* the first is all zero */
	size_t table_count, table_room;
	struct tw_histogram_chunk *chunks;
	size_t chunk_count, chunk_room;
	struct tw_histogram_raw *raws;
	size_t raw_count, raw_room;
	uint32_t free_raw;     /* a list through next */
	struct tw_map carried; /* chunk * 64 + bucket to a place in carries */
	uint64_t *carries;     /* counts beyond 16 bits, in units of 65536 */
	size_t carry_count, carry_room;
	bool starved; /* something was not counted, for want of room */
};

/* False when there is no memory: then only free is legal. */
bool tw_histogram_pool_init(struct tw_histogram_pool *pool, struct tw_budget *budget);
void tw_histogram_pool_free(struct tw_histogram_pool *pool);

/* Makes a histogram ready for values; false when there is no room. */
bool tw_histogram_init(struct tw_histogram_pool *pool, struct tw_histogram *histogram);

static inline uint32_t tw_highest_bit(uint64_t value)
{
	return 63 ^ (uint32_t)__builtin_clzll(value);
}

/* The octave of a value and its bucket there: they grow with it. The second octave begins with bit 6, which stands
 * above the bucket in all but the first. */
static inline uint32_t tw_histogram_octave(uint64_t value, uint32_t *bucket)
{
	uint32_t shift = tw_highest_bit(value | TW_BUCKETS) - 6, top = (uint32_t)(value >> shift);
	*bucket = top % TW_BUCKETS;
	return shift + top / TW_BUCKETS;
}

/* Returns octave and bucket as one number. */
static inline uint32_t tw_histogram_bucket(uint64_t value)
{
	uint32_t bucket, octave = tw_histogram_octave(value, &bucket);
	return octave * TW_BUCKETS + bucket;
}

/* All octaves of all tables, and all counts, in a row: a table and a chunk are known by the place of their first one,
 * which a step from value to count need not be multiplied for. `make bench` measures stat. */
static inline uint32_t *tw_histogram_chunks(const struct tw_histogram_pool *pool)
{
	return (uint32_t *)pool->tables;
}

static inline uint16_t *tw_histogram_counts(const struct tw_histogram_pool *pool)
{
	return (uint16_t *)pool->chunks;
}

/* Where among all counts a value is counted. What has no place yet is full: chunk 0 always is. */
static inline uint32_t tw_histogram_number(const struct tw_histogram_pool *pool, const struct tw_histogram *histogram,
                                           uint64_t value)
{
	uint32_t bucket, octave = tw_histogram_octave(value, &bucket);
	return tw_histogram_chunks(pool)[histogram->table + octave] + bucket;
}

static inline uint16_t *tw_histogram_place(const struct tw_histogram_pool *pool, const struct tw_histogram *histogram,
                                           uint64_t value)
{
	return &tw_histogram_counts(pool)[tw_histogram_number(pool, histogram, value)];
}

/* Adds a value whose place is full. */
void tw_histogram_spill(struct tw_histogram_pool *pool, struct tw_histogram *histogram, uint64_t before,
                        uint64_t value);

/* Adds a value to a histogram that `before` values were added to. Where memory is at its limit, it may stay without. */
static inline void tw_histogram_add(struct tw_histogram_pool *pool, struct tw_histogram *histogram, uint64_t before,
                                    uint64_t value)
{
	uint16_t *count = tw_histogram_place(pool, histogram, value);
	if (*count == UINT16_MAX)
		tw_histogram_spill(pool, histogram, before, value);
	else
		++*count;
}

/* Adds one histogram, of from_values, to another, of into_values. */
void tw_histogram_merge(struct tw_histogram_pool *into_pool, struct tw_histogram *into, uint64_t into_values,
                        const struct tw_histogram_pool *from_pool, const struct tw_histogram *from,
                        uint64_t from_values);

/* At most what a histogram of `values` values takes of a budget's rows when it is merged into another; and of its
 * counts. */
size_t tw_histogram_rows_cost(uint64_t values);
size_t tw_histogram_cost(const struct tw_histogram_pool *pool, const struct tw_histogram *histogram, uint64_t values);

/* Reads percentiles (nearest rank) of a histogram of `values` values: parts[i] in thousandths, ascending. All 0 when
 * there is none. */
void tw_histogram_percentiles(const struct tw_histogram_pool *pool, const struct tw_histogram *histogram,
                              uint64_t values, const unsigned *parts, uint64_t *results, size_t count);

#endif
