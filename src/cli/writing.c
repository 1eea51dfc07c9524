/* writing.c - events of a reader to a trace, with what was lost on the way: convert, cut, merge. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/writing.h"

#include "base/parallel.h"
#include "cli/message.h"
#include "cli/notes.h"
#include "cli/screen.h"
#include "cli/show.h"
#include "core/relay.h"

#include <stdlib.h>
#include <string.h>

/* ---- Losses. ---- */

void tw_say_loss(const char *output, const char *what, uint64_t approximated, uint64_t left_out)
{
	if (approximated)
		tw_say("%s: %s: %s kept in another form", output, what, tw_show_count(approximated).text);
	if (left_out)
		tw_say("%s: %s: %s left out", output, what, tw_show_count(left_out).text);
}

int tw_writing_exit(const struct tw_writing *writing, bool lost)
{
	if (!lost || !writing->strict)
		return 0;
	tw_say_error("%s: not all could be kept, and --strict was given", writing->output);
	return TW_EXIT_FINDINGS;
}

static int say_losses(const struct tw_writing *writing, const struct tw_writer *writer)
{
	const struct tw_loss *loss;
	size_t i = 0;
	for (; (loss = tw_writer_loss(writer, i)); i++)
		tw_say_loss(writing->output, loss->what, loss->approximated, loss->left_out);
	return tw_writing_exit(writing, i > 0);
}

/* ---- Events. ---- */

static int write_all(const struct tw_writing *writing, struct tw_reader *reader, struct tw_writer *writer)
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
		tw_say_nothing(writing->common, false);
	if (written >= 0)
		written = tw_finish(writer);
	return written < 0 ? tw_say_error("%s", tw_writer_error(writer)) : say_losses(writing, writer);
}

/* Beside the output: OUT.functions. NULL for standard output, and without memory. */
static char *functions_path(const char *output)
{
	static const char ending[] = ".functions";
	size_t length = strlen(output);
	char *path = strcmp(output, "-") == 0 ? NULL : malloc(length + sizeof ending);
	if (path) {
		memcpy(path, output, length);
		memcpy(path + length, ending, sizeof ending);
	}
	return path;
}

/* Reading in one thread, writing in another, where there are two; what is written is the same. */
static int write_relayed(const struct tw_writing *writing, struct tw_reader *reader, struct tw_writer *writer)
{
	unsigned jobs = tw_jobs(writing->common);
	struct tw_reader *relay;
	if ((jobs ? jobs : tw_processors()) < 2 || tw_open_relay(&relay, reader) < 0)
		return write_all(writing, reader, writer);
	int status = write_all(writing, relay, writer);
	tw_close(relay);
	return status;
}

int tw_write_events(const struct tw_writing *writing, struct tw_reader *reader)
{
	struct tw_writer *writer;
	struct tw_write_options options = writing->write;
	char *functions = functions_path(writing->output);
	options.functions = functions;
	int status = tw_create(&writer, writing->output, writing->format, &options);
	if (status < 0)
		status = tw_say_error("%s", writer ? tw_writer_error(writer) : tw_status_text(status));
	else
		status = write_relayed(writing, reader, writer);
	tw_discard(writer);
	free(functions);
	return status;
}

int tw_write_records(const struct tw_writing *writing, struct tw_reader *reader)
{
	struct tw_rewrite_result result;
	struct tw_write_options options = writing->write;
	options.format = writing->format;
	int status = tw_transcode(reader, writing->output, &options, &result);
	if (status < 0)
		return status;
	if (result.nothing_passed)
		tw_say_nothing(writing->common, false);
	tw_say_loss(writing->output, "records", result.records_changed, result.records_dropped);
	return tw_writing_exit(writing, result.records_changed || result.records_dropped);
}

/* ---- Where to. ---- */

static int refuse_terminal(const struct tw_command *command, const char *output)
{
	if (!tw_goes_to_terminal(output))
		return 0;
	return tw_say_usage(command, "a trace does not go to a terminal: -o FILE, or a pipe");
}

int tw_choose_output(struct tw_writing *writing, const struct tw_command *command)
{
	writing->output = writing->common->output;
	if (!writing->output)
		return tw_say_usage(command, "%s wants -o FILE; - is standard output", command->name);
	return refuse_terminal(command, writing->output);
}

int tw_choose_format(struct tw_writing *writing, const struct tw_command *command, const char *to)
{
	const char *output = writing->common->output;
	writing->output = output ? output : "-";
	writing->format = to;
	if (!output && !to)
		return tw_say_usage(command, "%s wants -o FILE, or --to FORMAT for standard output", command->name);
	if (!to)
		writing->format = tw_writer_format_of(output);
	if (!writing->format)
		return tw_say_usage(command, "%s: the name tells no format; --to FORMAT does", output);
	return refuse_terminal(command, output);
}
