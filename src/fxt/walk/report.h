/* report.h - findings: from a note to a sentence. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_REPORT_H
#define FXT_WALK_REPORT_H

#include "core/format.h"
#include "fxt/walk/chunk.h"

/* Reports what was noted. */
void fxt_report(struct tw_reader *reader, const struct fxt_note *note);

/* Whether a rule is told once for each of its numbers. */
bool fxt_is_reported_once(enum fxt_rule rule);

/* What is wrong with a piece; false when nothing is. */
bool fxt_note_of(const struct fxt_chunk *chunk, const struct fxt_piece *piece, struct fxt_note *note);

#endif
