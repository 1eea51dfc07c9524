/* program.h - what the files of this folder share: the handle, its functions by number and by address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_PROGRAM_H
#define SYMBOLS_PROGRAM_H

#include <trackway/symbols.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TW_SYMBOLS_ERROR = 512 };

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
	uint64_t load;            /* of the program in the addresses of the handle */
	uint64_t distance;        /* of number `first` from there */
	struct tw_symbols *sleds; /* of a program with a map; NULL: by addresses */
	const char *program;      /* its path */
	bool by_address;
	bool is_again;   /* `sleds` is another's */
	bool is_missing; /* it has no names */
};

/* The programs of threads, where several programs have the same addresses. */
struct tw_programs {
	struct tw_thread_namers namers;
	void (*close)(struct tw_programs *programs);
};

/* What logs tell of their programs. */
struct tw_log_programs {
	void (*close)(struct tw_log_programs *programs);
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
	struct tw_programs *programs; /* programs.c: what some threads find at the same addresses; NULL: nothing */
	struct tw_log_programs *log_programs; /* trace.c: the programs that logs tell of; NULL: no trace was added */
	struct tw_chunk *texts;
	struct tw_namer namer;
	char *path;
	char error[TW_SYMBOLS_ERROR];
};

/* Writes the error, with the path in front. Returns status. */
int tw_symbols_fail(struct tw_symbols *symbols, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Keeps a copy of a text until the handle is closed. NULL when there is no memory. */
const char *tw_symbols_keep(struct tw_symbols *symbols, const char *text);
void tw_symbols_free_texts(struct tw_symbols *symbols);

/* Reads a map in YAML: sleds and functions, with the names that it has. */
int tw_sleds_read_yaml(struct tw_symbols *symbols, const char *path);

/* Of `kinds`: the function cannot be the one that a log means. Bit TW_SLED_KINDS: it has a sled of an unknown kind. */
enum { TW_SYMBOLS_UNFIT = 1 << 7 };

/* The function of an id, NULL when there is none. */
const struct tw_symbols_function *tw_symbols_find(const struct tw_symbols *symbols, uint32_t id);

/* Keeps the name of a function as it is shown, from its symbol. Returns whether there was memory. */
bool tw_symbols_name(struct tw_symbols *symbols, struct tw_symbols_function *function, size_t *budget);

/* Marks of the assembler that are no function's name: "$x", "$d.3" (mapping symbols of ARM), ".Ltmp0". */
bool tw_is_mark(const char *name);

/* Reads the functions, sleds, files and lines of an ELF file into a handle that has none. Returns a status. */
int tw_symbols_read_program(struct tw_symbols *symbols, const char *path);

enum { TW_BUILD_ID = 64 }; /* digits at most */

/* Whether a program has a build id, in hexadecimal ("-": none is asked for); true where it cannot be read, too, which
 * is told where it is opened. */
bool tw_symbols_has_id(const char *path, const char *id);

/* As tw_symbols_add(), for a file that was loaded `count` times; addresses NULL: once, where it is linked to. */
int tw_symbols_add_places(struct tw_symbols *symbols, const char *path, const uint64_t *load_addresses, size_t count);

/* Adds a function where it was loaded, with the name of a symbol as it is shown. Returns whether there was memory. */
bool tw_symbols_keep_placed(struct tw_symbols *symbols, struct tw_placed placed, const char *symbol, size_t *budget);

/* Puts all functions in the order of their addresses, when some were added. */
void tw_symbols_sort_placed(struct tw_symbols *symbols);

/* Opens the list at `path` of the handle, all of `lines` zero but the limit; the error is told in the handle. Close it
 * in any case, with the status of the reading. Returns 0 or a negative status. */
struct tw_text_lines;
int tw_symbols_open_list(struct tw_symbols *symbols, struct tw_text_lines *lines);
void tw_symbols_close_list(struct tw_symbols *symbols, struct tw_text_lines *lines, int status);

/* The namer's function for addresses. */
int tw_symbols_address(void *context, uint64_t address, struct tw_name *name, struct tw_range *range);

#endif
