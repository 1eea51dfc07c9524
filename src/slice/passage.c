/* passage.c - what a core executes beside the program: the kernel, and other tasks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "slice/passage.h"

#include "base/bytes/bytes.h"

static bool is_instruction(const struct tw_xtrace_token *token)
{
	return token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST;
}

void slice_passage_begin(struct slice_passage *passage, const struct tw_xtrace_snapshot *snapshot, bool of_core)
{
	enum { ADDRESS_BITS = 47 };
	const struct xtrace_task task = {.tables = tw_bits(snapshot->ttbr0_el1, 0, ADDRESS_BITS),
	                                 .thread = snapshot->tpidr_el0};
	*passage = (struct slice_passage){.own = task, .set = task, .of_core = of_core};
}

/* The first task that a kernel tells is the one that it was entered from. */
static void take_register(struct slice_passage *passage, const struct tw_xtrace_token *token)
{
	bool is_set = xtrace_task_set(&passage->set, passage->opcode, token);
	passage->had_registers |= token->kind == TW_XTRACE_ALLGPR;
	if (is_set && !passage->own.pointer && !passage->left)
		passage->own.pointer = passage->set.pointer;
	if (!passage->in_kernel && !passage->away)
		passage->own.thread = passage->set.thread;
	passage->left |= is_set && xtrace_tasks_differ(&passage->own, &passage->set);
}

/* Where a core's level changes without an exception or its return, or all registers are told though it does not,
 * recording was off meanwhile. */
static bool left_out(const struct slice_passage *passage, const struct tw_xtrace_token *token)
{
	enum { ERETS = 0xd69f0 /* ERET, ERETAA, ERETAB: bits 12 to 31 */ };
	bool to_kernel = token->level > 0;
	if (!passage->of_core || !passage->opcode)
		return false;
	if (passage->in_kernel == to_kernel)
		return passage->had_registers;
	return to_kernel ? !xtrace_is_lower_vector(token->pc, token->level) : passage->opcode >> 12 != ERETS;
}

static void take_instruction(struct slice_passage *passage, const struct tw_xtrace_token *token)
{
	passage->gap |= left_out(passage, token);
	passage->had_registers = false;
	passage->opcode = token->opcode;
	passage->in_kernel = token->level > 0;
	if (passage->in_kernel)
		return;
	passage->away = xtrace_tasks_differ(&passage->own, &passage->set);
	passage->left |= passage->away;
}

bool slice_passage_take(struct slice_passage *passage, const struct tw_xtrace_token *token)
{
	if (is_instruction(token))
		take_instruction(passage, token);
	else
		take_register(passage, token);
	if (passage->in_kernel)
		return token->kind == TW_XTRACE_SVCRET && !xtrace_tasks_differ(&passage->own, &passage->set);
	return !passage->away;
}

/* ---- Other cores. ---- */

/* Looks for the task among those that the kernel of a core tells. */
static int find_task(struct xtrace_files *files, uint64_t pointer)
{
	struct xtrace_cursor cursor;
	struct tw_xtrace_token token;
	struct xtrace_task task = {0};
	uint32_t opcode = 0;
	int status;
	xtrace_cursor_init(&cursor, files);
	while ((status = xtrace_cursor_next(&cursor, &token)) > 0) {
		if (is_instruction(&token))
			opcode = token.level ? token.opcode : 0;
		if (xtrace_task_set(&task, opcode, &token) && task.pointer == pointer)
			return 1;
	}
	return status;
}

int slice_runs_elsewhere(const struct slice_passage *passage, struct tw_reader *reader,
                         const struct xtrace_track *track)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	int status = 0;
	for (size_t i = 0; status == 0 && i < set->count; i++) {
		struct xtrace_files files;
		if (&set->tracks[i] == track)
			continue;
		if (!passage->own.pointer)
			return 1;
		status = xtrace_files_open(&files, reader, &set->tracks[i]);
		if (status >= 0)
			status = find_task(&files, passage->own.pointer);
		xtrace_files_close(&files);
	}
	return status;
}

/* ---- Where to begin. ---- */

uint64_t slice_next_start(struct xtrace_cursor *cursor, uint64_t behind, bool here)
{
	struct xtrace_snapshots snapshots;
	struct tw_xtrace_token token;
	if (cursor->files->layout.counts_index)
		return 0;
	xtrace_snapshots_init(&snapshots, cursor->files);
	while (xtrace_snapshots_next(&snapshots) > 0) {
		int status = snapshots.place > cursor->offset ? 1 : 0;
		if (here && snapshots.place == cursor->offset && snapshots.number > behind + 1)
			return snapshots.number;
		while (status > 0 && cursor->offset < snapshots.place)
			status = xtrace_cursor_next(cursor, &token);
		if (status > 0 && cursor->offset == snapshots.place && is_instruction(&token) && !token.level)
			return snapshots.number;
	}
	return 0;
}
