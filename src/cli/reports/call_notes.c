/* call_notes.c - what a listing of calls says below it about what was no ordinary call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/call_notes.h"

#include "analysis/tool.h"
#include "cli/files/nothing_passed.h"
#include "cli/output/message.h"
#include "cli/output/show.h"

#include <stdio.h>
#include <string.h>

void tw_put_notes(struct tw_screen *screen, const struct tw_profile_notes *notes, const struct tw_note_counts *counts)
{
	const char *call = counts->async ? "operation" : "call";
	const struct {
		uint64_t count;
		const char *word, *text;
	} lines[] = {
	    {counts->open, call, "still open at the end: counted, with the time until then"},
	    {counts->unwound, "call", "ended by the exit of a caller (exceptions and longjmp leave no exits)"},
	    {notes->exits_without_entry, counts->async ? "end" : "exit",
	     counts->async ? "without a begin: not counted" : "without an entry: not counted"},
	    {notes->time_backwards, call, "with an end before the beginning, by the clock: counted as 0 ns"},
	};
	for (size_t i = 0, shown = 0; i < sizeof lines / sizeof *lines; i++)
		if (lines[i].count)
			tw_putf(&screen->out, "%s%s %s\n", shown++ ? "" : "\n",
			        tw_show_plural(lines[i].count, lines[i].word).text, lines[i].text);
}

void tw_say_numbers(const struct tw_common *common, const char *name, uint64_t id)
{
	if (!common->names.binaries.count && id && name[0] == '#' && name[1] >= '0' && name[1] <= '9')
		tw_say_numbers_only();
}

void tw_say_numbers_of_profile(const struct tw_common *common, struct tw_profile *profile)
{
	const struct tw_profile_row *row;
	for (size_t i = 0; (row = tw_profile_row(profile, i)) != NULL; i++)
		if (tw_function_wanted(common, row->name)) {
			tw_say_numbers(common, row->name, row->id);
			return;
		}
}

/* "#12", "#1:12", as functions without names are told. */
static bool is_number(const char *name)
{
	return name[0] == '#' && name[1] && strspn(name + 1, "0123456789:") == strlen(name + 1);
}

void tw_say_numbers_of(const struct tw_common *common, const struct tw_nodes *nodes)
{
	for (size_t i = 1; !common->names.binaries.count && i < nodes->count; i++)
		if (is_number(nodes->nodes[i].name) && tw_function_wanted(common, nodes->nodes[i].name)) {
			tw_say_numbers(common, nodes->nodes[i].name, 1);
			return;
		}
}

void tw_say_folded(const struct tw_profile_notes *notes, enum tw_weight weight)
{
	const uint64_t folded = notes->rows_folded - notes->laneless;
	if (folded)
		tw_say("the memory limit was reached: %s under \"(other)\"; --memory raises it",
		       tw_show_plural(folded, tw_weight_is_sampled(weight) ? "sample" : "call").text);
	if (notes->laneless)
		tw_say("more than 1,024 slices of a thread are open at once that do not nest: %s under \"(other)\"; "
		       "async operations have no such bound",
		       tw_show_plural(notes->laneless, "call").text);
}

void tw_say_uncertain(const struct tw_profile_notes *notes)
{
	if (notes->uncertain)
		tw_say("%s of calls beside damage: times, and what stands right before the damage, are uncertain",
		       tw_show_plural(notes->uncertain, "record").text);
}

void tw_say_weight(const struct tw_common *common, enum tw_weight weight)
{
	if (!common->weight && weight == TW_WEIGHT_WALL)
		tw_say("no sample has ticks: wall time is counted, as with --weight wall");
}

void tw_say_deeper(const struct tw_profile_notes *notes, enum tw_weight weight, uint32_t max_depth)
{
	if (notes->too_deep)
		tw_say("%s deeper than %s under \"(deeper)\"; --max-depth shows more",
		       tw_show_plural(notes->too_deep, tw_weight_is_sampled(weight) ? "sample" : "call").text,
		       tw_show_plural(max_depth, "function").text);
}

void tw_say_weightless(const struct tw_common *common, enum tw_weight weight, bool function_alone)
{
	char text[64] = "no call passes"; /* others may */
	if (tw_weight_is_sampled(weight))
		snprintf(text, sizeof text, "nothing to count by %s passes", tw_weight_name(weight));
	if (tw_has_filters(common))
		tw_say_filters(common, text, function_alone);
	else if (weight == TW_WEIGHT_SAMPLES && function_alone)
		tw_say("there is nothing to count: all samples of the trace count 0");
	else if (tw_weight_is_sampled(weight))
		tw_say("there is nothing to count by %s in the trace; --weight chooses another",
		       tw_weight_name(weight));
}

int tw_refuse_durations(const struct tw_common *common, enum tw_weight weight)
{
	if (!common->filter.min_duration || !tw_weight_is_sampled(weight))
		return 0;
	return tw_say_error(TW_NO_DURATIONS "; --weight calls counts those");
}
