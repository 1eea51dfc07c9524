/* index.h - which bytes of a file a window of time needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_INDEX_INDEX_H
#define SQL_INDEX_INDEX_H

#include "base/bytes/output.h"
#include "sql/tables/survey.h"

struct sql_index;
struct sql_view;

/* What of the file all slices and events need that begin in a window (ns since the start of the trace, both in), and
 * the slices that these are inside of. track: only those of this one; 0: all. Leaves *view as it is where reading
 * everything is as good. */
void sql_index_view(const struct sql_index *index, uint64_t low, uint64_t high, uint32_t track, struct sql_view *view);

/* Whether slices need all that is before them: there are some that overlap others without being inside. */
bool sql_index_overlaps(const struct sql_index *index);

struct tw_words;

/* Writes it, NULL too. */
void sql_index_put(struct tw_output *out, const struct sql_index *index);

/* Reads it; NULL where there is none, or words->failed. */
struct sql_index *sql_index_get(struct tw_words *words, const struct sql_survey *survey);

/* NULL is fine. */
void sql_index_free(struct sql_index *index);

#endif
