/* settings.h - the set-up of the profiler (prf cfg), and what does not go with it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_SETTINGS_H
#define TRACELOG_LOG_SETTINGS_H

#include <trackway/tracelog.h>

enum tracelog_setting {
	TRACELOG_METHOD,
	TRACELOG_SAMPLING_TIMEOUT,
	TRACELOG_HIGH_GRANULARITY,
	TRACELOG_SUSPENDED,
	TRACELOG_LINE_TRACE,
	TRACELOG_CPU_OF_PROCESS,
	TRACELOG_CPU_OF_THREADS,
	TRACELOG_CPU_TIMEOUT,
	TRACELOG_EXECUTION_TRACE,
	TRACELOG_MEMORY_TRACE,
	TRACELOG_STACK_TRACKING,
	TRACELOG_SAMPLE_BYTES,
	TRACELOG_PART_BEGIN,
	TRACELOG_PART_END,
	TRACELOG_SETTINGS
};

/* What a part of a log tells of the window that it is of, in ms: no setting of the profiler. */
#define TRACELOG_PART_BEGIN_NAME "PartBeginMs"
#define TRACELOG_PART_END_NAME "PartEndMs"

/* Values of TRACELOG_METHOD. */
enum { TRACELOG_NO_METHOD, TRACELOG_INSTRUMENTATION };

struct tracelog_setting_value {
	bool is_set;
	bool contradicted; /* by a record, which was reported */
	uint64_t value;    /* its value; of a switch, 0 is off */
};

struct tracelog_log;

void tracelog_take_setting(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* Reports a switch that is off though there is a record of what it turns off. */
void tracelog_judge_setting(struct tracelog_log *log, enum tracelog_setting which);

#endif
