/* svg.c - what the pictures share: escapes, pixels, colours, an axis of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/svg.h"

#include "base/text/digits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARGIN = 10, TITLE_LINE = 24, TITLE_COLUMNS = 110, TIMES_MOST = 8, TIME_DROP = 15 };
enum { VALUES_MOST = 4, VALUE_GAP = 6, VALUE_DROP = 4 };

const struct tw_escape tw_xml_escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {0, NULL}};

void tw_svg_pixels(struct tw_output *out, double pixels)
{
	uint64_t hundredths = (uint64_t)(pixels * 100 + 0.5);
	tw_put_u64(out, hundredths / 100);
	if (hundredths % 100 == 0)
		return;
	tw_putf(out, hundredths % 10 ? ".%02u" : ".%01u",
	        (unsigned)(hundredths % 10 ? hundredths % 100 : hundredths / 10 % 10));
}

/* FNV-1a. */
unsigned tw_svg_colour(const char *name, unsigned count)
{
	uint32_t hash = 2166136261u;
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (hash >> 16 ^ hash) % count;
}

/* Those of flame graphs (web/flame.css) and of `view`. */
static const char *const palette[][TW_SVG_COLOURS] = {
    {"d3b080", "85dcff", "ffea75", "9d8cca", "d6d79d", "58a0ff", "e2c242", "abf2e4", "9fa7ae", "d4bec3", "8e9a6e",
     "96b5ed"},
    {"783615", "3871af", "8b4900", "6a44b4", "60773e", "435c63", "4e3e8f", "2f7a6e", "61528c", "4d6544", "44237d",
     "304d44"},
};

static void put_palette(struct tw_output *out, const char *const colours[static TW_SVG_COLOURS])
{
	for (unsigned i = 0; i < TW_SVG_COLOURS; i++)
		tw_putf(out, ".c%u { fill: #%s }\n", i, colours[i]);
}

void tw_svg_palette(struct tw_output *out)
{
	tw_put_text(out, "<style>\n");
	put_palette(out, palette[0]);
	tw_put_text(out, "@media (prefers-color-scheme: dark) {\n");
	put_palette(out, palette[1]);
	tw_put_text(out, "}\n</style>\n");
}

double tw_svg_x(const struct tw_svg_frame *frame, uint64_t ns)
{
	double part = frame->span_ns ? (double)ns / (double)frame->span_ns : 0;
	return frame->left + frame->width * (part < 1 ? part : 1);
}

/* The paper and the ink of flame graphs (web/flame.css). `key` is told at the right, `value` beside an axis. */
static const char light[] = "text { font: 12px system-ui, sans-serif; fill: #1f1408 }\n"
			    ".title { font-size: 17px; font-weight: 600 }\n.name { font-weight: 600 }\n"
			    ".time, .value, .key { font-size: 11px; fill: #5c5046 }\n.time { text-anchor: middle }\n"
			    ".value, .key { text-anchor: end }\n.grid { stroke: #ded6cb; fill: none }\n";

/* For browsers that are told to be dark: what has a class in one of the pictures, but for what tells threads apart. */
static const char dark[] =
    "@media (prefers-color-scheme: dark) {\nsvg { background: #17140f }\n.page { fill: #17140f }\n"
    "text { fill: #f4ebdf }\n.time, .value, .key { fill: #b8aa9a }\n.grid { stroke: #453d33 }\n"
    ".line, .set, .held { stroke: #6cb0ee }\n.dot { fill: #6cb0ee }\n.row { fill: #28231b }\n"
    ".all { stroke: #6f6a63; fill: #36332f }\n}\n";

void tw_svg_begin(struct tw_output *out, int width, int height, const char *title, const char *description,
                  const char *style)
{
	tw_putf(
	    out,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
	    "aria-labelledby=\"name what\">\n<title id=\"name\">",
	    width, height, width, height);
	tw_put_name(out, title, 0, tw_xml_escapes);
	tw_put_text(out, "</title>\n<desc id=\"what\">");
	tw_put_name(out, description, 0, tw_xml_escapes);
	tw_putf(out,
	        "</desc>\n<style>\n%s%s%s</style>\n"
	        "<rect class=\"page\" width=\"100%%\" height=\"100%%\" fill=\"#fffdf9\"/>\n"
	        "<text class=\"title\" x=\"%d\" y=\"%d\">",
	        light, style, dark, MARGIN, TITLE_LINE);
	tw_put_name(out, title, TITLE_COLUMNS, tw_xml_escapes);
	tw_put_text(out, "</text>\n");
}

/* The least of 1, 2 and 5 with zeros that divides the span into no more than TIMES_MOST parts. */
static uint64_t time_step(uint64_t span)
{
	static const unsigned steps[] = {1, 2, 5};
	for (uint64_t scale = 1; scale <= UINT64_MAX / 50; scale *= 10)
		for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
			if (span / (scale * steps[i]) <= TIMES_MOST)
				return scale * steps[i];
	return UINT64_MAX;
}

/* The least of 1, 2 and 5 with zeros, or behind a point, that divides a span into no more than VALUES_MOST parts. */
static double value_step(double span)
{
	static const double steps[] = {1, 2, 5, 10};
	double scale = pow(10, floor(log10(span / VALUES_MOST)));
	size_t i = 0;
	while (i < 3 && span / (scale * steps[i]) > VALUES_MOST)
		i++;
	return scale * steps[i];
}

/* The same, or less where an axis has but one multiple of it, as of 50 between -49 and 49. */
static double axis_step(const struct tw_svg_scale *scale, double unit)
{
	const double span = (scale->max - scale->min) / unit, step = value_step(span) * unit;
	bool alone = floor(scale->max / step) - ceil(scale->min / step) < 1;
	return alone ? value_step(span / 2) * unit : step;
}

/* What the numbers of an axis are told in: of bytes the largest power of 1024 that the axis reaches. */
struct axis_unit {
	double size;
	const char *name;
};

static struct axis_unit axis_unit(const struct tw_svg_scale *scale)
{
	static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	enum { NAMES = sizeof names / sizeof *names, STEP = 1024 };
	struct axis_unit unit = {1, scale->unit};
	if (strcmp(scale->unit, names[0]) != 0)
		return unit;
	double most = fmax(fabs(scale->min), fabs(scale->max));
	for (size_t i = 1; i < NAMES && most >= unit.size * STEP; i++)
		unit = (struct axis_unit){unit.size * STEP, names[i]};
	return unit;
}

static void put_value(struct tw_output *out, const char *unit, double value)
{
	char digits[TW_DOUBLE_MAX + 1], text[2 * TW_DOUBLE_MAX];
	bool round = fabs(value) < 1e15 && fabs(value) == floor(fabs(value));
	snprintf(digits, sizeof digits, round ? "%.0f" : "%.6g", value);
	tw_group_digits(text, digits);
	const bool has_value = *unit && value != 0;
	tw_putf(out, "%s%s%s", text, has_value ? " " : "", has_value ? unit : "");
}

void tw_svg_values(struct tw_output *out, const struct tw_svg_frame *frame, const struct tw_svg_scale *scale)
{
	const struct axis_unit unit = axis_unit(scale);
	double span = scale->max - scale->min, step = axis_step(scale, unit.size);
	if (!isfinite(span) || !(step > 0))
		return;
	for (long n = (long)ceil(scale->min / step); (double)n * step <= scale->max; n++) {
		double y = scale->bottom - scale->height * (((double)n * step - scale->min) / span);
		tw_putf(out, "<path class=\"grid\" d=\"M%d ", frame->left);
		tw_svg_pixels(out, y);
		tw_putf(out, "h%d\"/><text class=\"value\" x=\"%d\" y=\"", frame->width, frame->left - VALUE_GAP);
		tw_svg_pixels(out, fmin(y + VALUE_DROP, scale->bottom)); /* times stand below */
		tw_put_text(out, "\">");
		put_value(out, unit.name, (double)n * step / unit.size + 0.0);
		tw_put_text(out, "</text>\n");
	}
}

/* A round time: 0, 20 ms, 1.5 s. */
static void put_round_time(struct tw_output *out, uint64_t ns)
{
	static const struct {
		uint64_t unit;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
	size_t i = 0;
	while (units[i].unit > 1 && ns < units[i].unit)
		i++;
	tw_put_double(out, (double)ns / (double)units[i].unit);
	if (ns)
		tw_putf(out, " %s", units[i].name);
}

/* A line at what is so far behind the left edge. */
static void put_tick(struct tw_output *out, double x, int top, int bottom)
{
	tw_put_text(out, "<path class=\"grid\" d=\"M");
	tw_svg_pixels(out, x);
	tw_putf(out, " %dV%d\"/>", top, bottom);
}

/* Begins what stands below it. */
static void begin_label(struct tw_output *out, double x, int bottom)
{
	tw_put_text(out, "<text class=\"time\" x=\"");
	tw_svg_pixels(out, x);
	tw_putf(out, "\" y=\"%d\">", bottom + TIME_DROP);
}

void tw_svg_times(struct tw_output *out, const struct tw_svg_frame *frame, int top, int bottom)
{
	uint64_t step = time_step(frame->span_ns);
	uint64_t to = frame->span_ns > UINT64_MAX - frame->from_ns ? UINT64_MAX : frame->from_ns + frame->span_ns;
	for (uint64_t n = frame->from_ns / step + (frame->from_ns % step != 0); n <= to / step; n++) {
		double x = tw_svg_x(frame, n * step - frame->from_ns);
		put_tick(out, x, top, bottom);
		begin_label(out, x, bottom);
		put_round_time(out, n * step);
		tw_put_text(out, "</text>\n");
	}
}

void tw_svg_instructions(struct tw_output *out, const struct tw_svg_frame *frame, int top, int bottom)
{
	enum { UNIT_GAP = 14 }; /* pixels before the first number, which is 0 */
	const uint64_t step = time_step(frame->span_ns);
	tw_putf(out, "<text class=\"value\" x=\"%d\" y=\"%d\">instructions</text>\n", frame->left - UNIT_GAP,
	        bottom + TIME_DROP);
	for (uint64_t n = 0; n <= frame->span_ns / step; n++) {
		const double x = tw_svg_x(frame, n * step);
		put_tick(out, x, top, bottom);
		begin_label(out, x, bottom);
		tw_put_count(out, n * step);
		tw_put_text(out, "</text>\n");
	}
}
