/* layout.h - where the fields of a metadata record stand: one table for decoding, encoding and padding. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_LAYOUT_H
#define FDR_LAYOUT_H

#include "base/bytes/bytes.h"

#include <trackway/fdr.h>

enum {
	FDR_METADATA = 16, /* enum tw_fdr_kind of metadata kind 0 */
	FDR_METADATA_KINDS = TW_FDR_KINDS - FDR_METADATA,
	FDR_BODY = TW_FDR_METADATA_SIZE - 1,
	FDR_ID_MAX = (1 << 28) - 1,
	FDR_VERSION_MAX = 5,
	BASIC_VERSION_MAX = 3,
	FDR_BASIC_FUNCTION = 0, /* types of records of a basic log */
	FDR_BASIC_ARGUMENT = 1
};

/* Metadata bodies that a kind may have; custom events have three, by version. */
enum fdr_body {
	FDR_BODY_VALUE32, /* i32: new-buffer, pid */
	FDR_BODY_NONE,
	FDR_BODY_CPU,     /* u16 cpu, u64 tsc */
	FDR_BODY_TSC,     /* u64 tsc */
	FDR_BODY_WALL,    /* u64 seconds, u32 microseconds */
	FDR_BODY_CUSTOM1, /* i32 size, u64 tsc: versions 1 to 3 */
	FDR_BODY_CUSTOM4, /* i32 size, u64 tsc, u16 cpu */
	FDR_BODY_CUSTOM5, /* i32 size, i32 delta */
	FDR_BODY_TYPED,   /* i32 size, i32 delta, u16 type */
	FDR_BODY_VALUE64  /* u64: call-argument, buffer-extents */
};

/* The body of a kind in a version. kind is a metadata kind. */
enum fdr_body fdr_body_of(enum tw_fdr_kind kind, uint16_t version);

/* Whether a kind is followed by a payload. */
static inline bool fdr_has_payload(unsigned kind)
{
	return kind == TW_FDR_CUSTOM_EVENT || kind == TW_FDR_TYPED_EVENT;
}

/* Whether a record moves the counter on by a delta. */
static inline bool fdr_is_timed(const struct tw_fdr_record *record, uint16_t version)
{
	return record->kind <= TW_FDR_ENTER_ARGS || record->kind == TW_FDR_TYPED_EVENT ||
	       (record->kind == TW_FDR_CUSTOM_EVENT && version >= 5);
}

static inline bool fdr_is_metadata(uint8_t first, enum tw_fdr_layout layout)
{
	return layout == TW_FDR_BIG_MSB ? first >> 7 : first & 1;
}

/* Decodes the bytes of a function record. Returns their number, or TW_ERR_FORMAT for a kind that there is not. */
static inline int fdr_take_function(const uint8_t *bytes, enum tw_fdr_layout layout, struct tw_fdr_record *record)
{
	uint32_t word = tw_load32(bytes, layout != TW_FDR_LITTLE);
	bool msb = layout == TW_FDR_BIG_MSB;
	unsigned action = (unsigned)(msb ? tw_bits(word, 28, 30) : tw_bits(word, 1, 3));
	record->kind = (enum tw_fdr_kind)action;
	record->function_id = (uint32_t)(msb ? tw_bits(word, 0, 27) : tw_bits(word, 4, 31));
	record->tsc_delta = tw_load32(bytes + 4, layout != TW_FDR_LITTLE);
	record->padded = layout == TW_FDR_BIG_LSB && tw_bits(word, 0, 0); /* the discriminant is another bit there */
	return action > TW_FDR_ENTER_ARGS ? TW_ERR_FORMAT : TW_FDR_FUNCTION_SIZE;
}

/* The first byte of a metadata record. */
static inline uint8_t fdr_first_byte(enum tw_fdr_layout layout, enum tw_fdr_kind kind)
{
	unsigned number = (unsigned)kind - FDR_METADATA;
	return (uint8_t)(layout == TW_FDR_BIG_MSB ? 0x80 | number : number << 1 | 1);
}

#endif
