/* opened.c - the functions of an ELF file with an XRay map, with their names, files and lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "symbols/elf.h"

#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that all demangled names together may take: far above what compilers make, far below what hostile symbols
 * could. */
enum { DEMANGLE_BUDGET = 1 << 26, DEMANGLE_BUDGET_EACH = 1 << 10 };

/* The files and tables that are needed until open returns. */
struct opening {
	struct tw_elf program, debug;
	struct tw_places places;
	Dwarf *dwarf[2]; /* of the program, of its debug file */
};

static int compare_places(const void *a, const void *b)
{
	const struct tw_place *x = a, *y = b;
	int order = tw_compare(x->address, y->address);
	return order ? order : tw_compare(x->id, y->id);
}

/* Names and lines come from the program itself or, what it lacks, from the debug file that belongs to it. */
static void read_names_and_lines(struct tw_symbols *symbols, struct opening *opening)
{
	const struct tw_places *places = &opening->places;
	bool named = tw_names_read(&opening->program, SHT_SYMTAB, TW_TRUST_STATIC, places);
	tw_names_read(&opening->program, SHT_DYNSYM, TW_TRUST_DYNAMIC, places);
	bool lined = tw_lines_read(&opening->program, places, &opening->dwarf[0]);
	if ((named && lined) || !tw_debug_open(symbols, &opening->program, &opening->debug))
		return;
	if (!named)
		tw_names_read(&opening->debug, SHT_SYMTAB, TW_TRUST_STATIC, places);
	if (!lined)
		tw_lines_read(&opening->debug, places, &opening->dwarf[1]);
}

/* Copies what is known of an address. last: the place before, whose copy of the file's name is often the same. */
static bool keep_place(struct tw_symbols *symbols, const struct tw_place *place, size_t *budget,
                       const struct tw_place *last, const char **last_file)
{
	struct tw_symbols_function *function = &symbols->functions[place->id - 1];
	*function = (struct tw_symbols_function){.id = place->id, .address = place->address, .line = place->line};
	if (place->symbol && !(function->symbol = tw_symbols_keep(symbols, place->symbol)))
		return false;
	bool same_file = last && place->file && last->file && strcmp(place->file, last->file) == 0;
	if (place->file && !same_file && !(*last_file = tw_symbols_keep(symbols, place->file)))
		return false;
	function->file = place->file ? *last_file : NULL;
	return tw_symbols_name(symbols, function, budget);
}

static int keep_places(struct tw_symbols *symbols, const struct tw_places *places)
{
	size_t budget = DEMANGLE_BUDGET + places->count * DEMANGLE_BUDGET_EACH;
	symbols->functions = calloc(places->count, sizeof *symbols->functions);
	const struct tw_place *last = NULL;
	const char *file = NULL;
	bool good = symbols->functions != NULL;
	for (size_t i = 0; good && i < places->count; i++) {
		struct tw_place *place = &places->items[i];
		if (!last || last->address != place->address) {
			good = keep_place(symbols, place, &budget, last, &file);
			last = place;
			continue;
		}
		/* Code that is not in one piece has more than one id. */
		symbols->functions[place->id - 1] = symbols->functions[last->id - 1];
		symbols->functions[place->id - 1].id = place->id;
	}
	if (!good)
		return tw_symbols_fail(symbols, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
	symbols->count = (uint32_t)places->count;
	return 0;
}

static int read_program(struct tw_symbols *symbols, struct opening *opening, const char *path)
{
	int status = tw_elf_open(symbols, &opening->program, path);
	if (status >= 0)
		status = tw_sleds_read(symbols, &opening->program, &opening->places);
	if (status < 0)
		return status;
	qsort(opening->places.items, opening->places.count, sizeof *opening->places.items, compare_places);
	read_names_and_lines(symbols, opening);
	tw_places_bound(&opening->places, opening->program.size + opening->debug.size);
	return keep_places(symbols, &opening->places);
}

static void free_opening(struct opening *opening)
{
	for (size_t i = 0; i < sizeof opening->dwarf / sizeof opening->dwarf[0]; i++)
		dwarf_end(opening->dwarf[i]);
	tw_elf_close(&opening->debug);
	tw_elf_close(&opening->program);
	free(opening->places.items);
}

int tw_symbols_read_program(struct tw_symbols *symbols, const char *path)
{
	struct opening opening = {.program = {.fd = -1}, .debug = {.fd = -1}};
	int status = read_program(symbols, &opening, path);
	free_opening(&opening);
	return status;
}
