/* report.h - findings: from a note to a sentence. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_REPORT_H
#define FXT_WALK_REPORT_H

#include "core/format.h"
#include "fxt/walk/chunk.h"

/* Reports what was noted. */
void fxt_report(struct tw_reader *reader, const struct fxt_note *note);

/* What has been told of an archive and is told once. All zero: nothing. */
struct fxt_reported {
	struct tw_map by_number; /* rule and number; to be freed */
	uint64_t ring;           /* the provider, and 1, of which the last loss was what its ring overwrote; 0: none */
	bool limit;              /* that the tables are full */
};

/* Reports the notes of a chunk in the order of its records, those of some rules once for each number, and forgets
 * them. Nothing is told of references to what the full tables may have left out, but that they are full. */
void fxt_report_notes(struct tw_reader *reader, const struct fxt_state *state, struct fxt_reported *reported,
                      struct fxt_chunk *chunk);

/* What is wrong with a piece; false when nothing is. */
bool fxt_note_of(const struct fxt_chunk *chunk, const struct fxt_piece *piece, struct fxt_note *note);

#endif
