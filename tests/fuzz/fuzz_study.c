/* fuzz_study.c - any bytes as a stream of instructions: each analysis of it, with much memory and with little. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <string.h>

static void touch_cell(const struct tw_study_column *column, const struct tw_study_cell *cell)
{
	bool text = column->unit == TW_STUDY_TEXT || column->unit == TW_STUDY_LINES;
	if (text && cell->text)
		fuzz_touch((const uint8_t *)cell->text, strlen(cell->text));
	if (column->unit == TW_STUDY_SHARE)
		fuzz_require(cell->share >= 0 && cell->share <= 1, "a share is a part of a whole");
}

static void touch_tables(const struct tw_study *study)
{
	const struct tw_study_table *table;
	for (size_t i = 0; (table = tw_study_table(study, i)); i++)
		for (size_t k = 0; k < table->row_count * table->column_count; k++)
			touch_cell(&table->columns[k % table->column_count], &table->cells[k]);
}

/* Bits 0 to 2 choose the analysis, bit 3 the next one and little memory, bit 4 reuse distances and all that caches have, bits 5 and 6 a
 * small interval and history. */
FUZZ_TARGET(study, const uint8_t *bytes, size_t size)
{
	enum { LITTLE = 1 << 16, INTERVAL = 5, PHASES = 4, LINE = 16, USUAL_LINE = 64 };
	if (size < 1)
		return 0;
	const struct tw_read_options reading = {.format = "xtrace"};
	struct tw_study_options options = {
	    .kind = (enum tw_study_kind)((bytes[0] & 7) + (bytes[0] >> 3 & 1)),
	    .memory_limit = bytes[0] & 8 ? LITTLE : 0,
	    .reuse = bytes[0] & 16,
	    .interval = bytes[0] & 32 ? INTERVAL : 0,
	    .phases = PHASES,
	    .history = bytes[0] & 64 ? 1 : 0,
	    .levels = {{.size = 256, .ways = 2, .line = LINE, .policy = (enum tw_study_policy)(bytes[0] >> 7)}},
	    .level_count = bytes[0] & 64 ? 1 : 0,
	};
	if (options.reuse) {
		options.llc = (struct tw_study_cache){4096, 4, options.level_count ? LINE : USUAL_LINE, TW_STUDY_LRU};
		options.icache = (struct tw_study_cache){1024, 2, USUAL_LINE, TW_STUDY_FIFO};
		options.itlb = options.dtlb = options.stlb = (struct tw_study_tlb){4, 2};
		options.next_line = options.stride = 2;
	}
	if (bytes[0] & 32)
		options.range =
		    (struct tw_study_range){.from = 1, .to_address = UINT64_MAX, .function = "0*", .levels = 3};
	struct tw_reader *reader = fuzz_open(bytes + 1, size - 1, &reading);
	struct tw_study *study = NULL;
	if (!reader)
		return 0;
	int status = tw_study_read(&study, reader, &options);
	if (status != TW_ERR_MEMORY)
		fuzz_require(fuzz_good(reader, status), "a stream can be studied");
	touch_tables(study);
	fuzz_require(tw_study_left_out(study) < UINT64_MAX / 2, "nothing is left out that is not there");
	tw_study_free(study);
	tw_close(reader);
	return 0;
}
