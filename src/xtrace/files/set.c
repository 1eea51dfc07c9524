/* set.c - which files belong together: all of one capture. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "xtrace/files/listing.h"
#include "xtrace/xtrace.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Names. ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_directory(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* What `record --bbv` leaves, which is no trace. */
static bool is_vectors(const char *name)
{
	const char *end = strrchr(name, '.');
	return strncmp(name, "xtrace.", 7) == 0 && end && strcmp(end, ".bb") == 0;
}

/* Of a trace, or of vectors: to tell what these are. */
static bool holds_one(const char *path)
{
	struct tw_xtrace_name name;
	struct dirent *entry;
	bool found = false;
	DIR *directory = opendir(path);
	if (!directory)
		return errno == ENOMEM; /* who opens it says so */
	while (!found && (entry = readdir(directory)))
		found = xtrace_name_of(entry->d_name, &name) || is_vectors(entry->d_name);
	closedir(directory);
	return found;
}

bool xtrace_claims(const char *path)
{
	struct tw_xtrace_name name;
	struct stat status;
	if (stat(path, &status) != 0)
		return false;
	return S_ISDIR(status.st_mode) ? holds_one(path) : xtrace_name_of(base_name(path), &name);
}

/* ---- Sets. ---- */

static int by_name(const void *a, const void *b)
{
	const struct tw_xtrace_name *first = a, *second = b; /* a track begins with its name */
	int order = tw_compare(first->hint, second->hint);
	return order ? order : tw_compare(first->number, second->number);
}

/* Finds the track of a file, and begins one where the set has none: files come by hint and number. */
static int track_of(struct tw_reader *reader, struct xtrace_set *set, const struct xtrace_listed *file,
                    struct xtrace_track **track)
{
	*track = set->count ? &set->tracks[set->count - 1] : NULL;
	if (*track && by_name(*track, &file->name) == 0)
		return 0;
	if (set->count == XTRACE_TRACKS_MAX)
		return tw_fail(reader, TW_ERR_ROOM, "%s: more than %d threads", file->path, XTRACE_TRACKS_MAX);
	if (!tw_grow(&set->tracks, &set->room, set->count + 1, sizeof *set->tracks))
		return tw_fail_memory(reader);
	*track = &set->tracks[set->count++];
	**track = (struct xtrace_track){.name = file->name};
	return 0;
}

/* Adds a file to the set, which owns the path from here on. */
static int add(struct tw_reader *reader, struct xtrace_set *set, struct xtrace_listed *file)
{
	struct xtrace_track *track;
	int status = track_of(reader, set, file, &track);
	if (status < 0)
		return status;
	if (!file->name.snapshots && track->data) {
		if (!tw_grow(&track->more.paths, &track->more.room, track->more.count + 1, sizeof *track->more.paths))
			return tw_fail_memory(reader);
		track->more.paths[track->more.count++] = file->path;
	} else {
		*(file->name.snapshots ? &track->snapshots : &track->data) = file->path;
	}
	file->path = NULL;
	return 0;
}

/* The time at which the files begin that a file belongs to; that of its name where the directory has it no more. */
static const char *begin_of(const struct xtrace_listing *listing, const struct tw_xtrace_name *name)
{
	for (size_t i = 0; i < listing->count; i++) {
		const struct xtrace_listed *item = &listing->items[i];
		if (item->name.hint == name->hint && item->name.number == name->number &&
		    strcmp(item->name.timestamp, name->timestamp) == 0)
			return item->begin;
	}
	return name->timestamp;
}

/* Finds two times at which the files of one number and hint begin: then they are of several captures. */
static bool find_two(const struct xtrace_listing *listing, const char *times[2])
{
	for (size_t i = 1; i < listing->count; i++) {
		const struct xtrace_listed *item = &listing->items[i], *last = item - 1;
		times[0] = last->begin;
		times[1] = item->begin;
		if (by_name(&last->name, &item->name) == 0 && strcmp(times[0], times[1]) != 0)
			return true;
	}
	return false;
}

/* Adds the files that begin at a time; NULL: all. */
static int add_all(struct tw_reader *reader, struct xtrace_set *set, struct xtrace_listing *listing, const char *begin)
{
	int status = 0;
	for (size_t i = 0; i < listing->count && status >= 0; i++)
		if (!begin || strcmp(listing->items[i].begin, begin) == 0)
			status = add(reader, set, &listing->items[i]);
	return status;
}

static int refuse_none(struct tw_reader *reader, const char *folder)
{
	if (!holds_one(folder))
		return tw_fail(reader, TW_ERR_FORMAT, "%s: no files of an xtrace set", folder);
	return tw_fail(
	    reader, TW_ERR_FORMAT,
	    "%s has basic block vectors (record --bbv) and no instructions: \"trackway phases --save\" chooses "
	    "windows by them, \"trackway record --windows\" records these",
	    folder);
}

/* The time of a set is the first of all, which stands with the track that has it. */
static int take(struct tw_reader *reader, struct xtrace_set *set, struct xtrace_listing *listing, const char *folder,
                const struct tw_xtrace_name *wanted)
{
	const char *times[2];
	if (!wanted && find_two(listing, times))
		return tw_fail(reader, TW_ERR_FORMAT,
		               "%s: there are traces of several times, %s and %s: name a file of one", folder, times[0],
		               times[1]);
	int status = add_all(reader, set, listing, wanted ? begin_of(listing, wanted) : NULL);
	if (status >= 0 && set->count == 0)
		return refuse_none(reader, folder);
	return status;
}

static int list(struct tw_reader *reader, struct xtrace_set *set, const char *folder,
                const struct tw_xtrace_name *wanted)
{
	struct xtrace_listing listing = {0};
	int status = xtrace_listing_open(&listing, folder);
	if (status == TW_ERR_MEMORY)
		tw_fail_memory(reader);
	else if (status < 0)
		tw_fail(reader, status, "%s: %s", folder, strerror(errno));
	else
		status = take(reader, set, &listing, folder, wanted);
	xtrace_listing_free(&listing);
	return status;
}

/* Finds the time at which the set of a directory, or of a file in it, begins; it is empty where the files of a
 * directory begin at several, and none is the set's. */
static bool find_time(const char *folder, struct tw_xtrace_name *name, bool directory)
{
	struct xtrace_listing listing = {0};
	bool found = xtrace_listing_open(&listing, folder) >= 0 && listing.count;
	char begin[TW_XTRACE_TIMESTAMP_SIZE] = "";
	if (found)
		strcpy(begin, directory ? listing.items[0].begin : begin_of(&listing, name));
	for (size_t i = 0; found && directory && i < listing.count; i++)
		if (strcmp(listing.items[i].begin, begin) != 0)
			*begin = '\0';
	if (found)
		strcpy(name->timestamp, begin);
	xtrace_listing_free(&listing);
	return found || !directory;
}

/* ---- Cores. ---- */

enum { MAIN_HINT = 9, CORE_HINT = 13 };

/* Of one number there may be a stream of each hint, which stay apart: then that of hint 9 is no core's. */
static bool is_there(const struct xtrace_set *set, unsigned hint, uint64_t number)
{
	const struct xtrace_track wanted = {.name = {.hint = hint, .number = number}};
	return bsearch(&wanted, set->tracks, set->count, sizeof *set->tracks, by_name) != NULL;
}

/* Tells cores from threads. With a stream of hint 13, which is of a core, all are of cores: the first has hint 9.
 * Without one the header tells. */
static void find_cores(const struct xtrace_reader *state, struct xtrace_set *set)
{
	if (!set->count)
		return;
	const struct xtrace_track *first = &set->tracks[0], *last = &set->tracks[set->count - 1];
	bool cores = last->name.hint == CORE_HINT ||
	             (first->snapshots && xtrace_is_of_core(first->snapshots, &state->layout, state->known));
	for (size_t i = 0; i < set->count; i++) {
		struct xtrace_track *track = &set->tracks[i];
		unsigned other = track->name.hint == MAIN_HINT ? CORE_HINT : MAIN_HINT;
		track->shares_number = is_there(set, other, track->name.number);
		track->core = track->name.hint == CORE_HINT || (cores && !track->shares_number);
	}
}

bool xtrace_key(const char *path, char key[static TW_TRACE_KEY_SIZE])
{
	struct tw_xtrace_name name;
	struct stat folder;
	bool directory = is_directory(path);
	if (!directory && !xtrace_name_of(base_name(path), &name))
		return false;
	char *text = tw_trace_folder(path);
	bool found = text && stat(text, &folder) == 0 && find_time(text, &name, directory);
	free(text);
	return found && snprintf(key, TW_TRACE_KEY_SIZE, "%ju %ju %s", (uintmax_t)folder.st_dev,
	                         (uintmax_t)folder.st_ino, name.timestamp) < TW_TRACE_KEY_SIZE;
}

int xtrace_set_open(struct tw_reader *reader, const char *path, struct xtrace_set *set)
{
	char *folder = tw_trace_folder(path);
	struct tw_xtrace_name name;
	if (!folder)
		return tw_fail_memory(reader);
	bool named = !is_directory(path) && xtrace_name_of(base_name(path), &name);
	int status = list(reader, set, folder, named ? &name : NULL);
	free(folder);
	if (status >= 0)
		find_cores(xtrace_of(reader), set);
	return status;
}

void xtrace_set_free(struct xtrace_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		free(set->tracks[i].data);
		free(set->tracks[i].snapshots);
		for (size_t k = 0; k < set->tracks[i].more.count; k++)
			free(set->tracks[i].more.paths[k]);
		free(set->tracks[i].more.paths);
	}
	free(set->tracks);
	*set = (struct xtrace_set){0};
}
