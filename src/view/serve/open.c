/* open.c - the traces of a view, opened as one, and what is known of each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/format.h"
#include "core/tool.h"
#include "view/serve/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pipe in the place of a file would be waited for, whatever is cancelled. */
static bool are_files(const struct view *view)
{
	struct stat now;
	for (size_t i = 0; i < view->options.count; i++)
		if (view->files[i].regular && stat(view->options.paths[i], &now) == 0 && !S_ISREG(now.st_mode))
			return false;
	return true;
}

const char *view_reader_error(const struct tw_reader *reader, int status)
{
	if (reader)
		return tw_reader_error(reader);
	return status == TW_ERR_SYSTEM ? "what was a file is none any more" : "out of memory";
}

int view_reader_of(struct view *view, size_t file, struct tw_reader **reader, const struct tw_read_options *options)
{
	*reader = NULL;
	return are_files(view) ? tw_open(reader, view->options.paths[file], options) : TW_ERR_SYSTEM;
}

int view_reader(struct view *view, struct tw_reader **reader, const struct tw_read_options *options)
{
	struct tw_merge_source *sources;
	*reader = NULL;
	if (!are_files(view))
		return TW_ERR_SYSTEM;
	if (view->options.count == 1)
		return tw_open(reader, view->options.paths[0], options);
	sources = calloc(view->options.count, sizeof *sources);
	if (!sources)
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < view->options.count; i++) {
		sources[i].path = view->options.paths[i];
		sources[i].offset_ns = view->options.offsets ? view->options.offsets[i] : 0;
	}
	int status = tw_open_merged(reader, sources, view->options.count, &view->options.merge, options);
	free(sources);
	return status;
}

/* ---- Each file. ---- */

/* Of several the format is that of each: a look at its beginning. What it does not tell, the reader of all will. */
static const struct tw_format *format_of(const char *path, const struct tw_read_options *options)
{
	struct tw_read_options quiet = *options;
	struct tw_reader *reader = NULL;
	quiet.on_finding = NULL;
	const struct tw_format *format = tw_open(&reader, path, &quiet) == 0 ? reader->format : NULL;
	tw_close(reader);
	return format;
}

int view_files_open(struct view *view, const struct tw_read_options *options)
{
	size_t count = view->options.count;
	view->files = calloc(count, sizeof *view->files);
	if (!view->files)
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < count; i++) {
		struct view_file *file = &view->files[i];
		file->regular = stat(view->options.paths[i], &file->status) == 0 && S_ISREG(file->status.st_mode);
		if (count > 1 && file->regular)
			file->format = format_of(view->options.paths[i], options);
	}
	return 0;
}

void view_files_start(struct view *view)
{
	for (size_t i = 0; i < view->options.count; i++) {
		struct tw_merge_shift shift;
		tw_merged_shift(view->reading.reader, i, &shift);
		view->files[i].start =
		    view->options.count > 1 ? shift.pivot_ns + (uint64_t)shift.shift_ns : view->reading.clock.start_ns;
	}
}

bool view_file_track(const struct view *view, const struct view_track *track, size_t *file, struct tw_track *own)
{
	static const enum tw_track_kind kinds[] = {
	    [VIEW_PROCESS] = TW_TRACK_PROCESS, [VIEW_THREAD] = TW_TRACK_THREAD, [VIEW_CPU] = TW_TRACK_CPU,
	    [VIEW_COUNTERS] = TW_TRACK_OTHER,  [VIEW_ASYNC] = TW_TRACK_OTHER,   [VIEW_OTHER] = TW_TRACK_OTHER,
	};
	*file = 0;
	*own = (struct tw_track){.process = track->process, .thread = track->thread, .kind = kinds[track->kind]};
	const struct tw_track wanted = *own;
	return view->options.count == 1 || ((track->kind == VIEW_CPU || track->process) &&
	                                    tw_merged_source(view->reading.reader, &wanted, file, own));
}

void view_files_take(struct view *view, size_t first)
{
	for (size_t i = first; i < view->index.tracks.count; i++) {
		struct view_track *track = &view->index.tracks.items[i];
		size_t file = 0;
		struct tw_track own;
		const bool known = view_file_track(view, track, &file, &own);
		if (known)
			view_track_own(&view->index.tracks, (uint32_t)i, own.process, own.thread);
		track->file = known ? (uint32_t)file + 1 : 0;
	}
}

const char *view_file_change(const struct view *view, size_t i)
{
	const struct stat *was = &view->files[i].status;
	struct stat now;
	if (!view->files[i].regular)
		return NULL;
	if (stat(view->options.paths[i], &now) < 0)
		return "gone";
	if (now.st_dev != was->st_dev || now.st_ino != was->st_ino)
		return "replaced";
	if (now.st_size != was->st_size)
		return now.st_size > was->st_size ? "grown" : "truncated";
	bool same = now.st_mtim.tv_sec == was->st_mtim.tv_sec && now.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
	return same ? NULL : "replaced";
}

/* What is told of a file that the picture is no longer of; one that has grown still has all that is in the picture. */
static const char *words_of(const char *change)
{
	static const struct {
		const char *change, *words;
	} others[] = {{"truncated", "was cut off"}, {"replaced", "is another file now"}, {"gone", "is gone"}};
	for (size_t i = 0; change && i < sizeof others / sizeof *others; i++)
		if (strcmp(change, others[i].change) == 0)
			return others[i].words;
	return NULL;
}

bool view_files_refuse(struct view *view, struct view_answer *answer)
{
	const char *words = NULL;
	char text[VIEW_ERROR_SIZE];
	view_lock(view);
	for (size_t i = 0; i < view->options.count && !words; i++)
		if ((words = words_of(view_file_change(view, i))))
			snprintf(text, sizeof text,
			         "%.400s %s: the picture is of what it was, and more cannot be read of that",
			         view->options.paths[i], words);
	view_unlock(view);
	if (words)
		view_refuse(answer, 400, text);
	return words;
}
