/* demangle.c - C++, Rust and D names from symbols, with a bound on what a hostile symbol can cost. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/demangle.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* libstdc++; source: the Itanium C++ ABI, "Demangler API". */
char *__cxa_demangle(const char *symbol, char *output, size_t *length, int *status);

/* A symbol can refer back to parts of itself ("S_", "T_"), so what it stands for may be exponentially longer: 250
 * bytes can give 4 MB, 500 bytes more than any memory. An upper bound is computed first. Of 74,095 symbols of LLVM,
 * clang and libstdc++ 3 are above this one; they are shown mangled. */
enum { MAX_SYMBOL = 4096, MAX_EXPANSION = 1 << 24, MAX_REFERENCES = 64, LETTER_EXPANSION = 16 };

struct estimate {
	size_t length;                    /* of the symbol: no pack has more elements */
	size_t total;                     /* bytes that what was read so far can expand to */
	size_t parts[MAX_REFERENCES];     /* by substitution: a bound on its expansion */
	size_t known;                     /* parts below this have one */
	size_t arguments[MAX_REFERENCES]; /* by template parameter; 0: not seen yet */
};

static void add(struct estimate *estimate, size_t bytes)
{
	estimate->total = bytes > MAX_EXPANSION - estimate->total ? MAX_EXPANSION : estimate->total + bytes;
}

/* Reads the <seq-id> "_", "0_", "1Z_" after S or T. Returns its length, 0 when it is none. */
static size_t read_reference(const char *p, size_t *number)
{
	size_t length = 0, value = 0;
	for (; isdigit((unsigned char)p[length]) || isupper((unsigned char)p[length]); length++) {
		size_t digit = (size_t)(isdigit((unsigned char)p[length]) ? p[length] - '0' : p[length] - 'A' + 10);
		value = value < MAX_REFERENCES ? value * 36 + digit : value;
	}
	*number = length ? value + 1 : 0;
	return p[length] == '_' ? length + 1 : 0;
}

/* Bounds the length of the parts up to a number. A part is complete when it is referred to for the first time, so that
 * it is no longer than all that has been read. */
static void add_part(struct estimate *estimate, size_t number)
{
	size_t bound = estimate->total;
	if (number < MAX_REFERENCES) {
		for (; estimate->known <= number; estimate->known++)
			estimate->parts[estimate->known] = bound;
		bound = estimate->parts[number];
	}
	add(estimate, bound);
}

static void add_argument(struct estimate *estimate, size_t number)
{
	size_t bound = estimate->total;
	if (number < MAX_REFERENCES) {
		if (!estimate->arguments[number])
			estimate->arguments[number] = bound;
		bound = estimate->arguments[number];
	}
	add(estimate, bound);
}

static size_t add_digits(struct estimate *estimate, const char *p, size_t left)
{
	size_t digits = 0, length = 0;
	for (; isdigit((unsigned char)p[digits]); digits++)
		length = length < left ? length * 10 + (size_t)(p[digits] - '0') : length;
	/* Not the length of a name: the value of a literal. */
	if (length > left - digits)
		length = 0;
	add(estimate, digits + length);
	return digits + length;
}

static void add_times(struct estimate *estimate, size_t bytes, size_t times)
{
	add(estimate, times && bytes > MAX_EXPANSION / times ? MAX_EXPANSION : bytes * times);
}

/* Takes "Dp" and, where it is a reference, the pattern that is repeated for each of a pack's elements. Of a parameter
 * that is the pack itself the elements together are no longer than it; what stands around each is. */
static size_t add_expansion(struct estimate *estimate, const char *p)
{
	size_t before = estimate->total, number, taken = 2 + strspn(p + 2, "RO");
	size_t reference = p[taken] == 'S' || p[taken] == 'T' ? read_reference(p + taken + 1, &number) : 0;
	if (!reference) {
		add_times(estimate, estimate->total, estimate->length);
		add(estimate, LETTER_EXPANSION);
		return 2;
	}
	(p[taken] == 'S' ? add_part : add_argument)(estimate, number);
	if (p[taken] == 'S')
		add_times(estimate, estimate->total - before, estimate->length);
	add_times(estimate, taken * LETTER_EXPANSION, estimate->length);
	return taken + 1 + reference;
}

/* Takes one token at p. Returns how many bytes it has. */
static size_t add_token(struct estimate *estimate, const char *p, size_t left)
{
	if (isdigit((unsigned char)*p))
		return add_digits(estimate, p, left);
	if (p[0] == 'D' && p[1] == 'p')
		return add_expansion(estimate, p);
	size_t number;
	size_t reference = *p == 'S' || *p == 'T' ? read_reference(p + 1, &number) : 0;
	if (reference && *p == 'S')
		add_part(estimate, number);
	if (reference && *p == 'T')
		add_argument(estimate, number);
	if (reference)
		return reference + 1;
	/* An encoding inside has template parameters of its own. */
	if (*p == 'Z')
		memset(estimate->arguments, 0, sizeof estimate->arguments);
	add(estimate, LETTER_EXPANSION);
	return 1;
}

static bool is_bounded(const char *symbol, size_t length)
{
	struct estimate estimate = {.length = length};
	for (size_t i = 0; i < length && estimate.total < MAX_EXPANSION;)
		i += add_token(&estimate, symbol + i, length - i);
	return estimate.total < MAX_EXPANSION;
}

/* ---- What the demangler does not come back from. ---- */

/* The names behind "sr" are read in a loop (libstdc++ 12, "d_prefix") that stays for ever at a constructor, destructor
 * or unnamed type that it cannot read. It gets there, too, when something before could not be read. So what compilers
 * write behind "sr", nearly always, is taken apart here; of all else nothing must follow at which the loop could
 * stay. */

enum { MAX_DEPTH = 32 };

static const char *pass_arguments(const char *p, unsigned depth);

/* These return what is behind, NULL where it is something else. */
static const char *pass_name(const char *p, unsigned depth)
{
	size_t length = 0;
	for (; isdigit((unsigned char)*p) && length <= MAX_SYMBOL; p++)
		length = length * 10 + (size_t)(*p - '0');
	if (!length || strnlen(p, length) < length)
		return NULL;
	return pass_arguments(p + length, depth);
}

static const char *pass_names(const char *p, unsigned depth)
{
	do
		p = pass_name(p, depth);
	while (p && *p != 'E');
	return p;
}

static const char *pass_nested(const char *p, unsigned depth)
{
	p += strspn(p, "VK");
	p = pass_names(strncmp(p, "St", 2) == 0 ? p + 2 : p, depth);
	return p ? p + 1 : NULL;
}

static const char *pass_literal(const char *p)
{
	p += *p && strchr("abcdhijlmnstwxy", *p) ? 1 : 0;
	p += *p == 'n';
	size_t digits = strspn(p, "0123456789");
	return digits && p[digits] == 'E' ? p + digits + 1 : NULL;
}

static const char *pass_parameter(const char *p, unsigned depth)
{
	p += strspn(p, "0123456789");
	return *p == '_' ? pass_arguments(p + 1, depth) : NULL;
}

static const char *pass_type(const char *p, unsigned depth)
{
	p += strspn(p, "PROKV");
	if (*p && strchr("vwbcahstijlmxynofdegz", *p))
		return p + 1;
	if (*p == 'T')
		return pass_parameter(p + 1, depth);
	if (*p == 'N')
		return pass_nested(p + 1, depth);
	if (*p == 'L')
		return pass_literal(p + 1);
	return pass_name(strncmp(p, "St", 2) == 0 ? p + 2 : p, depth);
}

/* Where there are some. */
static const char *pass_arguments(const char *p, unsigned depth)
{
	if (*p != 'I')
		return p;
	if (depth == MAX_DEPTH)
		return NULL;
	for (p++; p && *p != 'E';)
		p = pass_type(p, depth + 1);
	return p ? p + 1 : NULL;
}

static bool may_stay(const char *p)
{
	static const char *const readable[] = {"C12345I", "D01245Tt", "Ult"};
	for (; *p; p++)
		for (size_t i = 0; i < sizeof readable / sizeof *readable; i++)
			if (*p == *readable[i] && (!p[1] || !strchr(readable[i] + 1, p[1])))
				return true;
	return false;
}

static bool comes_back(const char *symbol)
{
	for (const char *p = symbol; (p = strstr(p, "sr")); p += 2)
		if (p[2] && !strchr("DNST", p[2]) && !pass_names(p + 2, 0) && may_stay(p + 2))
			return false;
	return true;
}

static char *demangle(const char *symbol, size_t length)
{
	int status;
	if (symbol[1] == 'R')
		return tw_demangle_rust(symbol);
	if (symbol[1] == 'D')
		return tw_demangle_d(symbol);
	return is_bounded(symbol, length) && comes_back(symbol) ? __cxa_demangle(symbol, NULL, NULL, &status) : NULL;
}

char *tw_demangle(const char *symbol, size_t *budget)
{
	if (symbol[0] != '_' || !symbol[1] || !strchr("ZRD", symbol[1]))
		return NULL;
	size_t length = strnlen(symbol, MAX_SYMBOL + 1);
	if (length > MAX_SYMBOL || *budget == 0)
		return NULL;
	char *name = demangle(symbol, length);
	size_t spent = name ? strlen(name) : 0;
	*budget -= spent < *budget ? spent : *budget;
	if (spent)
		return name;
	free(name); /* an empty one: a crate may have it */
	return NULL;
}
