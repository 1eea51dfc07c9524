/* tool.h - a server on this machine alone that shows traces to a browser: for the tool. doc/view.md is its protocol. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_TOOL_H
#define VIEW_TOOL_H

#include "base/memory/memory.h"

#include <trackway/reader.h>

/* What becomes of the index beside a file, FILE.twview. */
enum view_keeping {
	VIEW_KEEPS_NOTHING,
	VIEW_KEEPS_INDEX, /* one that is made is kept */
	VIEW_USES_INDEX   /* the same; and one that is of the file as it is takes the place of reading that */
};

struct view_keeping_options {
	enum view_keeping what;
	uint64_t key; /* a number of whatever else the picture depends on: an index of another one is not used */
	/* Told, by any thread, why an index is not used or kept: FILE, "not used", why. */
	void (*refused)(void *context, const char *path, const char *what, const char *why);
	void *context;
};

/* An option of the command line that decides what is shown: commands that the page offers have it, too. */
struct view_option {
	const char *name;  /* without the dashes */
	const char *value; /* NULL: it takes none */
};

/* What is shown. What the pointers point to must live until the view is closed. */
struct view_options {
	char **paths;
	size_t count;
	const int64_t *offsets;      /* by path: ns by which each begins later; NULL: none does */
	struct tw_read_options read; /* findings are the view's */
	struct tw_merge_options merge;
	uint64_t small; /* bytes: of a trace that is smaller the index keeps all slices; 0: 16 MiB */
	struct view_keeping_options keeping; /* of one file */
	const struct view_option *given;     /* what `read` and `merge` are made of; told to the page */
	size_t given_count;
	void (*failed)(const char *why); /* told, by the thread that reads, that not all can be shown; or NULL */
};

struct view;

/* Opens the traces, which are read from now on in a thread of its own. *view is set even on failure (NULL only for
 * TW_ERR_MEMORY); close it in any case. Returns 0 or a negative status. */
int view_open(struct view **view, const struct view_options *options);

/* Whether the index beside the file takes the place of reading it, as far as is known yet. */
bool view_uses_index(const struct view *view);

/* One line about the last failure of view_open(), view_serve() or view_export(). Never NULL; lives until close. */
const char *view_error(const struct view *view);

/* Serves the page, on 127.0.0.1; port 0: one that is free. Returns 0, TW_ERR_UNSUPPORTED where there is no
 * libmicrohttpd, or TW_ERR_SYSTEM. */
int view_serve(struct view *view, unsigned port);

/* The address to be opened, with the token, to be shown to who may see the traces; and one that opens the page once: a
 * program that is given it shows it to all who look at the list of processes. Live until close. */
const char *view_address(const struct view *view);
const char *view_address_once(const struct view *view);

/* Waits until all has been read. */
void view_wait(struct view *view);

/* Writes what has been read as a page of its own, whose slices and samples are one by one (*whole), or, where these
 * would be more than `most` bytes, pixel by pixel. state: what it shows at first, as an address has it behind #; files
 * begin as it says. Returns 0, TW_ERR_MEMORY, TW_ERR_SYSTEM where the traces cannot be
 * read again (view_error() tells why), or TW_ERR_UNSUPPORTED: the page has no place for them. */
int view_export(struct view *view, size_t most, const char *state, struct tw_text *page, bool *whole);

/* Why not all has been read; "": all has; how many findings are errors; and how many events there are. After
 * view_wait(). */
const char *view_reading_error(const struct view *view);
uint64_t view_error_count(const struct view *view);
uint64_t view_event_count(const struct view *view);

/* Ends the server and the reading. NULL is fine. */
void view_close(struct view *view);

#endif
