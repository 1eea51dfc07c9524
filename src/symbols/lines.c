/* lines.c - file and line of each function, from DWARF. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/elf.h"

#include "base/bytes/bytes.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

enum {
	MAX_DEPTH = 64,       /* of namespaces in namespaces */
	MAX_PARTS = 16,       /* of a function */
	FIRST_WITH_FILE_0 = 5 /* of DWARF's versions */
};

/* A walk over one unit's entries, in the order of the file. */
struct unit_walk {
	const struct tw_places *places;
	Dwarf_Off last; /* entries lie one after the other; damaged links that go back end the walk */
};

/* The file that a function is declared in. Not by dwarf_decl_file(): up to elfutils 0.188 it takes file 0 for none,
 * which is the program's own with DWARF 5, and it asserts that the unit has files. */
static const char *file_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &number) != 0)
		return NULL;
	/* The declaration may be of another unit, with files of its own. */
	Dwarf_Die unit;
	Dwarf_Half version;
	Dwarf_Files *files = NULL;
	size_t count = 0;
	if (!dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &count) != 0 || !files || number >= count)
		return NULL;
	return number || version >= FIRST_WITH_FILE_0 ? dwarf_filesrc(files, (size_t)number, NULL, NULL) : NULL;
}

/* Sleds have line 0 in the line table, so what counts is where the function is declared. */
static void take_place(const struct unit_walk *walk, Dwarf_Die *die, Dwarf_Addr address)
{
	struct tw_place *place = tw_places_find(walk->places, address);
	int line;
	if (!place || place->line || dwarf_decl_line(die, &line) != 0 || line <= 0)
		return;
	place->file = file_of(die);
	place->line = place->file ? (uint32_t)line : 0;
}

/* A function whose rare part lies elsewhere, as where exceptions are caught, has ranges, and no first address. */
static void take_function(const struct unit_walk *walk, Dwarf_Die *die)
{
	Dwarf_Addr base, from, to;
	ptrdiff_t next = 0;
	if (dwarf_lowpc(die, &from) == 0) {
		take_place(walk, die, from);
		return;
	}
	for (unsigned i = 0; i < MAX_PARTS && (next = dwarf_ranges(die, next, &base, &from, &to)) > 0; i++)
		take_place(walk, die, from);
}

/* Compilers put the code of methods at the top, that of free functions into their namespaces: types are not entered. */
static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module;
}

/* Moves to an entry: false when it lies before one already seen. */
static bool advance(struct unit_walk *walk, Dwarf_Die *die)
{
	Dwarf_Off offset = dwarf_dieoffset(die);
	if (offset == (Dwarf_Off)-1 || offset <= walk->last)
		return false;
	walk->last = offset;
	return true;
}

static void visit(struct unit_walk *walk, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	if (depth >= MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		if (!advance(walk, &die))
			return;
		int tag = dwarf_tag(&die);
		if (tag == DW_TAG_subprogram)
			take_function(walk, &die);
		else if (holds_functions(tag))
			visit(walk, &die, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

/* By part of the name: there are ".debug_str", ".debug_str.dwo", ".gnu.debuglto_.debug_line_str", and libdw takes them
 * all. */
static bool is_text_section(const char *name)
{
	return strstr(name, "debug_str") || strstr(name, "debug_line_str");
}

/* Ends a section of texts with a NUL. libdw (0.188) trusts that there is one. Texts that are longer than a path, which
 * may be the directory of each of many files, end there: names are not taken from them. */
static bool terminate(Elf_Scn *section, const GElf_Shdr *header)
{
	if (header->sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0)
		return false;
	Elf_Data *data = elf_getdata(section, NULL);
	if (!data || (data->d_size && !data->d_buf))
		return false;
	if (data->d_size == 0)
		return true;
	char *bytes = data->d_buf;
	for (size_t at = 0; at < data->d_size;) {
		const size_t left = data->d_size - at, room = left < TW_LONGEST_PATH ? left : TW_LONGEST_PATH;
		const size_t length = strnlen(bytes + at, room - 1);
		bytes[at + length] = '\0';
		at += length + 1;
	}
	return true;
}

/* Whether a compressed section says that it is so much larger than no compiler's are: 1.5 MB of zlib hold 1.5 GB of
 * zeros, and libdw unpacks a section as a whole. */
static bool is_much_larger(uint64_t size, uint64_t packed)
{
	enum { FEW = 16 << 20, MOST_TIMES = 64 };
	return size > FEW && size / MOST_TIMES > packed;
}

/* unpacked: of all sections so far. */
static bool is_bomb(const struct tw_elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t *unpacked)
{
	GElf_Chdr packed;
	if (!(header->sh_flags & SHF_COMPRESSED) || !gelf_getchdr(section, &packed))
		return false;
	*unpacked += packed.ch_size;
	return is_much_larger(packed.ch_size, header->sh_size) || is_much_larger(*unpacked, elf->size);
}

/* ".zdebug_..." is GNU's compression of before 2016: "ZLIB", the size, big endian, then zlib's stream. libdw undoes it
 * where its result cannot be looked at: so the section becomes a plain one before, whose name is the end of "..debug_".
 * names: the section of names. False: damaged. */
static bool unpack_old(Elf_Scn *section, GElf_Shdr *header, Elf_Scn *names)
{
	static const uint8_t mark[] = {'Z', 'L', 'I', 'B'};
	enum { HEAD = 12 };
	const Elf_Data *packed = elf_rawdata(section, NULL);
	Elf_Data *texts = elf_getdata(names, NULL);
	if (!packed || !packed->d_buf || packed->d_size < HEAD || memcmp(packed->d_buf, mark, sizeof mark) != 0 ||
	    is_much_larger(tw_load64((const uint8_t *)packed->d_buf + sizeof mark, true), header->sh_size) || !texts ||
	    !texts->d_buf || texts->d_size < header->sh_name + sizeof ".zdebug_" ||
	    elf_compress_gnu(section, 0, 0) < 0 || !gelf_getshdr(section, header))
		return false;
	header->sh_name++;
	((char *)texts->d_buf)[header->sh_name] = '.';
	return gelf_update_shdr(section, header) != 0;
}

static bool is_old(const char *name)
{
	return strncmp(name, ".zdebug_", strlen(".zdebug_")) == 0;
}

/* Makes the sections safe to read. False: better leave this DWARF alone. */
static bool prepare(struct tw_elf *elf)
{
	size_t names;
	uint64_t unpacked = 0;
	GElf_Shdr header;
	if (elf_getshdrstrndx(elf->elf, &names) != 0)
		return false;
	for (Elf_Scn *section = elf_nextscn(elf->elf, NULL); section; section = elf_nextscn(elf->elf, section)) {
		const char *name = NULL;
		if (gelf_getshdr(section, &header))
			name = elf_strptr(elf->elf, names, header.sh_name);
		if (name && (is_bomb(elf, section, &header, &unpacked) || !tw_elf_unpack(elf, section, &header) ||
		             (is_old(name) && !unpack_old(section, &header, elf_getscn(elf->elf, names))) ||
		             (is_text_section(name) && !terminate(section, &header))))
			return false;
	}
	return true;
}

static const Elf_Data *bytes_of(const struct tw_elf *elf, const char *name)
{
	GElf_Shdr header;
	Elf_Scn *section = tw_elf_section(elf, name, &header);
	const Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	return data && data->d_buf ? data : NULL;
}

bool tw_lines_read(struct tw_elf *elf, const struct tw_places *places, struct Dwarf **handle)
{
	Dwarf *dwarf = prepare(elf) ? dwarf_begin_elf(elf->elf, DWARF_C_READ, NULL) : NULL;
	const Elf_Data *abbreviations = dwarf ? bytes_of(elf, ".debug_abbrev") : NULL;
	*handle = dwarf;
	if (!dwarf || !tw_abbreviations_fit(bytes_of(elf, ".debug_info"), abbreviations, elf->big) ||
	    !tw_abbreviations_fit(bytes_of(elf, ".debug_types"), abbreviations, elf->big) ||
	    !tw_dwarf_fits(dwarf, bytes_of(elf, ".debug_line"), abbreviations, elf->big))
		return false;
	bool any = false;
	Dwarf_CU *unit = NULL;
	Dwarf_Die top, split;
	uint8_t type;
	while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &top, &split) == 0) {
		bool is_split = type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit;
		struct unit_walk walk = {.places = places};
		visit(&walk, is_split ? &split : &top, 0);
		any = true;
	}
	return any;
}
