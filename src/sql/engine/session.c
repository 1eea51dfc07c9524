/* session.c - the traces that a connection queries. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/session.h"

#include "base/options.h"
#include "core/dictionary.h"
#include "core/format.h"
#include "sql/engine/spill.h"

#include <trackway/symbols.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that the survey, findings, what is open, the row of that when all ends, and rows that are kept for a join have
 * of a thread. */
enum { THREAD_COST = 800 };

struct sql_session *sql_session_new(const struct tw_read_options *options)
{
	struct sql_session *session = calloc(1, sizeof *session);
	if (!session)
		return NULL;
	TW_COPY_OPTIONS(&session->options, options, struct tw_read_options);
	session->options.thread_cost = THREAD_COST;
	session->options.complete_slices = session->options.from_start = false;
	session->names = tw_dictionary_new();
	if (session->names)
		return session;
	free(session);
	return NULL;
}

void sql_session_free(struct sql_session *session)
{
	if (!session)
		return;
	if (session->extract)
		session->free_extract(session->extract);
	while (session->count)
		sql_session_remove_last(session);
	tw_dictionary_free(session->names);
	sql_spill_free(session->spill);
	free(session);
}

int sql_session_add(struct sql_session *session, const char *path)
{
	if (session->count == SQL_FILES)
		return sql_session_fail(session, TW_ERR_LIMIT, "%s: more than %d files", path, SQL_FILES);
	char *copy = strdup(path);
	if (!copy)
		return sql_session_fail(session, TW_ERR_MEMORY, "%s: out of memory", path);
	session->files[session->count++] = (struct sql_file){.path = copy};
	return 0;
}

void sql_session_remove_last(struct sql_session *session)
{
	struct sql_file *file = &session->files[--session->count];
	sql_survey_free(file->survey);
	tw_symbols_close(file->symbols);
	free(file->path);
}

int sql_session_fail(struct sql_session *session, int status, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(session->error, sizeof session->error, format, arguments);
	va_end(arguments);
	return status;
}

const struct tw_format *sql_format_named(const char *name)
{
	size_t i = 0;
	while (strcmp(tw_formats[i]->name, name) != 0)
		i++;
	return tw_formats[i];
}

int sql_file_check(struct sql_session *session, size_t number)
{
	struct sql_file *file = &session->files[number];
	struct tw_stamp stamp;
	int error = tw_stamp_take(file->path, &stamp);
	if (error)
		return sql_session_fail(session, TW_ERR_SYSTEM, "%s: %s", file->path, strerror(error));
	if (stamp.stream)
		return sql_session_fail(session, TW_ERR_SYSTEM,
		                        "%s: a query may read it more than once: no regular file", file->path);
	if (!file->stamped)
		file->stamp = stamp;
	file->stamped = true;
	if (tw_stamp_same(&stamp, &file->stamp))
		return 0;
	return sql_session_fail(session, TW_ERR_SYSTEM,
	                        "%s: the file has changed since it was first read (%" PRIu64 " bytes then, %" PRIu64
	                        " now): begin anew",
	                        file->path, file->stamp.size, stamp.size);
}
