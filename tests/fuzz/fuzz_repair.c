/* fuzz_repair.c - any bytes repaired: the result has no errors, and repairing it again changes nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "core/format.h"

/* The repaired bytes, NULL when there is nothing to repair. Freed by the caller. */
static uint8_t *repair(const uint8_t *bytes, size_t size, size_t *repaired_size)
{
	struct tw_reader *reader = fuzz_open(bytes, size, NULL);
	struct tw_rewrite_result result = {0};
	struct tw_output out;
	if (!reader)
		return NULL;
	fuzz_scratch(&out);
	bool good = reader->format->repair && fuzz_good(reader, reader->format->repair(reader, &out, &result));
	uint8_t *repaired = fuzz_scratch_bytes(&out, repaired_size);
	tw_close(reader);
	if (good && result.records_out)
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	size_t once_size, twice_size = 0;
	if (size < 1)
		return 0;
	uint8_t *once = repair(bytes + 1, size - 1, &once_size);
	if (!once)
		return 0;
	without_errors(once, once_size);
	uint8_t *twice = repair(once, once_size, &twice_size);
	fuzz_require(twice && twice_size == once_size && memcmp(once, twice, once_size) == 0,
	             "repairing what was repaired changes nothing");
	free(once);
	free(twice);
	return 0;
}
