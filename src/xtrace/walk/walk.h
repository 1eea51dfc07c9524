/* walk.h - the tokens of all tracks of a set, one track after the other, with what is known of the instruction. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_WALK_WALK_H
#define XTRACE_WALK_WALK_H

#include "xtrace/walk/zeroes.h"

/* All zero but the reader to begin. It takes no other events or records of the reader. */
struct xtrace_walk {
	struct tw_reader *reader;
	size_t next; /* track */
	bool open;
	const struct xtrace_track *track;
	uint32_t number; /* of the track, in the dictionary */
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_zeroes zeroes;
	bool begun;                         /* there was an instruction: */
	struct tw_xtrace_token instruction; /* the last one; its payload is not kept */
	uint64_t offset;                    /* of it */
	uint64_t index;                     /* instructions of the track before it */
	uint64_t pc;
	bool has_pc;
};

static inline bool xtrace_is_instruction(const struct tw_xtrace_token *token)
{
	return token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST;
}

/* Gives the next token, which lives until the next call; a gap is one of unknown kind, and what DC ZVA
 * stores is a STORE. Returns 1, 2 where it is the
 * first of a track, 0 at the end, or a negative status. */
int xtrace_walk_next(struct xtrace_walk *walk, struct tw_xtrace_token *token);

/* Leaves out the rest of the track. */
void xtrace_walk_skip(struct xtrace_walk *walk);

/* Closes its files; before the reader is closed. */
void xtrace_walk_close(struct xtrace_walk *walk);

#endif
