/* placed.c - functions where they were loaded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "base/text/demangle.h"
#include "symbols/program.h"

#include <stdlib.h>
#include <string.h>

static const char *keep_name(struct tw_symbols *symbols, const char *symbol, size_t *budget)
{
	char *demangled = symbols->mangled ? NULL : tw_demangle(symbol, budget);
	const char *name = tw_symbols_keep(symbols, demangled ? demangled : symbol);
	free(demangled);
	return name;
}

bool tw_symbols_keep_placed(struct tw_symbols *symbols, struct tw_placed placed, const char *symbol, size_t *budget)
{
	placed.name = keep_name(symbols, symbol, budget);
	if (!placed.name ||
	    !tw_grow(&symbols->placed, &symbols->placed_room, symbols->placed_count + 1, sizeof *symbols->placed))
		return false;
	symbols->placed[symbols->placed_count++] = placed;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct tw_placed *x = a, *y = b;
	return tw_compare(x->start, y->start);
}

void tw_symbols_sort_placed(struct tw_symbols *symbols)
{
	if (symbols->placed_count)
		qsort(symbols->placed, symbols->placed_count, sizeof *symbols->placed, by_start);
}

static const struct tw_placed *find(const struct tw_symbols *symbols, uint64_t address)
{
	size_t count = tw_count_up_to(symbols->placed, symbols->placed_count, TW_KEY(struct tw_placed, start), address);
	return count && address < symbols->placed[count - 1].end ? &symbols->placed[count - 1] : NULL;
}

int tw_symbols_address(void *context, uint64_t address, struct tw_name *name, struct tw_range *range)
{
	const struct tw_placed *placed = find(context, address);
	if (!placed)
		return 0;
	*name = (struct tw_name){
	    .text = placed->name,
	    .length = strlen(placed->name),
	    .id = placed->start,
	    .file = placed->file,
	    .line = placed->line,
	};
	*range = (struct tw_range){placed->start, placed->end};
	return 1;
}

int tw_symbols_new(struct tw_symbols **symbols)
{
	struct tw_symbols *fresh = *symbols = calloc(1, sizeof *fresh);
	if (!fresh)
		return TW_ERR_MEMORY;
	fresh->namer = (struct tw_namer){.address = tw_symbols_address, .context = fresh};
	return 0;
}
