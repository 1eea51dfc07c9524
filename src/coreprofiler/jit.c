/* jit.c - compilations. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

void profiler_begin_at_now(struct text *line, const char *kind)
{
	text_begin(line, kind);
	profiler_add_thread(line);
	text_char(line, ' ');
	text_decimal(line, profiler_ms());
}

/* What has begun while the profiler was paused has no end either. In the thread that compiles: few are in each
 * other. */
static bool is_half_logged(uint64_t id, bool ends)
{
	enum { MOST = 16 };
	static _Thread_local uint64_t begun[MOST];
	static _Thread_local uint32_t next;
	for (uint32_t i = 0; ends && i < MOST; i++)
		if (begun[i] == id) {
			begun[i] = 0;
			return true;
		}
	if (!ends && profiler.paused)
		begun[next++ % MOST] = id;
	return false;
}

void profiler_write_jit(const char *kind, uint64_t id, const int32_t *status)
{
	const bool ends = kind[sizeof "jit cm" - 1] == 'f';
	struct text line;
	if (is_half_logged(id, ends) || profiler.paused)
		return;
	if (!ends) /* its name is there, whatever becomes of it */
		profiler_write_function(id);
	profiler_begin_at_now(&line, kind);
	profiler_add_pointer(&line, id);
	if (status)
		profiler_add_hex8(&line, (uint32_t)*status);
	profiler_send(&line);
}
