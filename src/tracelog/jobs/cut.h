/* cut.h - a part of a log that stands alone: which lines stay, and what changes in them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_JOBS_CUT_H
#define TRACELOG_JOBS_CUT_H

#include "core/format.h"

#include <trackway/tracelog.h>

struct tracelog_cut;

/* Reads all events to find out which records pass the reader's filters, from the input spooled where it has to be.
 * Returns 0 or a negative status; free it in any case. */
int tracelog_cut_new(struct tracelog_cut **made, struct tw_reader *reader);
void tracelog_cut_free(struct tracelog_cut *cut);

/* Whether no event passes the filters. */
bool tracelog_cut_is_empty(const struct tracelog_cut *cut);

/* Takes the next record of the log, whose list has good items only. What comes of it is told by tracelog_cut_next():
 * nothing, or what is to be written, one after the other. The record must live until then. */
void tracelog_cut_take(struct tracelog_cut *cut, struct tw_tracelog_record *record, uint64_t offset);

/* False: no more. *approximated: there was no memory for a stack, or all of it. What `made` points to lives until
 * the next call. */
bool tracelog_cut_next(struct tracelog_cut *cut, struct tw_tracelog_record *made, bool *approximated);

/* Instead of these two, where the log is only looked at: whether a passing event came from the record, its start or
 * its end. */
bool tracelog_cut_selects(struct tracelog_cut *cut, const struct tw_tracelog_record *record, uint64_t offset);

/* Whether there was no memory. */
bool tracelog_cut_failed(const struct tracelog_cut *cut);

#endif
