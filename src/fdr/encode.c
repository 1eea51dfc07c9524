/* encode.c - records of an FDR log to bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fdr/layout.h"

#include <trackway/fdr.h>

void tw_fdr_header_encode(const struct tw_fdr_header *header, uint8_t bytes[TW_FDR_HEADER_SIZE])
{
	bool big = header->layout != TW_FDR_LITTLE;
	bool msb = header->layout == TW_FDR_BIG_MSB;
	uint32_t constant = header->constant_tsc, nonstop = header->nonstop_tsc, rest = header->reserved_bits;
	tw_store16(bytes, header->version, big);
	tw_store16(bytes + 2, header->type, big);
	tw_store32(bytes + 4, msb ? constant << 31 | nonstop << 30 | rest : constant | nonstop << 1 | rest << 2, big);
	tw_store64(bytes + 8, header->cycle_frequency, big);
	tw_store64(bytes + 16, header->buffer_size, big);
	tw_store64(bytes + 24, header->reserved, big);
}

static int put_function(const struct tw_fdr_record *record, enum tw_fdr_layout layout, uint8_t *out)
{
	uint32_t id = record->function_id, action = (uint32_t)record->kind;
	if (id > FDR_ID_MAX || (layout == TW_FDR_BIG_LSB && tw_bits(id, 20, 20)))
		return TW_ERR_VALUE;
	tw_store32(out, layout == TW_FDR_BIG_MSB ? action << 28 | id : id << 4 | action << 1, layout != TW_FDR_LITTLE);
	tw_store32(out + 4, record->tsc_delta, layout != TW_FDR_LITTLE);
	return TW_FDR_FUNCTION_SIZE;
}

static void put_event(const struct tw_fdr_record *record, enum fdr_body form, bool big, uint8_t *body)
{
	tw_store32(body, record->payload_size, big);
	if (form == FDR_BODY_CUSTOM5 || form == FDR_BODY_TYPED)
		tw_store32(body + 4, record->tsc_delta, big);
	else
		tw_store64(body + 4, record->tsc, big);
	if (form == FDR_BODY_CUSTOM4)
		tw_store16(body + 12, record->cpu, big);
	if (form == FDR_BODY_TYPED)
		tw_store16(body + 8, record->event_type, big);
	if (record->payload)
		memcpy(body + FDR_BODY, record->payload, record->payload_size);
}

static void put_body(const struct tw_fdr_record *record, enum fdr_body form, bool big, uint8_t *body)
{
	switch (form) {
	case FDR_BODY_VALUE32:
		tw_store32(body, (uint32_t)record->value, big);
		break;
	case FDR_BODY_NONE:
		break;
	case FDR_BODY_CPU:
		tw_store16(body, record->cpu, big);
		tw_store64(body + 2, record->tsc, big);
		break;
	case FDR_BODY_TSC:
		tw_store64(body, record->tsc, big);
		break;
	case FDR_BODY_WALL:
		tw_store64(body, record->value, big);
		tw_store32(body + 8, record->microseconds, big);
		break;
	case FDR_BODY_VALUE64:
		tw_store64(body, record->value, big);
		break;
	case FDR_BODY_CUSTOM1:
	case FDR_BODY_CUSTOM4:
	case FDR_BODY_CUSTOM5:
	case FDR_BODY_TYPED:
		put_event(record, form, big, body);
		break;
	}
}

/* The versions that have a kind. Source: LLVM, BlockVerifier and xray_fdr_log_writer.h; typed events are read by LLVM
 * in any version, so they are allowed in all. */
static bool version_has(uint16_t version, enum tw_fdr_kind kind)
{
	if (kind == TW_FDR_END_OF_BUFFER)
		return version == 1;
	if (kind == TW_FDR_BUFFER_EXTENTS)
		return version >= 2;
	if (kind == TW_FDR_PID)
		return version >= 3;
	return true;
}

/* A number of 32 bits: as one without a sign, or with its sign extended. */
static bool is_value32(uint64_t value)
{
	return value <= UINT32_MAX || value == (uint64_t)(int32_t)value;
}

int tw_fdr_encode(const struct tw_fdr_record *record, uint16_t version, enum tw_fdr_layout layout, uint8_t *out,
                  size_t room)
{
	if (version < 1 || version > FDR_VERSION_MAX || (unsigned)layout > TW_FDR_BIG_LSB)
		return TW_ERR_VALUE;
	if (record->kind <= TW_FDR_ENTER_ARGS)
		return room < TW_FDR_FUNCTION_SIZE ? TW_ERR_ROOM : put_function(record, layout, out);
	unsigned number = (unsigned)record->kind;
	if (number < FDR_METADATA || number >= TW_FDR_KINDS || !version_has(version, record->kind))
		return TW_ERR_VALUE;
	bool payload = fdr_has_payload(record->kind);
	if (payload && (record->payload_size == 0 || record->payload_size > INT32_MAX - TW_FDR_METADATA_SIZE))
		return TW_ERR_VALUE;
	const enum fdr_body form = fdr_body_of(record->kind, version);
	if (form == FDR_BODY_VALUE32 && !is_value32(record->value))
		return TW_ERR_VALUE;
	size_t size = TW_FDR_METADATA_SIZE + (payload && record->payload ? (size_t)record->payload_size : 0);
	if (room < size)
		return TW_ERR_ROOM;
	unsigned kind = number - FDR_METADATA;
	memset(out, 0, TW_FDR_METADATA_SIZE);
	out[0] = (uint8_t)(layout == TW_FDR_BIG_MSB ? 0x80 | kind : kind << 1 | 1);
	put_body(record, form, layout != TW_FDR_LITTLE, out + 1);
	return (int)size;
}
