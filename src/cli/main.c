/* main.c - the command line tool: finds the subcommand and runs it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/load.h"
#include "base/text/nearest.h"
#include "cli/command.h"
#include "cli/files/interrupt.h"
#include "cli/files/output_overwrite.h"
#include "cli/manual/usage.h"
#include "cli/options/output_form.h"
#include "cli/output/message.h"

#include <trackway/trackway.h>

#include <fcntl.h>
#include <locale.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

/* command: NULL for the tool. */
static int put_help(const struct tw_command *command)
{
	struct tw_screen screen = {0};
	if (tw_screen_open(&screen, NULL))
		return TW_EXIT_FAILED;
	tw_help(&screen, command);
	return tw_screen_close(&screen);
}

static int show_help(void)
{
	return put_help(NULL);
}

static int show_version(void)
{
	struct tw_screen screen = {0};
	if (tw_screen_open(&screen, NULL))
		return TW_EXIT_FAILED;
	tw_putf(&screen.out, "trackway %s\n", tw_version());
	if (*TW_WITH)
		tw_put_text(&screen.out, "built with " TW_WITH "\n");
	if (*TW_WITHOUT)
		tw_put_text(&screen.out, "built without " TW_WITHOUT "\n");
	return tw_screen_close(&screen);
}

static int run_parsed(const struct tw_command *command, struct tw_common *options, char **operands, size_t count)
{
	if (options->help)
		return put_help(command);
	if (count < command->least)
		return tw_say_usage(command, "%s wants %s", command->name, command->operands);
	const size_t most = *command->operands ? command->most : 0;
	if ((most || !*command->operands) && count > most)
		return tw_say_usage(command, "too many operands: \"%s\" is one more", operands[most]);
	if (options->filter.to_time && options->filter.to_time <= options->filter.from_time)
		return tw_say_usage(command, "--to-time must be later than --from-time");
	if (options->names.load_address.given && !options->names.binaries.count)
		return tw_say_usage(command, "--load-address is about the program of --binary");
	if (tw_choose_form(command, options))
		return TW_EXIT_FAILED;
	if (tw_refuse_overwrite(command, options, operands, count))
		return TW_EXIT_FAILED;
	if (options->output)
		tw_clean_when_interrupted(options->output);
	int status = command->run(options, operands, count);
	if (tw_noted_absence())
		tw_say("%s", tw_noted_absence());
	return status;
}

/* Parses argv (argv[0] is the command's name) and runs it. Returns enum tw_exit. */
static int run_command(const struct tw_command *command, int argc, char **argv)
{
	int first = 0;
	if (command->missing)
		return tw_say_error("%s: this trackway is built without %s", command->name, command->missing);
	struct tw_common *options = calloc(1, command->size);
	if (!options)
		return tw_say_error("out of memory");
	int status = tw_options_parse(command, argc, argv, options, &first);
	if (status == 0)
		status = run_parsed(command, options, argv + first, (size_t)(argc - first));
	tw_options_free(command, options);
	return status;
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

/* ---- Memory and stacks. ---- */

/* Has large arrays given back to the system when they are freed, and grown by it without a copy. Otherwise glibc keeps
 * what was freed for each thread ("mallopt(3)", M_MMAP_THRESHOLD: the threshold rises to 32 MiB), which is beside what
 * --memory counts, and is more with more threads. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
	enum { ARENAS = 2, LARGE = 2 << 20, UNUSED_MOST = 4 << 20 };
	mallopt(M_ARENA_MAX, ARENAS);
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, UNUSED_MOST);
#endif
}

enum { STACK_LEAST = 2 << 20 };

struct arguments {
	int count;
	char **words;
	int status;
};

static int run(int argc, char **argv)
{
	if (argc < 2)
		return tw_say_usage(NULL, "no command given");
	for (size_t i = 0; i < INSTEAD; i++)
		if (strcmp(argv[1], instead[i].name) == 0)
			return instead[i].run();
	const struct tw_command *command = tw_command_named(argv[1]);
	return command ? run_command(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}

static void *run_apart(void *context)
{
	struct arguments *arguments = context;
	arguments->status = run(arguments->count, arguments->words);
	return NULL;
}

/* Lets threads begin with stacks of a usual size. Returns whether the limit (ulimit -s) would have given them less, as
 * it does the first thread. */
static bool widen_stacks(void)
{
	struct rlimit limit;
	pthread_attr_t attributes;
	if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= STACK_LEAST || pthread_attr_init(&attributes) != 0)
		return false;
	bool wide =
	    pthread_attr_setstacksize(&attributes, STACK_LEAST) == 0 && pthread_setattr_default_np(&attributes) == 0;
	pthread_attr_destroy(&attributes);
	return wide;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {argc, argv, 0};
	pthread_t thread;
	hold_descriptors();
	give_memory_back();
	signal(SIGXFSZ, SIG_IGN);       /* a file that gets too large is an error to be told */
	setlocale(LC_CTYPE, "C.UTF-8"); /* names are UTF-8 wherever it runs: fnmatch() shall know their characters */
	if (!widen_stacks() || pthread_create(&thread, NULL, run_apart, &arguments) != 0)
		return run(argc, argv);
	pthread_join(thread, NULL);
	return arguments.status;
}
