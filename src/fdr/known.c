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

static void note_time(struct fdr_known *known, uint64_t tsc)
{
	known->first_tsc = tsc < known->first_tsc ? tsc : known->first_tsc;
	known->last_tsc = tsc > known->last_tsc ? tsc : known->last_tsc;
}

/* A function that is met once only may be what damage looks like; zeros are. */
static void note_function(struct fdr_known *known, uint8_t *once, const struct tw_fdr_record *record)
{
	size_t place = place_of(record->function_id);
	if (!record->function_id)
		return;
	known->calls++;
	known->wide += record->tsc_delta > INT32_MAX;
	if (has_bit(once, record->function_id))
		known->functions[place / 8] |= (uint8_t)(1u << place % 8);
	once[place / 8] |= (uint8_t)(1u << place % 8);
}

/* Takes the records of a buffer up to the first that cannot be one. */
static void note_records(struct fdr_known *known, uint8_t *once, struct tw_fdr_decoder *decoder)
{
	struct tw_fdr_record record;
	bool begun = false;
	while (tw_fdr_next(decoder, &record) > 0) {
		bool starts = record.kind == TW_FDR_NEW_BUFFER;
		if ((starts && begun) || record.kind == TW_FDR_END_OF_BUFFER)
			return;
		begun |= starts;
		if (record.kind <= TW_FDR_ENTER_ARGS)
			note_function(known, once, &record);
		else
			known->padded |= record.padded;
		if (record.kind == TW_FDR_NEW_CPU_ID)
			note_time(known, record.tsc);
		if (fdr_has_payload((unsigned)record.kind) && record.payload_size > known->largest_event)
			known->largest_event = record.payload_size;
	}
}

static int look_at_log(struct tw_reader *reader, const struct fdr_log *log, struct fdr_known *known)
{
	struct tw_window window = {.input = reader->input, .chunk = LOOKED_AT};
	uint8_t once[FDR_KNOWN_IDS / 8] = {0};
	const uint8_t *bytes;
	size_t have;
	int status = tw_window_view(&window, TW_FDR_HEADER_SIZE, LOOKED_AT, &bytes, &have);
	*known = (struct fdr_known){.first_tsc = UINT64_MAX};
	have = status < 0 ? 0 : have < LOOKED_AT ? have : LOOKED_AT;
	for (size_t at = 0, next; at < have; at = next) {
		next = fdr_next_start(log, bytes, have, at + 1);
		struct tw_fdr_decoder decoder = {.bytes = bytes + at,
		                                 .left = next - at,
		                                 .version = log->header.version,
		                                 .layout = log->header.layout};
		note_records(known, once, &decoder);
	}
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
