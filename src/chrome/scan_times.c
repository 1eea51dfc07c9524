/* scan_times.c - when events happen, found without a look at anything else of them.
 *
 * Of each 64 bytes a mask tells the quotes, another the brackets, a third the keys that are looked for; what is in a
 * string is told by the quotes before it. Only brackets and keys are then gone through: a first look takes a quarter of
 * the time that it takes by events. `bench/run --only chrome` measures convert. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/chrome.h"

#ifdef __SSE2__
#include <emmintrin.h>

enum {
	VECTOR = 16,
	BLOCK = 64,
	AHEAD = 3, /* bytes of a key behind its quote */
	INTEGER_DIGITS = 15,
	DECIMALS = 3
};

/* A bit for each byte of a block. */
struct masks {
	uint64_t quotes, slashes, brackets, keys;
};

struct scan {
	const uint8_t *bytes;
	size_t size;
	uint64_t inside; /* all ones: the block begins in a string */
	bool escaped;    /* its first byte is escaped */
	uint32_t depth;  /* of brackets */
	size_t begin;    /* of the event */
	size_t ts, ph;   /* where the values of its keys are; 0: not seen */
	bool odd;        /* the event is left to another */
	size_t taken;    /* bytes of events that were taken */
	bool ended;
	chrome_seen_fn take;
	void *context;
};

static unsigned mask_of(__m128i bytes)
{
	return (unsigned)_mm_movemask_epi8(bytes);
}

static __m128i equal(__m128i bytes, char c)
{
	return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}

/* "ts" or "ph", from the quote on. */
static unsigned keys_at(const uint8_t *p, __m128i quotes)
{
	__m128i first = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
	__m128i second = _mm_loadu_si128((const __m128i *)(const void *)(p + 2));
	__m128i third = _mm_loadu_si128((const __m128i *)(const void *)(p + AHEAD));
	__m128i ts = _mm_and_si128(equal(first, 't'), equal(second, 's'));
	__m128i ph = _mm_and_si128(equal(first, 'p'), equal(second, 'h'));
	return mask_of(_mm_and_si128(_mm_and_si128(_mm_or_si128(ts, ph), equal(third, '"')), quotes));
}

static struct masks masks_at(const uint8_t *p)
{
	struct masks masks = {0};
	for (unsigned i = 0; i < BLOCK; i += VECTOR) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20)); /* [ is { without that bit, ] is } */
		__m128i quotes = equal(bytes, '"');
		masks.quotes |= (uint64_t)mask_of(quotes) << i;
		masks.slashes |= (uint64_t)mask_of(equal(bytes, '\\')) << i;
		masks.brackets |= (uint64_t)mask_of(_mm_or_si128(equal(lower, '{'), equal(lower, '}'))) << i;
		masks.keys |= (uint64_t)keys_at(p + i, quotes) << i;
	}
	return masks;
}

/* Takes away the quotes that are escaped. */
static uint64_t bare_quotes(struct scan *scan, const struct masks *masks)
{
	uint64_t escaped = scan->escaped, slashes = masks->slashes & ~escaped;
	scan->escaped = false;
	while (slashes) {
		unsigned at = (unsigned)__builtin_ctzll(slashes);
		scan->escaped = at == BLOCK - 1;
		escaped |= scan->escaped ? 0 : UINT64_C(2) << at;
		slashes &= slashes - 1;
		slashes &= ~escaped;
	}
	return masks->quotes & ~escaped;
}

/* Of each byte whether an odd number of bits is set up to it. */
static uint64_t parity_up_to(uint64_t bits)
{
	for (unsigned shift = 1; shift < BLOCK; shift *= 2)
		bits ^= bits << shift;
	return bits;
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static size_t pass_blanks(const struct scan *scan, size_t at)
{
	while (at < scan->size && is_blank(scan->bytes[at]))
		at++;
	return at;
}

/* Takes the key at a quote of the event itself, where it is one. */
static void take_key(struct scan *scan, size_t at)
{
	size_t *value = scan->bytes[at + 1] == 't' ? &scan->ts : &scan->ph;
	size_t colon = pass_blanks(scan, at + AHEAD + 1);
	if (colon == scan->size || scan->bytes[colon] != ':')
		return; /* a value */
	scan->odd |= *value != 0;
	*value = pass_blanks(scan, colon + 1);
}

/* Digits, and decimals of them. */
static bool take_number(const struct scan *scan, size_t at, int64_t *ns)
{
	const size_t begin = at;
	int64_t value = 0;
	for (; at < scan->size && is_digit(scan->bytes[at]) && at - begin < INTEGER_DIGITS; at++)
		value = value * 10 + (scan->bytes[at] - '0');
	bool digits = at > begin, point = at < scan->size && scan->bytes[at] == '.';
	at += point;
	const size_t from = at;
	for (; at < scan->size && is_digit(scan->bytes[at]); at++)
		value = at - from < DECIMALS ? value * 10 + (scan->bytes[at] - '0') : value;
	digits &= !point || at > from;
	for (size_t i = at - from; i < DECIMALS; i++)
		value *= 10;
	*ns = value;
	at = pass_blanks(scan, at);
	return digits && at < scan->size && (scan->bytes[at] == ',' || scan->bytes[at] == '}');
}

/* The event is whole: its bracket is before `end`. */
static void end_event(struct scan *scan, size_t end)
{
	struct chrome_seen seen = {.offset = scan->begin};
	const uint8_t *ph = scan->bytes + scan->ph;
	bool plain = !scan->odd && scan->ts && scan->ph && end - scan->ph > AHEAD && ph[0] == '"' && ph[2] == '"' &&
	             take_number(scan, scan->ts, &seen.ns);
	if (plain)
		seen.phase = (char)ph[1];
	plain = plain && chrome_phase_of_letter(seen.phase)->need & CHROME_HAS_TIME;
	scan->ended = !plain || !scan->take(scan->context, &seen);
	if (scan->ended)
		return;
	scan->taken = end;
	scan->ts = scan->ph = 0;
	size_t next = pass_blanks(scan, end);
	if (next < scan->size && scan->bytes[next] == ',')
		next = pass_blanks(scan, next + 1);
	scan->begin = next;
	scan->ended = next == scan->size || scan->bytes[next] != '{';
}

static void take_bracket(struct scan *scan, size_t at)
{
	bool opens = (scan->bytes[at] | 0x20) == '{';
	scan->depth += opens ? 1 : UINT32_MAX;
	if (scan->depth == 0)
		end_event(scan, at + 1);
}

static void take_block(struct scan *scan, size_t at)
{
	const struct masks masks = masks_at(scan->bytes + at);
	const uint64_t quotes = bare_quotes(scan, &masks);
	const uint64_t inside = parity_up_to(quotes) ^ scan->inside; /* from a quote to before the next */
	scan->inside = inside >> (BLOCK - 1) ? UINT64_MAX : 0;
	uint64_t bits = (masks.brackets & ~inside) | (masks.keys & quotes & inside);
	for (; bits && !scan->ended; bits &= bits - 1) {
		size_t place = at + (unsigned)__builtin_ctzll(bits);
		if (scan->bytes[place] != '"')
			take_bracket(scan, place);
		else if (scan->depth == 1)
			take_key(scan, place);
	}
}

size_t chrome_scan_times(const uint8_t *bytes, size_t size, chrome_seen_fn take, void *context)
{
	struct scan scan = {.bytes = bytes, .size = size, .take = take, .context = context};
	scan.begin = pass_blanks(&scan, 0);
	if (scan.begin < size && bytes[scan.begin] == ',')
		scan.begin = pass_blanks(&scan, scan.begin + 1);
	scan.ended = scan.begin == size || bytes[scan.begin] != '{';
	for (size_t at = scan.begin; !scan.ended && size - at >= BLOCK + AHEAD; at += BLOCK)
		take_block(&scan, at);
	return scan.taken;
}

#else

size_t chrome_scan_times(const uint8_t *bytes, size_t size, chrome_seen_fn take, void *context)
{
	(void)bytes;
	(void)size;
	(void)take;
	(void)context;
	return 0;
}

#endif
