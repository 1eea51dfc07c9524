/* event.h - an event's fields as babeltrace2 has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BABELTRACE_EVENT_H
#define BABELTRACE_EVENT_H

#include "babeltrace/event_class.h"

/* What is needed to fill events in. */
struct tw_babel_filler {
	struct tw_writer writer; /* the cells count in it what they shorten; nothing is written */
	struct tw_cells cells;
	struct tw_line text;
};

void tw_babel_filler_init(struct tw_babel_filler *filler);
void tw_babel_filler_free(struct tw_babel_filler *filler);

/* Tells which fields an event of the cells' batch has. */
void tw_babel_shape_of(const struct tw_babel_filler *filler, const struct tw_event *event,
                       struct tw_babel_shape *shape);

/* Fills all of them in. False without memory. */
bool tw_babel_fill(struct tw_babel_filler *filler, const struct tw_event *event, const struct tw_babel_shape *shape,
                   bt_event *to);

#endif
