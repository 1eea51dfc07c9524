/* fuzz_diff.c - any bytes as stacks with two numbers, and as a trace that is compared with its first half. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/compare/changes.h"
#include "analysis/compare/spread.h"

/* ---- Stacks: what is written is read as the same. ---- */

static bool read_lines(struct tw_changes *changes, const uint8_t *bytes, size_t size)
{
	struct tw_input *input;
	uint64_t line = 0;
	fuzz_require(tw_input_memory(&input, "lines", bytes, size) == 0, "an input");
	int status = tw_changes_read(changes, input, &line);
	fuzz_require(status == 0 || status == TW_ERR_VALUE || tw_input_error(input)[0], "a reason");
	fuzz_require(status != TW_ERR_VALUE || line > 0, "the line that is wrong");
	tw_input_close(input);
	return status == 0;
}

static uint8_t *fold(const struct tw_changes *changes, size_t *size)
{
	struct tw_output out;
	fuzz_scratch(&out);
	fuzz_require(tw_changes_fold(&out, changes) == 0, "memory is enough");
	return fuzz_scratch_bytes(&out, size);
}

static void check_lines(const uint8_t *bytes, size_t size, uint8_t selector)
{
	const struct tw_flame_options options = {.form = selector & 1 ? TW_FLAME_HTML : TW_FLAME_SVG, .min_share = -1};
	struct tw_changes once = {0}, twice = {0};
	if (read_lines(&once, bytes, size)) {
		size_t length, again;
		uint8_t *lines = fold(&once, &length);
		fuzz_require(read_lines(&twice, lines, length), "lines are read back");
		free(lines);
		for (size_t side = 0; side < 2; side++)
			fuzz_require(tw_changes_total(&once, (enum tw_change_side)side) ==
			                 tw_changes_total(&twice, (enum tw_change_side)side),
			             "and weigh the same");
		tw_changes_normalize(&once);
		struct tw_output out;
		fuzz_scratch(&out);
		fuzz_require(tw_changes_draw(&out, &once, &options) == 0, "memory is enough");
		free(fuzz_scratch_bytes(&out, &again));
	}
	tw_changes_free(&once);
	tw_changes_free(&twice);
}

/* ---- Traces. ---- */

static struct tw_spread *read_spread(const uint8_t *bytes, size_t size, enum tw_spread_of of, uint8_t selector)
{
	enum { SMALL = 1 << 16 }; /* bytes: the limit is reached, too */
	struct tw_read_options options = fuzz_options(selector & 0xf0);
	options.order = TW_ORDER_TIME;
	struct tw_reader *reader = fuzz_open(bytes, size, &options);
	struct tw_spread *spread = reader ? tw_spread_new(of, selector & 0x80 ? SMALL : 0) : NULL;
	if (spread)
		fuzz_good(reader, tw_spread_read(spread, reader));
	tw_close(reader);
	return spread;
}

static void check_rows(const struct tw_spread_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct tw_spread_change *row = &changes->rows[i];
		fuzz_require(row->a || row->b, "a row is of a side");
		fuzz_require(isnan(row->test.p) == (row->test.significance == TW_UNTESTED),
		             "what is tested has a result");
		fuzz_require(isnan(row->test.p) || (row->test.p >= 0 && row->test.p <= 1), "a probability");
		fuzz_require(isnan(row->test.p) || row->test.low <= row->test.high, "an interval");
	}
}

static void check_spread(const uint8_t *bytes, size_t size, enum tw_spread_of of, uint8_t selector)
{
	struct tw_spread *half = read_spread(bytes, size / 2, of, selector);
	struct tw_spread *all = read_spread(bytes, size, of, selector);
	struct tw_spread_changes changes;
	if (half && all) {
		/* The same four times: enough runs for a test. */
		struct tw_spread *const before[] = {half, half, half, half}, *const after[] = {all, all, all, all};
		const struct tw_spread_side a = {before, selector & 1 ? 4 : 1}, b = {after, 4};
		fuzz_require(tw_spread_compare(&changes, of, &a, &b) == 0, "memory is enough");
		check_rows(&changes);
		free(changes.rows);
	}
	tw_spread_free(half);
	tw_spread_free(all);
}

FUZZ_TARGET(diff, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	check_lines(bytes + 1, size - 1, bytes[0]);
	for (int of = TW_SPREAD_EVENTS; of <= TW_SPREAD_JIT; of++)
		check_spread(bytes + 1, size - 1, (enum tw_spread_of)of, bytes[0]);
	return 0;
}
