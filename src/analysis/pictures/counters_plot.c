/* counters_plot.c - the series of counters as charts: one SVG file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/svg.h"
#include "analysis/series/counters.h"
#include "analysis/tool.h"
#include "base/text/digits.h"

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
	NAME_COLUMNS = 120,
	VALUE_COLUMNS = 18 /* left of a chart */
};

static const char style[] =
    ".name { font-weight: bold }\n.value { text-anchor: end; font-size: 11px; fill: #666 }\n"
    ".line { stroke: #1f6fb4; fill: none }\n"
    ".held { stroke: #1f6fb4; stroke-opacity: .5; stroke-dasharray: 2 3; fill: none }\n.dot { fill: #1f6fb4 }\n"
    ".box { stroke: #aaa; fill: none }\n";

struct chart {
	struct tw_output *out;
	struct tw_svg_frame frame;
	int top; /* of the box */
	const struct tw_series *series;
	double min, max;
};

enum { VALUE_ROOM = TW_DOUBLE_MAX + TW_DOUBLE_MAX / 3 + 1 };

/* The digits of a value, in groups. */
static void write_value(char text[VALUE_ROOM], const struct tw_counter_value *value)
{
	char digits[TW_DOUBLE_MAX + 1], *end = digits;
	bool negative = value->type == TW_ARG_INT && value->value.i < 0;
	if (negative)
		*end++ = '-';
	if (value->type == TW_ARG_DOUBLE)
		end = tw_double_digits(end, value->value.d);
	else
		end = tw_digits(end, negative ? -value->value.u : value->value.u);
	*end = '\0';
	tw_group_digits(text, digits);
}

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

/* Puts the value at an edge of the axis; one that is too long is cut, and stands in the tooltip in full. */
static void put_edge(const struct chart *chart, int y, const struct tw_counter_value *value)
{
	char text[VALUE_ROOM];
	write_value(text, value);
	tw_putf(chart->out, "<text class=\"value\" x=\"%d\" y=\"%d\">", LEFT - 6, y);
	if (strlen(text) <= VALUE_COLUMNS)
		tw_put_text(chart->out, text);
	else
		tw_putf(chart->out, "<title>%s</title>%.7g", text, (double)tw_counter_number(value));
	tw_put_text(chart->out, "</text>\n");
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
	if (*row->category) {
		tw_put_name(out, row->category, NAME_COLUMNS / 3, tw_xml_escapes);
		tw_put_text(out, ", ");
	}
	if (row->process_name)
		tw_put_name(out, row->process_name, NAME_COLUMNS / 3, tw_xml_escapes);
	else
		tw_put_text(out, "process");
	tw_put_char(out, ' ');
	tw_put_u64(out, row->process);
	tw_put_text(out, ", id ");
	tw_put_u64(out, row->id);
	tw_put_text(out, ", ");
	tw_put_count(out, row->count);
	tw_put_text(out, row->count == 1 ? " sample)</text>\n" : " samples)</text>\n");
}

static void put_chart(struct chart *chart)
{
	const struct tw_counter_row *row = &chart->series->row;
	put_label(chart);
	tw_svg_times(chart->out, &chart->frame, chart->top, chart->top + CHART);
	tw_putf(chart->out, "<path class=\"box\" d=\"M%d %dh%dv%dh-%dz\"/>\n", LEFT, chart->top, INNER, CHART, INNER);
	chart->min = (double)tw_counter_number(&row->min);
	chart->max = (double)tw_counter_number(&row->max);
	if (chart->min < chart->max) {
		put_edge(chart, chart->top + 10, &row->max);
		put_edge(chart, chart->top + CHART, &row->min);
	} else {
		put_edge(chart, chart->top + CHART / 2 + 4, &row->min);
	}
	put_line(chart);
}

/* A row is the first member of its series. */
static const struct tw_series *series_at(const struct tw_counters *counters, const struct tw_counter_row *const *rows,
                                         size_t i)
{
	return rows ? (const struct tw_series *)(const void *)rows[i] : &counters->all[i];
}

int tw_counters_render(struct tw_output *out, const struct tw_counters *counters, const char *title,
                       const struct tw_counter_row *const *rows, size_t count)
{
	uint64_t span = tw_times_span(&counters->window, counters->end_ns);
	struct chart chart = {.out = out, .frame = {LEFT, INNER, span ? span : 1, counters->window.from_ns}};
	int charts = 0;
	if (!counters->options.plot)
		return TW_ERR_UNSUPPORTED;
	count = rows ? count : counters->count;
	for (size_t i = 0; i < count; i++)
		charts += series_at(counters, rows, i)->row.count != 0;
	tw_svg_begin(out, WIDTH, HEAD + charts * STEP + NAME_LINE, title ? title : "Counters", style);
	if (charts == 0)
		tw_putf(out, "<text x=\"%d\" y=\"%d\">no counters</text>\n", LEFT, HEAD + NAME_LINE);
	chart.top = HEAD + 2 * NAME_LINE;
	for (size_t i = 0; i < count; i++) {
		chart.series = series_at(counters, rows, i);
		if (!chart.series->row.count)
			continue;
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
