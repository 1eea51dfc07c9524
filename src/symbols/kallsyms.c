/* kallsyms.c - the kernel's functions by address: /proc/kallsyms, or System.map. Sources: proc(5), nm(1), and for which
 * of several names an address has, Linux, scripts/kallsyms.c, compare_symbols(). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "core/text/lines.h"
#include "symbols/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LINE = 1 << 14,
	MOST_SYMBOLS = 1 << 24,
	LONGEST = 1 << 20 /* bytes of a function behind which no symbol comes */
};

enum { DEMANGLE_BUDGET = 1 << 26 };

struct symbol {
	uint64_t address;
	size_t name;   /* in `texts` */
	uint32_t line; /* the number of its line */
	bool is_function, is_weak;
	uint8_t underscores; /* in front */
};

struct kernel_symbols {
	struct symbol *items;
	char *texts;
	size_t count, room, text_size, text_room;
	bool has_hidden; /* functions at 0 */
};

/* ---- Lines. ---- */

/* "ffffffc008010000 T name", behind it in /proc/kallsyms perhaps a tab and "[module]". Returns the name in the line;
 * NULL where it is no such line. No function is at the last of all addresses. */
static char *take_line(char *line, uint64_t *address, char *type)
{
	enum { DIGITS = 16 };
	const size_t digits = strspn(line, "0123456789abcdefABCDEF");
	char *end = line + digits;
	if (!digits || digits > DIGITS || *end != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return NULL;
	*address = strtoull(line, NULL, 16);
	if (*address == UINT64_MAX)
		return NULL;
	*type = end[1];
	char *module = strchr(end + 3, '\t');
	if (module)
		*module = ' ';
	return end + 3;
}

static bool add(struct kernel_symbols *list, uint64_t address, char type, const char *name, uint64_t line)
{
	size_t size = strlen(name) + 1, underscores = strspn(name, "_");
	if (list->count == MOST_SYMBOLS)
		return true;
	if (!tw_grow(&list->items, &list->room, list->count + 1, sizeof *list->items) ||
	    !tw_grow(&list->texts, &list->text_room, list->text_size + size, 1))
		return false;
	list->items[list->count++] = (struct symbol){
	    .address = address,
	    .name = list->text_size,
	    .line = (uint32_t)line,
	    .is_function = strchr("TtWw", type) != NULL && !tw_is_mark(name),
	    .is_weak = strchr("Ww", type) != NULL,
	    .underscores = (uint8_t)(underscores < UINT8_MAX ? underscores : UINT8_MAX),
	};
	memcpy(list->texts + list->text_size, name, size);
	list->text_size += size;
	return true;
}

static int no_memory(struct tw_symbols *symbols)
{
	return tw_symbols_fail(symbols, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
}

static int take(struct tw_symbols *symbols, struct kernel_symbols *list, const struct tw_text_line *line)
{
	char text[LINE], type;
	uint64_t address;
	size_t size = line->size < LINE ? line->size : LINE - 1;
	memcpy(text, line->bytes, size);
	text[size] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	char *name = take_line(text, &address, &type);
	if (!name || line->cut)
		return tw_symbols_fail(symbols, TW_ERR_FORMAT, "line %llu: expected an address, a type and a name",
		                       (unsigned long long)line->number);
	if (!address) {
		list->has_hidden |= strchr("TtWw", type) != NULL;
		return 0;
	}
	return add(list, address, type, name, line->number) ? 0 : no_memory(symbols);
}

static int read_list(struct tw_symbols *symbols, struct kernel_symbols *list)
{
	struct tw_text_lines lines = {.limit = LINE};
	struct tw_text_line line;
	int status = tw_symbols_open_list(symbols, &lines);
	while (status >= 0 && (status = tw_text_lines_next(&lines, &line)) > 0)
		status = take(symbols, list, &line);
	tw_symbols_close_list(symbols, &lines, status);
	return status;
}

/* ---- Functions. ---- */

/* The best name of an address first: a function's, a strong one, with the fewest underscores, the first. */
static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	int order = tw_compare(x->address, y->address);
	order = order ? order : y->is_function - x->is_function;
	order = order ? order : x->is_weak - y->is_weak;
	order = order ? order : x->underscores - y->underscores;
	return order ? order : tw_compare(x->line, y->line);
}

/* The end of a function: where another symbol is. */
static uint64_t end_of(const struct kernel_symbols *list, size_t i)
{
	uint64_t start = list->items[i].address;
	while (i < list->count && list->items[i].address == start)
		i++;
	uint64_t room = i < list->count ? list->items[i].address - start : LONGEST;
	return start + (room < LONGEST ? room : LONGEST);
}

static int keep(struct tw_symbols *symbols, struct kernel_symbols *list)
{
	size_t budget = DEMANGLE_BUDGET, before = symbols->placed_count;
	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, compare);
	for (size_t i = 0; i < list->count; i++) {
		const struct symbol *symbol = &list->items[i];
		if (!symbol->is_function || (i && symbol[-1].address == symbol->address))
			continue;
		const struct tw_placed placed = {.start = symbol->address, .end = end_of(list, i)};
		if (!tw_symbols_keep_placed(symbols, placed, list->texts + symbol->name, &budget))
			return no_memory(symbols);
	}
	tw_symbols_sort_placed(symbols);
	if (symbols->placed_count > before)
		return 0;
	if (list->has_hidden)
		return tw_symbols_fail(symbols, TW_ERR_VALUE,
		                       "all addresses are 0: the kernel hides them (read it as root, or with "
		                       "kernel.kptr_restrict=0)");
	return tw_symbols_fail(symbols, TW_ERR_FORMAT, "has no functions: expected /proc/kallsyms or System.map");
}

int tw_symbols_add_kallsyms(struct tw_symbols *symbols, const char *path)
{
	struct kernel_symbols list = {0};
	free(symbols->path);
	symbols->path = strdup(path);
	int status = symbols->path ? read_list(symbols, &list) : no_memory(symbols);
	if (status >= 0)
		status = keep(symbols, &list);
	free(list.items);
	free(list.texts);
	return status;
}
