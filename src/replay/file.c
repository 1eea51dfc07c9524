/* file.c - a thread's two files, in parts from snapshot to snapshot. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t nothing[1]; /* an empty file's bytes: none */

/* Returns 0 or errno. */
static int map(const char *path, const uint8_t **bytes, size_t *size)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = 0;
	if (fd < 0)
		return errno;
	if (fstat(fd, &status) < 0)
		error = errno;
	else if (!S_ISREG(status.st_mode))
		error = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
	*size = error ? 0 : (size_t)status.st_size;
	void *all = *size ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	if (all == MAP_FAILED)
		error = errno;
	if (error)
		*size = 0;
	*bytes = *size ? all : nothing;
	close(fd);
	return error;
}

/* The name of the other file. */
static bool other_path(const char *path, char other[PATH_MAX])
{
	struct tw_xtrace_name name;
	char last[TW_XTRACE_NAME_SIZE];
	const char *slash = strrchr(path, '/'), *own = slash ? slash + 1 : path;
	if (tw_xtrace_name_parse(own, &name) < 0 || name.snapshots)
		return false;
	name.snapshots = true;
	tw_xtrace_name_format(&name, last);
	return snprintf(other, PATH_MAX, "%.*s%s", (int)(own - path), path, last) < PATH_MAX;
}

const char *replay_file_open(struct replay_file *file, const char *path)
{
	char other[PATH_MAX];
	*file = (struct replay_file){0};
	if (!other_path(path, other))
		return "is no xtrace.*.xinsndata.bin";
	int error = map(path, &file->data, &file->data_size);
	if (error)
		return error == EINVAL ? "is no regular file" : strerror(error);
	if (map(other, &file->snapshots, &file->snapshots_size))
		return "has no snapshots beside it to begin at";
	if (tw_xtrace_layout_guess(file->snapshots, file->snapshots_size, file->snapshots_size, 0, &file->layout) < 0)
		return "the snapshots beside it cannot be read";
	if (file->layout.counts_index)
		return "the snapshots beside it tell instructions' numbers, not where they stand";
	file->count = (file->snapshots_size - file->layout.header_size) / tw_xtrace_snapshot_size(&file->layout);
	return NULL;
}

void replay_file_close(struct replay_file *file)
{
	if (file->data_size)
		munmap((void *)(uintptr_t)file->data, file->data_size);
	if (file->snapshots_size)
		munmap((void *)(uintptr_t)file->snapshots, file->snapshots_size);
}

static bool read_snapshot(const struct replay_file *file, size_t i, struct tw_xtrace_snapshot *snapshot)
{
	const uint8_t *bytes = file->snapshots + file->layout.header_size + i * tw_xtrace_snapshot_size(&file->layout);
	return tw_xtrace_snapshot_decode(bytes, &file->layout, snapshot) == 0 && snapshot->index <= file->data_size;
}

const char *replay_file_part(const struct replay_file *file, size_t i, struct replay_part *part,
                             struct tw_xtrace_snapshot *start)
{
	struct tw_xtrace_snapshot next = {.index = file->data_size};
	if (!read_snapshot(file, i, start))
		return "a snapshot of what is not there";
	if (i + 1 < file->count && (!read_snapshot(file, i + 1, &next) || next.index < start->index))
		return "a snapshot of what is not there";
	*part =
	    (struct replay_part){file->data + start->index, (size_t)(next.index - start->index), start->index, start};
	return NULL;
}
