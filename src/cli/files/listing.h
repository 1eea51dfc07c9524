/* listing.h - a command that lists what it finds in its traces: as a table, JSON Lines, CSV or a picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_LISTING_H
#define CLI_FILES_LISTING_H

#include "base/text/json.h"
#include "cli/command.h"
#include "cli/files/walk.h"
#include "cli/output/numbers.h"

/* What a command lists. The command's own struct begins with this one, which its functions get. */
struct tw_listing {
	const struct tw_common *common;
	struct tw_walk walk;      /* how the traces are read; the rest is set by tw_list() */
	const char *csv_head;     /* the line before samples, which are written while they are read */
	void *result;             /* of reading, as struct tw_gc; NULL: there is nothing to show */
	struct tw_list_rows rows; /* of it, to be shown */
	struct tw_screen screen;

	uint32_t points_to; /* without rows it says which of these kinds of event are in the trace */

	/* Reads a trace, and sets the result, maybe of a trace that was not read to its end. Returns 0 or a negative
	 * status. */
	int (*read)(struct tw_listing *listing, struct tw_reader *reader, const char *path);

	/* Fills the rows. False when there is no memory. */
	bool (*collect)(struct tw_listing *listing);

	/* Says what is worth knowing on standard error. */
	void (*note)(const struct tw_listing *listing);

	/* Adds the members of a row to its object; writes what stands behind all rows (NULL: nothing). */
	void (*put_json)(struct tw_json *json, const struct tw_listing *listing, const void *row);
	void (*end_json)(struct tw_json *json, const struct tw_listing *listing);

	/* Writes a table. Returns 0 or TW_EXIT_FAILED. */
	int (*put_text)(struct tw_listing *listing);

	/* Writes lines of CSV that were not written while the trace was read; NULL: there are none. */
	void (*put_csv)(struct tw_listing *listing);

	/* Writes stacks and their numbers, a line each; NULL: the command has no such form. */
	void (*put_folded)(struct tw_listing *listing);

	/* Draws a picture; and whether there is something to draw, without which no file is made (NULL: always).
	 * Returns 0 or TW_ERR_MEMORY. */
	int (*draw)(struct tw_listing *listing, const char *title);
	bool (*can_draw)(const struct tw_listing *listing);
};

/* The form that the command writes: JSON where the form that was asked for is made of JSON. */
enum tw_form tw_listing_form(const struct tw_listing *listing);

/* Does all that, and frees the rows. Returns enum tw_exit. */
int tw_list(struct tw_listing *listing, char **paths, size_t count);

#endif
