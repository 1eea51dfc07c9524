/* listing.c - a command that lists what it finds in its traces: as a table, JSON Lines, CSV or a picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/listing.h"

#include "cli/files/instead.h"
#include "cli/output/message.h"

#include <stdlib.h>

enum tw_form tw_listing_form(const struct tw_listing *listing)
{
	return listing->common->forms.json ? TW_FORM_JSON : listing->common->forms.chosen;
}

static void put_json(struct tw_listing *listing)
{
	struct tw_json json = {.out = &listing->screen.out};
	for (size_t i = 0; i < listing->rows.shown; i++) {
		tw_json_object(&json, NULL);
		listing->put_json(&json, listing, listing->rows.items[i]);
		tw_json_object_line_end(&json);
	}
	if (listing->end_json)
		listing->end_json(&json, listing);
}

static int draw(struct tw_listing *listing, char **paths, size_t count)
{
	struct tw_text title = {0};
	tw_text_add_files(&title, paths, count);
	int status = listing->draw(listing, title.bytes);
	tw_text_free(&title);
	return status < 0 ? tw_say_error("out of memory") : 0;
}

static int put(struct tw_listing *listing, char **paths, size_t count)
{
	switch (tw_listing_form(listing)) {
	case TW_FORM_TEXT:
	case TW_FORM_MARKDOWN:
		return listing->put_text(listing);
	case TW_FORM_JSON:
		put_json(listing);
		break;
	case TW_FORM_SVG:
		return draw(listing, paths, count);
	case TW_FORM_CSV:
		if (listing->put_csv)
			listing->put_csv(listing);
		break;
	case TW_FORM_FOLDED:
		if (listing->put_folded)
			listing->put_folded(listing);
		break;
	case TW_FORM_HTML:
	case TW_FORM_DOT:
	case TW_FORM_DATABASE:
	case TW_FORMS:
		break; /* no listing has them */
	}
	return 0;
}

static int show(struct tw_listing *listing, char **paths, size_t count)
{
	if (!listing->collect(listing))
		return tw_say_error("out of memory");
	listing->note(listing);
	if (listing->points_to && listing->rows.count == 0)
		tw_say_instead(listing->common, NULL, listing->points_to, paths, count);
	if (tw_listing_form(listing) == TW_FORM_SVG && listing->can_draw && !listing->can_draw(listing))
		return 0;
	int status = tw_screen_open_form(&listing->screen, listing->common);
	return status ? status : tw_screen_end(&listing->screen, put(listing, paths, count));
}

static int read_listing(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct tw_listing *listing = walk->context;
	bool csv = tw_listing_form(listing) == TW_FORM_CSV;
	int status = csv ? tw_screen_open_form(&listing->screen, listing->common) : 0;
	if (status)
		return status;
	if (csv)
		tw_put_text(&listing->screen.out, listing->csv_head);
	status = listing->read(listing, reader, path);
	return status < 0 ? status : 0;
}

int tw_list(struct tw_listing *listing, char **paths, size_t count)
{
	struct tw_walk *walk = &listing->walk;
	walk->common = listing->common;
	walk->context = listing;
	walk->read = read_listing;
	walk->quiet = tw_listing_form(listing) == TW_FORM_CSV && tw_goes_to_terminal(listing->common->output);
	int status = tw_walk(walk, paths, count);
	if (walk->readable && listing->result)
		status = tw_worse(status, show(listing, paths, count));
	else if (listing->screen.open)
		tw_screen_discard(&listing->screen);
	free(listing->rows.items);
	tw_who_free(&walk->who);
	return status;
}
