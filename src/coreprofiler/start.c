/* start.c - the runtime loads the profiler; recording begins and ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

static int32_t ask_for(const struct profiler_options *options, uint32_t high)
{
	uint32_t low = COM_WANT_THREADS | COM_WANT_DOMAINS | COM_WANT_ASSEMBLIES | COM_WANT_MODULES;
	if (options->execution || options->method != PROFILER_NONE || options->memory)
		low |= COM_WANT_CLASSES | COM_WANT_FUNCTION_UNLOADS | COM_WANT_JIT | COM_WANT_CACHE_SEARCHES;
	if (options->method == PROFILER_INSTRUMENTATION)
		low |=
		    COM_WANT_ENTER_LEAVE | COM_WANT_EXCEPTIONS | (options->high_granularity ? COM_WANT_NO_INLINING : 0);
	else if (options->method == PROFILER_SAMPLING || (options->memory && options->stacks))
		low |= COM_CAN_SNAPSHOTS;
	if (options->memory && !profiler.ticks_come)
		low |= COM_CAN_ALLOCATIONS | COM_WANT_ALLOCATIONS;
	if (options->live_heap)
		low |= COM_WANT_GC;
	else if (options->gc)
		high |= COM_HIGH_GC;
	return COM_CALL(profiler.info, set_events, low, high | COM_HIGH_DYNAMIC_UNLOADS);
}

/* The runtime's own samples of allocations cost least: it allocates as it does without a profiler. They are taken where
 * no more are asked for. Its events also tell collections in the background from others. */
static int32_t ask_for_events(struct profiler_options *options)
{
	profiler.ticks_come = options->memory && options->alloc_bytes >= PROFILER_TICK_BYTES;
	profiler.kinds_come = options->gc && !options->live_heap;
	if ((profiler.ticks_come || profiler.kinds_come) && ask_for(options, COM_HIGH_EVENTS) >= 0 &&
	    profiler_begin_events(profiler.ticks_come)) {
		options->alloc_bytes = profiler.ticks_come ? PROFILER_TICK_BYTES : options->alloc_bytes;
		return COM_OK;
	}
	profiler.ticks_come = profiler.kinds_come = false;
	return ask_for(options, 0);
}

static int32_t begin(struct com *info)
{
	struct profiler_options *options = &profiler.options;
	profiler.info = info;
	profiler_options_read(options);
	if (!profiler_begin())
		return COM_FAILED;
	const bool hooks = options->method == PROFILER_INSTRUMENTATION;
	const bool fine = (!hooks || profiler_hook_functions()) && ask_for_events(options) >= 0;
	profiler_write_sample_bytes();
	if (!fine || !profiler_ticks_begin()) {
		profiler_say(PROFILER_ERROR, "the runtime does not have what is asked for: nothing is recorded");
		profiler_give_up();
		return COM_FAILED;
	}
	return COM_OK;
}

static int32_t shutdown(struct com *own)
{
	profiler_finish();
	return COM_OK;
}

static int32_t initialize(struct com *own, struct com *runtime)
{
	/* ICorProfilerInfo10, from .NET Core 3.0 on. */
	static const struct com_guid info10 = {0x2f1b5152,
	                                       0xc869,
	                                       0x40c9,
	                                       {0xaa, 0x5f, 0x3a, 0xbe, 0x02, 0x6b, 0xd7, 0x20}};
	struct com *info = NULL;
	if (COM_CALL(runtime, query, &info10, &info) < 0 || !info) {
		profiler_say(PROFILER_ERROR, "the runtime is older than .NET Core 3.0: nothing is recorded");
		return COM_FAILED;
	}
	return begin(info);
}

/* ---- The object that the runtime calls, and who makes it. Neither counts who holds it: both stay. ---- */

static int32_t do_nothing(void)
{
	return COM_OK;
}

static uint32_t refs(struct com *own)
{
	return 2;
}

static struct com object = {profiler_callbacks};

/* ICorProfilerCallback to ICorProfilerCallback11, by the first word. Source: corprof.idl. */
static int32_t query(struct com *own, const struct com_guid *id, struct com **result)
{
	static const uint32_t known[] = {0x00000000, 0x176fbed1, 0x8a8cc829, 0x4fd2ed52, 0x7b63b2e3, 0x8dfba405,
	                                 0xfc13df4b, 0xf76a2dba, 0x5bed9b15, 0x27583ec3, 0xcec5b60e, 0x42350846};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (id->a == known[i]) {
			*result = &object;
			return COM_OK;
		}
	*result = NULL;
	return COM_NO_INTERFACE;
}

static int32_t create(struct com *own, struct com *outer, const struct com_guid *id, struct com **result)
{
	return query(&object, id, result);
}

static int32_t query_factory(struct com *own, const struct com_guid *id, struct com **result)
{
	const bool known = id->a <= 1; /* IUnknown, IClassFactory */
	*result = known ? own : NULL;
	return known ? COM_OK : COM_NO_INTERFACE;
}

static com_function *const factory_slots[] = {(com_function *)query_factory, (com_function *)refs, (com_function *)refs,
                                              (com_function *)create, (com_function *)do_nothing};
static struct com factory = {factory_slots};

__attribute__((visibility("default"))) int32_t DllGetClassObject(const struct com_guid *class_id,
                                                                 const struct com_guid *id, struct com **result);
__attribute__((visibility("default"))) int32_t DllCanUnloadNow(void);

int32_t DllGetClassObject(const struct com_guid *class_id, const struct com_guid *id, struct com **result)
{
	profiler_callbacks[COM_ON_INITIALIZE] = (com_function *)initialize;
	profiler_callbacks[COM_ON_SHUTDOWN] = (com_function *)shutdown;
	profiler_callbacks[COM_ON_QUERY] = (com_function *)query;
	profiler_callbacks[COM_ON_ADD] = profiler_callbacks[COM_ON_RELEASE] = (com_function *)refs;
	for (size_t i = 0; i < COM_CALLBACKS; i++)
		if (!profiler_callbacks[i])
			profiler_callbacks[i] = (com_function *)do_nothing;
	return query_factory(&factory, id, result);
}

int32_t DllCanUnloadNow(void)
{
	return COM_FALSE;
}
