/* disassemble.h - instructions as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_FORMAT_DISASSEMBLE_H
#define XTRACE_FORMAT_DISASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

struct xtrace_disassembler;

/* NULL when there is no memory. */
struct xtrace_disassembler *xtrace_disassembler_new(void);
void xtrace_disassembler_free(struct xtrace_disassembler *disassembler);

enum { XTRACE_TEXT = 200 };

/* Writes the text of an instruction, ".inst 0x..." where it is not known, or capstone is not there; returns the
 * characters, which are not terminated. */
size_t xtrace_disassemble(struct xtrace_disassembler *disassembler, uint32_t opcode, uint64_t pc,
                          char text[XTRACE_TEXT]);

#endif
