/* chrome_tracks.c - processes and threads of Chrome's trace event JSON: their numbers and names.
 *
 * Readers keep pid and tid in 32 bits: a number beyond that gets one from the top of that range; where such a thread
 * has no name its true number stands for it. So does a track that is no thread, because any number may be that of a
 * thread which comes later, 0 too. Others without a name have none here. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "chrome/parse.h"
#include "export/chrome/chrome.h"

#include <stdlib.h>
#include <string.h>

/* Writes an "M" event at once, in front of the events that wait. */
static void put_metadata(struct chrome *chrome, uint32_t pid, uint32_t tid, const char *what,
                         const struct tw_name *name)
{
	struct tw_line *line = &chrome->line;
	struct tw_rendered piece = {0};
	tw_line_clear(line);
	tw_line_text(line, chrome->some ? ",\n{\"ph\":\"M\",\"pid\":" : "\n{\"ph\":\"M\",\"pid\":");
	tw_line_u64(line, pid);
	tw_line_text(line, ",\"tid\":");
	tw_line_u64(line, tid);
	tw_line_text(line, ",\"name\":\"");
	tw_line_text(line, what);
	tw_line_text(line, "\",\"args\":{\"name\":");
	tw_names_json(line, name, &piece);
	tw_line_text(line, "}}");
	tw_put(&chrome->writer->out, line->text.bytes, line->text.length);
	tw_count_losses(chrome->writer, "long name", true, piece.cut);
	chrome->some = true;
}

/* "thread 12", as a name. text: room for the word and 20 digits. */
static struct tw_name numbered(char *text, const char *word, uint64_t number)
{
	size_t length = strlen(word);
	memcpy(text, word, length);
	return (struct tw_name){.text = text, .length = (size_t)(tw_digits(text + length, number) - text)};
}

static struct tw_name track_name(const struct chrome *chrome, const struct tw_track *track, char *text)
{
	static const char *const words[] = {
	    [TW_TRACK_THREAD] = "thread ",
	    [TW_TRACK_PROCESS] = "process ",
	    [TW_TRACK_CPU] = "CPU ",
	    [TW_TRACK_OTHER] = "track ",
	};
	if (track->name)
		return *tw_dictionary_name(chrome->dictionary, track->name);
	return numbered(text, words[track->kind], track->kind == TW_TRACK_PROCESS ? track->process : track->thread);
}

/* Whether a name is to be written: where events are written as they were read, only for a text that became a
 * number. */
static bool needs_name(const struct chrome *chrome, uint64_t number, uint32_t name)
{
	return !chrome->source.document || (name && number >= CHROME_FIRST_WORD);
}

/* ---- Processes. ---- */

/* A pid that no other process has. */
static uint32_t pid_of(struct chrome *chrome, uint32_t place, uint64_t process)
{
	uint32_t other, pid = process > UINT32_MAX ? UINT32_MAX - place : (uint32_t)process;
	for (uint64_t again = 1; tw_map_find(&chrome->tracks.pids, pid, &other); again++)
		pid = (uint32_t)tw_mix64((uint64_t)place << 32 | again);
	if (!tw_map_add(&chrome->tracks.pids, pid, place))
		chrome->line.failed = true;
	return pid;
}

/* The place of a process in the list, a new one for one that is new; UINT32_MAX when there is no memory. */
static uint32_t place_of(struct chrome *chrome, uint64_t process)
{
	uint32_t place;
	if (tw_map_find(&chrome->tracks.places, process, &place))
		return place;
	place = (uint32_t)chrome->tracks.places.count;
	if (!tw_grow(&chrome->tracks.processes, &chrome->tracks.process_room, place + (size_t)1,
	             sizeof *chrome->tracks.processes) ||
	    !tw_map_add(&chrome->tracks.places, process, place))
		return UINT32_MAX;
	chrome->tracks.processes[place] = (struct chrome_process){.pid = pid_of(chrome, place, process)};
	return place;
}

/* Writes the name of a process, if it has got one that has not been written. */
static void name_process(struct chrome *chrome, struct chrome_process *known)
{
	uint32_t name = known->track ? tw_dictionary_track(chrome->dictionary, known->track)->name : 0;
	if (name == known->name)
		return;
	known->name = name;
	if (needs_name(chrome, known->pid, name))
		put_metadata(chrome, known->pid, known->pid, "process_name",
		             tw_dictionary_name(chrome->dictionary, name));
}

/* The pid of a process; its name is written when it is new. */
static uint32_t meet_process(struct chrome *chrome, uint64_t process)
{
	uint32_t place = place_of(chrome, process);
	if (place == UINT32_MAX) {
		chrome->line.failed = true;
		return 0;
	}
	struct chrome_process *known = &chrome->tracks.processes[place];
	if (known->met)
		return known->pid;
	char text[40];
	struct tw_name name = numbered(text, "process ", process);
	known->met = true;
	name_process(chrome, known);
	if (!known->name && known->pid != process && needs_name(chrome, process, 0))
		put_metadata(chrome, known->pid, known->pid, "process_name", &name);
	return known->pid;
}

bool tw_chrome_need_process(struct chrome *chrome, uint64_t process)
{
	uint32_t place = place_of(chrome, process);
	if (place == UINT32_MAX)
		return false;
	chrome->tracks.processes[place].system = true;
	return true;
}

bool tw_chrome_needs_process(const struct chrome *chrome, uint64_t process)
{
	uint32_t place;
	return tw_map_find(&chrome->tracks.places, process, &place) && chrome->tracks.processes[place].system;
}

/* ---- Tracks. ---- */

/* A tid that no other track of the process has. */
static uint32_t tid_of(struct chrome *chrome, uint32_t pid, uint32_t number, const struct tw_track *track)
{
	struct tw_map *tids = &chrome->tracks.tids;
	bool own = track->kind == TW_TRACK_THREAD && track->thread <= UINT32_MAX;
	uint32_t other, tid = own ? (uint32_t)track->thread : UINT32_MAX - number;
	/* Where it is taken, others from all over: looking at one after the other would be slow in a trace made for
	 * it. */
	for (uint64_t again = 0; tw_map_find(tids, (uint64_t)pid << 32 | tid, &other); again++)
		tid = again ? (uint32_t)tw_mix64((uint64_t)number << 32 | again) : UINT32_MAX - number;
	if (!tw_map_add(tids, (uint64_t)pid << 32 | tid, number))
		chrome->line.failed = true;
	return tid;
}

static void add_prefix(struct chrome_track *known)
{
	char *p = known->prefix;
	memcpy(p, ",\"pid\":", 7);
	p = tw_digits(p + 7, known->pid);
	memcpy(p, ",\"tid\":", 7);
	p = tw_digits(p + 7, known->tid);
	memcpy(p, ",\"ts\":", 6);
	known->prefix_size = (uint64_t)(p + 6 - known->prefix);
}

static void name_track(struct chrome *chrome, struct chrome_track *known, const struct tw_track *track)
{
	char text[40];
	struct tw_name name = track_name(chrome, track, text);
	if (track->name && known->name == track->name)
		return;
	known->name = track->name;
	if (!track->name && track->kind == TW_TRACK_THREAD && known->tid == track->thread)
		return; /* readers show the number */
	if (needs_name(chrome, track->kind == TW_TRACK_THREAD ? track->thread : 0, track->name))
		put_metadata(chrome, known->pid, known->tid, "thread_name", &name);
}

bool tw_chrome_note_name(struct chrome *chrome, uint32_t number, bool of_process, const struct tw_name *stated)
{
	const struct tw_track *track = tw_dictionary_track(chrome->dictionary, number);
	uint32_t name = track->name, *known = &chrome->tracks.items[number].name, place;
	if (of_process) {
		place = place_of(chrome, track->process);
		if (place == UINT32_MAX)
			return true;
		known = &chrome->tracks.processes[place].name;
		number = chrome->tracks.processes[place].track;
		name = number ? tw_dictionary_track(chrome->dictionary, number)->name : 0;
	}
	const struct tw_name *now = tw_dictionary_name(chrome->dictionary, name);
	if (!name || now->length != stated->length || memcmp(now->text, stated->text, stated->length) != 0)
		return true;
	const bool again = *known == name;
	*known = name;
	return !again;
}

void tw_chrome_meet_track(struct chrome *chrome, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(chrome->dictionary, number);
	struct chrome_track *known = &chrome->tracks.items[number];
	known->cpu = UINT32_MAX;
	known->process = track->process;
	known->pid = meet_process(chrome, track->process);
	known->tid = tid_of(chrome, known->pid, number, track);
	if (known->pid != track->process || (track->kind == TW_TRACK_THREAD && known->tid != track->thread))
		tw_count_loss(chrome->writer, "process or thread id", true);
	name_track(chrome, known, track);
	add_prefix(known);
}

/* Events of a track that has got its process are of that from now on. */
static void move_tracks(struct chrome *chrome)
{
	chrome->tracks.moves = tw_dictionary_moves(chrome->dictionary);
	for (uint32_t number = 0; number < chrome->tracks.seen; number++) {
		struct chrome_track *known = &chrome->tracks.items[number];
		if (known->prefix_size && !known->as_read &&
		    known->process != tw_dictionary_track(chrome->dictionary, number)->process) {
			known->name = 0;
			tw_chrome_meet_track(chrome, number);
		}
	}
}

int tw_chrome_tracks_grow(struct chrome *chrome, const struct tw_dictionary *dictionary)
{
	uint32_t tracks = tw_dictionary_tracks(dictionary);
	chrome->dictionary = dictionary;
	if (!tw_grow(&chrome->tracks.items, &chrome->tracks.room, tracks, sizeof *chrome->tracks.items))
		return TW_ERR_MEMORY;
	for (; chrome->tracks.seen < tracks; chrome->tracks.seen++) {
		const struct tw_track *track = tw_dictionary_track(dictionary, chrome->tracks.seen);
		chrome->tracks.items[chrome->tracks.seen].cpu = UINT32_MAX;
		uint32_t place = track->kind == TW_TRACK_PROCESS ? place_of(chrome, track->process) : 0;
		if (place == UINT32_MAX)
			return TW_ERR_MEMORY;
		if (track->kind == TW_TRACK_PROCESS)
			chrome->tracks.processes[place].track = chrome->tracks.seen;
	}
	if (chrome->tracks.moves != tw_dictionary_moves(dictionary))
		move_tracks(chrome);
	return 0;
}

void tw_chrome_note_listed(struct chrome *chrome, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(chrome->dictionary, number);
	uint32_t place = track->kind == TW_TRACK_PROCESS ? place_of(chrome, track->process) : UINT32_MAX;
	chrome->tracks.items[number].listed = true;
	if (place != UINT32_MAX)
		chrome->tracks.processes[place].listed = true;
}

bool tw_chrome_is_unnamed(const struct chrome *chrome, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(chrome->dictionary, number);
	uint32_t place;
	if (!track->name || chrome->source.unchanged || !(chrome->source.document || chrome->source.has_texts))
		return false;
	if (track->kind == TW_TRACK_PROCESS)
		return tw_map_find(&chrome->tracks.places, track->process, &place) &&
		       !chrome->tracks.processes[place].listed && chrome->tracks.processes[place].name != track->name;
	return track->kind == TW_TRACK_THREAD && !chrome->tracks.items[number].listed &&
	       chrome->tracks.items[number].name != track->name;
}

bool tw_chrome_has_unnamed(const struct chrome *chrome)
{
	uint32_t number = 0;
	while (number < chrome->tracks.seen && !tw_chrome_is_unnamed(chrome, number))
		number++;
	return number < chrome->tracks.seen;
}

/* Writes the names of those who have no event. */
static void meet_named(struct chrome *chrome)
{
	for (uint32_t number = 0; number < chrome->tracks.seen; number++) {
		const struct tw_track *track = tw_dictionary_track(chrome->dictionary, number);
		const bool unnamed = !chrome->source.document && tw_chrome_is_unnamed(chrome, number);
		if (track->kind == TW_TRACK_PROCESS && (unnamed || tw_chrome_needs_process(chrome, track->process)))
			meet_process(chrome, track->process);
		else if (track->kind == TW_TRACK_THREAD && (unnamed || chrome->tracks.items[number].system) &&
		         !chrome->tracks.items[number].prefix_size)
			tw_chrome_meet_track(chrome, number);
	}
}

void tw_chrome_tracks_finish(struct chrome *chrome)
{
	if (!tw_chrome_has_system(chrome))
		meet_named(chrome);
	for (size_t place = 0; place < chrome->tracks.places.count; place++)
		if (chrome->tracks.processes[place].met)
			name_process(chrome, &chrome->tracks.processes[place]);
	for (uint32_t number = 0; number < chrome->tracks.seen; number++) {
		const struct tw_track *track = tw_dictionary_track(chrome->dictionary, number);
		struct chrome_track *known = &chrome->tracks.items[number];
		if (known->prefix_size && !known->as_read && known->name != track->name)
			name_track(chrome, known, track);
	}
}

void tw_chrome_tracks_free(struct chrome *chrome)
{
	free(chrome->tracks.items);
	free(chrome->tracks.processes);
	tw_map_free(&chrome->tracks.places);
	tw_map_free(&chrome->tracks.pids);
	tw_map_free(&chrome->tracks.tids);
}
