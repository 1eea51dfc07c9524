/* another.c - logs that stand one behind the other in a file, as `cat` makes of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/fdr.h"

#include <inttypes.h>

enum { KIND = 4, FREQUENCY_AT = 8, SIZE_AT = 16, FIELD = 8 }; /* version and type; of the header */

bool fdr_is_header(const struct fdr_log *log, const uint8_t *bytes, size_t have)
{
	const uint8_t *own = log->header_bytes;
	return have >= TW_FDR_HEADER_SIZE && memcmp(bytes, own, KIND) == 0 &&
	       memcmp(bytes + FREQUENCY_AT, own + FREQUENCY_AT, FIELD) == 0 &&
	       /* version 1 needs the size of buffers to find them */
	       (log->header.version > 1 || fdr_is_basic(log) || memcmp(bytes + SIZE_AT, own + SIZE_AT, FIELD) == 0) &&
	       !log->recorded; /* its numbers are of other functions */
}

/* ---- Those that cannot be read together with the log. ---- */

enum { BITS_AT = 4, BOTH = 3, BEHIND = TW_FDR_HEADER_SIZE + 1, PROFILING = 8 };
static const char profiling[2][PROFILING] = {"forpyarx", "xrayprof"}; /* by byte order */

/* Of a type and version that runtimes write, with both bits about the counter, a speed that counters have, and behind
 * it what such a log begins with. Version 1, and what is in the rest of the bits, would be found in records, too. */
static bool is_other_header(const struct fdr_log *log, const uint8_t *bytes, size_t have)
{
	enum { MOST = 5, LEAST = 2, SLOWEST = 1000000 /* Hz */ };
	const uint64_t fastest = UINT64_C(100000000000);
	const bool big = log->header.layout != TW_FDR_LITTLE;
	if (have < TW_FDR_HEADER_SIZE)
		return false;
	const uint16_t version = tw_load16(bytes, big), type = tw_load16(bytes + 2, big);
	const uint64_t frequency = tw_load64(bytes + FREQUENCY_AT, big);
	if (version < LEAST || version > MOST || type > 1 || (tw_load32(bytes + BITS_AT, big) & BOTH) != BOTH ||
	    frequency < SLOWEST || frequency > fastest)
		return false;
	const uint8_t first = have < BEHIND ? 0 : bytes[TW_FDR_HEADER_SIZE];
	return have < BEHIND || type == 0 || first == fdr_first_byte(log->header.layout, TW_FDR_BUFFER_EXTENTS) ||
	       memcmp(bytes + TW_FDR_HEADER_SIZE - sizeof fdr_flight_mark, fdr_flight_mark, sizeof fdr_flight_mark) ==
	           0;
}

bool fdr_is_foreign(const struct fdr_log *log, const uint8_t *bytes, size_t have)
{
	if (have >= PROFILING &&
	    (memcmp(bytes, profiling[0], PROFILING) == 0 || memcmp(bytes, profiling[1], PROFILING) == 0))
		return true;
	return is_other_header(log, bytes, have) && !fdr_is_header(log, bytes, have);
}

int fdr_pass_foreign(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window,
                     struct fdr_buffer *buffer)
{
	const uint64_t offset = buffer->offset, end = tw_input_size(reader->input);
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(window, offset, FDR_FOREIGN, &bytes, &have);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	if (offset == TW_FDR_HEADER_SIZE || !fdr_is_foreign(log, bytes, have))
		return 0;
	buffer->end = offset;
	buffer->next = end;
	tw_report(reader, &fdr_rules[XRAY_FOREIGN_LOG], offset, offset, 0,
	          "a log of another kind, clock or program begins: the %" PRIu64
	          " bytes from there on are not read; `tail -c +%" PRIu64 "` makes a file of them",
	          end - offset, offset + 1);
	return 1;
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
