/* relocate.c - dynamic relocations of an instrumentation map with absolute addresses (entries before version 2). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "symbols/elf.h"

/* The relocations that a word with an address can have, by machine. Source: each processor's ELF supplement. */
static const struct machine {
	uint16_t machine;
	uint32_t relative; /* load address + addend */
	uint32_t absolute; /* symbol + addend */
} machines[] = {
    {EM_X86_64, R_X86_64_RELATIVE, R_X86_64_64},       {EM_386, R_386_RELATIVE, R_386_32},
    {EM_AARCH64, R_AARCH64_RELATIVE, R_AARCH64_ABS64}, {EM_ARM, R_ARM_RELATIVE, R_ARM_ABS32},
    {EM_PPC64, R_PPC64_RELATIVE, R_PPC64_ADDR64},      {EM_MIPS, R_MIPS_REL32, R_MIPS_REL32},
    {EM_RISCV, R_RISCV_RELATIVE, R_RISCV_64},          {EM_S390, R_390_RELATIVE, R_390_64},
};

/* Where to apply. */
struct target {
	const struct tw_elf *elf;
	const struct tw_sleds *sleds;
	const struct machine *machine; /* NULL: not one of the table */
	Elf_Data *symbols;             /* of the relocation section at hand, NULL where it has none */
};

static const struct machine *find_machine(uint16_t machine)
{
	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

/* The address that a relocation gives, without its addend. False when it is of another kind. */
static bool base_of(const struct target *target, uint64_t info, uint64_t *base)
{
	uint32_t type = (uint32_t)GELF_R_TYPE(info);
	const struct machine *machine = target->machine;
	if (machine && type != machine->relative && type != machine->absolute)
		return false;
	*base = 0;
	bool by_symbol = !machine || type == machine->absolute;
	if (!by_symbol || !GELF_R_SYM(info))
		return true;
	GElf_Sym symbol;
	if (!target->symbols || GELF_R_SYM(info) > INT32_MAX ||
	    !gelf_getsym(target->symbols, (int)GELF_R_SYM(info), &symbol))
		return false;
	*base = symbol.st_value;
	return true;
}

static uint64_t load_word(const struct target *target, const uint8_t *p)
{
	return target->elf->wide ? tw_load64(p, target->elf->big) : tw_load32(p, target->elf->big);
}

/* addend NULL: it is what stands in the place. */
static void apply(const struct target *target, uint64_t where, uint64_t info, const int64_t *addend)
{
	const struct tw_sleds *sleds = target->sleds;
	const struct tw_sled_layout *layout = sleds->layout;
	uint64_t offset = where - sleds->address;
	if (where < sleds->address || offset >= sleds->size)
		return;
	uint64_t field = offset % layout->entry;
	const uint8_t *entry = sleds->bytes + (offset - field);
	uint64_t base;
	if ((field != 0 && field != layout->word) || entry[layout->version] >= TW_SLED_RELATIVE ||
	    !base_of(target, info, &base))
		return;
	uint8_t *word = sleds->bytes + offset;
	uint64_t value = base + (addend ? (uint64_t)*addend : load_word(target, word));
	if (target->elf->wide)
		tw_store64(word, value, target->elf->big);
	else
		tw_store32(word, (uint32_t)value, target->elf->big);
}

static void apply_section(const struct target *target, Elf_Data *data, uint32_t type)
{
	Elf_Type element = type == SHT_RELA ? ELF_T_RELA : ELF_T_REL;
	size_t count = data->d_size / gelf_fsize(target->elf->elf, element, 1, EV_CURRENT);
	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		GElf_Rela rela;
		GElf_Rel rel;
		if (type == SHT_RELA && gelf_getrela(data, (int)i, &rela))
			apply(target, rela.r_offset, rela.r_info, &rela.r_addend);
		else if (type == SHT_REL && gelf_getrel(data, (int)i, &rel))
			apply(target, rel.r_offset, rel.r_info, NULL);
	}
}

static Elf_Data *symbols_of(const struct tw_elf *elf, const GElf_Shdr *relocations)
{
	Elf_Scn *section = elf_getscn(elf->elf, relocations->sh_link);
	GElf_Shdr header;
	if (!relocations->sh_link || !section || !gelf_getshdr(section, &header))
		return NULL;
	bool is_table = header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB;
	return is_table ? tw_elf_table(section, &header) : NULL;
}

static bool any_absolute(const struct tw_sleds *sleds)
{
	const struct tw_sled_layout *layout = sleds->layout;
	for (size_t offset = 0; offset < sleds->size; offset += layout->entry)
		if (sleds->bytes[offset + layout->version] < TW_SLED_RELATIVE)
			return true;
	return false;
}

void tw_sleds_relocate(const struct tw_elf *elf, const struct tw_sleds *sleds)
{
	static const uint32_t types[] = {SHT_RELA, SHT_REL};
	if (!any_absolute(sleds))
		return;
	struct target target = {.elf = elf, .sleds = sleds, .machine = find_machine(elf->machine)};
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		GElf_Shdr header;
		for (Elf_Scn *section = NULL; (section = tw_elf_next(elf, section, types[i], &header));) {
			Elf_Data *data = tw_elf_table(section, &header);
			if (!data)
				continue;
			target.symbols = symbols_of(elf, &header);
			apply_section(&target, data, types[i]);
		}
	}
}
