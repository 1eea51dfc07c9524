/* labels.c - what names, tracks and places are called in formats that have no more than a text for them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/text/labels.h"

void tw_label_number(struct tw_line *line, const struct tw_name *name)
{
	if (name->length || !name->id)
		return;
	tw_line_text(line, "function ");
	tw_line_u64(line, name->id);
}

bool tw_label_name(struct tw_line *line, const struct tw_name *name)
{
	bool whole = name->length <= LABEL_MAX;
	tw_line_add(line, name->text, whole ? name->length : LABEL_MAX);
	tw_label_number(line, name);
	return whole;
}

void tw_label_address(struct tw_line *line, uint64_t address)
{
	tw_line_text(line, "0x");
	tw_line_hex_digits(line, address);
}

void tw_label_process(struct tw_line *line, const struct tw_dictionary *dictionary, uint64_t process)
{
	const struct tw_name *name = tw_dictionary_process_name(dictionary, process);
	if (name->length) {
		tw_label_name(line, name);
		return;
	}
	tw_line_text(line, "process ");
	tw_line_task(line, process);
}

void tw_label_track(struct tw_line *line, const struct tw_dictionary *dictionary, const struct tw_track *track)
{
	static const char *const words[] = {
	    [TW_TRACK_THREAD] = "thread ",
	    [TW_TRACK_PROCESS] = "process ",
	    [TW_TRACK_CPU] = "CPU ",
	    [TW_TRACK_OTHER] = "track ",
	};
	if (track->name) {
		tw_label_name(line, tw_dictionary_name(dictionary, track->name));
		return;
	}
	tw_line_text(line, words[track->kind]);
	tw_line_task(line, track->kind == TW_TRACK_PROCESS ? track->process : track->thread);
}

bool tw_label_counter(struct tw_line *line, const struct tw_dictionary *dictionary, uint32_t name, uint32_t series,
                      uint64_t id)
{
	const struct tw_name *last = tw_dictionary_name(dictionary, series);
	bool whole = tw_label_name(line, tw_dictionary_name(dictionary, name));
	tw_line_text(line, last->length ? " " : "");
	whole &= tw_label_name(line, last);
	if (id) {
		tw_line_text(line, " 0x");
		tw_line_hex_digits(line, id);
	}
	return whole;
}
