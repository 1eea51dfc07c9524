/* fuzz_read.c - any bytes as a trace, all its events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <string.h>

/* What is found does not depend on whether events are asked for. */
static void check_findings(const uint8_t *bytes, size_t size, const struct tw_reader *reader)
{
	struct tw_read_options options = {.format = "fxt", .checking = TW_CHECK_ALL, .findings_only = true};
	struct tw_reader *other = fuzz_open(bytes, size, &options);
	struct tw_batch batch;
	int status = other ? 0 : -1;
	while (status >= 0 && (status = tw_read(other, &batch)) > 0)
		;
	if (other && fuzz_good(other, status))
		for (enum tw_severity severity = TW_NOTE; severity <= TW_ERROR; severity++)
			fuzz_require(tw_reader_findings(other, severity) == tw_reader_findings(reader, severity),
			             "as many findings without events as with them");
	tw_close(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	struct tw_read_options options = fuzz_options(bytes[0]);
	struct tw_reader *reader = fuzz_open(bytes + 1, size - 1, &options);
	if (reader)
		fuzz_drain(reader);
	if (reader && (bytes[0] & ~3) == 4 && strcmp(tw_reader_format(reader), "fxt") == 0)
		check_findings(bytes + 1, size - 1, reader);
	tw_close(reader);
	return 0;
}
