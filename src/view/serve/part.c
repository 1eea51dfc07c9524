/* part.c - which part of a trace a question is about. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/part.h"

#include "analysis/tool.h"
#include "view/serve/starts.h"

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
	const bool known = view_file_track(view, track, &pick->file, &own);
	pick->file = known ? pick->file : VIEW_ANY_FILE;
	part->picked &= known;
	pick->process = own.process;
	pick->thread = track->kind == VIEW_PROCESS ? TW_ANY_THREAD : own.thread;
	part->options.thread_count++;
	return true;
}

enum { THREADS = 4096 };

/* Adds a track; of a process, where the command chooses threads, each of those that it has left. */
static bool add_track(const struct view *view, struct view_part *part, uint64_t number)
{
	const struct view_tracks *tracks = &view->index.tracks;
	if (number >= tracks->count)
		return false;
	if (tracks->items[number].kind != VIEW_PROCESS || !view->options.read.thread_count)
		return part->options.thread_count < THREADS && add_thread(view, part, &tracks->items[number]);
	bool fine = true;
	for (size_t i = number + 1; i < tracks->count && fine; i++)
		if (tracks->items[i].parent == number && tracks->items[i].kind == VIEW_THREAD)
			fine = part->options.thread_count < THREADS && add_thread(view, part, &tracks->items[i]);
	return fine;
}

static bool take_threads(struct view *view, const char *list, struct view_part *part)
{
	uint64_t number;
	part->threads = calloc(THREADS, sizeof *part->threads);
	part->processes = calloc(THREADS, sizeof *part->processes);
	part->picks = calloc(THREADS, sizeof *part->picks);
	part->options.threads = part->threads;
	part->options.thread_processes = part->processes;
	part->options.thread_count = 0;
	part->picked = true;
	if (!part->threads || !part->processes || !part->picks)
		return false;
	view_lock(view);
	while (view_next_number(&list, UINT32_MAX, &number))
		if (!add_track(view, part, number)) {
			list = NULL;
			break;
		}
	view_unlock(view);
	return list && part->options.thread_count > 0;
}

/* Whether a window has all that there is: then nothing is chosen, which traces without times cannot. */
static bool is_whole(struct view *view, const struct view_request *request, uint64_t from, uint64_t to)
{
	view_lock(view);
	const uint64_t end = view_end(view, request);
	const bool whole = view->reading.state != VIEW_READING && from == 0 && (!to || to >= end);
	view_unlock(view);
	return whole;
}

/* Adds what was left out by the options of the command to the window of the page. */
static bool take_times(struct view *view, const struct view_request *request, struct view_part *part)
{
	struct tw_read_options *options = &part->options;
	uint64_t from = 0, to = 0;
	if ((view_request_text(request, "from") && !view_request_number(request, "from", INT64_MAX, &from)) ||
	    (view_request_text(request, "to") && (!view_request_number(request, "to", INT64_MAX, &to) || to <= from)))
		return false;
	if (is_whole(view, request, from, to))
		return true;
	part->from = from;
	part->to = to;
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
	return take_times(view, request, part) && (!tracks || take_threads(view, tracks, part));
}

/* ---- Each file. ---- */

/* Leaves out what is not in a window, of which a file begins so much later. False: nothing is left. */
static bool cut(struct tw_read_options *options, uint64_t from, uint64_t to, uint64_t later)
{
	if (to && to <= later)
		return false;
	from = from > later ? from - later : 0;
	to = to ? to - later : 0;
	options->from_ns = from > options->from_ns ? from : options->from_ns;
	if (to && (!options->to_ns || to < options->to_ns))
		options->to_ns = to;
	return !options->to_ns || options->from_ns < options->to_ns;
}

bool view_part_of_file(struct view *view, const struct view_request *request, const struct view_part *part, size_t file,
                       struct tw_read_options *options)
{
	const struct tw_read_options *asked = &view->options.read;
	*options = part->options;
	options->threads = asked->threads;
	options->thread_processes = asked->thread_processes;
	options->thread_count = asked->thread_count;
	options->from_ns = options->to_ns = 0;
	view_lock(view);
	/* What the command leaves out is where it was; the window is that of who asks. */
	const bool some =
	    cut(options, asked->from_ns, asked->to_ns, view_since_start(view, view->files[file].start, 0)) &&
	    cut(options, part->from, part->to, view_file_begin(view, request, file));
	view_unlock(view);
	return some;
}

/* The threads that are asked for, as the file has them: they change places in the lists of all. False: it has none. */
static bool pick(struct view_part *part, size_t file, size_t all, struct tw_read_options *options)
{
	size_t count = 0;
	for (size_t i = 0; i < all; i++)
		if (part->picks[i].file == file || part->picks[i].file == VIEW_ANY_FILE) {
			part->threads[count] = part->picks[i].thread;
			part->processes[count++] = part->picks[i].process;
		}
	options->threads = part->threads;
	options->thread_processes = part->processes;
	options->thread_count = count;
	return count > 0;
}

/* Returns 0 or a negative status; *reader tells why, if it is one. */
static int read_once(struct view *view, const struct view_request *request, struct tw_reader *reader, int status,
                     view_part_add *add, void *context, struct view_answer *answer)
{
	view_question_reads(&view->questions, request->question, reader);
	status = status < 0 ? status : add(context, reader);
	if (status < 0)
		view_refuse(answer, 400, view_reader_error(reader, status));
	view_question_reads(&view->questions, request->question, NULL);
	tw_close(reader);
	return status;
}

static bool read_each(struct view *view, const struct view_request *request, struct view_part *part, view_part_add *add,
                      void *context, struct view_answer *answer)
{
	const size_t all = part->picks ? part->options.thread_count : 0;
	int status = 0;
	if (all && !part->picked && request->later) {
		view_refuse(answer, 400, "of which of the files a track is is not known");
		return false;
	}
	for (size_t i = 0; i < view->options.count && status >= 0; i++) {
		struct tw_read_options options;
		struct tw_reader *reader = NULL;
		if (!view_part_of_file(view, request, part, i, &options) || (all && !pick(part, i, all, &options)))
			continue;
		status = view_reader_of(view, i, &reader, &options);
		status = read_once(view, request, reader, status, add, context, answer);
	}
	return status >= 0;
}

bool view_part_read(struct view *view, const struct view_request *request, struct view_part *part, view_part_add *add,
                    void *context, struct view_answer *answer)
{
	struct tw_reader *reader = NULL;
	/* Some tracks may be of one file alone: all as one would begin with it, and knows threads by other numbers. */
	if (request->later || (part->picks && view->options.count > 1))
		return read_each(view, request, part, add, context, answer);
	const int status = view_reader(view, &reader, &part->options);
	return read_once(view, request, reader, status, add, context, answer) >= 0;
}

bool view_part_refuse_durations(const struct view *view, enum tw_weight weight, struct view_answer *answer)
{
	if (!view->options.read.min_duration_ns || !tw_weight_is_sampled(weight))
		return false;
	view_refuse(answer, 400, TW_NO_DURATIONS);
	return true;
}

void view_part_free(struct view_part *part)
{
	free(part->threads);
	free(part->processes);
	free(part->picks);
}
