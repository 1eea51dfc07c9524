/* nothing_passed.c - what is said where a command has nothing to show, or not all. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/nothing_passed.h"

#include "base/memory/memory.h"
#include "cli/output/message.h"
#include "cli/output/show.h"

#include <string.h>

bool tw_say_left_out(uint64_t count, const char *what, const char *of)
{
	if (count)
		tw_say("the memory limit was reached: %s%s left out; --memory raises it",
		       tw_show_plural(count, what).text, of);
	return count;
}

static void list_times(struct tw_text *list, const struct tw_common *common)
{
	const struct {
		const char *name;
		uint64_t ns;
	} times[] = {
	    {" --from-time ", common->filter.from_time},
	    {" --to-time ", common->filter.to_time},
	    {" --min-duration ", common->filter.min_duration},
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

static void list_who(struct tw_text *list, const char *option, const struct tw_numbers *who)
{
	for (size_t i = 0; i < who->count + who->names.count; i++) {
		bool number = i < who->count;
		const struct tw_shown id = tw_show_task(number ? who->items[i] : 0);
		list_text(list, i ? "," : option, number ? id.text : who->names.items[i - who->count]);
	}
}

/* Adds the filters as they could be typed: " --thread 1,2 --function f". Without memory the list is cut short. */
static void list_filters(struct tw_text *list, const struct tw_common *common)
{
	list_who(list, " --thread ", &common->filter.threads);
	list_who(list, " --process ", &common->filter.processes);
	list_text(list, " --provider ", common->filter.provider);
	list_text(list, " --function ", common->filter.function);
	list_text(list, " --category ", common->filter.category);
	list_times(list, common);
}

void tw_say_filters(const struct tw_common *common, const char *text, bool function_alone)
{
	struct tw_text list = {0};
	struct tw_common others = *common;
	others.filter.function = NULL;
	if (common->filter.function && (function_alone || !tw_has_filters(&others))) {
		const char *glob = common->filter.function;
		if (strchr(glob, '*'))
			tw_say("no function matches '%s'", glob);
		else
			tw_say("no function matches '%s': a glob matches the whole name, as in '*%s*'", glob, glob);
	} else if (tw_has_filters(common)) {
		list_filters(&list, common);
		tw_say("%s the filters:%s%s", text, list.bytes ? list.bytes : "",
		       tw_chooses(&common->filter.threads) || tw_chooses(&common->filter.processes)
		           ? " (trackway info lists the threads)"
		           : "");
	}
	tw_text_free(&list);
}

void tw_say_nothing(const struct tw_common *common, bool function_alone)
{
	tw_say_filters(common, "nothing passes", function_alone);
}

/* Filters, each with all before it, by what passes them whatever they are. */
enum unchosen_by { NONE, BY_TIME, BY_THREAD, BY_NAME };

static const struct {
	enum tw_event_kind kind;
	enum unchosen_by from;
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

static enum unchosen_by kinds_unchosen_by(const struct tw_common *common)
{
	if (common->filter.function || common->filter.category)
		return BY_NAME;
	if (tw_chooses(&common->filter.threads) || tw_chooses(&common->filter.processes))
		return BY_THREAD;
	return common->filter.from_time || common->filter.to_time ? BY_TIME : NONE;
}

/* Adds "only objects and blobs", those that passed; returns how many events that are. */
static uint64_t list_unchosen(struct tw_text *list, const struct tw_common *common, const uint64_t *kinds)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < sizeof unchosen / sizeof *unchosen; i++) {
		uint64_t count = kinds_unchosen_by(common) >= unchosen[i].from ? kinds[unchosen[i].kind] : 0;
		if (count)
			list_text(list, sum ? " and " : "only ", unchosen[i].words);
		sum += count;
	}
	return sum;
}

void tw_say_passed(const struct tw_common *common, const uint64_t kinds[static TW_EVENT_KINDS])
{
	struct tw_text text = {0};
	uint64_t all = 0, loose = list_unchosen(&text, common, kinds);
	for (unsigned i = 0; i < TW_EVENT_KINDS; i++)
		all += i == TW_LOST ? 0 : kinds[i];
	list_text(&text, "", loose ? " pass" : "nothing passes");
	if (all == loose && text.bytes)
		tw_say_filters(common, text.bytes, false);
	tw_text_free(&text);
}

void tw_say_numbers_only(void)
{
	tw_say("functions have numbers only: --binary PROGRAM gives them names");
}

bool tw_say_numbers_in(const struct tw_common *common, const struct tw_reader *reader)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	const char *format = tw_reader_format(reader);
	bool may_have = strncmp(format, "xray", 4) == 0 || strcmp(format, "merged") == 0;
	for (uint32_t i = 1; may_have && !common->names.binaries.count && i < tw_dictionary_names(dictionary); i++) {
		const struct tw_name *name = tw_dictionary_name(dictionary, i);
		if (!name->id || name->text[0] != '#' || name->text[1] < '0' || name->text[1] > '9')
			continue;
		tw_say_numbers_only();
		return true;
	}
	return false;
}

void tw_say_ticks_in(const struct tw_reader *reader)
{
	if (strcmp(tw_reader_format(reader), "xray-profiling") == 0 && tw_reader_clock(reader)->ticks_per_second == 0)
		tw_say("nothing tells how many ticks are a second: they stand as nanoseconds (--frequency HZ)");
}

void tw_say_none(const struct tw_common *common, const char *what)
{
	struct tw_text list = {0};
	list_filters(&list, common);
	if (tw_has_filters(common) || common->filter.given)
		tw_say("no %s passes the filters%s%s", what, list.bytes ? ":" : "", list.bytes ? list.bytes : "");
	else
		tw_say("there is no %s in the trace", what);
	tw_text_free(&list);
}
