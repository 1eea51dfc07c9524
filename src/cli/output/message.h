/* message.h - lines for the user on standard error. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_MESSAGE_H
#define CLI_OUTPUT_MESSAGE_H

#include <stdbool.h>

struct tw_command;

/* Whether a terminal may be written to in colour: it is one, and NO_COLOR is not set. */
bool tw_color_wanted(int fd);

/* Whether nothing is said from now on: it is about what may be otherwise in a moment. */
void tw_be_silent(bool silent);

/* Prints "trackway: ..." and a line end. Control characters are shown as \xNN. */
void tw_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same without a line end, for a terminal: what is said next takes its place, and tw_end_progress() takes it
 * away. */
void tw_say_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tw_end_progress(void);

/* The same with "error: " in front, red on a terminal. Returns TW_EXIT_FAILED. */
int tw_say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for what a reader tells of its negative status; reader NULL: there was no memory for one. */
struct tw_reader;
int tw_say_failure(const struct tw_reader *reader, int status);

/* An error in how a command was called, and where to look (command NULL: the tool itself). Returns TW_EXIT_FAILED. */
int tw_say_usage(const struct tw_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
