/* plot.c - pictures of what instructions did: one SVG file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/svg.h"
#include "study/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Pixels. */
enum { WIDTH = 1200, LEFT = 130, INNER = 1024, HEAD = 40, CHART = 120, STEP = CHART + 60, LABEL = 8 };

static const char style[] = ".all { stroke: #b8b2a9; fill: #eae7e2 }\n.set { stroke: #1f6fb4; fill: none }\n";

/* The rows of a thread. */
struct thread_rows {
	const struct tw_study_cell *first;
	size_t count, columns;
};

/* Both tables have these first. */
enum { THREAD = 0, START = 1, LENGTH = 2 };

/* What a picture shows of each thread. */
struct plot {
	const char *begin, *end; /* of what is said above the chart: "thread 1: BEGIN in each 1000 instructions END" */
	size_t area, line;       /* columns; the area is never lower */
};

static uint64_t cell(const struct thread_rows *rows, size_t row, size_t column)
{
	return rows->first[row * rows->columns + column].number;
}

/* The instructions of the thread before the end of an interval. */
static uint64_t end_of(const struct thread_rows *rows, size_t row)
{
	return cell(rows, row, START) + cell(rows, row, LENGTH);
}

/* Steps from interval to interval; with `area` down to the axis at the end. */
static void put_line(struct tw_output *out, const struct thread_rows *rows, size_t column, int bottom, uint64_t most,
                     bool area)
{
	double scale = (double)INNER / (double)end_of(rows, rows->count - 1);
	tw_putf(out, "<path class=\"%s\" d=\"M%d %d", area ? "all" : "set", LEFT, bottom);
	for (size_t i = 0; i < rows->count; i++) {
		tw_put_char(out, 'V');
		tw_svg_pixels(out, bottom - CHART * ((double)cell(rows, i, column) / (double)most));
		tw_put_char(out, 'H');
		tw_svg_pixels(out, LEFT + scale * (double)end_of(rows, i));
	}
	if (area)
		tw_putf(out, "V%dz", bottom);
	tw_put_text(out, "\"/>\n");
}

static uint64_t most_of(const struct thread_rows *rows, size_t column)
{
	uint64_t most = 1;
	for (size_t i = 0; i < rows->count; i++)
		most = cell(rows, i, column) > most ? cell(rows, i, column) : most;
	return most;
}

static void put_axis(struct tw_output *out, uint64_t instructions, int top, int bottom)
{
	const struct tw_svg_frame frame = {.left = LEFT, .width = INNER, .span_ns = instructions};
	tw_svg_instructions(out, &frame, top, bottom);
}

static void put_chart(struct tw_output *out, const struct plot *plot, const struct thread_rows *rows, int top,
                      uint64_t most)
{
	int bottom = top + CHART;
	uint64_t step = rows->count > 1 ? cell(rows, 1, START) : 0;
	tw_putf(out, "<text class=\"name\" x=\"%d\" y=\"%d\">thread %" PRIu64 ": %s", LEFT, top - LABEL,
	        cell(rows, 0, THREAD), plot->begin);
	if (step) {
		tw_put_text(out, " in each ");
		tw_put_count(out, step);
		tw_put_text(out, " instructions");
	}
	tw_putf(out, "%s</text>\n", plot->end);
	tw_svg_values(out, &(struct tw_svg_frame){.left = LEFT, .width = INNER},
	              &(struct tw_svg_scale){0, (double)most, bottom, CHART, ""});
	put_axis(out, end_of(rows, rows->count - 1), top, bottom);
	put_line(out, rows, plot->area, bottom, most, true);
	put_line(out, rows, plot->line, bottom, most, false);
}

static const struct tw_study_table *find_table(const struct tw_study *study, const char *name)
{
	const struct tw_study_table *table;
	size_t i = 0;
	while ((table = tw_study_table(study, i++)) && strcmp(table->name, name) != 0)
		;
	return table;
}

/* How many rows from one on have the same in a column. */
static size_t rows_alike(const struct tw_study_table *table, size_t from, size_t column)
{
	const struct tw_study_cell *cells = table->cells + from * table->column_count + column;
	size_t count = 1;
	while (from + count < table->row_count && cells[count * table->column_count].number == cells[0].number)
		count++;
	return count;
}

static int render(struct tw_output *out, const struct tw_study_table *table, const struct plot *plot, const char *title)
{
	size_t rows = table ? table->row_count : 0;
	int charts = 0, top = HEAD + 30;
	for (size_t i = 0; i < rows; i += rows_alike(table, i, THREAD))
		charts++;
	tw_svg_begin(out, WIDTH, HEAD + charts * STEP + 20, title, "A chart for each thread over its instructions",
	             style);
	const struct thread_rows all = {table ? table->cells : NULL, rows, table ? table->column_count : 0};
	uint64_t most = most_of(&all, plot->area); /* one scale: threads are compared */
	for (size_t i = 0, count; i < rows; i += count, top += STEP) {
		count = rows_alike(table, i, THREAD);
		const struct thread_rows thread = {table->cells + i * table->column_count, count, table->column_count};
		put_chart(out, plot, &thread, top, most);
	}
	tw_put_text(out, "</svg>\n");
	return 0;
}

int study_render_footprint(struct tw_output *out, const struct tw_study *study, const char *title)
{
	static const struct plot plot = {.begin = "lines of 64 bytes",
	                                 .end = " (blue), and so far (grey)",
	                                 .area = 10,
	                                 .line = 7};
	return render(out, find_table(study, "footprint"), &plot, title);
}

int study_render_misses(struct tw_output *out, const struct tw_study *study, const char *title)
{
	enum { FIRST = 4 }; /* column of the first level's misses */
	const struct tw_study_table *table = find_table(study, "interval");
	size_t last = table ? table->column_count - 1 : FIRST;
	const struct plot plot = {.begin = "misses of the first level (grey) and the last (blue)",
	                          .end = "",
	                          .area = FIRST,
	                          .line = last};
	return render(out, table, &plot, title);
}

/* ---- Phases. ---- */

enum { STRIP = 40, LEGEND = 18, TICK = 4 };

#define PALE ".pale { opacity: 0.5 }\n"

/* Columns of the intervals, and of the phases. */
enum { OF_THREAD = 1, FROM = 2, INSTRUCTIONS = 3, PHASE = 5, WEIGHT = 1, BEST = 3 };

/* Twelve phases or tasks have a colour each, the next twelve the same, paler. */
static void put_box(struct tw_output *out, double x, int top, double wide, int high, uint64_t number)
{
	tw_putf(out, "<rect class=\"c%u%s\" x=\"", (unsigned)(number % TW_SVG_COLOURS),
	        number / TW_SVG_COLOURS % 2 ? " pale" : "");
	tw_svg_pixels(out, x);
	tw_putf(out, "\" y=\"%d\" width=\"", top);
	tw_svg_pixels(out, wide);
	tw_putf(out, "\" height=\"%d\"/>\n", high);
}

/* The intervals of a thread, each as wide as it is long; neighbours of one phase are one box. */
static void put_strip(struct tw_output *out, const struct thread_rows *rows, int top)
{
	uint64_t all = cell(rows, rows->count - 1, FROM) + cell(rows, rows->count - 1, INSTRUCTIONS);
	double scale = (double)INNER / (double)all;
	tw_putf(out, "<text class=\"name\" x=\"%d\" y=\"%d\">thread %" PRIu64 "</text>\n", LEFT, top - LABEL,
	        cell(rows, 0, OF_THREAD));
	for (size_t i = 0, next; i < rows->count; i = next) {
		for (next = i + 1; next < rows->count && cell(rows, next, PHASE) == cell(rows, i, PHASE);)
			next++;
		uint64_t from = cell(rows, i, FROM);
		uint64_t to = cell(rows, next - 1, FROM) + cell(rows, next - 1, INSTRUCTIONS);
		put_box(out, LEFT + scale * (double)from, top, scale * (double)(to - from), STRIP,
		        cell(rows, i, PHASE));
	}
	put_axis(out, all, top + STRIP, top + STRIP + TICK);
}

static void put_legend(struct tw_output *out, const struct tw_study_table *phases, int top)
{
	for (size_t i = 0; i < phases->row_count; i++, top += LEGEND) {
		const struct tw_study_cell *cells = phases->cells + i * phases->column_count;
		put_box(out, LEFT, top, LEGEND - 4, LEGEND - 4, i);
		tw_putf(out,
		        "<text x=\"%d\" y=\"%d\">phase %zu: %.2f %%, for which interval %" PRIu64 " stands</text>\n",
		        LEFT + LEGEND + 4, top + LEGEND - 6, i, 100 * cells[WEIGHT].share, cells[BEST].number);
	}
}

int study_render_phases(struct tw_output *out, const struct tw_study *study, const char *title)
{
	const struct tw_study_table *table = find_table(study, "interval"), *phases = find_table(study, "phase");
	size_t rows = table ? table->row_count : 0, legend = phases ? phases->row_count : 0;
	int strips = 0, top = HEAD + 30, step = STEP - CHART + STRIP;
	for (size_t i = 0; i < rows; i += rows_alike(table, i, OF_THREAD))
		strips++;
	tw_svg_begin(out, WIDTH, HEAD + 20 + strips * step + (int)legend * LEGEND, title,
	             "For each thread the phase of each interval", PALE);
	tw_svg_palette(out);
	for (size_t i = 0, count; i < rows; i += count, top += step) {
		count = rows_alike(table, i, OF_THREAD);
		const struct thread_rows thread = {table->cells + i * table->column_count, count, table->column_count};
		put_strip(out, &thread, top);
	}
	if (phases)
		put_legend(out, phases, top - 20);
	tw_put_text(out, "</svg>\n");
	return 0;
}

/* ---- Tasks. ---- */

/* Columns of the schedule, which has those of each thread first, and of the tasks. */
enum { OF_KERNEL = 3, TASK = 5, NUMBER = 0, SUM = 1, KERNEL_SHARE = 3, POINTER = 6 };

/* Stays of a core side by side, as many as make half a pixel: they show the task that stayed longest. */
struct stays {
	uint64_t from, instructions, kernel, longest, task;
};

static size_t take_stays(const struct thread_rows *rows, size_t row, double scale, struct stays *stays)
{
	*stays = (struct stays){.from = cell(rows, row, START)};
	for (; row < rows->count && scale * (double)stays->instructions < 0.5; row++) {
		uint64_t instructions = cell(rows, row, LENGTH);
		stays->instructions += instructions;
		stays->kernel += cell(rows, row, OF_KERNEL);
		if (instructions > stays->longest) {
			stays->longest = instructions;
			stays->task = cell(rows, row, TASK);
		}
	}
	return row;
}

/* From below, how much of it the kernel was. */
static void put_kernel(struct tw_output *out, double x, int bottom, double wide, double share)
{
	tw_put_text(out, "<rect class=\"kernel\" x=\"");
	tw_svg_pixels(out, x);
	tw_put_text(out, "\" y=\"");
	tw_svg_pixels(out, bottom - STRIP * share);
	tw_put_text(out, "\" width=\"");
	tw_svg_pixels(out, wide);
	tw_put_text(out, "\" height=\"");
	tw_svg_pixels(out, STRIP * share);
	tw_put_text(out, "\"/>\n");
}

static void put_core(struct tw_output *out, const struct thread_rows *rows, int top, uint64_t all)
{
	double scale = (double)INNER / (double)all;
	struct stays stays;
	tw_putf(out, "<text class=\"name\" x=\"%d\" y=\"%d\">core %" PRIu64 ": ", LEFT, top - LABEL,
	        cell(rows, 0, THREAD));
	tw_put_count(out, end_of(rows, rows->count - 1));
	tw_put_text(out, " instructions</text>\n");
	for (size_t i = 0; i < rows->count;) {
		i = take_stays(rows, i, scale, &stays);
		double x = LEFT + scale * (double)stays.from, wide = scale * (double)stays.instructions;
		put_box(out, x, top, wide, STRIP, stays.task);
		put_kernel(out, x, top + STRIP, wide, (double)stays.kernel / (double)stays.instructions);
	}
	put_axis(out, all, top + STRIP, top + STRIP + TICK);
}

static void put_tasks(struct tw_output *out, const struct tw_study_table *tasks, size_t count, int top)
{
	for (size_t i = 0; i < count; i++, top += LEGEND) {
		const struct tw_study_cell *cells = tasks->cells + i * tasks->column_count;
		put_box(out, LEFT, top, LEGEND - 4, LEGEND - 4, cells[NUMBER].number);
		tw_putf(out, "<text x=\"%d\" y=\"%d\">task %" PRIu64 ": ", LEFT + LEGEND + 4, top + LEGEND - 6,
		        cells[NUMBER].number);
		tw_put_count(out, cells[SUM].number);
		tw_putf(out, " instructions, %.2f %% of the kernel", 100 * cells[KERNEL_SHARE].share);
		if (cells[POINTER].number)
			tw_putf(out, ", SP_EL0 0x%" PRIx64, cells[POINTER].number);
		tw_put_text(out, "</text>\n");
	}
}

int study_render_tasks(struct tw_output *out, const struct tw_study *study, const char *title)
{
	enum { TASKS_MOST = 40 }; /* that are told below */
	static const char of_kernel[] = PALE ".kernel { fill: #000; opacity: 0.3 }\n";
	const struct tw_study_table *table = find_table(study, "schedule"), *tasks = find_table(study, "task");
	size_t rows = table ? table->row_count : 0, listed = tasks ? tasks->row_count : 0;
	int strips = 0, top = HEAD + 30, step = STEP - CHART + STRIP;
	uint64_t most = 1;
	listed = listed < TASKS_MOST ? listed : TASKS_MOST;
	const struct thread_rows all = {table ? table->cells : NULL, rows, table ? table->column_count : 0};
	for (size_t i = 0; i < rows; i++)
		most = end_of(&all, i) > most ? end_of(&all, i) : most; /* one scale: cores are compared */
	for (size_t i = 0; i < rows; i += rows_alike(table, i, THREAD))
		strips++;
	tw_svg_begin(out, WIDTH, HEAD + 20 + strips * step + (int)listed * LEGEND, title,
	             "For each core which task was executed; dark: how much of it was the kernel", of_kernel);
	tw_svg_palette(out);
	for (size_t i = 0, count; i < rows; i += count, top += step) {
		count = rows_alike(table, i, THREAD);
		const struct thread_rows core = {table->cells + i * table->column_count, count, table->column_count};
		put_core(out, &core, top, most);
	}
	if (listed)
		put_tasks(out, tasks, listed, top - 20);
	tw_put_text(out, "</svg>\n");
	return 0;
}

/* ---- Calls. ---- */

enum { TOTAL = 0, SELF = 2, CALLS = 3, DEPTH = 4, FUNCTION = 5 };

/* Rows are depth first: the caller is the last one that is less deep. path: by depth. */
static void fill_nodes(const struct tw_study_table *table, struct tw_calltree_node *nodes, uint32_t *path)
{
	nodes[0] = (struct tw_calltree_node){.name = ""};
	for (uint32_t i = 0; i < table->row_count; i++) {
		const struct tw_study_cell *cells = table->cells + i * table->column_count;
		uint32_t depth = (uint32_t)cells[DEPTH].number;
		nodes[i + 1] = (struct tw_calltree_node){
		    .name = cells[FUNCTION].text,
		    .parent = depth > 1 ? path[depth - 1] : 0,
		    .depth = depth,
		    .count = cells[CALLS].number,
		    .total = cells[TOTAL].number,
		    .self = cells[SELF].number,
		};
		path[depth] = i + 1;
		nodes[0].total += depth == 1 ? cells[TOTAL].number : 0;
	}
}

int study_render_calls(struct tw_output *out, const struct tw_study *study, const char *title)
{
	const struct tw_flame_options options = {.weight = TW_WEIGHT_INSTRUCTIONS,
	                                         .title = title,
	                                         .form = TW_FLAME_SVG};
	const struct tw_study_table *table = find_table(study, "tree");
	size_t count = table ? table->row_count : 0;
	struct tw_calltree_node *nodes = calloc(count + 1, sizeof *nodes);
	uint32_t *path = calloc(count + 2, sizeof *path);
	int status = TW_ERR_MEMORY;
	if (nodes && path) {
		nodes[0].name = "";
		if (table)
			fill_nodes(table, nodes, path);
		status = tw_flame_render(out, nodes, (uint32_t)count + 1, &options);
	}
	free(nodes);
	free(path);
	return status;
}
