/* demangle_d.c - names of D. Source: D's specification, "Application Binary Interface", "Name Mangling", whose names of
 * rules the functions have. Parameters and results of functions are left out, but for those in template arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/demangle.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* References go back, and may do so again: what a name costs is bounded, and what it may become. */
enum { MAX_DEPTH = 64, MAX_STEPS = 1 << 14, MAX_NAME = 1 << 13 };

struct demangler {
	const char *begin, *at, *end;
	char *name; /* MAX_NAME + 1 bytes */
	size_t used;
	unsigned depth, steps, silent; /* silent: nothing is written */
	bool failed;
};

static bool fail(struct demangler *p)
{
	p->failed = true;
	return false;
}

static char peek(const struct demangler *p)
{
	if (p->at == p->end || p->failed)
		return '\0';
	return *p->at;
}

static bool take(struct demangler *p, const char *text)
{
	const size_t size = strlen(text);
	if (p->failed || (size_t)(p->end - p->at) < size || memcmp(p->at, text, size) != 0)
		return false;
	p->at += size;
	return true;
}

static void put_bytes(struct demangler *p, const char *text, size_t size)
{
	if (p->silent || p->failed)
		return;
	if (size > MAX_NAME - p->used) {
		fail(p);
		return;
	}
	memcpy(p->name + p->used, text, size);
	p->used += size;
}

static void put(struct demangler *p, const char *text)
{
	put_bytes(p, text, strlen(text));
}

static bool enter(struct demangler *p)
{
	if (p->depth == MAX_DEPTH || p->steps == MAX_STEPS)
		return fail(p);
	p->depth++;
	p->steps++;
	return !p->failed;
}

static bool number(struct demangler *p, size_t *value)
{
	const char *from = p->at;
	*value = 0;
	for (; isdigit((unsigned char)peek(p)) && *value < SIZE_MAX / 16; p->at++)
		*value = *value * 10 + (size_t)(*p->at - '0');
	return p->at > from ? true : fail(p);
}

/* Takes "Q" and how far it leads back: digits of base 26, the last one in lower case. */
static bool back_reference(struct demangler *p, const char **to)
{
	const char *from = p->at++;
	size_t distance = 0;
	while (isupper((unsigned char)peek(p)) && distance < MAX_NAME)
		distance = distance * 26 + (size_t)(*p->at++ - 'A');
	if (!islower((unsigned char)peek(p)))
		return fail(p);
	distance = distance * 26 + (size_t)(*p->at++ - 'a');
	if (!distance || distance > (size_t)(from - p->begin))
		return fail(p);
	*to = from - distance;
	return true;
}

static bool type(struct demangler *p);
static bool qualified_name(struct demangler *p, bool *function);
static bool symbol_name(struct demangler *p);

/* ---- Functions. ---- */

static const char *convention(struct demangler *p)
{
	static const char *const all[] = {"F", "U", "W", "R", "Y", "V"};
	static const char *const names[] = {
	    "", "extern(C) ", "extern(Windows) ", "extern(C++) ", "extern(Objective-C) ", "extern(Pascal) "};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (take(p, all[i]))
			return names[i];
	return NULL;
}

static void parameters(struct demangler *p)
{
	for (bool first = true; !p->failed && peek(p) && !strchr("XYZ", peek(p)); first = false) {
		static const char *const storage[][2] = {{"M", "scope "}, {"Nk", "return "}, {"I", "in "},
		                                         {"J", "out "},   {"K", "ref "},     {"L", "lazy "}};
		put(p, first ? "" : ", ");
		for (size_t i = 0; i < sizeof storage / sizeof *storage; i++)
			if (take(p, storage[i][0]))
				put(p, storage[i][1]);
		type(p);
	}
	if (take(p, "X"))
		put(p, "...");
	else if (take(p, "Y"))
		put(p, ", ...");
	else if (!take(p, "Z"))
		fail(p);
}

/* What a function is beside its type, and a delegate's object; it stands behind the parameters. */
struct attributes {
	const char *words[16];
	size_t count;
};

static void attributes(struct demangler *p, struct attributes *found)
{
	static const char *const all[][2] = {{"Na", " pure"},      {"Nb", " nothrow"},  {"Nc", " ref"},
	                                     {"Nd", " @property"}, {"Ne", " @trusted"}, {"Nf", " @safe"},
	                                     {"Ni", " @nogc"},     {"Nj", " return"},   {"Nl", " scope"},
	                                     {"Nm", " @live"}};
	for (size_t i = 0; i < sizeof all / sizeof *all;) {
		const bool has = found->count < sizeof found->words / sizeof *found->words && take(p, all[i][0]);
		if (has)
			found->words[found->count++] = all[i][1];
		i = has ? 0 : i + 1;
	}
}

static void put_attributes(struct demangler *p, const struct attributes *found)
{
	for (size_t i = 0; i < found->count; i++)
		put(p, found->words[i]);
}

/* All but the result, which comes last; the text goes behind that. */
static bool function_no_return(struct demangler *p)
{
	if (!enter(p))
		return false;
	struct attributes unused = {0};
	if (!convention(p))
		fail(p);
	attributes(p, &unused);
	put(p, "(");
	parameters(p);
	put(p, ")");
	p->depth--;
	return !p->failed;
}

/* Moves the last bytes of the name, from `middle` on, to where others begin. */
static void bring_forward(struct demangler *p, size_t begin, size_t middle)
{
	const size_t size = p->used - middle;
	char *moved = p->silent || p->failed ? NULL : malloc(size + 1);
	if (!moved)
		return;
	memcpy(moved, p->name + middle, size);
	memmove(p->name + begin + size, p->name + begin, middle - begin);
	memcpy(p->name + begin, moved, size);
	free(moved);
}

static void function(struct demangler *p, const char *word, struct attributes *found)
{
	const size_t begin = p->used;
	const char *how = convention(p);
	if (!how) {
		fail(p);
		return;
	}
	attributes(p, found);
	put(p, word);
	put(p, "(");
	parameters(p);
	put(p, ")");
	put_attributes(p, found);
	const size_t middle = p->used;
	put(p, how);
	type(p);
	bring_forward(p, begin, middle);
}

/* ---- Types. ---- */

static void wrapped(struct demangler *p, const char *before)
{
	put(p, before);
	type(p);
	put(p, ")");
}

static void static_array(struct demangler *p)
{
	char text[24];
	size_t length;
	if (!number(p, &length))
		return;
	snprintf(text, sizeof text, "[%zu]", length);
	type(p);
	put(p, text);
}

static void associative_array(struct demangler *p)
{
	const size_t begin = p->used;
	put(p, "[");
	type(p);
	put(p, "]");
	const size_t middle = p->used;
	type(p);
	bring_forward(p, begin, middle);
}

static void tuple(struct demangler *p)
{
	put(p, "tuple(");
	for (bool first = true; !p->failed && !take(p, "Z"); first = false) {
		put(p, first ? "" : ", ");
		type(p);
	}
	put(p, ")");
}

static void delegate(struct demangler *p)
{
	static const char *const modifiers[][2] = {{"x", " const"},
	                                           {"y", " immutable"},
	                                           {"O", " shared"},
	                                           {"Ng", " inout"}};
	struct attributes found = {0};
	for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
		if (take(p, modifiers[i][0]))
			found.words[found.count++] = modifiers[i][1];
	function(p, " delegate", &found);
}

static bool basic_type(struct demangler *p)
{
	static const char letters[] = "nvghstiklmfdeopjqrcbauw";
	static const char *const names[] = {"typeof(null)", "void",   "byte",    "ubyte", "short",  "ushort",
	                                    "int",          "uint",   "long",    "ulong", "float",  "double",
	                                    "real",         "ifloat", "idouble", "ireal", "cfloat", "cdouble",
	                                    "creal",        "bool",   "char",    "wchar", "dchar"};
	const char *letter = peek(p) ? strchr(letters, peek(p)) : NULL;
	if (letter) {
		p->at++;
		put(p, names[letter - letters]);
	} else if (take(p, "zi") || take(p, "zk")) {
		put(p, p->at[-1] == 'i' ? "cent" : "ucent");
	} else if (take(p, "Nn")) {
		put(p, "noreturn");
	}
	return letter || (p->at > p->begin + 1 && (p->at[-2] == 'z' || p->at[-2] == 'N'));
}

static void type_reference(struct demangler *p)
{
	const char *to, *behind;
	if (!back_reference(p, &to))
		return;
	behind = p->at;
	p->at = to;
	if (isdigit((unsigned char)*to))
		fail(p);
	type(p);
	p->at = behind;
}

static void type_of_letter(struct demangler *p, char letter)
{
	bool is_function;
	struct attributes found = {0};
	p->at++;
	switch (letter) {
	case 'x':
		wrapped(p, "const(");
		break;
	case 'y':
		wrapped(p, "immutable(");
		break;
	case 'O':
		wrapped(p, "shared(");
		break;
	case 'A':
		type(p);
		put(p, "[]");
		break;
	case 'G':
		static_array(p);
		break;
	case 'H':
		associative_array(p);
		break;
	case 'P':
		if (strchr("FUWRYV", peek(p)) && peek(p)) {
			function(p, " function", &found);
			break;
		}
		type(p);
		put(p, "*");
		break;
	case 'D':
		delegate(p);
		break;
	case 'B':
		tuple(p);
		break;
	case 'I':
	case 'C':
	case 'S':
	case 'E':
	case 'T':
		qualified_name(p, &is_function);
		break;
	default:
		p->at--;
		if (strchr("FUWRYV", letter))
			function(p, "", &found);
		else
			fail(p);
	}
}

static bool type(struct demangler *p)
{
	if (!enter(p))
		return false;
	const char letter = peek(p);
	if (!letter)
		fail(p);
	else if (letter == 'Q')
		type_reference(p);
	else if (take(p, "Ng"))
		wrapped(p, "inout(");
	else if (take(p, "Nh"))
		wrapped(p, "__vector(");
	else if (!(letter == 'z' || letter == 'N' || strchr("nvghstiklmfdeopjqrcbauw", letter)))
		type_of_letter(p, letter);
	else if (!basic_type(p))
		fail(p);
	p->depth--;
	return !p->failed;
}

/* ---- Values of template arguments. ---- */

static void value(struct demangler *p, char of);

static void integer(struct demangler *p, char of, bool negative)
{
	static const char *const suffixes[][2] = {{"htk", "u"}, {"l", "L"}, {"m", "uL"}};
	const char *from = p->at;
	size_t number_of;
	if (!number(p, &number_of))
		return;
	if (of == 'b') {
		put(p, number_of ? "true" : "false");
		return;
	}
	if (of && strchr("auw", of)) {
		char shown[16];
		const bool plain = number_of >= ' ' && number_of < 0x7f;
		snprintf(shown, sizeof shown, plain ? "'%c'" : "'\\U%08x'", (unsigned)number_of);
		put(p, shown);
		return;
	}
	put(p, negative ? "-" : "");
	put_bytes(p, from, (size_t)(p->at - from));
	for (size_t i = 0; of && i < sizeof suffixes / sizeof *suffixes; i++)
		if (strchr(suffixes[i][0], of))
			put(p, suffixes[i][1]);
}

static int hex_of(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes that are no letters are shown as in D's source: \x0a. */
static void text(struct demangler *p, char width)
{
	size_t length;
	if (!number(p, &length) || !take(p, "_") || length > (size_t)(p->end - p->at) / 2) {
		fail(p);
		return;
	}
	put(p, "\"");
	for (size_t i = 0; i < length; i++, p->at += 2) {
		const int high = hex_of(p->at[0]), low = hex_of(p->at[1]);
		char shown[5];
		if (high < 0 || low < 0) {
			fail(p);
			return;
		}
		const int byte = high << 4 | low;
		snprintf(shown, sizeof shown, byte < ' ' || byte == 0x7f || byte == '"' ? "\\x%02x" : "%c", byte);
		put(p, shown);
	}
	put(p, width == 'a' ? "\"" : width == 'w' ? "\"w" : "\"d");
}

static void real(struct demangler *p)
{
	static const char *const words[] = {"NAN", "INF", "NINF"};
	static const char *const names[] = {"NaN", "Inf", "-Inf"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (take(p, words[i])) {
			put(p, names[i]);
			return;
		}
	put(p, take(p, "N") ? "-0x" : "0x");
	const char *from = p->at;
	while (isdigit((unsigned char)peek(p)) || (peek(p) >= 'A' && peek(p) <= 'F'))
		p->at++;
	if (p->at == from) {
		fail(p);
		return;
	}
	put_bytes(p, from, 1);
	put(p, ".");
	put_bytes(p, from + 1, (size_t)(p->at - from) - 1);
	if (!take(p, "P")) {
		fail(p);
		return;
	}
	put(p, take(p, "N") ? "p-" : "p");
	integer(p, '\0', false);
}

static void values(struct demangler *p, const char *begin, const char *end, bool pairs)
{
	size_t count;
	if (!number(p, &count))
		return;
	put(p, begin);
	for (size_t i = 0; i < count && !p->failed; i++) {
		put(p, i ? ", " : "");
		value(p, '\0');
		if (pairs) {
			put(p, ":");
			value(p, '\0');
		}
	}
	put(p, end);
}

/* The name of a function or variable, behind "_D". */
static void mangled_name(struct demangler *p)
{
	bool is_function;
	qualified_name(p, &is_function);
	p->silent++;
	type(p);
	p->silent--;
}

static void value(struct demangler *p, char of)
{
	const char letter = peek(p);
	if (!enter(p))
		return;
	p->at += letter && !isdigit((unsigned char)letter);
	if (letter == 'n')
		put(p, "null");
	else if (letter == 'i' || letter == 'N' || isdigit((unsigned char)letter))
		integer(p, of, letter == 'N');
	else if (letter == 'e')
		real(p);
	else if (letter == 'c') {
		real(p);
		put(p, take(p, "c") ? "+" : "");
		real(p);
		put(p, "i");
	} else if (letter == 'a' || letter == 'w' || letter == 'd')
		text(p, letter);
	else if (letter == 'A')
		values(p, "[", "]", of == 'H');
	else if (letter == 'S')
		values(p, "(", ")", false);
	else if (letter == 'f' && take(p, "_D"))
		mangled_name(p);
	else
		fail(p);
	p->depth--;
}

/* ---- Names. ---- */

static void template_argument(struct demangler *p)
{
	size_t length;
	bool is_function;
	take(p, "H"); /* a specialised parameter */
	if (take(p, "T")) {
		type(p);
	} else if (take(p, "S")) {
		qualified_name(p, &is_function);
	} else if (take(p, "V")) {
		const char of = peek(p), *from = p->at;
		p->silent++;
		type(p);
		p->silent--;
		if (peek(p) == 'S') { /* a struct, whose name stands before its members */
			p->at = from;
			type(p);
		}
		value(p, of);
	} else if (take(p, "X") && number(p, &length) && length <= (size_t)(p->end - p->at)) {
		put_bytes(p, p->at, length);
		p->at += length;
	} else {
		fail(p);
	}
}

/* Behind "__T". */
static bool template_instance(struct demangler *p)
{
	if (!symbol_name(p))
		return false;
	put(p, "!(");
	for (bool first = true; !p->failed && !take(p, "Z"); first = false) {
		put(p, first ? "" : ", ");
		template_argument(p);
	}
	put(p, ")");
	return !p->failed;
}

static void put_identifier(struct demangler *p, const char *name, size_t size)
{
	static const char *const special[][2] = {{"__ctor", "this"}, {"__dtor", "~this"}, {"__postblit", "this(this)"}};
	for (size_t i = 0; i < sizeof special / sizeof *special; i++)
		if (strlen(special[i][0]) == size && memcmp(special[i][0], name, size) == 0) {
			put(p, special[i][1]);
			return;
		}
	put_bytes(p, name, size);
}

/* An identifier behind its length, which may be that of an instance of a template in older names. */
static bool identifier(struct demangler *p)
{
	size_t size;
	const char *end = p->end;
	if (!number(p, &size) || !size || size > (size_t)(p->end - p->at))
		return fail(p);
	const char *behind = p->at + size;
	p->end = behind;
	if (take(p, "__T") || take(p, "__U")) {
		if (template_instance(p) && p->at != behind)
			fail(p);
	} else {
		put_identifier(p, p->at, size);
	}
	p->at = behind;
	p->end = end;
	return !p->failed;
}

static bool symbol_name(struct demangler *p)
{
	const char *to, *behind;
	if (!enter(p))
		return false;
	if (take(p, "__T") || take(p, "__U")) {
		template_instance(p);
	} else if (peek(p) == 'Q' && back_reference(p, &to)) {
		behind = p->at;
		p->at = to;
		if (!isdigit((unsigned char)*to))
			fail(p);
		identifier(p);
		p->at = behind;
	} else if (!p->failed) {
		identifier(p);
	}
	p->depth--;
	return !p->failed;
}

static bool begins_name(const struct demangler *p)
{
	struct demangler ahead = *p;
	const char *to;
	if (peek(p) != 'Q')
		return isdigit((unsigned char)peek(p)) || take(&ahead, "__T") || take(&ahead, "__U");
	return back_reference(&ahead, &to) && isdigit((unsigned char)*to);
}

/* What a name that others are in has behind it, as a function: its parameters, and modifiers of its object. */
static bool pass_function(struct demangler *p)
{
	struct demangler ahead = *p;
	static const char *const modifiers[] = {"x", "y", "O", "Ng"};
	ahead.silent++;
	if (take(&ahead, "M"))
		for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers;)
			i = take(&ahead, modifiers[i]) ? 0 : i + 1;
	const bool is = peek(&ahead) && strchr("FUWRYV", peek(&ahead)) && function_no_return(&ahead);
	p->steps = ahead.steps;
	if (is)
		p->at = ahead.at;
	return is;
}

/* *function: the last name is that of one. */
static bool qualified_name(struct demangler *p, bool *function)
{
	*function = false;
	if (!enter(p))
		return false;
	for (bool first = true; !p->failed && (first || begins_name(p)); first = false) {
		put(p, first ? "" : ".");
		while (take(p, "0")) /* without a name */
			;
		symbol_name(p);
		const char *behind = p->at;
		*function = pass_function(p);
		/* of a type that a template has as its argument, what follows may be the next argument */
		if (*function && p->depth > 1 && !begins_name(p))
			p->at = behind;
	}
	p->depth--;
	return !p->failed;
}

char *tw_demangle_d(const char *symbol)
{
	struct demangler p = {.begin = symbol, .at = symbol + 2, .end = symbol + strlen(symbol)};
	bool function;
	if (strcmp(symbol, "_Dmain") == 0)
		return strdup("D main");
	p.name = malloc(MAX_NAME + 1);
	if (!p.name)
		return NULL;
	qualified_name(&p, &function);
	p.silent = 1;
	if (!p.failed && function)
		type(&p); /* its result */
	if (p.failed || !function || p.at != p.end || !p.used) {
		free(p.name);
		return NULL;
	}
	p.name[p.used] = '\0';
	return p.name;
}
