/* sched_rows.c - the rows of trackway sched as tables and as JSON Lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sched.h"

#include "base/json.h"
#include "cli/show.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

struct number {
	size_t offset;
	const char *name, *title;
	struct tw_shown (*show)(uint64_t);
	bool latency; /* of wake-ups that a switch followed */
};

static const struct number thread_numbers[] = {
#define X(member, name, title, sort, show)                                                                             \
	{offsetof(struct tw_sched_thread, member), name, title, show,                                                  \
	 offsetof(struct tw_sched_thread, member) >= offsetof(struct tw_sched_thread, latency_min_ns)},
    TW_SCHED_THREAD_NUMBERS(X)
#undef X
};

static const struct number cpu_numbers[] = {
#define X(member, name, title, sort, show) {offsetof(struct tw_sched_cpu, member), name, title, show, false},
    TW_SCHED_CPU_NUMBERS(X)
#undef X
};

enum { THREAD_NUMBERS = sizeof thread_numbers / sizeof *thread_numbers };
enum { CPU_NUMBERS = sizeof cpu_numbers / sizeof *cpu_numbers };

static uint64_t number_in(const void *row, const struct number *number)
{
	return *(const uint64_t *)(const void *)((const char *)row + number->offset);
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
	tw_json_text(json, "name", row->name);
	for (size_t i = 0; i < THREAD_NUMBERS; i++)
		if (thread_numbers[i].latency && !row->latencies)
			tw_json_text(json, thread_numbers[i].name, NULL);
		else
			tw_json_u64(json, thread_numbers[i].name, number_in(row, &thread_numbers[i]));
	put_json_states(json, row);
}

static void put_json_cpu(struct tw_json *json, const struct tw_sched_cpu *row)
{
	tw_json_u64(json, "cpu", row->cpu);
	for (size_t i = 0; i < CPU_NUMBERS; i++)
		tw_json_u64(json, cpu_numbers[i].name, number_in(row, &cpu_numbers[i]));
}

void tw_sched_put_json(struct tw_output *out, const struct tw_sched_rows *rows)
{
	for (size_t i = 0; i < rows->shown; i++) {
		struct tw_json json = {.out = out};
		tw_json_object(&json, NULL);
		if (rows->by_cpu)
			put_json_cpu(&json, rows->items[i]);
		else
			put_json_thread(&json, rows->items[i]);
		tw_json_object_end(&json);
		tw_json_line_end(&json);
	}
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
	tw_table_add(table, text.bytes ? text.bytes : "-");
	tw_text_free(&text);
}

static void add_thread(struct tw_table *table, const struct tw_sched_thread *row)
{
	for (size_t i = 0; i < THREAD_NUMBERS; i++) {
		const struct number *number = &thread_numbers[i];
		if (number->title)
			tw_table_add(table, number->latency && !row->latencies
			                        ? "-"
			                        : number->show(number_in(row, number)).text);
	}
	add_states(table, row);
	tw_table_add(table, row->process_name ? row->process_name : tw_show_id(row->process).text);
	tw_table_add(table, tw_show_id(row->thread).text);
	tw_table_add(table, row->name ? row->name : "");
}

static void add_cpu(struct tw_table *table, const struct tw_sched_cpu *row)
{
	tw_table_add(table, tw_show_id(row->cpu).text);
	for (size_t i = 0; i < CPU_NUMBERS; i++)
		tw_table_add(table, cpu_numbers[i].show(number_in(row, &cpu_numbers[i])).text);
	tw_table_add(table, tw_show_percent(row->busy_ns, row->busy_ns + row->idle_ns + row->unknown_ns).text);
}

static size_t thread_columns(struct tw_column *columns)
{
	static const struct tw_column last[] = {{"LEFT", false}, {"PROCESS", false}, {"THREAD", true}, {"NAME", false}};
	size_t count = 0;
	for (size_t i = 0; i < THREAD_NUMBERS; i++)
		if (thread_numbers[i].title)
			columns[count++] = (struct tw_column){thread_numbers[i].title, true};
	memcpy(columns + count, last, sizeof last);
	return count + sizeof last / sizeof *last;
}

static size_t cpu_columns(struct tw_column *columns)
{
	columns[0] = (struct tw_column){"CPU", true};
	for (size_t i = 0; i < CPU_NUMBERS; i++)
		columns[1 + i] = (struct tw_column){cpu_numbers[i].title, true};
	columns[1 + CPU_NUMBERS] = (struct tw_column){"BUSY %", true};
	return 2 + CPU_NUMBERS;
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

int tw_sched_put_text(struct tw_screen *screen, const struct tw_sched_rows *rows, const struct tw_sched_notes *notes)
{
	struct tw_column columns[TW_TABLE_COLUMNS];
	struct tw_table table = {.columns = columns};
	table.column_count = rows->by_cpu ? cpu_columns(columns) : thread_columns(columns);
	if (rows->count == 0)
		return 0;
	for (size_t i = 0; i < rows->shown; i++)
		if (rows->by_cpu)
			add_cpu(&table, rows->items[i]);
		else
			add_thread(&table, rows->items[i]);
	int status = tw_table_put(&table, screen);
	if (rows->shown < rows->count)
		tw_putf(&screen->out, "... and %s more\n", tw_show_count(rows->count - rows->shown).text);
	put_notes(&screen->out, notes);
	return status;
}
