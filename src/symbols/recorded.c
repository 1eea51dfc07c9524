/* recorded.c - names from the notes of a flight recorder's log. Source: doc/formats/xray-fdr.md, "Logs of the flight
 * recorder". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/tool.h"

#include "base/memory/memory.h"
#include "core/format.h"
#include "symbols/program.h"

#include <elf.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions with hooks are told by addresses. Each program has its own here, whatever it had when it ran. */
enum { SPACE_BITS = 40, KINDS = 2, BY_ADDRESS = 1, PATH = 4096, BUILD_ID = TW_BUILD_ID };
enum { PROGRAMS_MOST = 4096 /* of a log that are named */ };

/* ---- The list. ---- */

/* Takes hexadecimal numbers and a build id, a space behind each, and returns what is left; NULL where they are not. */
static const char *take_words(const char *line, uint64_t *numbers, unsigned count, char id[BUILD_ID + 1])
{
	for (unsigned i = 0; i < count; i++) {
		char *end;
		numbers[i] = strtoull(line, &end, 16);
		if (end == line || *end != ' ')
			return NULL;
		line = end + 1;
	}
	size_t size = strcspn(line, " ");
	if (!size || size > BUILD_ID || !line[size])
		return NULL;
	memcpy(id, line, size);
	id[size] = '\0';
	return line + size + 1;
}

/* "first count kind distance build-id path": the distance of number `first` from the program's first byte. */
static void put_line(FILE *list, const char *text, size_t size)
{
	enum { FIRST, COUNT, KIND, START, LOAD, NUMBERS };
	uint64_t n[NUMBERS];
	char line[PATH + 160], id[BUILD_ID + 1];
	snprintf(line, sizeof line, "%.*s", (int)size, text);
	const char *path = take_words(line, n, NUMBERS, id);
	if (path && n[KIND] < KINDS && !strpbrk(line, "\n\r"))
		fprintf(list, "%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %s %s\n", n[FIRST], n[COUNT], n[KIND],
		        n[KIND] == BY_ADDRESS ? n[START] - n[LOAD] : 0, id, path);
}

static void put_note(FILE *list, const struct tw_record *record)
{
	static const char name[16] = "trackway.object";
	for (size_t i = 0; i < record->field_count; i++) {
		const struct tw_field *field = &record->fields[i];
		if (strcmp(field->name, "data") == 0 && field->size > sizeof name &&
		    memcmp(field->value.bytes, name, sizeof name) == 0)
			put_line(list, field->value.bytes + sizeof name, field->size - sizeof name);
	}
}

/* Which may have a log in it, anywhere. */
static bool is_core(const char *bytes, size_t size)
{
	Elf64_Half type = 0;
	if (size >= sizeof(Elf64_Ehdr) && memcmp(bytes, ELFMAG, SELFMAG) == 0)
		memcpy(&type, bytes + offsetof(Elf64_Ehdr, e_type), sizeof type);
	return type == ET_CORE;
}

/* A log that has notes begins with one. */
static bool has_notes(struct tw_input *input, uint64_t offset)
{
	static const char name[] = "trackway.flight";
	char bytes[256];
	const int64_t have = tw_input_read(input, offset, bytes, sizeof bytes);
	return have > 0 &&
	       ((!offset && is_core(bytes, (size_t)have)) || memmem(bytes, (size_t)have, name, sizeof name));
}

static bool begins_with_notes(const char *path)
{
	struct tw_input *input;
	const bool has = tw_input_open(&input, path) == 0 && has_notes(input, 0);
	tw_input_close(input);
	return has;
}

static int list_objects(struct tw_reader *reader, char **list)
{
	struct tw_record record;
	size_t size;
	int status = 0;
	FILE *text = open_memstream(list, &size);
	if (!text)
		return TW_ERR_MEMORY;
	while (status >= 0 && (status = tw_read_record(reader, &record)) > 0)
		if (strcmp(record.kind, "custom-event") == 0)
			put_note(text, &record);
	return fclose(text) != 0 ? TW_ERR_MEMORY : status;
}

int tw_recorded_list(const char *path, uint64_t offset, char **list)
{
	static const uint64_t recorder = 0; /* the thread of all notes */
	const struct tw_read_options plain = {.order = TW_ORDER_FILE},
				     options = {.order = TW_ORDER_TRACK, .threads = &recorder, .thread_count = 1};
	struct tw_reader *file = NULL, *reader = NULL;
	*list = NULL;
	if (!offset && !begins_with_notes(path))
		return 0;
	int status = tw_open(&file, path, &plain);
	if (status == 0 && has_notes(file->input, offset))
		status = tw_open_log(&reader, file, offset, 0, true, &options);
	if (status == 0 && reader)
		status = list_objects(reader, list);
	tw_close(reader);
	tw_close(file);
	return status == TW_ERR_MEMORY ? status : 0;
}

/* ---- The programs. ---- */

static int add_program(struct tw_symbols *symbols, struct tw_recorded *recorded)
{
	if (recorded->by_address) {
		int status = tw_symbols_add(symbols, recorded->program, &recorded->load);
		if (status != TW_ERR_VALUE)
			return status;
		recorded->load = 0; /* it is linked to its place */
		return tw_symbols_add(symbols, recorded->program, NULL);
	}
	int status = tw_symbols_open(&recorded->sleds, recorded->program);
	if (recorded->sleds)
		recorded->sleds->mangled = symbols->mangled;
	if (status < 0 && status != TW_ERR_MEMORY)
		snprintf(symbols->error, sizeof symbols->error, "%s", tw_symbols_error(recorded->sleds));
	return status;
}

/* The same program, which was unloaded and loaded again. */
static const struct tw_recorded *find_same(const struct tw_recorded *last, const char *program, bool by_address)
{
	while (last && (last->by_address != by_address || strcmp(last->program, program) != 0))
		last = last->next;
	return last;
}

bool tw_recorded_has(const char *list, const char *path)
{
	enum { NUMBERS = 4 };
	uint64_t numbers[NUMBERS];
	char id[BUILD_ID + 1];
	for (const char *at = list; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (take_words(at, numbers, NUMBERS, id) && tw_symbols_has_id(path, id))
			return true;
	return false;
}

static int add_line(struct tw_symbols *symbols, const char *line, uint64_t number)
{
	enum { FIRST, COUNT, KIND, DISTANCE, NUMBERS };
	uint64_t n[NUMBERS];
	char id[BUILD_ID + 1];
	const char *path = take_words(line, n, NUMBERS, id);
	if (!path)
		return 1;
	if (!tw_symbols_has_id(path, id)) {
		snprintf(symbols->error, sizeof symbols->error, "%s: it was built anew since it was recorded", path);
		return 1;
	}
	const struct tw_recorded *same = find_same(symbols->recorded, path, n[KIND] == BY_ADDRESS);
	const char *program = same ? same->program : tw_symbols_keep(symbols, path);
	struct tw_recorded *recorded = program ? malloc(sizeof *recorded) : NULL;
	if (!recorded)
		return TW_ERR_MEMORY;
	*recorded = (struct tw_recorded){.next = symbols->recorded,
	                                 .first = n[FIRST],
	                                 .count = n[COUNT],
	                                 .load = same ? same->load : number << SPACE_BITS,
	                                 .distance = n[DISTANCE],
	                                 .sleds = same ? same->sleds : NULL,
	                                 .program = program,
	                                 .by_address = n[KIND] == BY_ADDRESS,
	                                 .is_again = same,
	                                 .is_missing = same && same->is_missing};
	symbols->recorded = recorded;
	int status = same ? 0 : add_program(symbols, recorded);
	recorded->is_missing |= status < 0;
	return status == TW_ERR_MEMORY ? status : recorded->is_missing;
}

static int name_recorded(void *context, uint64_t id, struct tw_name *name)
{
	struct tw_symbols *symbols = context;
	struct tw_range range;
	const struct tw_recorded *recorded = symbols->recorded;
	while (recorded && id - recorded->first >= recorded->count)
		recorded = recorded->next;
	if (!recorded)
		return 0;
	const struct tw_namer *sleds = recorded->sleds ? &recorded->sleds->namer : NULL;
	return sleds ? sleds->name(sleds->context, id - recorded->first + 1, name)
	             : tw_symbols_address(symbols, recorded->load + recorded->distance + id - recorded->first, name,
	                                  &range);
}

int tw_symbols_add_recorded(struct tw_symbols *symbols, const char *list)
{
	int missing = 0;
	uint64_t number = 0;
	char line[PATH + 160];
	symbols->namer.name = name_recorded;
	for (const char *at = list; *at;) {
		const size_t length = strcspn(at, "\n");
		snprintf(line, sizeof line, "%.*s", (int)length, at);
		int status = number < PROGRAMS_MOST ? add_line(symbols, line, ++number) : 1;
		if (status < 0)
			return status;
		missing += status;
		at += length + (at[length] == '\n');
	}
	return missing;
}
