/* load.h - libraries that few commands need, loaded by the first who does.
 *
 * The relocations of some take longer than all else at the start of a program: one that is linked with them pays for
 * them each time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LOAD_H
#define BASE_LOAD_H

#include <stddef.h>
#include <stdint.h>

/* Declares what may be loaded, for who packages: `library` is its name, `feature` a word, `priority` "recommended" or
 * "suggested", all literals. Source: systemd, "ELF dlopen metadata" (uapi-group.org), version 1. */
#define TW_DLOPEN_NOTE(library, feature, description, priority)                                                        \
	TW_DLOPEN_NOTE_AT_LINE(__LINE__, "[{\"feature\":\"" feature "\",\"description\":\"" description                \
	                                 "\",\"priority\":\"" priority "\",\"soname\":[\"" library "\"]}]")
#define TW_DLOPEN_NOTE_AT_LINE(line, json) TW_DLOPEN_NOTE_NAMED(line, json)
#define TW_DLOPEN_NOTE_NAMED(line, json)                                                                               \
	__attribute__((section(".note.dlopen"), used, aligned(4))) static const struct {                               \
		uint32_t name_size, size, type;                                                                        \
		char name[4], text[(sizeof(json) + 3) / 4 * 4];                                                        \
	} dlopen_note_##line = {sizeof "FDO", sizeof(json), 0x407c0c0a, "FDO", json};

/* A function of a library, and where in a struct its address goes. */
struct tw_loaded {
	const char *name;
	size_t offset;
};

/* Loads a library ("libedit.so.2"), which stays loaded, and sets the functions, members of a struct. Returns NULL, or
 * what is missing, in words that live until the thread loads again; then the functions are not to be called. Call it
 * before there are threads that call them. */
const char *tw_load(const char *library, void *functions, const struct tw_loaded *list, size_t count);

/* Notes what is left out for lack of a library, for who runs the program: a literal. The first note stays. */
void tw_note_absence(const char *words);

/* The note, NULL where nothing was left out. */
const char *tw_noted_absence(void);

#endif
