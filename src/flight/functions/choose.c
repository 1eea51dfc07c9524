/* choose.c - the names of an object's functions against the patterns that were asked for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/functions/choose.h"

#include "flight/functions/elf.h"
#include "flight/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Patterns behind each other, each with its zero. No memory: none more are taken. */
struct patterns {
	char *text;
	size_t size;
};
static struct patterns only, never;

enum { NAME = 1024 };

/* ---- Taking them. ---- */

/* Names are told as `stat` shows them: what is in parentheses at their end is not compared. */
static size_t without_parameters(const char *pattern, size_t length)
{
	for (size_t i = 1; i < length; i++)
		if (pattern[i] == '(' && pattern[i - 1] != ':' && pattern[i - 1] != ' ')
			return i;
	return length;
}

/* Takes the arguments of templates out of a name, and the type before it that a template returns. Names of operators
 * stay as they are. */
static size_t without_arguments(char *pattern, size_t length)
{
	size_t kept = 0, depth = 0, start = 0;
	if (memmem(pattern, length, "operator", 8) || !memchr(pattern, '<', length))
		return length;
	for (size_t i = 0; i < length; i++) {
		const bool opens = pattern[i] == '<', closes = pattern[i] == '>' && depth;
		depth += opens;
		if (depth == 0)
			pattern[kept++] = pattern[i];
		depth -= closes;
	}
	for (size_t i = 0; i < kept; i++)
		if (pattern[i] == ' ' && !(i >= 10 && memcmp(pattern + i - 10, "(anonymous", 10) == 0))
			start = i + 1;
	memmove(pattern, pattern + start, kept - start);
	return kept - start;
}

static void add_pattern(struct patterns *patterns, const char *line, size_t length)
{
	length = without_parameters(line, length);
	char *text = length ? realloc(patterns->text, patterns->size + length + 1) : NULL;
	if (!text)
		return;
	memcpy(text + patterns->size, line, length);
	length = without_arguments(text + patterns->size, length);
	text[patterns->size + length] = '\0';
	patterns->text = text;
	patterns->size += length + 1;
}

static void add_file(struct patterns *patterns, const char *line, size_t length)
{
	char path[4096], pattern[NAME];
	snprintf(path, sizeof path, "%.*s", (int)length, line);
	FILE *file = fopen(path, "re");
	while (file && fgets(pattern, sizeof pattern, file))
		if (*pattern != '#')
			add_pattern(patterns, pattern, strcspn(pattern, "\r\n"));
	if (file)
		fclose(file);
}

void flight_take_patterns(const char *lines)
{
	while (lines && *lines) {
		const size_t length = strcspn(lines, "\n");
		struct patterns *patterns = *lines == '+' ? &only : &never;
		if (length > 1 && lines[1] == '@')
			add_file(patterns, lines + 2, length - 2);
		else if (length > 1)
			add_pattern(patterns, lines + 1, length - 1);
		/* a list of nothing is one, too */
		if (patterns == &only && !only.text)
			only.text = calloc(1, 1);
		lines += length + (lines[length] == '\n');
	}
}

/* ---- Names of C++, without what templates and functions take: "a::b" of _ZN1a1bIiEEv. ---- */

struct plain_name {
	const char *at;      /* what is left of the symbol */
	char text[NAME + 1]; /* so far */
	size_t size, last;   /* where its last part begins */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void append(struct plain_name *name, const char *text, size_t size)
{
	for (size_t i = 0; i < size && name->size < NAME; i++)
		name->text[name->size++] = text[i];
	name->text[name->size] = '\0';
}

static void begin_part(struct plain_name *name)
{
	if (name->size)
		append(name, "::", 2);
	name->last = name->size;
}

static size_t take_length(struct plain_name *name)
{
	size_t length = 0;
	while (is_digit(*name->at) && length < NAME)
		length = length * 10 + (size_t)(*name->at++ - '0');
	for (size_t i = 0; i < length; i++)
		if (!name->at[i])
			return i;
	return length;
}

static void take_part(struct plain_name *name)
{
	static const char unnamed[] = "_GLOBAL__N_1", shown[] = "(anonymous namespace)";
	const size_t length = take_length(name);
	size_t same = 0;
	while (same < length && same < sizeof unnamed - 1 && name->at[same] == unnamed[same])
		same++;
	begin_part(name);
	if (same == sizeof unnamed - 1)
		append(name, shown, sizeof shown - 1);
	else
		append(name, name->at, length);
	name->at += length;
}

/* Passes the arguments of a template, as far as they can be told apart. */
static void pass_arguments(struct plain_name *name)
{
	unsigned depth = 0;
	do {
		const char c = *name->at;
		if (is_digit(c)) {
			name->at += take_length(name);
			continue;
		}
		if (c == 'L' && name->at[1] != '_') { /* a number: its type, its digits, E */
			while (*name->at && *name->at != 'E')
				name->at++;
		} else if (c == 'S' || c == 'T') { /* one that was before: St, S_, S0_ */
			name->at += 1 + (name->at[1] >= 'a' && name->at[1] <= 'z');
			while (name->at[-1] != '_' && (is_digit(*name->at) || *name->at == '_'))
				name->at++;
			continue;
		}
		depth += c == 'I' || c == 'N' || c == 'X' || c == 'J' || c == 'F';
		depth -= c == 'E';
		name->at += *name->at != '\0';
	} while (depth && *name->at);
}

/* What symbols abbreviate in the namespace std, and itself. */
static bool take_abbreviation(struct plain_name *name)
{
	static const struct {
		char letter;
		char meant[20];
	} all[] = {{'t', "std"},          {'a', "std::allocator"}, {'b', "std::basic_string"}, {'s', "std::string"},
	           {'i', "std::istream"}, {'o', "std::ostream"},   {'d', "std::iostream"}};
	const size_t count = sizeof all / sizeof *all;
	size_t i = 0;
	while (i < count && all[i].letter != name->at[1])
		i++;
	if (i == count)
		return false;
	begin_part(name);
	if (i)
		name->last += sizeof "std::" - 1;
	append(name, all[i].meant, strlen(all[i].meant));
	name->at += 2;
	return true;
}

/* A constructor or destructor has the name of its class. */
static void take_class(struct plain_name *name)
{
	char own[NAME];
	const size_t size = name->size - name->last;
	flight_copy(own, name->text + name->last, size);
	const bool ends = *name->at == 'D';
	begin_part(name);
	append(name, "~", ends);
	append(name, own, size);
	name->at += 2;
}

static bool take_next(struct plain_name *name)
{
	const char c = name->at[0];
	const char next = name->at[c != '\0'];
	if (c == 'L' && is_digit(next))
		name->at++;
	if (is_digit(*name->at))
		take_part(name);
	else if (c == 'S')
		return take_abbreviation(name);
	else if (c == 'I')
		pass_arguments(name);
	else if ((c == 'C' || c == 'D') && is_digit(next) && name->size)
		take_class(name);
	else
		return false;
	return true;
}

/* False: it is a name of another kind, an operator's for one. */
static bool make_plain(const char *symbol, struct plain_name *name)
{
	if (symbol[0] != '_' || symbol[1] != 'Z')
		return false;
	name->at = symbol + 2; /* not all of it: that would call memset() */
	name->size = name->last = 0;
	name->text[0] = '\0';
	const bool nested = *name->at == 'N';
	name->at += nested;
	while (nested && (*name->at == 'K' || *name->at == 'V' || *name->at == 'r'))
		name->at++;
	while (take_next(name) && (nested || *name->at == 'I' || name->last == 0))
		if (!nested && name->size && !(name->size == 3 && name->text[0] == 's'))
			break;
	return name->size && (!nested || *name->at == 'E');
}

/* ---- Comparing. ---- */

static bool matches(const char *pattern, const char *name)
{
	const char *star = NULL, *back = NULL;
	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			back = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool any_matches(const struct patterns *patterns, const char *symbol, const char *plain)
{
	for (const char *at = patterns->text, *end = at + patterns->size; at < end;) {
		if (matches(at, symbol) || (plain && matches(at, plain)))
			return true;
		while (*at++)
			;
	}
	return false;
}

static bool is_named(const struct patterns *patterns, const char *symbol)
{
	struct plain_name name;
	const char *plain = make_plain(symbol, &name) ? name.text : NULL;
	return any_matches(patterns, symbol, plain);
}

/* ---- The functions of an object. ---- */

struct object {
	uint64_t load, start, size;
	uint8_t *chosen;
};

/* A function is named by any of its symbols: constructors have two and more. */
static void choose(const struct flight_elf *elf, const Elf64_Shdr *section, const struct object *object,
                   const struct patterns *patterns)
{
	if (section->sh_link >= elf->count || !flight_elf_has(elf, section->sh_offset, section->sh_size))
		return;
	const Elf64_Shdr *texts = &elf->sections[section->sh_link];
	const Elf64_Sym *symbols = (const Elf64_Sym *)(elf->file + section->sh_offset);
	if (!flight_elf_has(elf, texts->sh_offset, texts->sh_size) || !texts->sh_size ||
	    elf->file[texts->sh_offset + texts->sh_size - 1])
		return;
	for (uint64_t i = 0; i < section->sh_size / sizeof *symbols; i++) {
		const uint64_t distance = object->load + symbols[i].st_value - object->start;
		if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || !symbols[i].st_value || distance >= object->size ||
		    symbols[i].st_name >= texts->sh_size)
			continue;
		const uint8_t bit = (uint8_t)(1U << distance % 8);
		if (!is_named(patterns, (const char *)elf->file + texts->sh_offset + symbols[i].st_name))
			continue;
		if (patterns == &only)
			object->chosen[distance / 8] |= bit;
		else
			object->chosen[distance / 8] &= (uint8_t)~bit;
	}
}

/* What is not stripped has all of them in SHT_SYMTAB; the dynamic ones are among these. */
static void choose_all(const struct flight_elf *elf, const struct object *object, const struct patterns *patterns)
{
	for (unsigned i = 0; patterns->text && i < elf->count; i++)
		if (elf->sections[i].sh_type == SHT_DYNSYM || elf->sections[i].sh_type == SHT_SYMTAB)
			choose(elf, &elf->sections[i], object, patterns);
}

const uint8_t *flight_chosen(const char *path, uint64_t load, uint64_t start, uint64_t size)
{
	if (!only.text && !never.text)
		return NULL;
	struct object object = {load, start, size,
	                        flight_map(size / 8 + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1)};
	if (!object.chosen)
		return NULL;
	for (uint64_t i = 0; !only.text && i <= size / 8; i++)
		object.chosen[i] = 0xff;
	struct flight_elf elf = flight_elf_open(path);
	choose_all(&elf, &object, &only);
	choose_all(&elf, &object, &never);
	flight_elf_close(&elf);
	return object.chosen;
}
