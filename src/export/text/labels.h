/* labels.h - what names, tracks and places are called in formats that have no more than a text for them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_TEXT_LABELS_H
#define EXPORT_TEXT_LABELS_H

#include "export/text/line.h"

#include <trackway/event.h>

enum { LABEL_MAX = 32 << 10 }; /* bytes of a label; the rest is cut off */

/* The name, or "function 12" for one without text. Returns false where it was cut. */
bool tw_label_name(struct tw_line *line, const struct tw_name *name);

/* "function 12" for a name without text, and nothing for others. */
void tw_label_number(struct tw_line *line, const struct tw_name *name);

/* "0x1f", for people: of a place of which nothing else is known, or before the name of an object. */
void tw_label_address(struct tw_line *line, uint64_t address);

/* The name of the process, or "process 7". */
void tw_label_process(struct tw_line *line, const struct tw_dictionary *dictionary, uint64_t process);

/* The name of the thread or other track, or "thread 8". */
void tw_label_track(struct tw_line *line, const struct tw_dictionary *dictionary, const struct tw_track *track);

/* "name series", and the id where there is one: a counter has as many series as it has numbers.
 * Returns false where a name was cut. */
bool tw_label_counter(struct tw_line *line, const struct tw_dictionary *dictionary, uint32_t name, uint32_t series,
                      uint64_t id);

#endif
