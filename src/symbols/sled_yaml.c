/* sled_yaml.c - an instrumentation map in YAML: for each sled a flow mapping, as `llvm-xray extract` writes it, or a
 * block mapping. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "symbols/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	MOST_SLEDS = 1 << 22,
	MOST_TEXT = 1 << 20, /* bytes of a key or a value */
	DEMANGLE_BUDGET = 1 << 26
};

struct yaml {
	struct tw_symbols *symbols;
	FILE *file;
	unsigned long long line;
	unsigned column, key_column; /* from 1; of what was read last, and where its key began */
	bool block; /* the sled is a block mapping: a value ends where a line is indented no more than its key */
	struct tw_text text; /* the key or value that was read last; terminated */
	size_t budget;       /* of demangled names */
	size_t function_room;
};

/* A sled while it is read. */
struct yaml_sled {
	struct tw_symbols_sled sled;
	const char *name;
	unsigned have; /* a bit for each of keys[] */
};

/* Source: LLVM, llvm/XRay/InstrumentationMap.h, MappingTraits<YAMLXRaySledEntry> and its kinds. */
static const char *const kinds[TW_SLED_KINDS] = {
    [TW_SLED_ENTRY] = "function-enter",      [TW_SLED_EXIT] = "function-exit",
    [TW_SLED_TAIL_EXIT] = "tail-exit",       [TW_SLED_ARGS_ENTRY] = "log-args-enter",
    [TW_SLED_CUSTOM_EVENT] = "custom-event", [TW_SLED_TYPED_EVENT] = "typed-event",
};

const char *tw_sled_kind_name(unsigned kind)
{
	return kind < TW_SLED_KINDS ? kinds[kind] : NULL;
}

static int fail(struct yaml *yaml, const char *expected)
{
	return tw_symbols_fail(yaml->symbols, TW_ERR_FORMAT, "line %llu: expected %s, as `llvm-xray extract` writes it",
	                       yaml->line, expected);
}

static int fail_memory(struct yaml *yaml)
{
	return tw_symbols_fail(yaml->symbols, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
}

/* ---- Characters. ---- */

static int next(struct yaml *yaml)
{
	int c = getc(yaml->file);
	yaml->line += c == '\n';
	yaml->column = c == '\n' ? 0 : yaml->column + 1;
	return c;
}

static void put_back(struct yaml *yaml, int c)
{
	yaml->line -= c == '\n';
	yaml->column -= c != '\n';
	ungetc(c, yaml->file);
}

/* The next that is neither blank nor of a comment. */
static int next_mark(struct yaml *yaml)
{
	int c;
	while ((c = next(yaml)) == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '#')
		while (c == '#' && (c = next(yaml)) != '\n' && c != EOF)
			c = '#';
	return c;
}

/* ---- Keys and values. ---- */

static int keep(struct yaml *yaml, int c)
{
	const char byte = (char)c;
	if (yaml->text.length == MOST_TEXT)
		return fail(yaml, "a text of at most a MiB");
	return tw_text_add(&yaml->text, &byte, 1) ? 0 : fail_memory(yaml);
}

static void drop_blanks(struct yaml *yaml)
{
	while (yaml->text.length && strchr(" \t\r", yaml->text.bytes[yaml->text.length - 1]))
		yaml->text.bytes[--yaml->text.length] = '\0';
}

static int next_behind_blanks(struct yaml *yaml)
{
	int c;
	while ((c = next(yaml)) == ' ' || c == '\t' || c == '\r')
		;
	return c;
}

/* The end of a line in quotes is a space. */
static int fold_line(struct yaml *yaml)
{
	drop_blanks(yaml);
	put_back(yaml, next_behind_blanks(yaml));
	return keep(yaml, ' ');
}

/* In single quotes, a quote is doubled. */
static int take_single(struct yaml *yaml)
{
	int status = 0;
	while (status == 0) {
		int c = next(yaml);
		const int behind = c == '\'' ? next(yaml) : c;
		if (c == '\'' && behind != c) {
			put_back(yaml, behind);
			return 0;
		}
		status = c == EOF    ? fail(yaml, "the end of a quoted text")
		         : c == '\n' ? fold_line(yaml)
		                     : keep(yaml, c);
	}
	return status;
}

/* Behind a backslash in double quotes: a letter for a control character, two hexadecimal digits, or what stands for
 * itself. At the end of a line it joins that with the next. */
static int take_escape(struct yaml *yaml)
{
	static const char letters[] = "abtnvfre", values[] = "\a\b\t\n\v\f\r\x1b";
	char digits[3] = "", *end = digits;
	int c = next(yaml);
	const char *letter = c > 0 ? strchr(letters, c) : NULL;
	if (letter)
		return keep(yaml, values[letter - letters]);
	if (c == '"' || c == '\\' || c == '/' || c == ' ')
		return keep(yaml, c);
	if (c == '\n') {
		put_back(yaml, next_behind_blanks(yaml));
		return 0;
	}
	for (int i = 0; c == 'x' && i < 2; i++)
		digits[i] = (char)next(yaml);
	const unsigned long byte = strtoul(digits, &end, 16);
	return end == digits + 2 ? keep(yaml, (int)byte) : fail(yaml, "\\\\, \\\" or \\x and two digits");
}

static int take_double(struct yaml *yaml)
{
	int status = 0;
	for (int c; status == 0 && (c = next(yaml)) != '"';)
		status = c == EOF    ? fail(yaml, "the end of a quoted text")
		         : c == '\\' ? take_escape(yaml)
		         : c == '\n' ? fold_line(yaml)
		                     : keep(yaml, c);
	return status;
}

/* Whether a text goes on behind the end of a line, with *c. */
static bool goes_on(struct yaml *yaml, int *c)
{
	while (*c == '\n')
		*c = next_behind_blanks(yaml);
	return *c != EOF && (!yaml->block || yaml->column > yaml->key_column);
}

/* To what ends it: a line, where the next does not go on, a comment, a colon with a blank behind it; in a flow mapping
 * also a comma or a bracket. */
static int take_plain(struct yaml *yaml, int c)
{
	const char *ends = yaml->block ? "" : ",{}[]";
	int status = 0, before = ' ';
	while (status == 0 && c > 0 && !(*ends && strchr(ends, c)) &&
	       !(c == '#' && (before == ' ' || before == '\t'))) {
		if (c == '\n') {
			drop_blanks(yaml);
			if (!goes_on(yaml, &c) || c == '#')
				break;
			before = ' ';
			status = yaml->text.length ? keep(yaml, ' ') : 0;
			continue;
		}
		int behind = next(yaml);
		if (c == ':' && (behind == EOF || strchr(" \t\r\n", behind))) {
			put_back(yaml, behind);
			break;
		}
		status = keep(yaml, c);
		before = c;
		c = behind;
	}
	put_back(yaml, c);
	drop_blanks(yaml);
	return status;
}

/* Behind "|", which keeps the ends of lines, or ">", which makes spaces of them. The last is no part of a name. */
static int take_lines(struct yaml *yaml, int style)
{
	unsigned indent = 0;
	int status = 0, c;
	while ((c = next(yaml)) != '\n' && c != EOF)
		;
	while (status == 0 && goes_on(yaml, &c)) {
		indent = indent ? indent : yaml->column;
		if (yaml->text.length)
			status = keep(yaml, style == '|' ? '\n' : ' ');
		for (unsigned extra = yaml->column; status == 0 && extra > indent; extra--)
			status = keep(yaml, ' ');
		for (; status == 0 && c != '\n' && c != EOF; c = next(yaml))
			status = c ? keep(yaml, c) : fail(yaml, "a text without zeros");
		drop_blanks(yaml);
	}
	put_back(yaml, c);
	return status;
}

static int take_text(struct yaml *yaml, int c)
{
	yaml->text.length = 0;
	if (!tw_text_add(&yaml->text, "", 0))
		return fail_memory(yaml);
	if (yaml->block && (c == '|' || c == '>'))
		return take_lines(yaml, c);
	return c == '\'' ? take_single(yaml) : c == '"' ? take_double(yaml) : take_plain(yaml, c);
}

/* ---- Sleds. ---- */

/* Each takes yaml->text. */
static int take_number(struct yaml *yaml, uint64_t most, uint64_t *number)
{
	char *end;
	errno = 0;
	const char *digits = yaml->text.bytes;
	const bool octal = strncmp(digits, "0o", 2) == 0;
	*number = strtoull(digits + (octal ? 2 : 0), &end, octal ? 8 : 0);
	bool good = end != yaml->text.bytes && !*end && *yaml->text.bytes != '-' && !errno && *number <= most;
	return good ? 0 : fail(yaml, "a number that fits");
}

static int take_id(struct yaml *yaml, struct yaml_sled *entry)
{
	uint64_t number;
	int status = take_number(yaml, INT32_MAX, &number);
	entry->sled.id = (uint32_t)number;
	return status == 0 && number == 0 ? fail(yaml, "an id from 1 on") : status;
}

static int take_address(struct yaml *yaml, struct yaml_sled *entry)
{
	return take_number(yaml, UINT64_MAX, &entry->sled.address);
}

static int take_function(struct yaml *yaml, struct yaml_sled *entry)
{
	return take_number(yaml, UINT64_MAX, &entry->sled.function);
}

static int take_kind(struct yaml *yaml, struct yaml_sled *entry)
{
	unsigned kind = 0;
	while (kind < TW_SLED_KINDS && strcmp(kinds[kind], yaml->text.bytes) != 0)
		kind++;
	entry->sled.kind = (uint8_t)kind;
	return kind < TW_SLED_KINDS ? 0 : fail(yaml, "a kind of sled (function-enter, function-exit, tail-exit)");
}

static int take_always(struct yaml *yaml, struct yaml_sled *entry)
{
	static const char *const words[] = {"true", "false", "yes", "no", "on", "off"}; /* in turn */
	size_t word = 0;
	while (word < sizeof words / sizeof *words && strcasecmp(words[word], yaml->text.bytes) != 0)
		word++;
	entry->sled.always = word % 2 == 0;
	return word < sizeof words / sizeof *words ? 0 : fail(yaml, "true or false");
}

static int take_name(struct yaml *yaml, struct yaml_sled *entry)
{
	if (!*yaml->text.bytes)
		return 0;
	entry->name = tw_symbols_keep(yaml->symbols, yaml->text.bytes);
	return entry->name ? 0 : fail_memory(yaml);
}

static int take_version(struct yaml *yaml, struct yaml_sled *entry)
{
	uint64_t number;
	int status = take_number(yaml, UINT8_MAX, &number);
	entry->sled.version = (uint8_t)number;
	return status;
}

static const struct {
	const char *name;
	int (*take)(struct yaml *yaml, struct yaml_sled *entry);
} keys[] = {
    {"id", take_id},           {"address", take_address},          {"function", take_function},
    {"kind", take_kind},       {"always-instrument", take_always}, {"function-name", take_name},
    {"version", take_version},
};
enum { NEEDED = 0x1f /* all before the name */ };

/* "key: value" */
static int take_member(struct yaml *yaml, struct yaml_sled *entry, int c)
{
	size_t key = 0;
	yaml->key_column = yaml->column;
	int status = take_text(yaml, c);
	while (status == 0 && key < sizeof keys / sizeof *keys && strcmp(keys[key].name, yaml->text.bytes) != 0)
		key++;
	if (status == 0 && (key == sizeof keys / sizeof *keys || next_mark(yaml) != ':'))
		status = fail(yaml, "id, address, function, kind and the like, each with a colon");
	if (status == 0)
		status = take_text(yaml, yaml->block ? next_behind_blanks(yaml) : next_mark(yaml));
	if (status < 0)
		return status;
	entry->have |= 1u << key;
	return keys[key].take(yaml, entry);
}

/* Behind "{". */
static int take_flow(struct yaml *yaml, struct yaml_sled *entry)
{
	int status = 0, c = ',';
	while (status == 0 && c == ',') {
		status = take_member(yaml, entry, next_mark(yaml));
		c = status == 0 ? next_mark(yaml) : c;
	}
	return status == 0 && c != '}' ? fail(yaml, "a comma or }") : status;
}

/* To the "-" of the next, or to the end. */
static int take_block(struct yaml *yaml, struct yaml_sled *entry, int c)
{
	int status = 0;
	while (status == 0 && c != '-' && c != '.' && c != EOF) {
		status = take_member(yaml, entry, c);
		c = status == 0 ? next_mark(yaml) : c;
	}
	put_back(yaml, c);
	return status;
}

static int take_entry(struct yaml *yaml, struct yaml_sled *entry, int c)
{
	yaml->block = c != '{';
	int status = yaml->block ? take_block(yaml, entry, c) : take_flow(yaml, entry);
	return status == 0 && (entry->have & NEEDED) != NEEDED
	           ? fail(yaml, "id, address, function, kind and always-instrument of each sled")
	           : status;
}

static int add_entry(struct yaml *yaml, const struct yaml_sled *entry)
{
	struct tw_symbols *symbols = yaml->symbols;
	const struct tw_symbols_function *last = symbols->count ? &symbols->functions[symbols->count - 1] : NULL;
	const bool again = last && last->id == entry->sled.id && (last->symbol || !entry->name);
	if (symbols->sled_count == MOST_SLEDS)
		return fail(yaml, "at most four million sleds");
	if (!tw_grow(&symbols->sleds, &symbols->sled_room, symbols->sled_count + 1, sizeof *symbols->sleds) ||
	    !tw_grow(&symbols->functions, &yaml->function_room, symbols->count + 1, sizeof *symbols->functions))
		return fail_memory(yaml);
	symbols->sleds[symbols->sled_count++] = entry->sled;
	if (again)
		return 0;
	symbols->functions[symbols->count] =
	    (struct tw_symbols_function){.id = entry->sled.id, .address = entry->sled.function, .symbol = entry->name};
	return tw_symbols_name(symbols, &symbols->functions[symbols->count++], &yaml->budget) ? 0 : fail_memory(yaml);
}

/* ---- The file. ---- */

/* By id, and those with a symbol first. */
static int compare(const void *a, const void *b)
{
	const struct tw_symbols_function *x = a, *y = b;
	int order = tw_compare(x->id, y->id);
	return order ? order : !x->symbol - !y->symbol;
}

static void sort_functions(struct tw_symbols *symbols)
{
	uint32_t kept = 0;
	qsort(symbols->functions, symbols->count, sizeof *symbols->functions, compare);
	for (uint32_t i = 0; i < symbols->count; i++)
		if (i == 0 || symbols->functions[i].id != symbols->functions[kept - 1].id)
			symbols->functions[kept++] = symbols->functions[i];
	symbols->count = kept;
}

/* A byte order mark, comments, directives. */
static void pass_beginning(struct yaml *yaml)
{
	static const int mark[] = {0xef, 0xbb, 0xbf};
	int c = next(yaml);
	for (int i = 0; i < 3 && c == mark[i]; i++)
		c = next(yaml);
	for (put_back(yaml, c); (c = next_mark(yaml)) == '%';)
		while ((c = next(yaml)) != '\n' && c != EOF)
			;
	put_back(yaml, c);
}

/* "---", then a "- " for each, or all between "[" and "]", then "...". */
static int read_entries(struct yaml *yaml)
{
	int status = 0;
	bool item = false, line = false; /* behind "- "; within "---" */
	pass_beginning(yaml);
	for (int c; status == 0 && (c = next_mark(yaml)) != EOF;) {
		struct yaml_sled entry = {0};
		if (c == '-') {
			const int behind = next(yaml);
			item = behind != '-' && !line;
			line = behind == '-';
			put_back(yaml, behind);
		}
		if (strchr("-.,[]", c))
			continue;
		status = c == '{' || item ? take_entry(yaml, &entry, c) : fail(yaml, "- { id: ... }");
		item = false;
		if (status == 0)
			status = add_entry(yaml, &entry);
	}
	if (status == 0 && ferror(yaml->file))
		return tw_symbols_fail(yaml->symbols, TW_ERR_SYSTEM, "cannot read: %s", strerror(errno));
	if (status == 0 && !yaml->symbols->sled_count)
		return tw_symbols_fail(yaml->symbols, TW_ERR_UNSUPPORTED, "the map has no sled");
	return status;
}

int tw_sleds_read_yaml(struct tw_symbols *symbols, const char *path)
{
	struct yaml yaml = {.symbols = symbols, .file = fopen(path, "re"), .line = 1, .budget = DEMANGLE_BUDGET};
	if (!yaml.file)
		return tw_symbols_fail(symbols, TW_ERR_SYSTEM, "cannot open: %s", strerror(errno));
	int status = read_entries(&yaml);
	if (status == 0)
		sort_functions(symbols);
	fclose(yaml.file);
	tw_text_free(&yaml.text);
	return status;
}
