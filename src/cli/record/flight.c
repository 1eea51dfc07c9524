/* flight.c - the calls of a program, by the flight recorder that it is given. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "cli/record/record.h"

#include <trackway/writer.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char library_name[] = "libtrackway_fdr.so";

/* Names of logs beside the output, sorted. */
struct logs {
	char **names;
	size_t count, room;
};

/* The log of each process while it is recorded stands beside the output: OUT.PID.part, OUT.PID-1.part after an exec. */
struct flight {
	const struct tw_record_options *options;
	char library[PATH_MAX];
	char **words;
	char folder[PATH_MAX], name[NAME_MAX + 1]; /* of the output */
	struct logs older;                         /* that were there before: a recorder that was killed left them */
	pid_t pid;
	uint64_t logs, lost; /* with calls; records that had no room */
};

/* ---- The program. ---- */

/* Puts the library in front of what is loaded before the program's own. */
static bool set_preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *list = NULL;
	bool good = asprintf(&list, "%s%s%s", library, others ? ":" : "", others ? others : "") >= 0 &&
	            setenv("LD_PRELOAD", list, 1) == 0;
	free(list);
	return good;
}

/* Adds a line to the text for each pattern, "+GLOB", "-GLOB" or "-@FILE": a list of files is the whole path of it. */
static bool add_patterns(struct tw_text *text, const struct tw_list *list, char sign)
{
	char path[PATH_MAX + 3], line[PATH_MAX + 8];
	for (size_t i = 0; i < list->count; i++) {
		const char *pattern = list->items[i];
		if (*pattern == '@' && realpath(pattern + 1, path + 1)) {
			path[0] = '@';
			pattern = path;
		}
		const int length = snprintf(line, sizeof line, "%c%s\n", sign, pattern);
		if (length >= (int)sizeof line || !tw_text_add(text, line, (size_t)length))
			return false;
	}
	return true;
}

static bool set_functions(const struct tw_record_options *options)
{
	struct tw_text text = {0};
	const bool good = add_patterns(&text, &options->only, '+') && add_patterns(&text, &options->never, '-');
	const bool set = good && (text.bytes ? setenv("TRACKWAY_FLIGHT_FUNCTIONS", text.bytes, 1)
	                                     : unsetenv("TRACKWAY_FLIGHT_FUNCTIONS")) == 0;
	tw_text_free(&text);
	return set;
}

static void become(const void *context)
{
	const struct flight *flight = context;
	const struct tw_record_options *options = flight->options;
	char path[2 * PATH_MAX], list[192];
	snprintf(path, sizeof path, "%s/%s.%%p.part", flight->folder, flight->name);
	int length = snprintf(list, sizeof list, "clock=%s", options->clock ? options->clock : "auto");
	if (options->max_size)
		length += snprintf(list + length, sizeof list - (size_t)length, ",max-size=%llu",
		                   (unsigned long long)options->max_size);
	if (options->ring)
		length += snprintf(list + length, sizeof list - (size_t)length, ",ring=%llu",
		                   (unsigned long long)options->ring);
	if (options->max_depth)
		length += snprintf(list + length, sizeof list - (size_t)length, ",max-depth=%llu",
		                   (unsigned long long)options->max_depth);
	if (options->min_duration)
		snprintf(list + length, sizeof list - (size_t)length, ",min-duration=%llu",
		         (unsigned long long)options->min_duration);
	if (setenv("TRACKWAY_FLIGHT", path, 1) == 0 && setenv("TRACKWAY_FLIGHT_OPTIONS", list, 1) == 0 &&
	    set_functions(options) && set_preload(flight->library))
		execvp(flight->words[0], flight->words);
	fprintf(stderr, "trackway: error: %s: %s\n", flight->words[0], strerror(errno));
}

/* ---- Its logs. ---- */

/* The process of "NAME.PID.part" or "NAME.PID-1.part"; 0: it is no such name. */
static unsigned long process_of(const struct flight *flight, const char *name)
{
	const size_t length = strlen(flight->name);
	char *end;
	if (strncmp(name, flight->name, length) != 0 || name[length] != '.')
		return 0;
	unsigned long pid = strtoul(name + length + 1, &end, 10);
	return strcmp(end + strspn(end, "-0123456789"), ".part") == 0 ? pid : 0;
}

/* "out.xray" for the program itself, "out.PID.xray" for another process, "out.PID-1.xray" where an exec made several.
 * */
static void name_output(const struct flight *flight, unsigned long pid, char path[2 * PATH_MAX])
{
	const char *dot = strrchr(flight->name, '.');
	const int stem = dot && dot > flight->name ? (int)(dot - flight->name) : (int)strlen(flight->name);
	const char *ending = flight->name + stem;
	if (pid == (unsigned long)flight->pid && flight->logs == 0) {
		snprintf(path, 2 * PATH_MAX, "%s/%s", flight->folder, flight->name);
		return;
	}
	snprintf(path, 2 * PATH_MAX, "%s/%.*s.%lu%s", flight->folder, stem, flight->name, pid, ending);
	for (unsigned i = 1; access(path, F_OK) == 0 && i < 1000; i++)
		snprintf(path, 2 * PATH_MAX, "%s/%.*s.%lu-%u%s", flight->folder, stem, flight->name, pid, i, ending);
}

/* Whether a log has more than the recorder's own notes, and how many records had no room. */
static int look_at(const char *part, bool *has_calls, uint64_t *lost)
{
	const struct tw_read_options options = {.order = TW_ORDER_FILE};
	struct tw_reader *reader;
	struct tw_info info;
	int status = tw_open(&reader, part, &options);
	if (status >= 0)
		status = tw_read_info(reader, 1, &info);
	*has_calls = status >= 0 && info.thread_count > 1;
	for (size_t i = 0; status >= 0 && i < info.field_count; i++)
		if (strcmp(info.fields[i].name, "lost_records") == 0)
			*lost += info.fields[i].value.u;
	tw_close(reader);
	return status;
}

/* Makes a plain log of one that stands as its program left it. */
static int finish(struct flight *flight, const char *name)
{
	const struct tw_read_options options = {.order = TW_ORDER_FILE};
	struct tw_rewrite_result result;
	struct tw_reader *reader = NULL;
	char part[2 * PATH_MAX], path[2 * PATH_MAX];
	bool has_calls;
	snprintf(part, sizeof part, "%s/%s", flight->folder, name);
	if (look_at(part, &has_calls, &flight->lost) >= 0 && !has_calls)
		return unlink(part) < 0 ? TW_EXIT_FAILED : 0;
	name_output(flight, process_of(flight, name), path);
	int status = tw_open(&reader, part, &options);
	if (status >= 0)
		status = tw_repair(reader, path, &result);
	if (status < 0) {
		tw_say_error("%s: %s; the log stays as it is, and every command reads it", part,
		             tw_reader_error(reader));
		tw_close(reader);
		return TW_EXIT_FAILED;
	}
	tw_close(reader);
	unlink(part);
	flight->logs++;
	tw_say("%s: %s", path, tw_show_plural(result.records_out, "record").text);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_logs(const struct flight *flight, struct logs *logs)
{
	bool good = true;
	DIR *folder = opendir(flight->folder);
	for (struct dirent *entry; folder && good && (entry = readdir(folder));) {
		if (!process_of(flight, entry->d_name))
			continue;
		char *name = strdup(entry->d_name);
		good = name && tw_grow(&logs->names, &logs->room, logs->count + 1, sizeof *logs->names);
		if (good)
			logs->names[logs->count++] = name;
		else
			free(name);
	}
	if (folder)
		closedir(folder);
	if (logs->count)
		qsort(logs->names, logs->count, sizeof *logs->names, compare_names);
	return good;
}

static void free_logs(struct logs *logs)
{
	for (size_t i = 0; i < logs->count; i++)
		free(logs->names[i]);
	free(logs->names);
}

/* What a recorder left that was killed is not of this run: no recorder writes into a file that is there. */
static bool is_older(const struct flight *flight, const char *name)
{
	const struct logs *older = &flight->older;
	return older->count && bsearch(&name, older->names, older->count, sizeof *older->names, compare_names);
}

/* The program's own log first. */
static int finish_all(struct flight *flight)
{
	struct logs logs = {0};
	int status = list_logs(flight, &logs) ? 0 : tw_say_error("out of memory");
	for (int own = 1; own >= 0; own--)
		for (size_t i = 0; i < logs.count; i++)
			if ((process_of(flight, logs.names[i]) == (unsigned long)flight->pid) == own &&
			    !is_older(flight, logs.names[i]))
				status = tw_worse(status, finish(flight, logs.names[i]));
	free_logs(&logs);
	return status;
}

/* ---- All. ---- */

static bool take_output(struct flight *flight, const char *output)
{
	const char *slash = strrchr(output, '/');
	snprintf(flight->name, sizeof flight->name, "%s", slash ? slash + 1 : output);
	char folder[PATH_MAX];
	snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - output) + 1 : 1, slash ? output : ".");
	return *flight->name && realpath(folder, flight->folder) != NULL;
}

/* The status that a shell gives a program. */
static int status_of(int status)
{
	enum { SIGNALLED = 128 };
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

static int say_end(const struct flight *flight, const struct tw_program *program)
{
	const int own = status_of(program->status);
	if (WIFSIGNALED(program->status))
		tw_say("%s was ended by signal %d (%s): the log has all until then", program->name,
		       WTERMSIG(program->status), strsignal(WTERMSIG(program->status)));
	if (flight->lost)
		tw_say("%s had no room: more of it by --max-size, or the newest alone by --ring",
		       tw_show_plural(flight->lost, "record").text);
	enum { NOT_STARTED = 127 };
	if (flight->logs || own == NOT_STARTED)
		return own;
	tw_say_error("%s: no calls were recorded: build it with clang -fxray-instrument, or with gcc or clang "
	             "-finstrument-functions, not with -static",
	             program->name);
	return own ? own : TW_EXIT_FAILED;
}

static void say_older(const struct flight *flight)
{
	for (size_t i = 0; i < flight->older.count; i++)
		tw_say("%s/%s: of an earlier run that was not ended; every command reads it", flight->folder,
		       flight->older.names[i]);
}

/* Lists that are not there would choose nothing. */
static int look_at_lists(const struct tw_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (*list->items[i] == '@' && access(list->items[i] + 1, R_OK) != 0)
			return tw_say_error("%s: %s", list->items[i] + 1, strerror(errno));
	return 0;
}

static int run(const struct tw_record_options *options, char **words, size_t count)
{
	struct flight flight = {.options = options, .words = words};
	struct tw_program program = {.become = become, .context = &flight, .name = words[0]};
	(void)count;
	if (!take_output(&flight, options->output))
		return tw_say_error("%s: %s", options->output, strerror(errno));
	if (options->library ? !realpath(options->library, flight.library)
	                     : !tw_program_part(library_name, flight.library))
		return tw_say_error("%s: not found; --library names it",
		                    options->library ? options->library : library_name);
	int status = tw_worse(look_at_lists(&options->only), look_at_lists(&options->never));
	if (status)
		return status;
	status = list_logs(&flight, &flight.older) ? tw_program_run(&program) : tw_say_error("out of memory");
	if (status == 0) {
		flight.pid = program.pid;
		status = finish_all(&flight);
		status = status ? status : say_end(&flight, &program);
		say_older(&flight);
	}
	free_logs(&flight.older);
	return status;
}

static const char *const clocks[] = {"auto", "monotonic", "tsc", NULL};
static const struct tw_option own_options[] = {
    {"ring", 0, TW_OPTION_SIZE, TW_RECORD_MEMBER(ring), .placeholder = "SIZE", .least = 1 << 15,
     .help = "keep the newest of each thread, about SIZE bytes; otherwise all is kept"},
    {"max-size", 0, TW_OPTION_SIZE, TW_RECORD_MEMBER(max_size), .placeholder = "SIZE", .least = 1 << 20,
     .help = "how large the log of a process may become; what comes then is counted"},
    {"clock", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(clock), .words = clocks,
     .help =
         "auto: the processor's counter where the kernel trusts it, else the kernel's clock; monotonic: the kernel's; "
         "tsc: the processor's"},
    {"function", 0, TW_OPTION_LIST, TW_RECORD_MEMBER(only), .placeholder = "GLOB",
     .help = "record these functions alone, named as the symbols are, or as stat shows them, without what is in "
             "parentheses at the end; @FILE: those that its lines name. May be repeated"},
    {"not-function", 0, TW_OPTION_LIST, TW_RECORD_MEMBER(never), .placeholder = "GLOB",
     .help = "do not record these functions; @FILE: those that its lines name. May be repeated"},
    {"min-duration", 0, TW_OPTION_DURATION, TW_RECORD_MEMBER(min_duration), .placeholder = "TIME", .least = 1,
     .help = "leave out calls that took less, but for those in which something else is kept"},
    {"max-depth", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(max_depth), .placeholder = "N", .least = 1, .most = 64,
     .help = "leave out calls in N others, 64 at most"},
    {"library", 0, TW_OPTION_FILE, TW_RECORD_MEMBER(library), .placeholder = "FILE",
     .help = "the recorder; the one that came with this tool otherwise"},
};
const struct tw_option_group tw_record_flight_options = {"Calls (xray-fdr)", own_options,
                                                         sizeof own_options / sizeof *own_options};
const struct tw_recorder tw_record_flight = {
    .format = "xray-fdr",
    .group = &tw_record_flight_options,
    .run = run,
};
