/* tracelog.c - a .NET program, by the profiler that its runtime is given. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/input.h"
#include "base/bytes/output.h"
#include "base/threads/witness.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "cli/record/record.h"
#include "coreprofiler/lines.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct tw_program_part library_part = {"libtrackway_coreprofiler.so", "trackway-dotnet", "--library"};
static const char mono_library_name[] = "libmono-profiler-trackway.so";

struct dotnet {
	const struct tw_record_options *options;
	char library[PATH_MAX], mono_folder[PATH_MAX]; /* mono_folder: "" where Mono's profiler is not there */
	char **words;
	struct tw_parts parts;
	uint64_t lost;
};

/* ---- The program. ---- */

static bool set(const char *name, const char *value)
{
	return setenv(name, value, 1) == 0;
}

/* An option, else what the user has in the environment, else what is usual. */
static bool choose(const char *name, const char *option, const char *usual)
{
	return setenv(name, option ? option : usual, option != NULL) == 0;
}

static bool choose_time(const char *name, uint64_t ns)
{
	enum { MILLISECOND = 1000000 };
	char text[32];
	if (!ns)
		return true;
	snprintf(text, sizeof text, "%llu", (unsigned long long)((ns + MILLISECOND - 1) / MILLISECOND));
	return set(name, text);
}

/* 0: as it is. */
static bool set_size(const char *name, uint64_t size)
{
	char text[32];
	snprintf(text, sizeof text, "%llu", (unsigned long long)size);
	return !size || set(name, text);
}

/* The runtime's names are of .NET Core; from .NET 11 on they are DOTNET_. */
static bool set_profiler(const char *library)
{
	static const char guid[] = "{101DA8FE-FDCA-4D0E-9712-7639CDE48EBA}"; /* CoreProfiler's own */
	return set("CORECLR_ENABLE_PROFILING", "1") && set("CORECLR_PROFILER", guid) &&
	       set("CORECLR_PROFILER_PATH", library) && set("DOTNET_ENABLE_PROFILING", "1") &&
	       set("DOTNET_PROFILER", guid) && set("DOTNET_PROFILER_PATH", library);
}

/* What the user has may be there, too. */
static bool set_before(const char *name, const char *value, char between)
{
	const char *old = getenv(name);
	char *both = NULL;
	if (!old || !*old)
		return set(name, value);
	const bool fits = asprintf(&both, "%s%c%s", value, between, old) > 0 && set(name, both);
	free(both);
	return fits;
}

/* Mono looks for profilers where libraries are: it knows no path. Calls of inlined code, and of code that was compiled
 * before, are not told of. */
static bool set_mono(const char *folder, const char *method)
{
	const bool calls = method && strcasecmp(method, "Instrumentation") == 0;
	return !*folder ||
	       (set_before("LD_LIBRARY_PATH", folder, ':') &&
	        set_before("MONO_ENV_OPTIONS",
	                   calls ? "--debug --profile=trackway -O=-aot,-inline" : "--debug --profile=trackway", ' '));
}

static void become(const void *context)
{
	const struct dotnet *dotnet = context;
	const struct tw_record_options *options = dotnet->options;
	char path[TW_PART_ROOM];
	tw_parts_pattern(&dotnet->parts, path);
	const bool heap = options->dotnet.live_heap;
	if (set_profiler(dotnet->library) && set("TRACKWAY_TRACELOG", path) &&
	    set_size("TRACKWAY_TRACELOG_SIZE", options->max_size) &&
	    set_size("TRACKWAY_TRACELOG_ALLOC_BYTES", options->dotnet.alloc_bytes) &&
	    (!options->dotnet.dialect || set("TRACKWAY_TRACELOG_DIALECT", options->dotnet.dialect)) &&
	    (!heap || set("TRACKWAY_TRACELOG_LIVE_HEAP", "1")) &&
	    (!options->dotnet.delayed_start || set("PROF_DELAYED_START", "1")) &&
	    choose("PROF_COLLECT_METHOD", options->dotnet.collect_method, "Sampling") &&
	    choose("PROF_EXECUTION_TRACE", options->dotnet.execution_trace, "1") &&
	    choose("PROF_MEMORY_TRACE", options->dotnet.memory_trace, "1") &&
	    choose("PROF_GC_TRACE", options->dotnet.gc_trace, "1") &&
	    choose("PROF_CPU_TRACE", options->dotnet.cpu_trace, "1") &&
	    choose("PROF_LINE_TRACE", options->dotnet.line_trace, "1") &&
	    choose_time("PROF_SAMPLING_TIMEOUT", options->dotnet.sampling_timeout) &&
	    choose_time("PROF_CPU_TRACE_TIMEOUT", options->dotnet.cpu_trace_timeout) &&
	    set_mono(dotnet->mono_folder, getenv("PROF_COLLECT_METHOD")))
		execvp(dotnet->words[0], dotnet->words);
	fprintf(stderr, "trackway: error: %s: %s\n", dotnet->words[0], strerror(errno));
}

/* ---- Its logs. ---- */

static bool read_part(void *context, uint64_t offset, void *bytes, size_t size)
{
	return tw_input_read(context, offset, bytes, size) == (int64_t)size;
}

static bool take(void *context, const char *text, size_t size)
{
	struct tw_output *out = context;
	tw_put(out, text, size);
	return out->error == 0;
}

/* Writes the lines of an image as a log. Returns 0 or an errno. */
static int write_log(struct tw_input *part, const char *path, struct lines_summary *summary)
{
	const struct lines_source source = {read_part, part, tw_input_size(part)};
	struct tw_output out;
	int error = tw_output_open(&out, path);
	if (error)
		return error;
	error = lines_collect(&source, take, &out, summary);
	if (error == 0)
		return tw_output_close(&out);
	tw_output_discard(&out);
	return error;
}

static int finish(void *context, const char *part, unsigned long pid)
{
	struct dotnet *dotnet = context;
	struct lines_summary summary;
	char path[TW_PART_ROOM];
	tw_parts_name(&dotnet->parts, pid, path);
	struct tw_input *input = NULL;
	const int status = tw_input_open_regular(&input, part);
	const int error = status < 0 ? EIO : write_log(input, path, &summary);
	tw_input_close(input);
	if (error)
		return tw_say_error("%s: %s: %s; %s stays, and every command reads it", path, "not written",
		                    error == EINVAL ? "no image of the profiler" : strerror(error), part);
	unlink(part);
	dotnet->parts.logs++;
	dotnet->lost += summary.lost;
	tw_say("%s: %s", path, tw_show_plural(summary.lines, "record").text);
	return 0;
}

/* ---- Programs that run. ---- */

static bool asks(const struct tw_record_options *options)
{
	return options->dotnet.pause || options->dotnet.resume;
}

/* ---- All. ---- */

static int say_end(const struct dotnet *dotnet, const struct tw_program *program)
{
	const int own = tw_status_of(program->status);
	if (WIFSIGNALED(program->status))
		tw_say("%s was ended by signal %d (%s): the log has all until then", program->name,
		       WTERMSIG(program->status), strsignal(WTERMSIG(program->status)));
	if (dotnet->lost)
		tw_say("%s had no room: more of it by --max-size", tw_show_plural(dotnet->lost, "record").text);
	enum { NOT_STARTED = 127 };
	if (dotnet->parts.logs || own == NOT_STARTED)
		return own;
	tw_say_error("%s: nothing was recorded: it is no program of .NET Core 3.0 or later, nor of Mono, or its "
	             "profilers are switched off",
	             program->name);
	return own ? own : TW_EXIT_FAILED;
}

/* Beside the other one. */
static void find_mono(struct dotnet *dotnet)
{
	char path[PATH_MAX + sizeof mono_library_name];
	const char *name = strrchr(dotnet->library, '/');
	const int length = name ? (int)(name - dotnet->library) : 0;
	snprintf(path, sizeof path, "%.*s/%s", length, dotnet->library, mono_library_name);
	if (length && access(path, R_OK) == 0)
		snprintf(dotnet->mono_folder, sizeof dotnet->mono_folder, "%.*s", length, dotnet->library);
}

static int run(const struct tw_record_options *options, char **words, size_t count)
{
	struct dotnet dotnet = {.options = options, .words = words};
	struct tw_program program = {.become = become, .context = &dotnet, .name = words[0]};
	(void)count;
	if (asks(options))
		return tw_worse(tw_program_signal(options->dotnet.pause, TW_SIGNAL_PAUSE),
		                tw_program_signal(options->dotnet.resume, TW_SIGNAL_RESUME));
	int status = tw_program_part(&library_part, options->library, dotnet.library);
	find_mono(&dotnet);
	status = status ? status : tw_parts_begin(&dotnet.parts, options->output);
	status = status ? status : tw_program_run(&program);
	if (status == 0) {
		status = tw_parts_finish(&dotnet.parts, program.pid, finish, &dotnet);
		status = status ? status : say_end(&dotnet, &program);
		tw_parts_say_older(&dotnet.parts);
	}
	tw_parts_end(&dotnet.parts);
	return status;
}

static const char *const methods[] = {"None", "Sampling", "Instrumentation", NULL};
static const char *const switches[] = {"on", "off", NULL};
static const char *const dialects[] = {"d3", "d2", NULL};
static const struct tw_option own_options[] = {
    {"collect-method", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(dotnet.collect_method), .words = methods,
     .help = "Sampling: the stacks of all threads, now and then, the default; Instrumentation: every call; None: no "
             "stacks of their own (PROF_COLLECT_METHOD)"},
    {"sampling-timeout", 0, TW_OPTION_DURATION, TW_RECORD_MEMBER(dotnet.sampling_timeout), .placeholder = "TIME",
     .least = 1000000, .help = "how often, in whole milliseconds; 10ms otherwise (PROF_SAMPLING_TIMEOUT)"},
    {"line-trace", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(dotnet.line_trace), .words = switches,
     .help = "the places in functions where they call and allocate; on otherwise (PROF_LINE_TRACE)"},
    {"memory-trace", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(dotnet.memory_trace), .words = switches,
     .help = "every allocation with its class and stack; on otherwise (PROF_MEMORY_TRACE)"},
    {"alloc-bytes", 0, TW_OPTION_SIZE, TW_RECORD_MEMBER(dotnet.alloc_bytes), .placeholder = "SIZE", .least = 1,
     .help = "only a sample of allocations, about one every SIZE bytes, scaled to what it stands for: counts and bytes "
             "are estimates. From 100K on the runtime takes the samples itself (.NET 5 and later), which costs least"},
    {"live-heap", 0, TW_OPTION_FLAG, TW_RECORD_MEMBER(dotnet.live_heap),
     .help = "what lives after each collection, by class. The runtime then collects nothing in the background"},
    {"gc-trace", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(dotnet.gc_trace), .words = switches,
     .help = "collections and generations; on otherwise (PROF_GC_TRACE)"},
    {"execution-trace", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(dotnet.execution_trace), .words = switches,
     .help = "compilations, classes and functions, also where no stack needs them; on otherwise "
             "(PROF_EXECUTION_TRACE)"},
    {"cpu-trace", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(dotnet.cpu_trace), .words = switches,
     .help = "CPU time of the process and of threads; on otherwise (PROF_CPU_TRACE)"},
    {"cpu-trace-timeout", 0, TW_OPTION_DURATION, TW_RECORD_MEMBER(dotnet.cpu_trace_timeout), .placeholder = "TIME",
     .least = 1000000, .help = "how often, in whole milliseconds; 10ms otherwise (PROF_CPU_TRACE_TIMEOUT)"},
    {"delayed-start", 0, TW_OPTION_FLAG, TW_RECORD_MEMBER(dotnet.delayed_start),
     .help = "begin when --resume says so; until then only what is loaded is recorded (PROF_DELAYED_START)"},
    {"pause", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(dotnet.pause), .placeholder = "PID", .least = 1, .most = INT_MAX,
     .help = "let the profiler of this process pause: a process that another record has started"},
    {"resume", 0, TW_OPTION_COUNT, TW_RECORD_MEMBER(dotnet.resume), .placeholder = "PID", .least = 1, .most = INT_MAX,
     .help = "let it go on"},
    {"dialect", 0, TW_OPTION_CHOICE, TW_RECORD_MEMBER(dotnet.dialect), .words = dialects,
     .help = "d3, as readers of 2018 and later have it, the default; d2, as the format's document has it"},
    {"max-size", 0, TW_OPTION_SIZE, TW_RECORD_MEMBER(max_size), .placeholder = "SIZE", .least = 1 << 20,
     .help = "how large the log of a process may become; what comes then is counted"},
    {"library", 0, TW_OPTION_FILE, TW_RECORD_MEMBER(library), .placeholder = "FILE",
     .help = "the profiler; the one that came with this tool otherwise"},
};
const struct tw_option_group tw_record_dotnet_options = {".NET programs (tracelog)", own_options,
                                                         sizeof own_options / sizeof *own_options};
const struct tw_recorder tw_record_dotnet = {
    .format = "tracelog",
    .group = &tw_record_dotnet_options,
    .asks = asks,
    .run = run,
};
