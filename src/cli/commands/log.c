/* log.c - trackway log: the log records of a trace, in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "cli/files/follow.h"
#include "cli/files/nothing_passed.h"
#include "cli/files/walk.h"
#include "cli/output/message.h"
#include "cli/output/screen.h"
#include "cli/output/show.h"
#include "core/tool.h"

#include <string.h>

struct log_options {
	struct tw_common common;
	bool follow;
};

/* Where records go. */
struct log_listing {
	struct tw_screen screen;
	uint64_t behind; /* records before this offset have been shown */
};

static const char indent[] = "    ";

/* A log record on its way to a line. */
struct log_entry {
	uint64_t time, severity, offset;
	const struct tw_track *track;
	const struct tw_name *process, *thread;
	const char *message;
	size_t length;
};

static struct log_entry entry_of(const struct tw_reader *reader, const struct tw_event *event,
                                 const struct tw_argument *arguments)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	const struct tw_track *track = tw_dictionary_track(dictionary, event->track);
	bool any = event->argument_count && (arguments->type == TW_ARG_TEXT || arguments->type == TW_ARG_BYTES);
	return (struct log_entry){
	    .time = tw_since_start(reader, event->time),
	    .severity = event->value,
	    .offset = event->offset,
	    .track = track,
	    .process = tw_dictionary_process_name(dictionary, track->process),
	    .thread = tw_dictionary_name(dictionary, track->name),
	    .message = any ? (const char *)arguments->value.bytes : "",
	    .length = any ? (size_t)arguments->size : 0,
	};
}

/* "name[17]", or "17" where there is no name. */
static void put_who(struct tw_output *out, const struct tw_name *name, uint64_t id)
{
	tw_put_safe(out, name->text, name->length);
	if (name->length)
		tw_put_char(out, '[');
	tw_put_task(out, id);
	if (name->length)
		tw_put_char(out, ']');
}

static void put_text(struct tw_screen *screen, const struct log_entry *entry)
{
	struct tw_output *out = &screen->out;
	const char *line = entry->message, *end = line + entry->length;
	tw_put_seconds(out, entry->time);
	tw_put_text(out, "  ");
	put_who(out, entry->process, entry->track->process);
	tw_put_char(out, '/');
	put_who(out, entry->thread, entry->track->thread);
	tw_put_text(out, entry->length ? ": " : ":");
	while (end > line && end[-1] == '\n')
		end--;
	for (const char *next; (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1) {
		tw_put_safe(out, line, (size_t)(next - line));
		tw_put_char(out, '\n');
		tw_put_text(out, indent);
	}
	tw_put_safe(out, line, (size_t)(end - line));
	tw_put_char(out, '\n');
}

/* null where there is none. */
static void put_name(struct tw_json *json, const char *key, const struct tw_name *name)
{
	if (name->length)
		tw_json_bytes(json, key, name->text, name->length);
	else
		tw_json_text(json, key, NULL);
}

static void put_json(struct tw_screen *screen, const struct log_entry *entry)
{
	struct tw_json json = {.out = &screen->out};
	tw_json_object(&json, NULL);
	tw_json_u64(&json, "time_ns", entry->time);
	tw_json_u64(&json, "offset", entry->offset);
	tw_json_u64(&json, "severity", entry->severity);
	tw_json_task(&json, "process", entry->track->process);
	tw_json_task(&json, "thread", entry->track->thread);
	put_name(&json, "process_name", entry->process);
	put_name(&json, "thread_name", entry->thread);
	tw_json_bytes(&json, "message", entry->message, entry->length);
	tw_json_object_line_end(&json);
}

/* Stops at once when the listing can no longer be written, for its reader may be gone. */
static int read_log(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	(void)path;
	struct log_listing *listing = walk->context;
	struct tw_screen *screen = &listing->screen;
	uint64_t behind = listing->behind;
	void (*put)(struct tw_screen *, const struct log_entry *) = walk->common->forms.json ? put_json : put_text;
	const struct tw_request request = {.kinds = tw_kinds_beside_clock(reader, 1u << TW_LOG)};
	struct tw_batch batch;
	bool any = false;
	int got, status = tw_screen_open_form(screen, walk->common);
	if (status)
		return status;
	status = tw_begin(reader, TW_USE_EVENTS, &request);
	if (status < 0)
		return status;
	while ((got = tw_read(reader, &batch)) > 0 && !screen->out.error)
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_event *event = &batch.events[i];
			if (event->kind != TW_LOG || event->offset < behind)
				continue;
			if (event->offset >= listing->behind)
				listing->behind = event->offset + 1;
			const struct log_entry entry = entry_of(reader, event, tw_event_arguments(&batch, event));
			put(screen, &entry);
			any = true;
		}
	if (got == 0 && !any && !behind)
		tw_say_none(walk->common, "log record");
	return got < 0 ? got : 0;
}

static int list(struct log_listing *listing, const struct tw_common *common, char **paths)
{
	struct tw_walk walk = {
	    .common = common,
	    .options = {.order = TW_ORDER_TIME},
	    .quiet = tw_goes_to_terminal(common->output),
	    .context = listing,
	    .read = read_log,
	};
	return tw_walk(&walk, paths, 1);
}

struct log_following {
	struct log_listing *listing;
	const struct tw_common *common;
};

/* Lists what has come since the pass before. */
static int list_more(void *context, char **paths, bool last)
{
	const struct log_following *following = context;
	(void)last;
	int status = list(following->listing, following->common, paths);
	if (following->listing->screen.open)
		tw_output_flush(&following->listing->screen.out);
	return following->listing->screen.out.error ? TW_EXIT_FAILED : status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct log_options *options = (const struct log_options *)common;
	struct log_listing listing = {0};
	struct log_following following = {&listing, common};
	(void)count;
	if (options->follow && common->forms.from_rows)
		return tw_say_usage(&tw_command_log,
		                    "--follow shows records as they come, a table waits for all of them");
	int status = options->follow ? tw_follow(operands[0], list_more, &following) : list(&listing, common, operands);
	return tw_screen_end(&listing.screen, status);
}

static const struct tw_option own_options[] = {
    {"follow", 'F', TW_OPTION_FLAG, offsetof(struct log_options, follow),
     .help = "show what has come, and what comes: of a pipe until it ends, of a file until this is interrupted"},
};

static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Records", own_options), &tw_window_options, &tw_plain_input_options,
                     &tw_output_options);

const struct tw_command tw_command_log = {
    .name = "log",
    .summary = "the log records, in the order of time",
    .operands = "FILE",
    .description =
	"Shows what the traced programs logged: seconds since the start of the trace, process and thread by name and "
	"number, and the message. Further lines of a message are indented; control characters, and bytes that "
	"are no UTF-8, are shown as \\xNN, characters that cannot be seen as \\u{NNNN}.",
    .examples = "trackway log trace.fxt\tAll of it.\n"
		"trackway log --from-time 1s --to-time 2s trace.fxt\tOne second.\n"
		"trackway log --follow trace.fxt\tWhat a program logs, as it does.\n",
    .groups = groups,
    TW_FORMS_OF_LINES,
    .size = sizeof(struct log_options),
    .least = 1,
    .most = 1,
    .run = run,
};
