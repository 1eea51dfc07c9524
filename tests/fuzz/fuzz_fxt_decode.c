/* fuzz_fxt_decode.c - any bytes as FXT records: what decodes encodes to the same bytes, and measures what it should. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes/bytes.h"
#include "fxt/format/layout.h"

static void touch_string(const struct tw_fxt_string *string)
{
	fuzz_touch(string->bytes, string->length);
}

/* All that the record points to is there. */
static void touch(const struct tw_fxt_record *record)
{
	touch_string(&record->category);
	touch_string(&record->name);
	fuzz_touch(record->payload, record->payload_here);
	if (record->trailing)
		fuzz_touch(record->trailing, record->trailing_size);
	for (unsigned i = 0; i < record->argument_count; i++) {
		const struct tw_fxt_argument *argument = &record->arguments[i];
		touch_string(&argument->name);
		touch_string(&argument->text);
		fuzz_touch(argument->bytes, argument->size);
		fuzz_touch(argument->trailing, argument->trailing_size);
	}
}

/* Large records that go beyond the bytes are encoded up to their payload. */
static void back_and_forth(const uint8_t *bytes, size_t left, bool big, const struct tw_fxt_record *decoded)
{
	struct tw_fxt_record record = *decoded;
	bool whole = record.size <= left;
	if (!whole)
		record.payload = NULL;
	size_t room = whole ? (size_t)record.size : left, size = 0;
	uint8_t *again = malloc(room);
	fuzz_require(again != NULL, "memory is enough");
	int status = tw_fxt_encode(&record, big, again, room, &size);
	fuzz_require(status == 0, "what decodes can be encoded");
	fuzz_require(whole ? size == record.size : size <= left, "in the same size");
	fuzz_require(record.padded || record.reserved || memcmp(bytes, again, size) == 0,
	             "a record is encoded as it was");
	size_t took = 0;
	fuzz_require(tw_fxt_encode(&record, big, again, size - 1, &took) == TW_ERR_ROOM && took == size,
	             "a byte less is too little room");
	free(again);
}

static void measure(const uint8_t *bytes, size_t left, bool big, int status, const struct tw_fxt_record *record)
{
	uint32_t words = fxt_measure(record->header, bytes, left / TW_FXT_WORD, big);
	if (!words)
		return;
	fuzz_require(status == 1 && record->size == (uint64_t)words * TW_FXT_WORD, "what measures right decodes");
	fuzz_require(record->kind != TW_FXT_UNKNOWN && !record->trailing_size, "and is known in full");
}

static void failed(const struct tw_fxt_decoder *decoder, int status, size_t left, const struct tw_fxt_record *record)
{
	fuzz_require(status == TW_ERR_ROOM || status == TW_ERR_FORMAT || status == TW_ERR_VALUE,
	             "a status of the contract");
	if (status == TW_ERR_ROOM)
		fuzz_require(decoder->need > left, "a record that needs more than there is");
	else
		fuzz_require(decoder->fault && (decoder->at < record->size || decoder->at == record->size),
		             "a fault that says where");
}

FUZZ_TARGET(fxt_decode, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	struct tw_fxt_decoder decoder = {.bytes = bytes + 1, .left = size - 1, .big = bytes[0] & 1};
	struct tw_fxt_record record;
	while (decoder.left) {
		const uint8_t *start = decoder.bytes;
		size_t left = decoder.left;
		int status = tw_fxt_next(&decoder, &record);
		fuzz_require(status != 0, "no end before the end");
		if (left >= TW_FXT_WORD)
			measure(start, left, decoder.big, status, &record);
		if (status > 0) {
			uint64_t moved = record.size < left ? record.size : left;
			fuzz_require(decoder.left == left - moved && decoder.bytes == start + moved,
			             "the decoder moves by the size of the record");
			touch(&record);
			back_and_forth(start, left, decoder.big, &record);
			continue;
		}
		failed(&decoder, status, left, &record);
		fuzz_require(decoder.bytes == start && decoder.left == left, "the decoder stays after a failure");
		size_t step = left < TW_FXT_WORD ? left : TW_FXT_WORD;
		decoder.bytes += step;
		decoder.left -= step;
	}
	return 0;
}
