/* notes.c - what a listing of calls says below it about what was no ordinary call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/notes.h"

#include "cli/message.h"
#include "cli/show.h"

void tw_put_notes(struct tw_screen *screen, const struct tw_profile_notes *notes, const struct tw_note_counts *counts)
{
	const struct {
		uint64_t count;
		const char *word, *text;
	} lines[] = {
	    {counts->open, "call", "still open at the end: counted, with the time until then"},
	    {counts->unwound, "call", "ended by the exit of a caller (exceptions and longjmp leave no exits)"},
	    {notes->exits_without_entry, "exit", "without an entry: not counted"},
	    {notes->time_backwards, "call", "ended before it began by the clock: counted as 0 ns"},
	};
	for (size_t i = 0, shown = 0; i < sizeof lines / sizeof *lines; i++)
		if (lines[i].count)
			tw_putf(&screen->out, "%s%s %s\n", shown++ ? "" : "\n",
			        tw_show_plural(lines[i].count, lines[i].word).text, lines[i].text);
}

void tw_say_folded(const struct tw_profile_notes *notes)
{
	if (notes->rows_folded)
		tw_say("the memory limit was reached: %s under \"(other)\"; --memory raises it",
		       tw_show_plural(notes->rows_folded, "call").text);
}
