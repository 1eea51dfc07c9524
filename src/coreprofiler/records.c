/* records.c - what the runtime tells, as lines of a TraceLog. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/profiler.h"

enum { NAME = 2048 };

static void add_quoted(struct text *line, const uint16_t *name, bool known)
{
	text_string(line, " \"");
	if (known)
		text_utf16(line, name, NAME - 1);
	else
		text_string(line, "<UNKNOWN>");
	text_char(line, '"');
}

/* ---- Domains, assemblies, modules. ---- */

/* The main thread stands before its domain: readers of the original ask for that. */
static int32_t domain_created(struct com *own, uint64_t id, int32_t status)
{
	uint16_t name[NAME] = {0};
	uint64_t process = 0;
	uint32_t length = 0;
	profiler_own_thread();
	const bool known = COM_CALL(profiler.info, domain_info, id, NAME, &length, name, &process) >= 0;
	struct text line;
	text_begin(&line, "apd crf");
	profiler_add_pointer(&line, id);
	profiler_add_pointer(&line, process);
	profiler_add_hex8(&line, (uint32_t)status);
	add_quoted(&line, name, known);
	profiler_send(&line);
	return COM_OK;
}

static int32_t assembly_loaded(struct com *own, uint64_t id, int32_t status)
{
	uint16_t name[NAME] = {0};
	uint64_t domain = 0, module = 0;
	uint32_t length = 0;
	const bool known = COM_CALL(profiler.info, assembly_info, id, NAME, &length, name, &domain, &module) >= 0;
	struct text line;
	text_begin(&line, "asm ldf");
	profiler_add_pointer(&line, id);
	profiler_add_pointer(&line, domain);
	profiler_add_pointer(&line, module);
	profiler_add_hex8(&line, (uint32_t)status);
	add_quoted(&line, name, known);
	profiler_send(&line);
	return COM_OK;
}

static int32_t module_loaded(struct com *own, uint64_t id, int32_t status)
{
	uint16_t name[NAME] = {0};
	uint64_t base = 0, assembly = 0;
	uint32_t length = 0;
	const bool known = COM_CALL(profiler.info, module_info, id, &base, NAME, &length, name, &assembly) >= 0;
	struct text line;
	text_begin(&line, "mod ldf");
	profiler_add_pointer(&line, id);
	profiler_add_pointer(&line, base);
	profiler_add_pointer(&line, assembly);
	profiler_add_hex8(&line, (uint32_t)status);
	add_quoted(&line, name, known);
	profiler_send(&line);
	return COM_OK;
}

static int32_t module_attached(struct com *own, uint64_t id, uint64_t assembly)
{
	struct text line;
	text_begin(&line, "mod ata");
	profiler_add_pointer(&line, id);
	profiler_add_pointer(&line, assembly);
	profiler_send(&line);
	return COM_OK;
}

/* ---- Classes. ---- */

static int32_t class_loaded(struct com *own, uint64_t id, int32_t status)
{
	if (status >= 0)
		profiler_write_class(id, true, status);
	return COM_OK;
}

static int32_t class_unloaded(struct com *own, uint64_t id, int32_t status)
{
	ids_forget(&profiler.classes, id);
	profiler_forget_places();
	return COM_OK;
}

/* ---- Functions. ---- */

static int32_t function_unload(struct com *own, uint64_t id)
{
	profiler_forget_function(id);
	profiler_forget_places();
	return COM_OK;
}

/* ---- Compilation. ---- */

static int32_t jit_started(struct com *own, uint64_t id, int32_t safe)
{
	profiler_write_jit("jit cms ", id, NULL);
	return COM_OK;
}

static int32_t jit_finished(struct com *own, uint64_t id, int32_t status, int32_t safe)
{
	profiler_write_jit("jit cmf ", id, &status);
	profiler_write_function(id);
	return COM_OK;
}

static int32_t cache_started(struct com *own, uint64_t id, int32_t *use)
{
	*use = 1;
	profiler_write_jit("jit css ", id, NULL);
	return COM_OK;
}

static int32_t cache_finished(struct com *own, uint64_t id, int32_t result)
{
	profiler_write_jit("jit csf ", id, NULL);
	profiler_write_function(id);
	return COM_OK;
}

static int32_t dynamic_started(struct com *own, uint64_t id, int32_t safe, const uint8_t *il, uint32_t size)
{
	return jit_started(own, id, safe);
}

/* ---- Exceptions. ---- */

static int32_t unwind_begun(struct com *own, uint64_t id)
{
	profiler_unwinds(id);
	return COM_OK;
}

static int32_t unwind_ended(struct com *own)
{
	profiler_unwound();
	return COM_OK;
}

/* ---- Threads. ---- */

static int32_t thread_created(struct com *own, uint64_t id)
{
	profiler_thread_created(id);
	return COM_OK;
}

static int32_t thread_assigned(struct com *own, uint64_t id, uint32_t system)
{
	profiler_thread_assigned(id, system);
	return COM_OK;
}

static int32_t thread_destroyed(struct com *own, uint64_t id)
{
	struct profiler_thread *thread = profiler_thread_find(id);
	if (thread) {
		profiler_take(thread);
		profiler_write_calls(thread);
		profiler_write_allocated(thread);
		profiler_give(thread);
	}
	profiler_thread_destroyed(id);
	return COM_OK;
}

/* ---- Allocations, events. ---- */

static int32_t allocated(struct com *own, uint64_t object, uint64_t class_id)
{
	profiler_allocated(object, class_id);
	return COM_OK;
}

/* NOLINTNEXTLINE(readability-function-size): as the runtime has it */
static int32_t event_delivered(struct com *own, uint64_t provider, uint32_t id, uint32_t version,
                               uint32_t metadata_size, const uint8_t *metadata, uint32_t size, const uint8_t *event,
                               const struct com_guid *activity, const struct com_guid *related, uint64_t thread,
                               uint32_t frame_count, const uint64_t *frames)
{
	profiler_take_event(provider, id, event, size);
	return COM_OK;
}

/* ---- The table. ---- */

#define ON(function) (com_function *)(function)
com_function *profiler_callbacks[COM_CALLBACKS] = {
    [COM_ON_DOMAIN_CREATED] = ON(domain_created),
    [COM_ON_ASSEMBLY_LOADED] = ON(assembly_loaded),
    [COM_ON_MODULE_LOADED] = ON(module_loaded),
    [COM_ON_MODULE_ATTACHED] = ON(module_attached),
    [COM_ON_CLASS_LOADED] = ON(class_loaded),
    [COM_ON_CLASS_UNLOADED] = ON(class_unloaded),
    [COM_ON_FUNCTION_UNLOAD] = ON(function_unload),
    [COM_ON_JIT_STARTED] = ON(jit_started),
    [COM_ON_JIT_FINISHED] = ON(jit_finished),
    [COM_ON_CACHE_STARTED] = ON(cache_started),
    [COM_ON_CACHE_FINISHED] = ON(cache_finished),
    [COM_ON_THREAD_CREATED] = ON(thread_created),
    [COM_ON_THREAD_DESTROYED] = ON(thread_destroyed),
    [COM_ON_THREAD_ASSIGNED] = ON(thread_assigned),
    [COM_ON_ALLOCATED] = ON(allocated),
    [COM_ON_REFERENCES] = ON(profiler_object_lives),
    [COM_ON_UNWIND_BEGUN] = ON(unwind_begun),
    [COM_ON_UNWIND_ENDED] = ON(unwind_ended),
    [COM_ON_GC_STARTED] = ON(profiler_collection_started),
    [COM_ON_GC_FINISHED] = ON(profiler_collection_finished),
    [COM_ON_DYNAMIC_JIT_STARTED] = ON(dynamic_started),
    [COM_ON_DYNAMIC_JIT_FINISHED] = ON(jit_finished),
    [COM_ON_DYNAMIC_UNLOADED] = ON(function_unload),
    [COM_ON_EVENT] = ON(event_delivered),
};
