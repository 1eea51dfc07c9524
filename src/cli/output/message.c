/* message.c - lines for the user on standard error. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/message.h"

#include "base/bytes/output.h"
#include "cli/command.h"
#include "cli/output/show.h"

#include <trackway/reader.h>

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_ROOM = 4096 };

/* Back to the first column of a terminal, and an empty line there. */
static const char line_away[] = "\r\033[K";

bool tw_color_wanted(int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");
	return isatty(fd) && !(no_color && *no_color) && terminal && strcmp(terminal, "dumb") != 0;
}

static bool is_silent;

void tw_be_silent(bool silent)
{
	is_silent = silent;
}

/* Whether a line of progress stands on the terminal: what is said next takes its place. */
static atomic_bool progress_stands;

/* One line in one write, so that what other processes write does not come in between; and without memory of its own,
 * because it may have to say that there is none. */
static void say(const char *before, const char *after, const char *format, va_list arguments)
{
	char line[LINE_ROOM], room[TW_OUTPUT_BUFFER];
	struct tw_output out = {.fd = STDERR_FILENO, .buffer = room};
	if (is_silent)
		return;
	vsnprintf(line, sizeof line, format, arguments);
	if (atomic_exchange(&progress_stands, !*after))
		tw_put_text(&out, line_away);
	tw_put_text(&out, "trackway: ");
	tw_put_text(&out, before);
	tw_put_safe(&out, line, strlen(line));
	tw_put_text(&out, after);
	tw_output_flush(&out);
}

void tw_say(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say("", "\n", format, arguments);
	va_end(arguments);
}

void tw_say_progress(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say("", "", format, arguments);
	va_end(arguments);
}

void tw_end_progress(void)
{
	if (atomic_exchange(&progress_stands, false))
		fputs(line_away, stderr);
}

static const char *error_word(void)
{
	return tw_color_wanted(STDERR_FILENO) ? "\033[31merror:\033[m " : "error: ";
}

int tw_say_error(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say(error_word(), "\n", format, arguments);
	va_end(arguments);
	return TW_EXIT_FAILED;
}

int tw_say_failure(const struct tw_reader *reader, int status)
{
	const char *error = reader ? tw_reader_error(reader) : "";
	return tw_say_error("%s", *error ? error : tw_status_text(status));
}

int tw_say_usage(const struct tw_command *command, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say(error_word(), "\n", format, arguments);
	va_end(arguments);
	fprintf(stderr, "Try 'trackway %s%s--help'.\n", command ? command->name : "", command ? " " : "");
	return TW_EXIT_FAILED;
}
