/* samples.c - samples of stacks, of allocations and of CPU time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/samples.h"

#include "base/text/digits.h"
#include "tracelog/jobs/dependencies.h"
#include "tracelog/log/log.h"

#include <inttypes.h>

#define US_IN_MS UINT64_C(1000)
#define NS_IN_US UINT64_C(1000)
#define NS_IN_MS UINT64_C(1000000)

/* Samples of a thread that may wait for the CPU time that they used: logs have a usage about every sample, or none
 * at all. */
enum { WAITING_MAX = 1024 };

__extension__ typedef unsigned __int128 u128;

/* ---- Stacks. ---- */

/* A record of no ticks only says what the stack is before an allocation. */
void tracelog_judge_zero(struct tracelog_log *log, struct tracelog_thread *thread)
{
	if (thread->samples.unjudged.line)
		tracelog_report_at(log, TRACELOG_COUNT_ZERO, thread->samples.unjudged,
		                   "no allocation of the thread follows");
	thread->samples.unjudged = (struct tracelog_place){0};
}

static uint64_t wall_of(const struct tracelog_log *log, const struct tracelog_thread *thread, uint64_t time)
{
	const struct tracelog_times *times = &log->times;
	uint64_t since = thread->samples.last;
	if (!thread->samples.any || thread->other)
		return 0;
	if (times->resumed && times->resumed_at > since)
		since = times->resumed_at;
	return time > since ? time - since : 0;
}

/* Lets a sample wait for the CPU time of its interval. The oldest give way. */
static void wait(struct tracelog_log *log, struct tracelog_thread *thread,
                 const struct tracelog_unshared_sample *sample)
{
	if (!tracelog_wants(log, thread, TW_CPU_SAMPLE))
		return;
	if (thread->cpu.unshared_count == WAITING_MAX) {
		thread->cpu.unshared_count /= 2;
		memmove(thread->cpu.unshared, thread->cpu.unshared + WAITING_MAX / 2,
		        WAITING_MAX / 2 * sizeof *thread->cpu.unshared);
	}
	if (tracelog_grow(log, &thread->cpu.unshared, &thread->cpu.unshared_room, thread->cpu.unshared_count,
	                  sizeof *sample))
		thread->cpu.unshared[thread->cpu.unshared_count++] = *sample;
}

static void add_sample(struct tracelog_log *log, struct tracelog_thread *thread, uint64_t time, uint32_t stack,
                       uint64_t ticks)
{
	const struct tracelog_unshared_sample sample = {stack, ticks, wall_of(log, thread, time)};
	thread->samples.any = true;
	thread->samples.last = time;
	wait(log, thread, &sample);
	if (!tracelog_wants(log, thread, TW_STACK_SAMPLE))
		return;
	struct tw_event *row = tracelog_row(log, thread, TW_STACK_SAMPLE, time);
	row->name = tracelog_innermost(log, stack);
	row->value = ticks;
	row->id = sample.wall_ns;
	row->other = stack;
}

/* Without a timer there is only the time since the record before: it was spent in the stack that the thread had
 * then. */
static void add_interval(struct tracelog_log *log, struct tracelog_thread *thread, uint64_t time, uint32_t before)
{
	if (wall_of(log, thread, time))
		add_sample(log, thread, time, before, 0);
	thread->samples.any = true;
	thread->samples.last = time;
}

/* What does not go with the settings. */
static void judge_sample(struct tracelog_log *log, const struct tracelog_sample *sample)
{
	const struct tracelog_setting_value *method = &log->settings[TRACELOG_METHOD];
	bool has_ip = sample->ip != 0;
	for (size_t i = 0; i < sample->frame_count && !has_ip; i++)
		has_ip = sample->frames[i].ip != 0;
	if (has_ip)
		tracelog_judge_setting(log, TRACELOG_LINE_TRACE);
	if (sample->count && method->is_set && method->value <= TRACELOG_INSTRUMENTATION)
		tracelog_report(log, TRACELOG_TICKS_WITHOUT_TIMER, "%" PRIu64 " ticks", sample->count);
}

void tracelog_take_sample(struct tracelog_log *log, const struct tracelog_sample *sample)
{
	struct tracelog_thread *thread = tracelog_living_thread(log, sample->thread);
	uint64_t time = tracelog_time_of(log, thread, TRACELOG_SAMPLES, sample->ms);
	uint32_t before = tracelog_stack(thread);
	size_t depth = thread->stack.depth;
	tracelog_judge_zero(log, thread);
	size_t kept = tracelog_change_stack(log, thread, sample);
	thread->stack.has_record = true;
	if (log->dependencies)
		tracelog_depend_sample(log, thread, sample, depth < kept ? depth : kept);
	if (log->times.paused && time > log->times.paused_at)
		tracelog_report(log, TRACELOG_SAMPLE_WHILE_PAUSED, "it was paused at %" PRIu64 " ms",
		                log->times.paused_at / NS_IN_MS);
	if (log->request.check)
		judge_sample(log, sample);
	if (!sample->has_count)
		tracelog_report(log, TRACELOG_COUNT_UNKNOWN, "expected a number of ticks, found ?");
	if (!sample->has_count || sample->count)
		add_sample(log, thread, time, tracelog_stack(thread), sample->count);
	else if (log->settings[TRACELOG_METHOD].is_set &&
	         log->settings[TRACELOG_METHOD].value == TRACELOG_INSTRUMENTATION)
		add_interval(log, thread, time, before);
	else
		thread->samples.unjudged = log->line.at;
}

/* ---- Allocations. ---- */

static void add_allocation(struct tracelog_log *log, const struct tracelog_thread *thread, uint64_t time,
                           const struct tracelog_allocation *allocation)
{
	uint32_t class = tracelog_object_of(log, TRACELOG_CLASS, allocation->iid);
	bool wanted = tracelog_wants(log, thread, TW_ALLOCATION_SAMPLE);
	uint32_t stack = wanted || allocation->ip ? tracelog_stack_at(log, thread, allocation->ip) : 0;
	tracelog_judge_object_sizes(log, allocation->iid, allocation->count, allocation->bytes);
	if (allocation->ip)
		tracelog_judge_setting(log, TRACELOG_LINE_TRACE);
	if (!wanted)
		return;
	struct tw_event *row = tracelog_row(log, thread, TW_ALLOCATION_SAMPLE, time);
	row->name = tracelog_object(log, TRACELOG_CLASS, class)->name;
	row->value = allocation->bytes;
	row->id = allocation->count;
	row->other = stack;
}

void tracelog_take_allocations(struct tracelog_log *log, uint32_t number, uint32_t ms,
                               const struct tracelog_allocation *allocations, size_t count)
{
	struct tracelog_thread *thread = tracelog_living_thread(log, number);
	uint64_t time = tracelog_time_of(log, thread, TRACELOG_ALLOCATIONS, ms);
	thread->samples.unjudged = (struct tracelog_place){0};
	if (log->dependencies)
		tracelog_depend_passing(log, thread);
	tracelog_judge_setting(log, TRACELOG_MEMORY_TRACE);
	if (count && !thread->stack.has_record && !thread->other)
		tracelog_report(log, TRACELOG_ALLOCATION_WITHOUT_STACK,
		                "no sam str of thread 0x%" PRIx32 " stands before", number);
	bool wanted = log->request.check || tracelog_wants(log, thread, TW_ALLOCATION_SAMPLE);
	for (size_t i = 0; wanted && i < count; i++)
		add_allocation(log, thread, time, &allocations[i]);
}

/* ---- CPU time. ---- */

/* How long a thread compiled in the interval of a usage. */
struct compiled_share {
	uint64_t ns, of_ns;
};

static void add_cpu_sample(struct tracelog_log *log, const struct tracelog_thread *thread, uint64_t time,
                           uint32_t stack, uint64_t ns)
{
	if (ns == 0)
		return;
	struct tw_event *row = tracelog_row(log, thread, TW_CPU_SAMPLE, time);
	row->name = tracelog_innermost(log, stack);
	row->value = ns;
	row->other = stack;
}

/* floor(whole * part / all), where part is less than all. */
static uint64_t part_of(uint64_t whole, u128 part, u128 all)
{
	while (all >> 64) {
		all >>= 1;
		part >>= 1;
	}
	return (uint64_t)(whole * part / all);
}

/* Adds the CPU time of a thread without samples: as long as the thread compiled, the time is the compiler's. */
static void add_stackless(struct tracelog_log *log, const struct tracelog_thread *thread, uint64_t time, uint64_t ns,
                          const struct compiled_share *compiled)
{
	const uint64_t all = compiled->of_ns, part = compiled->ns < all ? compiled->ns : all;
	const uint64_t of_compiler = all == 0 ? 0 : part == all ? ns : part_of(ns, part, all);
	add_cpu_sample(log, thread, time, of_compiler ? tracelog_jit_stack(log) : 0, of_compiler);
	add_cpu_sample(log, thread, time, 0, ns - of_compiler);
}

static uint64_t weight_of(const struct tracelog_unshared_sample *sample, bool by_ticks)
{
	return by_ticks ? sample->ticks : sample->wall_ns;
}

/* Shares what a thread used over its samples since the last usage: by ticks, or by time where none has ticks. The
 * parts add up to the whole. */
static void share(struct tracelog_log *log, struct tracelog_thread *thread, uint64_t time, uint64_t ns,
                  const struct compiled_share *compiled)
{
	u128 ticks = 0, wall = 0, before = 0;
	for (size_t i = 0; i < thread->cpu.unshared_count; i++) {
		ticks += thread->cpu.unshared[i].ticks;
		wall += thread->cpu.unshared[i].wall_ns;
	}
	u128 all = ticks ? ticks : wall;
	uint64_t given = 0, stackless = 0;
	for (size_t i = 0; i < thread->cpu.unshared_count && all; i++) {
		const struct tracelog_unshared_sample *sample = &thread->cpu.unshared[i];
		before += weight_of(sample, ticks > 0);
		uint64_t up_to = before == all ? ns : part_of(ns, before, all);
		add_cpu_sample(log, thread, time, sample->stack, sample->stack ? up_to - given : 0);
		stackless += sample->stack ? 0 : up_to - given;
		given = up_to;
	}
	if (thread->other && !all)
		add_cpu_sample(log, thread, time, tracelog_stack(thread), ns);
	else
		add_stackless(log, thread, time, all ? stackless : ns, compiled);
	thread->cpu.unshared_count = 0;
}

/* The usage of an interval, less the debt of earlier ones: a negative usage takes back time of an earlier record. */
static uint64_t without_debt(struct tracelog_thread *thread, uint64_t us)
{
	if (us >> 63) {
		uint64_t more = 0 - us;
		thread->cpu.debt_us = more > UINT64_MAX - thread->cpu.debt_us ? UINT64_MAX : thread->cpu.debt_us + more;
		return 0;
	}
	uint64_t taken = us < thread->cpu.debt_us ? us : thread->cpu.debt_us;
	thread->cpu.debt_us -= taken;
	return us - taken;
}

static void judge_usage(struct tracelog_log *log, const struct tracelog_thread *thread, uint64_t us,
                        uint64_t interval_ns)
{
	/* How many processors a process has is not told: CPU_SETSIZE of Linux is the most that it can name. */
	enum { PROCESSORS_MAX = 1024 };
	uint64_t processors = thread == tracelog_process_thread(log) ? PROCESSORS_MAX : 1;
	if (us >> 63)
		tracelog_report(log, TRACELOG_USAGE_NEGATIVE, "%" PRId64 " us", (int64_t)us);
	else if (interval_ns && us / US_IN_MS / processors > interval_ns / NS_IN_MS + 1)
		tracelog_report(log, TRACELOG_USAGE_ABOVE_INTERVAL, "%" PRIu64 " us of %" PRIu64 " us", us,
		                interval_ns / NS_IN_US);
}

static void add_usage(struct tracelog_log *log, const struct tracelog_thread *thread, uint64_t time, uint64_t us,
                      uint64_t interval_ns, bool first)
{
	bool process = thread == tracelog_process_thread(log);
	if (!tracelog_wants(log, thread, TW_COUNTER))
		return;
	struct tw_event *row = tracelog_row(log, thread, TW_COUNTER, time);
	row->name = process ? tracelog_runtime_name(log, TW_RUNTIME_PROCESS_CPU)
	                    : tracelog_runtime_name(log, TW_RUNTIME_THREAD_CPU);
	row->category = tracelog_runtime_name(log, TW_RUNTIME_CPU);
	row->id = process ? 0 : thread->iid == TW_TRACELOG_IID_NONE ? TW_UNKNOWN_TASK : thread->iid;
	tracelog_add_number(log, tracelog_runtime_name(log, TW_RUNTIME_US), TW_ARG_INT, us);
	if (interval_ns)
		tracelog_add_percent(log, tracelog_runtime_name(log, TW_RUNTIME_PERCENT),
		                     (double)(int64_t)us * 100 * (double)NS_IN_US / (double)interval_ns);
	/* Only the first record has its interval as an argument: that of a later one is the time since the record
	 * before. */
	if (interval_ns && first)
		tracelog_add_number(log, tracelog_runtime_name(log, TW_RUNTIME_INTERVAL_US), TW_ARG_UINT,
		                    interval_ns / NS_IN_US);
}

/* The interval of the first usage. */
static uint64_t timeout(const struct tracelog_log *log)
{
	uint64_t ms = log->settings[TRACELOG_CPU_TIMEOUT].value;
	return ms > UINT32_MAX ? 0 : ms * NS_IN_MS;
}

static void judge_interval(struct tracelog_log *log, const struct tracelog_usage *usage, uint64_t time)
{
	tracelog_judge_setting(log, usage->process ? TRACELOG_CPU_OF_PROCESS : TRACELOG_CPU_OF_THREADS);
	if (log->times.paused && time > log->times.paused_at)
		tracelog_report(log, TRACELOG_USAGE_WHILE_PAUSED, "it was paused at %" PRIu64 " ms",
		                log->times.paused_at / NS_IN_MS);
}

void tracelog_take_usage(struct tracelog_log *log, const struct tracelog_usage *usage)
{
	struct tracelog_thread *thread =
	    usage->process ? tracelog_process_thread(log) : tracelog_living_thread(log, usage->thread);
	uint64_t before = thread->cpu.last;
	uint64_t time = tracelog_time_of(log, thread, TRACELOG_CPU, usage->ms);
	bool first = !thread->cpu.any;
	uint64_t interval = thread->other ? 0 : first ? timeout(log) : time > before ? time - before : 0;
	thread->cpu.any = true;
	thread->cpu.last = time;
	if (log->request.check) {
		judge_usage(log, thread, usage->us, interval);
		judge_interval(log, usage, time);
	}
	add_usage(log, thread, time, usage->us, interval, first);
	const struct compiled_share compiled = {tracelog_take_compiled(thread, time), interval};
	if (!usage->process && tracelog_wants(log, thread, TW_CPU_SAMPLE)) {
		uint64_t us = without_debt(thread, usage->us);
		share(log, thread, time, us > UINT64_MAX / NS_IN_US ? UINT64_MAX : us * NS_IN_US, &compiled);
	}
	if (log->dependencies)
		tracelog_depend_usage(log, thread);
}
