/* study.c - what the commands share that study instructions: reading, and their tables as text or JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/study.h"

#include "base/text/json.h"
#include "cli/files/nothing_passed.h"
#include "cli/files/walk.h"
#include "cli/options/output_form.h"
#include "cli/output/message.h"
#include "cli/output/show.h"
#include "cli/output/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TOP = 20 };

static const char *const level_words[] = {"EL0", "EL1", NULL};

struct study_report {
	const struct tw_study_common *common;
	const struct tw_study_options *options;
	tw_study_render_fn render;
	struct tw_study *study;
	bool read; /* to its end */
};

static size_t rows_shown(const struct study_report *report, const struct tw_study_table *table)
{
	const struct tw_study_common *common = report->common;
	uint64_t top = common->all ? 0 : common->top.given ? common->top.value : TOP;
	return table->ranked && top && top < table->row_count ? (size_t)top : table->row_count;
}

/* ---- JSON. ---- */

static void put_lines(struct tw_json *json, const char *name, const char *text)
{
	tw_json_array(json, name);
	while (text && *text) {
		size_t length = strcspn(text, "\n");
		tw_json_bytes(json, NULL, text, length);
		text += length + (text[length] != '\0');
	}
	tw_json_array_end(json);
}

static void put_member(struct tw_json *json, const struct tw_study_column *column, const struct tw_study_cell *cell)
{
	switch (column->unit) {
	case TW_STUDY_SIGNED:
		tw_json_i64(json, column->name, (int64_t)cell->number);
		break;
	case TW_STUDY_COUNT:
	case TW_STUDY_HEX:
	case TW_STUDY_ID:
		if (column->unit == TW_STUDY_COUNT && cell->number == UINT64_MAX)
			tw_json_text(json, column->name, NULL);
		else
			tw_json_u64(json, column->name, cell->number);
		break;
	case TW_STUDY_SHARE:
		tw_json_fixed(json, column->name, cell->share, 6);
		break;
	case TW_STUDY_TEXT:
		tw_json_text(json, column->name, cell->text);
		break;
	case TW_STUDY_LINES:
		put_lines(json, column->name, cell->text);
		break;
	}
}

static void put_json(struct tw_output *out, const struct study_report *report, const struct tw_study_table *table)
{
	const struct tw_study_cell *cell = table->cells;
	for (size_t row = 0; row < rows_shown(report, table); row++) {
		struct tw_json json = {.out = out};
		tw_json_object(&json, NULL);
		tw_json_text(&json, "table", table->name);
		for (size_t i = 0; i < table->column_count; i++, cell++)
			if (table->columns[i].name)
				put_member(&json, &table->columns[i], cell);
		tw_json_object_end(&json);
		tw_json_line_end(&json);
	}
}

/* ---- Text. ---- */

static void add_cell(struct tw_table *table, enum tw_study_unit unit, const struct tw_study_cell *cell)
{
	char text[TW_SHOW_ROOM];
	switch (unit) {
	case TW_STUDY_COUNT:
		tw_table_add(table, cell->number == UINT64_MAX ? "" : tw_show_count(cell->number).text);
		return;
	case TW_STUDY_ID:
		tw_table_add(table, tw_show_id(cell->number).text);
		return;
	case TW_STUDY_SIGNED:
		snprintf(text, sizeof text, "%" PRId64, (int64_t)cell->number);
		break;
	case TW_STUDY_HEX:
		snprintf(text, sizeof text, "0x%" PRIx64, cell->number);
		break;
	case TW_STUDY_SHARE:
		snprintf(text, sizeof text, "%.2f %%", 100 * cell->share);
		break;
	default:
		tw_table_add(table, cell->text ? cell->text : "");
		return;
	}
	tw_table_add(table, text);
}

/* The lines of the last cell, each in a row of its own. */
static void add_lines(struct tw_table *table, const char *text)
{
	enum { LINE = 256 };
	for (bool first = true; first || *text; first = false) {
		char line[LINE];
		size_t length = strcspn(text, "\n");
		for (size_t i = 1; !first && i < table->column_count; i++)
			tw_table_add(table, "");
		snprintf(line, sizeof line, "%.*s", (int)length, text);
		tw_table_add(table, line);
		text += length + (text[length] != '\0');
	}
}

static void add_row(struct tw_table *text, const struct tw_study_table *table, size_t row)
{
	const struct tw_study_cell *cells = table->cells + row * table->column_count;
	for (size_t i = 0; i < table->column_count; i++) {
		if (!table->columns[i].title)
			continue;
		if (table->columns[i].unit == TW_STUDY_LINES)
			add_lines(text, cells[i].text ? cells[i].text : "");
		else
			add_cell(text, table->columns[i].unit, &cells[i]);
	}
}

static int put_text(struct tw_screen *screen, const struct study_report *report, const struct tw_study_table *table)
{
	struct tw_table_column columns[TW_TABLE_COLUMNS];
	struct tw_table text = {.columns = columns};
	size_t shown = rows_shown(report, table);
	if (table->row_count == 0)
		return 0;
	tw_screen_bold(screen);
	tw_put_text(&screen->out, table->title);
	tw_screen_plain(screen);
	tw_put_text(&screen->out, "\n");
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].title)
			columns[text.column_count++] =
			    (struct tw_table_column){table->columns[i].title, table->columns[i].unit < TW_STUDY_TEXT};
	for (size_t row = 0; row < shown; row++)
		add_row(&text, table, row);
	int status = tw_table_put(&text, screen);
	if (shown < table->row_count)
		tw_putf(&screen->out, "... and %s more (--all)\n", tw_show_count(table->row_count - shown).text);
	return status;
}

/* ---- Showing. ---- */

static int put(struct tw_screen *screen, const struct study_report *report, char *path)
{
	const struct tw_study_table *table;
	bool json = report->common->common.forms.json;
	int status = 0;
	if (report->common->common.forms.chosen == TW_FORM_SVG) {
		struct tw_text title = {0};
		tw_text_add_files(&title, &path, 1);
		status = report->render(&screen->out, report->study, title.bytes ? title.bytes : "");
		tw_text_free(&title);
		return status < 0 ? tw_say_error("out of memory") : 0;
	}
	bool first = true;
	for (size_t i = 0; status == 0 && (table = tw_study_table(report->study, i)); i++) {
		if (!json && table->row_count && !first)
			tw_put_text(&screen->out, "\n");
		first = first && table->row_count == 0;
		if (json)
			put_json(&screen->out, report, table);
		else
			status = put_text(screen, report, table);
	}
	return status;
}

static int show(const struct study_report *report, char *path)
{
	struct tw_screen screen = {0};
	uint64_t left_out = tw_study_left_out(report->study);
	if (left_out)
		tw_say("%s left out: beyond the memory limit (--memory), or at no known address",
		       tw_show_plural(left_out, "item").text);
	if (tw_study_instructions(report->study) == 0)
		tw_say_none(&report->common->common, "instruction");
	int status = report->common->write ? report->common->write(report->common, report->study) : 0;
	if (status == 0)
		status = tw_screen_open_form(&screen, &report->common->common);
	if (status)
		return status;
	status = put(&screen, report, path);
	return tw_screen_end(&screen, status);
}

static struct tw_study_range range_of(const struct tw_study_common *common)
{
	return (struct tw_study_range){
	    .from = common->from_insn,
	    .to = common->to_insn,
	    .from_address = common->from_address.value,
	    .to_address = common->to_address.value,
	    .function = common->common.filter.function,
	    .levels = common->exception_level ? 1u << tw_word_place(level_words, common->exception_level) : 0,
	};
}

/* A range that has nothing in it is a mistake. */
static int refuse_range(const struct tw_study_common *common, const struct tw_command *command)
{
	if (common->to_insn && common->to_insn <= common->from_insn)
		return tw_say_usage(command, "--to-insn must be later than --from-insn");
	if (common->to_address.given && common->to_address.value <= common->from_address.value)
		return tw_say_usage(command, "--to-address must be above --from-address");
	return 0;
}

static int read_study(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct study_report *report = walk->context;
	struct tw_study_options options = *report->options;
	(void)path;
	options.jobs = tw_jobs(walk->common);
	options.memory_limit = (size_t)walk->common->limits.memory;
	options.range = range_of(report->common);
	int status = tw_study_read(&report->study, reader, &options);
	report->read = status == 0;
	return status;
}

int tw_study_show(const struct tw_study_common *common, const struct tw_study_options *options,
                  const struct tw_command *command, tw_study_render_fn render, char **operands, size_t count)
{
	struct study_report report = {.common = common, .options = options, .render = render};
	struct tw_walk walk = {.common = &common->common, .context = &report, .read = read_study};
	if (refuse_range(common, command))
		return TW_EXIT_FAILED;
	if (common->all && common->top.given)
		return tw_say_usage(command, "only one of --all and --top");
	bool picture = common->common.forms.chosen == TW_FORM_SVG;
	if (picture && (common->all || common->top.given))
		return tw_say_usage(command, "a picture has no rows: --%s does nothing", common->all ? "all" : "top");
	int status = tw_walk(&walk, operands, count);
	if (walk.readable && report.read) {
		status = tw_worse(status, show(&report, operands[0]));
	}
	tw_study_free(report.study);
	return status;
}

int tw_study_show_made(const struct tw_study_common *common, struct tw_study *study, tw_study_render_fn render,
                       char *path)
{
	const struct study_report report = {.common = common, .render = render, .study = study, .read = true};
	return show(&report, path);
}

#define MEMBER(name) .offset = offsetof(struct tw_study_common, name)
static const struct tw_option row_options[] = {
    {"top", 'n', TW_OPTION_NUMBER, MEMBER(top), .placeholder = "N",
     .help = "only the first N rows of tables that are ranked, 20 if not said; 0 shows all"},
    {"all", 'a', TW_OPTION_FLAG, MEMBER(all), .help = "show all rows"},
    {"thread", 't', TW_OPTION_NUMBERS, MEMBER(common.filter.threads), .placeholder = "ID[,ID...]",
     .help = "only these threads, or cores; may be repeated"},
};
static const struct tw_option range_options[] = {
    {"from-insn", 0, TW_OPTION_COUNT, MEMBER(from_insn), .placeholder = "N", .filters = true,
     .help = "only from instruction number N of each thread on, the first being 0"},
    {"to-insn", 0, TW_OPTION_COUNT, MEMBER(to_insn), .placeholder = "N", .least = 1, .filters = true,
     .help = "only before instruction number N of each thread"},
    {"function", 'f', TW_OPTION_TEXT, MEMBER(common.filter.function), .placeholder = "GLOB", .filters = true,
     .help = "only what functions execute whose name matches, \"parse_*\", without what they call"},
    {"exception-level", 0, TW_OPTION_CHOICE, MEMBER(exception_level), .words = level_words, .filters = true,
     .help = "only programs, or only the kernel"},
    {"from-address", 0, TW_OPTION_NUMBER, MEMBER(from_address), .placeholder = "ADDRESS", .filters = true,
     .help = "only instructions at this address, \"0x400000\", and above"},
    {"to-address", 0, TW_OPTION_NUMBER, MEMBER(to_address), .placeholder = "ADDRESS", .least = 1, .filters = true,
     .help = "only instructions below this address"},
};
static const struct tw_option picture_options[] = {
    TW_OPTION_OUTPUT_BY_NAME, TW_OPTION_JSON_ROWS("row"), TW_OPTION_CSV_ROWS,
    TW_OPTION_CSV_SAFE_ROWS,  TW_OPTION_MARKDOWN,         TW_OPTION_SVG("draw a picture"),
};
const struct tw_option_group tw_study_row_options = {"Rows", row_options, sizeof row_options / sizeof *row_options};
const struct tw_option_group tw_study_range_options = {"Instructions", range_options,
                                                       sizeof range_options / sizeof *range_options};
const struct tw_option_group tw_study_picture_options = {"Output", picture_options,
                                                         sizeof picture_options / sizeof *picture_options};
