/* mix.c - the instruction mix of a trace, to be compared with that of another. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/spread.h"
#include "base/memory/memory.h"
#include "study/class.h"
#include "study/tool.h"
#include "xtrace/format/disassemble.h"
#include "xtrace/walk/walk.h"

#include <stdlib.h>
#include <string.h>

enum { KNOWN = 1 << 13 };

/* An opcode that was met lately. */
struct recent_opcode {
	uint32_t opcode;
	uint32_t row; /* of its operation; UINT32_MAX: there is no room for it */
	uint8_t class;
	bool there;
};

struct mix {
	struct tw_spread *spread;
	struct xtrace_disassembler *disassembler;
	struct recent_opcode known[KNOWN];
	uint32_t classes[STUDY_CLASSES]; /* their rows */
	uint64_t *counts;                /* by row */
	size_t count_room, row_count;
};

/* ---- Rows. ---- */

static bool add_row(struct mix *mix, const char *category, const char *name, size_t length, uint32_t *row)
{
	*row = tw_spread_find(mix->spread, category, name, length);
	if (*row == UINT32_MAX)
		return true;
	mix->row_count = *row >= mix->row_count ? (size_t)*row + 1 : mix->row_count;
	return tw_grow(&mix->counts, &mix->count_room, mix->row_count, sizeof *mix->counts);
}

/* The first word of its text. */
static bool learn(struct mix *mix, struct recent_opcode *known, uint32_t opcode)
{
	char text[XTRACE_TEXT];
	size_t size = xtrace_disassemble(mix->disassembler, opcode, 0, text);
	const char *space = memchr(text, ' ', size);
	*known = (struct recent_opcode){.opcode = opcode, .class = (uint8_t)study_class_of(opcode), .there = true};
	const char *class = study_class_name(known->class);
	return add_row(mix, class, text, space ? (size_t)(space - text) : size, &known->row) &&
	       (mix->classes[known->class] != UINT32_MAX ||
	        add_row(mix, "", class, strlen(class), &mix->classes[known->class]));
}

/* ---- Counting. ---- */

static bool take(struct mix *mix, uint32_t opcode)
{
	enum { SHIFT = 32 - 13 };
	struct recent_opcode *known = &mix->known[opcode * 0x9e3779b1u >> SHIFT];
	if ((known->opcode != opcode || !known->there) && !learn(mix, known, opcode))
		return false;
	if (known->row != UINT32_MAX)
		mix->counts[known->row]++;
	if (mix->classes[known->class] != UINT32_MAX)
		mix->counts[mix->classes[known->class]]++;
	return true;
}

static int read_all(struct mix *mix, struct tw_reader *reader)
{
	struct xtrace_walk walk = {.reader = reader};
	struct tw_xtrace_token token;
	bool fine = true;
	int got = 0;
	while (fine && (got = xtrace_walk_next(&walk, &token)) > 0)
		fine = !xtrace_is_instruction(&token) || take(mix, token.opcode);
	xtrace_walk_close(&walk);
	return fine ? got : tw_fail_memory(reader);
}

int study_mix_read(struct tw_spread *spread, struct tw_reader *reader)
{
	if (reader->format != &tw_format_xtrace)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s has no instructions: an xtrace has",
		               tw_source_name(reader));
	struct mix *mix = calloc(1, sizeof *mix);
	int status = TW_ERR_MEMORY;
	if (mix && (mix->disassembler = xtrace_disassembler_new())) {
		mix->spread = spread;
		for (size_t i = 0; i < STUDY_CLASSES; i++)
			mix->classes[i] = UINT32_MAX;
		status = read_all(mix, reader);
		for (uint32_t i = 0; i < mix->row_count; i++)
			tw_spread_add(spread, i, mix->counts[i]);
		tw_spread_finish(spread);
	} else {
		tw_fail_memory(reader);
	}
	if (mix)
		xtrace_disassembler_free(mix->disassembler);
	free(mix ? mix->counts : NULL);
	free(mix);
	return status;
}
