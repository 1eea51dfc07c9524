/* digest.c - the numbers of the commonest lines of a log: samples, allocations, CPU usages.
 *
 * Only what is written exactly as the profiler does is plain; tw_tracelog_decode() reads everything else, and the same from what
 * is plain. This, in another thread, is what lets `stat` keep up with the disk (bench/). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/digest.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "tracelog/layout.h"

enum { DECIMALS_32 = 9, DECIMALS_64 = 19, HEX_STEP = 8 };

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* ---- Numbers. All of these return what is behind the number, or NULL; the line end ends every loop. ---- */

static const uint8_t *take_decimal(const uint8_t *at, unsigned most, uint64_t *value)
{
	const uint8_t *first = at;
	uint64_t sum = 0;
	for (; *at >= '0' && *at <= '9'; at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	*value = sum;
	size_t digits = (size_t)(at - first);
	return digits && digits <= most && (*first != '0' || digits == 1) ? at : NULL;
}

static const uint8_t *take_decimal32(const uint8_t *at, uint32_t *value)
{
	uint64_t wide;
	at = take_decimal(at, DECIMALS_32, &wide);
	*value = (uint32_t)wide;
	return at;
}

/* Which bytes of a word are from `low` to `high`: their upper bits are set. None has it to begin with. */
static uint64_t bytes_within(uint64_t word, uint8_t low, uint8_t high)
{
	return (word + EACH(0x80 - low)) & ~(word + EACH(0x7f - high)) & EACH(0x80);
}

/* Eight digits at once, their letters being those from `ten` on. */
static inline bool take_eight(const uint8_t *at, uint8_t ten, uint64_t *value)
{
	uint64_t word = tw_load64(at, true);
	uint64_t figures = bytes_within(word, '0', '9'), letters = bytes_within(word, ten, (uint8_t)(ten + 5));
	if (word & EACH(0x80) || (figures | letters) != EACH(0x80))
		return false;
	uint64_t nibbles = (word & EACH(15)) + (word >> 6 & EACH(1)) * 9;
	nibbles = (nibbles | nibbles >> 4) & UINT64_C(0x00ff00ff00ff00ff);
	nibbles = (nibbles | nibbles >> 8) & UINT64_C(0x0000ffff0000ffff);
	*value = *value << 32 | ((nibbles | nibbles >> 16) & UINT32_MAX);
	return true;
}

/* An instruction pointer: in upper case, with all digits of a pointer or without zeros before. */
static const uint8_t *take_address(const uint8_t *at, uint64_t *address)
{
	*address = 0;
	if (*at == '?')
		return at + 1;
	at += at[0] == '0' && at[1] == 'x' ? 2 : 0;
	const uint8_t *first = at;
	while (at - first < TRACELOG_POINTER_64 && take_eight(at, 'A', address))
		at += HEX_STEP;
	for (; tracelog_hex[*at] && !(tracelog_hex[*at] & TRACELOG_LOWER) && at - first <= TRACELOG_POINTER_64; at++)
		*address = *address << 4 | (tracelog_hex[*at] & TRACELOG_NIBBLE);
	size_t digits = (size_t)(at - first);
	bool padded = digits == TRACELOG_POINTER_32 || digits == TRACELOG_POINTER_64;
	bool plain = digits && digits <= TRACELOG_POINTER_64 && (padded || *first != '0' || digits == 1);
	return plain && !tracelog_hex[*at] ? at : NULL;
}

/* 0x and digits in lower case, as many as are needed. */
static const uint8_t *take_iid(const uint8_t *at, uint32_t *iid)
{
	uint32_t value = 0;
	if (at[0] != '0' || at[1] != 'x')
		return NULL;
	const uint8_t *first = at += 2;
	for (; tracelog_hex[*at] && !(tracelog_hex[*at] & TRACELOG_UPPER) && at - first < TRACELOG_ID_DIGITS; at++)
		value = value << 4 | (tracelog_hex[*at] & TRACELOG_NIBBLE);
	*iid = value;
	return at > first && (*first != '0' || at - first == 1) ? at : NULL;
}

/* The same with all eight digits, and a space behind. */
static const uint8_t *take_thread(const uint8_t *at, uint32_t *iid)
{
	uint64_t value = 0;
	if (at[0] != '0' || at[1] != 'x' || !take_eight(at + 2, 'a', &value) || at[2 + HEX_STEP] != ' ')
		return NULL;
	*iid = (uint32_t)value;
	return at + 2 + HEX_STEP + 1;
}

static const uint8_t *take_byte(const uint8_t *at, uint8_t byte)
{
	return at && *at == byte ? at + 1 : NULL;
}

/* ---- Lines: false for one that is not plain. ---- */

static bool take_frames(struct tracelog_digest *digest, const uint8_t *at)
{
	while (*at == ' ') {
		if (digest->frame_count == digest->frame_room &&
		    !tw_grow(&digest->frames, &digest->frame_room, digest->frame_count + 1, sizeof *digest->frames)) {
			digest->failed = true;
			return false;
		}
		struct tracelog_frame *frame = &digest->frames[digest->frame_count++];
		at = take_iid(at + 1, &frame->iid);
		frame->ip = 0;
		if (at && *at == ':')
			at = take_address(at + 1, &frame->ip);
		if (!at)
			return false;
	}
	return *at == '\n';
}

static bool take_sample(struct tracelog_digest *digest, struct tracelog_entry *entry, const uint8_t *at)
{
	if (!(at = take_thread(at, &entry->thread)) || !(at = take_byte(take_decimal32(at, &entry->ms), ' ')) ||
	    !(at = take_byte(take_decimal(at, DECIMALS_64, &entry->number), ' ')) ||
	    !(at = take_byte(take_decimal32(at, &entry->match), ':')) || !(at = take_decimal32(at, &entry->depth)))
		return false;
	entry->ip = 0;
	entry->has_ip = *at == ':';
	if (entry->has_ip && !(at = take_address(at + 1, &entry->ip)))
		return false;
	entry->first = (uint32_t)digest->frame_count;
	if (!take_frames(digest, at)) {
		digest->frame_count = entry->first;
		return false;
	}
	entry->count = (uint32_t)digest->frame_count - entry->first;
	return true;
}

static const uint8_t *take_allocation(struct tracelog_allocation *allocation, const uint8_t *at)
{
	allocation->ip = 0;
	if (!(at = take_byte(take_iid(at, &allocation->iid), ':')) ||
	    !(at = take_byte(take_decimal(at, DECIMALS_64, &allocation->count), ':')) ||
	    !(at = take_decimal(at, DECIMALS_64, &allocation->bytes)))
		return NULL;
	return *at == ':' ? take_address(at + 1, &allocation->ip) : at;
}

static bool take_allocations(struct tracelog_digest *digest, struct tracelog_entry *entry, const uint8_t *at)
{
	if (!(at = take_thread(at, &entry->thread)) || !(at = take_decimal32(at, &entry->ms)))
		return false;
	entry->first = (uint32_t)digest->allocation_count;
	while (at && *at == ' ') {
		if (!tw_grow(&digest->allocations, &digest->allocation_room, digest->allocation_count + 1,
		             sizeof *digest->allocations)) {
			digest->failed = true;
			break;
		}
		at = take_allocation(&digest->allocations[digest->allocation_count++], at + 1);
	}
	if (!at || *at != '\n') {
		digest->allocation_count = entry->first;
		return false;
	}
	entry->count = (uint32_t)digest->allocation_count - entry->first;
	return true;
}

static bool take_usage(struct tracelog_entry *entry, const uint8_t *at)
{
	return (at = take_byte(take_decimal32(at, &entry->ms), ' ')) &&
	       (at = take_decimal(at, DECIMALS_64, &entry->number)) && *at == '\n';
}

static bool take_thread_usage(struct tracelog_entry *entry, const uint8_t *at)
{
	return (at = take_thread(at, &entry->thread)) && take_usage(entry, at);
}

static bool begins(const uint8_t *at, const char *words)
{
	return memcmp(at, words, HEX_STEP) == 0;
}

static enum tracelog_plain take_plain(struct tracelog_digest *digest, struct tracelog_entry *entry, const uint8_t *at)
{
	const uint8_t *rest = at + HEX_STEP;
	if (begins(at, "sam str ") && take_sample(digest, entry, rest))
		return TRACELOG_SAMPLE;
	if (begins(at, "thr cpu ") && take_thread_usage(entry, rest))
		return TRACELOG_THREAD_CPU;
	if (begins(at, "sam mem ") && take_allocations(digest, entry, rest))
		return TRACELOG_ALLOCATION;
	if (begins(at, "prc cpu ") && take_usage(entry, rest))
		return TRACELOG_PROCESS_CPU;
	return TRACELOG_LINE;
}

/* ---- The stretch. ---- */

void tracelog_digest(struct tracelog_digest *digest)
{
	enum { SHORTEST = 16 }; /* of a plain line */
	digest->entry_count = digest->frame_count = digest->allocation_count = 0;
	for (size_t at = 0; at < digest->size && !digest->failed;) {
		const uint8_t *line = digest->bytes + at, *end = memchr(line, '\n', digest->size - at);
		size_t size = end ? (size_t)(end - line) + 1 : digest->size - at;
		if (!tw_grow(&digest->entries, &digest->entry_room, digest->entry_count + 1, sizeof *digest->entries)) {
			digest->failed = true;
			break;
		}
		struct tracelog_entry *entry = &digest->entries[digest->entry_count++];
		entry->at = (uint32_t)at;
		entry->size = (uint32_t)size;
		entry->plain = end && size >= SHORTEST ? take_plain(digest, entry, line) : TRACELOG_LINE;
		at += size;
	}
}

void tracelog_digest_free(struct tracelog_digest *digest)
{
	free(digest->bytes);
	free(digest->entries);
	free(digest->frames);
	free(digest->allocations);
	*digest = (struct tracelog_digest){0};
}
