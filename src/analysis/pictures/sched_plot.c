/* sched_plot.c - what each CPU did, as a line of time: one SVG file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/svg.h"
#include "analysis/series/sched.h"
#include "analysis/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

enum { NAME_COLUMNS = 100, NO_COLOUR = 0 };

static const char style[] = ".cpu { text-anchor: end }\n.row { fill: #f1ebe1 }\n.others { fill: #999 }\n";

struct picture {
	struct tw_output *out;
	const struct tw_sched *sched;
	struct tw_svg_frame frame;
	struct tw_sched_shown shown;
	uint32_t *colours;          /* by thread: 1 + its number; NO_COLOUR: that of the others */
	uint64_t others, others_ns; /* threads without a colour of their own that ran, and for how long */
};

/* A bar: columns side by side that look the same. */
struct bar {
	uint32_t track;
	unsigned level; /* 0: nothing */
};

/* ---- What is shown. ---- */

static void choose_threads(const struct tw_sched *sched, const struct tw_sched_thread *best[TW_SCHED_COLOURS],
                           size_t *count)
{
	for (size_t i = 0; i < sched->thread_count; i++) {
		const struct tw_sched_thread *thread = &sched->threads[i];
		size_t place = *count;
		while (place > 0 && best[place - 1]->running_ns < thread->running_ns)
			place--;
		if (place == TW_SCHED_COLOURS || !thread->running_ns)
			continue;
		*count += *count < TW_SCHED_COLOURS;
		for (size_t k = *count - 1; k > place; k--)
			best[k] = best[k - 1];
		best[place] = thread;
	}
}

/* The colour of the thread's name, as CPUs of `view` have it; where one before has that, the next that is free. */
static uint32_t choose_colour(const struct tw_sched_thread *thread, uint32_t *taken)
{
	char number[32];
	snprintf(number, sizeof number, "thread %" PRIu64, thread->thread);
	uint32_t colour = tw_svg_colour(thread->name ? thread->name : number, TW_SVG_COLOURS);
	for (unsigned i = 0; i < TW_SVG_COLOURS && *taken >> colour & 1; i++)
		colour = (colour + 1) % TW_SVG_COLOURS;
	*taken |= UINT32_C(1) << colour;
	return colour;
}

static bool give_colours(struct picture *picture)
{
	uint32_t taken = 0;
	const struct tw_sched *sched = picture->sched;
	picture->colours = calloc(sched->thread_count + 1, sizeof *picture->colours);
	if (!picture->colours)
		return false;
	for (size_t i = 0; i < picture->shown.thread_count; i++)
		picture->colours[picture->shown.threads[i] - sched->threads] =
		    1 + choose_colour(picture->shown.threads[i], &taken);
	for (size_t i = 0; i < sched->thread_count; i++)
		if (picture->colours[i] == NO_COLOUR && sched->threads[i].running_ns) {
			picture->others++;
			picture->others_ns += sched->threads[i].running_ns;
		}
	return true;
}

static size_t core_count(const struct picture *picture)
{
	return picture->shown.cpus ? picture->shown.cpu_count : picture->sched->cores.count;
}

static const struct tw_sched_core *core_at(const struct picture *picture, size_t i)
{
	return picture->shown.cpus ? (const struct tw_sched_core *)(const void *)picture->shown.cpus[i]
	                           : &picture->sched->cores.items[i];
}

/* ---- Drawing. ---- */

/* class="c0", or that of the others. */
static void put_class(const struct picture *picture, uint32_t colour)
{
	if (colour == NO_COLOUR)
		tw_put_text(picture->out, "<path class=\"others\" d=\"M");
	else
		tw_putf(picture->out, "<path class=\"c%u\" d=\"M", colour - 1);
}

static void put_thread(struct tw_output *out, const struct tw_sched_thread *row)
{
	if (row->name) {
		tw_put_name(out, row->name, NAME_COLUMNS, tw_xml_escapes);
		tw_put_char(out, ' ');
	}
	tw_putf(out, "%sthread ", row->name ? "(" : "");
	tw_put_task(out, row->thread);
	tw_put_text(out, " of ");
	if (row->process_name)
		tw_put_name(out, row->process_name, NAME_COLUMNS, tw_xml_escapes);
	else
		tw_put_text(out, "process");
	tw_put_char(out, ' ');
	tw_put_task(out, row->process);
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
	const struct tw_sched *sched = picture->sched;
	const struct tw_sched_thread *thread = tw_sched_thread_of(sched, bar->track);
	struct tw_output *out = picture->out;
	int height = BAR * (int)bar->level / LEVELS;
	put_class(picture, thread ? picture->colours[thread - sched->threads] : NO_COLOUR);
	tw_svg_pixels(out, from);
	tw_putf(out, " %dV%dH", top + BAR, top + BAR - height);
	tw_svg_pixels(out, to);
	tw_putf(out, "V%dz\"><title>", top + BAR);
	if (thread)
		put_thread(out, thread);
	else
		tw_put_text(out, "a thread left out");
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
	uint64_t known = core->row.busy_ns + core->row.idle_ns;
	tw_putf(picture->out, "<text class=\"cpu\" x=\"%d\" y=\"%d\">CPU %u: ", LEFT - 6, top + LINE, core->row.cpu);
	if (known)
		tw_putf(picture->out, "%.1f %%", tw_percent(core->row.busy_ns, known));
	else
		tw_put_text(picture->out, "-");
	tw_putf(picture->out, "</text>\n<path class=\"row\" d=\"M%d %dh%dv%dh-%dz\"/>\n", LEFT, top, INNER, BAR, INNER);
	put_bars(picture, &core->columns, top);
}

static void put_square(const struct picture *picture, uint32_t colour, int y)
{
	put_class(picture, colour);
	tw_putf(picture->out, "%d %dh%dv%dh-%dz\"/><text x=\"%d\" y=\"%d\">", LEFT, y, SQUARE, SQUARE, SQUARE,
	        LEFT + LINE, y + SQUARE - 1);
}

static void put_running(const struct picture *picture, uint64_t ns)
{
	tw_put_text(picture->out, ": ");
	tw_put_time(picture->out, ns);
	tw_put_text(picture->out, "</text>\n");
}

static void put_legend(const struct picture *picture, int top)
{
	for (size_t i = 0; i < picture->shown.thread_count; i++, top += LINE) {
		put_square(picture, picture->colours[picture->shown.threads[i] - picture->sched->threads], top);
		put_thread(picture->out, picture->shown.threads[i]);
		put_running(picture, picture->shown.threads[i]->running_ns);
	}
	if (picture->others == 0)
		return;
	put_square(picture, NO_COLOUR, top);
	tw_put_count(picture->out, picture->others);
	tw_putf(picture->out, " other thread%s", picture->others == 1 ? "" : "s");
	put_running(picture, picture->others_ns);
}

/* Above the lines, at the right. */
static void put_key(struct tw_output *out)
{
	tw_putf(out,
	        "<text class=\"key\" x=\"%d\" y=\"%d\">percent: busy, of the time that is known; height: how "
	        "busy; colour: the thread that ran most</text>\n",
	        LEFT + INNER, HEAD - SQUARE);
}

static void draw(struct picture *picture, const char *title)
{
	struct tw_output *out = picture->out;
	size_t cores = core_count(picture), lines = picture->shown.thread_count + (picture->others != 0);
	int bottom = HEAD + LINE + (int)cores * ROW;
	tw_svg_begin(out, WIDTH, bottom + FOOT + (int)lines * LINE, title ? title : "Scheduling",
	             "For each CPU a line of time: which thread ran", style);
	tw_svg_palette(out);
	if (cores) {
		put_key(out);
		tw_svg_times(out, &picture->frame, HEAD, bottom);
	} else {
		tw_putf(out, "<text x=\"%d\" y=\"%d\">no scheduling</text>\n", LEFT, HEAD + LINE);
	}
	for (size_t i = 0; i < cores; i++)
		put_row(picture, core_at(picture, i), HEAD + (int)i * ROW);
	put_legend(picture, bottom + FOOT - LINE / 2);
	tw_put_text(out, "</svg>\n");
}

int tw_sched_render(struct tw_output *out, const struct tw_sched *sched, const char *title,
                    const struct tw_sched_shown *shown)
{
	const struct tw_sched_thread *best[TW_SCHED_COLOURS];
	struct picture picture = {.out = out,
	                          .sched = sched,
	                          .frame = {LEFT, INNER, sched->span_ns ? sched->span_ns : 1, sched->options.from_ns}};
	if (!sched->options.plot)
		return TW_ERR_UNSUPPORTED;
	if (shown)
		picture.shown = *shown;
	if (!picture.shown.threads) {
		choose_threads(sched, best, &picture.shown.thread_count);
		picture.shown.threads = best;
	}
	if (!give_colours(&picture))
		return TW_ERR_MEMORY;
	draw(&picture, title);
	free(picture.colours);
	return 0;
}

int tw_sched_plot(const struct tw_sched *sched, const char *path, const char *title)
{
	struct tw_output out;
	int status = sched->options.plot ? tw_report_open(&out, path) : TW_ERR_UNSUPPORTED;
	return status < 0 ? status : tw_report_close(&out, tw_sched_render(&out, sched, title, NULL));
}
