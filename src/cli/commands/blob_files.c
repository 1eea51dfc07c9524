/* blob_files.c - blobs as files of a folder, under names that are safe. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/output.h"
#include "base/bytes/whole.h"
#include "base/text/utf8.h"
#include "cli/command.h"
#include "cli/commands/blobs.h"
#include "cli/files/interrupt.h"
#include "cli/output/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name is cut to LENGTH bytes, so that a number finds place behind it in the 255 that file systems have. */
enum { LENGTH = 200, ROOM = 255 };

struct tw_blob_file {
	char *name;           /* NULL: not begun */
	uint32_t double_ones; /* how many others wanted this name */
	bool refused;
};

/* ---- Names. ---- */

/* What has a meaning in a path, cannot be shown, or is no UTF-8 becomes '_'; so does a point in front, which hides
 * files and leads upwards. */
static void make_safe(char *safe, const struct tw_name *name)
{
	size_t used = 0;
	for (size_t i = 0, length; i < name->length; i += length ? length : 1) {
		unsigned char c = (unsigned char)name->text[i];
		length = tw_utf8_length(name->text + i, name->length - i);
		bool plain = length && !tw_is_hidden(tw_utf8_code(name->text + i, length)) && c != '/' && c != '\\' &&
		             !(c == '.' && i == 0);
		if (used + (plain ? length : 1) > LENGTH)
			break;
		if (plain)
			memcpy(safe + used, name->text + i, length);
		else
			safe[used] = '_';
		used += plain ? length : 1;
	}
	safe[used] = '\0';
	if (used == 0)
		strcpy(safe, "blob");
}

/* The blob whose file has this name, UINT32_MAX when there is none. */
static uint32_t owner_of(const struct tw_blob_folder *folder, const char *name)
{
	uint64_t hash = tw_hash_bytes(name, strlen(name), 0);
	uint32_t blob;
	for (size_t slot = SIZE_MAX; tw_map_next(&folder->names, hash, &slot, &blob);)
		if (strcmp(folder->files[blob].name, name) == 0)
			return blob;
	return UINT32_MAX;
}

/* Gives a blob a name that no other has: "name", "name-2", ... False when there is no memory. */
static bool choose_name(struct tw_blob_folder *folder, uint32_t blob, const struct tw_name *wanted)
{
	char safe[ROOM + 1], numbered[ROOM + 1];
	make_safe(safe, wanted);
	snprintf(numbered, sizeof numbered, "%s", safe);
	for (uint32_t owner = owner_of(folder, safe); owner != UINT32_MAX && owner_of(folder, numbered) != UINT32_MAX;)
		snprintf(numbered, sizeof numbered, "%.*s-%u", LENGTH, safe, ++folder->files[owner].double_ones + 1);
	folder->files[blob].name = strdup(numbered);
	return folder->files[blob].name &&
	       tw_map_add(&folder->names, tw_hash_bytes(numbered, strlen(numbered), 0), blob);
}

/* ---- Files. ---- */

static void close_current(struct tw_blob_folder *folder)
{
	if (folder->current)
		close(folder->current_fd);
	folder->current = 0;
}

static bool is_input(const struct tw_blob_folder *folder, const char *name)
{
	struct stat input, there;
	return strcmp(folder->input, "-") != 0 && stat(folder->input, &input) == 0 &&
	       fstatat(folder->fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && input.st_dev == there.st_dev &&
	       input.st_ino == there.st_ino;
}

/* Returns a descriptor, or -1 and errno. */
static int begin_file(const struct tw_blob_folder *folder, const char *name)
{
	struct stat there;
	errno = 0;
	if (folder->fd >= 0 && folder->force && is_input(folder, name))
		errno = EBUSY;
	else if (folder->fd >= 0 && fstatat(folder->fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0)
		errno = !folder->force ? EEXIST : S_ISDIR(there.st_mode) ? EISDIR : 0;
	if (errno && errno != ENOENT)
		return -1;
	return openat(folder->begun.lock, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

static void refuse(struct tw_blob_folder *folder, struct tw_blob_file *file)
{
	const char *why = errno == EEXIST  ? "is there already; --force replaces it"
	                  : errno == EBUSY ? "is the input too, and would be lost"
	                                   : strerror(errno);
	tw_say_error("%s/%s: cannot write: %s", folder->path, file->name, why);
	file->refused = true;
	folder->refused++;
}

/* Opens the file of a blob, if it is not the one that is open. */
static void open_file(struct tw_blob_folder *folder, uint32_t blob, bool first)
{
	struct tw_blob_file *file = &folder->files[blob];
	if (folder->current == blob + 1 || file->refused)
		return;
	close_current(folder);
	int fd = first ? begin_file(folder, file->name)
	               : openat(folder->begun.lock, file->name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		refuse(folder, file);
		return;
	}
	folder->current_fd = fd;
	folder->current = blob + 1;
	folder->written += first;
}

/* ---- The folder. ---- */

int tw_blob_folder_open(struct tw_blob_folder *folder)
{
	tw_clean_when_interrupted(folder->path);
	int error = tw_outdir_open(&folder->begun, folder->path);
	if (error)
		return tw_say_error("%s: cannot make the folder: %s", folder->path, strerror(error));
	folder->fd = folder->begun.inside ? open(folder->begun.place, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (folder->fd >= 0 || !folder->begun.inside)
		return 0;
	tw_say_error("%s: cannot open: %s", folder->path, strerror(errno));
	tw_outdir_drop(&folder->begun);
	return TW_EXIT_FAILED;
}

int tw_blob_folder_write(struct tw_blob_folder *folder, uint32_t blob, const struct tw_name *name,
                         const struct tw_argument *bytes)
{
	if (!tw_grow(&folder->files, &folder->room, blob + (size_t)1, sizeof *folder->files))
		return tw_say_error("out of memory");
	bool first = !folder->files[blob].name;
	if (first && !choose_name(folder, blob, name))
		return tw_say_error("out of memory");
	open_file(folder, blob, first);
	struct tw_blob_file *file = &folder->files[blob];
	if (file->refused || !bytes)
		return 0;
	const int error = tw_write_whole(folder->current_fd, bytes->value.bytes, bytes->size);
	return error ? tw_say_error("%s/%s: cannot write: %s", folder->path, file->name, strerror(error)) : 0;
}

int tw_blob_folder_close(struct tw_blob_folder *folder, bool keep)
{
	close_current(folder);
	for (size_t i = 0; i < folder->room; i++)
		free(folder->files[i].name);
	free(folder->files);
	tw_map_free(&folder->names);
	if (folder->fd >= 0)
		close(folder->fd);
	int error = keep ? tw_outdir_keep(&folder->begun, NULL) : 0;
	tw_outdir_drop(&folder->begun);
	if (error)
		return tw_say_error("%s: cannot write: %s", folder->path, strerror(error));
	return folder->refused ? TW_EXIT_FAILED : 0;
}
