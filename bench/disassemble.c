/* disassemble.c - has capstone disassemble each instruction of an xtrace's data file anew. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <capstone/capstone.h>

#include <trackway/xtrace.h>

enum { CHUNK = 1 << 20 };

static uint8_t bytes[CHUNK];

int main(int count, char **words)
{
	FILE *file = count == 2 ? fopen(words[1], "rb") : NULL;
	struct tw_xtrace_token token;
	uint64_t pc = 0, shown = 0;
	size_t left = 0, at = 0, got;
	csh capstone;
	if (!file || cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &capstone) != CS_ERR_OK)
		return 2;
	cs_insn *room = cs_malloc(capstone);
	while ((got = fread(bytes + left, 1, CHUNK - left, file)) > 0) {
		left += got;
		for (at = 0; tw_xtrace_decode(bytes + at, left - at, &token) == 1; at += token.size) {
			if (token.kind != TW_XTRACE_INST && token.kind != TW_XTRACE_PCINST)
				continue;
			pc = token.kind == TW_XTRACE_PCINST ? token.pc : pc + 4;
			const uint8_t *code = bytes + at + token.size - 4;
			size_t size = 4;
			uint64_t address = pc;
			shown += cs_disasm_iter(capstone, &code, &size, &address, room);
		}
		left -= at;
		for (size_t i = 0; i < left; i++)
			bytes[i] = bytes[at + i];
	}
	printf("%llu\n", (unsigned long long)shown);
	return 0;
}
