/* session.h - the traces that a connection queries, and what is kept of them from query to query. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ENGINE_SESSION_H
#define SQL_ENGINE_SESSION_H

#include "core/index_file/stamp.h"
#include "sql/tables/survey.h"

#include <trackway/reader.h>

#include <signal.h>

enum {
	SQL_FILES = 256,
	SQL_FILE_SHIFT = 48, /* a record's id: the number of the file, and the offset */
	SQL_TRACK_SHIFT = 32 /* a track's, stack's or frame's id: the number of the file, and its own number */
};

struct sql_extract;

/* What the owner wants to know; any may be NULL. */
struct sql_hooks {
	void *context;
	void (*begin)(void *context, const struct tw_reader *reader, const char *path); /* a scan begins */
	void (*end)(void *context, const struct tw_reader *reader);                     /* it is over */
	void (*finding)(void *context, size_t file, const struct tw_finding *finding);  /* each is reported once */
	/* An index is not used, or not kept: that is `what`. */
	void (*refused)(void *context, const char *path, const char *what, const char *why);
	/* Rows of a table are not kept for a join, as they are too many: what it is made of will be read for each row
	 * of the other table. */
	void (*not_kept)(void *context, const char *table);
	/* The memory limit has no room for all series of a file's counters: those beyond are not in counter_track, and
	 * their samples have no track_id. */
	void (*series_left)(void *context, const char *path, size_t kept);
	const volatile sig_atomic_t *stop; /* not 0: what is going on should end */
};

struct sql_file {
	char *path;
	struct tw_stamp stamp; /* when it was first opened */
	bool stamped;
	bool read_whole; /* its findings have all been reported */
	/* Findings below this offset were reported, by a scan that did not reach the end. */
	uint64_t reported_to;
	bool reporting; /* a scan reports its findings */
	bool started;   /* start_ns is known */
	uint64_t start_ns;
	struct sql_survey *survey;  /* NULL: not made yet */
	struct tw_symbols *symbols; /* its own names of functions; NULL: those of the session */
};

struct sql_session {
	struct sql_file files[SQL_FILES];
	size_t count;
	size_t cursors;                 /* of statements that are going on: no file may be added */
	struct tw_read_options options; /* the owner's; order, threads and findings are set for each scan */
	struct tw_dictionary *names;    /* of all files: their texts live as long as the session */
	struct sql_hooks hooks;
	struct sql_extract *extract; /* of extract_arg(); NULL: not asked for yet */
	void (*free_extract)(struct sql_extract *extract);
	struct sql_spill *spill; /* of its connections; NULL: none is open */
	bool keep_index;         /* surveys are kept beside their files */
	uint64_t windows;        /* how often only pieces of a file have been read */
	uint64_t scans;          /* how often a file has been opened to be read, or some of it */
	char error[1024];
};

/* NULL when there is no memory. options: NULL for the defaults. */
struct sql_session *sql_session_new(const struct tw_read_options *options);
void sql_session_free(struct sql_session *session);

/* Adds a file; it is opened when something is asked of it. Returns 0, TW_ERR_LIMIT or TW_ERR_MEMORY. */
int sql_session_add(struct sql_session *session, const char *path);

/* Takes away the file that was added last; nothing may have it open. */
void sql_session_remove_last(struct sql_session *session);

/* Names the functions of a file that nothing has been asked of yet: by a program, or, of instructions, also by a list
 * of those that were loaded, as /proc/PID/maps is; NULL: by the list beside it, if there is one. Returns 0 or a
 * negative status, text in session->error. */
int sql_file_name(struct sql_session *session, size_t file, const char *program);

/* Looks whether a file is what it was when it was first opened. Returns 0, or TW_ERR_SYSTEM with the text in
 * session->error. */
int sql_file_check(struct sql_session *session, size_t file);

/* The format that readers call so. */
const struct tw_format *sql_format_named(const char *name);

/* Keeps a text in session->error and returns the status. */
int sql_session_fail(struct sql_session *session, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the owner wants all work to end. */
static inline bool sql_session_stops(const struct sql_session *session)
{
	return session->hooks.stop && *session->hooks.stop;
}

#endif
