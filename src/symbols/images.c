/* images.c - the functions of programs and libraries by the addresses that they were loaded at. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "symbols/elf.h"

#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE = 4096,
	MOST_FUNCTIONS = 1 << 24,
	MOST_REPEATED = 1 << 22 /* functions of a file that is loaded several times */
};

/* Bytes of demangled names, over a budget of their own for each file. */
enum { DEMANGLE_BUDGET = 1 << 26 };

/* The tables that a program's symbols are in, and how far each is trusted. */
struct tables {
	struct tw_elf program, debug;
	Dwarf *dwarf[2]; /* of the program, of its debug file */
	struct tw_places places;
	size_t room;
};

/* ---- Which addresses are functions. ---- */

static int no_memory(struct tw_symbols *symbols)
{
	return tw_symbols_fail(symbols, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
}

static bool add_place(struct tables *tables, uint64_t address, uint64_t size, const char *symbol)
{
	struct tw_places *places = &tables->places;
	if (places->count == MOST_FUNCTIONS)
		return true;
	if (!tw_grow(&places->items, &tables->room, places->count + 1, sizeof *places->items))
		return false;
	places->items[places->count++] = (struct tw_place){.address = address, .size = size, .symbol = symbol};
	return true;
}

static bool holds_code(const struct tw_elf *elf, uint32_t section)
{
	GElf_Shdr header;
	Elf_Scn *found = section < SHN_LORESERVE ? elf_getscn(elf->elf, section) : NULL;
	return found && gelf_getshdr(found, &header) && header.sh_flags & SHF_EXECINSTR;
}

/* Assemblers give functions no type unless they are told. */
static bool is_function(const struct tw_elf *elf, const GElf_Sym *symbol)
{
	unsigned char type = GELF_ST_TYPE(symbol->st_info);
	if (symbol->st_shndx == SHN_UNDEF)
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && holds_code(elf, symbol->st_shndx));
}

static bool add_symbols(struct tables *tables, const struct tw_elf *elf, Elf_Data *data, size_t texts)
{
	size_t count = data->d_size / gelf_fsize(elf->elf, ELF_T_SYM, 1, EV_CURRENT);
	GElf_Sym symbol;
	for (size_t i = 0; i < count && i <= INT32_MAX && gelf_getsym(data, (int)i, &symbol); i++) {
		const char *name = elf_strptr(elf->elf, texts, symbol.st_name);
		if (!name || tw_is_mark(name) || !is_function(elf, &symbol))
			continue;
		if (!add_place(tables, symbol.st_value, symbol.st_size, NULL))
			return false;
	}
	return true;
}

/* Adds the addresses of a file's symbol tables of a type. False when there is no memory. */
static bool add_tables(struct tables *tables, const struct tw_elf *elf, uint32_t type, bool *any)
{
	GElf_Shdr header;
	for (Elf_Scn *section = NULL; (section = tw_elf_next(elf, section, type, &header));) {
		Elf_Data *data = tw_elf_table(section, &header);
		*any |= data != NULL;
		if (data && !add_symbols(tables, elf, data, header.sh_link))
			return false;
	}
	return true;
}

/* Stubs that lead to libraries have no symbols. */
static bool add_stubs(struct tables *tables)
{
	static const char *const names[] = {".plt", ".iplt", ".plt.got", ".plt.sec"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		GElf_Shdr header;
		if (tw_elf_section(&tables->program, names[i], &header) && header.sh_flags & SHF_EXECINSTR &&
		    !add_place(tables, header.sh_addr, header.sh_size, "[plt]"))
			return false;
	}
	return true;
}

/* Of places with one address the larger goes first: it is the function, the smaller are labels in it. */
static int compare(const void *a, const void *b)
{
	const struct tw_place *x = a, *y = b;
	int order = tw_compare(x->address, y->address);
	return order ? order : tw_compare(y->size, x->size);
}

static void keep_one_each(struct tw_places *places)
{
	size_t kept = 0;
	if (places->count)
		qsort(places->items, places->count, sizeof *places->items, compare);
	for (size_t i = 0; i < places->count; i++)
		if (kept == 0 || places->items[kept - 1].address != places->items[i].address)
			places->items[kept++] = places->items[i];
	places->count = kept;
}

/* All addresses. A program that was stripped may have a file with its symbols. */
static int find_places(struct tw_symbols *symbols, struct tables *tables)
{
	GElf_Shdr header;
	bool any = false, good = add_tables(tables, &tables->program, SHT_SYMTAB, &any);
	bool complete = any && tw_elf_section(&tables->program, ".debug_info", &header);
	if (good && !complete && tw_debug_open(symbols, &tables->program, &tables->debug) && !any)
		good = add_tables(tables, &tables->debug, SHT_SYMTAB, &any);
	if (good)
		good = add_tables(tables, &tables->program, SHT_DYNSYM, &any) && add_stubs(tables);
	if (!good)
		return no_memory(symbols);
	keep_one_each(&tables->places);
	return 0;
}

static void name_places(struct tables *tables)
{
	struct tw_elf *files[] = {&tables->program, &tables->debug};
	for (size_t i = 0; i < 2 && files[i]->elf; i++) {
		tw_names_read(files[i], SHT_SYMTAB, TW_TRUST_STATIC, &tables->places);
		tw_names_read(files[i], SHT_DYNSYM, TW_TRUST_DYNAMIC, &tables->places);
		tw_lines_read(files[i], &tables->places, &tables->dwarf[i]);
	}
	tw_places_bound(&tables->places, tables->program.size + tables->debug.size);
}

/* ---- Where they were loaded. ---- */

/* The lowest address that the program is linked to, and of what all addresses that it can be loaded at are multiples;
 * and whether it has any. */
static bool linked_to(const struct tw_elf *elf, uint64_t *lowest, uint64_t *step)
{
	size_t count;
	bool found = false;
	*lowest = UINT64_MAX;
	*step = PAGE;
	if (elf_getphdrnum(elf->elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		uint64_t start = header.p_vaddr & ~(uint64_t)(PAGE - 1);
		*lowest = start < *lowest ? start : *lowest;
		*step = header.p_align < *step ? header.p_align : *step;
		found = true;
	}
	return found;
}

/* What is added to its addresses. */
static int find_bias(struct tw_symbols *symbols, const struct tw_elf *elf, const uint64_t *load_address, uint64_t *bias)
{
	uint64_t lowest, step;
	if (!linked_to(elf, &lowest, &step))
		return tw_symbols_fail(symbols, TW_ERR_FORMAT, "has no segment that is loaded");
	if (!load_address && elf->type == ET_DYN)
		return tw_symbols_fail(symbols, TW_ERR_VALUE,
		                       "can be loaded anywhere: expected the address that it was loaded at");
	*bias = load_address ? *load_address - lowest : 0;
	if (*bias && elf->type == ET_EXEC)
		return tw_symbols_fail(symbols, TW_ERR_VALUE, "is linked to 0x%llx and is always loaded there",
		                       (unsigned long long)lowest);
	if (step > 1 && *bias % step)
		return tw_symbols_fail(symbols, TW_ERR_VALUE,
		                       "cannot be loaded at 0x%llx: expected a multiple of 0x%llx",
		                       (unsigned long long)*load_address, (unsigned long long)step);
	return 0;
}

/* ---- Kept. ---- */

/* The end of a place: what its symbol says, or where the next begins. */
static uint64_t end_of(const struct tw_places *places, size_t i)
{
	uint64_t start = places->items[i].address, size = places->items[i].size;
	uint64_t room = i + 1 < places->count ? places->items[i + 1].address - start : PAGE;
	return start + (size && size < room ? size : room);
}

static bool keep_place(struct tw_symbols *symbols, const struct tw_places *places, size_t i, uint64_t bias,
                       size_t *budget)
{
	const struct tw_place *place = &places->items[i];
	const struct tw_placed *last = symbols->placed_count ? &symbols->placed[symbols->placed_count - 1] : NULL;
	struct tw_placed placed = {place->address + bias, end_of(places, i) + bias, NULL, NULL, place->line};
	bool same_file = last && place->file && last->file && strcmp(place->file, last->file) == 0;
	if (place->file)
		placed.file = same_file ? last->file : tw_symbols_keep(symbols, place->file);
	return (!place->file || placed.file) && tw_symbols_keep_placed(symbols, placed, place->symbol, budget);
}

/* Those of the file that are kept already, from one on, at a distance. */
static bool repeat_places(struct tw_symbols *symbols, size_t from, size_t to, uint64_t distance)
{
	if (!tw_grow(&symbols->placed, &symbols->placed_room, symbols->placed_count + (to - from),
	             sizeof *symbols->placed))
		return false;
	for (size_t i = from; i < to; i++) {
		struct tw_placed placed = symbols->placed[i];
		placed.start += distance;
		placed.end += distance;
		symbols->placed[symbols->placed_count++] = placed;
	}
	return true;
}

static int keep_places(struct tw_symbols *symbols, const struct tw_places *places, const uint64_t *biases, size_t count)
{
	size_t budget = DEMANGLE_BUDGET, from = symbols->placed_count;
	for (size_t i = 0; i < places->count; i++)
		if (places->items[i].symbol && !keep_place(symbols, places, i, biases[0], &budget))
			return no_memory(symbols);
	size_t to = symbols->placed_count, most = to > from ? MOST_REPEATED / (to - from) : count;
	for (size_t i = 1; i < count && i <= most; i++)
		if (!repeat_places(symbols, from, to, biases[i] - biases[0]))
			return no_memory(symbols);
	tw_symbols_sort_placed(symbols);
	if (count > most + 1)
		return tw_symbols_fail(symbols, TW_ERR_LIMIT, "too many functions for %zu places", count);
	return 0;
}

static int read_image(struct tw_symbols *symbols, struct tables *tables, const uint64_t *load_addresses,
                      uint64_t *biases, size_t count)
{
	int status = tw_elf_open(symbols, &tables->program, symbols->path);
	for (size_t i = 0; status >= 0 && i < count; i++)
		status = find_bias(symbols, &tables->program, load_addresses ? &load_addresses[i] : NULL, &biases[i]);
	if (status >= 0)
		status = find_places(symbols, tables);
	if (status < 0)
		return status;
	name_places(tables);
	return keep_places(symbols, &tables->places, biases, count);
}

int tw_symbols_add_places(struct tw_symbols *symbols, const char *path, const uint64_t *load_addresses, size_t count)
{
	struct tables tables = {.program = {.fd = -1}, .debug = {.fd = -1}};
	uint64_t *biases = calloc(count, sizeof *biases);
	free(symbols->path);
	symbols->path = strdup(path);
	int status =
	    symbols->path && biases ? read_image(symbols, &tables, load_addresses, biases, count) : no_memory(symbols);
	for (size_t i = 0; i < sizeof tables.dwarf / sizeof *tables.dwarf; i++)
		dwarf_end(tables.dwarf[i]);
	tw_elf_close(&tables.debug);
	tw_elf_close(&tables.program);
	free(tables.places.items);
	free(biases);
	return status;
}
