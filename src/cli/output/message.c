/* message.c - lines for the user on standard error. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/message.h"

#include "base/bytes/output.h"
#include "cli/command.h"
#include "cli/output/show.h"

#include <trackway/reader.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_ROOM = 4096, WORD_MAX = 40 };

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

/* One line in one write, so that what other processes write does not come in between; and without memory of its own,
 * because it may have to say that there is none. */
static void say(const char *before, const char *format, va_list arguments)
{
	char line[LINE_ROOM], room[TW_OUTPUT_BUFFER];
	struct tw_output out = {.fd = STDERR_FILENO, .buffer = room};
	if (is_silent)
		return;
	vsnprintf(line, sizeof line, format, arguments);
	tw_put_text(&out, "trackway: ");
	tw_put_text(&out, before);
	tw_put_safe(&out, line, strlen(line));
	tw_put_char(&out, '\n');
	tw_output_flush(&out);
}

void tw_say(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say("", format, arguments);
	va_end(arguments);
}

static const char *error_word(void)
{
	return tw_color_wanted(STDERR_FILENO) ? "\033[31merror:\033[m " : "error: ";
}

int tw_say_error(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say(error_word(), format, arguments);
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
	say(error_word(), format, arguments);
	va_end(arguments);
	fprintf(stderr, "Try 'trackway %s%s--help'.\n", command ? command->name : "", command ? " " : "");
	return TW_EXIT_FAILED;
}

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap two neighbours) from one word to the other. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1], length = strlen(b);
	for (size_t k = 0; k <= length; k++)
		rows[0][k] = k;
	size_t i = 1;
	for (; a[i - 1]; i++) {
		size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t k = 1; k <= length; k++) {
			row[k] = least_of(least_of(above[k], row[k - 1]) + 1, above[k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				row[k] = least_of(row[k], two_above[k - 2] + 1);
		}
	}
	return rows[(i - 1) % 3][length];
}

const char *tw_nearest(const char *typed, const char *(*word)(void *context, size_t i), void *context)
{
	const char *best = NULL, *candidate;
	size_t length = strlen(typed), most = length / 3 + 1;
	if (length > WORD_MAX || length == 0)
		return NULL;
	for (size_t i = 0; (candidate = word(context, i)); i++) {
		size_t edits = strlen(candidate) > WORD_MAX ? most + 1 : distance(typed, candidate);
		if (edits <= most && edits < strlen(candidate)) {
			best = candidate;
			most = edits - 1;
		}
		if (edits == 0)
			break;
	}
	return best;
}
