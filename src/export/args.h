/* args.h - the arguments of an event as one JSON object. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_ARGS_H
#define EXPORT_ARGS_H

#include "core/format.h"
#include "export/line.h"

enum {
	ARGS_VALUE_MAX = 64 << 10, /* bytes of one argument; the rest is cut off and counted as "long argument" */
	ARGS_KEY_MAX = 1 << 10,    /* the same for its name */
	ARGS_MAX = 512 << 10       /* bytes of JSON after which there are no more arguments; they are counted */
};

/* Adds {"name":value,...} to a line. A name that comes again has a number behind it. Integers that a double cannot hold are
 * texts, and so are pointers, "0x1f", and bytes, in hexadecimal. */
void tw_args_add(struct tw_line *line, struct tw_writer *writer, const struct tw_dictionary *dictionary,
                 const struct tw_argument *arguments, unsigned count);

#endif
