/* steps.c - the tokens of one thread of an xtrace, with what is known of the instruction that they belong to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/instructions/steps.h"

enum { WORD = 4 };

/* Sets *only to the one thread that the options choose. */
static int choose_track(struct tw_reader *reader, const struct xtrace_track **only)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	size_t count = 0;
	for (size_t i = 0; i < set->count; i++) {
		if (!tw_thread_wanted(&reader->options, set->tracks[i].name.number))
			continue;
		*only = &set->tracks[i];
		count++;
	}
	if (count == 0)
		return tw_fail(reader, TW_ERR_VALUE, "xtrace: there is no such thread");
	if (count > 1)
		return tw_fail(reader, TW_ERR_VALUE, "xtrace: one thread becomes one file: choose it (--thread)");
	return 0;
}

int tw_steps_open(struct tw_steps *steps, struct tw_reader *reader)
{
	const struct tw_read_options *options = &reader->options;
	const struct xtrace_track *track = NULL;
	*steps = (struct tw_steps){.reader = reader};
	int status = choose_track(reader, &track);
	if (status < 0)
		return status;
	if (options->function || options->category || options->min_duration_ns)
		return tw_fail(reader, TW_ERR_UNSUPPORTED,
		               "xtrace: instructions are chosen by thread and by their count (as times) only");
	status = xtrace_files_open(&steps->files, reader, track);
	xtrace_cursor_init(&steps->cursor, &steps->files);
	return status;
}

void tw_steps_close(struct tw_steps *steps)
{
	xtrace_files_close(&steps->files);
}

static void take_instruction(struct tw_steps *steps, bool first)
{
	bool states_pc = steps->token.kind == TW_XTRACE_PCINST;
	steps->before = steps->pc;
	steps->follows = steps->has_pc && !first;
	steps->pc = states_pc ? steps->token.pc : steps->pc + WORD;
	steps->has_pc |= states_pc;
	steps->operation = xtrace_find_operation(&steps->operations, steps->token.opcode);
}

int tw_steps_next(struct tw_steps *steps)
{
	const struct tw_read_options *options = &steps->reader->options;
	int status;
	while ((status = xtrace_zeroes_next(&steps->zeroes, &steps->cursor, &steps->token)) > 0) {
		unsigned kind = steps->token.kind;
		bool first = !steps->operation;
		steps->begins = kind == TW_XTRACE_INST || kind == TW_XTRACE_PCINST;
		if (kind == TW_XTRACE_UNKNOWN)
			steps->has_pc = steps->follows = false;
		steps->index += steps->begins && !first;
		if (steps->begins)
			take_instruction(steps, first);
		if (steps->begins && options->to_ns && steps->index >= options->to_ns)
			return 0;
		if (steps->operation && steps->index >= options->from_ns)
			return 1;
	}
	steps->begins = steps->follows = false;
	return status;
}
