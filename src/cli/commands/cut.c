/* cut.c - trackway cut: a part of a trace, in its own format. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/walk.h"
#include "cli/files/writing.h"
#include "cli/output/message.h"
#include "cli/output/show.h"

struct cut_options {
	struct tw_common common;
	bool strict;
	struct tw_option_number from_address, to_address;
	const char *exception_level;
};

static const char *const level_words[] = {"EL0", "EL1", NULL};

static int cut(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	(void)path;
	struct tw_writing *writing = walk->context;
	writing->format = tw_reader_format(reader);
	if (tw_refuse_other_format(writing->output, writing->format))
		return TW_EXIT_FAILED;
	return tw_write_part(writing, reader);
}

static int show(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	return tw_written_put_json(walk->context, tw_reader_format(reader), tw_shown_path(path));
}

/* What chooses instructions of an xtrace. */
static void take_instructions(struct tw_common *common, const struct cut_options *options)
{
	common->xtrace.from_address = options->from_address.value;
	common->xtrace.to_address = options->to_address.value;
	if (options->exception_level)
		common->xtrace.levels = 1u << tw_word_place(level_words, options->exception_level);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct cut_options *options = (const struct cut_options *)common;
	struct tw_written written = {0};
	struct tw_writing writing = {.common = common, .strict = options->strict, .written = &written};
	int status = tw_choose_output(&writing, &tw_command_cut);
	if (status == 0)
		status = tw_refuse_two_outputs(common, &tw_command_cut);
	if (status)
		return status;
	take_instructions(common, options);
	const struct tw_xtrace_read_options *xtrace = &common->xtrace;
	bool by_snapshot = xtrace->from_snapshot || xtrace->to_snapshot;
	if (!common->filter.given)
		return tw_say_usage(&tw_command_cut, "cut wants a filter: --from-time, --to-time, --thread, ...");
	if (by_snapshot && (common->filter.from_time || common->filter.to_time))
		return tw_say_usage(&tw_command_cut, "a part is chosen by time or by snapshots, not by both");
	if (options->to_address.given && xtrace->to_address <= xtrace->from_address)
		return tw_say_usage(&tw_command_cut, "--to-address must be above --from-address");
	if (xtrace->to_snapshot && xtrace->to_snapshot <= xtrace->from_snapshot)
		return tw_say_usage(&tw_command_cut, "--to-snapshot is not behind --from-snapshot");
	struct tw_walk walk = {
	    .nameless = true,
	    .in_part = true,
	    .common = common,
	    .options = {.order = TW_ORDER_COPY},
	    .filter_slices = true,
	    .context = &writing,
	    .read = cut,
	    .show = common->forms.json ? show : NULL,
	};
	return tw_walk(&walk, operands, count);
}

static const struct tw_option own_options[] = {
    {"output", 'o', TW_OPTION_FILE, offsetof(struct tw_common, output), .placeholder = "FILE",
     .help = "where to write, in the format of the source whatever the name is; it appears when it is complete, and is "
             "compressed when it ends in .gz or .zst. - is standard output"},
    {"strict", 0, TW_OPTION_FLAG, offsetof(struct cut_options, strict),
     .help = "exit with 1 when something that passes the filters could not be kept"},
    {"json", 0, TW_OPTION_FLAG, offsetof(struct tw_common, forms.json),
     .help = "tell on standard output what was written and lost, as an object in JSON"},
};
static const struct tw_option snapshot_options[] = {
    {"from-snapshot", 0, TW_OPTION_COUNT, offsetof(struct tw_common, xtrace.from_snapshot), .placeholder = "N",
     .filters = true,
     .help = "begin at snapshot number N of each thread, the first being 0; for formats with snapshots (xtrace)"},
    {"to-snapshot", 0, TW_OPTION_COUNT, offsetof(struct tw_common, xtrace.to_snapshot), .placeholder = "N", .least = 1,
     .filters = true, .help = "end before snapshot number N"},
};
static const struct tw_option instruction_options[] = {
    {"exception-level", 0, TW_OPTION_CHOICE, offsetof(struct cut_options, exception_level), .words = level_words,
     .filters = true, .help = "only what programs execute, or only what the kernel does; for xtraces"},
    {"from-address", 0, TW_OPTION_NUMBER, offsetof(struct cut_options, from_address), .placeholder = "ADDRESS",
     .filters = true, .help = "only instructions at this address, \"0x400000\", and above; for xtraces"},
    {"to-address", 0, TW_OPTION_NUMBER, offsetof(struct cut_options, to_address), .placeholder = "ADDRESS", .least = 1,
     .filters = true, .help = "only instructions below this address"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Output", own_options), &tw_filter_options, TW_OPTIONS("Snapshots", snapshot_options),
                     TW_OPTIONS("Instructions", instruction_options), &tw_jobs_options, &tw_input_options);

const struct tw_command tw_command_cut = {
    .name = "cut",
    .summary = "a part of a trace, in its own format",
    .operands = "FILE -o OUT",
    .description =
	"Writes what passes the filters as a trace of the same format that stands alone: with the names and threads "
	"that it needs, and no others. What is of no thread, as blobs of FXT are and the objects that name processes, "
	"threads and others, of which arguments may tell, passes a filter by thread; these, logs and context switches "
	"pass one by name or category; FXT's objects, which have no time, pass one by time. What an argument points to "
	"keeps its name, whoever told it. --json tells how many events of each kind the part has. Calls that are going "
	"on at the edge of a time window begin and end there. Without a filter by time or duration the events stay in "
	"the order of the file.\n\n"
	"The trace is made anew from its events; what the format's records hold beside them (buffers, the tables' "
	"indices, words that extend records of FXT) is not that of the source. A TraceLog is cut line by line "
	"instead: all threads, modules, classes and functions stay, and with --function all samples too, because the "
	"time that a sample stands for counts from the one before. Of an xtrace the instructions stay that functions "
	"of the name execute themselves, without snapshots, which are of all. What could not be kept is counted on "
	"standard error.",
    .examples =
	"trackway cut --from-time 1.5s --to-time 2s big.fxt.zst -o moment.fxt\tHalf a second.\n"
	"trackway cut --from-snapshot 3 --to-snapshot 5 trace -o part\tTwo snapshots of an xtrace, and what follows "
	"each.\n"
	"trackway cut --function 'ext4_*' --kallsyms kallsyms trace -o part\tWhat functions of the kernel execute.\n"
	"trackway cut --category 'net*' --thread 1001 big.fxt -o net.fxt\tWhat one thread has to do with the net.\n",
    .groups = groups,
    .size = sizeof(struct cut_options),
    .least = 1,
    .most = 1,
    .run = run,
};
