/* built.c - how a program was built, for recorders of its calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/tool.h"

#include "symbols/elf.h"

#include <string.h>

/* ---- What is looked for in a file. ---- */

static bool has_section(const struct tw_elf *elf, const char *name)
{
	GElf_Shdr header;
	return tw_elf_section(elf, name, &header) != NULL;
}

/* Whether a table of symbols has a name, defined or not. */
static bool has_symbol(const struct tw_elf *elf, uint32_t type, const char *name, bool defined)
{
	GElf_Shdr header;
	GElf_Sym symbol;
	for (Elf_Scn *section = tw_elf_next(elf, NULL, type, &header); section;
	     section = tw_elf_next(elf, section, type, &header)) {
		Elf_Data *table = tw_elf_table(section, &header);
		const uint64_t count = table && header.sh_entsize ? table->d_size / header.sh_entsize : 0;
		for (uint64_t i = 0; i < count && i < INT32_MAX && gelf_getsym(table, (int)i, &symbol); i++) {
			const char *text = elf_strptr(elf->elf, header.sh_link, symbol.st_name);
			if (text && strcmp(text, name) == 0 && (symbol.st_shndx != SHN_UNDEF) == defined)
				return true;
		}
	}
	return false;
}

static bool is_static(const struct tw_elf *elf)
{
	size_t count;
	GElf_Phdr header;
	if (elf_getphdrnum(elf->elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count && i < INT32_MAX; i++)
		if (gelf_getphdr(elf->elf, (int)i, &header) && header.p_type == PT_INTERP)
			return false;
	return true;
}

static bool has_own_hooks(const struct tw_elf *elf)
{
	static const char *const names[] = {"__cyg_profile_func_enter", "__fentry__"};
	bool has = false;
	for (size_t i = 0; !has && i < sizeof names / sizeof *names; i++)
		has = has_symbol(elf, SHT_DYNSYM, names[i], true) || has_symbol(elf, SHT_SYMTAB, names[i], true);
	return has;
}

static bool is_patchable(const struct tw_elf *elf)
{
	return has_section(elf, "__patchable_function_entries");
}

static bool has_exits(const struct tw_elf *elf)
{
	return has_section(elf, "__return_loc") || has_symbol(elf, SHT_DYNSYM, "__return__", false) ||
	       has_symbol(elf, SHT_SYMTAB, "__return__", true);
}

static bool counts_entries(const struct tw_elf *elf)
{
	return !has_exits(elf) &&
	       (has_section(elf, "__mcount_loc") || has_symbol(elf, SHT_DYNSYM, "__fentry__", false) ||
	        has_symbol(elf, SHT_DYNSYM, "mcount", false) || has_symbol(elf, SHT_DYNSYM, "_mcount", false));
}

static bool has_sleds(const struct tw_elf *elf)
{
	return has_section(elf, "xray_instr_map");
}

/* ---- */

/* The first that holds is told. */
static const struct {
	bool (*holds)(const struct tw_elf *elf);
	const char *why;
} reasons[] = {
    {is_static,
     "it is linked statically, which takes no library: link it with the recorder, pkg-config --static --libs "
     "trackway-fdr"},
    {has_own_hooks,
     "it has functions of its own that -finstrument-functions or -mfentry calls: take them out, or build it with "
     "clang -fxray-instrument"},
    {has_sleds, "its functions have sleds, of which none was left to patch: all are left out, or something else has "
                "patched them (XRAY_OPTIONS=patch_premain=true does)"},
    {is_patchable,
     "-fpatchable-function-entry tells where functions begin, and not where they end; to see that, return "
     "addresses would have to be replaced, which exceptions, longjmp() and shadow stacks do not survive: "
     "build it with -finstrument-functions, or with clang -fxray-instrument"},
    {counts_entries,
     "-pg tells where functions begin, and not where they end: build it with -minstrument-return, too, with "
     "-finstrument-functions, or with clang -fxray-instrument"},
};

const char *tw_built_why_not(const char *path)
{
	struct tw_symbols symbols = {0};
	struct tw_elf elf;
	const char *why = NULL;
	if (tw_elf_open(&symbols, &elf, path) < 0)
		return NULL;
	for (size_t i = 0; !why && i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].holds(&elf))
			why = reasons[i].why;
	tw_elf_close(&elf);
	return why;
}
