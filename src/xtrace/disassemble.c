/* disassemble.c - instructions as text: capstone's, kept by opcode. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/disassemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <capstone/capstone.h>

#include "base/bytes.h"
#include "xtrace/opcode.h"

enum { KEPT = 1 << 13, KEPT_TEXT = 58, HEX_DIGITS = 16 };

/* The text of an opcode; without the last operand where that depends on the PC. */
struct kept {
	uint32_t opcode;
	uint8_t length; /* 0: nothing is kept here */
	bool relative;
	char text[KEPT_TEXT];
};

struct xtrace_disassembler {
	csh capstone;
	cs_insn *room;
	struct xtrace_operations operations;
	struct kept kept[KEPT];
};

struct xtrace_disassembler *xtrace_disassembler_new(void)
{
	struct xtrace_disassembler *disassembler = calloc(1, sizeof *disassembler);
	if (!disassembler)
		return NULL;
	if (cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &disassembler->capstone) == CS_ERR_OK)
		disassembler->room = cs_malloc(disassembler->capstone);
	if (disassembler->room)
		return disassembler;
	xtrace_disassembler_free(disassembler);
	return NULL;
}

void xtrace_disassembler_free(struct xtrace_disassembler *disassembler)
{
	if (!disassembler)
		return;
	if (disassembler->room)
		cs_free(disassembler->room, 1);
	if (disassembler->capstone)
		cs_close(&disassembler->capstone);
	free(disassembler);
}

/* The whole text, as capstone has it for an instruction at 0. */
static void make(struct xtrace_disassembler *disassembler, uint32_t opcode, char text[XTRACE_TEXT])
{
	uint8_t bytes[4];
	const uint8_t *code = bytes;
	size_t size = sizeof bytes;
	uint64_t at = 0;
	tw_store32(bytes, opcode, false);
	if (cs_disasm_iter(disassembler->capstone, &code, &size, &at, disassembler->room))
		snprintf(text, XTRACE_TEXT, "%s%s%s", disassembler->room->mnemonic,
		         *disassembler->room->op_str ? " " : "", disassembler->room->op_str);
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
	struct kept *kept = &disassembler->kept[opcode * 0x9e3779b1u >> SHIFT];
	const struct xtrace_operation *operation = xtrace_find_operation(&disassembler->operations, opcode);
	if (!kept->length || kept->opcode != opcode) {
		char whole[XTRACE_TEXT];
		make(disassembler, opcode, whole);
		bool relative = operation->traits & XTRACE_RELATIVE && cut_target(whole);
		size_t length = strlen(whole);
		length = length < KEPT_TEXT ? length : KEPT_TEXT;
		*kept = (struct kept){.opcode = opcode, .length = (uint8_t)length, .relative = relative};
		memcpy(kept->text, whole, length);
	}
	memcpy(text, kept->text, KEPT_TEXT);
	size_t length = kept->length;
	return kept->relative ? length + put_target(text + length, xtrace_target(operation, pc)) : length;
}
