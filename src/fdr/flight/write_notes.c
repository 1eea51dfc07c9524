/* write_notes.c - the notes of a flight recorder for a log that is written from events, which are of the program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/state.h"
#include "fdr/write.h"

static bool put(struct tw_text *text, const struct tw_fdr_header *header, struct tw_fdr_record record)
{
	uint8_t bytes[TW_FDR_RECORD_MAX];
	const char *payload = (const char *)record.payload;
	record.payload = NULL;
	int n = tw_fdr_encode(&record, header->version, header->layout, bytes, sizeof bytes);
	return n >= 0 && tw_text_add(text, (const char *)bytes, (size_t)n) &&
	       (!payload || tw_text_add(text, payload, record.payload_size));
}

static bool put_lead(struct tw_text *text, const struct tw_fdr_header *header, const struct fdr_thread *thread,
                     const struct fdr_place *place)
{
	enum { US = 1000000 };
	const uint64_t us = place->wall_us == UINT64_MAX ? 0 : place->wall_us;
	const struct tw_fdr_record lead[] = {
	    {.kind = TW_FDR_NEW_BUFFER},
	    {.kind = TW_FDR_WALL_TIME, .value = us / US, .microseconds = (uint32_t)(us % US)},
	    {.kind = TW_FDR_PID, .value = thread->process},
	    {.kind = TW_FDR_NEW_CPU_ID, .tsc = place->tsc},
	};
	bool good = true;
	for (size_t i = 0; i < sizeof lead / sizeof *lead; i++)
		if (lead[i].kind != TW_FDR_PID || header->version >= 3)
			good = good && put(text, header, lead[i]);
	return good;
}

/* A buffer of thread 0 with all of them. */
static bool make_buffer(struct tw_text *text, const struct tw_fdr_header *header, const struct fdr_log *log)
{
	const struct fdr_thread *thread = fdr_notes_thread(log);
	const struct fdr_place *place = &log->places[thread->first];
	bool good = put_lead(text, header, thread, place);
	uint32_t size;
	for (const char *at = log->notes.bytes, *end = at + log->notes.length; good && at < end; at += size) {
		memcpy(&size, at, sizeof size);
		at += sizeof size;
		good = put(text, header,
		           (struct tw_fdr_record){.kind = TW_FDR_CUSTOM_EVENT,
		                                  .tsc = place->tsc,
		                                  .payload = (const uint8_t *)at,
		                                  .payload_size = size});
	}
	return good && (header->version > 1 || put(text, header, (struct tw_fdr_record){.kind = TW_FDR_END_OF_BUFFER}));
}

bool fdr_put_notes(struct tw_output *out, const struct tw_fdr_header *header, const struct tw_reader *reader)
{
	while (reader->whole)
		reader = reader->whole;
	const struct fdr_state *state = reader->format == &tw_format_fdr ? reader->state : NULL;
	struct tw_text buffer = {0}, extents = {0};
	if (!state || !state->log->notes.length)
		return true;
	bool good = make_buffer(&buffer, header, state->log);
	if (good && header->version > 1)
		good = put(&extents, header,
		           (struct tw_fdr_record){.kind = TW_FDR_BUFFER_EXTENTS, .value = buffer.length});
	if (good && extents.length)
		tw_put(out, extents.bytes, extents.length);
	if (good)
		tw_put(out, buffer.bytes, buffer.length);
	tw_text_free(&extents);
	tw_text_free(&buffer);
	return good;
}
