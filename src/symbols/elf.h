/* elf.h - an open ELF file, and what is read of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_ELF_H
#define SYMBOLS_ELF_H

#include "symbols/program.h"

#include <gelf.h>

/* A function while it is being named. Texts are borrowed from the ELF files until tw_symbols_open() copies them. */
struct tw_place {
	uint64_t address;
	uint64_t size; /* as a symbol says; 0: not known */
	uint32_t id;
	uint32_t rank; /* how good the symbol is; 0: there is none yet */
	uint32_t line;
	const char *symbol;
	const char *file;
};

/* All functions, by address and then id. What is known of an address is in the first of its places. */
struct tw_places {
	struct tw_place *items;
	size_t count;
};

struct tw_elf {
	Elf *elf; /* NULL: not open */
	int fd;
	bool wide; /* 64 bit */
	bool big;
	uint16_t type, machine;
	uint64_t size;                /* of the file */
	struct tw_unpacked *unpacked; /* unpack.c: what sections were made of, until the file is closed */
};

/* Opens an ELF file of any class and byte order. Only programs and shared libraries are taken. On failure the error is
 * told in `symbols`, and nothing is left open. */
int tw_elf_open(struct tw_symbols *symbols, struct tw_elf *elf, const char *path);
void tw_elf_close(struct tw_elf *elf);

/* The bytes of a table of the program: symbols, relocations. NULL when it cannot be read, or is larger than programs
 * have them: then it takes no memory either. */
Elf_Data *tw_elf_table(Elf_Scn *section, const GElf_Shdr *header);

/* Finds a section by name, NULL when there is none. */
Elf_Scn *tw_elf_section(const struct tw_elf *elf, const char *name, GElf_Shdr *header);

/* Finds the first section of a type (SHT_...), from the one after `from` (NULL: from the start). */
Elf_Scn *tw_elf_next(const struct tw_elf *elf, Elf_Scn *from, uint32_t type, GElf_Shdr *header);

/* Puts what zstd has compressed in the place of a section, in memory. False: damaged, or no memory. */
bool tw_elf_unpack(struct tw_elf *elf, Elf_Scn *section, GElf_Shdr *header);
void tw_elf_free_unpacked(struct tw_elf *elf);

/* How the entries of xray_instr_map lie. Source: LLVM, AsmPrinter.cpp, emitXRayTable. */
struct tw_sled_layout {
	size_t entry;   /* size in bytes */
	size_t word;    /* of an address; the first word is the sled, the second its function */
	size_t version; /* offset of the version */
};

/* The bytes of a map, copied so that relocations can be applied. */
struct tw_sleds {
	const struct tw_sled_layout *layout;
	uint8_t *bytes;
	size_t size;
	uint64_t address;
};

enum { TW_SLED_RELATIVE = 2 }; /* from this version of an entry on, its words are relative to where they stand */

/* Reads the instrumentation map: the sleds, and places[id - 1].address of each function, in the order of the ids. Who
 * calls frees places->items. */
int tw_sleds_read(struct tw_symbols *symbols, const struct tw_elf *elf, struct tw_places *places);

/* Applies the dynamic relocations to the absolute entries of a map. */
void tw_sleds_relocate(const struct tw_elf *elf, const struct tw_sleds *sleds);

/* The first place of an address, NULL when no function is there. */
struct tw_place *tw_places_find(const struct tw_places *places, uint64_t address);

/* Which of two symbol tables is believed. */
enum { TW_TRUST_DYNAMIC, TW_TRUST_STATIC };

/* Takes the best symbol of each place from the symbol tables of a type (SHT_SYMTAB, SHT_DYNSYM). Symbols of a table
 * with a higher `trust` win. Returns whether there is a table. */
bool tw_names_read(const struct tw_elf *elf, uint32_t type, unsigned trust, const struct tw_places *places);

enum { TW_LONGEST_PATH = 4096 };

/* Drops what texts that lie over each other make of a small file: names once they have several times its bytes
 * together, and files that are no path. */
void tw_places_bound(const struct tw_places *places, uint64_t file_size);

/* Takes file and line of each place from DWARF. *handle is what holds the texts: give it to dwarf_end(). Returns
 * whether there is any DWARF. */
struct Dwarf;
bool tw_lines_read(struct tw_elf *elf, const struct tw_places *places, struct Dwarf **handle);

/* bounds.c: whether libdw's time and memory for lines are in proportion to the program. They are not where tables of
 * lines lie over each other, many files are in a directory that is no path, or entries have attributes without end.
 * units, lines, abbreviations: the sections of these; NULL: there is none. The first asks before libdw looks. */
bool tw_abbreviations_fit(const Elf_Data *units, const Elf_Data *abbreviations, bool big);
bool tw_dwarf_fits(struct Dwarf *dwarf, const Elf_Data *lines, const Elf_Data *abbreviations, bool big);

/* Opens the separate file with debug information that belongs to a program. False when there is none. */
bool tw_debug_open(struct tw_symbols *symbols, const struct tw_elf *program, struct tw_elf *debug);

#endif
