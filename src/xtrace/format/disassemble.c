/* disassemble.c - instructions as text: capstone's, kept by opcode. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/format/disassemble.h"

#include "base/bytes/bytes.h"
#include "base/load.h"
#include "xtrace/format/opcode.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 1 << 13, KEPT_TEXT = 58 };

/* Loaded by who needs it: its 77,000 relocations take longer than all else at the start of a program. */
#define CAPSTONE_LIST(X)                                                                                               \
	X(cs_open)                                                                                                     \
	X(cs_close)                                                                                                    \
	X(cs_malloc)                                                                                                   \
	X(cs_free)                                                                                                     \
	X(cs_disasm_iter)

#define TEXT(x) #x
#define LIBRARY(version) "libcapstone.so." TEXT(version)

struct capstone {
#define X(name) __typeof__(&(name)) name;
	CAPSTONE_LIST(X)
#undef X
	csh handle; /* 0: capstone is not there, and instructions have no text */
	cs_insn *room;
};

/* The text of an opcode; without the last operand where that depends on the PC. */
struct cached_text {
	uint32_t opcode;
	uint8_t length; /* 0: nothing is kept here */
	bool relative;
	char text[KEPT_TEXT];
};

struct xtrace_disassembler {
	struct capstone capstone;
	struct xtrace_operations operations;
	struct cached_text kept[KEPT];
};

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
static enum loaded load(struct capstone *capstone)
{
	static const struct tw_loaded functions[] = {
#define X(name) {#name, offsetof(struct capstone, name)},
	    CAPSTONE_LIST(X)
#undef X
	};
	errno = 0;
	if (!tw_load(LIBRARY(CS_API_MAJOR), capstone, functions, sizeof functions / sizeof *functions))
		return LOADED;
	return errno == ENOMEM || !has_memory(TO_LOAD) ? NO_MEMORY : ABSENT;
}

/* False when there is no memory. */
static bool open_capstone(struct capstone *capstone)
{
	enum loaded loaded = load(capstone);
	if (loaded != LOADED)
		return loaded == ABSENT;
	if (!has_memory(TO_OPEN) || capstone->cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &capstone->handle) != CS_ERR_OK)
		return false;
	capstone->room = capstone->cs_malloc(capstone->handle);
	return capstone->room;
}

static void close_capstone(struct capstone *capstone)
{
	if (capstone->room)
		capstone->cs_free(capstone->room, 1);
	if (capstone->handle)
		capstone->cs_close(&capstone->handle);
}

struct xtrace_disassembler *xtrace_disassembler_new(void)
{
	struct xtrace_disassembler *disassembler = calloc(1, sizeof *disassembler);
	if (disassembler && open_capstone(&disassembler->capstone))
		return disassembler;
	xtrace_disassembler_free(disassembler);
	return NULL;
}

void xtrace_disassembler_free(struct xtrace_disassembler *disassembler)
{
	if (disassembler)
		close_capstone(&disassembler->capstone);
	free(disassembler);
}

/* The whole text, as capstone has it for an instruction at 0. */
static void make(struct xtrace_disassembler *disassembler, uint32_t opcode, char text[XTRACE_TEXT])
{
	const struct capstone *capstone = &disassembler->capstone;
	uint8_t bytes[4];
	const uint8_t *code = bytes;
	size_t size = sizeof bytes;
	uint64_t at = 0;
	tw_store32(bytes, opcode, false);
	if (capstone->handle && capstone->cs_disasm_iter(capstone->handle, &code, &size, &at, capstone->room))
		snprintf(text, XTRACE_TEXT, "%s%s%s", capstone->room->mnemonic, *capstone->room->op_str ? " " : "",
		         capstone->room->op_str);
	else
		snprintf(text, XTRACE_TEXT, ".inst 0x%08x", opcode);
}

/* Takes off the last operand, "#0x1234"; false where there is none. */
static bool cut_target(char *text)
{
	char *last = strrchr(text, '#');
	if (last)
		*last = '\0';
	return last != NULL;
}

static size_t put_target(char *text, uint64_t target)
{
	static const char digits[] = "0123456789abcdef";
	unsigned count = target ? (unsigned)(64 - __builtin_clzll(target) + 3) / 4 : 1;
	memcpy(text, "#0x", 3);
	for (unsigned i = 0; i < count; i++)
		text[3 + i] = digits[target >> (4 * (count - 1 - i)) & 15];
	return 3 + (size_t)count;
}

size_t xtrace_disassemble(struct xtrace_disassembler *disassembler, uint32_t opcode, uint64_t pc,
                          char text[XTRACE_TEXT])
{
	enum { SHIFT = 32 - 13 };
	struct cached_text *kept = &disassembler->kept[opcode * 0x9e3779b1u >> SHIFT];
	const struct xtrace_operation *operation = xtrace_find_operation(&disassembler->operations, opcode);
	if (!kept->length || kept->opcode != opcode) {
		char whole[XTRACE_TEXT];
		make(disassembler, opcode, whole);
		bool relative = operation->traits & XTRACE_RELATIVE && cut_target(whole);
		size_t length = strlen(whole);
		length = length < KEPT_TEXT ? length : KEPT_TEXT;
		*kept = (struct cached_text){.opcode = opcode, .length = (uint8_t)length, .relative = relative};
		memcpy(kept->text, whole, length);
	}
	memcpy(text, kept->text, KEPT_TEXT);
	size_t length = kept->length;
	return kept->relative ? length + put_target(text + length, xtrace_target(operation, pc)) : length;
}
