/* view.c - trackway view: a timeline in the browser. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tool.h"

#include "base/bytes/decompress.h"
#include "base/bytes/temporary.h"
#include "base/memory/map.h"
#include "cli/command.h"
#include "cli/files/nothing_passed.h"
#include "cli/files/offsets.h"
#include "cli/files/single_read.h"
#include "cli/files/spooled_stdin.h"
#include "cli/files/walk.h"
#include "cli/options/names.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "core/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct view_command {
	struct tw_common common;
	struct tw_option_number port;
	bool no_open, diff, index;
	const char *state;
	struct tw_list offsets;
};

/* What ends it. */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static void block_signals(sigset_t *ends)
{
	struct sigaction action;
	sigemptyset(ends);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(ends, ending[i]);
	pthread_sigmask(SIG_BLOCK, ends, NULL);
}

/* A second signal ends the program, whatever goes on. */
static void let_signals_end(const sigset_t *ends)
{
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (sigismember(ends, ending[i]))
			signal(ending[i], SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, ends, NULL);
}

/* Whether there is a desktop that a browser can be opened in. */
static bool has_desktop(void)
{
	const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	return (x && *x) || (wayland && *wayland);
}

/* What shall be shown at first, as an address has it behind #, or a whole address; bytes that may not stand there are
 * %1b. NULL without memory. */
static char *fragment_of(const struct view_command *options)
{
	const char *state = options->state ? options->state : options->diff ? "tab=compare" : "";
	const char *hash = strchr(state, '#');
	state = hash ? hash + 1 : state;
	char *fragment = malloc(3 * strlen(state) + 2), *end = fragment;
	if (fragment && *state)
		*end++ = '#';
	for (const char *p = state; fragment && *p; p++)
		if (*p > ' ' && *p <= '~' && !strchr("\"<>\\^`{|}", *p))
			*end++ = *p;
		else
			end += snprintf(end, 4, "%%%02x", (unsigned char)*p);
	if (fragment)
		*end = '\0';
	return fragment;
}

/* What the browser says is not for the terminal. */
static void open_browser(const char *address, const char *fragment)
{
	static char name[] = "xdg-open";
	char *whole = NULL;
	if (asprintf(&whole, "%s%s", address, fragment) < 0)
		return;
	char *arguments[] = {name, whole, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd == STDIN_FILENO ? 0 : 1, 0);
	(void)posix_spawnp(&pid, name, &actions, &attributes, arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	free(whole);
}

static int serve(struct view *view, const struct view_command *options, const sigset_t *ends)
{
	int number;
	if (view_serve(view, (unsigned)options->port.value) < 0)
		return tw_say_error("no server on 127.0.0.1: %s", view_error(view));
	char *fragment = fragment_of(options);
	if (!fragment)
		return tw_say_error("out of memory");
	if (printf("%s%s\n", view_address(view), fragment) < 0 || fflush(stdout)) {
		free(fragment);
		return tw_say_error("standard output: %s", strerror(errno));
	}
	if (!options->no_open && has_desktop())
		open_browser(view_address_once(view), fragment);
	free(fragment);
	sigwait(ends, &number);
	let_signals_end(ends);
	return 0;
}

/* Tells which of several files are no traces, and takes them from the lists. Returns how many are left. */
static size_t leave_out(char **paths, int64_t *shifts, size_t count, const struct tw_read_options *options)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		struct tw_reader *reader;
		const int status = tw_open(&reader, paths[i], options);
		tw_rewind_stdin(paths[i]);
		if (reader && tw_may_leave_out(paths[i], status)) {
			tw_say("left out: %s", tw_reader_error(reader));
		} else {
			shifts[kept] = shifts[i];
			paths[kept++] = paths[i];
		}
		tw_close(reader);
	}
	return kept;
}

/* The page has them. */
static int say_damage(const struct view *view)
{
	const uint64_t count = view_error_count(view);
	if (count)
		tw_say("damaged: the page tells %" PRIu64 " error%s", count, count == 1 ? "" : "s");
	return count ? TW_EXIT_FINDINGS : 0;
}

/* Tells how large the page is, and whether it has each slice; then writes it into a file that is open. */
static int write_page(struct view *view, struct tw_output *out, const char *path, const struct tw_text *page,
                      bool whole)
{
	tw_say("%s: %s%s", path, tw_show_size(page->length).text,
	       whole ? "" : "; short slices are summed up: --from-time and --to-time choose a window");
	tw_put(out, page->bytes, page->length);
	const int error = tw_output_close(out);
	if (error)
		return tw_say_error("%s: the page cannot be written: %s", path, strerror(error));
	if (*view_reading_error(view))
		return tw_say_error("%s has not all: %s", path, view_reading_error(view));
	return say_damage(view);
}

static int say_no_page(struct view *view, const char *path, int status)
{
	if (status == TW_ERR_SYSTEM)
		return tw_say_error("%s", view_error(view));
	return tw_say_error("%s: %s", path, status == TW_ERR_MEMORY ? "out of memory" : "the page takes no data");
}

/* Whether there is a place for the file is known before the trace is read. */
static int export(struct view *view, const struct view_command *options)
{
	enum { MOST = 24 << 20 }; /* bytes of slices */
	const char *path = options->common.output;
	struct tw_text page = {0};
	struct tw_output out;
	bool whole = false;
	const int error = tw_output_open(&out, path);
	if (error)
		return tw_say_error("%s: %s", path, strerror(error));
	char *fragment = fragment_of(options);
	view_wait(view);
	if (view_event_count(view) == 0)
		tw_say_none(&options->common, "event");
	int status = fragment ? view_export(view, MOST, fragment + (*fragment == '#'), &page, &whole) : TW_ERR_MEMORY;
	status = status < 0 ? say_no_page(view, path, status) : write_page(view, &out, path, &page, whole);
	tw_output_discard(&out);
	tw_text_free(&page);
	free(fragment);
	return status;
}

/* By how much later each of at least one file begins; freed by the caller. */
static int take_shifts(int64_t **shifts, const struct tw_list *offsets, char **paths, size_t count)
{
	struct tw_merge_source *sources = calloc(count + 1, sizeof *sources);
	*shifts = calloc(count + 1, sizeof **shifts);
	if (offsets->count && count == 1) {
		free(sources);
		return tw_say_usage(&tw_command_view, "--offset: there is one file: nothing is earlier or later");
	}
	if (!sources || !*shifts) {
		free(sources);
		return tw_say_error("out of memory");
	}
	for (size_t i = 0; i < count; i++)
		sources[i].path = paths[i];
	int status = tw_take_offsets(&tw_command_view, sources, count, offsets);
	for (size_t i = 0; status == 0 && i < count; i++)
		(*shifts)[i] = sources[i].offset_ns;
	free(sources);
	return status;
}

/* ---- The index beside the file. ---- */

static uint64_t mix_number(uint64_t key, uint64_t number)
{
	return tw_mix_words((const uint64_t[]){key, number}, 2);
}

static uint64_t mix_text(uint64_t key, const char *text)
{
	return text ? tw_mix_bytes(text, strlen(text), mix_number(key, 1)) : mix_number(key, 0);
}

/* Mixes a file into a key, by name, size and time: a name may have another file by now. */
static uint64_t mix_file(uint64_t key, const char *path)
{
	struct stat status = {0};
	key = mix_text(key, path);
	if (path && stat(path, &status) == 0) {
		key = mix_number(key, (uint64_t)status.st_size);
		key = mix_number(mix_number(key, (uint64_t)status.st_mtim.tv_sec), (uint64_t)status.st_mtim.tv_nsec);
	}
	return key;
}

/* A number of all options that the picture of a whole trace depends on. */
static uint64_t picture_key(const struct tw_common *common)
{
	uint64_t key = mix_text(0, common->from), number;
	key = mix_file(mix_file(key, common->names.maps), common->names.kallsyms);
	key = mix_number(key, common->names.binaries.count);
	for (size_t i = 0; i < common->names.binaries.count; i++)
		key = mix_file(mix_text(key, common->names.binaries.items[i]),
		               tw_binary_path(common->names.binaries.items[i], &number));
	key = mix_number(key, common->names.no_demangle);
	key = mix_number(mix_number(key, common->names.load_address.given), common->names.load_address.value);
	key = mix_number(key, common->events.count);
	for (size_t i = 0; i < common->events.count; i++)
		key = mix_text(mix_number(key, common->events.items[i].type), common->events.items[i].name);
	key = mix_text(key, common->xtrace.layout);
	key = mix_number(mix_number(key, common->limits.memory), common->limits.reorder_window);
	return mix_number(key, common->frequency);
}

static void say_index_refused(void *context, const char *path, const char *what, const char *why)
{
	(void)context;
	tw_say("%s.twview: %s: %s", path, what, why);
}

static void take_keeping(const struct view_command *options, struct view_options *what)
{
	if (options->index)
		what->keeping = (struct view_keeping_options){.what = VIEW_USES_INDEX,
		                                              .key = picture_key(&options->common),
		                                              .refused = say_index_refused};
}

/* What has no index: several files, standard input, a part of a file, and a page. */
static int check_index(const struct view_command *options, char **operands, size_t count)
{
	if (!options->index)
		return 0;
	if (options->common.output)
		return tw_say_usage(&tw_command_view, "--index: a page that --export writes needs none");
	if (tw_reads_stdin(operands, count))
		return tw_say_usage(&tw_command_view, "--index: standard input has no place for an index beside it");
	if (count != 1)
		return tw_say_usage(&tw_command_view, "--index keeps the index of one file");
	if (options->common.filter.given)
		return tw_say_usage(&tw_command_view,
		                    "--index keeps the index of a whole file: no filter goes with it");
	return 0;
}

/* What can be read from its beginning alone is copied, and that is told before: a pipe, and what is packed. */
static void say_pipe(char **paths, size_t count)
{
	if (tw_reads_stdin(paths, count) && lseek(STDIN_FILENO, 0, SEEK_CUR) < 0)
		tw_say("<stdin>: a pipe is copied to a file in %s: how large it becomes is not known",
		       tw_temporary_place(tw_temporary_folder()));
}

static void say_packed(const char *path)
{
	const bool input = strcmp(path, "-") == 0;
	const int fd = input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint64_t least;
	if (fd < 0)
		return;
	if (tw_packed_file(fd, &least))
		tw_say("%s: is unpacked to a file in %s: %s%s", input ? "<stdin>" : path,
		       tw_temporary_place(tw_temporary_folder()),
		       least ? tw_show_size(least).text : "how large it becomes is not known",
		       least ? " or more, by what it says" : "");
	close(fd);
}

/* The options that decide what is shown; NULL without memory. Freed by the caller. */
static struct view_option *given_options(const struct view_command *options, size_t *count)
{
	const struct tw_typed *typed = &options->common.typed;
	struct view_option *given = calloc(typed->count + 1, sizeof *given);
	*count = 0;
	for (size_t i = 0; given && i < typed->count; i++) {
		const struct tw_option *option = typed->items[i].option;
		if (tw_option_is_of(option, &tw_filter_options) || tw_option_is_of(option, &tw_input_options) ||
		    option->offset == offsetof(struct view_command, diff))
			given[(*count)++] = (struct view_option){option->name, typed->items[i].text};
	}
	return given;
}

static void say_failed(const char *why)
{
	tw_say_error("not all can be shown: %s", why);
}

static int show(const struct view_command *options, struct tw_who *who, struct tw_name_sources *names, char **paths,
                size_t count)
{
	struct view_options what = {.paths = paths, .count = count};
	int64_t *shifts = NULL;
	struct view *view = NULL;
	sigset_t ends;
	tw_take_options(&options->common, true, &what.read);
	int status = take_shifts(&shifts, &options->offsets, paths, count);
	if (status == 0) {
		say_pipe(paths, count);
		status = tw_spool_stdin(paths, count);
	}
	if (status == 0 && count > 1)
		what.count = leave_out(paths, shifts, count, &what.read);
	const bool damaged = what.count < count;
	count = what.count;
	if (count == 0)
		status = tw_say_error("none of the files is a trace");
	for (size_t i = 0; i < count && status == 0; i++)
		status = tw_who_choose(who, &options->common, paths[i], false, &what.read);
	for (size_t i = 0; i < count && status == 0; i++)
		tw_names_want(names, &options->common, paths[i]);
	status = status ? status : tw_names_open(names, &options->common, &what.read);
	what.offsets = shifts;
	struct view_option *given = given_options(options, &what.given_count);
	what.given = given;
	if (status == 0 && !given)
		status = tw_say_error("out of memory");
	take_keeping(options, &what);
	if (!options->common.output)
		what.failed = say_failed;
	what.small = options->common.output ? UINT64_MAX : 0; /* a page has all slices that it has room for */
	if (status) {
		free(given);
		free(shifts);
		return status;
	}
	if (!options->common.output)
		block_signals(&ends);
	if (view_open(&view, &what) < 0)
		status = tw_say_error("%s", view ? view_error(view) : "out of memory");
	for (size_t i = 0; i < count && status == 0 && !view_uses_index(view); i++)
		say_packed(paths[i]);
	if (status == 0)
		status = options->common.output ? export(view, options) : serve(view, options, &ends);
	view_close(view);
	free(given);
	free(shifts);
	return status == 0 && damaged ? TW_EXIT_FINDINGS : status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct tw_name_sources names = {0};
	struct tw_who who = {0};
	const struct view_command *options = (const struct view_command *)common;
	if (options->port.value > UINT16_MAX)
		return tw_say_usage(&tw_command_view, "--port: there is no port above 65535");
	if (options->diff && count != 2)
		return tw_say_usage(&tw_command_view, "--diff compares two files");
	count = tw_drop_same_traces(common, operands, count);
	int status = check_index(options, operands, count);
	status = status ? status : show(options, &who, &names, operands, count);
	tw_names_close(&names);
	tw_who_free(&who);
	return status;
}

static const struct tw_option own_options[] = {
    {"port", 0, TW_OPTION_NUMBER, offsetof(struct view_command, port), .placeholder = "N",
     .help = "the port of the address; one that is free otherwise"},
    {"no-open", 0, TW_OPTION_FLAG, offsetof(struct view_command, no_open),
     .help = "print the address, and open no browser"},
    {"offset", 0, TW_OPTION_LIST, offsetof(struct view_command, offsets), .placeholder = "FILE=TIME",
     .help = "of several files, FILE begins so much later, \"2ms\", or earlier, \"-1s\"; may be repeated"},
    {"diff", 0, TW_OPTION_FLAG, offsetof(struct view_command, diff),
     .help = "of two files, begin with what differs: functions, and a flame graph, before and after"},
    {"index", 0, TW_OPTION_FLAG, offsetof(struct view_command, index),
     .help =
         "keep the index of a whole file in FILE.twview beside FILE, and use it instead of reading FILE, if it is of "
         "the file as it is"},
    {"export", 0, TW_OPTION_FILE, offsetof(struct view_command, common.output), .placeholder = "FILE",
     .help = "write the page with all that it shows into FILE, a page that needs no server, and end; its size is told"},
    {"state", 0, TW_OPTION_TEXT, offsetof(struct view_command, state), .placeholder = "STATE",
     .help = "what is shown at first, also by a page of --export: what stands behind # in the address of a page, which "
             "\"copy link\" gives"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Address", own_options), &tw_filter_options, &tw_input_options, &tw_jobs_options);

const struct tw_command tw_command_view = {
    .name = "view",
    .summary = "a timeline in the browser",
    .operands = "FILE...",
    .description =
	"Reads the traces once and shows them in the browser: the address is printed, and opened where there is a "
	"desktop. It answers while it still reads; files that grow extend the picture. The server listens on "
	"127.0.0.1 alone, and to nobody without the token in the address; over ssh, forward its port with -L. Ctrl-C "
	"ends it, and so does SIGTERM, also in the background of a script, where the shell has programs ignore "
	"Ctrl-C.\n\n"
	"Several files are on one clock, each from its own start or --offset later; the page moves one against the "
	"others, too. One of them that is no trace, or may not be read, is told and left out. A page that --export "
	"writes has the slices of all tracks, functions and the flame graph, and loads nothing from elsewhere.",
    .exit_status = "0 when a signal has ended it; 1 when one of the files was left out, or what --export reads is "
		   "damaged; 2 for wrong use, when no "
		   "trace can be opened, or no address served.",
    .examples =
	"trackway view app.fxt\tLook at a trace.\n"
	"trackway view --no-open --port 9000 app.fxt\tOn another machine, with `ssh -L 9000:127.0.0.1:9000`.\n"
	"trackway view --index app.fxt\tThe second time without reading it.\n"
	"trackway view --diff before.fxt after.fxt\tWhat has changed, with both above each other.\n"
	"trackway view --export slow.html --from-time 1s --to-time 2s app.fxt\tA second, as a file for a mail.\n",
    .groups = groups,
    .size = sizeof(struct view_command),
    .least = 1,
    .run = run,
};
