/* fuzz_fdr_decode.c - any bytes as XRay records: what decodes encodes to the same bytes, and decodes again to the
 * same. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void header(const uint8_t *bytes, size_t size)
{
	struct tw_fdr_header header;
	uint8_t again[TW_FDR_HEADER_SIZE];
	int status = tw_fdr_header_decode(bytes, size, &header);
	fuzz_require((status == TW_ERR_ROOM) == (size < TW_FDR_HEADER_SIZE), "too few bytes are told");
	if (status < 0)
		return;
	tw_fdr_header_encode(&header, again);
	fuzz_require(memcmp(bytes, again, sizeof again) == 0, "a header is encoded as it was");
}

static bool same_record(const struct tw_fdr_record *a, const struct tw_fdr_record *b)
{
	return a->kind == b->kind && a->size == b->size && a->function_id == b->function_id &&
	       a->tsc_delta == b->tsc_delta && a->tsc == b->tsc && a->value == b->value &&
	       a->microseconds == b->microseconds && a->cpu == b->cpu && a->event_type == b->event_type &&
	       a->payload_size == b->payload_size &&
	       (!a->payload_size || memcmp(a->payload, b->payload, a->payload_size) == 0);
}

/* Whether the document and LLVM have the kind in that version: a record that is out of place is decoded all the
 * same. */
static bool in_place(unsigned kind, uint16_t version)
{
	switch (kind) {
	case TW_FDR_END_OF_BUFFER:
		return version == 1;
	case TW_FDR_BUFFER_EXTENTS:
		return version >= 2;
	case TW_FDR_PID:
		return version >= 3;
	case TW_FDR_TYPED_EVENT:
		return version >= 5;
	default:
		return true;
	}
}

static void back_and_forth(const uint8_t *bytes, const struct tw_fdr_decoder *decoder,
                           const struct tw_fdr_record *record)
{
	uint8_t *again = malloc(record->size);
	fuzz_require(again != NULL, "memory is enough");
	int size = tw_fdr_encode(record, decoder->version, decoder->layout, again, record->size);
	if (size == TW_ERR_VALUE && !in_place(record->kind, decoder->version)) {
		free(again);
		return;
	}
	fuzz_require(size >= 0 && (uint32_t)size == record->size, "what decodes can be encoded, in the same size");
	fuzz_require(record->padded || memcmp(bytes, again, record->size) == 0, "a record is encoded as it was");

	struct tw_fdr_decoder second = {.bytes = again,
	                                .left = record->size,
	                                .version = decoder->version,
	                                .layout = decoder->layout};
	struct tw_fdr_record other;
	fuzz_require(tw_fdr_next(&second, &other) == size && second.left == 0, "what was encoded decodes");
	fuzz_require(same_record(record, &other) && !other.padded,
	             "and is the same record, with nothing in the padding");
	fuzz_require(tw_fdr_encode(record, decoder->version, decoder->layout, again, record->size - 1) == TW_ERR_ROOM,
	             "a byte less is too little room");
	free(again);
}

static void records(const uint8_t *bytes, size_t size, uint16_t version, enum tw_fdr_layout layout)
{
	struct tw_fdr_decoder decoder = {.bytes = bytes, .left = size, .version = version, .layout = layout};
	struct tw_fdr_record record;
	while (decoder.left) {
		const uint8_t *start = decoder.bytes;
		size_t left = decoder.left;
		int took = tw_fdr_next(&decoder, &record);
		if (took > 0) {
			fuzz_require((size_t)took <= left && decoder.left == left - (size_t)took &&
			                 decoder.bytes == start + took && record.size == (uint32_t)took,
			             "the decoder moves by the size of the record");
			back_and_forth(start, &decoder, &record);
			continue;
		}
		fuzz_require(took == TW_ERR_ROOM || took == TW_ERR_FORMAT || took == TW_ERR_VALUE,
		             "a status of the contract");
		fuzz_require(decoder.bytes == start && decoder.left == left, "the decoder stays after a failure");
		fuzz_require(took != TW_ERR_ROOM || decoder.need > left, "a record that needs more than there is");
		decoder.bytes++;
		decoder.left--;
	}
}

static void basic_records(const uint8_t *bytes, size_t size, uint16_t version, enum tw_fdr_layout layout)
{
	for (; size >= TW_BASIC_RECORD_SIZE; bytes += TW_BASIC_RECORD_SIZE, size -= TW_BASIC_RECORD_SIZE) {
		struct tw_basic_record record;
		uint8_t again[TW_BASIC_RECORD_SIZE];
		if (tw_basic_decode(bytes, version, layout, &record) < 0)
			continue;
		int status = tw_basic_encode(&record, version, layout, again);
		/* Version 1 has no tail exits. */
		if (status == TW_ERR_VALUE && version == 1 && record.kind == TW_FDR_TAIL_EXIT)
			continue;
		fuzz_require(status == 0, "what decodes can be encoded");
		fuzz_require(record.padded || memcmp(bytes, again, sizeof again) == 0, "a record is encoded as it was");
	}
}

FUZZ_TARGET(fdr_decode, const uint8_t *bytes, size_t size)
{
	if (size < 1)
		return 0;
	uint8_t selector = bytes[0];
	enum tw_fdr_layout layout = (enum tw_fdr_layout)(selector / 8 % 3);
	bytes++;
	size--;
	header(bytes, size);
	if (selector & 4)
		basic_records(bytes, size, (uint16_t)(1 + selector % 3), layout);
	else
		records(bytes, size, (uint16_t)(1 + selector % 5), layout);
	return 0;
}
