/* walk.c - the tokens of all tracks of a set, one track after the other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/walk/walk.h"

enum { FIRST = 2 };

void xtrace_walk_skip(struct xtrace_walk *walk)
{
	if (walk->open)
		xtrace_files_close(&walk->files);
	walk->open = false;
}

void xtrace_walk_close(struct xtrace_walk *walk)
{
	xtrace_walk_skip(walk);
}

/* Goes to the next track. Returns 1, 0 when there is none, or a negative status. */
static int open_next(struct xtrace_walk *walk)
{
	const struct xtrace_set *set = &xtrace_of(walk->reader)->set;
	while (walk->next < set->count &&
	       !tw_thread_wanted(&walk->reader->options, set->tracks[walk->next].name.number))
		walk->next++;
	if (walk->next == set->count)
		return 0;
	*walk = (struct xtrace_walk){.reader = walk->reader, .next = walk->next + 1, .open = true};
	walk->track = &set->tracks[walk->next - 1];
	walk->number = xtrace_track_number(walk->reader, walk->track);
	int status = xtrace_files_open(&walk->files, walk->reader, walk->track);
	xtrace_cursor_init(&walk->cursor, &walk->files);
	if (status >= 0 && walk->number == UINT32_MAX)
		status = tw_fail_memory(walk->reader);
	return status < 0 ? status : 1;
}

static void note(struct xtrace_walk *walk, const struct tw_xtrace_token *token)
{
	walk->has_pc &= token->kind != TW_XTRACE_UNKNOWN;
	if (!xtrace_is_instruction(token))
		return;
	walk->index += walk->begun;
	walk->begun = true;
	walk->pc = token->kind == TW_XTRACE_PCINST ? token->pc : walk->pc + 4;
	walk->has_pc |= token->kind == TW_XTRACE_PCINST;
	walk->offset = walk->cursor.offset;
	walk->instruction = *token;
}

int xtrace_walk_next(struct xtrace_walk *walk, struct tw_xtrace_token *token)
{
	int first = 1, status;
	for (;;) {
		if (!walk->open) {
			if ((status = open_next(walk)) <= 0)
				return status;
			first = FIRST;
		}
		status = xtrace_zeroes_next(&walk->zeroes, &walk->cursor, token);
		if (status < 0)
			return status;
		if (status > 0) {
			note(walk, token);
			return first;
		}
		xtrace_walk_skip(walk);
	}
}
