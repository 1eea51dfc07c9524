/* sched_rows.c - the rows of trackway sched as tables and as JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/sched.h"

#include <stdio.h>
#include <string.h>

#define OF(type, member) offsetof(struct type, member)

static const struct tw_number thread_numbers[] = {
    {OF(tw_sched_thread, running_ns), "running_ns", "RUNNING", "running", tw_show_duration},
    {OF(tw_sched_thread, runnable_ns), "runnable_ns", "RUNNABLE", "runnable", tw_show_duration},
    {OF(tw_sched_thread, switches), "switches", "SWITCHES", "switches", tw_show_count},
    {OF(tw_sched_thread, wakeups), "wakeups", "WAKE-UPS", "wakeups", tw_show_count},
    {OF(tw_sched_thread, latencies), "latencies", NULL, NULL, tw_show_count},
};

/* Of wake-ups that a switch followed. */
static const struct tw_number latency_numbers[] = {
    {OF(tw_sched_thread, latency_min_ns), "latency_min_ns", NULL, NULL, tw_show_duration},
    {OF(tw_sched_thread, latency_p50_ns), "latency_p50_ns", "P50", NULL, tw_show_duration},
    {OF(tw_sched_thread, latency_p90_ns), "latency_p90_ns", "P90", NULL, tw_show_duration},
    {OF(tw_sched_thread, latency_p99_ns), "latency_p99_ns", "P99", "p99", tw_show_duration},
    {OF(tw_sched_thread, latency_max_ns), "latency_max_ns", "MAX", "max", tw_show_duration},
};

static const struct tw_number process_numbers[] = {
    {OF(tw_sched_process, running_ns), "running_ns", "RUNNING", "running", tw_show_duration},
    {OF(tw_sched_process, runnable_ns), "runnable_ns", "RUNNABLE", "runnable", tw_show_duration},
    {OF(tw_sched_process, switches), "switches", "SWITCHES", "switches", tw_show_count},
    {OF(tw_sched_process, wakeups), "wakeups", "WAKE-UPS", "wakeups", tw_show_count},
    {OF(tw_sched_process, threads), "threads", "THREADS", NULL, tw_show_count},
};

static const struct tw_number cpu_numbers[] = {
    {OF(tw_sched_cpu, busy_ns), "busy_ns", "BUSY", "busy", tw_show_duration},
    {OF(tw_sched_cpu, idle_ns), "idle_ns", "IDLE", NULL, tw_show_duration},
    {OF(tw_sched_cpu, unknown_ns), "unknown_ns", "UNKNOWN", NULL, tw_show_duration},
    {OF(tw_sched_cpu, switches), "switches", "SWITCHES", "switches", tw_show_count},
};

enum {
	THREAD_NUMBERS = sizeof thread_numbers / sizeof *thread_numbers,
	LATENCY_NUMBERS = sizeof latency_numbers / sizeof *latency_numbers,
	PROCESS_NUMBERS = sizeof process_numbers / sizeof *process_numbers,
	CPU_NUMBERS = sizeof cpu_numbers / sizeof *cpu_numbers,
};

/* The numbers of rows of each kind, and more of them. */
static const struct {
	const struct tw_number *numbers, *more;
	size_t count, more_count;
} kinds[] = {
    [TW_SCHED_BY_THREAD] = {thread_numbers, latency_numbers, THREAD_NUMBERS, LATENCY_NUMBERS},
    [TW_SCHED_BY_PROCESS] = {process_numbers, NULL, PROCESS_NUMBERS, 0},
    [TW_SCHED_BY_CPU] = {cpu_numbers, NULL, CPU_NUMBERS, 0},
};

bool tw_sched_sorts_by(enum tw_sched_by by, const char *word)
{
	return tw_numbers_have(kinds[by].numbers, kinds[by].count, word) ||
	       tw_numbers_have(kinds[by].more, kinds[by].more_count, word);
}

void tw_sched_sort(struct tw_sched_listing *sched, const char *word, uint64_t top)
{
	struct tw_list_rows *rows = &sched->listing.rows;
	tw_rows_sort(rows, kinds[sched->by].numbers, kinds[sched->by].count, word, top);
	tw_rows_sort(rows, kinds[sched->by].more, kinds[sched->by].more_count, word, top);
}

static const struct tw_sched_listing *sched_of(const struct tw_listing *listing)
{
	return (const struct tw_sched_listing *)(const void *)listing;
}

static const struct tw_sched_thread *latencies_of(const struct tw_sched_thread *row)
{
	return row->latencies ? row : NULL;
}

static struct tw_shown state_name(unsigned state)
{
	struct tw_shown shown;
	const char *name = tw_sched_state_name(state);
	if (name)
		snprintf(shown.text, sizeof shown.text, "%s", name);
	else
		snprintf(shown.text, sizeof shown.text, "state %u", state);
	return shown;
}

/* ---- JSON. ---- */

static void put_json_states(struct tw_json *json, const struct tw_sched_thread *row)
{
	tw_json_object(json, "left");
	for (unsigned i = 0; i < TW_SCHED_STATES; i++)
		if (row->left[i])
			tw_json_u64(json, state_name(i).text, row->left[i]);
	tw_json_object_end(json);
}

static void put_json_thread(struct tw_json *json, const void *item)
{
	const struct tw_sched_thread *row = item;
	tw_json_task(json, "process", row->process);
	tw_json_task(json, "thread", row->thread);
	tw_json_text(json, "process_name", row->process_name);
	tw_json_text(json, "thread_name", row->name);
	tw_numbers_json(json, row, thread_numbers, THREAD_NUMBERS);
	tw_numbers_json(json, latencies_of(row), latency_numbers, LATENCY_NUMBERS);
	put_json_states(json, row);
}

static void put_json_process(struct tw_json *json, const void *item)
{
	const struct tw_sched_process *row = item;
	tw_json_task(json, "process", row->process);
	tw_json_text(json, "process_name", row->name);
	tw_numbers_json(json, row, process_numbers, PROCESS_NUMBERS);
}

static void put_json_cpu(struct tw_json *json, const void *item)
{
	const struct tw_sched_cpu *row = item;
	tw_json_u64(json, "cpu", row->cpu);
	tw_numbers_json(json, row, cpu_numbers, CPU_NUMBERS);
}

/* The time of a row that percentages of the window are of: the first of its numbers. */
static uint64_t time_of(const struct tw_sched_listing *sched, const void *row)
{
	return *(const uint64_t *)(const void *)((const char *)row + kinds[sched->by].numbers[0].offset);
}

void tw_sched_put_json(struct tw_json *json, const struct tw_listing *listing, const void *row)
{
	static void (*const puts[])(struct tw_json *, const void *) = {
	    [TW_SCHED_BY_THREAD] = put_json_thread,
	    [TW_SCHED_BY_PROCESS] = put_json_process,
	    [TW_SCHED_BY_CPU] = put_json_cpu,
	};
	const struct tw_sched_listing *sched = sched_of(listing);
	const uint64_t window = tw_sched_window_ns(sched->sched);
	puts[sched->by](json, row);
	tw_json_u64(json, "window_ns", window);
	tw_json_fixed(json, "window_percent", window ? 100.0 * (double)time_of(sched, row) / (double)window : 0, 3);
}

/* ---- Text. ---- */

/* "3 blocked, 1 running" */
static void add_states(struct tw_table *table, const struct tw_sched_thread *row)
{
	struct tw_text text = {0};
	bool fine = true;
	for (unsigned i = 0; i < TW_SCHED_STATES && fine; i++) {
		struct tw_shown count = tw_show_count(row->left[i]), state = state_name(i);
		if (row->left[i])
			fine = tw_text_add(&text, ", ", text.length ? 2 : 0) &&
			       tw_text_add(&text, count.text, strlen(count.text)) && tw_text_add(&text, " ", 1) &&
			       tw_text_add(&text, state.text, strlen(state.text));
	}
	table->failed |= !fine;
	tw_table_add(table, text.bytes ? text.bytes : "-");
	tw_text_free(&text);
}

static void add_thread(struct tw_table *table, const void *item, const char *percent)
{
	const struct tw_sched_thread *row = item;
	tw_table_add(table, percent);
	tw_numbers_cells(table, row, thread_numbers, THREAD_NUMBERS);
	tw_numbers_cells(table, latencies_of(row), latency_numbers, LATENCY_NUMBERS);
	add_states(table, row);
	tw_table_add(table, row->process_name ? row->process_name : tw_show_task(row->process).text);
	tw_table_add(table, tw_show_task(row->thread).text);
	tw_table_add(table, row->name ? row->name : "");
}

static void add_process(struct tw_table *table, const void *item, const char *percent)
{
	const struct tw_sched_process *row = item;
	tw_table_add(table, percent);
	tw_numbers_cells(table, row, process_numbers, PROCESS_NUMBERS);
	tw_table_add(table, tw_show_task(row->process).text);
	tw_table_add(table, row->name ? row->name : "");
}

static void add_cpu(struct tw_table *table, const void *item, const char *percent)
{
	const struct tw_sched_cpu *row = item;
	tw_table_add(table, tw_show_id(row->cpu).text);
	tw_numbers_cells(table, row, cpu_numbers, CPU_NUMBERS);
	uint64_t known = row->busy_ns + row->idle_ns;
	tw_table_add(table, known ? tw_show_percent(row->busy_ns, known).text : "-");
	tw_table_add(table, percent);
}

static const struct tw_table_column of_window = {"WINDOW %", true};

static size_t thread_columns(struct tw_table_column *columns)
{
	static const struct tw_table_column last[] = {{"LEFT", false},
	                                              {"PROCESS", false},
	                                              {"THREAD", true},
	                                              {"NAME", false}};
	size_t count = 0;
	columns[count++] = of_window;
	tw_numbers_titles(columns, &count, thread_numbers, THREAD_NUMBERS);
	tw_numbers_titles(columns, &count, latency_numbers, LATENCY_NUMBERS);
	memcpy(columns + count, last, sizeof last);
	return count + sizeof last / sizeof *last;
}

static size_t process_columns(struct tw_table_column *columns)
{
	size_t count = 0;
	columns[count++] = of_window;
	tw_numbers_titles(columns, &count, process_numbers, PROCESS_NUMBERS);
	columns[count++] = (struct tw_table_column){"PROCESS", true};
	columns[count++] = (struct tw_table_column){"NAME", false};
	return count;
}

static size_t cpu_columns(struct tw_table_column *columns)
{
	size_t count = 0;
	columns[count++] = (struct tw_table_column){"CPU", true};
	tw_numbers_titles(columns, &count, cpu_numbers, CPU_NUMBERS);
	columns[count++] = (struct tw_table_column){"BUSY %", true};
	columns[count++] = of_window;
	return count;
}

static void put_notes(struct tw_output *out, const struct tw_sched_notes *notes)
{
	const char *gap = "\n";
	if (notes->wrong_thread) {
		tw_putf(out, "%s%s a CPU left a thread that had not come: what it did before is unknown\n", gap,
		        tw_show_plural(notes->wrong_thread, "time").text);
		gap = "";
	}
	if (notes->time_backwards)
		tw_putf(out, "%s%s a switch was before the last one of its CPU by the clock: counted as 0 ns\n", gap,
		        tw_show_plural(notes->time_backwards, "time").text);
}

static const struct {
	size_t (*columns)(struct tw_table_column *columns);
	void (*add)(struct tw_table *table, const void *row, const char *percent);
} tables[] = {
    [TW_SCHED_BY_THREAD] = {thread_columns, add_thread},
    [TW_SCHED_BY_PROCESS] = {process_columns, add_process},
    [TW_SCHED_BY_CPU] = {cpu_columns, add_cpu},
};

int tw_sched_put_text(struct tw_listing *listing)
{
	struct tw_table_column columns[TW_TABLE_COLUMNS];
	struct tw_table table = {.columns = columns};
	const struct tw_sched_listing *sched = sched_of(listing);
	const uint64_t window = tw_sched_window_ns(sched->sched);
	table.column_count = tables[sched->by].columns(columns);
	if (listing->rows.count == 0)
		return 0;
	for (size_t i = 0; i < listing->rows.shown; i++) {
		const void *row = listing->rows.items[i];
		tables[sched->by].add(&table, row, tw_show_percent(time_of(sched, row), window).text);
	}
	int status = tw_table_put(&table, &listing->screen);
	tw_rows_put_more(&listing->screen, &listing->rows);
	put_notes(&listing->screen.out, tw_sched_notes(sched_of(listing)->sched));
	return status;
}
