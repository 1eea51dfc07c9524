/* zeroes.h - what DC ZVA stores where a token DC is all that tells of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_WALK_ZEROES_H
#define XTRACE_WALK_ZEROES_H

#include "xtrace/xtrace.h"

/* All zero to begin a track. */
struct xtrace_zeroes {
	uint32_t opcode; /* of the last instruction; 0: not known */
	uint32_t block;  /* bytes, as DCZID_EL0 was read to say; 0: not read */
	bool stored;     /* the instruction has a STORE */
	bool pending;    /* the token that was given last is a DC, and a store comes next: */
	uint64_t address;
};

/* As xtrace_cursor_next(), but a DC of DC ZVA or DC GZVA that comes without a STORE is followed by one, of zeros: of
 * the size that the layout tells, else of what a read of DCZID_EL0 told, else of 64 bytes. The cursor stays at the
 * DC. */
int xtrace_zeroes_next(struct xtrace_zeroes *zeroes, struct xtrace_cursor *cursor, struct tw_xtrace_token *token);

#endif
