/* steps.h - the tokens of one thread of an xtrace, with what is known of the instruction that they belong to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_INSTRUCTIONS_STEPS_H
#define EXPORT_INSTRUCTIONS_STEPS_H

#include "xtrace/format/opcode.h"
#include "xtrace/walk/zeroes.h"

struct tw_steps {
	struct tw_reader *reader;
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_zeroes zeroes;
	struct xtrace_operations operations;
	struct tw_xtrace_token token; /* the last */
	bool begins;                  /* the token is an instruction: */
	uint64_t index;               /* its number in the thread */
	uint64_t pc;
	bool has_pc;
	const struct xtrace_operation *operation;
	uint64_t before; /* the PC of the one before it */
	bool follows;    /* its PC is known, and nothing is lost between */
};

/* Opens the one thread that the options leave. Returns 0 or a negative status; close it in any case. */
int tw_steps_open(struct tw_steps *steps, struct tw_reader *reader);
void tw_steps_close(struct tw_steps *steps);

/* Goes to the next token of the window of instructions that is asked for. Returns 1, 0 at the end, or a negative
 * status. Behind the window the instruction that comes next is known, if there is one. */
int tw_steps_next(struct tw_steps *steps);

#endif
