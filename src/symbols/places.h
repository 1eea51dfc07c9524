/* places.h - what a list tells of files, until their functions are added. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_PLACES_H
#define SYMBOLS_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TW_PLACES_MOST = 1 << 12, /* of files */
	TW_CODE_MOST = 1 << 16,   /* lines of code that are compared with each other */
	TW_PROGRAMS_MOST = 1 << 12,
	TW_LISTED_THREADS_MOST = 1 << 16
};

struct tw_listed_file {
	char *path;
	bool nameless; /* somewhere */
};

/* A file where it was loaded. One that is closed and opened again has another place. */
struct tw_place_of_file {
	size_t file;
	uint64_t start; /* of the first byte */
	size_t program; /* which has it there, by number in struct tw_places_read; 0: all */
	bool guessed;   /* the line with the first byte did not come yet: start is the lowest there is */
	bool has_code;
	bool is_shared; /* another file has the place, too: an address there is of either */
	bool is_parted; /* other programs have other code at the place */
};

struct tw_code {
	uint64_t start, end;
	size_t place, program; /* the place's */
};

/* A program as the list knows it. */
struct tw_listed_program {
	uint32_t number; /* in the list */
	size_t parent;   /* which it was forked from; 0: none */
	size_t mark;     /* how much code there was before that */
	bool has_own;    /* there are lines of it */
	size_t first;    /* and how much code there was before these */
};

struct tw_listed_thread {
	uint64_t number;
	size_t program;
};

/* Programs are numbered from 1. */
struct tw_listed {
	struct tw_listed_file *files;
	struct tw_place_of_file *places;
	struct tw_code *code;
	struct tw_listed_program *programs;
	struct tw_listed_thread *threads;
	size_t file_count, file_room, place_count, place_room, code_count, code_room, program_count, program_room,
	    thread_count, thread_room;
};

/* ---- listed.c: whose lines are whose. ---- */

/* Gives the number of a program, which is new where it was not met; 0: there is no room. Returns whether there was
 * memory. */
bool tw_list_program(struct tw_listed *list, uint32_t number, size_t *program);

/* Takes a comment, which may tell of a program or a thread. Returns whether there was memory. */
bool tw_list_note(struct tw_listed *list, const char *text);

/* Gives a program what it has of its parent's, where it has lines of its own for the first time. Returns the same. */
bool tw_list_own(struct tw_listed *list, size_t program);

/* ---- parted.c: places of several files. ---- */

/* Marks the places that are shared, and those that are parted. */
void tw_list_part(struct tw_listed *list);

/* ---- programs.c: their functions. ---- */

struct tw_symbols;

/* Adds a file of a list. Returns 0 or a negative status. */
int tw_list_add_file(struct tw_symbols *symbols, const char *path, const char *file, const uint64_t *starts,
                     size_t count);

/* Adds what is parted: the functions of each program, for its threads. path: of the list. Returns 0 or
 * TW_ERR_MEMORY. */
int tw_list_add_programs(struct tw_symbols *symbols, const char *path, struct tw_listed *list);

#endif
