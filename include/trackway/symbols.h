/* symbols.h - function numbers and addresses to names and source lines, from a program's ELF file or its YAML map. */
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

/* What a sled is for, as the instrumentation map numbers it. Source: LLVM, llvm/XRay/InstrumentationMap.h, SledEntry */
enum tw_sled_kind {
	TW_SLED_ENTRY,
	TW_SLED_EXIT,
	TW_SLED_TAIL_EXIT,
	TW_SLED_ARGS_ENTRY, /* an entry that logs the first argument */
	TW_SLED_CUSTOM_EVENT,
	TW_SLED_TYPED_EVENT,
	TW_SLED_KINDS
};

/* A place in the code that XRay can patch. */
struct tw_symbols_sled {
	uint64_t address;  /* as linked */
	uint64_t function; /* its function's, as linked */
	uint32_t id;       /* its function's */
	uint8_t kind;      /* enum tw_sled_kind; later versions may have more */
	uint8_t always;    /* not 0: the source asks for it, whatever the size of the function */
	uint8_t version;
};

/* Opens a program (or shared library) and reads its XRay instrumentation map (ELF section xray_instr_map), symbol table
 * and, where there is DWARF, the file and line of each function; or a map in YAML, as `llvm-xray extract` writes it,
 * which has no files and lines, and where ids may be left out. *symbols is set even on failure (NULL only for
 * TW_ERR_MEMORY) so that tw_symbols_error() can tell why; close it in any case.
 * Returns 0, TW_ERR_SYSTEM (cannot be read), TW_ERR_FORMAT (neither ELF nor YAML, or damaged),
 * TW_ERR_UNSUPPORTED (no instrumentation map: not built with -fxray-instrument; or a Mach-O file) or TW_ERR_MEMORY. */
TW_API int tw_symbols_open(struct tw_symbols **symbols, const char *path);

/* Begins a handle without functions, for tw_symbols_add(). Returns 0 or TW_ERR_MEMORY; then *symbols is NULL. */
TW_API int tw_symbols_new(struct tw_symbols **symbols);

/* Names that are asked for or added from now on are symbols, as the symbol table has them; otherwise they are
 * demangled. */
TW_API void tw_symbols_keep_mangled(struct tw_symbols *symbols);

/* Adds the functions of one of several objects, a program or shared library that tw_symbols_open() would take: a log
 * tells them by ids of object << 24 | function. Source: LLVM 20, compiler-rt, xray_interface.cpp, where the program is
 * object 0. Another file of the same number is in place of the first. Nothing may use the namer meanwhile. Returns what
 * tw_symbols_open() does, or TW_ERR_VALUE for a number above TW_OBJECT_MOST. */
enum { TW_OBJECT_BITS = 24, TW_OBJECT_MOST = 255 };
TW_API int tw_symbols_add_object(struct tw_symbols *symbols, uint64_t number, const char *path);

/* Adds the functions of a program or shared library by address: from its symbol tables, with file and line of each
 * where there is DWARF (in the program, or in its file with debug information). load_address: where its first byte was
 * loaded; NULL: where it is linked to, which only programs have that cannot be loaded elsewhere. Nothing may use the
 * namer meanwhile. Returns 0, TW_ERR_SYSTEM, TW_ERR_FORMAT, TW_ERR_VALUE (it can be loaded anywhere and load_address
 * is NULL, or it was not loaded there) or TW_ERR_MEMORY. */
TW_API int tw_symbols_add(struct tw_symbols *symbols, const char *path, const uint64_t *load_address);

/* Adds the files that a list names, as /proc/PID/maps is; also lines with an address and a path. A file that is not
 * there is looked for beside the list. One that is listed at several places has names at each. Code of two files may be
 * at one place, as processes have it: where the list tells of which programs both are, and which threads those have,
 * as that of `trackway record` does, tw_symbols_thread_namers() names it; otherwise it has no names. Returns how many
 * files could not be read or have such a place (the error is about the last of them), or a negative status. */
TW_API int tw_symbols_add_maps(struct tw_symbols *symbols, const char *path);

/* Adds the functions of a kernel, as /proc/kallsyms or System.map tells them: lines of an address, nm's type (functions
 * are T, t, W and w), a name, and perhaps a tab and "[module]", which is part of the name then. Returns 0,
 * TW_ERR_VALUE where all addresses are 0, as the kernel gives them to who may not see them, or what tw_symbols_add()
 * does. */
TW_API int tw_symbols_add_kallsyms(struct tw_symbols *symbols, const char *path);

/* Adds the programs that a trace tells of itself: those of a log that `trackway record --to xray-fdr` wrote, or, of
 * instructions, those of the list that `record` put beside them. symbols: from tw_symbols_new(); nothing may use the
 * namer meanwhile. Returns how many could not be read, or are other ones by now (the error is about the last of them),
 * 0 also where the trace tells of none, or a negative status. Each log names its own functions, also those that stand
 * behind others in a file: as it is opened by the path that was added, with the namer of these symbols. */
TW_API int tw_symbols_add_trace(struct tw_symbols *symbols, const char *path);

/* Closes; NULL is fine. All texts end here. */
TW_API void tw_symbols_close(struct tw_symbols *symbols);

/* One line about the failure; never NULL. Lives until close. */
TW_API const char *tw_symbols_error(const struct tw_symbols *symbols);

/* How many XRay functions there are: of a program, ids run from 1 to this. */
TW_API uint32_t tw_symbols_functions(const struct tw_symbols *symbols);

/* Returns the function of an id, NULL when there is none. Lives until close. */
TW_API const struct tw_symbols_function *tw_symbols_function(struct tw_symbols *symbols, uint32_t id);

/* Gives the sleds in the order of the map, and returns how many there are. They live until close. */
TW_API size_t tw_symbols_sleds(const struct tw_symbols *symbols, const struct tw_symbols_sled **sleds);

/* The name of a kind in a YAML map: "function-enter". NULL where there is none. */
TW_API const char *tw_sled_kind_name(unsigned kind);

/* A namer over XRay function ids and what was added by address, for struct tw_read_options. Lives until close. */
TW_API const struct tw_namer *tw_symbols_namer(struct tw_symbols *symbols);

/* The namers of threads whose programs lie where others do, for struct tw_read_options; NULL where there are none.
 * Lives until close. */
TW_API const struct tw_thread_namers *tw_symbols_thread_namers(struct tw_symbols *symbols);

#ifdef __cplusplus
}
#endif

#endif
