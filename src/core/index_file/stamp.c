/* stamp.c - what a trace is known by, where it is one file and where it is several. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/index_file/stamp.h"

#include "base/memory/map.h"
#include "core/format.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Takes a file of the trace; name: what it is called among them. Returns 0 or an error number, which ends it. */
typedef int (*member_fn)(void *context, const char *path, const char *name);

/* ---- The files of a trace. ---- */

/* A file in the directory of a set: where a file can name the set, only such files are of it. */
static int visit_entry(const struct tw_format *format, const char *folder, const char *name, bool named, member_fn take,
                       void *context)
{
	char *path = NULL;
	struct stat status;
	if (name[0] == '.')
		return 0;
	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return ENOMEM;
	bool counts = stat(path, &status) == 0 && S_ISREG(status.st_mode) && (!named || format->files.claims(path));
	int error = counts ? take(context, path, name) : 0;
	free(path);
	return error;
}

static int visit_folder(const struct tw_format *format, const char *folder, bool named, member_fn take, void *context)
{
	struct dirent *entry;
	int error = 0;
	DIR *directory = opendir(folder);
	if (!directory)
		return errno;
	while (error == 0 && (entry = readdir(directory)))
		error = visit_entry(format, folder, entry->d_name, named, take, context);
	closedir(directory);
	return error;
}

static int visit(const char *path, member_fn take, void *context)
{
	const struct tw_format *format = tw_format_claiming(path, NULL);
	if (!format)
		return take(context, path, "");
	char *folder = tw_trace_folder(path);
	bool named = folder && (!format->traits.whole_folder || strcmp(folder, path) != 0);
	int error = folder ? visit_folder(format, folder, named, take, context) : ENOMEM;
	free(folder);
	return error;
}

/* ---- What they are. Sums, because a directory has no order. ---- */

static bool is_later(const struct timespec *time, const struct tw_stamp *stamp)
{
	uint64_t seconds = (uint64_t)time->tv_sec;
	return seconds > stamp->seconds || (seconds == stamp->seconds && (uint64_t)time->tv_nsec > stamp->nanoseconds);
}

static int add_member(void *context, const char *path, const char *name)
{
	struct tw_stamp *stamp = context;
	struct stat status;
	if (stat(path, &status) < 0)
		return errno;
	const uint64_t parts[] = {(uint64_t)status.st_dev, (uint64_t)status.st_ino, (uint64_t)status.st_size,
	                          (uint64_t)status.st_mtim.tv_sec, (uint64_t)status.st_mtim.tv_nsec};
	stamp->size += (uint64_t)status.st_size;
	stamp->identity += tw_mix_bytes(name, strlen(name), tw_mix_bytes(parts, sizeof parts, 0));
	stamp->stream |= S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode);
	if (is_later(&status.st_mtim, stamp)) {
		stamp->seconds = (uint64_t)status.st_mtim.tv_sec;
		stamp->nanoseconds = (uint64_t)status.st_mtim.tv_nsec;
	}
	return 0;
}

int tw_stamp_take(const char *path, struct tw_stamp *stamp)
{
	*stamp = (struct tw_stamp){0};
	return visit(path, add_member, stamp);
}

bool tw_stamp_same(const struct tw_stamp *a, const struct tw_stamp *b)
{
	return a->size == b->size && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds &&
	       a->identity == b->identity;
}

/* ---- Their first bytes. ---- */

static int add_head(void *context, const char *path, const char *name)
{
	enum { HEAD = 1 << 16 };
	uint64_t *head = context;
	uint8_t *bytes = malloc(HEAD);
	FILE *stream = bytes ? fopen(path, "rbe") : NULL;
	size_t count = stream ? fread(bytes, 1, HEAD, stream) : 0;
	int error = stream && !ferror(stream) ? 0 : EIO;
	*head += count ? tw_mix_bytes(bytes, count, tw_mix_bytes(name, strlen(name), 0)) : 0;
	if (stream)
		fclose(stream);
	free(bytes);
	return error;
}

bool tw_stamp_head(const char *path, uint64_t *head)
{
	*head = 0;
	return visit(path, add_head, head) == 0;
}
