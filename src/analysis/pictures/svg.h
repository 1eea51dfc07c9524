/* svg.h - what the pictures share: escapes, pixels, colours, an axis of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_PICTURES_SVG_H
#define ANALYSIS_PICTURES_SVG_H

#include "analysis/pictures/report.h"

extern const struct tw_escape tw_xml_escapes[];

/* Hundredths of a pixel, without the zeros that say nothing. */
void tw_svg_pixels(struct tw_output *out, double pixels);

/* How many colours names have in pictures. */
enum { TW_SVG_COLOURS = 12 };

/* Writes them as a style: classes c0 to c11, in light and dark. */
void tw_svg_palette(struct tw_output *out);

/* A stable number below `count` for a name, so that it has the same colour in every picture. */
unsigned tw_svg_colour(const char *name, unsigned count);

/* Where lines of time are drawn. */
struct tw_svg_frame {
	int left, width;  /* pixels */
	uint64_t span_ns; /* that the width stands for */
	uint64_t from_ns; /* at the left edge, since the start of the trace */
};

/* The place of a time since that of the left edge. */
double tw_svg_x(const struct tw_svg_frame *frame, uint64_t ns);

/* Begins a picture: root, title and description (for those who do not see it), style (CSS for what the caller draws),
 * background, title line. */
void tw_svg_begin(struct tw_output *out, int width, int height, const char *title, const char *description,
                  const char *style);

/* Lines from left to right at round numbers, each with its number and unit ("": none) on the left. The axis is `height`
 * pixels high, up from `bottom`. */
struct tw_svg_scale {
	double min, max; /* of the axis; max above min */
	int bottom, height;
	const char *unit;
};
void tw_svg_values(struct tw_output *out, const struct tw_svg_frame *frame, const struct tw_svg_scale *scale);

/* Lines from top to bottom at round times, each with its time below. */
void tw_svg_times(struct tw_output *out, const struct tw_svg_frame *frame, int top, int bottom);

/* The same at round numbers of instructions, of which the frame has so many in the place of ns. Their unit stands at
 * the left. */
void tw_svg_instructions(struct tw_output *out, const struct tw_svg_frame *frame, int top, int bottom);

#endif
