/* merge_encode.c - events of an archive that is merged to records as the writer makes them of rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "fxt/events/values.h"
#include "fxt/write/record.h"

/* Whether an argument is written as it is: a koid may be another one in the whole, a long text may be registered. */
static bool stays(const struct tw_argument *argument)
{
	return argument->type != TW_ARG_KOID && !(argument->type == TW_ARG_TEXT && argument->size > FXT_LONG_TEXT);
}

/* Puts the arguments. False where one must be left to the writer, or the name of one has not been written. */
static bool put_arguments(struct fxt_chunk *chunk, size_t place, uint64_t count, struct fxt_new_record *record)
{
	size_t at = place + (size_t)2 * TW_FXT_WORD;
	uint64_t offset = fxt_offset(chunk, place);
	for (; count > 0; count--) {
		uint64_t header = tw_load64(chunk->bytes + at, chunk->decoder.big);
		const struct tw_argument argument = fxt_value_at(chunk, at, header, offset);
		const struct fxt_string_ref name = {.reference =
		                                        fxt_merged_name(chunk->merge.events.names, argument.name)};
		if (!stays(&argument) || !name.reference != !argument.name ||
		    fxt_put_argument(record, &name, &argument, 1) != FXT_FITS)
			return false;
		at += (size_t)tw_bits(header, 4, 15) * TW_FXT_WORD;
	}
	return true;
}

bool fxt_merge_encode(struct fxt_chunk *chunk, size_t place, const struct fxt_merged_thread *thread,
                      const struct fxt_pair *names, uint64_t word)
{
	enum { SAME = 0xff000f }; /* of a header: types, and how many arguments */
	struct fxt_merge_events *list = &chunk->merge.events;
	uint64_t header = tw_load64(chunk->bytes + place, chunk->decoder.big), count = tw_bits(header, 20, 23);
	uint64_t name = fxt_merged_name(list->names, names->name), index = fxt_merged_index(thread);
	uint64_t category = fxt_merged_name(list->names, names->category);
	unsigned kind = fxt_event_kinds[tw_bits(header, 16, 19)];
	bool has_room = list->record_room - list->size >= FXT_RECORD_ROOM ||
	                tw_extend(&list->records, &list->record_room, list->size + FXT_RECORD_ROOM, 1);
	const bool flow = kind >= TW_FLOW_BEGIN && kind <= TW_FLOW_END;
	if (!has_room || (flow && list->names->moves_ids) || !name != !names->name || !category != !names->category)
		return false;
	uint64_t time =
	    tw_ticks_ns(&chunk->decoder.clock, tw_load64(chunk->bytes + place + TW_FXT_WORD, chunk->decoder.big));
	uint64_t length = kind == TW_SLICE_COMPLETE ? tw_ticks_ns(&chunk->decoder.clock, word) - time : 0;
	uint64_t merged = tw_merge_time(&list->names->time, time);
	if (merged + length < merged) /* the record would not tell the length */
		return false;
	struct fxt_new_record record = fxt_record_at(list->records + list->size, false);
	fxt_put_word(&record, merged);
	if (index == 0) {
		fxt_put_word(&record, thread->process);
		fxt_put_word(&record, thread->thread);
	}
	if (count && !put_arguments(chunk, place, count, &record))
		return false;
	if (kind != TW_SLICE_BEGIN && kind != TW_SLICE_END)
		fxt_put_word(&record, kind == TW_SLICE_COMPLETE ? merged + length : word);
	tw_store64(record.start,
	           (header & SAME) | (uint64_t)fxt_record_words(&record) << 4 | index << 24 | category << 32 |
	               name << 48,
	           record.big);
	fxt_set_time(chunk, time);
	return fxt_merge_add_record(chunk, place, time, (size_t)(record.at - record.start));
}
