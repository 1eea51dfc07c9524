/* maps.c - which files were loaded where: a list as /proc/PID/maps has it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "core/text/lines.h"
#include "symbols/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_PLACES = 1 << 12, /* of files */
	MOST_CODE = 1 << 16,   /* lines of code that are compared with each other */
	LINE = 1 << 14,
	FIELDS_BETWEEN = 4 /* access, offset, device, inode */
};

/* A line. */
struct mapped {
	uint64_t start, end, offset; /* end 0: it tells none */
	bool has_code;
};

/* A file where it was loaded. One that is closed and opened again has another place. */
struct place {
	size_t file;
	uint64_t start; /* of the first byte */
	bool guessed;   /* the line with the first byte did not come yet: start is the lowest there is */
	bool has_code, is_shared;
};

struct code {
	uint64_t start, end;
	size_t place;
};

struct maps {
	char **files;
	struct place *places;
	struct code *code;
	size_t file_count, file_room, place_count, place_room, code_count, code_room;
};

/* ---- Lines. ---- */

static char *skip_spaces(char *text)
{
	return text + strspn(text, " \t");
}

/* "5500000000-5500001000 r-xp 00000000 fe:01 123    /usr/bin/program", or "5500000000 /usr/bin/program". Returns the
 * path in the line, "" where the line has none; NULL where it is no such line. */
static char *take_line(char *line, struct mapped *mapped)
{
	char *end;
	*mapped = (struct mapped){.start = strtoull(line, &end, 16), .has_code = true};
	if (end == line || (*end != '-' && *end != ' ' && *end != '\t'))
		return NULL;
	if (*end != '-')
		return skip_spaces(end);
	mapped->end = strtoull(end + 1, NULL, 16);
	const char *access = strchr(end, ' ');
	mapped->has_code = access && access[1] && access[2] && access[3] == 'x';
	for (unsigned i = 0; end && i <= FIELDS_BETWEEN; i++) {
		end = strpbrk(end, " \t");
		end = end ? skip_spaces(end) : NULL;
		if (end && i == 1)
			mapped->offset = strtoull(end, NULL, 16);
	}
	return end ? end : line + strlen(line);
}

/* ---- Files and their places. ---- */

static const size_t NO_FILE = SIZE_MAX;

/* Returns the number of a file; NO_FILE when there is no memory, or no room for places of more. */
static size_t file_of(struct maps *maps, const char *path)
{
	for (size_t i = maps->file_count; i-- > 0;)
		if (strcmp(maps->files[i], path) == 0)
			return i;
	char *copy = maps->place_count < MOST_PLACES ? strdup(path) : NULL;
	if (!copy || !tw_grow(&maps->files, &maps->file_room, maps->file_count + 1, sizeof *maps->files)) {
		free(copy);
		return NO_FILE;
	}
	maps->files[maps->file_count] = copy;
	return maps->file_count++;
}

/* Whether a line lowers the start of a place: it has the first byte, or is before all that came. */
static bool begins(struct place *place, const struct mapped *mapped)
{
	if (!place->guessed || place->start < mapped->start)
		return false;
	place->start = mapped->start;
	place->guessed = mapped->offset != 0;
	return true;
}

/* The place that a line is of: the one with this first byte, or the nearest before. NULL: it is of a new one. */
static struct place *place_of(const struct maps *maps, size_t file, const struct mapped *mapped)
{
	struct place *nearest = NULL;
	for (size_t i = 0; i < maps->place_count; i++) {
		struct place *place = &maps->places[i];
		if (place->file != file)
			continue;
		if (begins(place, mapped) || place->start == mapped->start)
			return place;
		if (mapped->offset && place->start < mapped->start && (!nearest || nearest->start < place->start))
			nearest = place;
	}
	return nearest;
}

/* Returns NULL where there is no memory, or no room. */
static struct place *add_place(struct maps *maps, size_t file, const struct mapped *mapped)
{
	if (maps->place_count == MOST_PLACES ||
	    !tw_grow(&maps->places, &maps->place_room, maps->place_count + 1, sizeof *maps->places))
		return NULL;
	maps->places[maps->place_count] =
	    (struct place){.file = file, .start = mapped->start, .guessed = mapped->offset != 0};
	return &maps->places[maps->place_count++];
}

static bool add_code(struct maps *maps, const struct place *place, const struct mapped *mapped)
{
	if (!mapped->end || maps->code_count == MOST_CODE)
		return true;
	if (!tw_grow(&maps->code, &maps->code_room, maps->code_count + 1, sizeof *maps->code))
		return false;
	maps->code[maps->code_count++] = (struct code){mapped->start, mapped->end, (size_t)(place - maps->places)};
	return true;
}

/* Returns whether there was memory. */
static bool add(struct maps *maps, const struct mapped *mapped, const char *path)
{
	size_t file = file_of(maps, path);
	struct place *place = file == NO_FILE ? NULL : place_of(maps, file, mapped);
	if (!place && file != NO_FILE)
		place = add_place(maps, file, mapped);
	if (!place)
		return maps->place_count == MOST_PLACES;
	place->has_code |= mapped->has_code;
	return !mapped->has_code || add_code(maps, place, mapped);
}

/* ---- Places of several files. ---- */

static int by_start(const void *a, const void *b)
{
	const struct code *x = a, *y = b;
	return tw_compare(x->start, y->start);
}

/* Processes that have parted may have different files at the same place; the list does not tell whose line is whose. */
static void find_shared(struct maps *maps)
{
	if (maps->code_count)
		qsort(maps->code, maps->code_count, sizeof *maps->code, by_start);
	for (size_t i = 1, last = 0; i < maps->code_count; i++) {
		struct place *one = &maps->places[maps->code[i].place], *other = &maps->places[maps->code[last].place];
		if (maps->code[i].start < maps->code[last].end && one->file != other->file)
			one->is_shared = other->is_shared = true;
		if (maps->code[i].end > maps->code[last].end)
			last = i;
	}
}

/* ---- The list. ---- */

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

int tw_symbols_open_list(struct tw_symbols *symbols, struct tw_text_lines *lines)
{
	struct tw_input *input;
	int status = tw_input_open(&input, symbols->path);
	lines->window.input = input;
	if (status < 0)
		snprintf(symbols->error, sizeof symbols->error, "%s",
		         input ? tw_input_error(input) : tw_status_text(status));
	return status;
}

void tw_symbols_close_list(struct tw_symbols *symbols, struct tw_text_lines *lines, int status)
{
	struct tw_input *input = lines->window.input;
	if (status < 0 && input && *tw_input_error(input))
		snprintf(symbols->error, sizeof symbols->error, "%s", tw_input_error(input));
	tw_text_lines_free(lines);
	tw_input_close(input);
}

static int read_maps(struct tw_symbols *symbols, struct maps *maps)
{
	struct tw_text_lines lines = {.limit = LINE};
	struct tw_text_line line;
	int status = tw_symbols_open_list(symbols, &lines);
	while (status >= 0 && (status = tw_text_lines_next(&lines, &line)) > 0)
		status = take(symbols, maps, &line);
	tw_symbols_close_list(symbols, &lines, status);
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

static int add_file(struct tw_symbols *symbols, const char *maps, const char *file, const uint64_t *starts,
                    size_t count)
{
	char *other = access(file, R_OK) == 0 ? NULL : beside(maps, file);
	bool is_there = other && access(other, R_OK) == 0;
	int status = tw_symbols_add_places(symbols, is_there ? other : file, starts, count);
	free(other);
	return status;
}

/* Adds a file in all of its places. Returns how many have no names, or a negative status. */
static int add_places(struct tw_symbols *symbols, const char *list, const struct maps *maps, size_t file)
{
	uint64_t starts[MOST_PLACES];
	size_t count = 0, shared = 0;
	for (size_t i = 0; i < maps->place_count; i++) {
		const struct place *place = &maps->places[i];
		if (place->file != file || !place->has_code)
			continue;
		if (place->is_shared && shared++ == 0)
			snprintf(symbols->error, sizeof symbols->error,
			         "%s: where it is loaded, 0x%llx, another file is, too", maps->files[file],
			         (unsigned long long)place->start);
		else if (!place->is_shared)
			starts[count++] = place->start;
	}
	int status = count ? add_file(symbols, list, maps->files[file], starts, count) : 0;
	return status == TW_ERR_MEMORY ? status : status < 0 || shared ? 1 : 0;
}

int tw_symbols_add_maps(struct tw_symbols *symbols, const char *path)
{
	struct maps maps = {0};
	free(symbols->path);
	symbols->path = strdup(path);
	int nameless = 0, status = symbols->path ? read_maps(symbols, &maps) : fail_memory(symbols);
	find_shared(&maps);
	for (size_t i = 0; i < maps.file_count; i++) {
		int added = status >= 0 ? add_places(symbols, path, &maps, i) : 0;
		status = added < 0 ? added : status;
		nameless += added > 0;
		free(maps.files[i]);
	}
	free(maps.files);
	free(maps.places);
	free(maps.code);
	return status < 0 ? status : nameless;
}
