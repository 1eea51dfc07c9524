/* calls.c - calls that begin and end, and what is allocated. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

/* All methods of programs have hooks. */
int mono_hooks(void *own, struct mono_method *method)
{
	return mono_is_way_in(method) ? 0
	                              : MONO_HOOK_ENTER | MONO_HOOK_LEAVE | MONO_HOOK_TAIL_CALL | MONO_HOOK_EXCEPTION;
}

static uint32_t iid_of(const struct mono_method *method)
{
	return ids_of(&profiler.functions, (uintptr_t)method);
}

/* What was forgotten with a domain, and is still there, is logged anew. */
static uint32_t logged_iid_of(const struct mono_method *method)
{
	bool logged;
	const uint32_t iid = ids_look(&profiler.functions, (uintptr_t)method, &logged);
	if (!logged)
		profiler_write_function((uintptr_t)method);
	return iid;
}

void mono_entered(void *own, struct mono_method *method, void *context)
{
	profiler_entered(logged_iid_of(method), PROFILER_NO_SP);
}

void mono_left(void *own, struct mono_method *method, void *context)
{
	profiler_left(iid_of(method), PROFILER_NO_SP);
}

/* A tail call: the caller ends before the callee begins. */
void mono_tail_called(void *own, struct mono_method *method, struct mono_method *target)
{
	profiler_left(iid_of(method), PROFILER_NO_SP);
}

void mono_thrown(void *own, struct mono_method *method, struct mono_object *exception)
{
	profiler_left(iid_of(method), PROFILER_NO_SP);
}

void mono_allocated(void *own, struct mono_object *object)
{
	mono_stack_is(__builtin_frame_address(0));
	profiler_allocated((uintptr_t)object, (uintptr_t)mono.object_get_class(object));
}
