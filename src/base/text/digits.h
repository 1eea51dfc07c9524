/* digits.h - numbers as decimal text, for hot loops: every number that is printed comes by here. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_DIGITS_H
#define BASE_TEXT_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The digits of a number, or of nanoseconds with decimals: sign and point not counted. */
enum { TW_DIGITS_MAX = 20, TW_DOUBLE_MAX = 32 };

/* Here and not in the .c file: what is divided by a constant of these is multiplied instead. */
static const uint64_t tw_powers_of_ten[TW_DIGITS_MAX] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

extern const char tw_digit_pairs[201]; /* "000102...99" */

/* Writes a number (at most TW_DIGITS_MAX bytes) and returns the place after it. */
static inline char *tw_digits(char *p, uint64_t value)
{
	/* 1233 / 4096 is log10(2): a guess from the bits that is right or one too low. */
	size_t count = (size_t)((64 - __builtin_clzll(value | 1)) * 1233 >> 12);
	count += value >= tw_powers_of_ten[count] || count == 0;
	char *end = p + count;
	/* Four digits a division, which the next one waits for. */
	for (p = end; value >= 10000; value /= 10000) {
		uint32_t four = (uint32_t)(value % 10000);
		memcpy(p -= 2, tw_digit_pairs + four % 100 * 2, 2);
		memcpy(p -= 2, tw_digit_pairs + four / 100 * 2, 2);
	}
	uint32_t left = (uint32_t)value;
	for (; left >= 100; left /= 100)
		memcpy(p -= 2, tw_digit_pairs + left % 100 * 2, 2);
	if (left >= 10)
		memcpy(p - 2, tw_digit_pairs + left * 2, 2);
	else
		p[-1] = (char)('0' + left);
	return end;
}

/* Numbers of processes and threads have 32 bits on most systems, and some writers have -1 where they know none: what is
 * the 64 bits of such a number is that. Koids with bit 63 are not. */
static inline bool tw_is_negative_task(uint64_t id)
{
	return id >= -(UINT64_C(1) << 31);
}

/* The number of a thread of which the trace tells that its number is not known: next to what is negative, and none of
 * the numbers of threads, koids and objects. */
#define TW_UNKNOWN_TASK (-(UINT64_C(1) << 31) - 1)

/* Writes the number of a process or a thread (at most TW_DIGITS_MAX bytes), "?" for one that is not known. */
static inline char *tw_task_digits(char *p, uint64_t id)
{
	if (id == TW_UNKNOWN_TASK) {
		*p = '?';
		return p + 1;
	}
	const bool negative = tw_is_negative_task(id);
	*p = '-';
	return tw_digits(p + negative, negative ? -id : id);
}

/* "000.001." to "999.": a number of three digits is four bytes from 4 times it. A few zeros follow. */
extern const char tw_digit_triples[4004];

/* Writes value / 10^decimals with so many decimals: nanoseconds as microseconds with 3, as milliseconds with 6. */
static inline char *tw_decimal(char *p, uint64_t value, unsigned decimals)
{
	uint64_t rest = value % tw_powers_of_ten[decimals];
	p = tw_digits(p, value / tw_powers_of_ten[decimals]);
	*p = '.';
	unsigned i = decimals;
	for (; i >= 2; i -= 2, rest /= 100)
		memcpy(p + i - 1, tw_digit_pairs + rest % 100 * 2, 2);
	if (i)
		p[1] = (char)('0' + rest);
	return p + 1 + decimals;
}

/* Writes nanoseconds as microseconds with 3 decimals, and something in the byte behind. */
static inline char *tw_microseconds(char *p, uint64_t ns)
{
	if (ns >= 1000000)
		return tw_decimal(p, ns, 3);
	uint32_t whole = (uint32_t)ns / 1000, rest = (uint32_t)ns % 1000;
	size_t zeros = (size_t)(whole < 100) + (whole < 10);
	memcpy(p, tw_digit_triples + (size_t)whole * 4 + zeros, 4);
	p += 4 - zeros;
	memcpy(p, tw_digit_triples + (size_t)rest * 4, 4);
	return p + 3;
}

/* Writes a finite number (at most TW_DOUBLE_MAX bytes), so that it reads back as the same: with 15 digits, or else
 * 17. */
char *tw_double_digits(char *p, double value);

/* Takes text that is a decimal number as a whole, as viewers do: ".75", "+10.5", "1e3", whatever the locale. False for
 * what is none, or not finite. */
bool tw_loose_number(const void *text, size_t size, double *number);

/* Writes decimal text with a comma after every three digits before the point: "-1,234.5" (at most 4 bytes for 3, and
 * the zero). */
void tw_group_digits(char *p, const char *digits);

#endif
