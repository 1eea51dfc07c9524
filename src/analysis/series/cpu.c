/* cpu.c - how much processor time a process and its threads used, over time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/svg.h"
#include "analysis/series/counters.h"
#include "analysis/texts.h"
#include "base/memory/order.h"
#include "base/memory/sum.h"
#include "base/options.h"
#include "core/format.h"
#include "core/runtime_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_IN_US INT64_C(1000)

/* What is known of a row while the trace is read. */
struct usage {
	uint32_t track;
	bool whole;
	uint64_t samples, timed;
	uint64_t used, debt; /* ns; debt: what was negative and is still to be taken off */
	uint64_t first, last;
	long double percent_time, time; /* sum of percentages times their intervals, and sum of the intervals */
	double max;
};

struct tw_cpu {
	struct tw_cpu_options options;
	struct tw_budget budget;
	const struct tw_dictionary *dictionary; /* of the trace, while it is read */
	struct tw_runtime_names names;          /* of it */
	const struct tw_clock *clock;
	struct tw_dictionary *texts;
	struct usage *usages;
	struct tw_keyed used; /* by track << 1 | whole */
	struct tw_cpu_row *rows;
	struct tw_counters *charts; /* with `plot` */
	uint64_t left_out;
};

/* The arguments of a sample. */
struct usage_arguments {
	const struct tw_argument *us, *percent, *interval_us; /* NULL where there is none */
};

/* ---- Samples. ---- */

static double percent_of(const struct tw_argument *percent)
{
	return percent->type == TW_ARG_DOUBLE ? percent->value.d
	       : percent->type == TW_ARG_INT  ? (double)percent->value.i
	                                      : (double)percent->value.u;
}

static struct usage_arguments arguments_of(struct tw_cpu *cpu, const struct tw_batch *batch,
                                           const struct tw_event *event)
{
	const struct tw_argument *arguments = tw_event_arguments(batch, event);
	struct usage_arguments found = {NULL, NULL, NULL};
	for (unsigned i = 0; i < event->argument_count; i++) {
		const struct tw_argument *it = &arguments[i];
		enum tw_runtime_name name = tw_runtime_name(&cpu->names, it->name);
		bool whole = it->type == TW_ARG_INT || it->type == TW_ARG_UINT;
		if (whole && name == TW_RUNTIME_US)
			found.us = it;
		else if (whole && name == TW_RUNTIME_INTERVAL_US)
			found.interval_us = it;
		else if ((whole || it->type == TW_ARG_DOUBLE) && name == TW_RUNTIME_PERCENT && isfinite(percent_of(it)))
			found.percent = it;
	}
	return found;
}

static int64_t ns_of(const struct tw_argument *us)
{
	int64_t ns;
	if (us->type == TW_ARG_UINT && us->value.u > INT64_MAX)
		return INT64_MAX;
	return __builtin_mul_overflow(us->value.i, NS_IN_US, &ns) ? us->value.i < 0 ? INT64_MIN : INT64_MAX : ns;
}

/* UINT32_MAX when there is no room. */
static uint32_t find_usage(struct tw_cpu *cpu, uint32_t track, bool whole)
{
	uint32_t number = tw_budget_item(&cpu->budget, TW_FOR_ROWS, &cpu->used, (uint64_t)track << 1 | whole,
	                                 &cpu->usages, sizeof *cpu->usages, 0);
	if (number != UINT32_MAX) {
		cpu->usages[number].track = track;
		cpu->usages[number].whole = whole;
	}
	return number;
}

/* Adds to the time used. A negative usage takes back what was told before; what it takes beyond that is a debt, which
 * later usages pay. */
static void use(struct usage *usage, int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	uint64_t *from = ns < 0 ? &usage->used : &usage->debt, *to = ns < 0 ? &usage->debt : &usage->used;
	uint64_t taken = size < *from ? size : *from;
	*from -= taken;
	*to = tw_sum(*to, size - taken);
}

/* Returns the interval of a sample in ns: what its argument tells, which the first may have; the time since the one
 * before; or, where there is neither, what its percentage makes of the time used. */
static long double interval_of(const struct usage *usage, uint64_t time, const struct usage_arguments *found)
{
	double percent = percent_of(found->percent);
	if (found->interval_us)
		return (long double)ns_of(found->interval_us);
	if (usage->samples)
		return (long double)(time > usage->last ? time - usage->last : 0);
	return percent != 0 ? (long double)ns_of(found->us) * 100 / (long double)percent : 0;
}

/* Adds a percentage. A negative one, which takes time back, counts in the mean only. */
static void add_percent(struct usage *usage, long double interval, double percent)
{
	usage->max = percent > usage->max ? percent : usage->max;
	usage->timed++;
	usage->percent_time += interval * (long double)percent;
	usage->time += interval;
}

static int give_sample(const struct tw_cpu *cpu, const struct usage *usage, uint64_t time, int64_t ns,
                       const struct tw_argument *percent)
{
	const struct tw_track *track = tw_dictionary_track(cpu->dictionary, usage->track);
	const struct tw_cpu_sample sample = {
	    .time = time,
	    .process = track->process,
	    .thread = usage->whole ? 0 : track->thread,
	    .whole = usage->whole,
	    .cpu_ns = ns,
	    .timed = percent != NULL,
	    .percent = percent ? percent_of(percent) : 0,
	};
	return cpu->options.on_sample ? cpu->options.on_sample(cpu->options.context, &sample) : 0;
}

/* Charts know threads by the ids of their events. */
static int draw(struct tw_cpu *cpu, const struct usage *usage, const struct tw_event *event,
                const struct tw_argument *percent)
{
	struct tw_event alone = *event;
	alone.first_argument = 0;
	alone.argument_count = 1;
	alone.id = usage->whole ? 0 : tw_dictionary_track(cpu->dictionary, usage->track)->thread;
	return cpu->charts && percent ? tw_counters_take(cpu->charts, &(struct tw_batch){&alone, 1, percent}) : 0;
}

static int take(struct tw_cpu *cpu, const struct tw_batch *batch, const struct tw_event *event)
{
	if (tw_runtime_name(&cpu->names, event->category) != TW_RUNTIME_CPU)
		return 0;
	struct usage_arguments found = arguments_of(cpu, batch, event);
	if (!found.us)
		return 0;
	bool whole = tw_runtime_name(&cpu->names, event->name) == TW_RUNTIME_PROCESS_CPU;
	uint32_t number = find_usage(cpu, event->track, whole);
	if (number == UINT32_MAX) {
		cpu->left_out++;
		return 0;
	}
	struct usage *usage = &cpu->usages[number];
	uint64_t start = cpu->clock->start_ns, time = event->time > start ? event->time - start : 0;
	int64_t ns = ns_of(found.us);
	use(usage, ns);
	if (found.percent)
		add_percent(usage, interval_of(usage, time, &found), percent_of(found.percent));
	usage->first = usage->samples++ ? usage->first : time;
	usage->last = time;
	int status = draw(cpu, usage, event, found.percent);
	return status ? status : give_sample(cpu, usage, time, ns, found.percent);
}

/* ---- Rows: processes and threads have names by now, where the trace tells them. ---- */

static const char *keep(struct tw_cpu *cpu, const struct tw_name *name)
{
	return name->length ? tw_texts_keep(cpu->texts, &cpu->budget, name->text, name->length) : NULL;
}

static struct tw_cpu_row row_of(struct tw_cpu *cpu, const struct usage *usage)
{
	const struct tw_track *track = tw_dictionary_track(cpu->dictionary, usage->track);
	return (struct tw_cpu_row){
	    .process_name = keep(cpu, tw_dictionary_process_name(cpu->dictionary, track->process)),
	    .name = usage->whole ? NULL : keep(cpu, tw_dictionary_name(cpu->dictionary, track->name)),
	    .process = track->process,
	    .thread = usage->whole ? 0 : track->thread,
	    .whole = usage->whole,
	    .samples = usage->samples,
	    .total_ns = usage->used,
	    .first_ns = usage->first,
	    .last_ns = usage->last,
	    .timed = usage->timed,
	    .mean_percent =
		usage->time > 0 && usage->percent_time > 0 ? (double)(usage->percent_time / usage->time) : 0,
	    .max_percent = usage->max,
	};
}

static int compare(const void *left, const void *right)
{
	const struct tw_cpu_row *a = left, *b = right;
	int order = tw_compare(a->process, b->process);
	order = order ? order : tw_compare(b->whole, a->whole);
	order = order ? order : tw_compare(a->thread, b->thread);
	return order ? order : tw_compare(a->first_ns, b->first_ns);
}

static int finish(struct tw_cpu *cpu, const struct tw_reader *reader)
{
	if (cpu->charts)
		cpu->charts->reach_ns = reader->traits.reach_ns;
	int status = cpu->charts ? tw_counters_end(cpu->charts) : 0;
	cpu->rows = calloc(cpu->used.count + 1, sizeof *cpu->rows);
	if (!cpu->rows)
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < cpu->used.count; i++)
		cpu->rows[i] = row_of(cpu, &cpu->usages[i]);
	qsort(cpu->rows, cpu->used.count, sizeof *cpu->rows, compare);
	return status < 0 ? status : tw_budget_status(&cpu->budget);
}

/* ---- Charts. ---- */

static const struct tw_cpu_row *row_of_series(const struct tw_cpu *cpu, const struct tw_counter_row *series)
{
	bool whole = strcmp(series->name, tw_runtime_text(TW_RUNTIME_PROCESS_CPU)) == 0;
	for (size_t i = 0; i < cpu->used.count; i++) {
		const struct tw_cpu_row *row = &cpu->rows[i];
		if (row->process == series->process && row->whole == whole && row->thread == series->id)
			return row;
	}
	return NULL;
}

/* "OS thread 12, thread 0 of app 12" */
static void put_owner(struct tw_output *out, const void *context, const struct tw_counter_row *series)
{
	enum { COLUMNS = 40 };
	const struct tw_cpu_row *row = row_of_series(context, series);
	if (row && row->name) {
		tw_put_name(out, row->name, COLUMNS, tw_xml_escapes);
		tw_put_text(out, ", ");
	}
	if (row && !row->whole) {
		tw_put_text(out, "thread ");
		tw_put_task(out, row->thread);
		tw_put_text(out, " of ");
	}
	tw_put_name(out, series->process_name ? series->process_name : "process", COLUMNS, tw_xml_escapes);
	tw_put_char(out, ' ');
	tw_put_task(out, series->process);
}

/* ---- The handle. ---- */

static struct tw_cpu *make(const struct tw_cpu_options *options, struct tw_reader *reader)
{
	struct tw_cpu *cpu = calloc(1, sizeof *cpu);
	if (!cpu)
		return NULL;
	TW_COPY_OPTIONS(&cpu->options, options, struct tw_cpu_options);
	const struct tw_counters_options charts = {.plot = true, .memory_limit = cpu->options.memory_limit};
	tw_budget_reset(&cpu->budget, charts.memory_limit ? charts.memory_limit : TW_DEFAULT_MEMORY, 1);
	cpu->dictionary = cpu->names.dictionary = tw_reader_dictionary(reader);
	cpu->clock = tw_reader_clock(reader);
	cpu->texts = tw_dictionary_new_plain();
	if (!cpu->texts || (cpu->options.plot && tw_counters_new(&cpu->charts, &charts) < 0)) {
		tw_cpu_free(cpu);
		return NULL;
	}
	if (cpu->charts) {
		tw_counters_begin(cpu->charts, cpu->dictionary, cpu->clock);
		cpu->charts->charting =
		    (struct tw_charting){.unit = "%", .compared = true, .put_owner = put_owner, .context = cpu};
		cpu->charts->window = (struct tw_times){reader->options.from_ns, reader->options.to_ns};
	}
	return cpu;
}

int tw_cpu_read(struct tw_cpu **made, struct tw_reader *reader, const struct tw_cpu_options *options)
{
	struct tw_batch batch;
	int got = 0, status = tw_begin(reader, TW_USE_WHOLE, &(struct tw_request){.kinds = 1u << TW_COUNTER});
	struct tw_cpu *cpu = *made = make(options, reader);
	if (!cpu)
		return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	while (status == 0 && (got = tw_pull(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count && status == 0; i++)
			if (batch.events[i].kind == TW_COUNTER)
				status = take(cpu, &batch, &batch.events[i]);
	int finished = finish(cpu, reader);
	status = got < 0 ? got : status;
	return status == 0 && finished < 0 ? tw_fail(reader, finished, "out of memory") : status;
}

const struct tw_cpu_row *tw_cpu_row(const struct tw_cpu *cpu, size_t i)
{
	return cpu->rows && i < cpu->used.count ? &cpu->rows[i] : NULL;
}

uint64_t tw_cpu_left_out(const struct tw_cpu *cpu)
{
	return cpu->left_out;
}

int tw_cpu_render(struct tw_output *out, const struct tw_cpu *cpu, const char *title)
{
	return cpu->charts ? tw_counters_render(out, cpu->charts, title ? title : "CPU", NULL, 0) : TW_ERR_UNSUPPORTED;
}

int tw_cpu_plot(const struct tw_cpu *cpu, const char *path, const char *title)
{
	struct tw_output out;
	int status = cpu->charts ? tw_report_open(&out, path) : TW_ERR_UNSUPPORTED;
	return status < 0 ? status : tw_report_close(&out, tw_cpu_render(&out, cpu, title));
}

void tw_cpu_free(struct tw_cpu *cpu)
{
	if (!cpu)
		return;
	tw_counters_free(cpu->charts);
	tw_map_free(&cpu->used.map);
	free(cpu->names.found);
	tw_dictionary_free(cpu->texts);
	free(cpu->usages);
	free(cpu->rows);
	free(cpu);
}
