/* call_notes.c - what a listing of calls says below it about what was no ordinary call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/call_notes.h"

#include "analysis/tool.h"
#include "cli/output/message.h"
#include "cli/output/show.h"

#include <stdio.h>
#include <string.h>

void tw_put_notes(struct tw_screen *screen, const struct tw_profile_notes *notes, const struct tw_note_counts *counts)
{
	const struct {
		uint64_t count;
		const char *word, *text;
	} lines[] = {
	    {counts->open, "call", "still open at the end: counted, with the time until then"},
	    {counts->unwound, "call", "ended by the exit of a caller (exceptions and longjmp leave no exits)"},
	    {notes->exits_without_entry, "exit", "without an entry: not counted"},
	    {notes->time_backwards, "call", "with an end before the beginning, by the clock: counted as 0 ns"},
	};
	for (size_t i = 0, shown = 0; i < sizeof lines / sizeof *lines; i++)
		if (lines[i].count)
			tw_putf(&screen->out, "%s%s %s\n", shown++ ? "" : "\n",
			        tw_show_plural(lines[i].count, lines[i].word).text, lines[i].text);
}

void tw_say_folded(const struct tw_profile_notes *notes, enum tw_weight weight)
{
	if (notes->rows_folded)
		tw_say("the memory limit was reached: %s under \"(other)\"; --memory raises it",
		       tw_show_plural(notes->rows_folded, tw_weight_is_sampled(weight) ? "sample" : "call").text);
}

bool tw_say_left_out(uint64_t count, const char *what, const char *of)
{
	if (count)
		tw_say("the memory limit was reached: %s%s left out; --memory raises it",
		       tw_show_plural(count, what).text, of);
	return count;
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

static void list_times(struct tw_text *list, const struct tw_common *common)
{
	const struct {
		const char *name;
		uint64_t ns;
	} times[] = {
	    {" --from-time ", common->from_time},
	    {" --to-time ", common->to_time},
	    {" --min-duration ", common->min_duration},
	};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (times[i].ns) {
			tw_text_add(list, times[i].name, strlen(times[i].name));
			const struct tw_shown id = tw_show_id(times[i].ns);
			tw_text_add(list, id.text, strlen(id.text));
			tw_text_add(list, "ns", 2);
		}
}

static void list_text(struct tw_text *list, const char *option, const char *text)
{
	if (!text)
		return;
	tw_text_add(list, option, strlen(option));
	tw_text_add(list, text, strlen(text));
}

/* Adds the filters as they could be typed: " --thread 1,2 --function f". Without memory the list is cut short. */
static void list_filters(struct tw_text *list, const struct tw_common *common)
{
	for (size_t i = 0; i < common->threads.count; i++) {
		const struct tw_shown id = tw_show_id(common->threads.items[i]);
		tw_text_add(list, i ? "," : " --thread ", i ? 1 : 10);
		tw_text_add(list, id.text, strlen(id.text));
	}
	list_text(list, " --provider ", common->provider);
	list_text(list, " --function ", common->function);
	list_text(list, " --category ", common->category);
	list_times(list, common);
}

/* Says of the filters what was told: "nothing passes". function_alone: all but --function let something through. */
static void say_filters(const struct tw_common *common, const char *told, bool function_alone)
{
	struct tw_text list = {0};
	struct tw_common others = *common;
	others.function = NULL;
	if (common->function && (function_alone || !tw_has_filters(&others))) {
		const char *glob = common->function;
		if (strchr(glob, '*'))
			tw_say("no function matches '%s'", glob);
		else
			tw_say("no function matches '%s': a glob matches the whole name, as in '*%s*'", glob, glob);
	} else if (tw_has_filters(common)) {
		list_filters(&list, common);
		tw_say("%s the filters:%s%s", told, list.bytes ? list.bytes : "",
		       common->threads.count ? " (trackway info lists the threads)" : "");
	}
	tw_text_free(&list);
}

void tw_say_nothing(const struct tw_common *common, bool function_alone)
{
	say_filters(common, "nothing passes", function_alone);
}

/* Filters, each with all before it, by what passes them whatever they are. */
enum loose { NONE, BY_TIME, BY_THREAD, BY_NAME };

static const struct {
	enum tw_event_kind kind;
	enum loose from;
	const char *words;
} unchosen[] = {
    {TW_OBJECT, BY_TIME, "objects"},
    {TW_BLOB, BY_THREAD, "blobs"},
    {TW_METADATA, BY_THREAD, "metadata"},
    {TW_LOG, BY_NAME, "log records"},
    {TW_SWITCH, BY_NAME, "switches"},
    {TW_WAKEUP, BY_NAME, "wake-ups"},
    {TW_INSTRUCTIONS, BY_NAME, "instructions"},
};

static enum loose loose_of(const struct tw_common *common)
{
	if (common->function || common->category)
		return BY_NAME;
	if (common->threads.count)
		return BY_THREAD;
	return common->from_time || common->to_time ? BY_TIME : NONE;
}

/* Adds "only objects and blobs", those that passed; returns how many events that are. */
static uint64_t list_unchosen(struct tw_text *list, const struct tw_common *common, const uint64_t *kinds)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < sizeof unchosen / sizeof *unchosen; i++) {
		uint64_t count = loose_of(common) >= unchosen[i].from ? kinds[unchosen[i].kind] : 0;
		if (count)
			list_text(list, sum ? " and " : "only ", unchosen[i].words);
		sum += count;
	}
	return sum;
}

void tw_say_passed(const struct tw_common *common, const uint64_t kinds[static TW_EVENT_KINDS])
{
	struct tw_text told = {0};
	uint64_t all = 0, loose = list_unchosen(&told, common, kinds);
	for (unsigned i = 0; i < TW_EVENT_KINDS; i++)
		all += i == TW_LOST ? 0 : kinds[i];
	list_text(&told, "", loose ? " pass" : "nothing passes");
	if (all == loose && told.bytes)
		say_filters(common, told.bytes, false);
	tw_text_free(&told);
}

void tw_say_weightless(const struct tw_common *common, enum tw_weight weight, bool function_alone)
{
	char told[64] = "no call passes"; /* others may */
	if (tw_weight_is_sampled(weight))
		snprintf(told, sizeof told, "nothing to count by %s passes", tw_weight_name(weight));
	if (tw_has_filters(common))
		say_filters(common, told, function_alone);
	else if (tw_weight_is_sampled(weight))
		tw_say("there is nothing to count by %s in the trace; --weight chooses another",
		       tw_weight_name(weight));
}

int tw_refuse_durations(const struct tw_common *common, enum tw_weight weight)
{
	if (!common->min_duration || !tw_weight_is_sampled(weight))
		return 0;
	return tw_say_error("--min-duration is about calls: samples have no duration; --weight calls counts those");
}

void tw_say_none(const struct tw_common *common, const char *what)
{
	struct tw_text list = {0};
	list_filters(&list, common);
	if (tw_has_filters(common))
		tw_say("no %s passes the filters:%s", what, list.bytes ? list.bytes : "");
	else
		tw_say("there is no %s in the trace", what);
	tw_text_free(&list);
}
