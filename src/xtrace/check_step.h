/* check_step.h - an instruction that is being checked: what its tokens add up to. Inline, for check_run.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_CHECK_STEP_H
#define XTRACE_CHECK_STEP_H

#include "xtrace/jobs/check.h"

enum { XTRACE_WORD = 4 }; /* bytes of an instruction */

/* How many bytes the instruction loads, or stores where these are more: all lie in so many from the lowest address. */
static inline uint64_t xtrace_step_most(const struct xtrace_operation *operation)
{
	return operation->load > operation->store ? operation->load : operation->store;
}

/* Whether the instruction, whose tokens have all been taken, accessed what it must and has nothing else to judge. Most
 * are judged by this alone. */
static inline bool xtrace_step_is_done(const struct xtrace_step *step)
{
	const struct xtrace_operation *operation = step->operation;
	return !((step->loaded ^ operation->load) | (step->stored ^ operation->store)) && operation->simple &&
	       step->high - step->low <= xtrace_step_most(operation);
}

/* Begins the next instruction, whose PC has been taken. */
static inline void xtrace_begin_step(struct xtrace_checker *checker, uint32_t opcode, uint8_t level, uint64_t offset)
{
	struct xtrace_step *step = &checker->step;
	step->operation = xtrace_find_operation(&checker->operations, opcode);
	step->offset = offset;
	step->level = level;
	step->seen = 0;
	step->arguments = 0;
	step->loaded = step->stored = 0;
	step->low = step->high = 0;
	checker->count++;
	checker->user += level == 0;
}

/* Adds an access to those of the instruction. */
static inline void xtrace_take_access(struct xtrace_step *step, bool stores, uint64_t address, uint32_t size)
{
	uint64_t end = address + size;
	bool first = !step->loaded && !step->stored;
	step->low = first || address < step->low ? address : step->low;
	step->high = first || end > step->high ? end : step->high;
	step->loaded += stores ? 0 : size;
	step->stored += stores ? size : 0;
}

/* Judges what no address changes of a draft of a trail: returns how many of its instructions are right, and leaves of
 * their accesses those that must be looked at each time. `context` is the checker. */
size_t xtrace_check_admit(void *context, struct xtrace_draft *draft);

#endif
