/* capstone.h - capstone, which knows the text of instructions, loaded by who asks for one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_FORMAT_CAPSTONE_H
#define XTRACE_FORMAT_CAPSTONE_H

#include "xtrace/format/disassemble.h"

#include <stdbool.h>

struct xtrace_capstone;

/* *capstone is NULL where there is none. Returns false when there is no memory. */
bool xtrace_capstone_open(struct xtrace_capstone **capstone);
void xtrace_capstone_close(struct xtrace_capstone *capstone);

/* Notes that instructions are left without a text (base/load.h). */
void xtrace_capstone_note_absence(void);

/* Writes the text of an instruction at 0. False: it is none. */
bool xtrace_capstone_text(struct xtrace_capstone *capstone, const uint8_t bytes[4], char text[XTRACE_TEXT]);

#endif
