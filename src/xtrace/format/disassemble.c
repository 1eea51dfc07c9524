/* disassemble.c - instructions as text: capstone's, kept by opcode. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/format/disassemble.h"

#include "base/bytes/bytes.h"
#include "xtrace/format/capstone.h"
#include "xtrace/format/opcode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 1 << 13, KEPT_TEXT = 58 };

/* The text of an opcode; without the last operand where that depends on the PC. */
struct cached_text {
	uint32_t opcode;
	uint8_t length; /* 0: nothing is kept here */
	bool relative;
	char text[KEPT_TEXT];
};

struct xtrace_disassembler {
	struct xtrace_capstone *capstone; /* NULL: it is not there, and instructions have no text */
	struct xtrace_operations operations;
	struct cached_text kept[KEPT];
};

struct xtrace_disassembler *xtrace_disassembler_new(void)
{
	struct xtrace_disassembler *disassembler = calloc(1, sizeof *disassembler);
	if (disassembler && xtrace_capstone_open(&disassembler->capstone))
		return disassembler;
	xtrace_disassembler_free(disassembler);
	return NULL;
}

void xtrace_disassembler_free(struct xtrace_disassembler *disassembler)
{
	if (disassembler)
		xtrace_capstone_close(disassembler->capstone);
	free(disassembler);
}

/* The whole text, as capstone has it for an instruction at 0. */
static void make(struct xtrace_disassembler *disassembler, uint32_t opcode, char text[XTRACE_TEXT])
{
	uint8_t bytes[4];
	tw_store32(bytes, opcode, false);
	if (!disassembler->capstone)
		xtrace_capstone_note_absence();
	if (!disassembler->capstone || !xtrace_capstone_text(disassembler->capstone, bytes, text))
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
