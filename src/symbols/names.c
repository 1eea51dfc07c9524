/* names.c - the best symbol at the address of each function. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf.h"

#include <string.h>

enum { NO_RANK = 0, RANK_FUNCTION = 4, RANK_TRUST = 16 };

static const struct {
	unsigned char binding;
	uint32_t rank;
} bindings[] = {
    {STB_GLOBAL, 3},
    {STB_GNU_UNIQUE, 3},
    {STB_WEAK, 2},
    {STB_LOCAL, 1},
};

static uint32_t rank_of(const GElf_Sym *symbol)
{
	unsigned char type = GELF_ST_TYPE(symbol->st_info);
	bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
	if (symbol->st_shndx == SHN_UNDEF || (!function && type != STT_NOTYPE))
		return NO_RANK;
	uint32_t rank = function ? RANK_FUNCTION : 0;
	for (size_t i = 0; i < sizeof bindings / sizeof bindings[0]; i++)
		if (bindings[i].binding == GELF_ST_BIND(symbol->st_info))
			return rank + bindings[i].rank;
	return NO_RANK;
}

static uint64_t address_of(const struct tw_elf *elf, const GElf_Sym *symbol)
{
	/* Bit 0 of an ARM function's symbol says Thumb. */
	bool thumb = elf->machine == EM_ARM && GELF_ST_TYPE(symbol->st_info) == STT_FUNC;
	return thumb ? symbol->st_value & ~UINT64_C(1) : symbol->st_value;
}

static void read_table(const struct tw_elf *elf, Elf_Data *data, size_t texts, unsigned trust,
                       const struct tw_places *places)
{
	size_t count = data->d_size / gelf_fsize(elf->elf, ELF_T_SYM, 1, EV_CURRENT);
	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(data, (int)i, &symbol))
			return;
		uint32_t rank = rank_of(&symbol);
		if (rank == NO_RANK)
			continue;
		rank += trust * RANK_TRUST;
		struct tw_place *place = tw_places_find(places, address_of(elf, &symbol));
		if (!place || place->rank >= rank)
			continue;
		const char *name = elf_strptr(elf->elf, texts, symbol.st_name);
		if (!name || tw_is_mark(name))
			continue;
		place->rank = rank;
		place->symbol = name;
	}
}

bool tw_names_read(const struct tw_elf *elf, uint32_t type, unsigned trust, const struct tw_places *places)
{
	bool any = false;
	GElf_Shdr header;
	for (Elf_Scn *section = NULL; (section = tw_elf_next(elf, section, type, &header));) {
		Elf_Data *data = tw_elf_table(section, &header);
		if (!data)
			continue;
		read_table(elf, data, header.sh_link, trust, places);
		any = true;
	}
	return any;
}

void tw_places_bound(const struct tw_places *places, uint64_t file_size)
{
	enum { MOST_TIMES = 4 };
	size_t left = (size_t)(MOST_TIMES * file_size);
	for (size_t i = 0; i < places->count; i++) {
		struct tw_place *place = &places->items[i];
		const size_t length = place->symbol ? strnlen(place->symbol, left) : 0;
		place->symbol = length == left ? NULL : place->symbol;
		left -= length;
		if (place->file && strnlen(place->file, TW_LONGEST_PATH) == TW_LONGEST_PATH) {
			place->file = NULL;
			place->line = 0;
		}
	}
}
