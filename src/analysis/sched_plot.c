/* sched_plot.c - what each CPU did, as a line of time: one SVG file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sched.h"
#include "analysis/svg.h"

/* Pixels. LEVELS: of how much of a bar's time the CPU was busy. */
enum {
	WIDTH = 1200,
	LEFT = 130,
	INNER = 1024,
	HEAD = 40,
	ROW = 30,
	BAR = 24,
	LEVELS = 8,
	FOOT = 34,
	LINE = 18,
	SQUARE = 11
};

/* Threads with a colour of their own, those that ran the longest; all others share the last. */
enum { COLOURS = 20, OTHERS = COLOURS, NAME_COLUMNS = 100 };

static const char style[] = ".cpu { text-anchor: end }\n.row { fill: #f4f4f4 }\n"
			    ".key { text-anchor: end; font-size: 11px; fill: #666 }\n.c20 { fill: #999 }\n";

struct picture {
	struct tw_output *out;
	const struct tw_sched *sched;
	struct tw_svg_frame frame;
	uint32_t best[COLOURS]; /* tracks */
	size_t best_count;
	uint64_t others, others_ns; /* threads without a colour of their own that ran, and for how long */
};

/* A bar: columns side by side that look the same. */
struct bar {
	uint32_t track;
	unsigned level; /* 0: nothing */
};

static uint64_t running(const struct picture *picture, uint32_t track)
{
	return picture->sched->tasks[track].row.running_ns;
}

static void choose_colours(struct picture *picture)
{
	for (size_t i = 0; i < picture->sched->task_room; i++) {
		uint32_t track = (uint32_t)i;
		if (!picture->sched->tasks[track].seen || !running(picture, track))
			continue;
		picture->others++;
		picture->others_ns += running(picture, track);
		size_t place = picture->best_count;
		while (place > 0 && running(picture, picture->best[place - 1]) < running(picture, track))
			place--;
		if (place == COLOURS)
			continue;
		picture->best_count += picture->best_count < COLOURS;
		for (size_t k = picture->best_count - 1; k > place; k--)
			picture->best[k] = picture->best[k - 1];
		picture->best[place] = track;
	}
	for (size_t i = 0; i < picture->best_count; i++)
		picture->others_ns -= running(picture, picture->best[i]);
	picture->others -= picture->best_count;
}

static unsigned colour_of(const struct picture *picture, uint32_t track)
{
	for (unsigned i = 0; i < picture->best_count; i++)
		if (picture->best[i] == track)
			return i;
	return OTHERS;
}

static void put_thread(const struct picture *picture, uint32_t track)
{
	const struct tw_sched_thread *row = &picture->sched->tasks[track].row;
	struct tw_output *out = picture->out;
	if (row->name) {
		tw_put_name(out, row->name, NAME_COLUMNS, tw_xml_escapes);
		tw_put_char(out, ' ');
	}
	tw_putf(out, "%sthread ", row->name ? "(" : "");
	tw_put_u64(out, row->thread);
	tw_put_text(out, " of ");
	if (row->process_name)
		tw_put_name(out, row->process_name, NAME_COLUMNS, tw_xml_escapes);
	else
		tw_put_text(out, "process");
	tw_put_char(out, ' ');
	tw_put_u64(out, row->process);
	tw_put_text(out, row->name ? ")" : "");
}

static struct bar bar_of(const struct tw_columns *columns, size_t i)
{
	const struct tw_sched_column *column = &((const struct tw_sched_column *)columns->items)[i];
	double share = (double)column->busy / (double)(UINT64_C(1) << columns->shift);
	unsigned level = column->busy ? 1 + (unsigned)(share * LEVELS) : 0;
	return (struct bar){column->busy ? column->track : 0, level < LEVELS ? level : LEVELS};
}

static void put_bar(const struct picture *picture, const struct bar *bar, double from, double to, int top)
{
	struct tw_output *out = picture->out;
	int height = BAR * (int)bar->level / LEVELS;
	tw_putf(out, "<path class=\"c%u\" d=\"M", colour_of(picture, bar->track));
	tw_svg_pixels(out, from);
	tw_putf(out, " %dV%dH", top + BAR, top + BAR - height);
	tw_svg_pixels(out, to);
	tw_putf(out, "V%dz\"><title>", top + BAR);
	put_thread(picture, bar->track);
	tw_put_text(out, "</title></path>\n");
}

static void put_bars(const struct picture *picture, const struct tw_columns *columns, int top)
{
	for (size_t i = 0, end; i < TW_COLUMNS; i = end) {
		struct bar bar = bar_of(columns, i), next;
		for (end = i + 1; end < TW_COLUMNS; end++) {
			next = bar_of(columns, end);
			if (next.track != bar.track || next.level != bar.level)
				break;
		}
		if (bar.level)
			put_bar(picture, &bar, tw_svg_x(&picture->frame, (uint64_t)i << columns->shift),
			        tw_svg_x(&picture->frame, (uint64_t)end << columns->shift), top);
	}
}

static void put_row(const struct picture *picture, const struct tw_sched_core *core, int top)
{
	uint64_t all = core->row.busy_ns + core->row.idle_ns + core->row.unknown_ns;
	tw_putf(picture->out,
	        "<text class=\"cpu\" x=\"%d\" y=\"%d\">CPU %u: %.1f %%</text>\n"
	        "<path class=\"row\" d=\"M%d %dh%dv%dh-%dz\"/>\n",
	        LEFT - 6, top + LINE, core->row.cpu, tw_percent(core->row.busy_ns, all), LEFT, top, INNER, BAR, INNER);
	put_bars(picture, &core->columns, top);
}

static void put_square(const struct picture *picture, unsigned colour, int top)
{
	int y = top + (int)colour * LINE;
	tw_putf(picture->out, "<path class=\"c%u\" d=\"M%d %dh%dv%dh-%dz\"/><text x=\"%d\" y=\"%d\">", colour, LEFT, y,
	        SQUARE, SQUARE, SQUARE, LEFT + LINE, y + SQUARE - 1);
}

static void put_running(const struct picture *picture, uint64_t ns)
{
	tw_put_text(picture->out, ": ");
	tw_put_time(picture->out, ns);
	tw_put_text(picture->out, "</text>\n");
}

static void put_legend(const struct picture *picture, int top)
{
	for (unsigned i = 0; i < picture->best_count; i++) {
		put_square(picture, i, top);
		put_thread(picture, picture->best[i]);
		put_running(picture, running(picture, picture->best[i]));
	}
	if (picture->others == 0)
		return;
	put_square(picture, OTHERS, top);
	tw_put_count(picture->out, picture->others);
	tw_putf(picture->out, " other thread%s", picture->others == 1 ? "" : "s");
	put_running(picture, picture->others_ns);
}

/* Above the lines, at the right. */
static void put_key(struct tw_output *out)
{
	tw_putf(out,
	        "<text class=\"key\" x=\"%d\" y=\"%d\">height: how much of the time the CPU was busy; colour: the "
	        "thread that ran most of it</text>\n",
	        LEFT + INNER, HEAD - SQUARE);
}

/* Neighbours in the list are far apart on the wheel of colours: 137.5 degrees is the golden angle. */
static void put_colours(struct tw_output *out)
{
	tw_put_text(out, "<style>\n");
	for (unsigned i = 0; i < COLOURS; i++)
		tw_putf(out, ".c%u { fill: hsl(%u, %u%%, %u%%) }\n", i, (210 + i * 1375 / 10) % 360, i % 2 ? 45 : 65,
		        i % 3 ? 62 : 48);
	tw_put_text(out, "</style>\n");
}

int tw_sched_render(struct tw_output *out, const struct tw_sched *sched, const char *title)
{
	struct picture picture = {.out = out,
	                          .sched = sched,
	                          .frame = {LEFT, INNER, sched->span_ns ? sched->span_ns : 1}};
	int bottom = HEAD + LINE + (int)sched->core_count * ROW;
	if (!sched->options.plot)
		return TW_ERR_UNSUPPORTED;
	choose_colours(&picture);
	tw_svg_begin(out, WIDTH, bottom + FOOT + ((int)picture.best_count + (picture.others != 0)) * LINE,
	             title ? title : "Scheduling", style);
	put_colours(out);
	if (sched->core_count) {
		put_key(out);
		tw_svg_times(out, &picture.frame, HEAD, bottom);
	} else {
		tw_putf(out, "<text x=\"%d\" y=\"%d\">no scheduling</text>\n", LEFT, HEAD + LINE);
	}
	for (size_t i = 0; i < sched->core_count; i++)
		put_row(&picture, &sched->cores[i], HEAD + (int)i * ROW);
	put_legend(&picture, bottom + FOOT - LINE / 2);
	tw_put_text(out, "</svg>\n");
	return 0;
}

int tw_sched_plot(const struct tw_sched *sched, const char *path, const char *title)
{
	struct tw_output out;
	int status = sched->options.plot ? tw_report_open(&out, path) : TW_ERR_UNSUPPORTED;
	return status < 0 ? status : tw_report_close(&out, tw_sched_render(&out, sched, title));
}
