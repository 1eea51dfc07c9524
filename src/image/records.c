/* records.c - the records of an image, each with its bounds checked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "image/image.h"

#include <trackway/trace.h>

/* What stands between the first word and the payload, in words, and what the payload is. */
enum payload { NOTHING, ARGUMENTS, BYTES };

struct shape {
	uint8_t words; /* with the first; 0: there is no such record */
	uint8_t payload;
};

static const struct shape shapes[] = {
    [TW_TRACE_KIND_INSTANT] = {3, ARGUMENTS},
    [TW_TRACE_KIND_COUNTER] = {3, ARGUMENTS},
    [TW_TRACE_KIND_BEGIN] = {2, ARGUMENTS},
    [TW_TRACE_KIND_END] = {2, ARGUMENTS},
    [TW_TRACE_KIND_COMPLETE] = {3, ARGUMENTS},
    [TW_TRACE_KIND_ASYNC_BEGIN] = {3, ARGUMENTS},
    [TW_TRACE_KIND_ASYNC_INSTANT] = {3, ARGUMENTS},
    [TW_TRACE_KIND_ASYNC_END] = {3, ARGUMENTS},
    [TW_TRACE_KIND_FLOW_BEGIN] = {3, ARGUMENTS},
    [TW_TRACE_KIND_FLOW_STEP] = {3, ARGUMENTS},
    [TW_TRACE_KIND_FLOW_END] = {3, ARGUMENTS},
    [IMAGE_OWNER] = {1, NOTHING},
    [IMAGE_LOG] = {3, BYTES},
    [IMAGE_BLOB] = {2, BYTES},
    [IMAGE_SWITCH] = {3, NOTHING},
    [IMAGE_WAKEUP] = {3, NOTHING},
    [IMAGE_STRING] = {2, BYTES},
    [IMAGE_LABEL] = {2, NOTHING},
    [IMAGE_THREAD] = {3, NOTHING},
    [IMAGE_THREAD_NAME] = {2, NOTHING},
    [IMAGE_OBJECT] = {2, ARGUMENTS},
    [IMAGE_DROPS] = {2, NOTHING},
    [IMAGE_PAIR] = {3, NOTHING},
};

static uint64_t word(const uint8_t *at, size_t place)
{
	return tw_load64(at + place * IMAGE_WORD, false);
}

static bool has_bytes(unsigned type)
{
	return type == TW_TRACE_TYPE_TEXT || type == TW_TRACE_TYPE_BYTES;
}

/* Returns the words of an argument, 0 where it is not whole. */
static size_t measure_argument(const uint8_t *at, size_t left)
{
	if (left == 0)
		return 0;
	uint64_t type = tw_bits(word(at, 0), 0, 3), words = tw_bits(word(at, 0), 4, 19);
	uint64_t least = type == TW_TRACE_TYPE_NULL ? 1 : 2;
	if (type >= TW_TRACE_TYPE_END || words < least || words > left)
		return 0;
	if (has_bytes((unsigned)type) && word(at, 1) > (words - 2) * IMAGE_WORD)
		return 0;
	return (size_t)words;
}

static bool check_arguments(const struct trace_image_record *record)
{
	const uint8_t *at = record->payload;
	size_t left = record->payload_size / IMAGE_WORD;
	for (unsigned i = 0; i < record->arguments; i++) {
		size_t words = measure_argument(at, left);
		if (words == 0)
			return false;
		at += words * IMAGE_WORD;
		left -= words;
	}
	return true;
}

bool trace_image_record(const uint8_t *bytes, size_t left, struct trace_image_record *record)
{
	if (left < IMAGE_WORD)
		return false;
	uint64_t first = word(bytes, 0), size = tw_bits(first, 8, 23) * IMAGE_WORD;
	unsigned kind = (unsigned)tw_bits(first, 0, 7);
	const struct shape shape = kind < sizeof shapes / sizeof *shapes ? shapes[kind] : (struct shape){0, NOTHING};
	uint64_t head = (uint64_t)shape.words * IMAGE_WORD;
	if (head == 0 || size < head || size > left)
		return false;
	*record = (struct trace_image_record){
	    .at = bytes,
	    .size = (size_t)size,
	    .kind = kind,
	    .arguments = shape.payload == ARGUMENTS ? (unsigned)tw_bits(first, 24, 27) : 0,
	    .number = (uint32_t)(first >> 32),
	    .time = size > IMAGE_WORD ? word(bytes, 1) : 0,
	    .second = size > 2 * IMAGE_WORD ? word(bytes, 2) : 0,
	    .payload = bytes + head,
	    .payload_size = size - head,
	};
	if (shape.payload == ARGUMENTS)
		return check_arguments(record);
	uint64_t length = shape.words > 2 ? record->second : record->time;
	if (shape.payload == BYTES && length > record->payload_size)
		return false;
	record->payload_size = shape.payload == BYTES ? length : 0;
	return true;
}

void trace_image_argument(const uint8_t **at, struct trace_image_argument *argument)
{
	uint64_t first = word(*at, 0), words = tw_bits(first, 4, 19);
	argument->type = (unsigned)tw_bits(first, 0, 3);
	argument->name = (uint32_t)(first >> 32);
	argument->number = words > 1 ? word(*at, 1) : 0;
	argument->bytes = has_bytes(argument->type) ? *at + (size_t)2 * IMAGE_WORD : NULL;
	*at += words * IMAGE_WORD;
}
