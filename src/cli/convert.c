/* convert.c - trackway convert: writes a trace in another format, version or byte order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/message.h"
#include "cli/notes.h"
#include "cli/screen.h"
#include "cli/show.h"
#include "cli/walk.h"

#include <trackway/writer.h>

#include <string.h>

struct convert_options {
	struct tw_common common;
	const char *to, *byte_order;
	uint64_t version, buffer_size;
	bool strict;
};

struct convert_work {
	const struct convert_options *options;
	const char *format, *output;
	struct tw_write_options write;
};

static const char *const byte_orders[] = {
    [TW_BYTES_LITTLE - 1] = "little",
    [TW_BYTES_BIG - 1] = "big",
    [TW_BYTES_BIG_LSB - 1] = "big-lsb",
};

static const char *order_word(size_t i)
{
	return i < sizeof byte_orders / sizeof *byte_orders ? byte_orders[i] : NULL;
}

static enum tw_byte_order byte_order(const char *word)
{
	for (size_t i = 0; word && i < sizeof byte_orders / sizeof *byte_orders; i++)
		if (strcmp(word, byte_orders[i]) == 0)
			return (enum tw_byte_order)(i + 1);
	return TW_BYTES_AS_SOURCE;
}

/* ---- Losses, on standard error: the trace may be going to standard output. ---- */

static void say_loss(const char *output, const char *what, uint64_t approximated, uint64_t left_out)
{
	if (approximated)
		tw_say("%s: %s: %s kept in another form", output, what, tw_show_count(approximated).text);
	if (left_out)
		tw_say("%s: %s: %s left out", output, what, tw_show_count(left_out).text);
}

static int exit_of(const struct convert_work *work, bool lost)
{
	if (!lost || !work->options->strict)
		return 0;
	tw_say_error("%s: not all could be kept, and --strict was given", work->output);
	return TW_EXIT_FINDINGS;
}

static int say_losses(const struct convert_work *work, const struct tw_writer *writer)
{
	const struct tw_loss *loss;
	size_t i = 0;
	for (; (loss = tw_writer_loss(writer, i)); i++)
		say_loss(work->output, loss->what, loss->approximated, loss->left_out);
	return exit_of(work, i > 0);
}

/* ---- Record by record, or event by event. ---- */

static int transcode(const struct convert_work *work, struct tw_reader *reader)
{
	struct tw_rewrite_result result;
	int status = tw_transcode(reader, work->output, &work->write, &result);
	if (status < 0)
		return status;
	say_loss(work->output, "records", result.records_changed, result.records_dropped);
	return exit_of(work, result.records_changed || result.records_dropped);
}

/* Returns enum tw_exit or the reader's negative status. */
static int write_events(const struct convert_work *work, struct tw_reader *reader, struct tw_writer *writer)
{
	struct tw_batch batch;
	uint64_t events = 0;
	int status, written = 0;
	while ((status = tw_read(reader, &batch)) > 0 && written >= 0) {
		written = tw_write(writer, reader, &batch);
		events += batch.count;
	}
	if (status < 0)
		return status;
	if (events == 0)
		tw_say_nothing(&work->options->common, false);
	if (written >= 0)
		written = tw_finish(writer);
	return written < 0 ? tw_say_error("%s", tw_writer_error(writer)) : say_losses(work, writer);
}

static int convert_events(const struct convert_work *work, struct tw_reader *reader)
{
	struct tw_writer *writer;
	int status = tw_create(&writer, work->output, work->format, &work->write);
	if (status < 0)
		status = tw_say_error("%s", writer ? tw_writer_error(writer) : tw_status_text(status));
	else
		status = write_events(work, reader, writer);
	tw_discard(writer);
	return status;
}

static int convert(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	(void)path;
	const struct convert_work *work = walk->context;
	bool same = strcmp(tw_reader_format(reader), work->format) == 0;
	int status = TW_ERR_UNSUPPORTED;
	if (same && !tw_has_filters(walk->common) && !work->options->buffer_size)
		status = transcode(work, reader);
	return status == TW_ERR_UNSUPPORTED ? convert_events(work, reader) : status;
}

/* ---- The command. ---- */

static int choose_format(const struct convert_options *options, struct convert_work *work)
{
	const char *output = options->common.output;
	work->output = output ? output : "-";
	work->format = options->to;
	if (!output && !work->format)
		return tw_say_usage(&tw_command_convert, "convert wants -o FILE, or --to FORMAT for standard output");
	if (!work->format)
		work->format = tw_writer_format_of(output);
	if (!work->format)
		return tw_say_usage(&tw_command_convert, "%s: the name tells no format; --to FORMAT does", output);
	if (tw_goes_to_terminal(output))
		return tw_say_usage(&tw_command_convert, "a trace does not go to a terminal: -o FILE, or a pipe");
	return 0;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct convert_options *options = (const struct convert_options *)common;
	struct convert_work work = {
	    .options = options,
	    .write = {.version = options->version < UINT32_MAX ? (unsigned)options->version : UINT32_MAX,
	              .byte_order = byte_order(options->byte_order),
	              .buffer_size = options->buffer_size},
	};
	int status = choose_format(options, &work);
	if (status)
		return status;
	struct tw_walk walk = {
	    .common = common,
	    .options = {.order = tw_writer_order(work.format)},
	    .filter_slices = true,
	    .context = &work,
	    .read = convert,
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
     .help = "the version of the format to write; otherwise the newest, or that of the source in the same format"},
    {"byte-order", 0, TW_OPTION_CHOICE, offsetof(struct convert_options, byte_order), .choice = order_word,
     .help =
         "for formats with a choice; big-lsb: bit fields from the least significant bit, as LLVM reads them. Otherwise "
         "little, or that of the source where records are kept"},
    {"buffer-size", 0, TW_OPTION_SIZE, offsetof(struct convert_options, buffer_size), .placeholder = "SIZE",
     .least = 64,
     .help = "size of a thread's buffer, for formats that have them; otherwise 16K, or that of the source where "
             "records are kept"},
    {"strict", 0, TW_OPTION_FLAG, offsetof(struct convert_options, strict),
     .help = "exit with 1 when the target cannot hold all that is in the source"},
};
static const struct tw_option_group own_group = {"Output", own_options, sizeof own_options / sizeof *own_options};
static const struct tw_option_group *const groups[] = {&own_group,        &tw_filter_options, &tw_jobs_options,
                                                       &tw_input_options, &tw_help_options,   NULL};

const struct tw_command tw_command_convert = {
    .name = "convert",
    .summary = "to another format, version or byte order",
    .operands = "FILE -o OUT",
    .description =
	"Writes a trace in another format; chrome is the JSON that Perfetto's viewer and chrome://tracing open. In the "
	"same format, without filters and without --buffer-size, every record is kept, but for what --format-version and "
	"--byte-order ask for; bytes that mean nothing become 0. Otherwise the events are converted, and what is around them "
	"(buffers, wall times) is made anew.\n\n"
	"Events that the target cannot hold are counted on standard error, never dropped in silence.",
    .examples = "trackway convert -b ./server server.xray -o server.json\tFor https://ui.perfetto.dev.\n"
		"trackway convert --format-version 3 new.xray -o old.xray\tFor tools that know an older version.\n",
    .groups = groups,
    .size = sizeof(struct convert_options),
    .least = 1,
    .most = 1,
    .run = run,
};
