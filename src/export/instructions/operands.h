/* operands.h - which registers an instruction of AArch64 reads and writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_INSTRUCTIONS_OPERANDS_H
#define EXPORT_INSTRUCTIONS_OPERANDS_H

#include <stdint.h>

/* Numbers: X0 to X30 are 0 to 30. */
enum { TW_OPERAND_SP = 31, TW_OPERAND_FLAGS = 32, TW_OPERAND_VECTOR = 33 /* V0 to V31 from here on */ };
enum { TW_OPERANDS = 6 };

struct tw_operands {
	uint8_t read[TW_OPERANDS], written[TW_OPERANDS];
	uint8_t read_count, written_count;
};

/* Finds them for all but branches, whose registers are their targets and conditions. Of structures of several vectors
 * only the first vector is told; SVE and SME are unknown, and have none. */
void tw_operands_of(uint32_t opcode, struct tw_operands *operands);

#endif
