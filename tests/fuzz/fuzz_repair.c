/* fuzz_repair.c - any bytes repaired, as often as the command does: the result has no errors, and repairing it again
 * changes nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "core/format.h"

/* The repaired bytes, NULL when they cannot be repaired; records: how many are in them. Freed by the caller. */
static uint8_t *repair(const uint8_t *bytes, size_t size, size_t *repaired_size, uint64_t *records)
{
	struct tw_reader *reader = fuzz_open(bytes, size, NULL);
	struct tw_rewrite_result result = {0};
	struct tw_output out;
	if (!reader)
		return NULL;
	fuzz_scratch(&out);
	bool good = reader->format->rewriting.repair &&
	            fuzz_good(reader, reader->format->rewriting.repair(reader, &out, &result));
	uint8_t *repaired = fuzz_scratch_bytes(&out, repaired_size);
	tw_close(reader);
	*records = result.records_out;
	if (good)
		return repaired;
	free(repaired);
	return NULL;
}

static void without_errors(const uint8_t *bytes, size_t size)
{
	const struct tw_read_options options = {.order = TW_ORDER_FILE, .checking = TW_CHECK_ALL};
	struct tw_reader *reader = fuzz_open(bytes, size, &options);
	fuzz_require(reader != NULL, "what was repaired can be opened");
	fuzz_drain(reader);
	fuzz_require(tw_reader_findings(reader, TW_ERROR) == 0, "what was repaired has no errors");
	tw_close(reader);
}

/* Repairs what was repaired. Returns whether that changed anything. */
static bool repair_again(uint8_t **bytes, size_t *size, uint64_t *records)
{
	size_t again_size = 0;
	uint8_t *again = repair(*bytes, *size, &again_size, records);
	fuzz_require(again != NULL, "what was repaired can be repaired");
	bool changed = again_size != *size || memcmp(*bytes, again, again_size) != 0;
	free(*bytes);
	*bytes = again;
	*size = again_size;
	return changed;
}

FUZZ_TARGET(repair, const uint8_t *bytes, size_t size)
{
	enum { ROUNDS = 8 }; /* as in src/cli/commands/repair.c */
	size_t repaired_size;
	unsigned rounds = 0;
	if (size < 1)
		return 0;
	uint64_t records = 0;
	uint8_t *repaired = repair(bytes + 1, size - 1, &repaired_size, &records);
	while (repaired && records && repair_again(&repaired, &repaired_size, &records))
		fuzz_require(++rounds <= ROUNDS, "repairing what was repaired changes nothing in the end");
	if (repaired && records) /* a later round may find that nothing is left */
		without_errors(repaired, repaired_size);
	free(repaired);
	return 0;
}
