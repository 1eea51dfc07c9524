/* test_mapping.c - doc/mapping.md says of every kind of event and every target what the target counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "core/format.h"

#include "suite.h"

enum { COLUMNS = 16, CELL = 256, ROWS = 64, TABLES = 4, OUTPUT = 1 << 16 };

struct table {
	char cells[ROWS][COLUMNS][CELL];
	unsigned rows, columns;
};

/* Splits a line of the table at its bars. Returns how many cells it has. */
static unsigned split(char *line, char cells[COLUMNS][CELL])
{
	unsigned count = 0;
	for (char *cell = strtok(line, "|"); cell && count < COLUMNS; cell = strtok(NULL, "|")) {
		while (*cell == ' ')
			cell++;
		size_t length = strcspn(cell, "\n");
		while (length && cell[length - 1] == ' ')
			length--;
		assert_true(length < CELL);
		memcpy(cells[count], cell, length);
		cells[count++][length] = '\0';
	}
	return count;
}

/* Reads the next table whose first cell is a word; one with no rows where there is none. */
static void read_table(struct table *table, FILE *file, const char *word)
{
	char line[4096], first[32];
	int length = snprintf(first, sizeof first, "| %s ", word);
	while (fgets(line, sizeof line, file)) {
		bool head = strncmp(line, first, (size_t)length) == 0;
		if (line[0] != '|' && table->rows)
			break;
		if ((!head && !table->rows) || strncmp(line, "|---", 4) == 0)
			continue;
		assert_true(table->rows < ROWS);
		unsigned columns = split(line + 1, table->cells[table->rows++]);
		if (columns && table->columns == 0)
			table->columns = columns - 1; /* the end of the line is one */
	}
}

static unsigned read_tables(struct table *tables, const char *word)
{
	char path[4096];
	unsigned count = 0;
	const char *source = getenv("TRACKWAY_SOURCE");
	assert_non_null(source);
	snprintf(path, sizeof path, "%s/doc/mapping.md", source);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	do
		read_table(&tables[count], file, word);
	while (tables[count].rows && ++count < TABLES);
	fclose(file);
	return count;
}

static const char *cell_in(const struct table *table, const char *kind, const char *target)
{
	for (unsigned row = 1; row < table->rows; row++)
		for (unsigned column = 1; column < table->columns; column++)
			if (strcmp(table->cells[row][0], kind) == 0 && strcmp(table->cells[0][column], target) == 0)
				return table->cells[row][column];
	return NULL;
}

static const char *cell_of(const struct table *tables, unsigned count, const char *kind, const char *target)
{
	for (unsigned i = 0; i < count; i++) {
		const char *cell = cell_in(&tables[i], kind, target);
		if (cell)
			return cell;
	}
	fail_msg("doc/mapping.md has no cell for %s in %s", kind, target);
	return NULL;
}

/* A reader of nothing. */
struct source {
	struct tw_format format;
	struct tw_reader reader;
	struct tw_argument arguments[2]; /* a text, and a number */
	uint32_t track, name;
};

static void open_source(struct source *source)
{
	struct tw_name name = {.text = "fib", .length = 3, .id = 5};
	struct tw_track track = {.process = 7, .thread = 8};
	source->format.name = "xray-fdr"; /* whose names have function ids */
	source->reader.format = &source->format;
	source->reader.dictionary = tw_dictionary_new();
	source->name = tw_dictionary_intern(source->reader.dictionary, &name);
	source->track = tw_dictionary_add_track(source->reader.dictionary, &track);
	source->arguments[0] =
	    (struct tw_argument){.type = TW_ARG_TEXT, .value.bytes = (const uint8_t *)"text", .size = 4};
	source->arguments[1] = (struct tw_argument){.type = TW_ARG_UINT, .value.u = 3};
}

/* An event as plain as its kind can be. */
static struct tw_event event_of(const struct source *source, uint8_t kind)
{
	struct tw_event event = {.kind = kind, .time = 100, .value = 3, .track = source->track, .name = source->name};
	if (kind == TW_SWITCH || kind == TW_WAKEUP || kind == TW_LOG)
		event.name = 0; /* they are no names' */
	if (kind == TW_BLOB)
		event.track = 0;
	if (kind == TW_LOG)
		event.value = 0;
	event.argument_count = kind == TW_LOG || kind == TW_BLOB || kind == TW_COUNTER;
	event.first_argument = kind == TW_COUNTER;
	return event;
}

/* A target may write a directory of files. */
static void remove_all(const char *path)
{
	static const char *const files[] = {"stream", "metadata"};
	char file[128];
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(file, sizeof file, "%s/%s", path, files[i]);
		unlink(file);
	}
	unlink(path);
	rmdir(path);
}

static const char *what_became_of(const struct source *source, uint8_t kind, const char *target, const char *path)
{
	struct tw_writer *writer;
	struct tw_event events[2] = {event_of(source, TW_SLICE_BEGIN), event_of(source, kind)};
	bool second = kind == TW_SLICE_END; /* it needs a begin */
	struct tw_batch batch = {.events = events + !second, .count = 1u + second, .arguments = source->arguments};
	assert_int_equal(tw_create(&writer, path, target, NULL), 0);
	assert_int_equal(tw_write(writer, &source->reader, &batch), 0);
	assert_int_equal(tw_finish(writer), 0);
	const struct tw_loss *loss = tw_writer_loss(writer, 0);
	const char *became = !loss ? "kept" : loss->left_out ? "left out" : "approximated";
	if (loss && (strcmp(loss->what, tw_event_kind_name(kind)) != 0 || tw_writer_loss(writer, 1)))
		fail_msg("%s in %s: the loss is of \"%s\"", tw_event_kind_name(kind), target, loss->what);
	tw_discard(writer);
	remove_all(path);
	return became;
}

static void test_kinds(void **state)
{
	(void)state;
	static struct table tables[TABLES];
	static struct source source;
	char path[64];
	unsigned wrong = 0;
	unsigned count = read_tables(tables, "kind");
	open_source(&source);
	snprintf(path, sizeof path, "/tmp/test_mapping.%d", (int)getpid());
	for (size_t i = 0; tw_targets[i]; i++)
		for (uint8_t kind = 0; tw_targets[i]->write && kind < TW_EVENT_KINDS; kind++) {
			const char *target = tw_targets[i]->name;
			const char *found = what_became_of(&source, kind, target, path);
			const char *cell = cell_of(tables, count, tw_event_kind_name(kind), target);
			if (strncmp(cell, found, strlen(found)) == 0)
				continue;
			print_error("%s in %s is %s, not \"%s\"\n", tw_event_kind_name(kind), target, found, cell);
			wrong++;
		}
	tw_dictionary_free(source.reader.dictionary);
	assert_int_equal(wrong, 0);
	assert_true(count > 0);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(tables[i].rows, TW_EVENT_KINDS + 1);
}

/* ---- Where samples were taken. ---- */

/* A function in a file, another function for each. */
static uint32_t frame_in(const struct source *source, uint32_t caller, const char *file)
{
	struct tw_dictionary *dictionary = source->reader.dictionary;
	const struct tw_name function = {.text = "function", .length = 8, .id = strlen(file)};
	uint32_t location = tw_dictionary_add_location(
	    dictionary, &(struct tw_location){.name = tw_dictionary_intern(dictionary, &function), .address = 1});
	tw_dictionary_locate(dictionary, location, tw_dictionary_text(dictionary, file), 42);
	return tw_dictionary_push(dictionary, caller, location);
}

/* Whether a file, which may be compressed, or the stream of a directory has a text in it. */
static bool holds(const char *path, const char *text)
{
	static char bytes[OUTPUT];
	char stream[128];
	snprintf(stream, sizeof stream, "%s/stream", path);
	gzFile file = gzopen(access(stream, R_OK) == 0 ? stream : path, "rb");
	assert_non_null(file);
	int size = gzread(file, bytes, sizeof bytes);
	assert_true(size >= 0 && size < OUTPUT);
	gzclose(file);
	return memmem(bytes, (size_t)size, text, strlen(text)) != NULL;
}

static void write_sample(const struct source *source, const char *target, const char *path)
{
	struct tw_writer *writer;
	uint32_t outer = frame_in(source, 0, "callers.cs");
	struct tw_event event = event_of(source, TW_STACK_SAMPLE);
	event.other = frame_in(source, outer, "innermost.cs");
	struct tw_batch batch = {.events = &event, .count = 1};
	assert_int_equal(tw_create(&writer, path, target, NULL), 0);
	assert_int_equal(tw_write(writer, &source->reader, &batch), 0);
	assert_int_equal(tw_finish(writer), 0);
	tw_discard(writer);
}

static void test_files_of_frames(void **state)
{
	static const struct {
		const char *frame, *file;
	} frames[] = {{"innermost", "innermost.cs"}, {"its callers", "callers.cs"}};
	(void)state;
	static struct table tables[TABLES];
	static struct source source;
	char path[64];
	assert_int_equal(read_tables(tables, "frame"), 1);
	open_source(&source);
	snprintf(path, sizeof path, "/tmp/test_mapping.%d", (int)getpid());
	for (size_t i = 0; tw_targets[i]; i++) {
		const char *target = tw_targets[i]->name;
		if (!tw_targets[i]->write)
			continue;
		write_sample(&source, target, path);
		for (size_t j = 0; j < 2; j++) {
			const char *found = holds(path, frames[j].file) ? "kept" : "left out";
			const char *cell = cell_of(tables, 1, frames[j].frame, target);
			if (strncmp(cell, found, strlen(found)) != 0)
				fail_msg("the file of the %s frame is %s in %s", frames[j].frame, found, target);
		}
		remove_all(path);
	}
	tw_dictionary_free(source.reader.dictionary);
}

/* ---- What is told of slices. ---- */

/* Whether what was lost is called this, or more than that. */
static bool has_lost(const struct tw_writer *writer, const char *what)
{
	const struct tw_loss *loss;
	for (size_t i = 0; (loss = tw_writer_loss(writer, i)); i++)
		if (strncmp(loss->what, what, strlen(what)) == 0)
			return true;
	return false;
}

static void write_slice(const struct source *source, struct tw_writer *writer)
{
	struct tw_event events[2] = {event_of(source, TW_SLICE_BEGIN), event_of(source, TW_SLICE_END)};
	struct tw_batch batch = {.events = events, .count = 2, .arguments = source->arguments};
	events[0].category = source->name;
	events[0].argument_count = 1;
	assert_int_equal(tw_write(writer, &source->reader, &batch), 0);
	assert_int_equal(tw_finish(writer), 0);
}

static void test_parts_of_slices(void **state)
{
	static const char *const parts[] = {"category", "argument"};
	(void)state;
	static struct table tables[TABLES];
	static struct source source;
	struct tw_writer *writer;
	char path[64];
	assert_int_equal(read_tables(tables, "slice"), 1);
	open_source(&source);
	snprintf(path, sizeof path, "/tmp/test_mapping.%d", (int)getpid());
	for (size_t i = 0; tw_targets[i]; i++) {
		const char *target = tw_targets[i]->name;
		if (!tw_targets[i]->write)
			continue;
		assert_int_equal(tw_create(&writer, path, target, NULL), 0);
		write_slice(&source, writer);
		for (size_t j = 0; j < 2; j++) {
			const char *found = has_lost(writer, parts[j]) ? "left out" : "kept";
			const char *cell = cell_of(tables, 1, parts[j], target);
			if (strncmp(cell, found, strlen(found)) != 0)
				fail_msg("the %s of a slice is %s in %s, not \"%s\"", parts[j], found, target, cell);
		}
		tw_discard(writer);
		remove_all(path);
	}
	tw_dictionary_free(source.reader.dictionary);
}

/* At 24 MHz a tick is at 41 2/3 ns, which is 41, and the next one at 83: none is at 42. */
static void test_times(void **state)
{
	static const char *const targets[] = {"fxt", "xray-fdr", "xray-basic"};
	static const struct tw_write_options options = {.ticks_per_second = 24000000};
	(void)state;
	static struct source source;
	struct tw_writer *writer;
	char path[64];
	open_source(&source);
	snprintf(path, sizeof path, "/tmp/test_mapping.%d", (int)getpid());
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		struct tw_event events[2] = {event_of(&source, TW_SLICE_BEGIN), event_of(&source, TW_SLICE_END)};
		const struct tw_batch batch = {.events = events, .count = 2, .arguments = source.arguments};
		events[0].time = 41;
		events[1].time = 42;
		assert_int_equal(tw_create(&writer, path, targets[i], &options), 0);
		assert_int_equal(tw_write(writer, &source.reader, &batch), 0);
		assert_int_equal(tw_finish(writer), 0);
		const struct tw_loss *loss = tw_writer_loss(writer, 0);
		assert_non_null(loss);
		assert_string_equal(loss->what, "time");
		assert_int_equal(loss->approximated, 1);
		assert_int_equal(loss->left_out, 0);
		assert_null(tw_writer_loss(writer, 1));
		tw_discard(writer);
		remove_all(path);
	}
	tw_dictionary_free(source.reader.dictionary);
}

/* Events of a caller's own: nothing of the batch is written. */
static void test_no_kind(void **state)
{
	(void)state;
	static struct source source;
	struct tw_writer *writer;
	const char *target;
	char path[64];
	open_source(&source);
	snprintf(path, sizeof path, "/tmp/test_mapping.%d", (int)getpid());
	for (size_t i = 0; (target = tw_writer_format_name(i)); i++) {
		struct tw_event events[2] = {event_of(&source, TW_SLICE_BEGIN), event_of(&source, TW_SLICE_END)};
		const struct tw_batch batch = {.events = events, .count = 2, .arguments = source.arguments};
		if (!tw_writer_takes_events(target))
			continue;
		for (unsigned kind = TW_EVENT_KINDS; kind <= UINT8_MAX; kind += UINT8_MAX - TW_EVENT_KINDS) {
			events[1].kind = (uint8_t)kind;
			assert_int_equal(tw_create(&writer, path, target, NULL), 0);
			assert_int_equal(tw_write(writer, &source.reader, &batch), TW_ERR_VALUE);
			assert_non_null(strstr(tw_writer_error(writer), "an event is of no kind"));
			tw_discard(writer);
		}
	}
	tw_dictionary_free(source.reader.dictionary);
}

SUITE(mapping)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_files_of_frames),
	                                   cmocka_unit_test(test_parts_of_slices), cmocka_unit_test(test_times),
	                                   cmocka_unit_test(test_no_kind)};
	return cmocka_run_group_tests_name("mapping", tests, NULL, NULL);
}
