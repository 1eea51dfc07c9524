/* merge.c - trackway merge: several traces as one, in time order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/offsets.h"
#include "cli/files/single_read.h"
#include "cli/files/walk.h"
#include "cli/files/writing.h"
#include "cli/options/names.h"
#include "cli/options/parse.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"
#include "core/tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct merge_options {
	struct tw_common common;
	const char *to, *align;
	struct tw_list offsets, markers;
	bool strict, same_machine;
};

/* A trace, and what is found wrong in it. */
struct merge_input {
	char *path;
	char *folder; /* of a trace of several files: where they are; NULL */
	bool left_out;
	struct tw_findings findings;
};

struct merge_inputs {
	struct merge_input *items;
	size_t count;
	size_t last; /* the one that something was found wrong in last */
	size_t left_out;
};

static const char *const align_words[] = {
    [TW_ALIGN_FIRST] = "first", [TW_ALIGN_NONE] = "none", [TW_ALIGN_WALL] = "wall", NULL};

/* Returns 0, or TW_EXIT_FAILED after saying what is wrong. */
static int choose_alignment(const struct merge_options *options, struct tw_merge_options *how)
{
	const struct tw_list *markers = &options->markers;
	*how = (struct tw_merge_options){
	    .alignment = (enum tw_alignment)tw_word_place(align_words, options->align),
	    .same_machine = options->same_machine,
	};
	if (markers->count > TW_MERGE_MARKERS)
		return tw_say_usage(&tw_command_merge, "--marker: at most %d of them", TW_MERGE_MARKERS);
	if (markers->count && options->align)
		return tw_say_usage(&tw_command_merge, "--marker and --align are two ways of doing one thing");
	for (size_t i = 0; i < markers->count; i++) {
		how->alignment = TW_ALIGN_MARKERS;
		how->markers[i] = markers->items[i];
	}
	return 0;
}

/* ---- Findings, each with its file. ---- */

static bool is_of(const struct merge_inputs *inputs, size_t i, const struct tw_finding *finding)
{
	const char *folder = inputs->items[i].folder;
	size_t length = folder ? strlen(folder) : 0;
	if (folder)
		return strncmp(finding->file, folder, length) == 0 && finding->file[length] == '/';
	return strcmp(tw_shown_path(inputs->items[i].path), finding->file) == 0;
}

static void keep_finding(void *context, const struct tw_finding *finding)
{
	struct merge_inputs *inputs = context;
	if (!is_of(inputs, inputs->last, finding))
		inputs->last = 0;
	while (inputs->last + 1 < inputs->count && !is_of(inputs, inputs->last, finding))
		inputs->last++;
	tw_findings_add(&inputs->items[inputs->last].findings, finding);
}

static void leave_out(void *context, size_t source, const char *error)
{
	struct merge_inputs *inputs = context;
	inputs->items[source].left_out = true;
	inputs->left_out++;
	tw_say("left out: %s", error);
}

static int say_findings(struct merge_inputs *inputs)
{
	int status = 0;
	for (size_t i = 0; i < inputs->count; i++) {
		if (tw_say_findings(&inputs->items[i].findings, inputs->items[i].path))
			status = TW_EXIT_FAILED;
		tw_findings_clear(&inputs->items[i].findings);
	}
	return status;
}

/* ---- The command. ---- */

/* What markers did to the clocks. */
static void say_shifts(const struct tw_reader *reader, const struct tw_merge_options *how,
                       const struct merge_inputs *inputs)
{
	for (size_t i = 1; how->alignment == TW_ALIGN_MARKERS && i < inputs->count; i++) {
		struct tw_merge_shift shift;
		if (inputs->items[i].left_out)
			continue;
		tw_merged_shift(reader, i, &shift);
		uint64_t size = shift.shift_ns < 0 ? -(uint64_t)shift.shift_ns : (uint64_t)shift.shift_ns;
		struct tw_shown by = tw_show_change(shift.shift_ns, tw_show_duration(size));
		if (how->markers[1])
			tw_say("%s: moved by %s, drift %+.3f ppm", tw_shown_path(inputs->items[i].path), by.text,
			       (1 / shift.scale - 1) * 1e6);
		else
			tw_say("%s: moved by %s", tw_shown_path(inputs->items[i].path), by.text);
	}
}

/* What became of numbers that several traces have. */
static void say_shared(const struct tw_reader *reader, const struct tw_merge_options *how)
{
	struct tw_merge_shared shared;
	tw_merged_shared(reader, &shared);
	if (shared.processes + shared.threads + shared.cpus == 0)
		return;
	tw_say("numbers that several files use, %s of processes, %s of threads, %s of CPUs, are %s",
	       tw_show_count(shared.processes).text, tw_show_count(shared.threads).text,
	       tw_show_count(shared.cpus).text,
	       how->same_machine ? "taken as those of one machine"
	                         : "kept apart, the later ones under others (--same-machine joins them)");
}

static void put_json_shared(struct tw_json *json, const struct tw_reader *reader)
{
	struct tw_merge_shared shared;
	tw_merged_shared(reader, &shared);
	tw_json_object(json, "shared_numbers");
	tw_json_u64(json, "processes", shared.processes);
	tw_json_u64(json, "threads", shared.threads);
	tw_json_u64(json, "cpus", shared.cpus);
	tw_json_object_end(json);
}

/* What was written, and how the clock of each trace was changed to it. */
static int put_json(const struct tw_writing *writing, const struct tw_reader *reader, const struct merge_inputs *inputs)
{
	struct tw_screen screen = {0};
	struct tw_json json = {.out = &screen.out};
	if (tw_screen_open(&screen, NULL))
		return TW_EXIT_FAILED;
	tw_json_object(&json, NULL);
	tw_json_array(&json, "files");
	for (size_t i = 0; i < inputs->count; i++) {
		struct tw_merge_shift shift;
		tw_merged_shift(reader, i, &shift);
		tw_json_object(&json, NULL);
		tw_json_text(&json, "file", tw_shown_path(inputs->items[i].path));
		tw_json_i64(&json, "shift_ns", shift.shift_ns);
		tw_json_u64(&json, "pivot_ns", shift.pivot_ns);
		tw_json_double(&json, "scale", shift.scale);
		if (inputs->items[i].left_out)
			tw_json_bool(&json, "left_out", true);
		tw_json_object_end(&json);
	}
	tw_json_array_end(&json);
	put_json_shared(&json, reader);
	tw_written_put_fields(&json, writing);
	tw_json_object_line_end(&json);
	return tw_screen_close(&screen);
}

/* Says what was written and how clocks were changed: as JSON on standard output, or for people, on standard error. */
static int report(const struct tw_merge_options *how, const struct tw_writing *writing, const struct tw_reader *reader,
                  const struct merge_inputs *inputs)
{
	if (writing->common->forms.json)
		return put_json(writing, reader, inputs);
	say_shifts(reader, how, inputs);
	say_shared(reader, how);
	return 0;
}

static int merge(const struct tw_merge_options *how, const struct tw_writing *writing,
                 const struct tw_merge_source *sources, struct merge_inputs *inputs)
{
	struct tw_read_options read = {.on_finding = keep_finding,
	                               .finding_context = inputs,
	                               .thread_cost = tw_writer_thread_cost(writing->format)};
	struct tw_name_sources names = {0};
	struct tw_who who = {0};
	struct tw_reader *reader = NULL;
	int status = 0;
	tw_take_options(writing->common, true, &read);
	for (size_t i = 0; i < inputs->count && status == 0; i++)
		status = tw_who_choose(&who, writing->common, inputs->items[i].path, inputs->count > 1, &read);
	for (size_t i = 0; i < inputs->count; i++)
		tw_names_want(&names, writing->common, sources[i].path);
	status = status ? status : tw_names_open(&names, writing->common, &read);
	if (status == 0) {
		status = tw_open_merged(&reader, sources, inputs->count, how, &read);
		if (status >= 0)
			status = tw_write_events(writing, reader);
		if (status >= 0 && status != TW_EXIT_FAILED && report(how, writing, reader, inputs))
			status = TW_EXIT_FAILED;
		int said = say_findings(inputs);
		if (status < 0)
			status = tw_say_failure(reader, status);
		else if (status == 0 && (inputs->left_out || tw_reader_findings(reader, TW_ERROR)))
			status = TW_EXIT_FINDINGS;
		status = said ? said : status;
	}
	tw_close(reader);
	tw_names_close(&names);
	tw_who_free(&who);
	return status;
}

/* Refuses a pipe that is named twice: what it holds can be read only once. */
static int refuse_twice(char **operands, size_t count)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += strcmp(operands[i], "-") == 0;
	if (found > 1 && lseek(STDIN_FILENO, 0, SEEK_CUR) < 0)
		return tw_say_usage(&tw_command_merge, "standard input is a pipe: it can be one of the files, no more");
	return 0;
}

/* Returns 0, or TW_EXIT_FAILED after saying that there is no memory. */
static int find_folders(struct merge_input *inputs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tw_trace_place(inputs[i].path, &inputs[i].folder) < 0)
			return tw_say_error("out of memory");
	return 0;
}

static int run_with(const struct merge_options *options, struct tw_writing *writing, struct tw_merge_source *sources,
                    struct merge_inputs *inputs, char **operands)
{
	for (size_t i = 0; i < inputs->count; i++) {
		sources[i].path = inputs->items[i].path = operands[i];
		inputs->items[i].findings.limit = TW_FINDINGS_SHOWN;
	}
	struct tw_merge_options how;
	int status = refuse_twice(operands, inputs->count);
	status = status ? status : tw_take_offsets(&tw_command_merge, sources, inputs->count, &options->offsets);
	status = status ? status : choose_alignment(options, &how);
	status = status ? status : find_folders(inputs->items, inputs->count);
	how.on_left_out = inputs->count > 1 ? leave_out : NULL;
	how.context = inputs;
	return status ? status : merge(&how, writing, sources, inputs);
}

static const char *const target_words[] = {"fxt", "chrome", "perfetto", NULL};

/* The ending of the output's name may stand for a format that merge does not write. */
static int refuse_format(const char *format)
{
	for (size_t i = 0; target_words[i]; i++)
		if (strcmp(target_words[i], format) == 0)
			return 0;
	return tw_say_usage(&tw_command_merge, "merge does not write %s, only fxt, chrome and perfetto", format);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct merge_options *options = (const struct merge_options *)common;
	struct tw_written written = {0};
	struct tw_writing writing = {.common = common, .strict = options->strict, .written = &written};
	int status = tw_refuse_two_outputs(common, &tw_command_merge);
	if (!status)
		status = tw_choose_format(&writing, &tw_command_merge, options->to);
	if (!status)
		status = refuse_format(writing.format);
	if (status)
		return status;
	count = tw_drop_same_traces(common, operands, count);
	struct merge_inputs inputs = {.items = calloc(count, sizeof *inputs.items), .count = count};
	struct tw_merge_source *sources = calloc(count, sizeof *sources);
	if (inputs.items && sources)
		status = run_with(options, &writing, sources, &inputs, operands);
	else
		status = tw_say_error("out of memory");
	for (size_t i = 0; inputs.items && i < count; i++)
		free(inputs.items[i].folder);
	free(inputs.items);
	free(sources);
	return status;
}

static const struct tw_option own_options[] = {
    {"output", 'o', TW_OPTION_FILE, offsetof(struct tw_common, output), .placeholder = "FILE",
     .help = "where to write; the ending of the name tells the format, and .gz or .zst behind it the compression. "
             "- is standard output"},
    {"to", 0, TW_OPTION_CHOICE, offsetof(struct merge_options, to), .words = target_words,
     .help = "the format to write"},
    {"align", 0, TW_OPTION_CHOICE, offsetof(struct merge_options, align), .words = align_words,
     .help =
         "first: each trace begins at 0, the default; none: the traces have one clock, and times stay; wall: by the "
         "wall time that each must tell"},
    {"marker", 0, TW_OPTION_LIST, offsetof(struct merge_options, markers), .placeholder = "NAME",
     .help = "an event that is in all traces and happened once: its first time in each is brought to that in the first "
             "trace; a second one corrects clocks that drift, too"},
    {"offset", 0, TW_OPTION_LIST, offsetof(struct merge_options, offsets), .placeholder = "FILE=TIME",
     .help = "this trace begins so much later, \"b.fxt=1.5ms\", or earlier, \"b.fxt=-2s\"; may be repeated. Of a file "
             "that is there twice, the first"},
    {"same-machine", 0, TW_OPTION_FLAG, offsetof(struct merge_options, same_machine),
     .help = "the files are of one machine: processes, CPUs, and threads of FXT archives that have the same number are "
             "the same"},
    {"strict", 0, TW_OPTION_FLAG, offsetof(struct merge_options, strict),
     .help = "exit with 1 when the target cannot hold all that is in the sources"},
    {"json", 0, TW_OPTION_FLAG, offsetof(struct tw_common, forms.json),
     .help = "tell on standard output what was written and lost, and how clocks were changed, as an object in JSON"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Output", own_options), &tw_filter_options, &tw_jobs_options, &tw_input_options);

const struct tw_command tw_command_merge = {
    .name = "merge",
    .summary = "several traces of any formats as one, in time order",
    .operands = "FILE... -o OUT",
    .description =
	"Writes the events of all files as one trace, in the order of time. The clocks of traces have nothing to do "
	"with each other, as a rule: each begins at 0 unless --align none says that they are one clock, --align wall "
	"takes the time of day that FXT archives with the longer initialization record, TraceLogs with a time zone "
	"and logs of the flight recorder tell, or the time since the system began that LLVM's XRay logs with wall time "
	"records tell, or --marker names an "
	"event that they share; how far clocks were moved by it, and how much faster they ran, is told. --offset moves "
	"one more.\n\n"
	"A process keeps its number, unless another one came before with that number: then it gets 1,000,000 more, or "
	"another where that is taken. So does a thread of an FXT archive, which is known by its number alone, and of "
	"scheduling a CPU (1,000 more): the files are taken to be of several machines. With --same-machine what has "
	"one number is one. Which it was is told. Strings are shared, and with them the provider of an FXT archive: "
	"there is one. Filters hold for the whole. What is written knows a function by its name: those of one name, of "
	"two programs, are one row of 'stat' of it, and stay two where 'stat' reads the files themselves.\n\n"
	"There may be any number of files. More than 256, or half as many as ulimit -n says, are read one after the "
	"other, and their events wait in a temporary file ($TMPDIR, or /tmp), with about 60 bytes for each. Names, "
	"threads and stacks of all of them together have a sixth of the memory limit: beyond that, which is told, new "
	"names are \"(other)\" and new threads one.\n\n"
	"A file that is empty, or no trace at all, as what is left of a program that was killed before it had written "
	"anything, and one that may not be read, is told and left out.",
    .exit_status =
	"0 when all was written; 1 when it was, and something is wrong in a file, or one was left out, or --strict "
	"does not hold; 2 for wrong use, when a file is missing, when none is a trace, or when the output cannot be "
	"written.",
    .examples =
	"trackway merge client.xray server.fxt -o both.json\tTwo programs in one picture.\n"
	"trackway merge --align none --same-machine part1.fxt part2.fxt -o all.fxt\tTwo parts of one recording.\n",
    .groups = groups,
    .size = sizeof(struct merge_options),
    .least = 1,
    .run = run,
};
