/* begin.c - the first lines of a log, and the last. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

#include <stdio.h>
#include <time.h>

static void stop_in_child(void)
{
	profiler.off = true;
}

/* ---- The first lines. ---- */

static void put_start(void)
{
	enum { HOUR = 3600, MINUTE = 60 };
	struct timespec now;
	struct tm local;
	char time[64], zone[48];
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	const long offset = local.tm_gmtoff < 0 ? -local.tm_gmtoff : local.tm_gmtoff;
	strftime(time, sizeof time, "prf stm %Y-%m-%d %H:%M:%S", &local);
	snprintf(zone, sizeof zone, ".%03ld %c%02ld:%02ld", now.tv_nsec / 1000000, local.tm_gmtoff < 0 ? '-' : '+',
	         offset / HOUR, offset % HOUR / MINUTE);
	if (profiler.options.old)
		zone[4] = '\0'; /* the milliseconds alone */
	struct text line;
	text_begin(&line, time);
	text_string(&line, zone);
	profiler_send(&line);
}

static void put_word(const char *name, const char *value)
{
	struct text line;
	text_begin(&line, "prf cfg ");
	text_string(&line, name);
	text_char(&line, ' ');
	text_string(&line, value);
	profiler_send(&line);
}

static void put_flag(const char *name, bool value)
{
	put_word(name, value ? "T" : "F");
}

static void put_number(const char *name, uint64_t value)
{
	struct text text;
	text_begin(&text, "");
	text_decimal(&text, value);
	text_char(&text, '\0');
	put_word(name, text.bytes);
	text_end(&text);
}

static void put_options(const struct profiler_options *options)
{
	static const char *const methods[] = {
	    [PROFILER_NONE] = "None", [PROFILER_SAMPLING] = "Sampling", [PROFILER_INSTRUMENTATION] = "Instrumentation"};
	put_word("CollectionMethod", methods[options->method]);
	put_number("SamplingTimeoutMs", options->sampling_ms);
	put_flag("HighGranularityEnabled", options->high_granularity);
	put_flag("TracingSuspendedOnStart", options->delayed);
	put_flag("LineTraceEnabled", options->line_trace);
	put_flag("CpuTraceProcessEnabled", options->cpu_process);
	put_flag("CpuTraceThreadEnabled", options->cpu_thread);
	put_number("CpuTraceTimeoutMs", options->cpu_ms);
	put_flag("ExecutionTraceEnabled", options->execution);
	put_flag("MemoryTraceEnabled", options->memory);
	put_flag("StackTrackingEnabled", options->stacks);
	put_flag("GcTraceEnabled", options->gc);
}

/* A name of nothing that the runtime knows: where stacks leave managed code, and what compiles it. */
static void put_pseudo(uint32_t iid, const char *name)
{
	struct text line;
	text_begin(&line, "fun nam ");
	text_id(&line, iid);
	text_string(&line, " \"");
	text_string(&line, name);
	text_string(&line, "\" \"\" \"\"");
	profiler_send(&line);
}

/* ---- Beginning and ending. ---- */

bool profiler_begin(void)
{
	const struct profiler_options *options = &profiler.options;
	if (!profiler_log_open(options))
		return false;
	put_start();
	put_options(options);
	put_pseudo(0, "<UNMANAGED>");
	put_pseudo(1, "<JIT>");
	pthread_atfork(NULL, NULL, stop_in_child);
	profiler_pause_begin(options->delayed);
	return true;
}

void profiler_write_sample_bytes(void)
{
	if (profiler.options.memory && profiler.options.alloc_bytes)
		put_number("AllocationSampleBytes", profiler.options.alloc_bytes);
}

void profiler_give_up(void)
{
	profiler_write_out();
	profiler.off = true;
}

/* `record` does so itself. */
static void report_lost(void)
{
	const uint64_t lost = atomic_load_explicit(&profiler.lines.header->lost, memory_order_relaxed);
	if (lost)
		profiler_say(PROFILER_WARN, "records that had no room: %llu", (unsigned long long)lost);
	if (lost && !profiler.options.image)
		put_number("LostRecords", lost);
}

void profiler_finish(void)
{
	if (!lines_are_own(&profiler.lines))
		return; /* a forked child: it has none of the threads that would have to end */
	profiler_ticks_end();
	for (struct profiler_thread *thread = profiler_threads(); thread; thread = thread->next) {
		if (!profiler_take_soon(thread))
			continue; /* it was stopped for good */
		profiler_write_calls(thread);
		profiler_write_allocated(thread);
		profiler_give(thread);
	}
	profiler_write_seen();
	report_lost();
	profiler_write_out();
	if (!profiler.off)
		lines_end(&profiler.lines);
	profiler_say(PROFILER_INFO, "recording ends");
}
