/* state.c - what all parts of the profiler know, and how they write a line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

struct profiler profiler = {.classes = IDS_BEGIN(0), .functions = IDS_BEGIN(2)};

void profiler_send(struct text *line)
{
	text_char(line, '\n');
	if (line->failed && profiler.lines.header)
		atomic_fetch_add_explicit(&profiler.lines.header->lost, 1, memory_order_relaxed);
	else if (!profiler.off)
		lines_put(&profiler.lines, line->bytes, line->length);
	text_end(line);
}

void profiler_add_pointer(struct text *line, uint64_t value)
{
	text_char(line, ' ');
	text_pointer(line, value);
}

void profiler_add_hex8(struct text *line, uint32_t value)
{
	text_char(line, ' ');
	text_hex8(line, value);
}
