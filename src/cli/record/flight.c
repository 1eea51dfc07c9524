/* flight.c - the calls of a program, by the flight recorder that it is given. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "cli/record/counts.h"
#include "cli/record/record.h"
#include "flight/log/log.h"
#include "manage/manage.h"
#include "symbols/tool.h"

#include <trackway/writer.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct tw_program_part library_part = {"libtrackway_fdr.so", "libtrackway-fdr0", "--library"};
enum { OPTIONS_ROOM = 320 };

struct flight {
	const struct tw_record_options *options;
	char library[PATH_MAX];
	char **words;
	struct tw_parts parts;
	struct tw_memory_logs memory;
	bool has_log;     /* of the program itself, with calls or none */
	uint64_t refused; /* processes that could make no log */
	struct losses {
		uint64_t records; /* that are not in a log */
		uint64_t in_handlers;
		uint64_t children; /* without a log */
		uint64_t error;    /* errno of one of these */
	} lost;
	struct tw_call_totals counts;
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

/* AddressSanitizer's library, that of gcc, ends a program in which it is not the first; the recorder may be. */
static bool set_sanitizer(void)
{
	const char *others = getenv("ASAN_OPTIONS");
	char *list = NULL;
	const bool good =
	    asprintf(&list, "verify_asan_link_order=0%s%s", others ? ":" : "", others ? others : "") >= 0 &&
	    setenv("ASAN_OPTIONS", list, 1) == 0;
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

static bool add_functions(struct tw_text *text, const struct tw_record_options *options)
{
	return add_patterns(text, &options->flight.only, '+') && add_patterns(text, &options->flight.never, '-');
}

static bool set_functions(const struct tw_record_options *options)
{
	struct tw_text text = {0};
	const bool set =
	    add_functions(&text, options) && (text.bytes ? setenv("TRACKWAY_FLIGHT_FUNCTIONS", text.bytes, 1)
	                                                 : unsetenv("TRACKWAY_FLIGHT_FUNCTIONS")) == 0;
	tw_text_free(&text);
	return set;
}

/* As TRACKWAY_FLIGHT_OPTIONS has them. */
static void put_options(const struct tw_record_options *options, char list[static OPTIONS_ROOM])
{
	const struct {
		const char *name;
		uint64_t value; /* 0: is not told */
	} numbers[] = {{"delayed", options->dotnet.delayed_start},
	               {"count", options->flight.count},
	               {"max-size", options->max_size},
	               {"ring", options->flight.ring},
	               {"max-depth", options->flight.max_depth},
	               {"min-duration", options->flight.min_duration},
	               {"snapshot-age", options->flight.since}};
	int length =
	    snprintf(list, OPTIONS_ROOM, "clock=%s,signals=1,quiet=1", options->clock ? options->clock : "auto");
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (numbers[i].value)
			length += snprintf(list + length, OPTIONS_ROOM - (size_t)length, ",%s=%llu", numbers[i].name,
			                   (unsigned long long)numbers[i].value);
}

static void become(const void *context)
{
	const struct flight *flight = context;
	char path[TW_PART_ROOM], snapshots[TW_PART_ROOM], list[OPTIONS_ROOM];
	put_options(flight->options, list);
	tw_parts_pattern(&flight->parts, path);
	if (flight->options->fxt.in_memory)
		snprintf(path, sizeof path, "@%s", flight->memory.name);
	tw_parts_snapshots(&flight->parts, snapshots);
	if (setenv("TRACKWAY_FLIGHT", path, 1) == 0 && setenv("TRACKWAY_FLIGHT_SNAPSHOT", snapshots, 1) == 0 &&
	    setenv("TRACKWAY_FLIGHT_OPTIONS", list, 1) == 0 && set_functions(flight->options) &&
	    set_preload(flight->library) && set_sanitizer())
		execvp(flight->words[0], flight->words);
	fprintf(stderr, "trackway: error: %s: %s\n", flight->words[0], strerror(errno));
}

/* ---- Its logs. ---- */

static void add_losses(struct losses *lost, const struct tw_info *info)
{
	const struct {
		const char *name;
		uint64_t *sum;
	} names[] = {{"lost_records", &lost->records},
	             {"lost_in_handlers", &lost->in_handlers},
	             {"children_without_log", &lost->children}};
	for (size_t i = 0; i < info->field_count; i++) {
		for (size_t n = 0; n < sizeof names / sizeof *names; n++)
			if (strcmp(info->fields[i].name, names[n].name) == 0)
				*names[n].sum += info->fields[i].value.u;
		if (strcmp(info->fields[i].name, "children_errno") == 0)
			lost->error = info->fields[i].value.u;
	}
}

/* Whether a log has more than the recorder's own notes, and what it has not. */
static int look_at(const char *part, bool *has_calls, struct losses *lost)
{
	const struct tw_read_options options = {.order = TW_ORDER_FILE};
	struct tw_reader *reader;
	struct tw_info info;
	int status = tw_open(&reader, part, &options);
	if (status >= 0)
		status = tw_read_info(reader, 1, &info);
	*has_calls = status >= 0 && info.thread_count > 0;
	if (status >= 0)
		add_losses(lost, &info);
	tw_close(reader);
	return status;
}

/* What is in memory goes by itself. */
static bool drop(const struct flight *flight, const char *part)
{
	return flight->options->fxt.in_memory || unlink(part) == 0;
}

/* Adds what was counted, which is then all that is left of the log. */
static int finish_counts(struct flight *flight, const char *part)
{
	const int status = tw_counts_take(&flight->counts, part);
	if (status == 0)
		drop(flight, part);
	return status;
}

/* Makes a plain log of one that stands as its program left it. */
static int repair(const char *part, const char *path)
{
	const struct tw_read_options options = {.order = TW_ORDER_FILE};
	struct tw_rewrite_result result;
	struct tw_reader *reader = NULL;
	int status = tw_open(&reader, part, &options);
	const bool opened = status >= 0;
	if (opened)
		status = tw_repair(reader, path, &result);
	if (status < 0 && opened)
		tw_say_error("%s; %s stays, and every command reads it", tw_reader_error(reader), part);
	else if (status < 0)
		tw_say_error("%s; it is left as it is", tw_reader_error(reader));
	else
		tw_say("%s: %s", path, tw_show_plural(result.records_out, "record").text);
	tw_close(reader);
	return status < 0 ? TW_EXIT_FAILED : 0;
}

/* The process has the file mapped for good: its bytes go. */
static void give_back(const char *part)
{
	const int file = open(part, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat what;
	if (file >= 0 && fstat(file, &what) == 0)
		fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, what.st_size);
	if (file >= 0)
		close(file);
}

/* A process that cannot have a log leaves a file with nothing in it, or with the reason: *why is its errno, or 0. */
static bool is_refused(const char *part, uint32_t *why)
{
	enum { MARK = sizeof FLIGHT_REFUSED - 1, WORD = MARK + sizeof *why };
	char word[WORD];
	const int file = open(part, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t size = file < 0 ? -1 : read(file, word, sizeof word);
	if (file >= 0)
		close(file);
	*why = 0;
	if (size != WORD || memcmp(word, FLIGHT_REFUSED, MARK) != 0)
		return size == 0;
	memcpy(why, word + MARK, sizeof *why);
	return true;
}

static int say_without_log(struct flight *flight, const char *part, unsigned long pid, uint32_t why)
{
	drop(flight, part);
	flight->refused++;
	return tw_say_error("process %lu: none of its calls were recorded: no log could be made: %s", pid,
	                    why ? strerror((int)why) : "it has no memory, no disk or no right for it");
}

static int finish(void *context, const char *part, unsigned long pid)
{
	struct flight *flight = context;
	char path[TW_PART_ROOM];
	bool has_calls;
	uint32_t why;
	flight->has_log |= pid == (unsigned long)flight->parts.pid;
	if (is_refused(part, &why))
		return say_without_log(flight, part, pid, why);
	const int looked = look_at(part, &has_calls, &flight->lost);
	if (flight->options->flight.count)
		return finish_counts(flight, part);
	if (looked >= 0 && !has_calls)
		return drop(flight, part) ? 0 : TW_EXIT_FAILED;
	tw_parts_name(&flight->parts, pid, path);
	const int status = repair(part, path);
	if (status == 0) {
		if (flight->options->fxt.attach)
			give_back(part);
		drop(flight, part);
		flight->parts.logs++;
	}
	return status;
}

static bool asks(const struct tw_record_options *options)
{
	return options->dotnet.pause || options->dotnet.resume;
}

static bool takes(const struct tw_record_options *options)
{
	return options->flight.snapshot || options->fxt.attach;
}

/* ---- The end. ---- */

static int write_counts(struct flight *flight)
{
	if (flight->counts.calls == 0)
		return 0;
	const int status = tw_counts_write(&flight->counts, flight->options->output);
	if (status == 0)
		tw_say("%s: %s of %s", flight->options->output, tw_show_plural(flight->counts.calls, "call").text,
		       tw_show_plural(flight->counts.count, "function").text);
	flight->parts.logs += status == 0;
	return status;
}

/* Whoever loads it then loads nothing else that the environment names. */
static bool becomes_another(const char *path)
{
	struct stat what;
	return stat(path, &what) == 0 && ((what.st_mode & S_ISUID && what.st_uid != getuid()) ||
	                                  (what.st_mode & S_ISGID && what.st_gid != getgid()));
}

/* What the program's file tells of it, or else how to build it. */
static const char *why_not(const struct flight *flight, const char *program)
{
	const struct tw_record_options *options = flight->options;
	char found[PATH_MAX];
	const bool named = strchr(program, '/') != NULL;
	const char *path = named ? program : tw_program_find(program, found) ? found : NULL;
	if (path && becomes_another(path))
		return "it is set-user-id or set-group-id, and is loaded without the recorder";
	const char *why = path ? tw_built_why_not(path) : NULL;
	if (why)
		return why;
	if (!flight->has_log && !options->fxt.in_memory)
		return "no log of it is there: something has removed it, or it could not be made";
	if (options->flight.only.count || options->flight.never.count)
		return "--function and --not-function leave none of those that it called, or it is not built for that: "
		       "with clang -fxray-instrument, or with gcc or clang -finstrument-functions, not with -static";
	return options->fxt.in_memory
	           ? "build it with clang -fxray-instrument, or with gcc or clang -finstrument-functions, not "
	             "with -static; where it is so, a sandbox may refuse it socket() or connect(), by which "
	             "--in-memory has its log"
	           : "build it with clang -fxray-instrument, or with gcc or clang -finstrument-functions, not "
	             "with -static";
}

/* What is most likely: the log has the number alone. */
static const char *why_lost(const struct tw_record_options *options)
{
	if (options->flight.count)
		return "could not be counted: there are too many functions (--function, --not-function)";
	if (options->max_size)
		return "had no room: more of it by --max-size, or the newest alone by --ring";
	return "had no room: the disk was full or a limit reached, or they are events of no byte or beyond a buffer";
}

static void say_lost(const struct flight *flight)
{
	const struct losses *lost = &flight->lost;
	if (lost->in_handlers)
		tw_say("%s of handlers of signals, which had interrupted two others at a record each, left out",
		       tw_show_plural(lost->in_handlers, "record").text);
	if (lost->records > lost->in_handlers)
		tw_say("%s %s", tw_show_plural(lost->records - lost->in_handlers, "record").text,
		       why_lost(flight->options));
	if (lost->children > flight->refused)
		tw_say("%s without a log, of which no calls were recorded: %s",
		       tw_show_plural(lost->children - flight->refused, "fork").text,
		       lost->error ? strerror((int)lost->error) : "made by clone() or a system call, not by fork()");
}

static int say_end(const struct flight *flight, const struct tw_program *program)
{
	const int own = tw_status_of(program->status);
	if (WIFSIGNALED(program->status))
		tw_say("%s was ended by signal %d (%s): the log has all until then", program->name,
		       WTERMSIG(program->status), strsignal(WTERMSIG(program->status)));
	say_lost(flight);
	enum { NOT_STARTED = 127 };
	if (flight->parts.logs || own == NOT_STARTED)
		return own;
	tw_say_error("%s: no calls were recorded: %s", program->name, why_not(flight, program->name));
	return own ? own : TW_EXIT_FAILED;
}

/* Lists that are not there would choose nothing. */
static int look_at_lists(const struct tw_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct stat what;
		const char *path = list->items[i] + 1;
		if (*list->items[i] != '@')
			continue;
		if (access(path, R_OK) != 0 || stat(path, &what) != 0)
			return tw_say_error("%s: %s", path, strerror(errno));
		if (S_ISDIR(what.st_mode))
			return tw_say_error("%s: %s", path, strerror(EISDIR));
	}
	return 0;
}

/* ---- A program that runs. ---- */

static int ask_start(struct flight *flight, pid_t process)
{
	struct tw_text text = {0};
	char request[2 * TW_PART_ROOM + OPTIONS_ROOM], path[TW_PART_ROOM], snapshots[TW_PART_ROOM], list[OPTIONS_ROOM];
	put_options(flight->options, list);
	tw_parts_pattern(&flight->parts, path);
	tw_parts_snapshots(&flight->parts, snapshots);
	const int length = snprintf(request, sizeof request, "start\n%s\n%s\n%s\n", path, list, snapshots);
	const bool good = length < (int)sizeof request && tw_text_add(&text, request, (size_t)length) &&
	                  add_functions(&text, flight->options);
	const int error = good ? tw_flight_ask(process, text.bytes) : ENAMETOOLONG;
	tw_text_free(&text);
	return error ? tw_flight_say_refused(process, error) : 0;
}

/* Asks the program, or a process that it has forked, to stop. */
static int ask_stop(void *context, const char *part, unsigned long pid)
{
	const struct flight *flight = context;
	(void)part;
	const int error = manage_is_running((pid_t)pid) ? tw_flight_ask((pid_t)pid, "stop\n") : 0;
	if (error == 0 || error == ESRCH || error == ENODATA || pid != (unsigned long)flight->options->fxt.attach)
		return 0;
	return tw_flight_say_refused((pid_t)pid, error);
}

static int attach(struct flight *flight)
{
	const pid_t process = (pid_t)flight->options->fxt.attach;
	char path[64], program[PATH_MAX];
	snprintf(path, sizeof path, "/proc/%ld/exe", (long)process);
	const ssize_t length = readlink(path, program, sizeof program - 1);
	program[length < 0 ? 0 : length] = '\0';
	int status = tw_parts_begin(&flight->parts, flight->options->output);
	tw_flight_block();
	status = status ? status : ask_start(flight, process);
	if (status == 0) {
		tw_flight_wait(process, flight->options->fxt.duration);
		status = tw_parts_finish(&flight->parts, process, ask_stop, flight);
		status = tw_worse(status, tw_parts_finish(&flight->parts, process, finish, flight));
		status = status ? status : write_counts(flight);
		say_lost(flight);
		if (status == 0 && !flight->parts.logs)
			status = tw_say_error("process %ld: no calls were recorded: %s", (long)process,
			                      why_not(flight, program));
	}
	return status;
}

/* ---- All. ---- */

static int finish_memory(struct flight *flight, pid_t program)
{
	flight->parts.pid = program;
	return tw_memory_logs_finish(&flight->memory, program, finish, flight);
}

static int record_program(struct flight *flight)
{
	struct tw_program program = {.become = become, .context = flight, .name = flight->words[0]};
	const bool in_memory = flight->options->fxt.in_memory;
	int status = tw_program_part(&library_part, flight->options->library, flight->library);
	status = status ? status : tw_parts_begin(&flight->parts, flight->options->output);
	if (status == 0 && in_memory) {
		status = tw_memory_logs_begin(&flight->memory);
		program.wake = tw_memory_logs_take;
		program.wake_context = &flight->memory;
		program.wake_fd = flight->memory.listener;
	}
	status = status ? status : tw_program_run(&program);
	if (status == 0) {
		tw_program_unblock(&program);
		if (in_memory)
			status = finish_memory(flight, program.pid);
		status = tw_worse(status, tw_parts_finish(&flight->parts, program.pid, finish, flight));
		status = status ? status : write_counts(flight);
		const int own = tw_status_of(program.status);
		status = !status ? say_end(flight, &program) : own ? own : status;
		tw_parts_say_older(&flight->parts);
	}
	return status;
}

static int run(const struct tw_record_options *options, char **words, size_t count)
{
	struct flight flight = {.options = options, .words = words, .memory.listener = -1};
	(void)count;
	if (asks(options))
		return tw_worse(tw_program_signal(options->dotnet.pause, TW_SIGNAL_PAUSE),
		                tw_program_signal(options->dotnet.resume, TW_SIGNAL_RESUME));
	if (options->flight.snapshot)
		return tw_record_snapshot(options->flight.snapshot, options->flight.since, options->output, repair);
	if (options->flight.count &&
	    (options->flight.ring || options->flight.min_duration || options->flight.max_depth))
		return tw_say_error(
		    "--count counts every call: --ring, --min-duration and --max-depth are about records");
	if (options->fxt.duration && !options->fxt.attach)
		return tw_say_error("--duration is for --attach: a program is recorded to its end");
	if (options->fxt.in_memory && options->fxt.attach)
		return tw_say_error("--in-memory is for a program that is started, not for --attach");
	int status = tw_worse(look_at_lists(&options->flight.only), look_at_lists(&options->flight.never));
	if (status == 0)
		status = options->fxt.attach ? attach(&flight) : record_program(&flight);
	tw_parts_end(&flight.parts);
	tw_memory_logs_end(&flight.memory);
	tw_counts_free(&flight.counts);
	return status;
}

static const char *const clocks[] = {"auto", "monotonic", "tsc", NULL};
static const struct tw_option own_options[] = {
    {"ring", 0, TW_OPTION_SIZE, TW_RECORD_MEMBER(flight.ring), .placeholder = "SIZE", .least = 1 << 15,
     .help = "keep the newest of each thread, about SIZE bytes; otherwise all is kept"},
    {"max-size", 0, TW_OPTION_SIZE, TW_RECORD_MEMBER(max_size), .placeholder = "SIZE", .least = 1 << 20,
     .help = "how large the log of a process may become; what comes then is counted"},
    {"in-memory", 0, TW_OPTION_FLAG, TW_RECORD_MEMBER(fxt.in_memory),
     .help = "the logs are in memory until the program has ended, and in no file: the newest alone by --ring, or less "
             "by --max-size; they are lost with this command"},
    {"clock", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(clock), .words = clocks,
     .help =
         "auto: the processor's counter where the kernel trusts it, else the kernel's clock; monotonic: the kernel's; "
         "tsc: the processor's"},
    {"function", 0, TW_OPTION_LIST, TW_RECORD_MEMBER(flight.only), .placeholder = "GLOB",
     .help = "record these functions alone, named as the symbols are, or as stat shows them, without what is in "
             "parentheses at the end; @FILE: those that its lines name. May be repeated"},
    {"not-function", 0, TW_OPTION_LIST, TW_RECORD_MEMBER(flight.never), .placeholder = "GLOB",
     .help = "do not record these functions; @FILE: those that its lines name. May be repeated"},
    {"min-duration", 0, TW_OPTION_DURATION, TW_RECORD_MEMBER(flight.min_duration), .placeholder = "TIME", .least = 1,
     .help = "leave out calls that took less, but for those in which something else is kept"},
    {"max-depth", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(flight.max_depth), .placeholder = "N", .least = 1,
     .most = UINT32_MAX, .help = "leave out calls in N others"},
    {"count", 0, TW_OPTION_FLAG, TW_RECORD_MEMBER(flight.count),
     .help = "count the calls of each function, and record none: OUT is a list, the functions with most calls first, "
             "which --not-function @OUT takes"},
    {"delayed-start", 0, TW_OPTION_FLAG, TW_RECORD_MEMBER(dotnet.delayed_start),
     .help = "record nothing before --resume"},
    {"pause", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(dotnet.pause), .placeholder = "PID", .least = 1, .most = INT_MAX,
     .help = "let the recording of this process pause: a process that another record has started"},
    {"resume", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(dotnet.resume), .placeholder = "PID", .least = 1, .most = INT_MAX,
     .help = "let it go on"},
    {"attach", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(fxt.attach), .placeholder = "PID", .least = 1, .most = INT_MAX,
     .help = "record a process that runs and has the recorder in it, linked or by LD_PRELOAD, until it ends or Ctrl-C"},
    {"duration", 0, TW_OPTION_DURATION, TW_RECORD_MEMBER(fxt.duration), .placeholder = "TIME", .least = 1,
     .help = "with --attach: end the recording after so long"},
    {"snapshot", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(flight.snapshot), .placeholder = "PID", .least = 1,
     .most = INT_MAX, .help = "write what the log of this process has at this moment, which goes on"},
    {"since", 0, TW_OPTION_DURATION, TW_RECORD_MEMBER(flight.since), .placeholder = "TIME", .least = 1,
     .help = "of a snapshot only what is not older; with a program those are meant that SIGRTMIN+9 has it write"},
    {"library", 0, TW_OPTION_FILE, TW_RECORD_MEMBER(library), .placeholder = "FILE",
     .help = "the recorder; the one that came with this tool otherwise"},
};
const struct tw_option_group tw_record_flight_options = {"Calls (xray-fdr)", own_options,
                                                         sizeof own_options / sizeof *own_options};
const struct tw_recorder tw_record_flight = {
    .format = "xray-fdr",
    .group = &tw_record_flight_options,
    .asks = asks,
    .takes = takes,
    .run = run,
};
