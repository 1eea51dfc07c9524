/* cpu.c - trackway cpu: processor time over time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tool.h"
#include "cli/files/listing.h"
#include "cli/files/nothing_passed.h"
#include "cli/options/output_form.h"

#include <stdio.h>

static const struct tw_number numbers[] = {
    {offsetof(struct tw_cpu_row, total_ns), "total_ns", "CPU TIME", NULL, tw_show_duration},
    {offsetof(struct tw_cpu_row, samples), "samples", "SAMPLES", NULL, tw_show_count},
    {offsetof(struct tw_cpu_row, first_ns), "first_ns", NULL, NULL, tw_show_duration},
    {offsetof(struct tw_cpu_row, last_ns), "last_ns", NULL, NULL, tw_show_duration},
};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* ---- CSV: while it is read. ---- */

static void put_percent(struct tw_output *out, double percent)
{
	tw_putf(out, "%.3f", percent);
}

static int put_sample(void *context, const struct tw_cpu_sample *sample)
{
	struct tw_output *out = &((struct tw_listing *)context)->screen.out;
	tw_put_u64(out, sample->time);
	tw_put_char(out, ',');
	tw_put_task(out, sample->process);
	tw_put_char(out, ',');
	if (!sample->whole)
		tw_put_task(out, sample->thread);
	tw_put_char(out, ',');
	tw_put_i64(out, sample->cpu_ns);
	tw_put_char(out, ',');
	if (sample->timed)
		put_percent(out, sample->percent);
	tw_put_char(out, '\n');
	return out->error; /* reading stops when writing fails; closing the screen says why */
}

/* ---- JSON. ---- */

static void put_json_percent(struct tw_json *json, const char *name, const struct tw_cpu_row *row, double percent)
{
	if (row->timed)
		tw_json_fixed(json, name, percent, 3);
	else
		tw_json_text(json, name, NULL);
}

static void put_json(struct tw_json *json, const struct tw_listing *listing, const void *item)
{
	const struct tw_cpu_row *row = item;
	(void)listing;
	tw_json_task(json, "process", row->process);
	tw_json_known_task(json, "thread", row->thread, !row->whole);
	tw_json_text(json, "process_name", row->process_name);
	tw_json_text(json, "thread_name", row->name);
	tw_numbers_json(json, row, numbers, NUMBERS);
	put_json_percent(json, "mean_percent", row, row->mean_percent);
	put_json_percent(json, "max_percent", row, row->max_percent);
}

/* ---- Text. ---- */

static void add_percent(struct tw_table *table, const struct tw_cpu_row *row, double percent)
{
	char text[TW_SHOW_ROOM] = "-";
	if (row->timed)
		snprintf(text, sizeof text, "%.1f %%", percent);
	tw_table_add(table, text);
}

static int put_text(struct tw_listing *listing)
{
	struct tw_table_column columns[TW_TABLE_COLUMNS] = {{"MEAN", true}, {"MAX", true}};
	struct tw_table table = {.columns = columns, .column_count = 2};
	if (!listing->rows.count)
		return 0;
	tw_numbers_titles(columns, &table.column_count, numbers, NUMBERS);
	columns[table.column_count++] = (struct tw_table_column){"SPAN", true};
	columns[table.column_count++] = (struct tw_table_column){"THREAD", true};
	columns[table.column_count++] = (struct tw_table_column){"NAME", false};
	for (size_t i = 0; i < listing->rows.shown; i++) {
		const struct tw_cpu_row *row = listing->rows.items[i];
		const char *name = row->whole ? row->process_name : row->name;
		add_percent(&table, row, row->mean_percent);
		add_percent(&table, row, row->max_percent);
		tw_numbers_cells(&table, row, numbers, NUMBERS);
		tw_table_add(&table, tw_show_duration(row->last_ns - row->first_ns).text);
		tw_table_add(&table, row->whole ? "all" : tw_show_task(row->thread).text);
		tw_table_add(&table, name ? name : "-");
	}
	return tw_table_put(&table, &listing->screen);
}

/* ---- The command. ---- */

static bool collect(struct tw_listing *listing)
{
	const struct tw_cpu_row *row;
	for (size_t i = 0; (row = tw_cpu_row(listing->result, i)); i++)
		if (!tw_rows_add(&listing->rows, row))
			return false;
	listing->rows.shown = listing->rows.count;
	return true;
}

static void note(const struct tw_listing *listing)
{
	if (!tw_say_left_out(tw_cpu_left_out(listing->result), "sample", "") && !listing->rows.count)
		tw_say_none(listing->common, "processor time");
}

static int draw(struct tw_listing *listing, const char *title)
{
	return tw_cpu_render(&listing->screen.out, listing->result, title);
}

static bool can_draw(const struct tw_listing *listing)
{
	return listing->rows.count;
}

static int read_cpu(struct tw_listing *listing, struct tw_reader *reader, const char *path)
{
	(void)path;
	const struct tw_cpu_options options = {
	    .plot = tw_listing_form(listing) == TW_FORM_SVG,
	    .memory_limit = (size_t)listing->common->limits.memory,
	    .on_sample = tw_listing_form(listing) == TW_FORM_CSV ? put_sample : NULL,
	    .context = listing,
	};
	struct tw_cpu *cpu = NULL;
	int status = tw_cpu_read(&cpu, reader, &options);
	listing->result = cpu;
	return status;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct tw_listing listing = {
	    .common = common,
	    .walk = {.options = {.order = TW_ORDER_TIME}},
	    .csv_head = "time_ns,process,thread,cpu_ns,percent\n",
	    .read = read_cpu,
	    .collect = collect,
	    .points_to = 1u << TW_SWITCH,
	    .note = note,
	    .put_json = put_json,
	    .put_text = put_text,
	    .draw = draw,
	    .can_draw = can_draw,
	};
	int status = tw_list(&listing, operands, count);
	tw_cpu_free(listing.result);
	return status;
}

static const struct tw_option form_options[] = {
    TW_OPTION_OUTPUT_BY_NAME,
    TW_OPTION_JSON_ROWS("row"),
    TW_OPTION_CSV_SAMPLES,
    TW_OPTION_MARKDOWN,
    TW_OPTION_SVG("draw a chart for the process and each thread"),
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(&tw_window_options, &tw_plain_input_options, TW_OPTIONS("Output", form_options));

const struct tw_command tw_command_cpu = {
    .name = "cpu",
    .summary = "how much processor time a process and its threads used",
    .operands = "FILE",
    .description =
	"Tells from counters of processor time how busy a process (THREAD \"all\") and its threads were. MEAN and MAX "
	"are percent of one processor: the mean by time, the greatest of a single interval. CPU TIME is all together; "
	"of what a trace tells as negative, as much is taken off, and less than nothing is 0.\n\n"
	"It comes from counters of the category \"cpu\". In CSV the thread of a process is empty, and so is a "
	"percentage that is not known.",
    .examples = "trackway cpu app.log\tThe process and its threads.\n"
		"trackway cpu app.log -o cpu.svg\tOver time, as charts.\n"
		"trackway cpu --csv app.log\tEvery sample, for a spreadsheet.\n",
    .groups = groups,
    .forms = 1u << TW_FORM_TEXT | 1u << TW_FORM_JSON | 1u << TW_FORM_CSV | 1u << TW_FORM_MARKDOWN | 1u << TW_FORM_SVG,
    .size = sizeof(struct tw_common),
    .least = 1,
    .most = 1,
    .run = run,
};
