/* counters_plot.c - the series of counters as charts: one SVG file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/svg.h"
#include "analysis/series/counters.h"
#include "analysis/tool.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Pixels. */
enum {
	WIDTH = 1200,
	LEFT = 130,
	INNER = 1024,
	HEAD = 40,
	CHART = 80,
	NAME_LINE = 18,
	STEP = CHART + 56,
	NAME_COLUMNS = 120
};

static const char style[] =
    ".line { stroke: #1f6fb4; fill: none }\n"
    ".held { stroke: #1f6fb4; stroke-opacity: .5; stroke-dasharray: 2 3; fill: none }\n.dot { fill: #1f6fb4 }\n"
    ".box { stroke: #8a7d70; fill: none }\n.stretch { fill: #e8a33d; fill-opacity: .45 }\n";

struct chart {
	struct tw_output *out;
	struct tw_svg_frame frame;
	int top; /* of the box */
	const struct tw_counters *counters;
	const struct tw_series *series;
	double min, max; /* of the axis, which has 0 on it */
};

/* Returns the height of a value. It is computed from halves, because the distance of two doubles may be infinite. */
static double y_of(const struct chart *chart, double value)
{
	double span = chart->max / 2 - chart->min / 2;
	return chart->top + CHART - (span > 0 ? CHART * ((value / 2 - chart->min / 2) / span) : CHART / 2.0);
}

static void put_command(struct tw_output *out, char command, double pixels)
{
	tw_put_char(out, command);
	tw_svg_pixels(out, pixels);
}

/* A counter keeps its value until the next sample. */
static void put_column(const struct chart *chart, const struct tw_chart_column *column, double x, bool first)
{
	struct tw_output *out = chart->out;
	if (first) {
		put_command(out, 'M', x);
		put_command(out, ' ', y_of(chart, column->first));
	} else {
		put_command(out, 'H', x);
		put_command(out, 'V', y_of(chart, column->first));
	}
	if (column->min < column->first || column->min < column->last)
		put_command(out, 'V', y_of(chart, column->min));
	if (column->max > column->first || column->max > column->last)
		put_command(out, 'V', y_of(chart, column->max));
	if (column->last < column->max && column->last != column->first)
		put_command(out, 'V', y_of(chart, column->last));
}

static double column_x(const struct chart *chart, size_t column)
{
	return tw_svg_x(&chart->frame, (uint64_t)column << chart->series->chart.shift);
}

/* Puts a dot where the line is too short to be seen. */
static void put_dot(const struct chart *chart, const struct tw_chart_column *column, double x)
{
	tw_put_text(chart->out, "<circle class=\"dot\" r=\"2.5\" cx=\"");
	tw_svg_pixels(chart->out, x);
	tw_put_text(chart->out, "\" cy=\"");
	tw_svg_pixels(chart->out, y_of(chart, column->first));
	tw_put_text(chart->out, "\"/>\n");
}

/* Continues the line at the last value to the end of what is shown. */
static void put_held(const struct chart *chart, const struct tw_chart_column *column, double x)
{
	if (x + 1 >= LEFT + INNER)
		return;
	tw_put_text(chart->out, "<path class=\"held\" d=\"");
	put_command(chart->out, 'M', x + 1);
	put_command(chart->out, ' ', y_of(chart, column->last));
	tw_putf(chart->out, "H%d\"/>\n", LEFT + INNER);
}

static void put_line(const struct chart *chart)
{
	const struct tw_chart_column *items = chart->series->chart.items;
	size_t used = 0, last = 0;
	tw_put_text(chart->out, "<path class=\"line\" d=\"");
	for (size_t i = 0; i < TW_COLUMNS; i++)
		if (items[i].used) {
			put_column(chart, &items[i], column_x(chart, i), used++ == 0);
			last = i;
		}
	tw_put_text(chart->out, "h1\"/>\n");
	put_held(chart, &items[last], column_x(chart, last));
	if (used == 1)
		put_dot(chart, &items[last], column_x(chart, last));
}

/* The process, or what the caller knows better. An id of 0 is none of a program's own. */
static void put_owner(const struct chart *chart, const struct tw_counter_row *row)
{
	const struct tw_charting *charting = &chart->counters->charting;
	struct tw_output *out = chart->out;
	if (charting->put_owner) {
		charting->put_owner(out, charting->context, row);
		return;
	}
	if (row->process_name)
		tw_put_name(out, row->process_name, NAME_COLUMNS / 3, tw_xml_escapes);
	else
		tw_put_text(out, "process");
	tw_put_char(out, ' ');
	tw_put_task(out, row->process);
	if (row->id)
		tw_putf(out, ", id %" PRIu64, row->id);
}

static void put_label(const struct chart *chart)
{
	const struct tw_counter_row *row = &chart->series->row;
	struct tw_output *out = chart->out;
	tw_putf(out, "<text class=\"name\" x=\"%d\" y=\"%d\">", LEFT, chart->top - NAME_LINE / 2);
	tw_put_name(out, row->name, NAME_COLUMNS / 2, tw_xml_escapes);
	tw_put_text(out, ": ");
	tw_put_name(out, row->series, NAME_COLUMNS / 3, tw_xml_escapes);
	tw_put_text(out, " (");
	if (*row->category && !chart->counters->charting.put_owner) {
		tw_put_name(out, row->category, NAME_COLUMNS / 3, tw_xml_escapes);
		tw_put_text(out, ", ");
	}
	put_owner(chart, row);
	tw_put_text(out, ", ");
	tw_put_count(out, row->count);
	tw_put_text(out, row->count == 1 ? " sample)</text>\n" : " samples)</text>\n");
}

/* What the counters of runtimes and of memory are called. */
static const char *unit_of(const struct chart *chart, const struct tw_counter_row *row)
{
	static const char *const bytes[] = {"bytes", "allocated", "reserved"};
	for (size_t i = 0; i < (chart->counters->charting.compared ? sizeof bytes / sizeof *bytes : 1); i++)
		if (strcmp(row->series, bytes[i]) == 0)
			return "bytes";
	return chart->counters->charting.unit ? chart->counters->charting.unit : "";
}

static void put_stretch(const struct chart *chart, double left, double right)
{
	put_command(chart->out, 'M', left);
	tw_putf(chart->out, " %d", chart->top);
	put_command(chart->out, 'H', right);
	tw_putf(chart->out, "v%d", CHART);
	put_command(chart->out, 'H', left);
	tw_put_char(chart->out, 'z');
}

/* Stretches that touch in the picture are drawn as one: there are as many as pixels, at most. */
static void put_stretches(const struct chart *chart)
{
	const struct tw_charting *charting = &chart->counters->charting;
	uint64_t from = chart->frame.from_ns, to = from + chart->frame.span_ns;
	struct tw_stretch next;
	double left = -1, right = -1;
	if (!charting->stretch)
		return;
	tw_put_text(chart->out, "<path class=\"stretch\" d=\"");
	for (size_t i = 0; charting->stretch(charting->context, i, &next); i++) {
		if (next.to_ns < from || next.from_ns > to)
			continue;
		double begin = tw_svg_x(&chart->frame, next.from_ns > from ? next.from_ns - from : 0);
		double end = fmax(tw_svg_x(&chart->frame, next.to_ns - from), begin + 1);
		if (left >= 0 && begin > right)
			put_stretch(chart, left, right);
		left = left < 0 || begin > right ? begin : left;
		right = fmax(right, end);
	}
	if (left >= 0)
		put_stretch(chart, left, right);
	tw_put_text(chart->out, "\"/>\n");
}

static void put_chart(struct chart *chart)
{
	const struct tw_counter_row *row = &chart->series->row;
	put_label(chart);
	put_stretches(chart);
	tw_svg_times(chart->out, &chart->frame, chart->top, chart->top + CHART);
	tw_putf(chart->out, "<path class=\"box\" d=\"M%d %dh%dv%dh-%dz\"/>\n", LEFT, chart->top, INNER, CHART, INNER);
	tw_svg_values(chart->out, &chart->frame,
	              &(struct tw_svg_scale){chart->min, chart->max, chart->top + CHART, CHART, unit_of(chart, row)});
	put_line(chart);
}

/* A row is the first member of its series. */
static const struct tw_series *series_at(const struct tw_counters *counters, const struct tw_counter_row *const *rows,
                                         size_t i)
{
	return rows ? (const struct tw_series *)(const void *)rows[i] : &counters->all[i];
}

/* Whether two charts are to be compared: they have one scale. */
static bool is_comparable(const struct chart *chart, const struct tw_counter_row *a, const struct tw_counter_row *b)
{
	if (chart->counters->charting.compared)
		return strcmp(unit_of(chart, a), unit_of(chart, b)) == 0;
	return strcmp(a->name, b->name) == 0 && strcmp(a->category, b->category) == 0 &&
	       strcmp(a->series, b->series) == 0;
}

/* From 0, or to 0, over all charts that are compared with this one. */
static void choose_scale(struct chart *chart, const struct tw_counter_row *const *rows, size_t count)
{
	chart->min = chart->max = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tw_counter_row *row = &series_at(chart->counters, rows, i)->row;
		if (!row->count || !is_comparable(chart, row, &chart->series->row))
			continue;
		chart->min = fmin(chart->min, (double)tw_counter_number(&row->min));
		chart->max = fmax(chart->max, (double)tw_counter_number(&row->max));
	}
	chart->max += chart->max <= chart->min; /* nothing but 0 */
}

int tw_counters_render(struct tw_output *out, const struct tw_counters *counters, const char *title,
                       const struct tw_counter_row *const *rows, size_t count)
{
	uint64_t span = tw_times_span(&counters->window, counters->end_ns);
	struct chart chart = {.out = out,
	                      .counters = counters,
	                      .frame = {LEFT, INNER, span ? span : 1, counters->window.from_ns}};
	int charts = 0;
	if (!counters->options.plot)
		return TW_ERR_UNSUPPORTED;
	count = rows ? count : counters->count;
	for (size_t i = 0; i < count; i++)
		charts += series_at(counters, rows, i)->row.count != 0;
	tw_svg_begin(out, WIDTH, HEAD + charts * STEP + NAME_LINE, title ? title : "Counters",
	             "A chart for each series of numbers over time", style);
	if (counters->charting.stretch)
		tw_putf(out, "<text class=\"value\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT + INNER, HEAD - NAME_LINE,
		        counters->charting.stretches);
	if (charts == 0)
		tw_putf(out, "<text x=\"%d\" y=\"%d\">no counters</text>\n", LEFT, HEAD + NAME_LINE);
	chart.top = HEAD + 2 * NAME_LINE;
	for (size_t i = 0; i < count; i++) {
		chart.series = series_at(counters, rows, i);
		if (!chart.series->row.count)
			continue;
		choose_scale(&chart, rows, count);
		put_chart(&chart);
		chart.top += STEP;
	}
	tw_put_text(out, "</svg>\n");
	return 0;
}

int tw_counters_plot(const struct tw_counters *counters, const char *path, const char *title)
{
	struct tw_output out;
	int status = counters->options.plot ? tw_report_open(&out, path) : TW_ERR_UNSUPPORTED;
	return status < 0 ? status : tw_report_close(&out, tw_counters_render(&out, counters, title, NULL, 0));
}
