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

static const struct tw_number cpu_numbers[] = {
    {OF(tw_sched_cpu, busy_ns), "busy_ns", "BUSY", "busy", tw_show_duration},
    {OF(tw_sched_cpu, idle_ns), "idle_ns", "IDLE", NULL, tw_show_duration},
    {OF(tw_sched_cpu, unknown_ns), "unknown_ns", "UNKNOWN", NULL, tw_show_duration},
    {OF(tw_sched_cpu, switches), "switches", "SWITCHES", "switches", tw_show_count},
};

enum {
	THREAD_NUMBERS = sizeof thread_numbers / sizeof *thread_numbers,
	LATENCY_NUMBERS = sizeof latency_numbers / sizeof *latency_numbers,
	CPU_NUMBERS = sizeof cpu_numbers / sizeof *cpu_numbers,
};

bool tw_sched_sorts_by(bool by_cpu, const char *word)
{
	if (by_cpu)
		return tw_numbers_have(cpu_numbers, CPU_NUMBERS, word);
	return tw_numbers_have(thread_numbers, THREAD_NUMBERS, word) ||
	       tw_numbers_have(latency_numbers, LATENCY_NUMBERS, word);
}

void tw_sched_sort(struct tw_sched_listing *sched, const char *word, uint64_t top)
{
	struct tw_list_rows *rows = &sched->listing.rows;
	if (sched->by_cpu) {
		tw_rows_sort(rows, cpu_numbers, CPU_NUMBERS, word, top);
		return;
	}
	tw_rows_sort(rows, thread_numbers, THREAD_NUMBERS, word, top);
	tw_rows_sort(rows, latency_numbers, LATENCY_NUMBERS, word, top);
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

static void put_json_thread(struct tw_json *json, const struct tw_sched_thread *row)
{
	tw_json_u64(json, "process", row->process);
	tw_json_u64(json, "thread", row->thread);
	tw_json_text(json, "process_name", row->process_name);
	tw_json_text(json, "thread_name", row->name);
	tw_numbers_json(json, row, thread_numbers, THREAD_NUMBERS);
	tw_numbers_json(json, latencies_of(row), latency_numbers, LATENCY_NUMBERS);
	put_json_states(json, row);
}

static void put_json_cpu(struct tw_json *json, const struct tw_sched_cpu *row)
{
	tw_json_u64(json, "cpu", row->cpu);
	tw_numbers_json(json, row, cpu_numbers, CPU_NUMBERS);
}

void tw_sched_put_json(struct tw_json *json, const struct tw_listing *listing, const void *row)
{
	if (sched_of(listing)->by_cpu)
		put_json_cpu(json, row);
	else
		put_json_thread(json, row);
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

static void add_thread(struct tw_table *table, const struct tw_sched_thread *row)
{
	tw_numbers_cells(table, row, thread_numbers, THREAD_NUMBERS);
	tw_numbers_cells(table, latencies_of(row), latency_numbers, LATENCY_NUMBERS);
	add_states(table, row);
	tw_table_add(table, row->process_name ? row->process_name : tw_show_id(row->process).text);
	tw_table_add(table, tw_show_id(row->thread).text);
	tw_table_add(table, row->name ? row->name : "");
}

static void add_cpu(struct tw_table *table, const struct tw_sched_cpu *row)
{
	tw_table_add(table, tw_show_id(row->cpu).text);
	tw_numbers_cells(table, row, cpu_numbers, CPU_NUMBERS);
	uint64_t known = row->busy_ns + row->idle_ns;
	tw_table_add(table, known ? tw_show_percent(row->busy_ns, known).text : "-");
}

static size_t thread_columns(struct tw_column *columns)
{
	static const struct tw_column last[] = {{"LEFT", false}, {"PROCESS", false}, {"THREAD", true}, {"NAME", false}};
	size_t count = 0;
	tw_numbers_titles(columns, &count, thread_numbers, THREAD_NUMBERS);
	tw_numbers_titles(columns, &count, latency_numbers, LATENCY_NUMBERS);
	memcpy(columns + count, last, sizeof last);
	return count + sizeof last / sizeof *last;
}

static size_t cpu_columns(struct tw_column *columns)
{
	size_t count = 0;
	columns[count++] = (struct tw_column){"CPU", true};
	tw_numbers_titles(columns, &count, cpu_numbers, CPU_NUMBERS);
	columns[count++] = (struct tw_column){"BUSY %", true};
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

int tw_sched_put_text(struct tw_listing *listing)
{
	struct tw_column columns[TW_TABLE_COLUMNS];
	struct tw_table table = {.columns = columns};
	bool by_cpu = sched_of(listing)->by_cpu;
	table.column_count = by_cpu ? cpu_columns(columns) : thread_columns(columns);
	if (listing->rows.count == 0)
		return 0;
	for (size_t i = 0; i < listing->rows.shown; i++)
		if (by_cpu)
			add_cpu(&table, listing->rows.items[i]);
		else
			add_thread(&table, listing->rows.items[i]);
	int status = tw_table_put(&table, &listing->screen);
	tw_rows_put_more(&listing->screen, &listing->rows);
	put_notes(&listing->screen.out, tw_sched_notes(sched_of(listing)->sched));
	return status;
}
