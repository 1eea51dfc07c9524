/* listing.h - a command that lists what it finds in one trace: as a table, or as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_LISTING_H
#define CLI_FILES_LISTING_H

#include "cli/files/walk.h"
#include "cli/output/numbers.h"

/* What a command lists. The command's own struct begins with this one, which its functions get. */
struct tw_listing {
	const struct tw_common *common;
	struct tw_list_rows rows; /* to be shown */

	/* Reads the trace; the listing is walk->context. Returns 0 or a negative status. */
	int (*read)(struct tw_walk *walk, struct tw_reader *reader, const char *path);

	/* Whether there is anything to show, maybe of a trace that was not read to its end. */
	bool (*found)(const struct tw_listing *listing);

	/* Fills the rows. False when there is no memory. */
	bool (*collect)(struct tw_listing *listing);

	/* Says what is worth knowing on standard error. */
	void (*tell)(const struct tw_listing *listing);
	void (*put_json)(struct tw_output *out, const struct tw_listing *listing, const void *row);
	int (*put_text)(struct tw_screen *screen, const struct tw_listing *listing);
};

/* Does all that, and frees the rows. Returns enum tw_exit. */
int tw_list(struct tw_listing *listing, char **paths, size_t count);

#endif
