/* check_kernel.c - what the kernel interrupts, and what it returns to: system calls of several tasks, interrupts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/check_step.h"
#include "xtrace/walk/calls.h"

#include <inttypes.h>
#include <string.h>

/* ---- System calls. ---- */

static void remove_call(struct xtrace_checker *checker, size_t i)
{
	checker->call_count--;
	memmove(&checker->calls[i], &checker->calls[i + 1], (checker->call_count - i) * sizeof *checker->calls);
}

/* The newest call that returns to a PC, plus 1; 0: none. */
static size_t find_call(const struct xtrace_checker *checker, uint64_t pc)
{
	size_t i = checker->call_count;
	while (i && !xtrace_leads_to(checker->calls[i - 1].back, pc))
		i--;
	return i;
}

void xtrace_check_call(struct xtrace_checker *checker)
{
	const struct xtrace_step *step = &checker->step;
	if (checker->call_count == XTRACE_OPEN_CALLS)
		remove_call(checker, 0);
	checker->calls[checker->call_count++] = (struct xtrace_open_call){
	    .back = step->pc + XTRACE_WORD,
	    .offset = step->offset,
	    .number = step->number,
	};
}

void xtrace_check_result(struct xtrace_checker *checker)
{
	if (checker->call_count && checker->step.operation->flow != XTRACE_EXCEPTION_RETURN)
		checker->call_count--;
}

/* An ERET brought a result, and an exception came before the program could go on: the call has returned. */
void xtrace_check_returned(struct xtrace_checker *checker)
{
	const struct xtrace_step *step = &checker->step;
	const unsigned both = 1 << TW_XTRACE_SVCRET | 1 << TW_XTRACE_TARGET_B;
	size_t found = (step->seen & both) == both ? find_call(checker, step->target) : 0;
	if (found)
		remove_call(checker, found - 1);
}

/* The step is still the one before, but for its PC. A call of another task goes on waiting. */
void xtrace_check_resumed(struct xtrace_checker *checker, uint64_t offset)
{
	const struct xtrace_step *step = &checker->step;
	size_t found = 0;
	if (step->operation->flow == XTRACE_SYSTEM_CALL && step->level == 0)
		found = checker->call_count;
	else if (step->operation->flow == XTRACE_EXCEPTION_RETURN)
		found = find_call(checker, step->pc);
	if (!found)
		return;
	const struct xtrace_open_call *call = &checker->calls[found - 1];
	if (!(step->seen & 1 << TW_XTRACE_SVCRET))
		xtrace_report(checker->files, false, XTRACE_SVC_RETURN, call->offset, call->offset,
		              "System call %" PRIu64 " has no SVCRET before the program goes on at offset 0x%" PRIx64
		              ".",
		              call->number, offset);
	remove_call(checker, found - 1);
}

/* ---- Interrupts. ---- */

static void remove_interrupted(struct xtrace_checker *checker, size_t i)
{
	checker->interrupted_count--;
	memmove(&checker->interrupted[i], &checker->interrupted[i + 1],
	        (checker->interrupted_count - i) * sizeof *checker->interrupted);
}

static void report_oldest(struct xtrace_checker *checker)
{
	struct xtrace_interrupted *oldest = &checker->interrupted[0];
	oldest->step.operation = &oldest->operation;
	xtrace_check_report_jump(checker, &oldest->step, oldest->rule, oldest->offset, oldest->pc);
	remove_interrupted(checker, 0);
}

void xtrace_check_interrupt(struct xtrace_checker *checker, enum xtrace_rule rule, uint64_t offset, uint64_t pc)
{
	if (checker->interrupted_count == XTRACE_INTERRUPTED)
		report_oldest(checker);
	checker->interrupted[checker->interrupted_count++] = (struct xtrace_interrupted){
	    .step = checker->step,
	    .operation = *checker->step.operation,
	    .rule = rule,
	    .offset = offset,
	    .pc = pc,
	};
}

/* The newest is the one that is continued first. An instruction that faulted is executed again. */
void xtrace_check_continued(struct xtrace_checker *checker, uint64_t pc)
{
	for (size_t i = checker->interrupted_count; i-- > 0;) {
		struct xtrace_interrupted *one = &checker->interrupted[i];
		enum xtrace_rule rule;
		one->step.operation = &one->operation;
		if (pc == one->step.pc || xtrace_step_leads(&one->step, pc, &rule)) {
			remove_interrupted(checker, i);
			return;
		}
	}
}

void xtrace_check_left(struct xtrace_checker *checker)
{
	while (checker->interrupted_count)
		report_oldest(checker);
}
