/* main.c - the command line tool: finds the subcommand and runs it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/manual/usage.h"
#include "cli/output/message.h"

#include <trackway/trackway.h>

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A standard descriptor that is closed would be given to the next file that is opened. It is filled by one that cannot
 * be used in its direction, so that reading or writing fails as it should. */
static void hold_descriptors(void)
{
	static const int directions[] = {O_WRONLY, O_RDONLY, O_RDONLY};
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", directions[fd]) != fd)
			_exit(TW_EXIT_FAILED);
}

static int show_help(void)
{
	struct tw_screen screen = {0};
	if (tw_screen_open(&screen, NULL))
		return TW_EXIT_FAILED;
	tw_help_tool(&screen);
	return tw_screen_close(&screen);
}

static int show_version(void)
{
	struct tw_screen screen = {0};
	if (tw_screen_open(&screen, NULL))
		return TW_EXIT_FAILED;
	tw_putf(&screen.out, "trackway %s\n", tw_version());
	return tw_screen_close(&screen);
}

/* What may stand in a command's place. */
static const struct {
	const char *name;
	int (*run)(void);
} instead[] = {
    {"--help", show_help},
    {"-h", show_help},
    {"--version", show_version},
    {"-V", show_version},
};

enum { INSTEAD = sizeof instead / sizeof *instead };

static const char *word_at(void *context, size_t i)
{
	(void)context;
	return i < INSTEAD ? instead[i].name : tw_command_name(i - INSTEAD);
}

static int unknown_command(const char *typed)
{
	const char *near = tw_nearest(typed, word_at, NULL);
	const char *what = *typed == '-' ? "option" : "command";
	if (near)
		return tw_say_usage(NULL, "there is no %s %s; did you mean %s?", what, typed, near);
	return tw_say_usage(NULL, "there is no %s %s", what, typed);
}

int main(int argc, char **argv)
{
	hold_descriptors();
	signal(SIGXFSZ, SIG_IGN);       /* a file that gets too large is an error to be told */
	setlocale(LC_CTYPE, "C.UTF-8"); /* names are UTF-8 wherever it runs: fnmatch() shall know their characters */
	if (argc < 2)
		return tw_say_usage(NULL, "no command given");
	for (size_t i = 0; i < INSTEAD; i++)
		if (strcmp(argv[1], instead[i].name) == 0)
			return instead[i].run();
	const struct tw_command *command = tw_command_named(argv[1]);
	return command ? tw_command_run(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}
