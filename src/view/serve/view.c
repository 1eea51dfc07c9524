/* view.c - what is shown: the index of a trace that is being read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/view.h"

#include "base/bytes/temporary.h"
#include "core/format.h"
#include "core/in_order.h"
#include "core/order/sorted_runs.h"
#include "view/index/leaves.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes by which records may come late: sections of several providers are as long. What has no order goes through a
 * temporary file, and needs little memory for what comes less late. */
enum { REORDER_WINDOW = 8 << 20, REORDER_WINDOW_SEEN = 6 << 20, REORDER_WINDOW_LATE = 2 << 20 };

/* No errno. */
enum { LATE = INT_MAX };

/* ---- Reading. ---- */

static void take_finding(void *context, const struct tw_finding *finding);

static void options_for_index(struct view *view, struct tw_read_options *options)
{
	options->order = TW_ORDER_TRACK;
	options->on_finding = take_finding;
	options->finding_context = view;
	options->stop = options->stop ? options->stop : &view->stop;
	if (!options->reorder_window)
		options->reorder_window = REORDER_WINDOW;
}

/* Asks for what the order says that events must come in. Of rows: the first look at all events, for their order, is
 * left out, because the index sees itself whether they are. Of tracks: it tells when the trace begins. In none: the
 * reader puts them in order. */
static int ask(const struct view *view, struct tw_reader *reader)
{
	const struct tw_request request = {.lasting = view->reading.order == VIEW_ORDER_OF_ROWS, .as_they_come = true};
	return view->reading.order == VIEW_NO_ORDER ? 0 : tw_begin(reader, TW_USE_EVENTS, &request);
}

/* A file can be opened once more; so can standard input, which is a file by now, unless nobody has made it one. */
static bool can_begin_anew(const struct view *view)
{
	return view->files[0].regular ||
	       (strcmp(view->options.paths[0], "-") == 0 && lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0);
}

/* Where reading cannot begin anew, and where more depends on it, events must be in order from the beginning. */
static int look_while_reading(struct view *view)
{
	struct tw_reader *reader = view->reading.reader;
	if (view->options.count > 1 || !reader->format->reading.look || !can_begin_anew(view))
		return 0;
	view->reading.order = VIEW_ORDER_OF_ROWS;
	/* What comes later than that is seen, and all is read again. */
	if (!view->options.read.reorder_window)
		reader->options.reorder_window = REORDER_WINDOW_SEEN;
	return ask(view, reader);
}

/* Which of the paths it is; their count where it is none. */
static size_t file_of(const struct view *view, const char *path)
{
	size_t i = 0;
	while (view->options.count > 1 && i < view->options.count && strcmp(view->options.paths[i], path) != 0)
		i++;
	return i;
}

static void take_finding(void *context, const struct tw_finding *finding)
{
	struct view *view = context;
	view_lock(view);
	if (view->findings.count < VIEW_FINDINGS_KEPT)
		view->findings.first[view->findings.count] = (struct view_finding){.severity = finding->severity,
		                                                                   .rule = finding->rule,
		                                                                   .offset = finding->record,
		                                                                   .file = file_of(view, finding->file),
		                                                                   .time = view->index.end,
		                                                                   .text = strdup(finding->text)};
	view->findings.count++;
	view->findings.by_file[file_of(view, finding->file)]++;
	view_unlock(view);
}

/* Ends the index after the last event. The lock is held. */
static void finish(struct view *view)
{
	const size_t known = view->index.tracks.count;
	if (view->index.now.dictionary)
		view_index_finish(&view->index, view->index.now.dictionary);
	view_files_take(view, known);
	view->reading.state = VIEW_DONE;
	view->reading.generation++;
}

static void take_batch(struct view *view, const struct tw_batch *batch)
{
	enum { NAMES_EVERY = 256 }; /* batches */
	const struct tw_dictionary *dictionary = tw_reader_dictionary(view->reading.reader);
	view->reading.clock = *tw_reader_clock(view->reading.reader);
	if (!view->reading.started) {
		view->reading.start = view->reading.clock.start_ns;
		if (view->index.store.spans)
			view->index.store.spans->start = view->reading.start;
		view_files_start(view);
	}
	view->reading.started = true;
	const size_t known = view->index.tracks.count;
	view_index_take(&view->index, dictionary, batch);
	view_files_take(view, known);
	if (view->reading.generation++ % NAMES_EVERY == 0)
		view_tracks_name(&view->index.tracks, dictionary);
}

static void drop_findings(struct view *view)
{
	for (size_t i = 0; i < VIEW_FINDINGS_KEPT; i++)
		free(view->findings.first[i].text);
	memset(view->findings.first, 0, sizeof view->findings.first);
	memset(view->findings.by_file, 0, (view->options.count + 1) * sizeof *view->findings.by_file);
	view->findings.count = 0;
}

/* Where the trace is a file of its own, and large, its slices can be read from it again. */
static void plan_spans(struct view *view)
{
	enum { SMALL = 16 << 20 };
	struct tw_read_options options = view->options.read;
	const uint64_t small = view->options.small ? view->options.small : SMALL;
	const bool is_wanted = !view->reading.keep_items && view->options.count == 1 && view->files[0].regular &&
	                       (uint64_t)view->files[0].status.st_size >= small;
	options_for_index(view, &options);
	struct view_spans *spans =
	    is_wanted ? view_spans_new(view->reading.reader, view->options.paths[0], &options) : NULL;
	if (spans && !view_leaves_begin(spans)) {
		view_spans_free(spans);
		spans = NULL;
	}
	view->index.store.spans = spans;
}

/* Forgets all that has been read. Returns 0, an errno or a negative status. */
static int forget(struct view *view)
{
	view_lock(view);
	view->reading.started = false;
	view_latest_free(&view->reading.latest);
	drop_findings(view);
	int status = view_index_again(&view->index, view->options.read.temporary_directory);
	if (status == 0)
		plan_spans(view);
	view->reading.generation++;
	status = status == TW_ERR_SYSTEM ? view->index.store.error : status;
	view_unlock(view);
	return status;
}

/* Has a new reader, and what goes with it for the order. Returns 0, an errno or a negative status. */
static int open_again(struct view *view, struct tw_reader **again)
{
	struct tw_read_options options = view->options.read;
	options_for_index(view, &options);
	if (view->reading.late && !view->options.read.reorder_window)
		options.reorder_window =
		    view->reading.order == VIEW_NO_ORDER ? REORDER_WINDOW_LATE : REORDER_WINDOW_SEEN;
	int status = view_reader(view, again, &options);
	status = status < 0 ? status : ask(view, *again);
	const bool is_mixed = status == 0 && view->reading.order == VIEW_ORDER_OF_TRACKS;
	return is_mixed ? tw_runs_for(&view->index.aside, *again) : status;
}

/* Reads from the beginning. Returns as open_again(). */
static int begin_again(struct view *view)
{
	struct tw_reader *again = NULL, *before = view->reading.reader;
	int status = forget(view);
	status = status ? status : open_again(view, &again);
	if (!again)
		return status;
	view_lock(view);
	view->reading.reader = again;
	view_unlock(view);
	tw_close(before);
	return status;
}

/* Takes a batch. Returns an errno, 0, or LATE where events are not in order. */
static int take_next(struct view *view, const struct tw_batch *batch)
{
	const uint64_t start =
	    view->reading.started ? view->reading.start : tw_reader_clock(view->reading.reader)->start_ns;
	const enum view_order asked = view->reading.order;
	const enum view_order kept = view_order_kept(&view->reading.latest, batch, start, asked);
	/* Tracks that do not keep theirs now may be put in order one by one. */
	view->reading.order = kept < asked && view->reading.reader->format->reading.orders_tracks ? asked - 1 : kept;
	if (view->reading.order != asked)
		return LATE;
	view_lock(view);
	take_batch(view, batch);
	int error = view->index.store.error;
	view_unlock(view);
	return error;
}

/* Slices that are not kept could not be read again. */
static bool is_lacking(const struct view *view)
{
	return view->index.store.spans && view->index.store.spans->failed;
}

/* What was put aside, after all else. Returns an errno or 0. */
static int take_aside(struct view *view)
{
	struct tw_sorted_runs *runs = view->index.aside;
	struct tw_batch batch;
	int error = tw_sorted_runs_end(runs);
	while (!error && !__atomic_load_n(&view->stop, __ATOMIC_RELAXED)) {
		error = tw_sorted_runs_next(runs, &batch);
		if (error || batch.count == 0)
			break;
		view_lock(view);
		const size_t known = view->index.tracks.count;
		view_index_take_aside(&view->index, tw_reader_dictionary(view->reading.reader), &batch);
		view_files_take(view, known);
		view->reading.generation++;
		error = view->index.store.error;
		view_unlock(view);
	}
	tw_sorted_runs_free(runs);
	view->index.aside = NULL;
	return error;
}

/* Returns an errno, 0 at the end, or a negative status. */
static int read_all(struct view *view)
{
	struct tw_batch batch;
	int got = 0;
	while (!__atomic_load_n(&view->stop, __ATOMIC_RELAXED) && (got = tw_read(view->reading.reader, &batch)) > 0) {
		int taken = take_next(view, &batch);
		if (taken == 0 && is_lacking(view)) {
			view->reading.keep_items = true;
			taken = begin_again(view);
		}
		if (taken == LATE) {
			view->reading.late = true;
			taken = begin_again(view);
		}
		if (taken)
			return taken;
	}
	return got == 0 && view->index.aside ? take_aside(view) : got;
}

/* What could not be opened once more has no reader that tells it. */
static const char *why(const struct view *view, int status)
{
	const char *words = tw_reader_error(view->reading.reader);
	return *words ? words : view_reader_error(NULL, status);
}

/* What one file was read with is not needed any more: its temporary file, its tables. Of several files the reader knows
 * which of them a track is of. The lock is held. */
static struct tw_reader *let_go(struct view *view)
{
	struct tw_reader *reader = view->reading.reader;
	if (view->options.count > 1)
		return NULL;
	tw_reader_progress(reader, &view->reading.progress.done, &view->reading.progress.size);
	view->reading.progress.errors = tw_reader_findings(reader, TW_ERROR);
	view->index.now.dictionary = NULL;
	view->reading.reader = NULL;
	return reader;
}

/* Whether slices that are not kept can be, or nobody asks any more. */
static bool can_be_read_again(struct view *view, int got)
{
	struct view_spans *spans = view->index.store.spans;
	return !spans || __atomic_load_n(&view->stop, __ATOMIC_RELAXED) || got > 0 ||
	       (got == 0 && tw_reader_findings(view->reading.reader, TW_ERROR) == 0 && view_spans_outline(spans));
}

/* Reads all once more, and keeps the slices. Returns as read_all(). */
static int read_with_items(struct view *view)
{
	view_lock(view);
	view->reading.keep_items = true;
	view->reading.state = VIEW_READING;
	view_unlock(view);
	const int status = begin_again(view);
	return status ? status : read_all(view);
}

static void save(struct view *view)
{
	view_keep_save(view);
	view_lock(view);
	view->reading.state = VIEW_DONE;
	view->reading.generation++;
	view_unlock(view);
}

/* Why not all is in the index. */
static void keep_failure(struct view *view, int got)
{
	const char *place = tw_temporary_place(view->options.read.temporary_directory);
	if (got > 0)
		snprintf(view->reading.error, sizeof view->reading.error, "%s: the index cannot be written: %s", place,
		         strerror(got));
	else
		snprintf(view->reading.error, sizeof view->reading.error, "%s", why(view, got));
}

static void end_reading(struct view *view, int got)
{
	struct tw_reader *over = NULL;
	bool is_kept = false;
	view_lock(view);
	view->index.now.event = NULL;
	finish(view);
	got = got ? got : view->index.store.error; /* what the end has added may have had no room */
	if (got) {
		view->reading.state = VIEW_FAILED;
		keep_failure(view, got);
	}
	if (got == 0)
		over = let_go(view);
	if (view->index.store.spans)
		view->index.store.spans->ready =
		    got == 0 && !is_lacking(view) && !__atomic_load_n(&view->stop, __ATOMIC_RELAXED);
	if (got == 0 && !is_lacking(view))
		is_kept = view_keep_is_wanted(view);
	/* What is kept is there before all has been read, for who asks. */
	view->reading.state = is_kept ? VIEW_READING : view->reading.state;
	view_unlock(view);
	if (got && view->options.failed && !__atomic_load_n(&view->stop, __ATOMIC_RELAXED))
		view->options.failed(view->reading.error);
	tw_close(over);
	if (is_kept)
		save(view);
}

/* Who looks at the page is answered before all has been read: the threads that read are behind the server and the
 * browser. */
void view_read(struct view *view)
{
	enum { BEHIND = 5 };
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), BEHIND);
	int got = read_all(view);
	if (!can_be_read_again(view, got))
		got = read_with_items(view);
	end_reading(view, got);
	if (got == 0 && is_lacking(view))
		end_reading(view, read_with_items(view));
}

/* ---- Opening. ---- */

static int fail(struct view *view, int status, const char *words)
{
	snprintf(view->error, sizeof view->error, "%s", words);
	return status;
}

/* Bytes that the index may become: far more than it will, even if the files are compressed. What is no file of its own
 * may be of any size. */
static uint64_t room_of(const struct view *view)
{
	enum { TIMES = 4096 };
	uint64_t room = VIEW_ROOM_LEAST;
	for (size_t i = 0; i < view->options.count; i++) {
		struct stat status;
		bool is_file = stat(view->options.paths[i], &status) == 0 && S_ISREG(status.st_mode);
		if (!is_file || (uint64_t)status.st_size >= (VIEW_ROOM_MOST - room) / TIMES)
			return VIEW_ROOM_MOST;
		room += (uint64_t)status.st_size * TIMES;
	}
	return room;
}

int view_begin(struct view *view)
{
	struct tw_read_options options = view->options.read;
	options_for_index(view, &options);
	int status = view_files_open(view, &options);
	if (status < 0)
		return fail(view, status, "out of memory");
	view->keeper.loaded = view_keep_load(view, &options);
	if (view->keeper.loaded)
		return 0;
	status = view_reader(view, &view->reading.reader, &options);
	if (status < 0)
		return fail(view, status, view_reader_error(view->reading.reader, status));
	status = look_while_reading(view);
	if (status < 0)
		return fail(view, status, tw_reader_error(view->reading.reader));
	view->reading.format = tw_reader_format(view->reading.reader);
	view->reading.title = view->reading.reader->format->title;
	status =
	    view_index_init(&view->index, options.temporary_directory, room_of(view), &view->reading.reader->traits);
	if (status == TW_ERR_SYSTEM) {
		snprintf(view->error, sizeof view->error, "%s: no room for a temporary file: %s",
		         tw_temporary_place(options.temporary_directory), strerror(view->index.store.error));
		return status;
	}
	if (status < 0)
		return fail(view, status, "out of memory");
	plan_spans(view);
	return 0;
}

struct view *view_new(const struct view_options *options)
{
	struct view *view = calloc(1, sizeof *view);
	if (!view)
		return NULL;
	view->options = *options;
	view->keeper.fd = -1;
	pthread_mutex_init(&view->gate, NULL);
	pthread_mutex_init(&view->lock, NULL);
	view_questions_init(&view->questions);
	view->findings.by_file = calloc(options->count + 1, sizeof *view->findings.by_file);
	if (view->findings.by_file)
		return view;
	view_free(view);
	return NULL;
}

void view_free(struct view *view)
{
	if (!view)
		return;
	view_questions_free(&view->questions);
	view_index_free(&view->index);
	tw_close(view->reading.reader);
	if (view->findings.by_file)
		drop_findings(view);
	view_latest_free(&view->reading.latest);
	if (view->keeper.fd >= 0)
		close(view->keeper.fd);
	free(view->findings.by_file);
	free(view->files);
	pthread_mutex_destroy(&view->gate);
	pthread_mutex_destroy(&view->lock);
	free(view);
}
