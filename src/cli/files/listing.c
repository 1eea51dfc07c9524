/* listing.c - a command that lists what it finds in one trace: as a table, or as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/listing.h"

#include "cli/output/message.h"

#include <stdlib.h>

static int put(const struct tw_listing *listing)
{
	struct tw_screen screen = {0};
	int status = tw_screen_open(&screen, listing->common->output);
	if (status)
		return status;
	for (size_t i = 0; listing->common->json && i < listing->rows.shown; i++)
		listing->put_json(&screen.out, listing, listing->rows.items[i]);
	if (!listing->common->json)
		status = listing->put_text(&screen, listing);
	return tw_screen_end(&screen, status);
}

static int show(struct tw_listing *listing)
{
	if (!listing->collect(listing))
		return tw_say_error("out of memory");
	listing->tell(listing);
	return put(listing);
}

int tw_list(struct tw_listing *listing, char **paths, size_t count)
{
	struct tw_walk walk = {.common = listing->common, .context = listing, .read = listing->read};
	int status = tw_walk(&walk, paths, count);
	if (walk.readable && listing->found(listing)) {
		int shown = show(listing);
		status = shown > status ? shown : status;
	}
	free(listing->rows.items);
	return status;
}
