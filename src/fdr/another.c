/* another.c - logs that stand one behind the other in a file, as `cat` makes of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/fdr.h"

enum {
	KIND = 4,
	BITS_AT = 4,
	TOP_BITS = 6,
	FREQUENCY_AT = 8,
	SIZE_AT = 16,
	FIELD = 8
}; /* version and type; of the header */

/* Whether a log of the flight recorder begins, whose numbers are of functions of its own. Source:
 * doc/formats/xray-fdr.md, "Logs of the flight recorder". */
static bool is_recorded(const uint8_t *bytes, size_t have)
{
	enum { NOTE = TW_FDR_HEADER_SIZE + 6 * TW_FDR_METADATA_SIZE };
	static const char name[16] = "trackway.flight";
	return memcmp(bytes + TW_FDR_HEADER_SIZE - sizeof fdr_flight_mark, fdr_flight_mark, sizeof fdr_flight_mark) ==
	           0 ||
	       (have >= NOTE + sizeof name && memcmp(bytes + NOTE, name, sizeof name) == 0);
}

bool fdr_is_header(const struct fdr_log *log, const uint8_t *bytes, size_t have)
{
	const uint8_t *own = log->header_bytes;
	return have >= TW_FDR_HEADER_SIZE && memcmp(bytes, own, KIND) == 0 && !is_recorded(bytes, have) &&
	       /* which end of a word bit fields begin at */
	       (log->header.layout == TW_FDR_LITTLE || bytes[BITS_AT] >> TOP_BITS == own[BITS_AT] >> TOP_BITS) &&
	       memcmp(bytes + FREQUENCY_AT, own + FREQUENCY_AT, FIELD) == 0 &&
	       /* version 1 needs the size of buffers to find them */
	       (log->header.version > 1 || fdr_is_basic(log) || memcmp(bytes + SIZE_AT, own + SIZE_AT, FIELD) == 0) &&
	       !log->recorded; /* its numbers are of other functions */
}

/* ---- Those that cannot be read together with the log. ---- */

enum { BOTH = 3, FIRST_BITS = 30, BEHIND = TW_FDR_HEADER_SIZE + 1, PROFILING = 8 };
static const char profiling[2][PROFILING] = {"forpyarx", "xrayprof"}; /* by byte order */

/* Whether what stands behind a header is how buffers of a version begin, by the bytes that there are. */
static bool begins_buffer(enum tw_fdr_layout layout, uint16_t version, const uint8_t *bytes, size_t have)
{
	static const enum tw_fdr_kind first[] = {TW_FDR_NEW_BUFFER, TW_FDR_WALL_TIME, TW_FDR_NEW_CPU_ID};
	enum { RECORDS = sizeof first / sizeof *first };
	if (version > 1)
		return have < BEHIND || bytes[TW_FDR_HEADER_SIZE] == fdr_first_byte(layout, TW_FDR_BUFFER_EXTENTS);
	for (size_t i = 0; i < RECORDS; i++) {
		const size_t at = TW_FDR_HEADER_SIZE + i * TW_FDR_METADATA_SIZE;
		if (have <= at || bytes[at] != fdr_first_byte(layout, first[i]))
			return false;
	}
	return true;
}

/* The same of a record of a basic log. */
static bool begins_record(bool big, const uint8_t *bytes, size_t have)
{
	enum { KINDS = 4, KIND_AT = TW_FDR_HEADER_SIZE + 3 };
	return have <= KIND_AT ||
	       (tw_load16(bytes + TW_FDR_HEADER_SIZE, big) <= FDR_BASIC_ARGUMENT && bytes[KIND_AT] < KINDS);
}

/* Of a type and version that runtimes write, with both bits about the counter, a speed that counters have, and behind
 * it what such a log begins with. What is in the rest of the bits would be found in records, too. In version 1 of a
 * basic log it could be a record of an argument, but for the speed: no process has so high a number. */
static bool is_other_header(enum tw_fdr_layout layout, const uint8_t *bytes, size_t have)
{
	enum { MOST = 5, SLOWEST = 1000000, SLOWEST_BASIC = 100000000 /* Hz */ };
	const uint64_t fastest = UINT64_C(100000000000);
	const bool big = layout != TW_FDR_LITTLE;
	if (have < TW_FDR_HEADER_SIZE)
		return false;
	const uint16_t version = tw_load16(bytes, big), type = tw_load16(bytes + 2, big);
	const uint64_t frequency = tw_load64(bytes + FREQUENCY_AT, big);
	const uint32_t bits = tw_load32(bytes + BITS_AT, big);
	const bool both = (bits & BOTH) == BOTH || (layout == TW_FDR_BIG_MSB && bits >> FIRST_BITS == BOTH);
	if (version < 1 || version > MOST || type > 1 || !both || frequency < SLOWEST || frequency > fastest)
		return false;
	if (type == 0)
		return version <= BASIC_VERSION_MAX && begins_record(big, bytes, have) &&
		       (version > 1 || (frequency >= SLOWEST_BASIC && frequency <= UINT32_MAX));
	return begins_buffer(layout, version, bytes, have) || is_recorded(bytes, have);
}

bool fdr_begins_log(const uint8_t *bytes, size_t have)
{
	return is_other_header(TW_FDR_LITTLE, bytes, have) || is_other_header(TW_FDR_BIG_MSB, bytes, have) ||
	       is_other_header(TW_FDR_BIG_LSB, bytes, have);
}

bool fdr_is_foreign(const struct fdr_log *log, const uint8_t *bytes, size_t have)
{
	if (have < PROFILING || !(bytes[0] | bytes[1])) /* as nearly all records of basic logs */
		return false;
	if (memcmp(bytes, profiling[0], PROFILING) == 0 || memcmp(bytes, profiling[1], PROFILING) == 0)
		return true;
	return fdr_begins_log(bytes, have) && !fdr_is_header(log, bytes, have);
}

/* The first place before `limit` where such a log begins, of which at least so many bytes are there. */
static size_t find_foreign(const struct fdr_log *log, const uint8_t *bytes, size_t have, size_t limit, size_t least)
{
	for (size_t at = 0; at < limit && at + least <= have; at++) {
		const uint8_t *p = bytes + at;
		const bool little = !p[1] && !p[3], big = !p[0] && !p[2], profile = p[0] == 'f' || p[0] == 'x';
		if ((little || big || profile) && fdr_is_foreign(log, p, have - at))
			return at;
	}
	return SIZE_MAX;
}

size_t fdr_find_foreign(const struct fdr_log *log, const uint8_t *bytes, size_t have, size_t limit)
{
	return find_foreign(log, bytes, have, limit, FDR_FOREIGN_LEAST);
}

size_t fdr_before_foreign(const struct fdr_log *log, const uint8_t *bytes, size_t have)
{
	const size_t other = find_foreign(log, bytes, have, have, PROFILING);
	return other < have ? other : have;
}

int fdr_pass_foreign(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t offset)
{
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(window, offset, FDR_FOREIGN, &bytes, &have);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	if (!fdr_is_foreign(log, bytes, have))
		return 0;
	tw_log_ends(reader, offset, "a log of another kind, clock or program", &fdr_rules[XRAY_FOREIGN_LOG],
	            &fdr_rules[XRAY_TOO_MANY_LOGS]);
	return 1;
}

int fdr_pass_header(struct tw_reader *reader, const struct fdr_log *log, struct tw_window *window, uint64_t *offset)
{
	for (;;) {
		const uint8_t *bytes;
		size_t have;
		int status = tw_window_view(window, *offset, FDR_FOREIGN, &bytes, &have);
		if (status < 0)
			return tw_fail(reader, status, "%s", tw_input_error(reader->input));
		if (!fdr_is_header(log, bytes, have))
			return 0;
		tw_report(reader, &fdr_rules[XRAY_ANOTHER_LOG], *offset, *offset, 0,
		          "the header of another log with the same clock: both are read");
		*offset += TW_FDR_HEADER_SIZE;
	}
}
