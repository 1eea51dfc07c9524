/* keep.h - a survey and its index beside the file that they are of. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_INDEX_KEEP_H
#define SQL_INDEX_KEEP_H

#include "sql/engine/session.h"

/* Reads what was kept. NULL where there is nothing, or nothing that is of the file as it is: then *why says so, if
 * there is a file (a constant; otherwise NULL). */
struct sql_survey *sql_keep_load(struct sql_session *session, size_t file, const char **why);

/* Keeps a survey. Returns NULL, or why it is not kept, as text that the next call may change. */
const char *sql_keep_save(struct sql_session *session, size_t file, const struct sql_survey *survey);

#endif
