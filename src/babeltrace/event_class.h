/* event_class.h - event classes of babeltrace2: one for each set of fields that events have. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BABELTRACE_EVENT_CLASS_H
#define BABELTRACE_EVENT_CLASS_H

#include "export/events/cells.h"

#include <babeltrace2/babeltrace.h>

/* An argument's field. */
enum tw_babel_form {
	TW_BABEL_NOTHING, /* a structure without members */
	TW_BABEL_BOOL,
	TW_BABEL_INT,
	TW_BABEL_UINT,
	TW_BABEL_HEX,
	TW_BABEL_DOUBLE,
	TW_BABEL_TEXT
};

struct tw_babel_member {
	uint32_t name; /* of the dictionary */
	enum tw_babel_form form;
};

enum { TW_BABEL_ARGUMENTS = UINT8_MAX, TW_BABEL_BUCKETS = 1 << 10 };

/* What events of a class have alike. */
struct tw_babel_shape {
	uint32_t filled; /* columns, as bits 1 << enum tw_column_id */
	uint8_t kind;
	uint8_t count;
	bool listed; /* arguments are one text, JSON: there were too many shapes */
	struct tw_babel_member members[TW_BABEL_ARGUMENTS];
};

struct tw_babel_class; /* kept: a shape, and its event class */

struct tw_babel_classes {
	bt_trace_class *trace;
	bt_stream_class *stream;
	struct tw_babel_class *buckets[TW_BABEL_BUCKETS];
	size_t members; /* of all classes: there may be so many only */
};

/* The columns of the context and of the payload, in the order of their fields. */
extern const enum tw_column_id tw_babel_context[], tw_babel_payload[];
extern const size_t tw_babel_context_count, tw_babel_payload_count;

bool tw_babel_is_number(enum tw_column_id column);

/* Returns the event class of a shape, NULL without memory. It lives as long as the classes. `shape` becomes listed
 * where there are too many. */
const bt_event_class *tw_babel_class_of(struct tw_babel_classes *classes, const struct tw_dictionary *dictionary,
                                        struct tw_babel_shape *shape);

void tw_babel_classes_free(struct tw_babel_classes *classes);

#endif
