/* nested.c - slices of tracks on which all begins and ends stand in the order of time, and each end fits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/nested.h"

#include "base/memory/memory.h"

#include <stdlib.h>

bool tw_nested_make_room(struct tw_nested *nested, struct tw_nested_track *track)
{
	enum { FIRST_ROOM = 8 }; /* of a new track, as in open_slices.c */
	const size_t room = track->room ? 2 * track->room : FIRST_ROOM;
	nested->slices += room - track->room;
	return track->depth < TW_NESTED_DEPTH && nested->slices <= nested->most &&
	       tw_resize(&track->open, &track->room, room, sizeof *track->open);
}

void tw_nested_free(struct tw_nested *nested)
{
	for (size_t i = 0; i < nested->room; i++)
		free(nested->tracks[i].open);
	free(nested->tracks);
}
