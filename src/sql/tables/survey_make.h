/* survey_make.h - a survey made: one pass over a file, or what an earlier one kept. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_TABLES_SURVEY_MAKE_H
#define SQL_TABLES_SURVEY_MAKE_H

#include "sql/engine/session.h"

/* Makes a file's, if it is not made yet. Returns 0 or a negative status, text in session->error. */
int sql_survey_make(struct sql_session *session, size_t file);

#endif
