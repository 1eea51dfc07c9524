/* snapshot.c - snapshots of all registers, and the header before them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"

#include <trackway/xtrace.h>

#include <string.h>

/* Numbers of a snapshot: the document, "寄存器快照文件". */
enum {
	COUNTERS = 4,
	VECTORS = 32,
	PREDICATES = 16,
	ALIGNMENT = 16,
	SYSTEM = 0
#define X(member) +1
	TW_XTRACE_SYSTEM_LIST(X)
#undef X
};

/* Where the parts of a snapshot are. */
struct snapshot_layout {
	size_t z, p, ffr, za, system, bits, size;
};

static bool is_vector_length(uint64_t bits)
{
	return bits >= 128 && bits <= 2048 && bits % 128 == 0;
}

static struct snapshot_layout parts_of(const struct tw_xtrace_layout *layout)
{
	size_t bytes = layout->vector_bits / 8u;
	size_t predicate = (bytes / 8 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct snapshot_layout at = {.z = 8 * (COUNTERS + TW_XTRACE_REGISTERS)};
	at.p = at.z + VECTORS * bytes;
	at.ffr = at.p + PREDICATES * predicate;
	at.za = at.ffr + predicate;
	at.system = at.za + (layout->has_za ? bytes * bytes : 0);
	at.bits = at.system + (size_t)8 * SYSTEM;
	at.size = at.bits + 8;
	return at;
}

size_t tw_xtrace_snapshot_size(const struct tw_xtrace_layout *layout)
{
	return is_vector_length(layout->vector_bits) ? parts_of(layout).size : 0;
}

/* ---- The header. ---- */

enum { HEADER_DIVISION = 16, HEADER_STREAM = 17, HEADER_ORDER = 18 };

void tw_xtrace_header_decode(const uint8_t *bytes, const struct tw_xtrace_layout *layout,
                             struct tw_xtrace_header *header)
{
	*header = (struct tw_xtrace_header){0};
	if (layout->header_size == 0)
		return;
	header->identification = tw_load32(bytes, false);
	header->global_snapshot = tw_load32(bytes + 4, false);
	header->version = tw_load64(bytes + 8, false);
	header->division = bytes[HEADER_DIVISION];
	header->stream = bytes[HEADER_STREAM];
	header->has_order = bytes[HEADER_ORDER];
}

void tw_xtrace_header_encode(const struct tw_xtrace_header *header, const struct tw_xtrace_layout *layout,
                             uint8_t *bytes)
{
	if (layout->header_size == 0)
		return;
	memset(bytes, 0, layout->header_size);
	tw_store32(bytes, header->identification, false);
	tw_store32(bytes + 4, header->global_snapshot, false);
	tw_store64(bytes + 8, header->version, false);
	bytes[HEADER_DIVISION] = header->division;
	bytes[HEADER_STREAM] = header->stream;
	bytes[HEADER_ORDER] = header->has_order;
}

/* ---- Snapshots. ---- */

/* The counters before and the system registers behind are words in the order of the struct. */
int tw_xtrace_snapshot_decode(const uint8_t *bytes, const struct tw_xtrace_layout *layout,
                              struct tw_xtrace_snapshot *snapshot)
{
	struct snapshot_layout at = parts_of(layout);
	const uint8_t *word = bytes + at.system;
	*snapshot = (struct tw_xtrace_snapshot){
	    .file = tw_load64(bytes, false),
	    .index = tw_load64(bytes + 8, false),
	    .user_count = tw_load64(bytes + 16, false),
	    .count = tw_load64(bytes + 24, false),
	    .z = bytes + at.z,
	    .p = bytes + at.p,
	    .ffr = bytes + at.ffr,
	    .za = layout->has_za ? bytes + at.za : NULL,
	    .vector_bits = tw_load64(bytes + at.bits, false),
	};
	for (size_t i = 0; i < TW_XTRACE_REGISTERS; i++)
		snapshot->x[i] = tw_load64(bytes + 8 * (COUNTERS + i), false);
#define X(member)                                                                                                      \
	snapshot->member = tw_load64(word, false);                                                                     \
	word += 8;
	TW_XTRACE_SYSTEM_LIST(X)
#undef X
	return snapshot->vector_bits == layout->vector_bits ? 0 : TW_ERR_VALUE;
}

static void put_bytes(uint8_t *out, const uint8_t *bytes, size_t size)
{
	if (bytes)
		memcpy(out, bytes, size);
	else
		memset(out, 0, size);
}

void tw_xtrace_snapshot_encode(const struct tw_xtrace_snapshot *snapshot, const struct tw_xtrace_layout *layout,
                               uint8_t *bytes)
{
	struct snapshot_layout at = parts_of(layout);
	uint8_t *word = bytes + at.system;
	tw_store64(bytes, snapshot->file, false);
	tw_store64(bytes + 8, snapshot->index, false);
	tw_store64(bytes + 16, snapshot->user_count, false);
	tw_store64(bytes + 24, snapshot->count, false);
	for (size_t i = 0; i < TW_XTRACE_REGISTERS; i++)
		tw_store64(bytes + 8 * (COUNTERS + i), snapshot->x[i], false);
	put_bytes(bytes + at.z, snapshot->z, at.p - at.z);
	put_bytes(bytes + at.p, snapshot->p, at.ffr - at.p);
	put_bytes(bytes + at.ffr, snapshot->ffr, at.za - at.ffr);
	put_bytes(bytes + at.za, snapshot->za, at.system - at.za);
#define X(member)                                                                                                      \
	tw_store64(word, snapshot->member, false);                                                                     \
	word += 8;
	TW_XTRACE_SYSTEM_LIST(X)
#undef X
	tw_store64(bytes + at.bits, snapshot->vector_bits, false);
}
