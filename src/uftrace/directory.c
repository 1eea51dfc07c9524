/* directory.c - the files of a data directory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "uftrace/uftrace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "Ftrace!"; /* with its NUL */

char *uftrace_path(const char *directory, const char *name)
{
	size_t length = strlen(directory), more = strlen(name);
	char *path = malloc(length + more + 2);
	if (!path)
		return NULL;
	memcpy(path, directory, length);
	path[length] = '/';
	memcpy(path + length + 1, name, more + 1);
	return path;
}

static bool is_data(const char *path)
{
	char found[sizeof magic] = {0};
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int file = folder < 0 ? -1 : openat(folder, "info", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool claims = file >= 0 && read(file, found, sizeof found) == (ssize_t)sizeof found &&
	              memcmp(found, magic, sizeof magic) == 0;
	if (file >= 0)
		close(file);
	if (folder >= 0)
		close(folder);
	return claims;
}

/* Also of a file in it. */
bool uftrace_claims(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat about;
	if (!uftrace_holds(slash ? slash + 1 : path) || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
		return is_data(path);
	char *folder = tw_trace_folder(path);
	bool claims = folder && is_data(folder);
	free(folder);
	return claims;
}

/* Also what uftrace writes there and is not read. */
bool uftrace_holds(const char *name)
{
	static const char *const names[] = {"info",     "task.txt",      "events.txt",
	                                    "kallsyms", "kernel_header", "default.opts"};
	static const char *const endings[] = {".dat", ".map", ".sym", ".dbg"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	const char *ending = strrchr(name, '.');
	for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
		if (strcmp(ending, endings[i]) == 0)
			return true;
	return false;
}

int uftrace_open_file(struct tw_reader *reader, const char *name, struct tw_input **input)
{
	char *path = uftrace_path(reader->path, name);
	*input = NULL;
	if (!path)
		return tw_fail_memory(reader);
	int status = access(path, F_OK) == 0 ? tw_input_open_regular(input, path) : 0;
	free(path);
	if (status < 0) {
		tw_fail(reader, status, "%s", *input ? tw_input_error(*input) : "out of memory");
		tw_input_close(*input);
		*input = NULL;
	}
	return status;
}

int uftrace_can_read(struct tw_reader *reader, const char *name)
{
	struct tw_input *input = NULL;
	char *path = uftrace_path(reader->path, name);
	int status = path ? tw_input_open_regular(&input, path) : TW_ERR_MEMORY;
	if (status < 0 && status != TW_ERR_MEMORY) {
		reader->reports.file = path;
		tw_report(reader, &uftrace_rules[UFTRACE_UNREADABLE], 0, 0, 0, "Expected a file that can be read: %s.",
		          tw_input_error(input));
		reader->reports.file = NULL;
	}
	tw_input_close(input);
	free(path);
	return status == TW_ERR_MEMORY ? tw_fail_memory(reader) : status >= 0;
}

int uftrace_open_side(struct tw_reader *reader, const char *name, struct tw_input **input, bool *found)
{
	int status = uftrace_open_file(reader, name, input);
	*found = *input || status < 0;
	if (status == 0 || status == TW_ERR_MEMORY)
		return status;
	const int readable = uftrace_can_read(reader, name);
	return readable > 0 ? status : readable;
}

/* Gives a line to the function as a copy that ends in NUL, because the line itself lies in the window. */
static bool give(const struct tw_text_line *line, uftrace_take_line_fn *take, void *context, char *copy)
{
	size_t size = line->size;
	if (line->cut)
		return false;
	if (size && line->bytes[size - 1] == '\n')
		size--;
	memcpy(copy, line->bytes, size);
	copy[size] = '\0';
	return size == 0 || take(context, copy);
}

/* Whether there was no memory for something that lines tell. */
static bool has_failed(const struct tw_reader *reader)
{
	return uftrace_of(reader)->tasks.failed || uftrace_of(reader)->symbols.failed;
}

static int give_lines(struct tw_reader *reader, const char *name, struct tw_text_lines *lines,
                      uftrace_take_line_fn *take, void *context, char *copy)
{
	struct tw_text_line line, first = {.number = 0};
	uint64_t bad = 0;
	int status;
	while ((status = tw_text_lines_next(lines, &line)) > 0) {
		if (give(&line, take, context, copy))
			continue;
		if (has_failed(reader))
			break;
		first = bad++ ? first : line;
	}
	if (has_failed(reader))
		return TW_ERR_MEMORY;
	if (bad) {
		char *path = uftrace_path(reader->path, name);
		reader->reports.file = path;
		tw_report(reader, &uftrace_rules[UFTRACE_BAD_LINE], first.offset, first.offset, first.number,
		          "Expected a line as uftrace writes it; it is the first of %llu.", (unsigned long long)bad);
		reader->reports.file = NULL;
		free(path);
	}
	return status;
}

int uftrace_read_lines(struct tw_reader *reader, const char *name, uftrace_take_line_fn *take, void *context,
                       bool *found)
{
	struct tw_input *input;
	int status = uftrace_open_side(reader, name, &input, found);
	if (!input)
		return status;
	struct tw_text_lines lines = {.window = {.input = input}, .limit = UFTRACE_LINE_MOST};
	char *copy = malloc(UFTRACE_LINE_MOST + 1);
	if (copy)
		status = give_lines(reader, name, &lines, take, context, copy);
	else
		status = TW_ERR_MEMORY;
	if (status < 0)
		tw_fail(reader, status, "%s", status == TW_ERR_MEMORY ? "out of memory" : tw_input_error(input));
	free(copy);
	tw_text_lines_free(&lines);
	tw_input_close(input);
	return status;
}

int uftrace_list(struct tw_reader *reader, int (*take)(struct tw_reader *reader, const char *name))
{
	struct dirent *entry;
	int status = 0;
	DIR *directory = opendir(reader->path);
	if (!directory)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", reader->path, strerror(errno));
	while (status >= 0 && (entry = readdir(directory)))
		status = take(reader, entry->d_name);
	closedir(directory);
	return status;
}

/* ---- The memory limit. ---- */

bool uftrace_fits(const struct tw_reader *reader, size_t more)
{
	enum { SHARE = 2 };
	struct uftrace_symbols *symbols = &uftrace_of(reader)->symbols;
	if (symbols->used + more > tw_memory_limit(reader) / SHARE)
		return false;
	symbols->used += more;
	return true;
}

size_t uftrace_chunk(const struct tw_reader *reader)
{
	enum { LEAST = 1 << 12, MOST = 1 << 16, SHARE = 4 };
	const struct uftrace_reader *uftrace = uftrace_of(reader);
	size_t share = tw_memory_limit(reader) / SHARE / (uftrace->tasks.count + uftrace->cpus.count + 1);
	return share < LEAST ? LEAST : share < MOST ? share : MOST;
}
