/* fxt.c - trackway record --to fxt: what programs say of themselves, in one archive. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/record.h"

#include "base/memory/memory.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "manage/manage.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFER_LEAST = 64 << 10 };

static const char *const mode_words[] = {"streaming", "oneshot", "circular", NULL};

/* The options of programs, as TRACKWAY_TRACE_OPTIONS has them. */
static bool put_options(struct tw_text *text, const struct tw_record_options *options)
{
	char words[64];
	bool fine = true;
	int length = snprintf(words, sizeof words, "mode=%s", options->fxt.mode ? options->fxt.mode : mode_words[0]);
	if (options->fxt.buffer_size)
		length +=
		    snprintf(words + length, sizeof words - (size_t)length, ",size=%" PRIu64, options->fxt.buffer_size);
	fine = tw_text_add(text, words, (size_t)length);
	for (size_t i = 0; i < options->fxt.categories.count; i++) {
		const char *category = options->fxt.categories.items[i], *before = i ? ":" : ",category=";
		fine =
		    fine && tw_text_add(text, before, strlen(before)) && tw_text_add(text, category, strlen(category));
	}
	return fine;
}

static int check_options(const struct tw_record_options *options, size_t words)
{
	if (options->fxt.after && !options->fxt.stop_on)
		return tw_say_usage(NULL, "--after wants --stop-on");
	if (options->fxt.attach && words)
		return tw_say_usage(NULL, "--attach takes no program");
	size_t bytes = 0;
	for (size_t i = 0; i < options->fxt.categories.count; i++) {
		if (strpbrk(options->fxt.categories.items[i], ",:"))
			return tw_say_usage(NULL, "--category: a category has neither , nor :");
		bytes += strlen(options->fxt.categories.items[i]) + (i != 0);
	}
	if (bytes > MANAGE_CATEGORIES)
		return tw_say_usage(NULL, "--category: all together have %zu bytes, at most %d", bytes,
		                    MANAGE_CATEGORIES);
	return 0;
}

/* One line on a terminal, written over: at its end the programs that drop events, as many as fit. */
static void show_progress(void *context, const struct manage_provider *providers, size_t count, uint64_t bytes)
{
	char drops[80] = "";
	size_t used = 0;
	uint64_t events = 0;
	(void)context;
	if (!isatty(STDERR_FILENO))
		return;
	for (size_t i = 0; i < count; i++)
		events += providers[i].writing;
	for (size_t i = 0; i < count && used < sizeof drops / 2; i++)
		if (providers[i].dropping)
			used += (size_t)snprintf(drops + used, sizeof drops - used, ", %" PRIu64 " dropped by %ld",
			                         providers[i].dropping, (long)providers[i].process);
	tw_say_progress("%s, %s, %.1f MiB%s", tw_show_plural(count, "program").text,
	                tw_show_plural(events, "event").text, (double)bytes / (1 << 20), drops);
}

/* What has become of a program that has not ended its recording. */
static const char *ending_of(const struct manage_result *result, const struct manage_provider *provider)
{
	for (const struct manage_provider *later = provider + 1; later < result->providers + result->count; later++)
		if (later->process == provider->process)
			return "executed another program";
	if (provider->ended)
		return WIFSIGNALED(provider->status) ? "was killed" : "ended by _exit(), or executed another program";
	if (kill(provider->process, 0) == 0 || errno == EPERM)
		return "goes on, and has not ended its recording";
	return "was killed, or ended by _exit()";
}

/* What was damaged, or never came. Returns whether there is any. */
static bool say_missing(const struct manage_provider *provider)
{
	if (provider->archived.unrecorded)
		tw_say("process %ld (%s): %s of the processes that it forked recorded nothing: %s",
		       (long)provider->process, provider->archived.name,
		       tw_show_count(provider->archived.unrecorded).text, strerror(provider->archived.last_unrecorded));
	if (provider->archived.damaged)
		tw_say("process %ld (%s): %s of its file are no records: they were damaged", (long)provider->process,
		       provider->archived.name, tw_show_plural(provider->archived.damaged, "byte").text);
	if (provider->archived.unreadable)
		tw_say("process %ld: nothing of its file can be read: it was damaged", (long)provider->process);
	return provider->archived.damaged || provider->archived.unreadable || provider->archived.unrecorded;
}

/* Returns whether anything is missing. */
static bool say_providers(const struct manage_result *result)
{
	bool missing = false;
	size_t written = 0;
	for (size_t i = 0; i < result->count; i++) {
		const struct manage_provider *provider = &result->providers[i];
		written += provider->archived.written;
		if (provider->archived.written && provider->archived.dropped)
			tw_say("process %ld (%s): %s found no room in the buffer", (long)provider->process,
			       provider->archived.name, tw_show_plural(provider->archived.dropped, "event").text);
		if (provider->archived.written && provider->archived.overwritten)
			tw_say("process %ld (%s) kept the newest: %s before are gone", (long)provider->process,
			       provider->archived.name, tw_show_plural(provider->archived.overwritten, "byte").text);
		if (provider->archived.written && provider->archived.cut)
			tw_say("process %ld (%s): %s had more than a record holds", (long)provider->process,
			       provider->archived.name, tw_show_plural(provider->archived.cut, "event").text);
		if (provider->archived.written && provider->archived.unkept && !provider->archived.finished)
			tw_say(
			    "process %ld (%s): %s began more than 32 deep in others: those that were open are missing",
			    (long)provider->process, provider->archived.name,
			    tw_show_plural(provider->archived.unkept, "duration").text);
		if (provider->archived.written && !provider->archived.finished)
			tw_say("process %ld (%s) %s: all that it committed is there", (long)provider->process,
			       provider->archived.name, ending_of(result, provider));
		if (!provider->archived.written && provider->started && !provider->archived.unreadable)
			tw_say("process %ld ended before it had recorded anything", (long)provider->process);
		missing |= say_missing(provider) || provider->archived.dropped != 0 || provider->refused;
	}
	tw_say("%s", tw_show_plural(written, "program").text);
	return missing;
}

static void say_refused(const struct manage_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		if (result->providers[i].refused == EALREADY)
			tw_say("process %ld is recorded by others", (long)result->providers[i].process);
		else if (result->providers[i].refused == ETIMEDOUT)
			tw_say("process %ld does not answer: it is stopped, or its helper thread is gone",
			       (long)result->providers[i].process);
		else if (result->providers[i].refused)
			tw_say("process %ld cannot be recorded: %s", (long)result->providers[i].process,
			       strerror(result->providers[i].refused));
}

/* Returns what the program gives for an exit status: 0 where it goes on. */
static int say_end(const struct manage_result *result, const char *program)
{
	enum { OF_SIGNAL = 128 };
	int status = result->status;
	if (!result->program_ended)
		tw_say("%s goes on, and is not recorded any more", program);
	else if (result->left)
		tw_say("%s has left processes that go on", program);
	if (!result->program_ended)
		return result->interrupted ? OF_SIGNAL + result->interrupted : 0;
	if (WIFSIGNALED(status))
		tw_say("%s was ended by signal %d (%s)", program, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		tw_say("%s ended with status %d", program, WEXITSTATUS(status));
	return WIFSIGNALED(status) ? OF_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int say_nothing(const struct manage_result *result, uint64_t attach, char **words)
{
	size_t refused = 0;
	bool unreadable = false;
	for (size_t i = 0; i < result->count; i++) {
		refused += result->providers[i].refused != 0;
		unreadable |= result->providers[i].archived.unreadable;
	}
	if (unreadable)
		return tw_say_error("nothing was recorded: what programs have written is damaged");
	if (refused)
		return tw_say_error("nothing was recorded");
	if (attach)
		return tw_say_error("nothing was recorded: process %" PRIu64 " does not run, or does not trace itself",
		                    attach);
	if (words && result->left)
		return tw_say_error("nothing was recorded: neither %s nor what it has left had met a site of "
		                    "libtrackway_trace when it ended",
		                    words[0]);
	return tw_say_error("nothing was recorded: %s", words ? "the program is not linked with libtrackway_trace, or "
	                                                        "met none of its sites"
	                                                      : "no program that traces itself was running");
}

static int finish(const struct manage_result *result, const struct tw_record_options *options, int status, char **words)
{
	tw_end_progress();
	bool failed = status < 0 && strcmp(result->error, "nothing was recorded") != 0;
	int ended = words && !(failed && !result->program_ended) ? say_end(result, words[0]) : 0;
	say_refused(result);
	if (status < 0 && *result->parts)
		tw_say("what was recorded is in %s", result->parts);
	if (status < 0 && !failed)
		return say_nothing(result, options->fxt.attach, words);
	if (status < 0)
		return tw_say_error("%s", result->error);
	if (*result->sched_refusal)
		tw_say("%s", result->sched_refusal);
	if (result->sched_lost)
		tw_say("--sched: the kernel had no room for %s", tw_show_plural(result->sched_lost, "record").text);
	if (result->full)
		tw_say("--max-size: so much is written");
	if (options->fxt.stop_on && !result->alerted)
		tw_say("the alert %s did not come", options->fxt.stop_on);
	bool missing = say_providers(result);
	if (*result->parts)
		tw_say("the files that are damaged are in %s", result->parts);
	return ended ? ended : missing ? TW_EXIT_FINDINGS : TW_EXIT_FINE;
}

static int run(const struct tw_record_options *options, char **words, size_t count)
{
	struct tw_text text = {NULL, 0, 0};
	struct manage_result result;
	int status = check_options(options, count);
	if (status)
		return status;
	if (!put_options(&text, options)) {
		tw_text_free(&text);
		return tw_say_error("out of memory");
	}
	const struct manage_wish wish = {
	    .output = options->output,
	    .options = text.bytes,
	    .words = count ? words : NULL,
	    .attach = (pid_t)options->fxt.attach,
	    .in_memory = options->fxt.in_memory,
	    .sched = options->fxt.sched,
	    .duration_ns = options->fxt.duration,
	    .stop_on = options->fxt.stop_on,
	    .after_ns = options->fxt.after,
	    .size_most = options->max_size,
	    .size_ends = options->max_size && !options->fxt.buffer_size &&
	                 (!options->fxt.mode || strcmp(options->fxt.mode, mode_words[0]) == 0),
	    .memory = tw_memory_asked(&options->common),
	    .temporary = tw_temporary_folder(),
	    .progress = show_progress,
	};
	status = manage_record(&wish, &result);
	status = finish(&result, options, status, count ? words : NULL);
	manage_free(&result);
	tw_text_free(&text);
	return status;
}

static const struct tw_option own_options[] = {
    {"mode", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(fxt.mode), .words = mode_words,
     .help =
         "streaming, where everything is kept, the default; oneshot, until the buffer is full; circular, the newest"},
    {"buffer-size", 0, TW_OPTION_SIZE, TW_RECORD_MEMBER(fxt.buffer_size), .placeholder = "N", .least = BUFFER_LEAST,
     .help = "bytes of events of each program; 64M otherwise, and without a limit for streaming"},
    {"category", 0, TW_OPTION_LIST, TW_RECORD_MEMBER(fxt.categories), .placeholder = "NAME",
     .help = "events of this category, or of those that begin so with NAME*; may be repeated, 1022 bytes in all"},
    {"duration", 0, TW_OPTION_DURATION, TW_RECORD_MEMBER(fxt.duration), .placeholder = "TIME",
     .help = "stop after this time"},
    {"stop-on", 0, TW_OPTION_TEXT, TW_RECORD_MEMBER(fxt.stop_on), .placeholder = "ALERT",
     .help = "stop when a program gives this alert (TW_TRACE_ALERT)"},
    {"after", 0, TW_OPTION_DURATION, TW_RECORD_MEMBER(fxt.after), .placeholder = "TIME",
     .help = "so long after the alert"},
    {"max-size", 0, TW_OPTION_SIZE, TW_RECORD_MEMBER(max_size), .placeholder = "N", .least = 1,
     .help = "stop when all programs together have written so much, about"},
    {"attach", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(fxt.attach), .placeholder = "PID", .least = 1, .most = INT_MAX,
     .help = "record this process, which runs, and all that comes from it, until it ends"},
    {"in-memory", 0, TW_OPTION_FLAG, TW_RECORD_MEMBER(fxt.in_memory),
     .help = "keep what programs write in memory: it is lost when this command is killed"},
    {"sched", 0, TW_OPTION_FLAG, TW_RECORD_MEMBER(fxt.sched),
     .help = "also when the kernel lets their threads run, and why not, for sched and thread_state of sql: what ran "
             "instead and who woke them where it may be read (root, CAP_PERFMON)"},
};
const struct tw_option_group tw_record_fxt_options = {"Programs that trace themselves (fxt)", own_options,
                                                      sizeof own_options / sizeof *own_options};
const struct tw_recorder tw_record_fxt = {
    .format = "fxt",
    .group = &tw_record_fxt_options,
    .finds_programs = true,
    .run = run,
};
