/* symbols.h - function numbers and addresses to names and source lines, from a program's ELF file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_SYMBOLS_H
#define TRACKWAY_SYMBOLS_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_symbols;

/* One XRay function: id is its place, from 1, in the order that the runtime numbers them. */
struct tw_symbols_function {
	uint32_t id;
	uint64_t address;   /* as linked: the symbol's st_value */
	const char *symbol; /* as in the symbol table, NULL where there is none */
	const char *name;   /* demangled; "@0x<address>" where there is no symbol */
	const char *file;   /* from DWARF, NULL where not known */
	uint32_t line;      /* 0 where not known */
};

/* Opens a program (or shared library) and reads its XRay instrumentation map (ELF section xray_instr_map), symbol table
 * and, where there is DWARF, the file and line of each function. *symbols is set even on failure (NULL only for
 * TW_ERR_MEMORY) so that tw_symbols_error() can tell why; close it in any case.
 * Returns 0, TW_ERR_SYSTEM (cannot be read), TW_ERR_FORMAT (no ELF file, or damaged), TW_ERR_UNSUPPORTED (no
 * instrumentation map: not built with -fxray-instrument) or TW_ERR_MEMORY. */
TW_API int tw_symbols_open(struct tw_symbols **symbols, const char *path);

/* Begins a handle without functions, for tw_symbols_add(). Returns 0 or TW_ERR_MEMORY; then *symbols is NULL. */
TW_API int tw_symbols_new(struct tw_symbols **symbols);

/* Adds the functions of a program or shared library by address: from its symbol tables, with file and line of each
 * where there is DWARF (in the program, or in its file with debug information). load_address: where its first byte was
 * loaded; NULL: where it is linked to, which only programs have that cannot be loaded elsewhere. Nothing may use the
 * namer meanwhile. Returns 0, TW_ERR_SYSTEM, TW_ERR_FORMAT, TW_ERR_VALUE (it can be loaded anywhere and load_address
 * is NULL, or it was not loaded there) or TW_ERR_MEMORY. */
TW_API int tw_symbols_add(struct tw_symbols *symbols, const char *path, const uint64_t *load_address);

/* Adds the files that a list names, as /proc/PID/maps is; also lines with an address and a path. A file that is not
 * there is looked for beside the list. One that is listed at several places has names at each; where code of two files
 * is at one place, as processes may have it after a fork(), neither has. Returns how many files could not be read or
 * have such a place (the error is about the last of them), or a negative status. */
TW_API int tw_symbols_add_maps(struct tw_symbols *symbols, const char *path);

/* Closes; NULL is fine. All texts end here. */
TW_API void tw_symbols_close(struct tw_symbols *symbols);

/* One line about the failure; never NULL. Lives until close. */
TW_API const char *tw_symbols_error(const struct tw_symbols *symbols);

/* How many XRay functions there are: ids run from 1 to this. */
TW_API uint32_t tw_symbols_functions(const struct tw_symbols *symbols);

/* Returns the function of an id, NULL when there is none. Lives until close. */
TW_API const struct tw_symbols_function *tw_symbols_function(struct tw_symbols *symbols, uint32_t id);

/* A namer over XRay function ids and what was added by address, for struct tw_read_options. Lives until close. */
TW_API const struct tw_namer *tw_symbols_namer(struct tw_symbols *symbols);

#ifdef __cplusplus
}
#endif

#endif
