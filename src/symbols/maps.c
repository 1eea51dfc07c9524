/* maps.c - which files were loaded where: a list as /proc/PID/maps has it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "core/lines.h"
#include "symbols/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 1 << 12, LINE = 1 << 14, FIELDS_BETWEEN = 4 /* access, offset, device, inode */ };

struct mapped {
	char *path;
	uint64_t start; /* the lowest */
	bool has_code;
};

struct maps {
	struct mapped *files;
	size_t count, room;
};

static char *skip_spaces(char *text)
{
	return text + strspn(text, " \t");
}

/* "5500000000-5500001000 r-xp 00000000 fe:01 123    /usr/bin/program", or "5500000000 /usr/bin/program". Returns the
 * path in the line, "" where the line has none; NULL where it is no such line. */
static char *take_line(char *line, struct mapped *mapped)
{
	char *end, *access;
	mapped->start = strtoull(line, &end, 16);
	mapped->has_code = true;
	if (end == line || (*end != '-' && *end != ' ' && *end != '\t'))
		return NULL;
	if (*end != '-')
		return skip_spaces(end);
	access = strchr(end, ' ');
	mapped->has_code = access && access[1] && access[2] && access[3] == 'x';
	for (unsigned i = 0; end && i <= FIELDS_BETWEEN; i++) {
		end = strpbrk(end, " \t");
		end = end ? skip_spaces(end) : NULL;
	}
	return end ? end : line + strlen(line);
}

static bool add(struct maps *maps, const struct mapped *mapped, const char *path)
{
	for (size_t i = maps->count; i-- > 0;) {
		struct mapped *file = &maps->files[i];
		if (strcmp(file->path, path) == 0) {
			file->start = mapped->start < file->start ? mapped->start : file->start;
			file->has_code |= mapped->has_code;
			return true;
		}
	}
	char *copy = maps->count < MOST_FILES ? strdup(path) : NULL;
	if (!copy || !tw_grow(&maps->files, &maps->room, maps->count + 1, sizeof *maps->files)) {
		free(copy);
		return maps->count == MOST_FILES;
	}
	maps->files[maps->count++] = (struct mapped){copy, mapped->start, mapped->has_code};
	return true;
}

static int fail_memory(struct tw_symbols *symbols)
{
	return tw_symbols_fail(symbols, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
}

/* Takes a line. Returns 0 or a negative status. */
static int take(struct tw_symbols *symbols, struct maps *maps, const struct tw_text_line *line)
{
	char text[LINE];
	struct mapped mapped = {0};
	size_t size = line->size < LINE ? line->size : LINE - 1;
	memcpy(text, line->bytes, size);
	text[size] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	char *path = *skip_spaces(text) && *text != '#' ? take_line(skip_spaces(text), &mapped) : text + strlen(text);
	if (!path || line->cut)
		return tw_symbols_fail(symbols, TW_ERR_FORMAT, "line %llu: expected an address and a path",
		                       (unsigned long long)line->number);
	/* "[stack]" and the like are no files */
	if (*path == '\0' || *path == '[' || add(maps, &mapped, path))
		return 0;
	return fail_memory(symbols);
}

static int read_maps(struct tw_symbols *symbols, struct maps *maps)
{
	struct tw_input *input;
	int status = tw_input_open(&input, symbols->path);
	if (status < 0) {
		const char *why = input ? tw_input_error(input) : tw_status_text(status);
		snprintf(symbols->error, sizeof symbols->error, "%s", why);
		tw_input_close(input);
		return status;
	}
	struct tw_text_lines lines = {.window = {.input = input}, .limit = LINE};
	struct tw_text_line line;
	while ((status = tw_text_lines_next(&lines, &line)) > 0 && (status = take(symbols, maps, &line)) >= 0)
		;
	if (status < 0 && *tw_input_error(input))
		snprintf(symbols->error, sizeof symbols->error, "%s", tw_input_error(input));
	tw_text_lines_free(&lines);
	tw_input_close(input);
	return status;
}

/* A file of another machine is where the list is. NULL when there is no memory. */
static char *beside(const char *maps, const char *path)
{
	const char *slash = strrchr(maps, '/'), *name = strrchr(path, '/');
	char *text;
	int size = slash ? (int)(slash + 1 - maps) : 0;
	return asprintf(&text, "%.*s%s", size, maps, name ? name + 1 : path) < 0 ? NULL : text;
}

static int add_file(struct tw_symbols *symbols, const char *maps, const struct mapped *file)
{
	char *other = access(file->path, R_OK) == 0 ? NULL : beside(maps, file->path);
	bool is_there = other && access(other, R_OK) == 0;
	int status = tw_symbols_add(symbols, is_there ? other : file->path, &file->start);
	free(other);
	return status;
}

int tw_symbols_add_maps(struct tw_symbols *symbols, const char *path)
{
	struct maps maps = {0};
	free(symbols->path);
	symbols->path = strdup(path);
	int missing = 0, status = symbols->path ? read_maps(symbols, &maps) : fail_memory(symbols);
	for (size_t i = 0; i < maps.count; i++) {
		int added = status >= 0 && maps.files[i].has_code ? add_file(symbols, path, &maps.files[i]) : 0;
		if (added == TW_ERR_MEMORY)
			status = added;
		missing += added < 0;
		free(maps.files[i].path);
	}
	free(maps.files);
	return status < 0 ? status : missing;
}
