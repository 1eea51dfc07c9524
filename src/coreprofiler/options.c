/* options.c - what the environment asks for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Who records is told in any case; without `record`, where messages are asked for. */
static void report_wrong(const char *name, const char *text)
{
	if (secure_getenv("TRACKWAY_TRACELOG"))
		dprintf(STDERR_FILENO, "trackway: warning: %s=%.100s is not understood, and left out\n", name, text);
	else
		profiler_say(PROFILER_WARN, "%s=%.100s is not understood, and left out", name, text);
}

static bool is_word(const char *text, const char *words)
{
	const size_t length = strlen(text);
	for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
		if (strcspn(at, " ") == length && strncasecmp(at, text, length) == 0)
			return true;
	return false;
}

static bool flag(const char *name, bool otherwise)
{
	const char *text = secure_getenv(name);
	if (!text || !*text)
		return otherwise;
	const bool yes = is_word(text, "1 true t yes on");
	if (yes || is_word(text, "0 false f no off"))
		return yes;
	report_wrong(name, text);
	return otherwise;
}

static uint64_t number(const char *name, uint64_t least, uint64_t most, uint64_t otherwise)
{
	const char *text = secure_getenv(name);
	if (!text || !*text)
		return otherwise;
	if (text[strspn(text, "0123456789")]) {
		report_wrong(name, text);
		return otherwise;
	}
	const uint64_t value = strtoull(text, NULL, 10);
	return value < least ? least : value > most ? most : value;
}

static enum profiler_method method(void)
{
	static const char name[] = "PROF_COLLECT_METHOD";
	const char *text = secure_getenv(name);
	if (text && is_word(text, "Instrumentation"))
		return PROFILER_INSTRUMENTATION;
	if (text && is_word(text, "Sampling"))
		return PROFILER_SAMPLING;
	if (text && *text && !is_word(text, "None"))
		report_wrong(name, text);
	return PROFILER_NONE;
}

static bool is_old(void)
{
	static const char name[] = "TRACKWAY_TRACELOG_DIALECT";
	const char *text = secure_getenv(name);
	if (text && *text && !is_word(text, "d2 d3"))
		report_wrong(name, text);
	return text && is_word(text, "d2");
}

void profiler_options_read(struct profiler_options *options)
{
	enum { TICK = 10, LONGEST = 60000 };
	const char *stream = secure_getenv("PROF_TRACE_STREAM");
	const enum profiler_method asked = method();
	const bool cpu = flag("PROF_CPU_TRACE", false);
	if (stream && strcasecmp(stream, "File") == 0)
		stream = NULL;
	*options = (struct profiler_options){
	    .image = secure_getenv("TRACKWAY_TRACELOG"),
	    .log = stream ? stream : secure_getenv("PROF_TRACE_FILENAME"),
	    .stream = stream != NULL,
	    .room = number("TRACKWAY_TRACELOG_SIZE", LINES_CHUNK, UINT64_C(1) << 40, 0),
	    .method = asked,
	    .sampling_ms = (uint32_t)number("PROF_SAMPLING_TIMEOUT", 1, LONGEST, TICK),
	    .cpu_ms = (uint32_t)number("PROF_CPU_TRACE_TIMEOUT", 1, LONGEST, TICK),
	    .alloc_bytes = number("TRACKWAY_TRACELOG_ALLOC_BYTES", 1, UINT64_C(1) << 40, 0),
	    .high_granularity = flag("PROF_HIGH_GRAN", true),
	    .line_trace = asked != PROFILER_INSTRUMENTATION && flag("PROF_LINE_TRACE", false),
	    .cpu_process = flag("PROF_CPU_TRACE_PROC", cpu),
	    .cpu_thread = flag("PROF_CPU_TRACE_THREAD", cpu),
	    .execution = flag("PROF_EXECUTION_TRACE", false),
	    .memory = flag("PROF_MEMORY_TRACE", false),
	    .stacks = flag("PROF_STACK_TRACK", true),
	    .gc = flag("PROF_GC_TRACE", false),
	    .live_heap = flag("TRACKWAY_TRACELOG_LIVE_HEAP", false),
	    .delayed = flag("PROF_DELAYED_START", false),
	    .check = flag("TRACKWAY_TRACELOG_CHECK_STACKS", false),
	    .old = is_old(),
	};
}
