/* passage.h - what a core executes beside the program: the kernel, and other tasks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLICE_PASSAGE_H
#define SLICE_PASSAGE_H

#include "xtrace/walk/calls.h"

struct slice_passage {
	struct xtrace_task own; /* the program's */
	struct xtrace_task set; /* the task that is executed, as the kernel set it */
	uint32_t opcode;        /* of the last instruction */
	bool of_core;
	bool in_kernel;
	bool had_registers; /* an ALLGPR came behind the last instruction: the level changes, or there is a gap */
	bool gap;           /* instructions were left out since this was false */
	bool away;          /* what is executed in user mode is another task's */
	bool left;          /* another task was executed since this was false */
};

/* Begins where a snapshot was made. */
void slice_passage_begin(struct slice_passage *passage, const struct tw_xtrace_snapshot *snapshot, bool of_core);

/* Takes each token. Returns whether it is of the program: its own, or what the kernel gives back to it. */
bool slice_passage_take(struct slice_passage *passage, const struct tw_xtrace_token *token);

/* Whether the kernel of another core executes the program's task. Returns 1, 0, or a negative status. */
int slice_runs_elsewhere(const struct slice_passage *passage, struct tw_reader *reader,
                         const struct xtrace_track *track);

/* Reads on, and finds the next snapshot behind another to begin at: of an instruction in user mode; here: the token
 * that was read last may be one. Returns its number, plus 1; 0: there is none. */
uint64_t slice_next_start(struct xtrace_cursor *cursor, uint64_t behind, bool here);

#endif
