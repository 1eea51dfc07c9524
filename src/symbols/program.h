/* program.h - what the files of this folder share: the handle, an open ELF file, the functions by address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_PROGRAM_H
#define SYMBOLS_PROGRAM_H

#include <trackway/symbols.h>

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TW_SYMBOLS_ERROR = 512 };

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

struct tw_chunk;

/* A function where it was loaded. */
struct tw_placed {
	uint64_t start, end;
	const char *name, *file;
	uint32_t line;
};

/* Which numbers a flight recorder's log gives to the functions of a program. */
struct tw_recorded {
	struct tw_recorded *next;
	uint64_t first, count;
	uint64_t start;           /* of number `first` in the addresses of the handle */
	struct tw_symbols *sleds; /* of a program with a map; NULL: by addresses */
};

struct tw_symbols {
	struct tw_symbols_function *functions; /* by id; nothing here changes after open, so threads may share it */
	uint32_t count;
	struct tw_symbols_sled *sleds; /* as in the map */
	size_t sled_count, sled_room;
	uint8_t *kinds;             /* fit.c: of the sleds of functions, a bit for each; NULL: not asked for */
	struct tw_symbols *objects; /* those of ids with another number in their upper byte */
	struct tw_symbols *next;    /* of the same program */
	uint32_t number;            /* of this object */
	struct tw_placed *placed;   /* by address; nothing changes after the last was added */
	size_t placed_count, placed_room;
	bool mangled;                 /* names are symbols */
	struct tw_recorded *recorded; /* recorded.c: which numbers a log gives to what functions */
	struct tw_chunk *texts;
	struct tw_namer namer;
	char *path;
	char error[TW_SYMBOLS_ERROR];
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

/* Writes the error, with the path in front. Returns status. */
int tw_symbols_fail(struct tw_symbols *symbols, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Keeps a copy of a text until the handle is closed. NULL when there is no memory. */
const char *tw_symbols_keep(struct tw_symbols *symbols, const char *text);
void tw_symbols_free_texts(struct tw_symbols *symbols);

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

/* Reads a map in YAML: sleds and functions, with the names that it has. */
int tw_sleds_read_yaml(struct tw_symbols *symbols, const char *path);

/* Applies the dynamic relocations to the absolute entries of a map. */
void tw_sleds_relocate(const struct tw_elf *elf, const struct tw_sleds *sleds);

/* Of `kinds`: the function cannot be the one that a log means. Bit TW_SLED_KINDS: it has a sled of an unknown kind. */
enum { TW_SYMBOLS_UNFIT = 1 << 7 };

/* The function of an id, NULL when there is none. */
const struct tw_symbols_function *tw_symbols_find(const struct tw_symbols *symbols, uint32_t id);

/* Keeps the name of a function as it is shown, from its symbol. Returns whether there was memory. */
bool tw_symbols_name(struct tw_symbols *symbols, struct tw_symbols_function *function, size_t *budget);

/* The first place of an address, NULL when no function is there. */
struct tw_place *tw_places_find(const struct tw_places *places, uint64_t address);

/* Marks of the assembler that are no function's name: "$x", "$d.3" (mapping symbols of ARM), ".Ltmp0". */
bool tw_is_mark(const char *name);

/* Which of two symbol tables is believed. */
enum { TW_TRUST_DYNAMIC, TW_TRUST_STATIC };

/* Takes the best symbol of each place from the symbol tables of a type (SHT_SYMTAB, SHT_DYNSYM). Symbols of a table
 * with a higher `trust` win. Returns whether there is a table. */
bool tw_names_read(const struct tw_elf *elf, uint32_t type, unsigned trust, const struct tw_places *places);

/* Takes file and line of each place from DWARF. *handle is what holds the texts: give it to dwarf_end(). Returns
 * whether there is any DWARF. */
struct Dwarf;
bool tw_lines_read(struct tw_elf *elf, const struct tw_places *places, struct Dwarf **handle);

/* As tw_symbols_add(), for a file that was loaded `count` times; addresses NULL: once, where it is linked to. */
int tw_symbols_add_places(struct tw_symbols *symbols, const char *path, const uint64_t *load_addresses, size_t count);

/* Adds a function where it was loaded; the name as it is shown. Returns whether there was memory. */
bool tw_symbols_keep_placed(struct tw_symbols *symbols, uint64_t start, uint64_t end, const char *symbol,
                            size_t *budget);

/* Puts all functions in the order of their addresses, when some were added. */
void tw_symbols_sort_placed(struct tw_symbols *symbols);

/* Opens the list at `path` of the handle, all of `lines` zero but the limit; the error is told in the handle. Close it
 * in any case, with the status of the reading. Returns 0 or a negative status. */
struct tw_text_lines;
int tw_symbols_open_list(struct tw_symbols *symbols, struct tw_text_lines *lines);
void tw_symbols_close_list(struct tw_symbols *symbols, struct tw_text_lines *lines, int status);

/* The namer's function for addresses. */
int tw_symbols_address(void *context, uint64_t address, struct tw_name *name, struct tw_range *range);

/* Opens the separate file with debug information that belongs to a program. False when there is none. */
bool tw_debug_open(struct tw_symbols *symbols, const struct tw_elf *program, struct tw_elf *debug);

#endif
