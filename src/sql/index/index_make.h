/* index_make.h - an index made, while the survey reads the file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_INDEX_INDEX_MAKE_H
#define SQL_INDEX_INDEX_MAKE_H

#include "sql/index/index.h"
#include "sql/tables/slices.h"

struct sql_index_maker;

/* Begins, for a scan that is open; NULL, which the others take, where the format has no outline or there is no
 * memory. */
struct sql_index_maker *sql_index_begin(struct sql_scan *scan);

/* Takes the events of the scan. */
void sql_index_take(struct sql_index_maker *maker, const struct tw_batch *batch);

/* After the last one: looks at the file once more, and frees the maker. NULL when there is to be no index: the file is
 * damaged, its times go back, or it would be too large. */
struct sql_index *sql_index_finish(struct sql_index_maker *maker, const struct sql_survey *survey);

void sql_index_abandon(struct sql_index_maker *maker);

#endif
