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

/* Closes; NULL is fine. All texts end here. */
TW_API void tw_symbols_close(struct tw_symbols *symbols);

/* One line about the failure; never NULL. Lives until close. */
TW_API const char *tw_symbols_error(const struct tw_symbols *symbols);

/* How many XRay functions there are: ids run from 1 to this. */
TW_API uint32_t tw_symbols_functions(const struct tw_symbols *symbols);

/* Returns the function of an id, NULL when there is none. Lives until close. */
TW_API const struct tw_symbols_function *tw_symbols_function(struct tw_symbols *symbols, uint32_t id);

/* A namer over XRay function ids, for struct tw_read_options. Lives until close. */
TW_API const struct tw_namer *tw_symbols_namer(struct tw_symbols *symbols);

#ifdef __cplusplus
}
#endif

#endif
