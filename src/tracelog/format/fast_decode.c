/* fast_decode.c - the numbers of the commonest lines of a log: samples, allocations, CPU usages.
 *
 * Only what is written exactly as the profiler does is plain; tw_tracelog_decode() reads everything else, and the
 * same from what is plain. Digits are taken eight at a time: that a number has more or fewer of them than the one
 * before costs a branch that nobody foresees. `info` and `stat` need it to keep up with the disk (bench/). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/format/fast_decode.h"

#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/memory/memory.h"
#include "tracelog/format/layout.h"

#include <assert.h>
#include <stdlib.h>

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

TW_INLINE const uint8_t *take_decimal(const uint8_t *at, unsigned most, uint64_t *value)
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
	bool padded = (*first == '0') & (digits != 1); /* no branch: what is 0 is as good as random */
	return (padded | (digits > most)) ? NULL : at;
}

TW_INLINE const uint8_t *take_decimal32(const uint8_t *at, uint32_t *value)
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
TW_INLINE bool take_sixteen(const uint8_t *at, uint64_t *value)
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

/* How the first instruction pointer of a line that is known is written; 0: there was none. */
enum { FORM_KNOWN = 1 << 7 };

static_assert(((TW_TRACELOG_BARE_IP | TW_TRACELOG_PADDED_IP) & ~(FORM_KNOWN - 1)) == 0, "the style fits beside");

/* An instruction pointer: in upper case, with all digits of a pointer or without zeros before. */
TW_NOINLINE const uint8_t *take_any_address(unsigned *form, const uint8_t *at, uint64_t *address)
{
	uint64_t value = 0;
	bool bare = at[0] != '0' || at[1] != 'x';
	const uint8_t *first = at += bare ? 0 : PREFIX;
	for (; tracelog_hex[*at] && !(tracelog_hex[*at] & TRACELOG_LOWER) && at - first <= TRACELOG_POINTER_64; at++)
		value = value << 4 | (tracelog_hex[*at] & TRACELOG_NIBBLE);
	size_t digits = (size_t)(at - first);
	bool padded = digits == TRACELOG_POINTER_32 || digits == TRACELOG_POINTER_64;
	bool plain = digits && digits <= TRACELOG_POINTER_64 && (padded || *first != '0' || digits == 1);
	if (!*form)
		*form = FORM_KNOWN | (bare ? TW_TRACELOG_BARE_IP : 0u) | (padded ? TW_TRACELOG_PADDED_IP : 0u);
	*address = value;
	return plain && !tracelog_hex[*at] ? at : NULL;
}

/* Takes an instruction pointer, or "?". */
TW_INLINE const uint8_t *take_address(unsigned *form, const uint8_t *at, uint64_t *address)
{
	const uint8_t *behind = at + PREFIX + TRACELOG_POINTER_64;
	uint64_t value = 0, any = 0;
	unsigned any_form = *form;
	*address = 0;
	if (at[0] == '0' && at[1] == 'x' && take_sixteen(at + PREFIX, &value) && !tracelog_hex[*behind]) {
		*form |= (FORM_KNOWN | (unsigned)TW_TRACELOG_PADDED_IP) & (0u - !*form); /* no branch, as above */
		*address = value;
		return behind;
	}
	if (*at == '?')
		return at + 1;
	behind = take_any_address(&any_form, at, &any);
	*form = any_form;
	*address = any;
	return behind;
}

/* 0x and digits in lower case, as many as are needed. */
TW_INLINE const uint8_t *take_iid(const uint8_t *at, uint32_t *iid)
{
	uint64_t word = tw_load64(at + PREFIX, false);
	unsigned digits = at[0] == '0' && at[1] == 'x' ? count_digits(word, 'a') : 0;
	if (!digits || (at[PREFIX] == '0' && digits > 1))
		return NULL;
	*iid = join_digits(keep_bytes(word, digits));
	return at + PREFIX + digits;
}

/* The same with all eight digits, and a space behind. */
TW_INLINE const uint8_t *take_thread(const uint8_t *at, uint32_t *iid)
{
	uint64_t value = 0;
	if (at[0] != '0' || at[1] != 'x' || !take_eight(at + PREFIX, 'a', &value) || at[PREFIX + STEP] != ' ')
		return NULL;
	*iid = (uint32_t)value;
	return at + PREFIX + STEP + 1;
}

TW_INLINE const uint8_t *take_byte(const uint8_t *at, uint8_t byte)
{
	return at && *at == byte ? at + 1 : NULL;
}

/* ---- Lines: NULL for one that is not plain. Without lists nobody wants what would be added to them: it is judged
 * only. ---- */

/* Keeps the style; returns what is behind the line if it ends here. */
TW_INLINE const uint8_t *take_end(struct tracelog_fast_line *entry, unsigned form, const uint8_t *at)
{
	entry->ip_known = form;
	entry->ip_style = (uint8_t)(form & (FORM_KNOWN - 1));
	return take_byte(at, '\n');
}

/* Makes room for one element more. Returns false where there is no memory. */
static inline bool make_room(struct tracelog_fast_lists *lists, void *array, size_t *room, size_t count, size_t size)
{
	if (count < *room || tw_grow(array, room, count + 1, size))
		return true;
	lists->failed = true;
	return false;
}

TW_INLINE const uint8_t *take_frames(struct tracelog_fast_lists *lists, struct tracelog_fast_line *entry, unsigned form,
                                     const uint8_t *at)
{
	size_t first = lists ? lists->frame_count : 0, count = first;
	struct tracelog_frame frame;
	for (; at && *at == ' '; count++) {
		frame.ip = 0;
		at = take_iid(at + 1, &frame.iid);
		if (at && *at == ':')
			at = take_address(&form, at + 1, &frame.ip);
		if (!lists || !at)
			continue;
		if (!make_room(lists, &lists->frames, &lists->frame_room, count, sizeof frame))
			return NULL;
		lists->frames[count] = frame;
	}
	if (lists) {
		entry->first = (uint32_t)first;
		entry->count = (uint32_t)(count - first);
		lists->frame_count = count;
	}
	return take_end(entry, form, at);
}

TW_INLINE const uint8_t *take_sample(struct tracelog_fast_lists *lists, struct tracelog_fast_line *entry,
                                     const uint8_t *at)
{
	uint64_t ip = 0;
	uint32_t match, depth;
	unsigned form = 0;
	if (!(at = take_thread(at, &entry->thread)) || !(at = take_byte(take_decimal32(at, &entry->ms), ' ')) ||
	    !(at = take_byte(take_decimal(at, DECIMALS_64, &entry->number), ' ')) ||
	    !(at = take_byte(take_decimal32(at, &match), ':')) || !(at = take_decimal32(at, &depth)))
		return NULL;
	bool has_ip = *at == ':';
	if (has_ip && !(at = take_address(&form, at + 1, &ip)))
		return NULL;
	if (lists) {
		entry->match = match;
		entry->depth = depth;
		entry->has_ip = has_ip;
		entry->ip = ip;
	}
	return take_frames(lists, entry, form, at);
}

TW_INLINE const uint8_t *take_allocation(struct tracelog_allocation *allocation, unsigned *form, const uint8_t *at)
{
	allocation->ip = 0;
	if (!(at = take_byte(take_iid(at, &allocation->iid), ':')) ||
	    !(at = take_byte(take_decimal(at, DECIMALS_64, &allocation->count), ':')) ||
	    !(at = take_decimal(at, DECIMALS_64, &allocation->bytes)))
		return NULL;
	return *at == ':' ? take_address(form, at + 1, &allocation->ip) : at;
}

TW_INLINE const uint8_t *take_allocations(struct tracelog_fast_lists *lists, struct tracelog_fast_line *entry,
                                          const uint8_t *at)
{
	size_t first = lists ? lists->allocation_count : 0, count = first;
	struct tracelog_allocation allocation;
	unsigned form = 0;
	if (!(at = take_thread(at, &entry->thread)) || !(at = take_decimal32(at, &entry->ms)))
		return NULL;
	for (; at && *at == ' '; count++) {
		at = take_allocation(&allocation, &form, at + 1);
		if (!lists || !at)
			continue;
		if (!make_room(lists, &lists->allocations, &lists->allocation_room, count, sizeof allocation))
			return NULL;
		lists->allocations[count] = allocation;
	}
	if (lists) {
		entry->first = (uint32_t)first;
		entry->count = (uint32_t)(count - first);
		lists->allocation_count = count;
	}
	return take_end(entry, form, at);
}

TW_INLINE const uint8_t *take_usage(const struct tracelog_fast_lists *lists, struct tracelog_fast_line *entry,
                                    const uint8_t *at)
{
	uint64_t us = 0;
	if (!at || !(at = take_byte(take_decimal32(at, &entry->ms), ' ')))
		return NULL;
	at = take_decimal(at, DECIMALS_64, &us);
	if (lists)
		entry->number = us;
	return take_end(entry, 0, at);
}

static inline bool begins(uint64_t bytes, const char *words)
{
	return bytes == tw_load64((const uint8_t *)words, false);
}

/* Takes a line of any plain kind, the commonest first. */
TW_INLINE const uint8_t *take(struct tracelog_fast_lists *lists, struct tracelog_fast_line *entry, const uint8_t *line)
{
	uint64_t words = tw_load64(line, false);
	const uint8_t *at = line + STEP;
	if (begins(words, "thr cpu ")) {
		entry->kind = TRACELOG_THREAD_CPU;
		return take_usage(lists, entry, take_thread(at, &entry->thread));
	}
	if (begins(words, "sam str ")) {
		entry->kind = TRACELOG_SAMPLE;
		return take_sample(lists, entry, at);
	}
	if (begins(words, "sam mem ")) {
		entry->kind = TRACELOG_ALLOCATION;
		return take_allocations(lists, entry, at);
	}
	if (begins(words, "prc cpu ")) {
		entry->kind = TRACELOG_PROCESS_CPU;
		return take_usage(lists, entry, at);
	}
	return NULL;
}

const uint8_t *tracelog_fast_decode(struct tracelog_fast_lists *lists, struct tracelog_fast_line *entry,
                                    const uint8_t *line)
{
	size_t frames = lists->frame_count, allocations = lists->allocation_count;
	const uint8_t *next = take(lists, entry, line);
	if (!next) {
		lists->frame_count = frames;
		lists->allocation_count = allocations;
	}
	return next;
}

const uint8_t *tracelog_fast_decode_head(struct tracelog_fast_line *entry, const uint8_t *line)
{
	return take(NULL, entry, line);
}

enum tw_tracelog_kind tracelog_kind_of_line(enum tracelog_line_kind line)
{
	static const uint8_t kinds[] = {[TRACELOG_SAMPLE] = TW_TRACELOG_SAM_STR,
	                                [TRACELOG_ALLOCATION] = TW_TRACELOG_SAM_MEM,
	                                [TRACELOG_THREAD_CPU] = TW_TRACELOG_THR_CPU,
	                                [TRACELOG_PROCESS_CPU] = TW_TRACELOG_PRC_CPU};
	return (enum tw_tracelog_kind)kinds[line];
}

void tracelog_fast_lists_free(struct tracelog_fast_lists *lists)
{
	free(lists->frames);
	free(lists->allocations);
	*lists = (struct tracelog_fast_lists){0};
}
