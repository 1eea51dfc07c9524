/* beside.c - the list of mappings that lies beside a set: it goes where the set goes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/xtrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

char *xtrace_list_place(const struct xtrace_set *set, const char *directory)
{
	char *text = NULL;
	if (!set->count || !*set->tracks->name.timestamp)
		return NULL;
	return asprintf(&text, "%s/xtrace.%s.maps", directory, set->tracks->name.timestamp) < 0 ? NULL : text;
}

/* The directory of a set's files, with the list's name. Freed by the caller; NULL where files have no names. */
static char *source_of(const struct xtrace_set *set)
{
	const char *file = set->count ? set->tracks->data : NULL;
	file = set->count && !file ? set->tracks->snapshots : file;
	const char *slash = file ? strrchr(file, '/') : NULL;
	if (!slash)
		return file ? xtrace_list_place(set, ".") : NULL;
	char *folder = strndup(file, (size_t)(slash - file));
	char *source = folder ? xtrace_list_place(set, folder) : NULL;
	free(folder);
	return source;
}

/* Returns 0 or errno. */
static int copy_bytes(int from, struct tw_output *out)
{
	char piece[PIECE];
	ssize_t size;
	while ((size = read(from, piece, sizeof piece)) > 0 || (size < 0 && errno == EINTR))
		if (size > 0)
			tw_put_large(out, piece, (size_t)size);
	return size < 0 ? errno : 0;
}

static int copy(struct tw_reader *reader, int from, const char *source, const char *to, uint64_t *written)
{
	struct tw_output out;
	int error = tw_output_open(&out, to);
	if (error)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", to, strerror(error));
	error = copy_bytes(from, &out);
	if (error) {
		tw_output_discard(&out);
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", source, strerror(error));
	}
	*written += tw_output_position(&out);
	error = tw_output_close(&out);
	return error ? tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", to, strerror(error)) : 0;
}

int xtrace_list_copy(struct tw_reader *reader, const struct xtrace_set *set, const char *directory, uint64_t *written)
{
	char *source = source_of(set), *to = xtrace_list_place(set, directory);
	int status = 0, from = source && to ? open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat what;
	if (from >= 0 && fstat(from, &what) == 0 && S_ISREG(what.st_mode))
		status = copy(reader, from, source, to, written);
	else if (source && to && from < 0 && errno != ENOENT)
		status = tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", source, strerror(errno));
	if (from >= 0)
		close(from);
	free(source);
	free(to);
	return status;
}
