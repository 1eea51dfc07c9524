/* settings.c - how the profiler was set up (prf cfg), and what does not go with it. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "tracelog/log/settings.h"

#include "tracelog/log/log.h"

#define NS_IN_MS UINT64_C(1000000)

enum { TEXT_MOST = 80 /* bytes of a text that a finding quotes */ };

enum form { NUMBER, SWITCH, METHOD };

/* Settings with a known name. Others may mean anything. */
static const struct {
	const char *name;
	enum form form;
	const char *what; /* that a record is of, where the switch turns it off */
} known[TRACELOG_SETTINGS] = {
    [TRACELOG_METHOD] = {"CollectionMethod", METHOD, NULL},
    [TRACELOG_SAMPLING_TIMEOUT] = {"SamplingTimeoutMs", NUMBER, NULL},
    [TRACELOG_HIGH_GRANULARITY] = {"HighGranularityEnabled", SWITCH, NULL},
    [TRACELOG_SUSPENDED] = {"TracingSuspendedOnStart", SWITCH, NULL},
    [TRACELOG_LINE_TRACE] = {"LineTraceEnabled", SWITCH, "an instruction pointer"},
    [TRACELOG_CPU_OF_PROCESS] = {"CpuTraceProcessEnabled", SWITCH, "a CPU usage of the process"},
    [TRACELOG_CPU_OF_THREADS] = {"CpuTraceThreadEnabled", SWITCH, "a CPU usage of a thread"},
    [TRACELOG_CPU_TIMEOUT] = {"CpuTraceTimeoutMs", NUMBER, NULL},
    [TRACELOG_EXECUTION_TRACE] = {"ExecutionTraceEnabled", SWITCH, NULL},
    [TRACELOG_MEMORY_TRACE] = {"MemoryTraceEnabled", SWITCH, "an allocation"},
    [TRACELOG_STACK_TRACKING] = {"StackTrackingEnabled", SWITCH, NULL},
    [TRACELOG_SAMPLE_BYTES] = {"AllocationSampleBytes", NUMBER, NULL},
    [TRACELOG_PART_BEGIN] = {TRACELOG_PART_BEGIN_NAME, NUMBER, NULL},
    [TRACELOG_PART_END] = {TRACELOG_PART_END_NAME, NUMBER, NULL},
};

static bool is_text(struct tw_tracelog_text text, const char *constant)
{
	return text.size == strlen(constant) && memcmp(text.bytes, constant, text.size) == 0;
}

static int shown(struct tw_tracelog_text text)
{
	return (int)(text.size < TEXT_MOST ? text.size : TEXT_MOST);
}

/* ---- Values. ---- */

/* The number that a text is; false where it is none of 64 bits. */
static bool number_in(struct tw_tracelog_text text, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < text.size; i++) {
		uint64_t digit = (uint64_t)text.bytes[i] - '0';
		if (text.bytes[i] < '0' || digit > 9 || *number > (UINT64_MAX - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	return text.size > 0;
}

/* What a value of a form comes to; UINT64_MAX: it is none. */
static uint64_t value_of(struct tw_tracelog_text text, enum form form)
{
	static const char *const words[][3] = {
	    [SWITCH] = {"F", "T", NULL},
	    [METHOD] = {[TRACELOG_NO_METHOD] = "None", "Instrumentation", "Sampling"},
	};
	uint64_t number;
	if (form == NUMBER)
		return number_in(text, &number) ? number : UINT64_MAX;
	for (unsigned i = 0; i < 3; i++)
		if (words[form][i] && is_text(text, words[form][i]))
			return i;
	return UINT64_MAX;
}

/* ---- Settings. ---- */

static void take_known(struct tracelog_log *log, enum tracelog_setting which, struct tw_tracelog_text text)
{
	struct tracelog_setting_value *setting = &log->settings[which];
	uint64_t value = value_of(text, known[which].form);
	if (value == UINT64_MAX)
		tracelog_report(log, TRACELOG_SETTING_VALUE, "%s is \"%.*s\"", known[which].name, shown(text),
		                (const char *)text.bytes);
	else if (setting->is_set && setting->value != value)
		tracelog_report(log, TRACELOG_SETTING_AGAIN, "%s is \"%.*s\", was told before", known[which].name,
		                shown(text), (const char *)text.bytes);
	setting->is_set |= value != UINT64_MAX;
	setting->value = value == UINT64_MAX ? setting->value : value;
}

/* A part of a log goes on for as long as its window. */
static void take_part(struct tracelog_log *log)
{
	const uint64_t most = UINT64_MAX / NS_IN_MS;
	const uint64_t begin = log->settings[TRACELOG_PART_BEGIN].value, end = log->settings[TRACELOG_PART_END].value;
	const uint64_t base = log->times.base * NS_IN_MS;
	if (begin < most && log->session.number == 0)
		log->reader->traits.part_ns = begin * NS_IN_MS;
	if (end < most && base + end * NS_IN_MS > log->times.latest)
		log->times.latest = base + end * NS_IN_MS;
}

/* Of several sessions the coarsest. */
static void take_sampling(struct tracelog_log *log)
{
	const uint64_t bytes = log->settings[TRACELOG_SAMPLE_BYTES].value;
	uint64_t *most = &log->reader->traits.sampled_bytes;
	*most = bytes > *most ? bytes : *most;
}

void tracelog_take_setting(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	const struct tracelog_thread *process = tracelog_process_thread(log);
	for (unsigned i = 0; i < TRACELOG_SETTINGS; i++)
		if (is_text(record->name, known[i].name))
			take_known(log, (enum tracelog_setting)i, record->value);
	take_part(log);
	take_sampling(log);
	if (!tracelog_wants(log, process, TW_METADATA))
		return;
	struct tw_event *row = tracelog_row(log, process, TW_METADATA, log->times.now);
	row->name = tracelog_name(log, record->name.bytes, record->name.size);
	row->category = TRACELOG_TEXT(log, "configuration");
	tracelog_add_text(log, "value", record->value.bytes, record->value.size);
}

void tracelog_judge_setting(struct tracelog_log *log, enum tracelog_setting which)
{
	struct tracelog_setting_value *setting = &log->settings[which];
	if (!log->request.check || !setting->is_set || setting->value || setting->contradicted)
		return;
	setting->contradicted = true;
	tracelog_report(log, TRACELOG_SETTING_CONTRADICTED, "%s is off, and here is %s", known[which].name,
	                known[which].what);
}
