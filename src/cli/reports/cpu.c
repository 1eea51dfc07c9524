/* cpu.c - trackway cpu: processor time over time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tool.h"
#include "cli/files/walk.h"
#include "cli/options/output_form.h"
#include "cli/output/message.h"
#include "cli/output/numbers.h"
#include "cli/reports/call_notes.h"

#include <stdio.h>

struct cpu_options {
	struct tw_common common;
	struct tw_form_options forms;
};

static const struct tw_number numbers[] = {
    {offsetof(struct tw_cpu_row, total_ns), "total_ns", "CPU TIME", NULL, tw_show_duration},
    {offsetof(struct tw_cpu_row, samples), "samples", "SAMPLES", NULL, tw_show_count},
    {offsetof(struct tw_cpu_row, first_ns), "first_ns", NULL, NULL, tw_show_duration},
    {offsetof(struct tw_cpu_row, last_ns), "last_ns", NULL, NULL, tw_show_duration},
};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* What one run of the command works on. */
struct work {
	const struct cpu_options *options;
	struct tw_cpu *cpu;
	struct tw_screen screen;
};

static enum tw_form form_of(const struct work *work)
{
	return tw_form_of(&work->options->common, &work->options->forms);
}

/* ---- CSV: while it is read. ---- */

static void put_percent(struct tw_output *out, double percent)
{
	tw_putf(out, "%.3f", percent);
}

static int put_sample(void *context, const struct tw_cpu_sample *sample)
{
	struct work *work = context;
	struct tw_output *out = &work->screen.out;
	tw_put_u64(out, sample->time);
	tw_put_char(out, ',');
	tw_put_u64(out, sample->process);
	tw_put_char(out, ',');
	if (!sample->whole)
		tw_put_u64(out, sample->thread);
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

static void put_json_row(struct tw_output *out, const struct tw_cpu_row *row)
{
	struct tw_json json = {.out = out};
	tw_json_object(&json, NULL);
	tw_json_u64(&json, "process", row->process);
	if (row->whole)
		tw_json_text(&json, "thread", NULL);
	else
		tw_json_u64(&json, "thread", row->thread);
	tw_json_text(&json, "process_name", row->process_name);
	tw_json_text(&json, "thread_name", row->name);
	tw_numbers_json(&json, row, numbers, NUMBERS);
	put_json_percent(&json, "mean_percent", row, row->mean_percent);
	put_json_percent(&json, "max_percent", row, row->max_percent);
	tw_json_object_end(&json);
	tw_json_line_end(&json);
}

static void put_json(struct work *work)
{
	const struct tw_cpu_row *row;
	for (size_t i = 0; (row = tw_cpu_row(work->cpu, i)); i++)
		put_json_row(&work->screen.out, row);
}

/* ---- Text. ---- */

static void add_percent(struct tw_table *table, const struct tw_cpu_row *row, double percent)
{
	char text[TW_SHOW_ROOM] = "-";
	if (row->timed)
		snprintf(text, sizeof text, "%.1f %%", percent);
	tw_table_add(table, text);
}

static int put_text(struct work *work)
{
	struct tw_column columns[TW_TABLE_COLUMNS] = {{"MEAN", true}, {"MAX", true}};
	struct tw_table table = {.columns = columns, .column_count = 2};
	const struct tw_cpu_row *row;
	if (!tw_cpu_row(work->cpu, 0))
		return 0;
	tw_numbers_titles(columns, &table.column_count, numbers, NUMBERS);
	columns[table.column_count++] = (struct tw_column){"SPAN", true};
	columns[table.column_count++] = (struct tw_column){"THREAD", true};
	columns[table.column_count++] = (struct tw_column){"NAME", false};
	for (size_t i = 0; (row = tw_cpu_row(work->cpu, i)); i++) {
		const char *name = row->whole ? row->process_name : row->name;
		add_percent(&table, row, row->mean_percent);
		add_percent(&table, row, row->max_percent);
		tw_numbers_cells(&table, row, numbers, NUMBERS);
		tw_table_add(&table, tw_show_duration(row->last_ns - row->first_ns).text);
		tw_table_add(&table, row->whole ? "all" : tw_show_id(row->thread).text);
		tw_table_add(&table, name ? name : "-");
	}
	return tw_table_put(&table, &work->screen);
}

/* ---- The command. ---- */

static int put(struct work *work, char *path)
{
	struct tw_text title = {0};
	int status = tw_screen_open(&work->screen, work->options->common.output);
	if (status)
		return status;
	switch (form_of(work)) {
	case TW_FORM_TEXT:
		status = put_text(work);
		break;
	case TW_FORM_JSON:
		put_json(work);
		break;
	case TW_FORM_SVG:
		tw_text_add_files(&title, &path, 1);
		tw_cpu_render(&work->screen.out, work->cpu, title.bytes);
		tw_text_free(&title);
		break;
	case TW_FORM_CSV: /* written while it was read */
		break;
	}
	return tw_screen_end(&work->screen, status);
}

static void tell(const struct work *work)
{
	if (tw_say_left_out(tw_cpu_left_out(work->cpu), "sample", ""))
		return;
	if (!tw_cpu_row(work->cpu, 0))
		tw_say_none(&work->options->common, "processor time");
}

static int read_cpu(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct work *work = walk->context;
	bool csv = form_of(work) == TW_FORM_CSV;
	(void)path;
	const struct tw_cpu_options options = {
	    .plot = form_of(work) == TW_FORM_SVG,
	    .memory_limit = (size_t)walk->common->memory,
	    .on_sample = csv ? put_sample : NULL,
	    .context = work,
	};
	int status = csv ? tw_screen_open(&work->screen, walk->common->output) : 0;
	if (status)
		return status;
	if (csv)
		tw_put_text(&work->screen.out, "time_ns,process,thread,cpu_ns,percent\n");
	status = tw_cpu_read(&work->cpu, reader, &options);
	return status < 0 ? status : 0;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	struct work work = {.options = (const struct cpu_options *)common};
	int status = tw_check_form(&tw_command_cpu, common, &work.options->forms);
	if (status)
		return status;
	struct tw_walk walk = {
	    .common = common,
	    .options = {.order = TW_ORDER_TIME},
	    .quiet = form_of(&work) == TW_FORM_CSV && tw_goes_to_terminal(common->output),
	    .context = &work,
	    .read = read_cpu,
	};
	status = tw_walk(&walk, operands, count);
	if (walk.readable && work.cpu) {
		tell(&work);
		bool nothing_to_draw = form_of(&work) == TW_FORM_SVG && !tw_cpu_row(work.cpu, 0);
		int shown = nothing_to_draw ? 0 : put(&work, operands[0]);
		status = shown > status ? shown : status;
	} else if (work.screen.open) {
		tw_output_discard(&work.screen.out);
	}
	tw_cpu_free(work.cpu);
	return status;
}

#define MEMBER(name) .offset = offsetof(struct cpu_options, name)
static const struct tw_option form_options[] = {
    {"output", 'o', TW_OPTION_FILE, MEMBER(common.output), .placeholder = "FILE",
     .help = "where to write; .csv and .svg tell the form, and .gz or .zst behind them the compression. - is standard "
             "output, the default"},
    {"json", 0, TW_OPTION_FLAG, MEMBER(common.json), .help = "write JSON Lines: an object a row"},
    {"csv", 0, TW_OPTION_FLAG, MEMBER(forms.csv), .help = "write every sample: a line each, in the order of time"},
    {"svg", 0, TW_OPTION_FLAG, MEMBER(forms.svg), .help = "draw a chart for the process and each thread"},
};
static const struct tw_option_group form_group = {"Output", form_options, sizeof form_options / sizeof *form_options};
static const struct tw_option_group *const groups[] = {&tw_window_options, &tw_plain_input_options, &form_group,
                                                       &tw_help_options, NULL};

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
    .size = sizeof(struct cpu_options),
    .least = 1,
    .most = 1,
    .run = run,
};
