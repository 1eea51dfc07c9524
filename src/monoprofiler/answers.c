/* answers.c - Mono as a runtime that answers as CoreCLR does: what the common parts ask. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

#include <stdlib.h>
#include <string.h>

#define ID(pointer) ((uint64_t)(uintptr_t)(pointer))
#define OF(type, id) ((struct type *)(uintptr_t)(id))

static struct mono_domain *domain(void)
{
	struct mono_domain *own = mono.domain_get();
	return own ? own : mono.get_root_domain();
}

/* ---- Classes and objects. ---- */

static int32_t is_array(struct com *own, uint64_t id, uint32_t *type, uint64_t *base, uint32_t *rank)
{
	return mono.class_get_rank(OF(mono_class, id)) ? COM_OK : COM_FALSE;
}

static int32_t class_info(struct com *own, uint64_t id, uint64_t *module, uint32_t *token)
{
	*module = ID(mono.class_get_image(OF(mono_class, id)));
	*token = mono.class_get_type_token(OF(mono_class, id));
	return COM_OK;
}

static int32_t object_size(struct com *own, uint64_t object, uint64_t *size)
{
	*size = mono.object_get_size(OF(mono_object, object));
	return COM_OK;
}

/* ---- Functions and their bodies. ---- */

/* NOLINTNEXTLINE(readability-function-size): as CoreCLR has it */
static int32_t function_info(struct com *own, uint64_t id, uint64_t frame, uint64_t *class_id, uint64_t *module,
                             uint32_t *token, uint32_t room, uint32_t *count, uint64_t *arguments)
{
	struct mono_class *class_of = mono.method_get_class(OF(mono_method, id));
	*class_id = ID(class_of);
	*module = ID(mono.class_get_image(class_of));
	*token = mono.method_get_token(OF(mono_method, id));
	return COM_OK;
}

/* Mono has no list of a method's bodies: the one whose record is being written is known. */
static _Thread_local struct current_body {
	struct mono_method *method;
	void *start;
} current_body;

static int32_t bodies(struct com *own, uint64_t id, uint64_t rejit, uint32_t room, uint32_t *count, uint64_t *starts)
{
	*count = current_body.start && ID(current_body.method) == id;
	starts[0] = ID(current_body.start);
	return COM_OK;
}

static int32_t body_code(struct com *own, uint64_t start, uint32_t room, uint32_t *count, struct com_code *code)
{
	struct mono_body *body = mono.jit_info_table_find(domain(), current_body.start);
	if (!body)
		return COM_FAILED;
	*count = 1;
	code[0] = (struct com_code){start, (uint64_t)mono.jit_info_get_code_size(body)};
	return COM_OK;
}

static int by_start(const void *a, const void *b)
{
	const struct com_map *left = a, *right = b;
	return left->start < right->start ? -1 : left->start > right->start;
}

/* Lines are told without their ends, and in no order. */
static void set_ends(struct com_map *maps, uint32_t count, uint32_t size)
{
	qsort(maps, count, sizeof *maps, by_start);
	for (uint32_t i = 0; i < count; i++)
		maps[i].end = i + 1 < count ? maps[i + 1].start : size;
}

/* Where Mono has debug information (--debug). */
static int32_t body_map(struct com *own, uint64_t start, uint32_t room, uint32_t *count, struct com_map *maps)
{
	struct mono_lines *lines = mono.debug_enabled() ? mono.debug_find_method(current_body.method, domain()) : NULL;
	*count = lines && ID(lines->start) == start ? lines->count : 0;
	for (uint32_t i = 0; i < *count && i < room; i++)
		maps[i] = (struct com_map){lines->lines[i].il, lines->lines[i].native, 0};
	if (*count && *count <= room)
		set_ends(maps, *count, lines->size);
	if (lines)
		mono.debug_free_method_jit_info(lines);
	return COM_OK;
}

static struct ids shown = IDS_BEGIN(0);

/* Methods of generic types share code. */
static uint64_t key_of(const struct mono_method *method, const void *start)
{
	return ID(start) << 16 ^ ID(method);
}

void mono_write_body(struct mono_method *method, void *start)
{
	const struct current_body outer = current_body;
	bool logged;
	ids_look(&shown, key_of(method, start), &logged);
	if (logged)
		return;
	current_body.method = method;
	current_body.start = start;
	profiler_write_function(ID(method));
	current_body = outer;
	ids_write(&shown, key_of(method, start), NULL, NULL); /* from now on */
}

void mono_forget_bodies(void)
{
	ids_forget_all(&shown);
}

struct mono_method *mono_write_frame(struct mono_method *method, void *start)
{
	struct mono_body *body = method || !start ? NULL : mono.jit_info_table_find(domain(), start);
	struct mono_method *known = body ? mono.jit_info_get_method(body) : method;
	if (known && start)
		mono_write_body(known, start);
	return known;
}

bool mono_is_way_in(struct mono_method *method)
{
	static const char *const ways[] = {"__icall_wrapper_", "ProfilerAlloc", "Alloc"};
	const char *name = mono.method_get_token(method) ? NULL : mono.method_get_name(method);
	for (size_t i = 0; name && i < sizeof ways / sizeof *ways; i++)
		if (strncmp(name, ways[i], strlen(ways[i])) == 0)
			return true;
	return false;
}

/* ---- Threads. ---- */

static int32_t current_thread(struct com *own, uint64_t *id)
{
	*id = mono_thread();
	return *id ? COM_OK : COM_FAILED;
}

/* Makes the thread known to the runtime as one that is not managed: it asks for names. */
static int32_t initialize_thread(struct com *own)
{
	mono.threads_attach_tools_thread();
	return COM_OK;
}

/* ---- The heap: Mono tells how much is used, and not where. Its old generation is 1. ---- */

static int32_t generations(struct com *own, uint32_t room, uint32_t *count, struct com_range *ranges)
{
	const int64_t used = mono.gc_get_used_size(), all = mono.gc_get_heap_size();
	*count = 1;
	ranges[0] = (struct com_range){.generation = 1,
	                               .length = (uint64_t)used,
	                               .reserved = (uint64_t)(all < used ? used : all)};
	return COM_OK;
}

/* ---- The table. ---- */

#define TO(function) (com_function *)(function)
com_function *mono_answers[COM_CALLBACKS] = {
    [COM_SLOT_is_array] = TO(is_array),       [COM_SLOT_current_thread] = TO(current_thread),
    [COM_SLOT_class_info] = TO(class_info),   [COM_SLOT_function_info] = TO(function_info),
    [COM_SLOT_generations] = TO(generations), [COM_SLOT_initialize_thread] = TO(initialize_thread),
    [COM_SLOT_object_size] = TO(object_size), [COM_SLOT_bodies] = TO(bodies),
    [COM_SLOT_body_map] = TO(body_map),       [COM_SLOT_body_code] = TO(body_code),
};
