/* capstone.c - capstone, loaded by who asks for the text of an instruction. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/format/capstone.h"

#include "base/load.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Loaded by who needs it: its 77,000 relocations take longer than all else at the start of a program. */
#define CAPSTONE_LIST(X)                                                                                               \
	X(cs_open)                                                                                                     \
	X(cs_close)                                                                                                    \
	X(cs_malloc)                                                                                                   \
	X(cs_free)                                                                                                     \
	X(cs_disasm_iter)

#define TEXT(x) #x
#define LIBRARY(version) "libcapstone.so." TEXT(version)
#define PACKAGE(version) "libcapstone" TEXT(version)

struct xtrace_capstone {
#define X(name) __typeof__(&(name)) name;
	CAPSTONE_LIST(X)
#undef X
	csh handle;
	cs_insn *room;
};

TW_DLOPEN_NOTE(LIBRARY(CS_API_MAJOR), "disassembly", "The text of instructions", "recommended")

/* Loading does not always tell that it was for lack of memory, and opening does not look whether it gets any. */
enum { TO_LOAD = 1 << 24, TO_OPEN = 1 << 16 };

/* Volatile, because clang takes out an allocation that is only freed, and then says that there was memory. */
static bool has_memory(size_t size)
{
	void *volatile room = malloc(size);
	const bool has = room;
	free(room);
	return has;
}

enum loaded { LOADED, ABSENT, NO_MEMORY };

/* ABSENT: the library is not there, or one of its functions. */
static enum loaded load(struct xtrace_capstone *capstone)
{
	static const struct tw_loaded functions[] = {
#define X(name) {#name, offsetof(struct xtrace_capstone, name)},
	    CAPSTONE_LIST(X)
#undef X
	};
	errno = 0;
	if (!tw_load(LIBRARY(CS_API_MAJOR), capstone, functions, sizeof functions / sizeof *functions))
		return LOADED;
	return errno == ENOMEM || !has_memory(TO_LOAD) ? NO_MEMORY : ABSENT;
}

/* False when there is no memory. */
static bool start(struct xtrace_capstone *capstone)
{
	if (!has_memory(TO_OPEN) || capstone->cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &capstone->handle) != CS_ERR_OK)
		return false;
	capstone->room = capstone->cs_malloc(capstone->handle);
	return capstone->room;
}

bool xtrace_capstone_open(struct xtrace_capstone **capstone)
{
	struct xtrace_capstone *fresh = calloc(1, sizeof *fresh);
	*capstone = NULL;
	if (!fresh)
		return false;
	const enum loaded loaded = load(fresh);
	if (loaded == LOADED && start(fresh)) {
		*capstone = fresh;
		return true;
	}
	xtrace_capstone_close(fresh);
	return loaded == ABSENT;
}

void xtrace_capstone_close(struct xtrace_capstone *capstone)
{
	if (!capstone)
		return;
	if (capstone->room)
		capstone->cs_free(capstone->room, 1);
	if (capstone->handle)
		capstone->cs_close(&capstone->handle);
	free(capstone);
}

void xtrace_capstone_note_absence(void)
{
	tw_note_absence(
	    "instructions have no text without " LIBRARY(CS_API_MAJOR) ", Debian's package " PACKAGE(CS_API_MAJOR));
}

bool xtrace_capstone_text(struct xtrace_capstone *capstone, const uint8_t bytes[4], char text[XTRACE_TEXT])
{
	const uint8_t *code = bytes;
	size_t size = 4;
	uint64_t at = 0;
	if (!capstone->cs_disasm_iter(capstone->handle, &code, &size, &at, capstone->room))
		return false;
	snprintf(text, XTRACE_TEXT, "%s%s%s", capstone->room->mnemonic, *capstone->room->op_str ? " " : "",
	         capstone->room->op_str);
	return true;
}
