/* writing.c - events of a reader to a trace, with what was lost on the way: convert, cut, merge. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/files/writing.h"

#include "base/bytes/compress.h"
#include "cli/files/nothing_passed.h"
#include "cli/options/output_form.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Losses. ---- */

/* On standard error: the trace may be going to standard output. */
static void say_loss(const char *output, const char *what, uint64_t approximated, uint64_t left_out)
{
	if (approximated)
		tw_say("%s: %s: %s kept in another form", output, what, tw_show_count(approximated).text);
	if (left_out)
		tw_say("%s: %s: %s left out", output, what, tw_show_count(left_out).text);
}

/* How the command ends after losses. */
static int exit_of(const struct tw_writing *writing, bool lost)
{
	if (!lost || !writing->strict)
		return 0;
	tw_say_error("%s: not all could be kept, and --strict was given", writing->output);
	return TW_EXIT_FINDINGS;
}

static int say_losses(const struct tw_writing *writing)
{
	const struct tw_written *written = writing->written;
	for (size_t i = 0; i < written->loss_count && !writing->common->forms.json; i++)
		say_loss(writing->output, written->losses[i].what, written->losses[i].approximated,
		         written->losses[i].left_out);
	return exit_of(writing, written->loss_count > 0);
}

static void keep_losses(struct tw_written *written, const struct tw_writer *writer)
{
	const struct tw_loss *loss;
	while ((loss = tw_writer_loss(writer, written->loss_count)))
		written->losses[written->loss_count++] = *loss;
	written->bytes_out = tw_writer_bytes(writer);
}

static void put_losses_json(struct tw_json *json, const struct tw_written *written)
{
	tw_json_array(json, "losses");
	for (size_t i = 0; i < written->loss_count; i++) {
		tw_json_object(json, NULL);
		tw_json_text(json, "what", written->losses[i].what);
		tw_json_u64(json, "approximated", written->losses[i].approximated);
		tw_json_u64(json, "left_out", written->losses[i].left_out);
		tw_json_object_end(json);
	}
	tw_json_array_end(json);
}

static void put_kinds_json(struct tw_json *json, const struct tw_written *written)
{
	tw_json_object(json, "kinds");
	for (unsigned i = 0; i < TW_EVENT_KINDS; i++)
		if (written->passed.kinds[i])
			tw_json_u64(json, tw_event_kind_name(i), written->passed.kinds[i]);
	tw_json_object_end(json);
}

void tw_written_put_fields(struct tw_json *json, const struct tw_writing *writing)
{
	const struct tw_written *written = writing->written;
	tw_json_text(json, "output", writing->output);
	tw_json_text(json, "to", writing->format);
	tw_json_u64(json, written->records ? "records" : "events", written->passed.events);
	if (written->passed.by_kind)
		put_kinds_json(json, written);
	tw_json_u64(json, "lost_bytes", written->passed.lost_bytes);
	tw_json_u64(json, "bytes_out", written->bytes_out);
	put_losses_json(json, written);
}

int tw_written_put_json(const struct tw_writing *writing, const char *from, const char *path)
{
	struct tw_screen screen = {0};
	struct tw_json json = {.out = &screen.out};
	if (tw_screen_open(&screen, NULL))
		return TW_EXIT_FAILED;
	tw_json_object(&json, NULL);
	tw_json_text(&json, "file", path);
	tw_json_text(&json, "format", from);
	tw_written_put_fields(&json, writing);
	tw_json_object_line_end(&json);
	return tw_screen_close(&screen);
}

int tw_refuse_two_outputs(const struct tw_common *common, const struct tw_command *command)
{
	const char *output = common->output ? common->output : "-";
	if (common->forms.json && strcmp(output, "-") == 0)
		return tw_say_usage(command, "--json and -o - would both write to standard output");
	return 0;
}

/* ---- Events. ---- */

/* Tells what became of the events. */
static int report_written(const struct tw_writing *writing, struct tw_writer *writer)
{
	const struct tw_copied *passed = &writing->written->passed;
	if (passed->by_kind)
		tw_say_passed(writing->common, passed->kinds);
	if (passed->written < 0)
		return tw_say_error("%s", tw_writer_error(writer));
	keep_losses(writing->written, writer);
	return say_losses(writing);
}

/* Whether the output becomes a file: not standard output, by whatever name, a pipe or a device. */
static bool becomes_file(const char *output)
{
	struct stat named, standard;
	if (strcmp(output, "-") == 0)
		return false;
	if (stat(output, &named) != 0)
		return true;
	bool same =
	    fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == named.st_dev && standard.st_ino == named.st_ino;
	return S_ISREG(named.st_mode) && !same;
}

/* Beside the output, where that is a file: OUT.functions. False when there is no memory. */
static bool add_functions_path(struct tw_text *path, const char *output)
{
	static const char ending[] = ".functions";
	return !becomes_file(output) ||
	       (tw_text_add(path, output, strlen(output)) && tw_text_add(path, ending, sizeof ending - 1));
}

int tw_write_events(const struct tw_writing *writing, struct tw_reader *reader)
{
	struct tw_writer *writer = NULL;
	struct tw_write_options options = writing->write;
	struct tw_text functions = {0};
	int status = TW_ERR_MEMORY;
	if (add_functions_path(&functions, writing->output)) {
		options.functions = functions.bytes;
		status = tw_create(&writer, writing->output, writing->format, &options);
	}
	if (status < 0) {
		status = tw_say_error("%s", writer ? tw_writer_error(writer) : tw_status_text(status));
	} else {
		status = tw_copy_events(reader, writer, tw_jobs(writing->common), &writing->written->passed);
		status = status < 0 ? status : report_written(writing, writer);
		if (status == 0 && writing->written->passed.events && strncmp(writing->format, "xray", 4) != 0)
			tw_say_numbers_in(writing->common, reader);
		if (status == 0 && writing->written->passed.events && strcmp(writing->format, "folded") != 0)
			tw_say_ticks_in(reader);
	}
	tw_discard(writer);
	tw_text_free(&functions);
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
	*writing->written = (struct tw_written){
	    .records = true,
	    .passed = {.events = result.records_out, .lost_bytes = result.lost_bytes},
	    .bytes_out = result.bytes_out,
	    .losses = {{"records", result.records_changed, result.records_dropped}},
	    .loss_count = result.records_changed || result.records_dropped,
	};
	return say_losses(writing);
}

int tw_refuse_other_format(const char *output, const char *format)
{
	const char *other = tw_writer_format_of(output);
	const size_t family = strcspn(format, "-"); /* "xray" */
	if (!other || strcmp(output, "-") == 0 || tw_name_ends_with(output, ".log") ||
	    strncmp(other, format, family) == 0)
		return 0;
	return tw_say_error("%s: the trace is %s and is written as such, not as %s (trackway convert does that)",
	                    tw_shown_path(output), format, other);
}

int tw_write_part(const struct tw_writing *writing, struct tw_reader *reader)
{
	return tw_writer_takes_events(writing->format) ? tw_write_events(writing, reader)
	                                               : tw_write_records(writing, reader);
}

/* ---- Where to. ---- */

static int refuse_terminal(const struct tw_command *command, const char *output)
{
	if (!tw_goes_to_terminal(output))
		return 0;
	return tw_say_usage(command, "a trace does not go to a terminal: -o FILE, or a pipe");
}

int tw_refuse_name(const struct tw_command *command, const char *output)
{
	static const char *const endings[] = {".svg", ".html", ".htm", ".md", ".csv", ".dot", ".db", ".sqlite"};
	const char *ending = tw_unwritten_ending(output);
	for (size_t i = 0; !ending && i < sizeof endings / sizeof *endings; i++)
		ending = tw_name_ends_with(output, endings[i]) ? endings[i] : NULL;
	if (!ending)
		return 0;
	return tw_say_usage(command, "%s: %s writes a trace in its own format, no %s", output, command->name, ending);
}

int tw_choose_output(struct tw_writing *writing, const struct tw_command *command)
{
	writing->output = writing->common->output;
	if (!writing->output)
		return tw_say_usage(command, "%s wants -o FILE; - is standard output", command->name);
	int status = tw_refuse_name(command, writing->output);
	return status ? status : refuse_terminal(command, writing->output);
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
