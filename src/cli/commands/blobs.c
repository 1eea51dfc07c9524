/* blobs.c - trackway blobs: what a trace carries as bytes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/blobs.h"

#include "base/memory/memory.h"
#include "base/text/json.h"
#include "cli/files/nothing_passed.h"
#include "cli/files/walk.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"
#include "cli/output/table.h"
#include "core/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct blobs_options {
	struct tw_common common;
	const char *extract, *folder;
	bool force;
};

/* ---- Blobs of rows. ---- */

/* One blob: all rows of one name, in the order of the trace. */
struct blob {
	uint32_t name;
	uint64_t type; /* of its first part, as time and track */
	uint64_t size; /* bytes that are there */
	uint64_t missing;
	uint64_t parts; /* records */
	uint64_t time;
	uint32_t track;
};

struct blobs {
	struct blob *items; /* in the order in which they begin */
	size_t count, room, limit;
	struct tw_map map; /* name to item */
	uint64_t left_out; /* rows of blobs that there was no room for */
	uint32_t open;     /* the blob whose record goes on with the next row, plus 1; 0: none */
	uint64_t expected; /* bytes of that record still to come */
};

/* The bytes of a row; NULL where it has none. */
static const struct tw_argument *bytes_of(const struct tw_event *event, const struct tw_argument *arguments)
{
	return event->argument_count && arguments->type == TW_ARG_BYTES ? arguments : NULL;
}

/* The record that was open will not go on. */
static void end_record(struct blobs *blobs)
{
	if (blobs->open)
		blobs->items[blobs->open - 1].missing += blobs->expected;
	blobs->open = 0;
}

static uint32_t find_blob(struct blobs *blobs, const struct tw_event *event)
{
	uint32_t number;
	if (tw_map_find(&blobs->map, event->name, &number))
		return number;
	number = (uint32_t)blobs->count;
	if ((blobs->count + 1) * 2 * sizeof *blobs->items > blobs->limit ||
	    !tw_grow(&blobs->items, &blobs->room, blobs->count + 1, sizeof *blobs->items) ||
	    !tw_map_add(&blobs->map, event->name, number))
		return UINT32_MAX;
	blobs->items[blobs->count++] =
	    (struct blob){.name = event->name, .type = event->id, .time = event->time, .track = event->track};
	return number;
}

/* Counts a row. Returns the number of its blob, UINT32_MAX when there is no room. */
static uint32_t count_row(struct blobs *blobs, const struct tw_event *event, const struct tw_argument *bytes)
{
	uint64_t size = bytes ? bytes->size : 0;
	uint32_t number = find_blob(blobs, event);
	if (number == UINT32_MAX) {
		end_record(blobs);
		blobs->left_out++;
		return number;
	}
	if (blobs->open != number + 1) {
		end_record(blobs);
		blobs->items[number].parts++;
		blobs->expected = event->value;
	}
	blobs->items[number].size += size;
	blobs->expected -= size < blobs->expected ? size : blobs->expected;
	blobs->open = number + 1;
	if (!(event->flags & TW_FLAG_PARTIAL))
		end_record(blobs);
	return number;
}

static void free_blobs(struct blobs *blobs)
{
	free(blobs->items);
	tw_map_free(&blobs->map);
}

/* ---- The list. ---- */

static struct tw_shown type_of(const struct blob *blob)
{
	struct tw_shown shown = tw_show_id(blob->type);
	const char *name = tw_blob_type_name(blob->type);
	if (name)
		snprintf(shown.text, sizeof shown.text, "%s", name);
	return shown;
}

static void put_json(struct tw_output *out, const struct blobs *blobs, const struct tw_reader *reader)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	for (size_t i = 0; i < blobs->count; i++) {
		const struct blob *blob = &blobs->items[i];
		const struct tw_name *name = tw_dictionary_name(dictionary, blob->name);
		const struct tw_track *track = tw_dictionary_track(dictionary, blob->track);
		struct tw_json json = {.out = out};
		tw_json_object(&json, NULL);
		tw_json_bytes(&json, "name", name->text, name->length);
		tw_json_u64(&json, "type", blob->type);
		tw_json_text(&json, "type_name", tw_blob_type_name(blob->type));
		tw_json_u64(&json, "bytes", blob->size);
		tw_json_u64(&json, "missing_bytes", blob->missing);
		tw_json_u64(&json, "parts", blob->parts);
		tw_json_u64(&json, "time_ns", tw_since_start(reader, blob->time));
		tw_json_task(&json, "process", track->process);
		tw_json_task(&json, "thread", track->thread);
		tw_json_object_end(&json);
		tw_json_line_end(&json);
	}
}

static const struct tw_table_column columns[] = {
    {"BYTES", true}, {"MISSING", true}, {"PARTS", true}, {"TYPE", false},
    {"TIME", true},  {"THREAD", true},  {"NAME", false},
};

static int put_text(struct tw_screen *screen, const struct blobs *blobs, const struct tw_reader *reader)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	struct tw_table table = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
	for (size_t i = 0; i < blobs->count; i++) {
		const struct blob *blob = &blobs->items[i];
		const struct tw_track *track = tw_dictionary_track(dictionary, blob->track);
		tw_table_add(&table, tw_show_count(blob->size).text);
		tw_table_add(&table, blob->missing ? tw_show_count(blob->missing).text : "-");
		tw_table_add(&table, tw_show_count(blob->parts).text);
		tw_table_add(&table, type_of(blob).text);
		tw_table_add(&table, tw_show_duration(tw_since_start(reader, blob->time)).text);
		tw_table_add(&table, blob->track ? tw_show_task(track->thread).text : "-");
		const struct tw_name *name = tw_dictionary_name(dictionary, blob->name);
		if (name->length)
			tw_table_add_bytes(&table, name->text, name->length);
		else
			tw_table_add(&table, tw_show_name(""));
	}
	return blobs->count ? tw_table_put(&table, screen) : 0;
}

/* ---- The command. ---- */

struct blob_reading {
	const struct blobs_options *options;
	struct blobs blobs;
	struct tw_blob_folder folder;
	struct tw_screen screen;
	bool found; /* what is to be extracted */
};

/* Each returns 0 or TW_EXIT_FAILED, after which nothing more can be done. */
static int take_row(struct blob_reading *reading, const struct tw_dictionary *dictionary, const struct tw_event *event,
                    const struct tw_argument *arguments)
{
	const char *wanted = reading->options->extract;
	const struct tw_name *name = tw_dictionary_name(dictionary, event->name);
	const struct tw_argument *bytes = bytes_of(event, arguments);
	uint32_t blob = count_row(&reading->blobs, event, bytes);
	if (reading->options->folder && blob != UINT32_MAX)
		return tw_blob_folder_write(&reading->folder, blob, name, bytes);
	if (!wanted || strlen(wanted) != name->length || memcmp(wanted, name->text, name->length) != 0)
		return 0;
	reading->found = true;
	if (bytes)
		tw_put(&reading->screen.out, bytes->value.bytes, bytes->size);
	return 0;
}

static int read_blobs(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	(void)path;
	struct blob_reading *reading = walk->context;
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	struct tw_batch batch;
	const struct tw_request request = {.kinds = tw_kinds_beside_clock(reader, 1u << TW_BLOB)};
	int got, status = tw_begin(reader, TW_USE_EVENTS, &request);
	while (status == 0 && !reading->screen.out.error && (got = tw_read(reader, &batch)) != 0) {
		status = got < 0 ? got : 0;
		for (size_t i = 0; i < batch.count && status == 0; i++)
			if (batch.events[i].kind == TW_BLOB)
				status = take_row(reading, dictionary, &batch.events[i],
				                  tw_event_arguments(&batch, &batch.events[i]));
	}
	end_record(&reading->blobs);
	return status;
}

static int list_blobs(struct blob_reading *reading, const struct tw_reader *reader)
{
	int status = tw_screen_open_form(&reading->screen, &reading->options->common);
	if (status)
		return status;
	if (reading->options->common.forms.json)
		put_json(&reading->screen.out, &reading->blobs, reader);
	else
		status = put_text(&reading->screen, &reading->blobs, reader);
	return status;
}

static int show(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	(void)path;
	struct blob_reading *reading = walk->context;
	const struct blobs_options *options = reading->options;
	tw_say_left_out(reading->blobs.left_out, "part", " of other blobs");
	if (options->extract)
		return reading->found ? 0 : tw_say_error("no blob is called \"%s\"", options->extract);
	if (reading->blobs.count == 0)
		tw_say_none(&options->common, "blob");
	return options->folder ? 0 : list_blobs(reading, reader);
}

static int check_options(const struct blobs_options *options)
{
	if (options->extract && options->folder)
		return tw_say_usage(&tw_command_blobs, "only one of --extract and --extract-all");
	const struct tw_common *common = &options->common;
	if ((common->forms.json || common->forms.csv || common->forms.markdown) &&
	    (options->extract || options->folder))
		return tw_say_usage(&tw_command_blobs, "--json, --csv and --markdown are for the list");
	if (options->folder && options->common.output)
		return tw_say_usage(&tw_command_blobs, "--extract-all names its files itself");
	if (options->force && !options->folder)
		return tw_say_usage(&tw_command_blobs, "--force is for --extract-all");
	if (options->extract && tw_goes_to_terminal(options->common.output))
		return tw_say_usage(&tw_command_blobs, "bytes do not go to a terminal: -o FILE");
	return 0;
}

static int open_outputs(struct blob_reading *reading, const char *input)
{
	const struct blobs_options *options = reading->options;
	reading->folder = (struct tw_blob_folder){.path = options->folder, .force = options->force, .input = input};
	if (options->folder)
		return tw_blob_folder_open(&reading->folder);
	return options->extract ? tw_screen_open(&reading->screen, options->common.output) : 0;
}

/* Where the blob was not found no file appears. */
static int close_outputs(struct blob_reading *reading, int status)
{
	int closed = 0;
	if (reading->options->folder)
		closed = tw_blob_folder_close(&reading->folder, status != TW_EXIT_FAILED);
	else if (reading->options->extract && !reading->found)
		tw_screen_discard(&reading->screen);
	else
		closed = tw_screen_close(&reading->screen);
	return tw_worse(status, closed);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct blob_reading reading = {.options = (const struct blobs_options *)common};
	struct tw_walk walk = {
	    .common = common,
	    .options = {.order = TW_ORDER_FILE},
	    .context = &reading,
	    .read = read_blobs,
	    .show = show,
	};
	int status = check_options(reading.options);
	if (status == 0)
		status = open_outputs(&reading, operands[0]);
	if (status)
		return status;
	reading.blobs.limit = tw_memory_asked(common);
	status = close_outputs(&reading, tw_walk(&walk, operands, count));
	free_blobs(&reading.blobs);
	return status;
}

/* Bytes may have any name. */
static bool writes_bytes(const struct tw_common *common)
{
	const struct blobs_options *options = (const struct blobs_options *)common;
	return options->extract || options->folder;
}

#define MEMBER(name) .offset = offsetof(struct blobs_options, name)
static const struct tw_option own_options[] = {
    {"extract", 'x', TW_OPTION_TEXT, MEMBER(extract), .placeholder = "NAME", .may_be_empty = true,
     .help = "write the bytes of the blob of this name, to --output"},
    {"extract-all", 0, TW_OPTION_TEXT, MEMBER(folder), .placeholder = "FOLDER",
     .help = "write each blob to a file of its own; the folder is made where it is not there"},
    {"force", 0, TW_OPTION_FLAG, MEMBER(force), .help = "replace files that are there already"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Extraction", own_options), &tw_window_options, &tw_plain_input_options,
                     &tw_output_options);

const struct tw_command tw_command_blobs = {
    .name = "blobs",
    .summary = "what a trace carries as bytes, as a list or as files",
    .operands = "FILE",
    .description =
	"Lists the blobs of a trace by their names: records of one name are parts of one blob, one after the other. "
	"TYPE and TIME are those of the first; a record that has no time has that of the one before it, or of the part "
	"before it where that is later. MISSING are bytes that a record announces and the trace does not have.\n\n"
	"--extract-all names each file after its blob: what has a meaning in a path becomes \"_\", and blobs that "
	"would have one name get numbers: \"name\", \"name-2\". A part is in its file as soon as it was read; a run "
	"that is interrupted leaves files that are not complete. No blob is held in memory.",
    .examples = "trackway blobs trace.fxt\tThe list.\n"
		"trackway blobs --extract screenshot trace.fxt -o screenshot.png\tOne of them.\n"
		"trackway blobs --extract-all out trace.fxt\tAll of them.\n",
    .groups = groups,
    TW_FORMS_OF_TABLES,
    .names_freely = writes_bytes,
    .size = sizeof(struct blobs_options),
    .least = 1,
    .most = 1,
    .run = run,
};
