/* plain.c - the numbers of the commonest lines of a log: samples, allocations, CPU usages.
 *
 * Only what is written exactly as the profiler does is plain; tw_tracelog_decode() reads everything else, and the same from what
 * is plain. Digits are taken eight at a time: that a number has more or fewer of them than the one before costs a branch
 * that nobody foresees. `info` and `stat` need it to keep up with the disk (bench/). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/plain.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "tracelog/layout.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { DECIMALS_32 = 9, DECIMALS_64 = 19, STEP = 8, PREFIX = 2 };

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* ---- Numbers. All of these return what is behind the number, or NULL; the line end ends every loop. ---- */

/* How many bytes of a word, the lowest first, are not marked by their upper bits. */
static inline unsigned bytes_before(uint64_t marks)
{
	return marks ? (unsigned)__builtin_ctzll(marks) / 8 : STEP;
}

/* The first bytes of a word, one at least, moved to its end: zeros stand before them. */
static inline uint64_t keep_bytes(uint64_t word, unsigned count)
{
	return word << (8 * (STEP - count));
}

/* The number that eight figures are, each 0 to 9, the first in the lowest byte. */
static inline uint64_t sum_figures(uint64_t figures)
{
	const uint64_t pairs = UINT64_C(0x000000ff000000ff);
	figures = figures * 10 + (figures >> 8);
	uint64_t first = (figures & pairs) * (100 + (UINT64_C(1000000) << 32));
	uint64_t second = (figures >> 16 & pairs) * (1 + (UINT64_C(10000) << 32));
	return (first + second) >> 32;
}

static inline const uint8_t *take_decimal(const uint8_t *at, unsigned most, uint64_t *value)
{
	const uint8_t *first = at;
	uint64_t figures = tw_load64(at, false) ^ EACH('0');
	unsigned digits = bytes_before((figures | (figures + EACH(0x80 - 10))) & EACH(0x80));
	if (!digits)
		return NULL;
	uint64_t sum = sum_figures(keep_bytes(figures, digits));
	at += digits;
	for (; digits >= STEP && *at >= '0' && *at <= '9'; at++, digits++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	*value = sum;
	return digits <= most && (*first != '0' || digits == 1) ? at : NULL;
}

static inline const uint8_t *take_decimal32(const uint8_t *at, uint32_t *value)
{
	uint64_t wide = 0;
	at = take_decimal(at, DECIMALS_32, &wide);
	*value = (uint32_t)wide;
	return at;
}

/* Marks the bytes from `low` to `high`; right up to the first that is no ASCII. */
static inline uint64_t bytes_within(uint64_t word, uint8_t low, uint8_t high)
{
	return (word + EACH(0x80 - low)) & ~(word + EACH(0x7f - high)) & ~word & EACH(0x80);
}

/* How many digits a word begins with, their letters being those from `ten` on. */
static inline unsigned count_digits(uint64_t word, uint8_t ten)
{
	uint64_t figures = bytes_within(word, '0', '9'), letters = bytes_within(word, ten, (uint8_t)(ten + 5));
	return bytes_before((figures | letters) ^ EACH(0x80));
}

/* The number that eight digits are, the first in the lowest byte; zeros do for figures. */
static inline uint32_t join_digits(uint64_t word)
{
	uint64_t nibbles = __builtin_bswap64((word & EACH(15)) + (word >> 6 & EACH(1)) * 9);
	nibbles = (nibbles | nibbles >> 4) & UINT64_C(0x00ff00ff00ff00ff);
	nibbles = (nibbles | nibbles >> 8) & UINT64_C(0x0000ffff0000ffff);
	return (uint32_t)(nibbles | nibbles >> 16);
}

/* Eight digits at once. */
static inline bool take_eight(const uint8_t *at, uint8_t ten, uint64_t *value)
{
	uint64_t word = tw_load64(at, false);
	if (count_digits(word, ten) != STEP)
		return false;
	*value = *value << 32 | join_digits(word);
	return true;
}

/* Sixteen digits at once, of which the letters are upper case: what most instruction pointers are. `info` of the log of
 * bench/ is a tenth faster by it. */
static inline bool take_sixteen(const uint8_t *at, uint64_t *value)
{
#ifdef __SSE2__
	uint64_t bytes;
	__m128i text = _mm_loadu_si128((const __m128i *)(const void *)at);
	__m128i figure = _mm_sub_epi8(text, _mm_set1_epi8('0')), letter = _mm_sub_epi8(text, _mm_set1_epi8('A'));
	__m128i is_figure = _mm_cmpeq_epi8(_mm_min_epu8(figure, _mm_set1_epi8(9)), figure);
	__m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);
	if (_mm_movemask_epi8(_mm_or_si128(is_figure, is_letter)) != 0xffff)
		return false;
	__m128i nibbles = _mm_or_si128(_mm_and_si128(is_figure, figure),
	                               _mm_and_si128(is_letter, _mm_add_epi8(letter, _mm_set1_epi8(10))));
	__m128i pairs = _mm_or_si128(_mm_slli_epi16(nibbles, 4), _mm_srli_epi16(nibbles, 8));
	_mm_storel_epi64((__m128i *)(void *)&bytes,
	                 _mm_packus_epi16(_mm_and_si128(pairs, _mm_set1_epi16(0xff)), _mm_setzero_si128()));
	*value = __builtin_bswap64(bytes);
	return true;
#else
	return take_eight(at, 'A', value) && take_eight(at + STEP, 'A', value);
#endif
}

/* An instruction pointer: in upper case, with all digits of a pointer or without zeros before. */
static inline const uint8_t *take_address(struct tracelog_entry *entry, const uint8_t *at, uint64_t *address)
{
	*address = 0;
	if (*at == '?')
		return at + 1;
	bool bare = at[0] != '0' || at[1] != 'x';
	const uint8_t *first = at += bare ? 0 : PREFIX;
	if (take_sixteen(at, address))
		at += TRACELOG_POINTER_64;
	else if (take_eight(at, 'A', address))
		at += STEP;
	for (; tracelog_hex[*at] && !(tracelog_hex[*at] & TRACELOG_LOWER) && at - first <= TRACELOG_POINTER_64; at++)
		*address = *address << 4 | (tracelog_hex[*at] & TRACELOG_NIBBLE);
	size_t digits = (size_t)(at - first);
	bool padded = digits == TRACELOG_POINTER_32 || digits == TRACELOG_POINTER_64;
	bool plain = digits && digits <= TRACELOG_POINTER_64 && (padded || *first != '0' || digits == 1);
	if (!entry->ip_known) {
		entry->ip_known = true;
		entry->ip_style = (bare ? TW_TRACELOG_BARE_IP : 0) | (padded ? TW_TRACELOG_PADDED_IP : 0);
	}
	return plain && !tracelog_hex[*at] ? at : NULL;
}

/* 0x and digits in lower case, as many as are needed. */
static inline const uint8_t *take_iid(const uint8_t *at, uint32_t *iid)
{
	uint64_t word = tw_load64(at + PREFIX, false);
	unsigned digits = at[0] == '0' && at[1] == 'x' ? count_digits(word, 'a') : 0;
	if (!digits || (at[PREFIX] == '0' && digits > 1))
		return NULL;
	*iid = join_digits(keep_bytes(word, digits));
	return at + PREFIX + digits;
}
/* The same with all eight digits, and a space behind. */
static const uint8_t *take_thread(const uint8_t *at, uint32_t *iid)
{
	uint64_t value = 0;
	if (at[0] != '0' || at[1] != 'x' || !take_eight(at + PREFIX, 'a', &value) || at[PREFIX + STEP] != ' ')
		return NULL;
	*iid = (uint32_t)value;
	return at + PREFIX + STEP + 1;
}

static const uint8_t *take_byte(const uint8_t *at, uint8_t byte)
{
	return at && *at == byte ? at + 1 : NULL;
}

/* ---- Lines: NULL for one that is not plain. ---- */

/* What is behind the line that ends here. */
static inline const uint8_t *take_end(const uint8_t *at)
{
	return take_byte(at, '\n');
}

static const uint8_t *take_frames(struct tracelog_lists *lists, struct tracelog_entry *entry, const uint8_t *at)
{
	entry->first = (uint32_t)lists->frame_count;
	while (at && *at == ' ') {
		if (lists->frame_count == lists->frame_room &&
		    !tw_grow(&lists->frames, &lists->frame_room, lists->frame_count + 1, sizeof *lists->frames)) {
			lists->failed = true;
			return NULL;
		}
		struct tracelog_frame *frame = &lists->frames[lists->frame_count++];
		at = take_iid(at + 1, &frame->iid);
		frame->ip = 0;
		if (at && *at == ':')
			at = take_address(entry, at + 1, &frame->ip);
	}
	entry->count = (uint32_t)lists->frame_count - entry->first;
	return take_end(at);
}

static const uint8_t *take_sample(struct tracelog_lists *lists, struct tracelog_entry *entry, const uint8_t *at)
{
	if (!(at = take_thread(at, &entry->thread)) || !(at = take_byte(take_decimal32(at, &entry->ms), ' ')) ||
	    !(at = take_byte(take_decimal(at, DECIMALS_64, &entry->number), ' ')) ||
	    !(at = take_byte(take_decimal32(at, &entry->match), ':')) || !(at = take_decimal32(at, &entry->depth)))
		return NULL;
	entry->ip = 0;
	entry->has_ip = *at == ':';
	if (entry->has_ip && !(at = take_address(entry, at + 1, &entry->ip)))
		return NULL;
	return take_frames(lists, entry, at);
}

static const uint8_t *take_allocation(struct tracelog_entry *entry, struct tracelog_allocation *allocation,
                                      const uint8_t *at)
{
	allocation->ip = 0;
	if (!(at = take_byte(take_iid(at, &allocation->iid), ':')) ||
	    !(at = take_byte(take_decimal(at, DECIMALS_64, &allocation->count), ':')) ||
	    !(at = take_decimal(at, DECIMALS_64, &allocation->bytes)))
		return NULL;
	return *at == ':' ? take_address(entry, at + 1, &allocation->ip) : at;
}

static const uint8_t *take_allocations(struct tracelog_lists *lists, struct tracelog_entry *entry, const uint8_t *at)
{
	if (!(at = take_thread(at, &entry->thread)) || !(at = take_decimal32(at, &entry->ms)))
		return NULL;
	entry->first = (uint32_t)lists->allocation_count;
	while (at && *at == ' ') {
		if (lists->allocation_count == lists->allocation_room &&
		    !tw_grow(&lists->allocations, &lists->allocation_room, lists->allocation_count + 1,
		             sizeof *lists->allocations)) {
			lists->failed = true;
			return NULL;
		}
		at = take_allocation(entry, &lists->allocations[lists->allocation_count++], at + 1);
	}
	entry->count = (uint32_t)lists->allocation_count - entry->first;
	return take_end(at);
}

static const uint8_t *take_usage(struct tracelog_lists *lists, struct tracelog_entry *entry, const uint8_t *at)
{
	(void)lists;
	if (!(at = take_byte(take_decimal32(at, &entry->ms), ' ')))
		return NULL;
	return take_end(take_decimal(at, DECIMALS_64, &entry->number));
}

static const uint8_t *take_thread_usage(struct tracelog_lists *lists, struct tracelog_entry *entry, const uint8_t *at)
{
	at = take_thread(at, &entry->thread);
	return at ? take_usage(lists, entry, at) : NULL;
}

static const uint8_t *take_rest(struct tracelog_lists *lists, struct tracelog_entry *entry, const uint8_t *line)
{
	static const struct {
		char words[STEP + 1];
		enum tracelog_plain plain;
		const uint8_t *(*take)(struct tracelog_lists *, struct tracelog_entry *, const uint8_t *);
	} kinds[] = {
	    {"sam str ", TRACELOG_SAMPLE, take_sample},
	    {"thr cpu ", TRACELOG_THREAD_CPU, take_thread_usage},
	    {"sam mem ", TRACELOG_ALLOCATION, take_allocations},
	    {"prc cpu ", TRACELOG_PROCESS_CPU, take_usage},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (memcmp(line, kinds[i].words, STEP) == 0) {
			entry->plain = kinds[i].plain;
			return kinds[i].take(lists, entry, line + STEP);
		}
	}
	return NULL;
}

const uint8_t *tracelog_take_plain(struct tracelog_lists *lists, struct tracelog_entry *entry, const uint8_t *line)
{
	size_t frames = lists->frame_count, allocations = lists->allocation_count;
	entry->ip_known = false;
	const uint8_t *next = take_rest(lists, entry, line);
	if (!next) {
		lists->frame_count = frames;
		lists->allocation_count = allocations;
	}
	return next;
}

enum tw_tracelog_kind tracelog_plain_kind(enum tracelog_plain plain)
{
	static const uint8_t kinds[] = {[TRACELOG_SAMPLE] = TW_TRACELOG_SAM_STR,
	                                [TRACELOG_ALLOCATION] = TW_TRACELOG_SAM_MEM,
	                                [TRACELOG_THREAD_CPU] = TW_TRACELOG_THR_CPU,
	                                [TRACELOG_PROCESS_CPU] = TW_TRACELOG_PRC_CPU};
	return (enum tw_tracelog_kind)kinds[plain];
}

void tracelog_lists_free(struct tracelog_lists *lists)
{
	free(lists->frames);
	free(lists->allocations);
	*lists = (struct tracelog_lists){0};
}
