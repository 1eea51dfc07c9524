/* digits.c - numbers as decimal text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/digits.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

const char tw_digit_pairs[201] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				 "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				 "8081828384858687888990919293949596979899";

#define TEN(tens) tens "0." tens "1." tens "2." tens "3." tens "4." tens "5." tens "6." tens "7." tens "8." tens "9."
#define HUNDRED(hundreds)                                                                                              \
	TEN(hundreds "0")                                                                                              \
	TEN(hundreds "1")                                                                                              \
	TEN(hundreds "2")                                                                                              \
	TEN(hundreds "3")                                                                                              \
	TEN(hundreds "4")                                                                                              \
	TEN(hundreds "5")                                                                                              \
	TEN(hundreds "6")                                                                                              \
	TEN(hundreds "7")                                                                                              \
	TEN(hundreds "8")                                                                                              \
	TEN(hundreds "9")

const char tw_digit_triples[4004] = HUNDRED("0") HUNDRED("1") HUNDRED("2") HUNDRED("3") HUNDRED("4") HUNDRED("5")
    HUNDRED("6") HUNDRED("7") HUNDRED("8") HUNDRED("9");

#undef HUNDRED
#undef TEN

/* Most numbers that are written by people and counters have a few decimals. A double that is a whole number of less
 * than 16 digits divided by a power of ten, both of which doubles hold, is the one nearest to that decimal number; and
 * "%.15g" finds it, because no two numbers of 15 digits are so near to one double. Returns NULL for all others. */
static char *few_decimals(char *p, double value)
{
	enum { DECIMALS = 6, DIGITS = 15 };
	double size = fabs(value);
	if (size < 1e-4 || size >= 1e15) /* where "%g" takes to exponents; zero may have a sign */
		return NULL;
	for (unsigned i = 0; i <= DECIMALS; i++) {
		double scale = (double)tw_powers_of_ten[i];
		uint64_t whole = (uint64_t)(size * scale + 0.5);
		if (whole >= tw_powers_of_ten[DIGITS])
			return NULL;
		if ((double)whole / scale != size)
			continue;
		*p = '-';
		p += value < 0;
		return i ? tw_decimal(p, whole, i) : tw_digits(p, whole);
	}
	return NULL;
}

/* The decimal point of printf() is the locale's, and may be several bytes. */
char *tw_double_digits(char *p, double value)
{
	char text[64];
	bool point = false;
	char *end = few_decimals(p, value);
	if (end)
		return end;
	snprintf(text, sizeof text, "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof text, "%.17g", value);
	for (const char *from = text; *from; from++)
		if (strchr("+-0123456789e", *from)) {
			*p++ = *from;
		} else if (!point) {
			*p++ = '.';
			point = true;
		}
	return p;
}

static locale_t c_locale;

static void make_locale(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool tw_loose_number(const void *text, size_t size, double *number)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static const char starts[] = "+-.0123456789";
	enum { LONGEST = 63 };
	char copy[LONGEST + 1], *end;
	if (size == 0 || size > LONGEST || !memchr(starts, ((const char *)text)[0], sizeof starts - 1) ||
	    memchr(text, 'x', size) || memchr(text, 'X', size))
		return false;
	pthread_once(&once, make_locale);
	memcpy(copy, text, size);
	copy[size] = '\0';
	*number = c_locale ? strtod_l(copy, &end, c_locale) : strtod(copy, &end);
	return end == copy + size && isfinite(*number);
}

void tw_group_digits(char *p, const char *digits)
{
	if (*digits == '-')
		*p++ = *digits++;
	for (size_t left = strspn(digits, "0123456789"); left; left--) {
		*p++ = *digits++;
		if (left % 3 == 1 && left > 1)
			*p++ = ',';
	}
	memmove(p, digits, strlen(digits) + 1);
}
