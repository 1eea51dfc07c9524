/* make.c - the files of a slice: a program, or one for each thread with the order of their accesses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/outdir.h"
#include "slice/slice.h"
#include "slice/tool.h"
#include "slice/windows.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_wanted(const struct slice_request *request, uint64_t thread)
{
	for (size_t i = 0; i < request->thread_count; i++)
		if (request->threads[i] == thread)
			return true;
	return request->thread_count == 0;
}

static int choose(struct tw_reader *reader, const struct slice_request *request, const struct xtrace_track **track)
{
	if (reader->format != &tw_format_xtrace)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s has no instructions: an xtrace has",
		               tw_source_name(reader));
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	size_t wanted = 0;
	for (size_t i = 0; i < set->count; i++)
		if (is_wanted(request, set->tracks[i].name.number)) {
			*track = &set->tracks[i];
			wanted++;
		}
	if (wanted == 0)
		return tw_fail(reader, TW_ERR_VALUE, "there is no such thread");
	if (wanted > 1)
		return tw_fail(reader, TW_ERR_VALUE, "there are %zu threads: choose one (--thread)", wanted);
	return 0;
}

/* ---- Writing. ---- */

/* A file that is made. */
struct slice_file {
	const char *path;  /* until all of its directory are complete */
	const char *shown; /* its place in the end */
	const struct slice_window *window;
	struct tw_text stubs; /* "0xFROM-0xTO,...", terminated */
};

static int fail(struct tw_reader *reader, const char *path, int error)
{
	return tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", path, strerror(error));
}

/* Gives a file its name, or throws it away where it could not be filled. */
static int complete(struct tw_reader *reader, struct tw_output *out, const char *path, int status)
{
	if (status < 0) {
		tw_output_discard(out);
		return status;
	}
	int error = tw_output_close(out);
	return error ? fail(reader, path, error) : 0;
}

/* Lets everyone run the file who may read it. A device stays as it is. */
static void make_executable(int fd)
{
	enum { READ = S_IRUSR | S_IRGRP | S_IROTH, ALL = S_IRWXU | S_IRWXG | S_IRWXO };
	struct stat status;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		fchmod(fd, (status.st_mode & ALL) | (status.st_mode & READ) >> 2);
}

static int write_program(struct slice *slice, const char *path)
{
	struct tw_output out;
	int error = tw_output_open(&out, path);
	if (error)
		return fail(slice->reader, path, error);
	int status = slice_write_program(slice, &out);
	if (status >= 0)
		make_executable(out.fd);
	return complete(slice->reader, &out, path, status);
}

static bool list_stubs(const struct slice *slice, struct tw_text *text)
{
	enum { RANGE_ROOM = 48 };
	bool fine = true;
	for (size_t i = 0; fine && i < slice->stubs.count; i++) {
		char range[RANGE_ROOM];
		const struct slice_range *one = &slice->stubs.items[i];
		int length =
		    snprintf(range, sizeof range, "%s0x%" PRIx64 "-0x%" PRIx64, i ? "," : "", one->from, one->to);
		fine = tw_text_add(text, range, (size_t)length);
	}
	return fine;
}

static void report_program(const struct slice_request *request, const struct slice *slice,
                           const struct slice_interval *interval, size_t pages, const struct slice_file *made)
{
	struct stat file;
	if (!request->on_program)
		return;
	const struct slice_program program = {
	    .window = made->window,
	    .path = made->shown,
	    .thread = slice->track->name.number,
	    .snapshot = interval->snapshot,
	    .before = slice->before,
	    .instructions = slice->instructions,
	    .accesses = slice->accesses,
	    .places = slice->places.count,
	    .pages = pages,
	    .bytes = stat(made->path, &file) == 0 ? (uint64_t)file.st_size : 0,
	    .stubs = made->stubs.bytes,
	};
	request->on_program(request->context, &program);
}

static int make_program(struct tw_reader *reader, const struct slice_request *request, const struct xtrace_track *track,
                        const struct slice_interval *interval, struct slice_file *made)
{
	struct slice slice;
	int status = slice_read(&slice, reader, track, interval);
	size_t pages = slice.pages.count; /* writing adds those of the stubs */
	if (status == 0)
		status = write_program(&slice, made->path);
	if (status == 0 && !list_stubs(&slice, &made->stubs))
		status = tw_fail_memory(reader);
	if (status == 0)
		report_program(request, &slice, interval, pages, made);
	slice_free(&slice);
	return status;
}

int slice_make(struct tw_reader *reader, const struct slice_request *request, const char *path)
{
	const struct slice_interval interval = {.snapshot = request->snapshot, .instructions = request->instructions};
	const struct xtrace_track *track = NULL;
	int status = choose(reader, request, &track);
	struct slice_file made = {.path = path, .shown = path};
	status = status < 0 ? status : make_program(reader, request, track, &interval, &made);
	tw_text_free(&made.stubs);
	return status;
}

/* ---- All threads. ---- */

static int write_order(struct tw_reader *reader, const struct slice_request *request, const struct xtrace_track *track,
                       struct slice_sync *sync, const struct slice_file *made)
{
	const struct slice_interval interval = {.snapshot = request->snapshot, .instructions = request->instructions};
	struct tw_output out;
	int error = tw_output_open(&out, made->path);
	if (error)
		return fail(reader, made->shown, error);
	int status = complete(reader, &out, made->shown, slice_sync_read(sync, reader, track, &interval, &out));
	if (status == 0 && request->on_order)
		request->on_order(request->context,
		                  &(struct slice_order){made->shown, sync->after, sync->until, sync->accesses});
	return status;
}

/* Where a file of a directory is written, and where it will be. */
struct made_inside {
	char path[PATH_MAX], shown[PATH_MAX];
};

static struct slice_file name_inside(struct made_inside *names, const struct tw_outdir *directory, const char *shown,
                                     const char *name)
{
	snprintf(names->path, sizeof names->path, "%s/%s", directory->temporary, name);
	snprintf(names->shown, sizeof names->shown, "%s/%s", shown, name);
	return (struct slice_file){.path = names->path, .shown = names->shown};
}

static int make_all(struct tw_reader *reader, const struct slice_request *request, const struct xtrace_track *track,
                    const struct tw_outdir *into, const char *directory)
{
	enum { NAME_ROOM = 64 };
	char name[NAME_ROOM];
	struct made_inside names;
	struct slice_sync sync = {0};
	struct slice_file made = name_inside(&names, into, directory, "order.tsv");
	int status = write_order(reader, request, track, &sync, &made);
	for (size_t i = 0; status == 0 && i < sync.count; i++) {
		const struct slice_cut *cut = &sync.cuts[i];
		snprintf(name, sizeof name, "%s%" PRIu64 ".elf", cut->track->core ? "core" : "",
		         cut->track->name.number);
		made = name_inside(&names, into, directory, name);
		if (cut->interval.instructions)
			status = make_program(reader, request, cut->track, &cut->interval, &made);
		tw_text_free(&made.stubs);
	}
	slice_sync_free(&sync);
	return status;
}

/* Reads the number of the snapshot, from 0, where slices of all threads begin together. */
static int find_global(struct tw_reader *reader, const struct xtrace_track *track, uint64_t *snapshot)
{
	struct xtrace_files files;
	int status = xtrace_files_open(&files, reader, track);
	*snapshot = files.header.global_snapshot;
	xtrace_files_close(&files);
	return status;
}

int slice_make_all(struct tw_reader *reader, const struct slice_request *wanted, const char *directory)
{
	struct tw_outdir into;
	struct slice_request own = *wanted, *request = &own;
	const struct xtrace_track *track = NULL;
	int status = choose(reader, request, &track);
	if (status >= 0 && request->global)
		status = find_global(reader, track, &request->snapshot);
	if (status < 0)
		return status;
	int error = tw_outdir_open(&into, directory);
	if (error)
		return fail(reader, directory, error);
	status = make_all(reader, request, track, &into, directory);
	error = status == 0 ? tw_outdir_keep(&into, NULL) : 0;
	tw_outdir_drop(&into);
	return error ? fail(reader, directory, error) : status;
}

/* ---- Windows. ---- */

static const struct xtrace_track *track_of(struct tw_reader *reader, uint64_t thread)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	for (size_t i = 0; i < set->count; i++)
		if (set->tracks[i].name.number == thread)
			return &set->tracks[i];
	return NULL;
}

/* Where a window begins, in its file. */
static int find_begin(struct tw_reader *reader, const struct xtrace_track *track, uint64_t snapshot, uint64_t *begin)
{
	struct xtrace_files files;
	struct xtrace_snapshots snapshots;
	int status = xtrace_files_open(&files, reader, track);
	if (status >= 0)
		status = slice_find_snapshot(&files, &snapshots, snapshot);
	*begin = status >= 0 ? snapshots.place : 0;
	xtrace_files_close(&files);
	return status;
}

static void put_row(struct tw_output *rows, const struct slice_window *window, const char *name, const char *stubs)
{
	tw_putf(rows, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", name, window->number, window->thread,
	        window->from);
	if (window->has_phase)
		tw_putf(rows, "%" PRIu64 "\t%.6f", window->phase, window->weight);
	else
		tw_put_text(rows, "-\t-");
	tw_putf(rows, "\t%" PRIu64 "\t%s\n", window->warm_up, stubs);
}

/* A directory that is being filled. */
struct filling {
	struct tw_reader *reader;
	const struct slice_request *request;
	const struct tw_outdir *into;
	const char *shown;
	struct tw_output *rows;
};

static int make_window(const struct filling *filling, const struct slice_window *window)
{
	enum { NAME_ROOM = 64 };
	char name[NAME_ROOM];
	struct made_inside names;
	const struct xtrace_track *track = track_of(filling->reader, window->thread);
	struct slice_interval interval = {.snapshot = window->warm_up_snapshot,
	                                  .instructions = window->length,
	                                  .shorter = true};
	if (!track)
		return tw_fail(filling->reader, TW_ERR_VALUE,
		               "there is no thread %" PRIu64 ", which has window %" PRIu64, window->thread,
		               window->number);
	int status = window->warm_up ? find_begin(filling->reader, track, window->snapshot, &interval.begin) : 0;
	snprintf(name, sizeof name, "%" PRIu64 ".%" PRIu64 ".elf", window->number, window->thread);
	struct slice_file made = name_inside(&names, filling->into, filling->shown, name);
	made.window = window;
	if (status >= 0 && access(made.path, F_OK) == 0)
		status = tw_fail(filling->reader, TW_ERR_VALUE, "another line of the list has it");
	if (status >= 0)
		status = make_program(filling->reader, filling->request, track, &interval, &made);
	if (status == 0)
		put_row(filling->rows, window, name, made.stubs.bytes);
	tw_text_free(&made.stubs);
	return status;
}

/* What the trace has of a window is no interval of instructions. */
static bool is_left_out(int status)
{
	return status == TW_ERR_VALUE || status == TW_ERR_UNSUPPORTED || status == TW_ERR_FORMAT;
}

/* Tells why a window is not among the programs, and lets the others be. */
static int leave_out(const struct filling *filling, const struct slice_window *window)
{
	if (filling->request->on_left_out)
		filling->request->on_left_out(filling->request->context, window, filling->reader->error);
	*filling->reader->error = '\0';
	return 0;
}

static int fill(const struct filling *filling, const struct slice_windows *windows)
{
	int status = 0;
	size_t made = 0;
	tw_put_text(filling->rows, "#program\twindow\tthread\tfrom\tphase\tweight\twarm_up\tstubs\n");
	for (size_t i = 0; status == 0 && i < windows->count; i++) {
		if (!is_wanted(filling->request, windows->items[i].thread))
			continue;
		status = make_window(filling, &windows->items[i]);
		made += status == 0;
		if (is_left_out(status) && (made || i + 1 < windows->count))
			status = leave_out(filling, &windows->items[i]);
	}
	return status;
}

static int make_windows(struct tw_reader *reader, const struct slice_request *request,
                        const struct slice_windows *windows, const struct tw_outdir *into, const char *directory)
{
	struct made_inside names;
	struct tw_output rows;
	const struct slice_file list = name_inside(&names, into, directory, "windows.tsv");
	const struct filling filling = {reader, request, into, directory, &rows};
	int error = tw_output_open(&rows, list.path);
	if (error)
		return fail(reader, list.shown, error);
	return complete(reader, &rows, list.shown, fill(&filling, windows));
}

int slice_make_windows(struct tw_reader *reader, const struct slice_request *request, const char *directory)
{
	struct tw_outdir into;
	struct slice_windows windows;
	int status = slice_windows_read(&windows, reader);
	int error = status < 0 ? 0 : tw_outdir_open(&into, directory);
	if (status >= 0 && !error) {
		status = make_windows(reader, request, &windows, &into, directory);
		error = status == 0 ? tw_outdir_keep(&into, "windows.tsv") : 0;
		tw_outdir_drop(&into);
	}
	slice_windows_free(&windows);
	return error ? fail(reader, directory, error) : status;
}
