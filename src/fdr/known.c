/* known.c - what a log holds where nothing is wrong, to judge by it what stands at damaged places. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/known.h"
#include "base/bytes/bytes.h"

#include <stdlib.h>

enum { LOOKED_AT = 1 << 20 }; /* bytes of the log: enough to know most of its functions */

static size_t place_of(uint32_t id)
{
	const uint32_t golden = 0x9e3779b1; /* 2^32 over the golden ratio */
	return id < FDR_KNOWN_IDS ? id : (id * golden) >> 16;
}

static bool has_bit(const uint8_t *bits, uint32_t id)
{
	size_t place = place_of(id);
	return bits[place / 8] >> place % 8 & 1;
}

bool fdr_knows_function(const struct fdr_known *known, uint32_t id)
{
	return has_bit(known->functions, id);
}

int fdr_check_thread(struct tw_reader *reader, const struct fdr_log *log, uint32_t thread, bool *believed)
{
	const struct fdr_known *known;
	int status = fdr_known_of(reader, log, &known);
	*believed = status >= 0 && (!known->timed || has_bit(known->threads, thread));
	return status;
}

/* Counters of records. */
struct counter_range {
	uint64_t first, last;
};

static void note_time(struct counter_range *range, uint64_t tsc)
{
	range->first = tsc < range->first ? tsc : range->first;
	range->last = tsc > range->last ? tsc : range->last;
}

/* What is noted of records, one after the other. */
struct notes {
	struct fdr_known *known;
	uint8_t once[FDR_KNOWN_IDS / 8];  /* functions */
	size_t metadata, padded;          /* of these records, those with bytes that mean nothing and are not 0 */
	struct counter_range counters[2]; /* by records that are not padded, and that are */
};

/* A function that is met once only may be what damage looks like; one byte over and over is. */
static void note_function(struct fdr_known *known, uint8_t *once, enum tw_fdr_layout layout,
                          const struct tw_fdr_record *record)
{
	size_t place = place_of(record->function_id);
	if (!record->function_id || fdr_is_filled(layout, record))
		return;
	known->calls++;
	known->wide += record->tsc_delta > INT32_MAX;
	if (has_bit(once, record->function_id))
		known->functions[place / 8] |= (uint8_t)(1u << place % 8);
	once[place / 8] |= (uint8_t)(1u << place % 8);
}

/* Whether all of a buffer's bytes are records as they stand. cut: its end is not among them. Kinds that have no place
 * here show that they are not: where a byte is missing all others look like entries. */
static bool is_whole(struct tw_fdr_decoder decoder, bool cut)
{
	struct tw_fdr_record record;
	int status;
	bool begun = false;
	while ((status = tw_fdr_next(&decoder, &record)) > 0) {
		bool starts = record.kind == TW_FDR_NEW_BUFFER;
		if (record.kind == TW_FDR_END_OF_BUFFER)
			return decoder.version == 1;
		if (starts && begun)
			return false;
		begun |= starts;
	}
	return status == 0 || (cut && status == TW_ERR_ROOM);
}

static void note_metadata(struct notes *notes, const struct tw_fdr_record *record)
{
	struct fdr_known *known = notes->known;
	notes->metadata++;
	notes->padded += record->padded;
	if (record->kind == TW_FDR_NEW_CPU_ID)
		note_time(&notes->counters[record->padded], record->tsc);
	if (fdr_has_payload((unsigned)record->kind) && record->payload_size > known->largest_event)
		known->largest_event = record->payload_size;
}

/* Takes the records of a buffer; of a damaged one, those before its calls. */
static void note_records(struct notes *notes, struct tw_fdr_decoder decoder, bool whole)
{
	struct tw_fdr_record record;
	bool begun = false, with_args = false;
	while (tw_fdr_next(&decoder, &record) > 0) {
		bool starts = record.kind == TW_FDR_NEW_BUFFER, call = record.kind <= TW_FDR_ENTER_ARGS;
		notes->known->bare += with_args && call;
		with_args = record.kind == TW_FDR_ENTER_ARGS;
		if ((starts && begun) || record.kind == TW_FDR_END_OF_BUFFER || (call && !whole))
			return;
		begun |= starts;
		if (call)
			note_function(notes->known, notes->once, decoder.layout, &record);
		else
			note_metadata(notes, &record);
	}
}

/* Records of a log are padded where more than one in FEW is: fewer may be damage. */
static void note_padding(struct notes *notes)
{
	enum { FEW = 16 };
	struct fdr_known *known = notes->known;
	struct counter_range range = notes->counters[0];
	known->padded = notes->padded * FEW > notes->metadata;
	if (known->padded && notes->counters[1].first <= notes->counters[1].last) {
		note_time(&range, notes->counters[1].first);
		note_time(&range, notes->counters[1].last);
	}
	known->first_tsc = range.first;
	known->last_tsc = range.last;
}

/* Takes the calls of a damaged buffer, at whatever byte they stand: so many short ones in a row are hardly ever
 * anything else, if of the last ones one in four exits, and one of those behind. From a byte or two too early on, all
 * look like entries; bytes that were put in among sound calls make such ones of those behind. */
static void note_runs(struct fdr_known *known, uint8_t *once, const struct tw_fdr_decoder *buffer)
{
	enum { SURE = 8, SHORT = 1 << 20, EXITS = 4, LAST = 16, BEHIND = 4 };
	for (size_t phase = 0; phase < TW_FDR_FUNCTION_SIZE; phase++) {
		struct tw_fdr_record last[BEHIND + 1]; /* by their numbers in the run */
		unsigned run = 0;
		uint16_t exits = 0; /* a bit for each of the last ones */
		for (size_t at = phase; at + TW_FDR_FUNCTION_SIZE <= buffer->left; at += TW_FDR_FUNCTION_SIZE) {
			struct tw_fdr_record *record = &last[run % (BEHIND + 1)];
			struct tw_fdr_decoder decoder = *buffer;
			decoder.bytes += at;
			decoder.left = TW_FDR_FUNCTION_SIZE;
			bool call = tw_fdr_next(&decoder, record) > 0 && record->kind <= TW_FDR_ENTER_ARGS;
			bool fits = call && record->function_id && record->tsc_delta < SHORT;
			exits = fits ? (uint16_t)(exits << 1 | (record->kind == TW_FDR_EXIT)) : 0;
			run = fits ? run + 1 : 0;
			const unsigned of = run < LAST ? run : LAST, behind = exits & ((1 << BEHIND) - 1);
			if (run > SURE && behind && (unsigned)__builtin_popcount(exits) * EXITS >= of)
				note_function(known, once, decoder.layout, &last[run % (BEHIND + 1)]);
		}
	}
}

/* Takes the thread of a buffer that begins for certain. */
static void note_thread(struct fdr_known *known, const struct fdr_log *log, struct tw_fdr_decoder decoder)
{
	struct tw_fdr_record first, second;
	int status = tw_fdr_next(&decoder, &first);
	if (status > 0 && first.kind == TW_FDR_BUFFER_EXTENTS)
		status = tw_fdr_next(&decoder, &first);
	if (status <= 0 || first.kind != TW_FDR_NEW_BUFFER || tw_fdr_next(&decoder, &second) <= 0 ||
	    second.kind != TW_FDR_WALL_TIME)
		return;
	const size_t place = place_of(fdr_thread_of(&log->header, first.value));
	known->timed = true;
	known->threads[place / 8] |= (uint8_t)(1u << place % 8);
}

static int look_at_log(struct tw_reader *reader, const struct fdr_log *log, struct fdr_known *known)
{
	struct tw_window window = {.input = reader->input, .chunk = LOOKED_AT};
	struct notes notes = {.known = known, .counters = {{.first = UINT64_MAX}, {.first = UINT64_MAX}}};
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(&window, TW_FDR_HEADER_SIZE, LOOKED_AT, &bytes, &have);
	*known = (struct fdr_known){0};
	have = status < 0 ? 0 : have < LOOKED_AT ? have : LOOKED_AT;
	/* The input ends there for whoever has read up to it: all are to know the same. */
	have = fdr_before_foreign(log, bytes, have);
	for (size_t at = 0, next; at < have; at = next) {
		next = fdr_next_start(log, bytes, have, at + 1);
		struct tw_fdr_decoder decoder = {.bytes = bytes + at,
		                                 .left = next - at,
		                                 .version = log->header.version,
		                                 .layout = log->header.layout};
		bool whole = is_whole(decoder, next == LOOKED_AT);
		note_thread(known, log, decoder);
		note_records(&notes, decoder, whole);
		if (!whole)
			note_runs(known, notes.once, &decoder);
	}
	note_padding(&notes);
	tw_window_free(&window);
	return status < 0 ? tw_fail(reader, status, "%s", tw_input_error(reader->input)) : 0;
}

int fdr_known_of(struct tw_reader *reader, const struct fdr_log *log, const struct fdr_known **known)
{
	_Atomic(struct fdr_known *) *shared = &((struct fdr_log *)log)->known; /* all else in it is only read */
	struct fdr_known *none = NULL, *made;
	*known = atomic_load(shared);
	if (*known)
		return 0;
	*known = made = malloc(sizeof *made);
	if (!made)
		return tw_fail_memory(reader);
	int status = look_at_log(reader, log, made);
	if (status < 0 || !atomic_compare_exchange_strong(shared, &none, made)) {
		free(made);
		*known = none;
	}
	return status;
}
