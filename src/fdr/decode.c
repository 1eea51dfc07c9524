/* decode.c - bytes of an FDR log to records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/layout.h"

#include <trackway/fdr.h>

enum fdr_body fdr_body_of(enum tw_fdr_kind kind, uint16_t version)
{
	static const uint8_t bodies[FDR_METADATA_KINDS] = {
	    [TW_FDR_NEW_BUFFER - FDR_METADATA] = FDR_BODY_VALUE32,
	    [TW_FDR_END_OF_BUFFER - FDR_METADATA] = FDR_BODY_NONE,
	    [TW_FDR_NEW_CPU_ID - FDR_METADATA] = FDR_BODY_CPU,
	    [TW_FDR_TSC_WRAP - FDR_METADATA] = FDR_BODY_TSC,
	    [TW_FDR_WALL_TIME - FDR_METADATA] = FDR_BODY_WALL,
	    [TW_FDR_CUSTOM_EVENT - FDR_METADATA] = FDR_BODY_CUSTOM1,
	    [TW_FDR_CALL_ARGUMENT - FDR_METADATA] = FDR_BODY_VALUE64,
	    [TW_FDR_BUFFER_EXTENTS - FDR_METADATA] = FDR_BODY_VALUE64,
	    [TW_FDR_TYPED_EVENT - FDR_METADATA] = FDR_BODY_TYPED,
	    [TW_FDR_PID - FDR_METADATA] = FDR_BODY_VALUE32,
	};
	if (kind == TW_FDR_CUSTOM_EVENT && version >= 4)
		return version == 4 ? FDR_BODY_CUSTOM4 : FDR_BODY_CUSTOM5;
	return bodies[kind - FDR_METADATA];
}

/* How many of the 15 bytes a body uses. */
static size_t size_of(enum fdr_body body)
{
	static const uint8_t sizes[] = {
	    [FDR_BODY_VALUE32] = 4, [FDR_BODY_NONE] = 0,     [FDR_BODY_CPU] = 10,     [FDR_BODY_TSC] = 8,
	    [FDR_BODY_WALL] = 12,   [FDR_BODY_CUSTOM1] = 12, [FDR_BODY_CUSTOM4] = 14, [FDR_BODY_CUSTOM5] = 8,
	    [FDR_BODY_TYPED] = 10,  [FDR_BODY_VALUE64] = 8,
	};
	return sizes[body];
}

const char *tw_fdr_kind_name(unsigned kind)
{
	static const char *const names[TW_FDR_KINDS] = {
#define X(name, number, text) [number] = text,
	    TW_FDR_KIND_LIST(X)
#undef X
	};
	return kind < TW_FDR_KINDS ? names[kind] : NULL;
}

/* ---- The header. ---- */

static bool plausible(uint16_t version, uint16_t type)
{
	return version >= 1 && version <= (type ? FDR_VERSION_MAX : BASIC_VERSION_MAX) && type <= 1;
}

enum { LOOKED_AT = 256 }; /* for the beginning of a buffer: more is more likely to look like one by chance */

/* Whether a buffer begins somewhere in the first of these bytes, as a bit order has it: NewBuffer, WallTime, and Pid or
 * NewCPUId. */
static bool has_start(const uint8_t *bytes, size_t size, enum tw_fdr_layout layout)
{
	size_t end = size < LOOKED_AT ? size : LOOKED_AT;
	for (size_t at = TW_FDR_HEADER_SIZE; at + 2 * TW_FDR_METADATA_SIZE < end; at++) {
		uint8_t third = bytes[at + 2 * TW_FDR_METADATA_SIZE];
		if (bytes[at] == fdr_first_byte(layout, TW_FDR_NEW_BUFFER) &&
		    bytes[at + TW_FDR_METADATA_SIZE] == fdr_first_byte(layout, TW_FDR_WALL_TIME) &&
		    (third == fdr_first_byte(layout, TW_FDR_PID) || third == fdr_first_byte(layout, TW_FDR_NEW_CPU_ID)))
			return true;
	}
	return false;
}

/* In big-endian logs the first bytes of records tell the bit order: with MSB first the discriminant of a metadata
 * record is the top bit. A buffer begins with three of them; one may be damaged, so they vote, and so do the flags of
 * the header. Bytes that are missing or too many before them move all three, but the beginning of a buffer is found. */
static enum tw_fdr_layout layout_of(bool big, uint16_t type, const uint8_t *bytes, size_t size)
{
	uint32_t flags = tw_load32(bytes + 4, true);
	int msb = (tw_bits(flags, 30, 31) != 0) - (tw_bits(flags, 0, 1) != 0);
	if (!big)
		return TW_FDR_LITTLE;
	for (size_t i = 0, at = TW_FDR_HEADER_SIZE; type == 1 && i < 3 && at < size; i++, at += TW_FDR_METADATA_SIZE)
		msb += bytes[at] & 0x80 ? 2 : -2;
	if (type == 1)
		msb += 6 * (has_start(bytes, size, TW_FDR_BIG_MSB) - has_start(bytes, size, TW_FDR_BIG_LSB));
	return msb > 0 ? TW_FDR_BIG_MSB : TW_FDR_BIG_LSB;
}

int tw_fdr_header_decode(const uint8_t *bytes, size_t size, struct tw_fdr_header *header)
{
	if (size < TW_FDR_HEADER_SIZE)
		return TW_ERR_ROOM;
	bool big = !plausible(tw_load16(bytes, false), tw_load16(bytes + 2, false));
	uint16_t version = tw_load16(bytes, big), type = tw_load16(bytes + 2, big);
	if (!plausible(version, type))
		return TW_ERR_FORMAT;
	enum tw_fdr_layout layout = layout_of(big, type, bytes, size);
	uint32_t field = tw_load32(bytes + 4, big);
	bool msb = layout == TW_FDR_BIG_MSB;
	*header = (struct tw_fdr_header){
	    .version = version,
	    .type = type,
	    .constant_tsc = tw_bits(field, msb ? 31 : 0, msb ? 31 : 0),
	    .nonstop_tsc = tw_bits(field, msb ? 30 : 1, msb ? 30 : 1),
	    .reserved_bits = (uint32_t)(msb ? tw_bits(field, 0, 29) : tw_bits(field, 2, 31)),
	    .cycle_frequency = tw_load64(bytes + 8, big),
	    .buffer_size = tw_load64(bytes + 16, big),
	    .reserved = tw_load64(bytes + 24, big),
	    .layout = layout,
	};
	return 0;
}

/* ---- Records. ---- */

/* Takes the event's header; the payload is not yet known to be there. */
static int take_event(const uint8_t *body, enum fdr_body form, bool big, struct tw_fdr_record *record)
{
	int32_t size = (int32_t)tw_load32(body, big);
	if (form == FDR_BODY_CUSTOM5 || form == FDR_BODY_TYPED)
		record->tsc_delta = tw_load32(body + 4, big);
	else
		record->tsc = tw_load64(body + 4, big);
	if (form == FDR_BODY_CUSTOM4)
		record->cpu = tw_load16(body + 12, big);
	if (form == FDR_BODY_TYPED)
		record->event_type = tw_load16(body + 8, big);
	if (size <= 0)
		return TW_ERR_VALUE;
	record->payload_size = (uint32_t)size;
	return 0;
}

static int take_body(const uint8_t *body, enum fdr_body form, bool big, struct tw_fdr_record *record)
{
	switch (form) {
	case FDR_BODY_VALUE32:
		record->value = (uint64_t)(int64_t)(int32_t)tw_load32(body, big);
		return 0;
	case FDR_BODY_NONE:
		return 0;
	case FDR_BODY_CPU:
		record->cpu = tw_load16(body, big);
		record->tsc = tw_load64(body + 2, big);
		return 0;
	case FDR_BODY_TSC:
		record->tsc = tw_load64(body, big);
		return 0;
	case FDR_BODY_WALL:
		record->value = tw_load64(body, big);
		record->microseconds = tw_load32(body + 8, big);
		return 0;
	case FDR_BODY_VALUE64:
		record->value = tw_load64(body, big);
		return 0;
	case FDR_BODY_CUSTOM1:
	case FDR_BODY_CUSTOM4:
	case FDR_BODY_CUSTOM5:
	case FDR_BODY_TYPED:
		return take_event(body, form, big, record);
	}
	return TW_ERR_FORMAT;
}

static int take_metadata(struct tw_fdr_decoder *decoder, struct tw_fdr_record *record)
{
	bool big = decoder->layout != TW_FDR_LITTLE;
	uint8_t first = decoder->bytes[0];
	unsigned kind =
	    FDR_METADATA + (unsigned)(decoder->layout == TW_FDR_BIG_MSB ? tw_bits(first, 0, 6) : tw_bits(first, 1, 7));
	record->kind = (enum tw_fdr_kind)kind;
	if (kind >= TW_FDR_KINDS)
		return TW_ERR_FORMAT;
	enum fdr_body form = fdr_body_of(record->kind, decoder->version);
	const uint8_t *body = decoder->bytes + 1;
	int status = take_body(body, form, big, record);
	if (status < 0)
		return status;
	size_t used = size_of(form);
	record->padded = tw_any_set(body + used, FDR_BODY - used);
	decoder->need = (size_t)TW_FDR_METADATA_SIZE + record->payload_size;
	if (decoder->left < decoder->need)
		return TW_ERR_ROOM;
	if (record->payload_size)
		record->payload = decoder->bytes + TW_FDR_METADATA_SIZE;
	return 0;
}

int tw_fdr_next(struct tw_fdr_decoder *decoder, struct tw_fdr_record *record)
{
	*record = (struct tw_fdr_record){0};
	if (!decoder->left)
		return 0;
	bool metadata = fdr_is_metadata(decoder->bytes[0], decoder->layout);
	decoder->need = metadata ? TW_FDR_METADATA_SIZE : TW_FDR_FUNCTION_SIZE;
	if (decoder->left < decoder->need)
		return TW_ERR_ROOM;
	int status =
	    metadata ? take_metadata(decoder, record) : fdr_take_function(decoder->bytes, decoder->layout, record);
	if (status < 0)
		return status;
	record->size = (uint32_t)decoder->need;
	decoder->bytes += decoder->need;
	decoder->left -= decoder->need;
	return record->size > INT32_MAX ? INT32_MAX : (int)record->size;
}
