/* convert.c - trackway convert: writes a trace in another format, version or byte order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/output_overwrite.h"
#include "cli/files/walk.h"
#include "cli/files/writing.h"
#include "cli/load/source.h"
#include "cli/options/output_form.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "core/tool.h"

#include <trackway/tracelog.h>

#include <string.h>

struct convert_options {
	struct tw_common common;
	const char *to, *byte_order, *dialect;
	uint64_t version, buffer_size;
	bool strict, csv_safe;
};

struct conversion {
	const struct convert_options *options;
	struct tw_writing writing;
	struct tw_written written;
};

static const char *const byte_orders[] = {
    [TW_BYTES_LITTLE - 1] = "little",
    [TW_BYTES_BIG - 1] = "big",
    [TW_BYTES_BIG_LSB - 1] = "big-lsb",
    NULL,
};

static const char *dialect_word(size_t i)
{
	return i < TW_TRACELOG_DIALECTS ? tw_tracelog_dialect_name((unsigned)i) : NULL;
}

static enum tw_byte_order byte_order(const char *word)
{
	return word ? (enum tw_byte_order)(tw_word_place(byte_orders, word) + 1) : TW_BYTES_AS_SOURCE;
}

/* For a database: what the trace is known by. */
static int write_rows(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct tw_writing *writing = &((struct conversion *)walk->context)->writing;
	struct tw_source_facts facts = {0};
	int status = tw_source_find(&facts, path, &walk->findings);
	writing->write.clickhouse = &facts.options;
	status = status ? status : tw_write_events(writing, reader);
	writing->write.clickhouse = NULL;
	return status;
}

static int convert(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	const struct conversion *conversion = walk->context;
	const char *format = conversion->writing.format;
	bool all = !tw_has_filters(walk->common) && !conversion->options->buffer_size;
	int status = TW_ERR_UNSUPPORTED;
	if (strcmp(format, "clickhouse") == 0)
		return write_rows(walk, reader, path);
	if (tw_writer_source(format))
		return tw_write_records(&conversion->writing, reader);
	if (strcmp(tw_reader_format(reader), format) == 0 && (all || !tw_writer_takes_events(format)))
		status = tw_write_records(&conversion->writing, reader);
	return status == TW_ERR_UNSUPPORTED ? tw_write_events(&conversion->writing, reader) : status;
}

static int show(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	const struct conversion *conversion = walk->context;
	return tw_written_put_json(&conversion->writing, tw_reader_format(reader), tw_shown_path(path));
}

/* ---- The command. ---- */

/* Only TraceLog has dialects. */
static const char *format_asked_for(const struct convert_options *options)
{
	const char *output = options->common.output;
	bool has_target = options->to || (output && tw_writer_format_of(output));
	return options->dialect && !has_target ? "tracelog" : options->to;
}

/* What the target has no choice of would be asked for in vain. */
static int refuse_choices(const struct convert_options *options, const char *format)
{
	const struct {
		bool given;
		unsigned choice;
		const char *option, *why;
	} choices[] = {
	    {options->version > 0, TW_CHOOSES_VERSION, "format-version", "has no versions"},
	    {options->byte_order != NULL, TW_CHOOSES_BYTE_ORDER, "byte-order", "has no choice of it"},
	    {options->buffer_size > 0, TW_CHOOSES_BUFFER_SIZE, "buffer-size", "has no buffers"},
	    {options->csv_safe, TW_CHOOSES_CSV_SAFE, "csv-safe", "is no CSV"},
	};
	for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
		if (choices[i].given && !(tw_writer_choices(format) & choices[i].choice))
			return tw_say_usage(&tw_command_convert, "--%s: %s %s", choices[i].option, format,
			                    choices[i].why);
	return 0;
}

static int refuse_options(const struct convert_options *options, const char *format)
{
	if (options->common.weight && strcmp(format, "folded") != 0)
		return tw_say_usage(&tw_command_convert, "--weight is for folded stacks");
	if (options->dialect && strcmp(format, "tracelog") != 0)
		return tw_say_usage(&tw_command_convert, "--dialect is for TraceLog, not for %s", format);
	return refuse_choices(options, format);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct convert_options *options = (const struct convert_options *)common;
	struct conversion conversion = {
	    .options = options,
	    .writing = {.common = common,
	                .strict = options->strict,
	                .write = {.version = options->version < UINT32_MAX ? (unsigned)options->version : UINT32_MAX,
	                          .byte_order = byte_order(options->byte_order),
	                          .buffer_size = options->buffer_size,
	                          .weight = common->weight,
	                          .dialect = options->dialect,
	                          .csv_safe = options->csv_safe}},
	};
	int status = tw_choose_format(&conversion.writing, &tw_command_convert, format_asked_for(options));
	if (status == 0)
		status = refuse_options(options, conversion.writing.format);
	if (status == 0)
		status = tw_refuse_two_outputs(common, &tw_command_convert);
	if (status == 0)
		status = tw_refuse_overwrite_beside(&tw_command_convert, common, operands, count,
		                                    tw_writer_beside(conversion.writing.format));
	conversion.writing.written = &conversion.written;
	if (status)
		return status;
	struct tw_walk walk = {
	    .common = common,
	    .options = {.order = tw_writer_order(conversion.writing.format),
	                .names_ahead = true,
	                .thread_cost = tw_writer_thread_cost(conversion.writing.format)},
	    .filter_slices = true,
	    .context = &conversion,
	    .read = convert,
	    .show = common->forms.json ? show : NULL,
	};
	return tw_walk(&walk, operands, count);
}

static const struct tw_option own_options[] = {
    {"output", 'o', TW_OPTION_FILE, offsetof(struct tw_common, output), .placeholder = "FILE",
     .help = "where to write; the ending of the name tells the format, and .gz or .zst behind it the compression. "
             "- is standard output"},
    {"to", 0, TW_OPTION_CHOICE, offsetof(struct convert_options, to), .choice = tw_writer_format_name,
     .help = "the format to write"},
    {"format-version", 0, TW_OPTION_COUNT, offsetof(struct convert_options, version), .placeholder = "N", .least = 1,
     .help = "the version of the format to write, for formats with versions; otherwise the newest, or that of the "
             "source in the same format"},
    {"byte-order", 0, TW_OPTION_CHOICE, offsetof(struct convert_options, byte_order), .words = byte_orders,
     .help =
         "for formats with a choice; big-lsb: in XRay logs bit fields from the least significant bit, as LLVM reads "
         "them, else as big. Otherwise little, or that of the source where records are kept"},
    {"dialect", 0, TW_OPTION_CHOICE, offsetof(struct convert_options, dialect), .choice = dialect_word,
     .help = "of TraceLog, from TraceLog: d0 early 2017, d1 2017 to 2018, d2 as the format is documented, d3 2018 and "
             "later; otherwise that of the source. It means --to tracelog"},
    {"buffer-size", 0, TW_OPTION_SIZE, offsetof(struct convert_options, buffer_size), .placeholder = "SIZE",
     .least = 64,
     .help = "size of a thread's buffer, for formats that have them; otherwise 16K, or that of the source where "
             "records are kept"},
    TW_OPTION_CSV_SAFE(offsetof(struct convert_options, csv_safe)),
    {"strict", 0, TW_OPTION_FLAG, offsetof(struct convert_options, strict),
     .help = "exit with 1 when the target cannot hold all that is in the source"},
    {"json", 0, TW_OPTION_FLAG, offsetof(struct tw_common, forms.json),
     .help = "tell on standard output what was written and lost, as an object in JSON"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Output", own_options), &tw_weight_options, &tw_filter_options, &tw_jobs_options,
                     &tw_input_options);

const struct tw_command tw_command_convert = {
    .name = "convert",
    .summary = "to another format, version or byte order",
    .operands = "FILE -o OUT",
    .description =
	"Writes a trace in another format. chrome and perfetto are what Perfetto's viewer opens; speedscope, firefox, "
	"pprof, callgrind and folded (flamegraph.pl) are for the tools of these names; csv and jsonl are a row for "
	"each event; ctf is a directory for babeltrace2; clickhouse is a tar archive of tables (trackway load takes "
	"traces to a server). --weight is for folded alone. champsim and tarmac are the "
	"instructions of one thread of an xtrace, for simulators and the tools of Arm's models.\n\n"
	"In the same format, without filters and without --buffer-size, every record is kept, but for what "
	"--format-version and --byte-order ask for; bytes that mean nothing may become 0. Otherwise the events are "
	"converted, and what is around them (buffers, wall times) is made anew.\n\n"
	"Names that have no function id, as those of FXT, get one in an XRay log, from 1 on; beside a file "
	"OUT.functions tells them: a line each, the id, a tab, the name.\n\n"
	"Events that the target cannot hold are counted on standard error, never dropped in silence.",
    .examples =
	"trackway convert -b ./server server.xray -o server.json\tFor https://ui.perfetto.dev.\n"
	"trackway convert app.fxt -o app.pftrace\tThe same, with all that its viewer can show.\n"
	"trackway convert --to pprof app.fxt -o app.pb.gz\tFor go tool pprof.\n"
	"trackway convert --format-version 3 new.xray -o old.xray\tFor tools that know an older version.\n"
	"trackway convert -t 812 trace -o - --to champsim | xz >t.champsimtrace.xz\tA thread, for ChampSim.\n"
	"trackway convert --dialect d3 old.log -o new.log\tA log of 2017 as CoreProfiler writes it since 2018.\n",
    .groups = groups,
    .size = sizeof(struct convert_options),
    .least = 1,
    .most = 1,
    .run = run,
};
