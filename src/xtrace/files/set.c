/* set.c - which files belong together: all that were captured at the same time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
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

bool xtrace_name_of(const char *text, struct tw_xtrace_name *name)
{
	static const char *const endings[] = {".zst", ".gz"};
	char plain[TW_XTRACE_NAME_SIZE];
	size_t length = strlen(text);
	if (length >= sizeof plain)
		return false;
	memcpy(plain, text, length + 1);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t tail = strlen(endings[i]);
		if (length > tail && strcmp(plain + length - tail, endings[i]) == 0)
			plain[length - tail] = '\0';
	}
	return tw_xtrace_name_parse(plain, name) == 0;
}

static bool is_directory(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool holds_one(const char *path)
{
	struct tw_xtrace_name name;
	struct dirent *entry;
	bool found = false;
	DIR *directory = opendir(path);
	if (!directory)
		return errno == ENOMEM; /* who opens it says so */
	while (!found && (entry = readdir(directory)))
		found = xtrace_name_of(entry->d_name, &name);
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

static struct xtrace_track *find(struct xtrace_set *set, const struct tw_xtrace_name *name)
{
	for (size_t i = set->count; i-- > 0;) {
		if (set->tracks[i].name.hint == name->hint && set->tracks[i].name.number == name->number)
			return &set->tracks[i];
	}
	return NULL;
}

/* Finds the track of a file of this name, and begins one where the set has none. */
static int track_of(struct tw_reader *reader, struct xtrace_set *set, const struct tw_xtrace_name *name,
                    const char *path, struct xtrace_track **track)
{
	*track = find(set, name);
	if (*track)
		return 0;
	if (set->count == XTRACE_TRACKS_MAX)
		return tw_fail(reader, TW_ERR_ROOM, "%s: more than %d threads", path, XTRACE_TRACKS_MAX);
	if (!tw_grow(&set->tracks, &set->room, set->count + 1, sizeof *set->tracks))
		return tw_fail_memory(reader);
	*track = &set->tracks[set->count++];
	**track = (struct xtrace_track){.name = *name};
	return 0;
}

/* Adds a file to the set, which owns the path from here on. Of a file and a compressed copy of it, which the directory
 * may list in any order, it is the file that counts. */
static int add(struct tw_reader *reader, struct xtrace_set *set, const struct tw_xtrace_name *name, char *path)
{
	struct xtrace_track *track;
	int status = track_of(reader, set, name, path, &track);
	if (status < 0) {
		free(path);
		return status;
	}
	char **place = name->snapshots ? &track->snapshots : &track->data;
	bool kept = *place && strlen(*place) <= strlen(path);
	free(kept ? path : *place);
	if (!kept)
		*place = path;
	return 1;
}

/* What is looked for. */
struct set_search {
	const char *folder;
	char timestamp[TW_XTRACE_TIMESTAMP_SIZE]; /* of the set; empty: the first file tells it */
	bool others;                              /* there may be other sets, which are left out */
};

/* Takes a file of the directory, if it is of the set. */
static int take(struct tw_reader *reader, struct xtrace_set *set, struct set_search *search, const char *file)
{
	struct tw_xtrace_name name;
	size_t length = strlen(search->folder);
	if (!xtrace_name_of(file, &name))
		return 0;
	if (!*search->timestamp)
		memcpy(search->timestamp, name.timestamp, sizeof name.timestamp);
	bool same = strcmp(name.timestamp, search->timestamp) == 0;
	if (!same && search->others)
		return 0;
	if (!same)
		return tw_fail(reader, TW_ERR_FORMAT,
		               "%s: there are traces of several times, %s and %s: name a file of one", search->folder,
		               search->timestamp, name.timestamp);
	char *path = malloc(length + strlen(file) + 2);
	if (!path)
		return tw_fail_memory(reader);
	memcpy(path, search->folder, length);
	path[length] = '/';
	strcpy(path + length + 1, file);
	return add(reader, set, &name, path);
}

static int list(struct tw_reader *reader, struct xtrace_set *set, struct set_search *search)
{
	struct dirent *entry;
	int status = 0;
	DIR *directory = opendir(search->folder);
	if (!directory)
		return tw_fail(reader, errno == ENOMEM ? TW_ERR_MEMORY : TW_ERR_SYSTEM, "%s: %s", search->folder,
		               strerror(errno));
	while (status >= 0 && (entry = readdir(directory)))
		status = take(reader, set, search, entry->d_name);
	closedir(directory);
	if (status >= 0 && set->count == 0)
		return tw_fail(reader, TW_ERR_FORMAT, "%s: no files of an xtrace set", search->folder);
	if (set->count)
		qsort(set->tracks, set->count, sizeof *set->tracks, by_name);
	return status < 0 ? status : 0;
}

/* Finds the timestamp of the files in a directory; it is empty where they have several, and none is the set's. */
static bool find_time(const char *folder, struct tw_xtrace_name *name)
{
	struct tw_xtrace_name other;
	struct dirent *entry;
	bool found = false;
	DIR *directory = opendir(folder);
	while (directory && (!found || *name->timestamp) && (entry = readdir(directory))) {
		if (!xtrace_name_of(entry->d_name, &other))
			continue;
		if (!found)
			*name = other;
		else if (strcmp(name->timestamp, other.timestamp) != 0)
			*name->timestamp = '\0';
		found = true;
	}
	if (directory)
		closedir(directory);
	return found;
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
	bool found = text && stat(text, &folder) == 0 && (!directory || find_time(text, &name));
	free(text);
	return found && snprintf(key, TW_TRACE_KEY_SIZE, "%ju %ju %s", (uintmax_t)folder.st_dev,
	                         (uintmax_t)folder.st_ino, name.timestamp) < TW_TRACE_KEY_SIZE;
}

int xtrace_set_open(struct tw_reader *reader, const char *path, struct xtrace_set *set)
{
	char *folder = tw_trace_folder(path);
	struct set_search search = {.folder = folder, .others = !is_directory(path)};
	struct tw_xtrace_name name;
	if (!folder)
		return tw_fail_memory(reader);
	if (search.others && xtrace_name_of(base_name(path), &name))
		memcpy(search.timestamp, name.timestamp, sizeof name.timestamp);
	int status = list(reader, set, &search);
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
	}
	free(set->tracks);
	*set = (struct xtrace_set){0};
}
