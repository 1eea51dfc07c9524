/* check_flow.c - whether an instruction may come behind another one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/check_step.h"

#include <inttypes.h>
#include <stdio.h>

bool xtrace_step_leads(const struct xtrace_step *step, uint64_t pc, enum xtrace_rule *rule)
{
	const struct xtrace_operation *operation = step->operation;
	uint64_t next = step->pc + XTRACE_WORD;
	*rule = XTRACE_BRANCH_TARGET;
	switch ((enum xtrace_flow)operation->flow) {
	case XTRACE_JUMP:
	case XTRACE_CALL:
		return pc == xtrace_target(operation, step->pc);
	case XTRACE_BRANCH:
		return pc == next || pc == xtrace_target(operation, step->pc);
	case XTRACE_JUMP_TO:
	case XTRACE_CALL_TO:
	case XTRACE_RETURN:
	case XTRACE_EXCEPTION_RETURN:
		*rule = XTRACE_TARGET_DIFFERS;
		return pc == step->target || !(step->seen & 1 << TW_XTRACE_TARGET_B);
	case XTRACE_EXCEPTION:
		return true;
	case XTRACE_SYSTEM_CALL:
	case XTRACE_NEXT:
		break;
	}
	*rule = XTRACE_PC_JUMP;
	return pc == next;
}

void xtrace_check_report_jump(struct xtrace_checker *checker, const struct xtrace_step *step, enum xtrace_rule rule,
                              uint64_t offset, uint64_t pc)
{
	uint64_t target =
	    rule == XTRACE_BRANCH_TARGET ? xtrace_target(step->operation, step->pc) : step->pc + XTRACE_WORD;
	target = rule == XTRACE_TARGET_DIFFERS ? step->target : target;
	char text[XTRACE_NOTE_TEXT];
	snprintf(text, sizeof text,
	         "Expected 0x%" PRIx64 " after 0x%" PRIx64 " (opcode 0x%08" PRIx32 "), found 0x%" PRIx64 ".", target,
	         step->pc, step->operation->opcode, pc);
	if (rule == XTRACE_PC_JUMP)
		xtrace_check_note(checker, false, rule, offset, "%s", text);
	else
		xtrace_report(checker->files, false, rule, offset, offset, "%s", text);
}
