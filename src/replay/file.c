/* file.c - a thread's two files, in parts from snapshot to snapshot. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/file.h"

#include "base/bytes/input.h"
#include "xtrace/files/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest header of a snapshot file that is known: what is no longer has no snapshot. */
enum { LONGEST_HEADER = 32 };

static const uint8_t nothing[1]; /* an empty file's bytes: none */

enum { NOT_COPIED = -1 };

/* Takes the place of a descriptor with that of a copy. Returns 0, errno or NOT_COPIED. */
static int copy(struct tw_input *input, const char *folder, int *fd)
{
	int status = tw_input_spool(input, folder);
	if (tw_input_damaged(input))
		return EBADMSG;
	if (status < 0)
		return status == TW_ERR_MEMORY ? ENOMEM : NOT_COPIED;
	close(*fd);
	*fd = fcntl(tw_input_descriptor(input), F_DUPFD_CLOEXEC, 0);
	return *fd < 0 ? errno : 0;
}

/* What is compressed is mapped from a copy without a name. Returns 0, errno or NOT_COPIED. */
static int unpack(const char *path, const char *folder, int *fd)
{
	struct tw_input *input;
	int status = tw_input_open_regular(&input, path), error = 0;
	if (status < 0)
		error = status == TW_ERR_MEMORY ? ENOMEM : errno;
	else if (!tw_input_seekable(input))
		error = copy(input, folder, fd);
	tw_input_close(input);
	return error;
}

static int open_regular(const char *path, const char *folder, int *fd)
{
	struct stat status;
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0 || fstat(*fd, &status) < 0)
		return errno;
	if (!S_ISREG(status.st_mode))
		return S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
	return status.st_size ? unpack(path, folder, fd) : 0;
}

/* Returns 0, errno or NOT_COPIED. */
static int map(const char *path, const char *folder, const uint8_t **bytes, size_t *size)
{
	struct stat status;
	int fd, error = open_regular(path, folder, &fd);
	if (!error && fstat(fd, &status) < 0)
		error = errno;
	*size = error ? 0 : (size_t)status.st_size;
	void *all = *size ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	if (all == MAP_FAILED) {
		error = errno;
		*size = 0;
	}
	*bytes = *size ? all : nothing;
	if (fd >= 0)
		close(fd);
	return error;
}

/* Whether files are of one thread or core, and of one capture. */
static bool is_of_one(const struct xtrace_listed *file, const struct xtrace_listed *other)
{
	return other->name.hint == file->name.hint && other->name.number == file->name.number &&
	       strcmp(other->begin, file->begin) == 0;
}

/* Finds the snapshots of a file, and which of their data files it is. */
static void find_other(const struct xtrace_listing *listing, const struct xtrace_listed *file, char other[PATH_MAX],
                       struct replay_file *found)
{
	for (size_t i = 0; i < listing->count; i++) {
		const struct xtrace_listed *item = &listing->items[i];
		if (!is_of_one(file, item))
			continue;
		if (item->name.snapshots)
			snprintf(other, PATH_MAX, "%s", item->path);
		else if (item < file)
			found->number++;
		found->parts += !item->name.snapshots;
	}
}

/* The name of the other file, which may be compressed where this one is not; "": there is none. */
static bool other_path(const char *path, char other[PATH_MAX], struct replay_file *found)
{
	struct xtrace_listing listing = {0};
	struct tw_xtrace_name name;
	const char *slash = strrchr(path, '/'), *own = slash ? slash + 1 : path;
	char *folder = tw_trace_folder(path);
	bool valid = xtrace_name_of(own, &name) && !name.snapshots;
	*other = '\0';
	if (valid && folder && xtrace_listing_open(&listing, folder) >= 0)
		for (size_t i = 0; i < listing.count; i++)
			if (!listing.items[i].name.snapshots && listing.items[i].name.hint == name.hint &&
			    listing.items[i].name.number == name.number &&
			    strcmp(listing.items[i].name.timestamp, name.timestamp) == 0)
				find_other(&listing, &listing.items[i], other, found);
	xtrace_listing_free(&listing);
	free(folder);
	return valid;
}

static const char *error_text(int error)
{
	if (error == EBADMSG)
		return "its compression is damaged";
	if (error == NOT_COPIED)
		return "cannot be unpacked to a temporary file";
	return error == EINVAL ? "is no regular file" : strerror(error);
}

static bool read_snapshot(const struct replay_file *file, size_t i, struct tw_xtrace_snapshot *snapshot)
{
	size_t size = tw_xtrace_snapshot_size(&file->layout);
	const uint8_t *bytes = file->snapshots + file->layout.header_size + (file->first + i) * size;
	return tw_xtrace_snapshot_decode(bytes, &file->layout, snapshot) == 0 && snapshot->index <= file->data_size;
}

/* Leaves out the snapshots of other data files. */
static void choose(struct replay_file *file)
{
	struct tw_xtrace_snapshot snapshot;
	size_t before = 0, own = 0;
	for (size_t i = 0; file->parts > 1 && i < file->count; i++) {
		read_snapshot(file, i, &snapshot);
		before += snapshot.file < file->number && own == 0;
		own += snapshot.file == file->number;
	}
	file->first = before;
	if (file->parts > 1)
		file->count = own;
}

const char *replay_file_open(struct replay_file *file, const char *path, const char *folder,
                             const struct tw_xtrace_layout *layout, unsigned known)
{
	char other[PATH_MAX];
	*file = (struct replay_file){.layout = *layout};
	if (!other_path(path, other, file))
		return "is no xtrace.*.xinsndata.bin";
	int error = map(path, folder, &file->data, &file->data_size);
	if (error)
		return error_text(error);
	error = map(other, folder, &file->snapshots, &file->snapshots_size);
	if (error == NOT_COPIED)
		return "the snapshots beside it cannot be unpacked to a temporary file";
	if (error)
		return error == ENOENT ? "has no snapshots beside it to begin at"
		                       : "the snapshots beside it cannot be read";
	/* A thread that did nothing in a part of a trace. */
	if (file->data_size == 0 && file->snapshots_size <= LONGEST_HEADER)
		return NULL;
	if (tw_xtrace_layout_guess(file->snapshots, file->snapshots_size, file->snapshots_size, known, &file->layout) <
	    0)
		return file->snapshots_size <= LONGEST_HEADER ? "has no snapshots beside it to begin at"
		                                              : "the snapshots beside it cannot be read";
	if (file->snapshots_size < file->layout.header_size)
		return "the snapshots beside it end inside their header";
	if (file->layout.counts_index)
		return "the snapshots beside it tell instructions' numbers, not where they stand";
	file->count = (file->snapshots_size - file->layout.header_size) / tw_xtrace_snapshot_size(&file->layout);
	choose(file);
	return NULL;
}

void replay_file_close(struct replay_file *file)
{
	if (file->data_size)
		munmap((void *)(uintptr_t)file->data, file->data_size);
	if (file->snapshots_size)
		munmap((void *)(uintptr_t)file->snapshots, file->snapshots_size);
}

/* Finds the PC of the last instruction of data[from, to). Returns false where no PCINST tells it, and in damage. */
static bool find_before(const struct replay_file *file, uint64_t from, uint64_t to, uint64_t *pc)
{
	enum { WORD = 4 };
	struct tw_xtrace_token token;
	bool known = false;
	while (from < to && tw_xtrace_decode(file->data + from, (size_t)(to - from), &token) == 1) {
		bool states_pc = token.kind == TW_XTRACE_PCINST;
		if (states_pc || token.kind == TW_XTRACE_INST)
			*pc = states_pc ? token.pc : *pc + WORD;
		known = known || states_pc;
		from += token.size;
	}
	return known && from == to;
}

/* A snapshot in the middle of a block: the PC is told by a token before it, behind the last snapshot as a rule. */
static void take_before(const struct replay_file *file, size_t i, struct replay_part *part)
{
	struct tw_xtrace_snapshot last = {.index = file->layout.data_start};
	struct tw_xtrace_token token;
	uint64_t first = last.index;
	if (tw_xtrace_decode(part->tokens, part->size, &token) != 1 || token.kind != TW_XTRACE_INST)
		return;
	if (i && !read_snapshot(file, i - 1, &last))
		last.index = first;
	part->has_before = find_before(file, last.index, part->offset, &part->before) ||
	                   find_before(file, first, part->offset, &part->before);
}

const char *replay_file_part(const struct replay_file *file, size_t i, struct replay_part *part,
                             struct tw_xtrace_snapshot *start)
{
	struct tw_xtrace_snapshot next = {.index = file->data_size};
	if (!read_snapshot(file, i, start))
		return "a snapshot of what is not there";
	if (i + 1 < file->count && (!read_snapshot(file, i + 1, &next) || next.index < start->index))
		return "a snapshot of what is not there";
	*part = (struct replay_part){
	    .tokens = file->data + start->index,
	    .size = (size_t)(next.index - start->index),
	    .offset = start->index,
	    .start = start,
	};
	take_before(file, i, part);
	return NULL;
}
