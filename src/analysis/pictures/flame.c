/* flame.c - a tree of calls as a flame graph: one SVG or HTML file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/changes.h"
#include "analysis/pictures/svg.h"
#include "analysis/series/weight.h"
#include "base/bytes/compress.h"
#include "base/memory/sum.h"
#include "base/options.h"
#include "flame_page.h" /* made by scripts/embed.py from web/flame.css and web/flame.js */

#include <stdlib.h>

/* Pixels of the picture that is there before any script runs. ROW must be what web/flame.js has. */
enum {
	WIDTH = 1200,
	MARGIN = 10,
	INNER = WIDTH - 2 * MARGIN,
	HEAD = 54,
	LEGEND = 18,
	ROW = 17,
	BASELINE = 12,
	TEXT_INDENT = 3
};

enum { SHORTEST_TEXT = 3, DEFAULT_DEPTH = 1000 };

static const double column_width = 7.3;      /* of 12 px monospace, a little more than it is */
static const double default_share = 0.00001; /* a frame of 1/80 pixel, which zooming shows */

struct flame {
	struct tw_output *out;
	const struct tw_flame_options *options;
	struct tw_layout layout;
	uint64_t *before; /* by node, what it and all in it weighed before; NULL: nothing is compared */
	double min_share;
	uint32_t max_depth;
	uint32_t deepest; /* of the frames drawn */
	uint64_t drawn, too_narrow, too_deep;
	uint64_t left_out;
	uint64_t gone; /* weight before of stacks that are gone: they have no width */
};

static uint64_t all_of(const struct flame *flame)
{
	return flame->layout.count ? flame->layout.total[0] : 0;
}

static bool is_wide(const struct flame *flame, uint32_t node)
{
	uint64_t total = flame->layout.total[node];
	return !node || (total && (double)total >= flame->min_share * (double)all_of(flame));
}

static bool is_drawn(const struct flame *flame, uint32_t node)
{
	return is_wide(flame, node) && flame->layout.nodes[node].depth <= flame->max_depth;
}

/* Finds what is drawn, and how deep it is. What is left out has nothing drawn above it: a child is never wider than its
 * parent. */
static void survey(struct flame *flame)
{
	const struct tw_layout *layout = &flame->layout;
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct tw_calltree_node *node = &layout->nodes[i];
		bool wide = is_wide(flame, i);
		bool drawn = is_drawn(flame, i);
		flame->drawn += drawn;
		flame->too_narrow += !wide;
		flame->too_deep += wide && !drawn;
		if (drawn && node->depth > flame->deepest)
			flame->deepest = node->depth;
		if (!drawn && is_drawn(flame, node->parent))
			flame->left_out = tw_sum(flame->left_out, layout->total[i]);
	}
}

/* Where the frames begin: below the legend, where there is one. */
static int head_of(const struct flame *flame)
{
	return HEAD + (flame->before ? LEGEND : 0);
}

static int picture_height(const struct flame *flame)
{
	return head_of(flame) + (int)(flame->deepest + 1) * ROW + MARGIN;
}

/* ---- Frames ---- */

static double pixels_of(const struct flame *flame, uint64_t ns)
{
	uint64_t all = all_of(flame);
	return all && ns < all ? INNER * ((double)ns / (double)all) : INNER; /* more than all: the clock went back */
}

static const char *frame_name(const struct flame *flame, uint32_t node)
{
	return node ? flame->layout.nodes[node].name : "all";
}

/* Below the root: where its parent begins is known to the script. */
static void put_numbers(struct flame *flame, uint32_t node)
{
	const struct tw_layout *layout = &flame->layout;
	const struct tw_calltree_node *n = &layout->nodes[node];
	struct tw_output *out = flame->out;
	const uint64_t numbers[] = {n->depth, layout->start[node] - layout->start[n->parent], layout->total[node],
	                            node ? n->self : 0, node ? n->count : 0};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		if (i)
			tw_put_char(out, ' ');
		tw_put_u64(out, numbers[i]);
	}
	if (flame->before) {
		tw_put_char(out, ' ');
		tw_put_u64(out, flame->before[node]);
	}
}

/* What a frame is painted by: its name, or by how much of the larger one it has changed. */
static void put_class(struct flame *flame, uint32_t node)
{
	static const double steps[] = {0.02, 0.1, 0.3, 0.6}; /* the fourth class is also that of what is new */
	uint64_t after = flame->layout.total[node], before = flame->before ? flame->before[node] : 0;
	double most = (double)(after > before ? after : before), least = (double)(after > before ? before : after);
	unsigned step = 0;
	if (!node) {
		tw_put_text(flame->out, "all");
		return;
	}
	if (!flame->before) {
		tw_putf(flame->out, "c%u", tw_svg_colour(frame_name(flame, node), TW_SVG_COLOURS));
		return;
	}
	while (step < sizeof steps / sizeof *steps && most - least > steps[step] * most)
		step++;
	if (step)
		tw_putf(flame->out, "%s%u", after > before ? "up" : "down", step);
	else
		tw_put_text(flame->out, "same");
}

/* Whether there is room for the whole name. */
static bool is_whole(const char *name, size_t columns)
{
	return columns >= SHORTEST_TEXT && tw_name_columns(name, columns) <= columns;
}

static void put_title(struct tw_output *out, const char *name)
{
	tw_put_text(out, "<title>");
	tw_put_name(out, name, 0, tw_xml_escapes);
	tw_put_text(out, "</title>");
}

static void put_text(struct tw_output *out, const char *name, double x, int y, size_t columns)
{
	tw_put_text(out, "<text x=\"");
	tw_svg_pixels(out, x + TEXT_INDENT);
	tw_putf(out, "\" y=\"%d\">", y + BASELINE);
	tw_put_function(out, name, columns, tw_xml_escapes);
	tw_put_text(out, "</text>");
}

/* A gap to the right of it and below, so that neighbours of one colour can be told apart. */
static void put_box(struct tw_output *out, double x, int y, double width)
{
	double gap = width < 5 ? width / 5 : 1;
	tw_put_text(out, "<path d=\"M");
	tw_svg_pixels(out, x);
	tw_putf(out, " %dh", y);
	tw_svg_pixels(out, width - gap < 0.01 ? 0.01 : width - gap);
	tw_putf(out, "v%dH", ROW - 1);
	tw_svg_pixels(out, x);
	tw_put_text(out, "z\"/>");
}

static void put_frame(struct flame *flame, uint32_t node)
{
	struct tw_output *out = flame->out;
	const char *name = frame_name(flame, node);
	double x = MARGIN + pixels_of(flame, flame->layout.start[node]);
	double width = pixels_of(flame, flame->layout.total[node]);
	uint32_t depth = flame->layout.nodes[node].depth;
	int y = head_of(flame) + (int)(flame->options->inverted ? depth : flame->deepest - depth) * ROW;
	size_t columns = width > 2 * TEXT_INDENT ? (size_t)((width - 2 * TEXT_INDENT) / column_width) : 0;
	tw_put_text(out, "<g class=\"");
	put_class(flame, node);
	tw_put_text(out, "\" data-v=\"");
	put_numbers(flame, node);
	tw_put_text(out, "\">");
	if (!is_whole(name, columns))
		put_title(out, name);
	put_box(out, x, y, width);
	if (columns >= TW_NAME_LEAST || is_whole(name, columns))
		put_text(out, name, x, y, columns);
	tw_put_text(out, "</g>\n");
}

static void put_frames(struct flame *flame)
{
	tw_put_text(flame->out, "<g id=\"frames\">\n");
	for (uint32_t i = 0; i < flame->layout.count; i++) {
		uint32_t node = flame->layout.order[i];
		if (is_drawn(flame, node))
			put_frame(flame, node);
	}
	tw_put_text(flame->out, "</g>\n");
}

/* ---- The page around them ---- */

static const char *title_of(const struct flame *flame)
{
	return flame->options->title ? flame->options->title : "Flame graph";
}

static void put_counted(struct tw_output *out, uint64_t count, const char *what)
{
	tw_put_count(out, count);
	tw_put_char(out, ' ');
	tw_put_text(out, what);
	if (count != 1)
		tw_put_char(out, 's');
}

static void put_left_out(struct flame *flame)
{
	struct tw_output *out = flame->out;
	tw_put_text(out, "; left out: ");
	if (flame->too_narrow) {
		put_counted(out, flame->too_narrow, "frame");
		if (flame->min_share > 0)
			tw_putf(out, " narrower than %g %%", flame->min_share * 100);
		else
			tw_put_text(out, " without time");
	}
	if (flame->too_narrow && flame->too_deep)
		tw_put_text(out, ", ");
	if (flame->too_deep) {
		put_counted(out, flame->too_deep, "frame");
		tw_putf(out, " deeper than %u", (unsigned)flame->max_depth);
	}
	tw_putf(out, " (%.2f %% of the %s)", tw_percent(flame->left_out, all_of(flame)),
	        tw_weight_unit(flame->options->weight) == TW_UNIT_NS ? "time"
	                                                             : tw_weight_words(flame->options->weight));
}

static void put_summary(struct flame *flame)
{
	struct tw_output *out = flame->out;
	if (!all_of(flame)) {
		tw_put_text(out, tw_weight_is_sampled(flame->options->weight) ? "no sample has any weight"
		                                                              : "no time was spent in any call");
		return;
	}
	if (flame->before) {
		tw_put_text(out, "before ");
		tw_put_amount(out, flame->options->weight, flame->before[0]);
		tw_put_text(out, ", after ");
	}
	tw_put_amount(out, flame->options->weight, all_of(flame));
	tw_put_text(out, " in ");
	put_counted(out, flame->drawn - 1, "frame");
	if (flame->options->sampled_bytes) {
		tw_put_text(out, "; estimates, of samples: one about every ");
		tw_put_amount(out, TW_WEIGHT_BYTES, flame->options->sampled_bytes);
	}
	if (flame->too_narrow || flame->too_deep)
		put_left_out(flame);
	if (flame->gone) {
		tw_put_text(out, "; gone: ");
		tw_put_amount(out, flame->options->weight, flame->gone);
		tw_put_text(out, " before, of stacks that are not there after");
	}
}

/* What the colours of a comparison mean. */
static void put_legend(struct tw_output *out)
{
	static const struct {
		const char *class, *text;
		int x;
	} items[] = {
	    {"down4", "", 0},
	    {"down3", "", 14},
	    {"down2", "", 28},
	    {"down1", "less than before", 42},
	    {"same", "as before (within 2 %)", 170},
	    {"up1", "", 340},
	    {"up2", "", 354},
	    {"up3", "", 368},
	    {"up4", "more than before, or new", 382},
	};
	tw_putf(out, "<g id=\"legend\" transform=\"translate(%d %d)\">", MARGIN, HEAD - 2);
	for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
		tw_putf(out, "<path class=\"%s\" d=\"M%d 0h12v12h-12z\"/>", items[i].class, items[i].x);
		if (*items[i].text)
			tw_putf(out, "<text x=\"%d\" y=\"10\">%s</text>", items[i].x + 18, items[i].text);
	}
	tw_put_text(out, "<text x=\"570\" y=\"10\">widths are those after</text></g>\n");
}

static void put_svg_head(struct flame *flame)
{
	static const char *const units[] = {[TW_UNIT_COUNT] = "", [TW_UNIT_NS] = "ns", [TW_UNIT_BYTES] = "bytes"};
	struct tw_output *out = flame->out;
	enum tw_weight weight = flame->options->weight;
	int height = picture_height(flame);
	tw_putf(
	    out,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"flame\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
	    " data-down=\"%d\" data-unit=\"%s\" data-count=\"%s\"%s>\n<title>",
	    WIDTH, height, WIDTH, height, flame->options->inverted, units[tw_weight_unit(weight)],
	    tw_weight_words(weight), flame->before ? " data-compared=\"1\"" : "");
	tw_put_name(out, title_of(flame), 0, tw_xml_escapes);
	tw_put_text(out, "</title>\n<style>\n");
	tw_put(out, flame_css, sizeof flame_css);
	tw_putf(out,
	        "</style>\n<rect id=\"page\" width=\"100%%\" height=\"100%%\"/>\n<text id=\"title\" x=\"%d\" y=\"24\">",
	        MARGIN);
	tw_put_name(out, title_of(flame), 110, tw_xml_escapes);
	tw_putf(out, "</text>\n<text id=\"summary\" x=\"%d\" y=\"43\">", MARGIN);
	put_summary(flame);
	tw_put_text(out, "</text>\n");
	if (flame->before)
		put_legend(out);
}

static void put_svg(struct flame *flame)
{
	put_svg_head(flame);
	put_frames(flame);
	tw_put_text(flame->out, "<script><![CDATA[\n");
	tw_put(flame->out, flame_js, sizeof flame_js);
	tw_put_text(flame->out, "]]></script>\n</svg>\n");
}

static void put_html(struct flame *flame)
{
	struct tw_output *out = flame->out;
	tw_put_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	                 "style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\n<title>");
	tw_put_name(out, title_of(flame), 0, tw_xml_escapes);
	tw_put_text(out, "</title>\n</head>\n<body class=\"flame\">\n");
	put_svg(flame);
	tw_put_text(out, "</body>\n</html>\n");
}

static void choose_limits(struct flame *flame)
{
	double share = flame->options->min_share;
	flame->min_share = share > 0 ? share : share < 0 ? 0 : default_share;
	flame->max_depth = flame->options->max_depth ? flame->options->max_depth : DEFAULT_DEPTH;
}

static void put(struct flame *flame)
{
	choose_limits(flame);
	survey(flame);
	if (flame->options->form == TW_FLAME_HTML) {
		put_html(flame);
	} else {
		tw_put_text(flame->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
		put_svg(flame);
	}
}

int tw_flame_render(struct tw_output *out, const struct tw_calltree_node *nodes, uint32_t count,
                    const struct tw_flame_options *options)
{
	static const struct tw_flame_options defaults;
	struct flame flame = {.out = out, .options = options ? options : &defaults};
	int status = tw_layout_new(&flame.layout, nodes, count);
	if (status < 0)
		return status;
	put(&flame);
	tw_layout_free(&flame.layout);
	return 0;
}

static bool take_before(struct flame *flame, const struct tw_changes *changes)
{
	flame->before = tw_changes_before(changes);
	for (uint32_t i = flame->layout.count; flame->before && i-- > 1;)
		if (!flame->layout.total[i])
			flame->gone = tw_sum(flame->gone, changes->before[i]);
	return flame->before != NULL;
}

int tw_changes_draw(struct tw_output *out, const struct tw_changes *changes, const struct tw_flame_options *options)
{
	struct flame flame = {.out = out, .options = options};
	int status = tw_layout_new(&flame.layout, changes->nodes.nodes, (uint32_t)changes->nodes.count);
	if (status < 0)
		return status;
	status = take_before(&flame, changes) ? 0 : TW_ERR_MEMORY;
	if (status == 0)
		put(&flame);
	free(flame.before);
	tw_layout_free(&flame.layout);
	return status;
}

int tw_flame_write(struct tw_calltree *tree, const char *path, const struct tw_flame_options *options)
{
	struct tw_flame_options chosen;
	TW_COPY_OPTIONS(&chosen, options, struct tw_flame_options);
	if ((unsigned)chosen.form > TW_FLAME_HTML)
		return TW_ERR_VALUE;
	if (chosen.form == TW_FLAME_BY_PATH)
		chosen.form =
		    tw_name_ends_with(path, ".html") || tw_name_ends_with(path, ".htm") ? TW_FLAME_HTML : TW_FLAME_SVG;
	chosen.weight = tw_calltree_weight(tree);
	struct tw_nodes nodes;
	struct tw_output out;
	int status = tw_nodes_of(&nodes, tree);
	if (status == 0)
		status = tw_report_open(&out, path);
	if (status == 0)
		status = tw_report_close(&out, tw_flame_render(&out, nodes.nodes, (uint32_t)nodes.count, &chosen));
	free(nodes.nodes);
	return status;
}
