/* counters.h - counters as rows, charts and events one by one, for the tests too. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_SERIES_COUNTERS_H
#define ANALYSIS_SERIES_COUNTERS_H

#include "analysis/series/columns.h"
#include "base/bytes/output.h"
#include "core/budget.h"

#include <trackway/counters.h>

/* What happened in a column of a chart. */
struct tw_chart_column {
	double first, last, min, max;
	bool used;
};

/* One series. The numbers of names are those of the trace's dictionary, while it is read. */
struct tw_series {
	struct tw_counter_row row; /* its mean is computed when the trace ends */
	uint32_t category, name, series;
	struct tw_columns chart;
};

/* A stretch of time, since the start of the trace. */
struct tw_stretch {
	uint64_t from_ns, to_ns;
};

/* What the pictures of runtimes have beyond those of counters. */
struct tw_charting {
	const char *unit; /* of all charts; NULL: counters have none, but for bytes */
	bool compared;    /* all charts of one unit have one scale */
	/* Who a series is of, behind its name; NULL: its id, where it has one. */
	void (*put_owner)(struct tw_output *out, const void *context, const struct tw_counter_row *row);
	/* Stretches of time that are drawn behind all charts, in the order of their begins, and what they are
	 * called. */
	bool (*stretch)(const void *context, size_t i, struct tw_stretch *stretch);
	const char *stretches;
	const void *context;
};

struct tw_counters {
	struct tw_counters_options options;
	struct tw_budget budget;
	struct tw_dictionary *texts;
	struct tw_series *all; /* sorted when a trace ends */
	struct tw_series_sum *sums;
	size_t count, room, sum_room;
	size_t begun; /* series of traces before this one */
	size_t traces;
	uint64_t left_out;
	uint64_t end_ns;        /* of the longest trace */
	struct tw_times window; /* what pictures show: of all traces */
	struct tw_charting charting;

	/* Of the trace that is read: */
	const struct tw_dictionary *dictionary;
	const struct tw_clock *clock;
	uint64_t reach_ns; /* where the trace goes on to a later time than the clock has seen: this, before the end */
	struct tw_map map; /* hash of what tells series apart, to series */
	uint8_t *wanted;   /* by name: 0 not asked yet */
	size_t wanted_room;
};

/* The parts of tw_counters_add(). Feed returns 0, TW_ERR_MEMORY or what on_sample() does. */
void tw_counters_begin(struct tw_counters *counters, const struct tw_dictionary *dictionary,
                       const struct tw_clock *clock);
int tw_counters_take(struct tw_counters *counters, const struct tw_batch *batch);
int tw_counters_end(struct tw_counters *counters);

/* The number that a sample is, exact where long double has 64 bits. */
static inline long double tw_counter_number(const struct tw_counter_value *value)
{
	return value->type == TW_ARG_INT    ? (long double)value->value.i
	       : value->type == TW_ARG_UINT ? (long double)value->value.u
	                                    : (long double)value->value.d;
}

#endif
