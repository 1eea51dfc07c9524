/* fuzz_read.c - any bytes as a trace, all its events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	struct tw_read_options options = fuzz_options(bytes[0]);
	struct tw_reader *reader = fuzz_open(bytes + 1, size - 1, &options);
	if (reader)
		fuzz_drain(reader);
	tw_close(reader);
	return 0;
}
