/* demangle_rust.c - Rust names from symbols. Source: Rust RFC 2603, "Symbol name mangling v0". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/demangle.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 14 /* bytes of a name */, DEPTH_MOST = 200, STEPS_MOST = 1 << 16 };

struct rust {
	const char *text; /* behind "_R" */
	size_t at;
	char *out; /* MOST + 1 bytes */
	size_t used;
	unsigned depth, steps, silent; /* silent: what is read is not written */
	uint64_t lifetimes;            /* that binders around this place have named */
	bool failed;
};

static void put(struct rust *r, const char *text, size_t size)
{
	if (r->silent || r->failed)
		return;
	r->failed = size > MOST - r->used;
	if (r->failed)
		return;
	memcpy(r->out + r->used, text, size);
	r->used += size;
}

static void say(struct rust *r, const char *text)
{
	put(r, text, strlen(text));
}

static void say_number(struct rust *r, uint64_t number)
{
	char digits[24], *at = digits + sizeof digits;
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	put(r, at, (size_t)(digits + sizeof digits - at));
}

static char peek(const struct rust *r)
{
	if (r->failed)
		return '\0';
	return r->text[r->at];
}

static bool take(struct rust *r, char c)
{
	const bool is = peek(r) == c;
	r->at += is;
	return is;
}

static char next(struct rust *r)
{
	const char c = peek(r);
	r->failed |= c == '\0';
	r->at += c != '\0';
	return c;
}

/* One level deeper: false where there is no end to it. */
static bool enter(struct rust *r)
{
	r->failed |= ++r->depth > DEPTH_MOST || ++r->steps > STEPS_MOST;
	return !r->failed;
}

/* "_" is 0, "0_" 1, "Z_" 62. */
static uint64_t base_62(struct rust *r)
{
	uint64_t number = 0;
	if (take(r, '_'))
		return 0;
	for (char c; (c = next(r)) != '_' && !r->failed;) {
		const int digit = c >= '0' && c <= '9'   ? c - '0'
		                  : c >= 'a' && c <= 'z' ? c - 'a' + 10
		                  : c >= 'A' && c <= 'Z' ? c - 'A' + 36
		                                         : -1;
		r->failed |= digit < 0 || number > (UINT64_MAX - 61) / 62;
		number = number * 62 + (uint64_t)digit;
	}
	return number + 1;
}

static uint64_t disambiguator(struct rust *r)
{
	return take(r, 's') ? base_62(r) + 1 : 0;
}

struct word {
	const char *text;
	size_t size;
};

/* Reads an identifier. One in Punycode stays as it is. */
static struct word identifier(struct rust *r)
{
	size_t size = 0;
	if (peek(r) == 'u' || peek(r) < '0' || peek(r) > '9')
		r->failed = true;
	if (!take(r, '0')) /* no number begins so but 0 */
		while (peek(r) >= '0' && peek(r) <= '9' && size <= MOST)
			size = size * 10 + (size_t)(next(r) - '0');
	take(r, '_');
	r->failed |= size > MOST || (!r->failed && strnlen(r->text + r->at, size) < size);
	if (r->failed)
		return (struct word){"", 0};
	r->at += size;
	return (struct word){r->text + r->at - size, size};
}

static void path(struct rust *r, bool in_value);
static void type(struct rust *r);
static void constant(struct rust *r);

/* "B": what stands further in front, once more. */
static void refer(struct rust *r, void (*read)(struct rust *r))
{
	const size_t from = r->at - 1;
	const uint64_t place = base_62(r);
	const size_t behind = r->at;
	r->failed |= place >= from;
	if (r->failed || r->silent)
		return;
	r->at = (size_t)place;
	read(r);
	r->at = behind;
}

static void value_path(struct rust *r)
{
	path(r, true);
}

static void type_path(struct rust *r)
{
	path(r, false);
}

static void lifetime(struct rust *r, uint64_t number)
{
	const uint64_t letter = r->lifetimes - number;
	r->failed |= number > r->lifetimes;
	if (number == 0)
		say(r, "'_");
	else if (letter < 26)
		put(r, (const char[]){'\'', (char)('a' + letter)}, 2);
	else
		r->failed = true;
}

static void argument(struct rust *r)
{
	if (take(r, 'L'))
		lifetime(r, base_62(r));
	else if (take(r, 'K'))
		constant(r);
	else
		type(r);
}

/* To the "E" behind them. Returns how many there were. */
static size_t list(struct rust *r, void (*read)(struct rust *r))
{
	size_t count = 0;
	for (; !take(r, 'E') && !r->failed; count++) {
		say(r, count ? ", " : "");
		read(r);
	}
	return count;
}

static void impl_path(struct rust *r)
{
	disambiguator(r);
	r->silent++;
	path(r, false);
	r->silent--;
}

/* "<TYPE as TRAIT>": the type of an implementation, and its trait. */
static void implementation(struct rust *r, char kind)
{
	if (kind != 'Y')
		impl_path(r);
	say(r, "<");
	type(r);
	if (kind != 'M') {
		say(r, " as ");
		path(r, false);
	}
	say(r, ">");
}

static void nested(struct rust *r, bool in_value)
{
	const char space = next(r);
	path(r, in_value);
	const uint64_t number = disambiguator(r);
	const struct word name = identifier(r);
	if (space >= 'a' && space <= 'z') {
		say(r, name.size ? "::" : "");
		put(r, name.text, name.size);
		return;
	}
	r->failed |= space < 'A' || space > 'Z';
	say(r, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
	if (space != 'C' && space != 'S')
		put(r, &space, 1);
	say(r, name.size ? ":" : "");
	put(r, name.text, name.size);
	say(r, "#");
	say_number(r, number);
	say(r, "}");
}

static void path(struct rust *r, bool in_value)
{
	if (!enter(r))
		return;
	const char kind = next(r);
	if (kind == 'C') {
		disambiguator(r);
		const struct word name = identifier(r);
		put(r, name.text, name.size);
	} else if (kind == 'M' || kind == 'X' || kind == 'Y') {
		implementation(r, kind);
	} else if (kind == 'N') {
		nested(r, in_value);
	} else if (kind == 'I') {
		path(r, in_value);
		say(r, in_value ? "::<" : "<");
		list(r, argument);
		say(r, ">");
	} else if (kind == 'B') {
		refer(r, in_value ? value_path : type_path);
	} else {
		r->failed = true;
	}
	r->depth--;
}

/* ---- Types. ---- */

static const char *const basic[26] = {
    ['a' - 'a'] = "i8",  ['b' - 'a'] = "bool", ['c' - 'a'] = "char",  ['d' - 'a'] = "f64",   ['e' - 'a'] = "str",
    ['f' - 'a'] = "f32", ['h' - 'a'] = "u8",   ['i' - 'a'] = "isize", ['j' - 'a'] = "usize", ['l' - 'a'] = "i32",
    ['m' - 'a'] = "u32", ['n' - 'a'] = "i128", ['o' - 'a'] = "u128",  ['p' - 'a'] = "_",     ['s' - 'a'] = "i16",
    ['t' - 'a'] = "u16", ['u' - 'a'] = "()",   ['v' - 'a'] = "...",   ['x' - 'a'] = "i64",   ['y' - 'a'] = "u64",
    ['z' - 'a'] = "!",
};

/* "G": lifetimes that what follows has names for. Returns how many. */
static uint64_t binder(struct rust *r)
{
	const uint64_t count = take(r, 'G') ? base_62(r) + 1 : 0;
	r->failed |= count > 26;
	for (uint64_t i = 0; i < count && !r->failed; i++) {
		say(r, i ? ", " : "for<");
		r->lifetimes++;
		lifetime(r, 1);
	}
	say(r, count ? "> " : "");
	return r->failed ? 0 : count;
}

static void abi(struct rust *r)
{
	say(r, "extern \"");
	if (take(r, 'C')) {
		say(r, "C");
	} else {
		const struct word name = identifier(r);
		for (size_t i = 0; i < name.size; i++)
			put(r, name.text[i] == '_' ? "-" : name.text + i, 1);
	}
	say(r, "\" ");
}

static void function(struct rust *r)
{
	const uint64_t bound = binder(r);
	say(r, take(r, 'U') ? "unsafe " : "");
	if (take(r, 'K'))
		abi(r);
	say(r, "fn(");
	list(r, type);
	say(r, ")");
	if (!take(r, 'u')) {
		say(r, " -> ");
		type(r);
	}
	r->lifetimes -= bound;
}

/* A path whose list of arguments stays open for the types that a trait has. Returns whether there is one. */
static bool open_path(struct rust *r)
{
	if (!take(r, 'I')) {
		path(r, false);
		return false;
	}
	path(r, false);
	say(r, "<");
	list(r, argument);
	return true;
}

static void trait(struct rust *r)
{
	bool open = open_path(r);
	while (take(r, 'p')) {
		say(r, open ? ", " : "<");
		open = true;
		const struct word name = identifier(r);
		put(r, name.text, name.size);
		say(r, " = ");
		type(r);
	}
	say(r, open ? ">" : "");
}

static void dynamic(struct rust *r)
{
	say(r, "dyn ");
	const uint64_t bound = binder(r);
	for (size_t count = 0; !take(r, 'E') && !r->failed; count++) {
		say(r, count ? " + " : "");
		trait(r);
	}
	r->lifetimes -= bound;
	r->failed |= !take(r, 'L');
	const uint64_t number = base_62(r);
	if (number) {
		say(r, " + ");
		lifetime(r, number);
	}
}

static void reference(struct rust *r, bool mutable)
{
	say(r, "&");
	const uint64_t number = take(r, 'L') ? base_62(r) : 0;
	if (number) {
		lifetime(r, number);
		say(r, " ");
	}
	say(r, mutable ? "mut " : "");
	type(r);
}

static void array(struct rust *r, bool counted)
{
	say(r, "[");
	type(r);
	if (counted) {
		say(r, "; ");
		constant(r);
	}
	say(r, "]");
}

static void type(struct rust *r)
{
	const char kind = peek(r);
	if (!enter(r))
		return;
	if (kind >= 'a' && kind <= 'z' && basic[kind - 'a']) {
		next(r);
		say(r, basic[kind - 'a']);
	} else if (strchr("ASTRQPOFDB", kind) && kind) {
		next(r);
		if (kind == 'A' || kind == 'S') {
			array(r, kind == 'A');
		} else if (kind == 'T') {
			say(r, "(");
			say(r, list(r, type) == 1 ? ",)" : ")");
		} else if (kind == 'R' || kind == 'Q') {
			reference(r, kind == 'Q');
		} else if (kind == 'P' || kind == 'O') {
			say(r, kind == 'P' ? "*const " : "*mut ");
			type(r);
		} else if (kind == 'F') {
			function(r);
		} else if (kind == 'D') {
			dynamic(r);
		} else {
			refer(r, type);
		}
	} else {
		path(r, false);
	}
	r->depth--;
}

/* ---- Constants. ---- */

/* Hexadecimal digits, to "_". */
static uint64_t hexadecimal(struct rust *r)
{
	uint64_t number = 0;
	for (char c; (c = next(r)) != '_' && !r->failed;) {
		r->failed |= !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) || number >> 60;
		number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return number;
}

static void character(struct rust *r, uint64_t number)
{
	const char c = (char)number;
	r->failed |= number < ' ' || number > '~' || c == '\'' || c == '\\';
	put(r, (const char[]){'\'', c, '\''}, 3);
}

static void constant(struct rust *r)
{
	if (!enter(r))
		return;
	const char kind = next(r);
	if (kind == 'B') {
		refer(r, constant);
	} else if (kind == 'p') {
		say(r, "_");
	} else if (kind == 'b') {
		say(r, hexadecimal(r) ? "true" : "false");
	} else if (kind == 'c') {
		character(r, hexadecimal(r));
	} else if (kind && strchr("ahijlmnostxy", kind)) {
		say(r, take(r, 'n') ? "-" : "");
		say_number(r, hexadecimal(r));
	} else {
		r->failed = true;
	}
	r->depth--;
}

/* ---- The symbol. ---- */

char *tw_demangle_rust(const char *symbol)
{
	struct rust r = {.text = symbol + 2, .out = malloc(MOST + 1)};
	if (!r.out)
		return NULL;
	path(&r, true);
	if (!r.failed && peek(&r) && peek(&r) != '.') { /* the crate that needed it */
		r.silent++;
		path(&r, false);
	}
	if (r.failed || (peek(&r) && peek(&r) != '.')) {
		free(r.out);
		return NULL;
	}
	r.out[r.used] = '\0';
	return r.out;
}
