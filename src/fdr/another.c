/* another.c - logs that stand one behind the other in a file, as `cat` makes of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/fdr.h"

enum { KIND = 4, FREQUENCY_AT = 8, SIZE_AT = 16, FIELD = 8 }; /* version and type; of the header */

bool fdr_is_header(const struct fdr_log *log, const uint8_t *bytes, size_t have)
{
	const uint8_t *own = log->header_bytes;
	return have >= TW_FDR_HEADER_SIZE && memcmp(bytes, own, KIND) == 0 &&
	       memcmp(bytes + FREQUENCY_AT, own + FREQUENCY_AT, FIELD) == 0 &&
	       /* version 1 needs the size of buffers to find them */
	       (log->header.version > 1 || fdr_is_basic(log) || memcmp(bytes + SIZE_AT, own + SIZE_AT, FIELD) == 0) &&
	       !fdr_is_flight(&log->header); /* its numbers are of other functions */
}

int fdr_pass_header(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t *offset)
{
	for (;;) {
		const uint8_t *bytes;
		size_t have;
		int status = tw_window_view(window, *offset, TW_FDR_HEADER_SIZE, &bytes, &have);
		if (status < 0)
			return tw_fail(reader, status, "%s", tw_input_error(reader->input));
		if (!fdr_is_header(log, bytes, have))
			return 0;
		tw_report(reader, &fdr_rules[XRAY_ANOTHER_LOG], *offset, *offset, 0,
		          "the header of another log with the same clock: both are read");
		*offset += TW_FDR_HEADER_SIZE;
	}
}
