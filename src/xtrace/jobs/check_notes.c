/* check_notes.c - notes: one of a kind in a track, with how many there are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/jobs/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void xtrace_check_note(struct xtrace_checker *checker, bool snapshots, enum xtrace_rule rule, uint64_t offset,
                       const char *format, ...)
{
	struct xtrace_notes *notes = &checker->notes[rule];
	va_list arguments;
	if (notes->count++)
		return;
	notes->offset = offset;
	notes->snapshots = snapshots;
	va_start(arguments, format);
	vsnprintf(notes->text, sizeof notes->text, format, arguments);
	va_end(arguments);
}

void xtrace_check_report_notes(struct xtrace_checker *checker)
{
	for (unsigned rule = 0; rule < XTRACE_RULES; rule++) {
		const struct xtrace_notes *notes = &checker->notes[rule];
		char more[64] = "";
		if (notes->count > 1)
			snprintf(more, sizeof more, " It is the first of %" PRIu64 ".", notes->count);
		if (notes->count)
			xtrace_report(checker->files, notes->snapshots, rule, notes->offset, notes->offset, "%s%s",
			              notes->text, more);
	}
	memset(checker->notes, 0, sizeof checker->notes);
}
