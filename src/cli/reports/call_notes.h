/* call_notes.h - what a listing of calls says below it about what was no ordinary call. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_CALL_NOTES_H
#define CLI_REPORTS_CALL_NOTES_H

#include "analysis/tool.h"
#include "cli/files/nothing_passed.h"
#include "cli/output/screen.h"

#include <trackway/analysis.h>

/* What the rows shown hold. */
struct tw_note_counts {
	uint64_t open, unwound;
	bool async; /* asynchronous operations, not calls */
};

/* Writes a line for each thing worth knowing. */
void tw_put_notes(struct tw_screen *screen, const struct tw_profile_notes *notes, const struct tw_note_counts *counts);

/* Says how functions get names where this one has a number only, as in an XRay log. */
void tw_say_numbers(const struct tw_common *common, const char *name, uint64_t id);

/* The same of the first function of a profile, or of a tree, that is shown. */
void tw_say_numbers_of_profile(const struct tw_common *common, struct tw_profile *profile);
void tw_say_numbers_of(const struct tw_common *common, const struct tw_nodes *nodes);

/* Says on standard error that the memory limit, or another, was reached, where it was: a listing then is not all there
 * is. */
void tw_say_folded(const struct tw_profile_notes *notes, enum tw_weight weight);

/* Says on standard error that calls begin or end beside damage, where some do. */
void tw_say_uncertain(const struct tw_profile_notes *notes);

/* Says on standard error that wall time is counted, where nobody asked for it. */
void tw_say_weight(const struct tw_common *common, enum tw_weight weight);

/* Says on standard error that there were calls deeper than is shown, where there were. */
void tw_say_deeper(const struct tw_profile_notes *notes, enum tw_weight weight, uint32_t max_depth);

/* Says on standard error that nothing that a profile or tree counts passes the filters; and where there are none, that
 * no sample has the weight that was asked for. */
void tw_say_weightless(const struct tw_common *common, enum tw_weight weight, bool function_alone);

/* Refuses --min-duration where it would do nothing. Returns 0 or TW_EXIT_FAILED. */
int tw_refuse_durations(const struct tw_common *common, enum tw_weight weight);

#endif
