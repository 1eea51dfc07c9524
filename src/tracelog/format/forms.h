/* forms.h - how the text of a field becomes its value, for each form that a field may have. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_FORMAT_FORMS_H
#define TRACELOG_FORMAT_FORMS_H

#include "tracelog/format/layout.h"

/* A line or an item that is being decoded. */
struct tracelog_scan {
	const uint8_t *start, *at, *end;
	const char *expected; /* what should be where the scan stands; NULL: what the form says */
	struct tw_tracelog_record *record;
	struct tw_tracelog_item *item; /* NULL: the record itself */
	unsigned style, odd;           /* TW_TRACELOG_*, as in the record */
	unsigned cases;                /* of the letters in numbers that are no pointers */
	bool width_is_known;           /* by a pointer before */
};

/* Takes a field of one form. */
struct tracelog_form_taker {
	/* Writes the value into `member`, whose type enum tracelog_form tells, and moves the scan behind the text.
	 * Returns false, with the scan at what is wrong, where the text is not of the form. */
	bool (*take)(struct tracelog_scan *scan, void *member);
	const char *expected; /* what should be there */
};

extern const struct tracelog_form_taker tracelog_forms[TRACELOG_FORMS];

/* Returns whether there are blanks; anything but one space is odd. */
static inline bool tracelog_skip_blanks(struct tracelog_scan *scan)
{
	const uint8_t *first = scan->at;
	while (scan->at < scan->end && tracelog_blank(*scan->at))
		scan->at++;
	if (scan->at > first && (scan->at - first > 1 || *first != ' '))
		scan->odd |= TW_TRACELOG_BLANKS;
	return scan->at > first;
}

#endif
