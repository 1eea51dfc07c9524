/* repair.c - trackway repair: saves what can be saved of a damaged trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "cli/files/walk.h"
#include "cli/files/writing.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"

#include <trackway/writer.h>

#include <string.h>
#include <sys/stat.h>

struct file_repair {
	struct tw_rewrite_result result;
	struct tw_writing writing; /* with filters: what passes them is written as cut does */
	struct tw_written written;
};

/* ---- What was made is repaired again. ---- */

static bool is_file(const char *path)
{
	struct stat status;
	return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Whether there was anything that is not as it was. */
static bool has_mended(const struct tw_rewrite_result *result)
{
	return result->records_changed || result->records_dropped || result->lost_bytes || result->missing_bytes;
}

/* Repairs the output into another file. Returns 1 where it has errors that are mended there, 0 where not, or a negative
 * status, told. */
static int repair_output(const struct tw_common *common, const char *format, const char *to,
                         struct tw_rewrite_result *result)
{
	struct tw_read_options options = {.order = TW_ORDER_FILE};
	struct tw_reader *reader;
	tw_take_options(common, false, &options);
	options.format = format;
	int status = tw_open(&reader, common->output, &options);
	if (status >= 0)
		status = tw_repair(reader, to, result);
	if (status < 0)
		tw_say_failure(reader, status);
	else
		status = has_mended(result) && tw_reader_findings(reader, TW_ERROR) > 0;
	tw_close(reader);
	return status;
}

static void add_result(struct tw_rewrite_result *all, const struct tw_rewrite_result *more)
{
	all->records_out = more->records_out;
	all->records_changed += more->records_changed;
	all->records_dropped += more->records_dropped;
	all->lost_bytes += more->lost_bytes;
	all->missing_bytes += more->missing_bytes;
	all->bytes_out = more->bytes_out;
}

/* What a record is depends on what follows it where bytes are damaged. So the first repair, after which others follow,
 * may leave what the next can tell to be no record. Seldom there is any, and hardly ever for a third. */
static int repair_again(const struct tw_common *common, const char *format, struct tw_rewrite_result *result)
{
	enum { ROUNDS = 8 };
	struct tw_rewrite_result more;
	int status = 1;
	if (!has_mended(result) || !is_file(common->output))
		return 0;
	for (unsigned i = 0; i < ROUNDS && (status = repair_output(common, format, "/dev/null", &more)) > 0; i++) {
		status = repair_output(common, format, common->output, &more);
		if (status < 0)
			break;
		add_result(result, &more);
	}
	return status < 0 ? TW_EXIT_FAILED : 0;
}

/* ---- The trace. ---- */

static int read_and_repair(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct file_repair *repair = walk->context;
	(void)path;
	if (tw_refuse_other_format(walk->common->output, tw_reader_format(reader)))
		return TW_EXIT_FAILED;
	if (!tw_has_filters(walk->common) || !tw_can_repair(reader)) {
		int status = tw_repair(reader, walk->common->output, &repair->result);
		return status < 0 ? status : repair_again(walk->common, tw_reader_format(reader), &repair->result);
	}
	repair->writing.format = tw_reader_format(reader);
	return tw_write_part(&repair->writing, reader);
}

static int put_json(const struct tw_rewrite_result *result, const struct tw_common *common, const char *path)
{
	struct tw_screen screen = {0};
	struct tw_json json = {.out = &screen.out};
	if (tw_screen_open(&screen, NULL))
		return TW_EXIT_FAILED;
	tw_json_object(&json, NULL);
	tw_json_text(&json, "file", tw_shown_path(path));
	tw_json_text(&json, "output", common->output);
	tw_json_u64(&json, "records_in", result->records_in);
	tw_json_u64(&json, "records_out", result->records_out);
	tw_json_u64(&json, "records_changed", result->records_changed);
	tw_json_u64(&json, "records_dropped", result->records_dropped);
	tw_json_u64(&json, "lost_bytes", result->lost_bytes);
	tw_json_u64(&json, "missing_bytes", result->missing_bytes);
	tw_json_u64(&json, "bytes_out", result->bytes_out);
	tw_json_object_line_end(&json);
	return tw_screen_close(&screen);
}

/* On standard error: the repaired trace may be going to standard output. */
static int say_result(const struct tw_rewrite_result *result, const struct tw_common *common)
{
	tw_say("%s: %s written, %s read, %s", common->output, tw_show_plural(result->records_out, "record").text,
	       tw_show_count(result->records_in).text, tw_show_plural(result->bytes_out, "byte").text);
	if (result->records_changed)
		tw_say("%s: %s changed", common->output, tw_show_plural(result->records_changed, "record").text);
	if (result->records_dropped)
		tw_say("%s: %s left out", common->output, tw_show_plural(result->records_dropped, "record").text);
	if (result->lost_bytes)
		tw_say("%s: %s of the input could not be read", common->output,
		       tw_show_plural(result->lost_bytes, "byte").text);
	if (result->missing_bytes)
		tw_say("%s: at least %s of the trace missing from the input", common->output,
		       tw_show_plural(result->missing_bytes, "byte").text);
	return 0;
}

static int say_written(const struct tw_written *written, const struct tw_common *common)
{
	tw_say("%s: %s that %s the filters written, %s", common->output,
	       tw_show_plural(written->passed.events, written->records ? "record" : "event").text,
	       written->passed.events == 1 ? "passes" : "pass", tw_show_plural(written->bytes_out, "byte").text);
	if (written->passed.lost_bytes)
		tw_say("%s: %s of the input could not be read", common->output,
		       tw_show_plural(written->passed.lost_bytes, "byte").text);
	return 0;
}

static int show(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	const struct file_repair *repair = walk->context;
	bool json = walk->common->forms.json;
	if (tw_has_filters(walk->common))
		return json ? tw_written_put_json(&repair->writing, tw_reader_format(reader), tw_shown_path(path))
		            : say_written(&repair->written, walk->common);
	return json ? put_json(&repair->result, walk->common, path) : say_result(&repair->result, walk->common);
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	bool filters = tw_has_filters(common);
	struct file_repair repair = {
	    .writing = {.common = common, .output = common->output, .written = &repair.written}};
	struct tw_walk walk = {
	    .nameless = true,
	    .in_part = filters,
	    .common = common,
	    .options = {.order = filters ? TW_ORDER_COPY : TW_ORDER_FILE},
	    .filter_slices = true,
	    .context = &repair,
	    .read = read_and_repair,
	    .show = show,
	};
	if (!common->output)
		return tw_say_usage(&tw_command_repair, "repair wants -o FILE; - is standard output");
	if (tw_goes_to_terminal(common->output))
		return tw_say_usage(&tw_command_repair, "a trace does not go to a terminal: -o FILE, or a pipe");
	int status = tw_refuse_name(&tw_command_repair, common->output);
	status = status ? status : tw_refuse_two_outputs(common, &tw_command_repair);
	return status ? status : tw_walk(&walk, operands, count);
}

static const struct tw_option own_options[] = {
    {"output", 'o', TW_OPTION_FILE, offsetof(struct tw_common, output), .placeholder = "FILE",
     .help = "where to write; it appears when it is complete, and is compressed when it ends in .gz or .zst. "
             "- is standard output"},
    {"json", 0, TW_OPTION_FLAG, offsetof(struct tw_common, forms.json),
     .help = "tell on standard output what was saved, as an object in JSON"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Output", own_options), &tw_filter_options, &tw_jobs_options, &tw_input_options);

const struct tw_command tw_command_repair = {
    .name = "repair",
    .summary = "saves what can be saved of a damaged trace",
    .operands = "FILE -o OUT",
    .description =
	"Writes a trace anew from every record that can be trusted: sizes and counts are made right, unused bytes "
	"zero. What was lost is counted on standard error. The exit status is that of 'trackway check' for the "
	"trace: 1 when it has errors. The result has none: since damage may hide other damage, a file that "
	"was made is looked through once more, and repaired again where there is some; standard output is not.\n\n"
	"With filters only what passes them is saved, as 'trackway cut' writes it: with the names, threads and "
	"buffers that it needs, made anew.",
    .examples = "trackway repair crashed.xray -o saved.xray\tSaves what a crash left.\n"
		"trackway repair --thread 812 --from-time 2s crashed.xray -o last.xray\tThe end of a thread of it.\n",
    .groups = groups,
    .size = sizeof(struct tw_common),
    .least = 1,
    .most = 1,
    .run = run,
};
