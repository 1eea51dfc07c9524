/* maps.c - which files were loaded where: a list as /proc/PID/maps has it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "core/text/lines.h"
#include "symbols/places.h"
#include "symbols/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LINE = 1 << 14,
	FIELDS_BETWEEN = 4, /* access, offset, device, inode */
	OFFSET = 1,
	INODE = 3
};

/* A line. */
struct mapped {
	uint64_t start, end, offset; /* end 0: it tells none */
	uint32_t program;            /* that the line is of, as the list numbers them; 0: of all */
	bool has_code;
};

/* ---- Lines. ---- */

static char *skip_spaces(char *text)
{
	return text + strspn(text, " \t");
}

/* An inode where the device is 00:00, which no file has: `record` numbers programs there. */
static uint32_t program_at(const char *field, bool no_device)
{
	char *end;
	const unsigned long long number = no_device && *field >= '0' && *field <= '9' ? strtoull(field, &end, 10) : 0;
	return number && number <= UINT32_MAX && *end == ' ' ? (uint32_t)number : 0;
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
	const char *device = NULL;
	for (unsigned i = 0; end && i <= FIELDS_BETWEEN; i++) {
		end = strpbrk(end, " \t");
		end = end ? skip_spaces(end) : NULL;
		if (end && i == OFFSET)
			mapped->offset = strtoull(end, NULL, 16);
		if (end && i == INODE)
			mapped->program = program_at(end, strncmp(device, "00:00 ", 6) == 0);
		device = end;
	}
	return end ? end : line + strlen(line);
}

/* ---- Files and their places. ---- */

static const size_t NO_FILE = SIZE_MAX;

/* Returns the number of a file; NO_FILE when there is no memory, or no room for places of more. */
static size_t file_of(struct tw_listed *maps, const char *path)
{
	for (size_t i = maps->file_count; i-- > 0;)
		if (strcmp(maps->files[i].path, path) == 0)
			return i;
	char *copy = maps->place_count < TW_PLACES_MOST ? strdup(path) : NULL;
	if (!copy || !tw_grow(&maps->files, &maps->file_room, maps->file_count + 1, sizeof *maps->files)) {
		free(copy);
		return NO_FILE;
	}
	maps->files[maps->file_count] = (struct tw_listed_file){.path = copy};
	return maps->file_count++;
}

/* Whether a line lowers the start of a place: it has the first byte, or is before all that came. */
static bool begins(struct tw_place_of_file *place, const struct mapped *mapped)
{
	if (!place->guessed || place->start < mapped->start)
		return false;
	place->start = mapped->start;
	place->guessed = mapped->offset != 0;
	return true;
}

/* The place that a line is of: the one with this first byte, or the nearest before. NULL: it is of a new one. */
static struct tw_place_of_file *place_of(const struct tw_listed *maps, size_t file, size_t program,
                                         const struct mapped *mapped)
{
	struct tw_place_of_file *nearest = NULL;
	for (size_t i = 0; i < maps->place_count; i++) {
		struct tw_place_of_file *place = &maps->places[i];
		if (place->file != file || place->program != program)
			continue;
		if (begins(place, mapped) || place->start == mapped->start)
			return place;
		if (mapped->offset && place->start < mapped->start && (!nearest || nearest->start < place->start))
			nearest = place;
	}
	return nearest;
}

/* Returns NULL where there is no memory, or no room. */
static struct tw_place_of_file *add_place(struct tw_listed *maps, size_t file, size_t program,
                                          const struct mapped *mapped)
{
	if (maps->place_count == TW_PLACES_MOST ||
	    !tw_grow(&maps->places, &maps->place_room, maps->place_count + 1, sizeof *maps->places))
		return NULL;
	maps->places[maps->place_count] =
	    (struct tw_place_of_file){file, mapped->start, program, .guessed = mapped->offset != 0};
	return &maps->places[maps->place_count++];
}

static bool add_code(struct tw_listed *maps, const struct tw_place_of_file *place, const struct mapped *mapped)
{
	if (!mapped->end || maps->code_count == TW_CODE_MOST)
		return true;
	if (!tw_grow(&maps->code, &maps->code_room, maps->code_count + 1, sizeof *maps->code))
		return false;
	maps->code[maps->code_count++] =
	    (struct tw_code){mapped->start, mapped->end, (size_t)(place - maps->places), place->program};
	return true;
}

/* Returns whether there was memory. */
static bool add(struct tw_listed *maps, const struct mapped *mapped, const char *path)
{
	size_t file = file_of(maps, path), program = 0;
	if (mapped->program && !tw_list_program(maps, mapped->program, &program))
		return false;
	if (mapped->program && !program) /* there are too many */
		return true;
	if (program && !tw_list_own(maps, program))
		return false;
	struct tw_place_of_file *place = file == NO_FILE ? NULL : place_of(maps, file, program, mapped);
	if (!place && file != NO_FILE)
		place = add_place(maps, file, program, mapped);
	if (!place)
		return maps->place_count == TW_PLACES_MOST;
	place->has_code |= mapped->has_code;
	return !mapped->has_code || add_code(maps, place, mapped);
}

/* ---- The list. ---- */

static int fail_memory(struct tw_symbols *symbols)
{
	return tw_symbols_fail(symbols, TW_ERR_MEMORY, "%s", tw_status_text(TW_ERR_MEMORY));
}

/* Takes a line. Returns 0 or a negative status. */
static int take(struct tw_symbols *symbols, struct tw_listed *maps, const struct tw_text_line *line)
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
	if (*text == '#')
		return tw_list_note(maps, text) ? 0 : fail_memory(symbols);
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

static int read_maps(struct tw_symbols *symbols, struct tw_listed *maps)
{
	struct tw_text_lines lines = {.limit = LINE};
	struct tw_text_line line;
	int status = tw_symbols_open_list(symbols, &lines);
	while (status >= 0 && (status = tw_text_lines_next(&lines, &line)) > 0)
		status = take(symbols, maps, &line);
	tw_symbols_close_list(symbols, &lines, status);
	return status;
}

static bool is_listed(const uint64_t *starts, size_t count, uint64_t start)
{
	while (count && starts[count - 1] != start)
		count--;
	return count > 0;
}

/* Adds a file in all of its places that no other has, whatever the program. Returns 0 or TW_ERR_MEMORY. */
static int add_places(struct tw_symbols *symbols, const char *path, struct tw_listed *list, size_t number)
{
	uint64_t starts[TW_PLACES_MOST];
	struct tw_listed_file *file = &list->files[number];
	size_t count = 0;
	for (size_t i = 0; i < list->place_count; i++) {
		const struct tw_place_of_file *place = &list->places[i];
		if (place->file != number || !place->has_code)
			continue;
		if (place->is_shared && !file->nameless)
			snprintf(symbols->error, sizeof symbols->error,
			         "%s: where it is loaded, 0x%llx, another file is, too", file->path,
			         (unsigned long long)place->start);
		file->nameless |= place->is_shared;
		if (!place->is_shared && !place->is_parted && !is_listed(starts, count, place->start))
			starts[count++] = place->start;
	}
	int status = count ? tw_list_add_file(symbols, path, file->path, starts, count) : 0;
	file->nameless |= status < 0;
	return status == TW_ERR_MEMORY ? status : 0;
}

/* Returns how many files have no names somewhere, or a negative status. */
static int add_list(struct tw_symbols *symbols, const char *path, struct tw_listed *list)
{
	int nameless = 0, status = 0;
	tw_list_part(list);
	for (size_t i = 0; status >= 0 && i < list->file_count; i++)
		status = add_places(symbols, path, list, i);
	if (status >= 0)
		status = tw_list_add_programs(symbols, path, list);
	for (size_t i = 0; i < list->file_count; i++)
		nameless += list->files[i].nameless;
	return status < 0 ? status : nameless;
}

static void free_list(struct tw_listed *list)
{
	for (size_t i = 0; i < list->file_count; i++)
		free(list->files[i].path);
	free(list->files);
	free(list->places);
	free(list->code);
	free(list->programs);
	free(list->threads);
}

int tw_symbols_add_maps(struct tw_symbols *symbols, const char *path)
{
	struct tw_listed list = {0};
	free(symbols->path);
	symbols->path = strdup(path);
	int status = symbols->path ? read_maps(symbols, &list) : fail_memory(symbols);
	if (status >= 0)
		status = add_list(symbols, path, &list);
	free_list(&list);
	return status;
}
