/* hooked.c - which functions have hooks: all. They know the internal id. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

static uint64_t map(uint64_t function, void *context, int32_t *hook)
{
	*hook = 1;
	return ids_of(&profiler.functions, function);
}

void profiler_hook_enter(void);
void profiler_hook_leave(void);
void profiler_hook_tail_call(void);

bool profiler_hook_functions(void)
{
	return COM_CALL(profiler.info, set_mapper, map, NULL) >= 0 &&
	       COM_CALL(profiler.info, set_hooks, profiler_hook_enter, profiler_hook_leave, profiler_hook_tail_call) >=
	           0;
}
