/* part.c - which part of a trace a question is about. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/part.h"

#include <stdlib.h>

/* Adds the thread of a track, or all of its process. False where it has none. */
static bool add_thread(const struct view *view, struct view_part *part, const struct view_track *track)
{
	size_t count = part->options.thread_count;
	struct view_pick *pick = &part->picks[count];
	struct tw_track own;
	if (track->kind != VIEW_THREAD && track->kind != VIEW_PROCESS)
		return false;
	part->threads[count] = track->kind == VIEW_PROCESS ? TW_ANY_THREAD : track->thread;
	part->processes[count] = track->process;
	part->picked &= view_file_track(view, track, &pick->file, &own);
	pick->process = own.process;
	pick->thread = track->kind == VIEW_PROCESS ? TW_ANY_THREAD : own.thread;
	part->options.thread_count++;
	return true;
}

static bool take_threads(struct view *view, const char *list, struct view_part *part)
{
	enum { MOST = 4096 };
	uint64_t number;
	part->threads = calloc(MOST, sizeof *part->threads);
	part->processes = calloc(MOST, sizeof *part->processes);
	part->picks = calloc(MOST, sizeof *part->picks);
	part->options.threads = part->threads;
	part->options.thread_processes = part->processes;
	part->options.thread_count = 0;
	part->picked = true;
	if (!part->threads || !part->processes || !part->picks)
		return false;
	view_lock(view);
	while (view_next_number(&list, UINT32_MAX, &number))
		if (part->options.thread_count == MOST || number >= view->index.tracks.count ||
		    !add_thread(view, part, &view->index.tracks.items[number])) {
			list = NULL;
			break;
		}
	view_unlock(view);
	return list && part->options.thread_count > 0;
}

/* Whether a window has all that there is: then nothing is chosen, which traces without times cannot. */
static bool is_whole(struct view *view, uint64_t from, uint64_t to)
{
	view_lock(view);
	const uint64_t end = view->index.end > view->start ? view->index.end - view->start : 0;
	const bool whole = view->state != VIEW_READING && from == 0 && (!to || to >= end);
	view_unlock(view);
	return whole;
}

/* Adds what was left out by the options of the command to the window of the page. */
static bool take_times(struct view *view, const struct view_request *request, struct tw_read_options *options)
{
	uint64_t from = 0, to = 0;
	if ((view_request_text(request, "from") && !view_request_number(request, "from", INT64_MAX, &from)) ||
	    (view_request_text(request, "to") && (!view_request_number(request, "to", INT64_MAX, &to) || to <= from)))
		return false;
	if (is_whole(view, from, to))
		return true;
	options->from_ns = from > options->from_ns ? from : options->from_ns;
	if (to && (!options->to_ns || to < options->to_ns))
		options->to_ns = to;
	return true;
}

bool view_part_take(struct view *view, const struct view_request *request, struct view_part *part)
{
	const char *tracks = view_request_text(request, "tracks");
	*part = (struct view_part){.options = view->options.read};
	part->options.order = TW_ORDER_TRACK;
	part->options.stop = &request->question->stop;
	return take_times(view, request, &part->options) && (!tracks || take_threads(view, tracks, part));
}

void view_part_free(struct view_part *part)
{
	free(part->threads);
	free(part->processes);
	free(part->picks);
}
