/* records.c - what Mono tells, as lines of a TraceLog. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

#include <unistd.h>

#define ID(pointer) ((uint64_t)(uintptr_t)(pointer))

static void add_quoted(struct text *line, const char *name)
{
	text_string(line, " \"");
	text_string(line, name ? name : "<UNKNOWN>");
	text_char(line, '"');
}

static void put_loaded(struct text *line, const char *name)
{
	profiler_add_hex8(line, 0);
	add_quoted(line, name);
	profiler_send(line);
}

/* ---- Domains, assemblies, images. ---- */

/* One that a program makes while it runs has no place, and Mono does not ask itself whether it has. */
static const void *base_of(struct mono_image *image)
{
	return mono.image_is_dynamic(image) ? NULL : mono.image_rva_map(image, 0);
}

static void image_loaded(void *own, struct mono_image *image)
{
	struct text line;
	text_begin(&line, "mod ldf");
	profiler_add_pointer(&line, ID(image));
	profiler_add_pointer(&line, ID(base_of(image)));
	profiler_add_pointer(&line, ID(mono.image_get_assembly(image)));
	put_loaded(&line, mono.image_get_filename(image));
}

static void write_assembly(struct mono_assembly *assembly)
{
	struct mono_image *image = mono.assembly_get_image(assembly);
	struct mono_domain *domain = mono.domain_get();
	struct text line;
	text_begin(&line, "asm ldf");
	profiler_add_pointer(&line, ID(assembly));
	profiler_add_pointer(&line, ID(domain ? domain : mono.get_root_domain()));
	profiler_add_pointer(&line, ID(image));
	put_loaded(&line, mono.assembly_name_get_name(mono.assembly_get_name(assembly)));
	text_begin(&line, "mod ata");
	profiler_add_pointer(&line, ID(image));
	profiler_add_pointer(&line, ID(assembly));
	profiler_send(&line);
}

/* The first assemblies are loaded before the root domain has its name. Their lines name it, so they are written behind
 * its own: a program may be killed between two lines. */
enum { EARLY = 64 };
static struct mono_assembly *early[EARLY];
static size_t early_count;
static bool has_domain;

static void assembly_loaded(void *own, struct mono_assembly *assembly)
{
	if (!has_domain && early_count < EARLY)
		early[early_count++] = assembly;
	else
		write_assembly(assembly);
}

/* The main thread stands before its domain: readers of the original ask for that. */
static void domain_named(void *own, struct mono_domain *domain, const char *name)
{
	struct text line;
	profiler_own_thread();
	text_begin(&line, "apd crf");
	profiler_add_pointer(&line, ID(domain));
	profiler_add_pointer(&line, (uint64_t)getpid());
	put_loaded(&line, name);
	has_domain = true;
	for (size_t i = 0; i < early_count; i++)
		write_assembly(early[i]);
	early_count = 0;
}

static void class_loaded(void *own, struct mono_class *class_of)
{
	profiler_write_class(ID(class_of), true, 0);
}

/* ---- Compilation. ---- */

/* Those that this thread compiles, in each other. */
enum { DEEPEST = 64 };
static _Thread_local struct mono_method *compiled[DEEPEST];
static _Thread_local uint32_t depth;

static void jit_begins(void *own, struct mono_method *method)
{
	if (depth < DEEPEST)
		compiled[depth] = method;
	depth++;
	profiler_write_jit("jit cms ", ID(method), NULL);
}

/* Whether it had begun: what is only found compiled has not. */
static bool jit_ends(struct mono_method *method)
{
	if (depth == 0 || (depth <= DEEPEST && compiled[depth - 1] != method))
		return false;
	depth--;
	return true;
}

static void jit_done(void *own, struct mono_method *method, struct mono_body *body)
{
	const int32_t status = COM_OK;
	void *start = mono.jit_info_get_code_start(body);
	if (jit_ends(method))
		profiler_write_jit("jit cmf ", ID(method), &status);
	else {
		profiler_write_jit("jit css ", ID(method), NULL);
		profiler_write_jit("jit csf ", ID(method), NULL);
	}
	mono_write_body(method, start);
}

static void jit_failed(void *own, struct mono_method *method)
{
	const int32_t status = COM_FAILED;
	if (jit_ends(method))
		profiler_write_jit("jit cmf ", ID(method), &status);
}

static void method_freed(void *own, struct mono_method *method)
{
	profiler_forget_function(ID(method));
	profiler_forget_places();
}

/* ---- Threads. ---- */

static void thread_started(void *own, uintptr_t id)
{
	if (id != (uintptr_t)pthread_self())
		return;
	mono_thread_lives(true);
	mono_sampled_begin();
	profiler_own_thread();
}

static void thread_stopped(void *own, uintptr_t id)
{
	struct profiler_thread *thread = id == (uintptr_t)pthread_self() ? profiler_thread_find(id) : NULL;
	if (!thread)
		return;
	mono_sampled_end();
	mono_stacks_end();
	profiler_take(thread);
	profiler_write_calls(thread);
	profiler_write_allocated(thread);
	profiler_give(thread);
	profiler_thread_destroyed(id);
	mono_thread_lives(false);
}

/* ---- Asking. ---- */

struct wish {
	const char *name;
	mono_function *function;
};
#define ON(function) (mono_function *)(function)

static const char *ask(struct mono_handle *handle, const struct wish *wishes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!mono_on(handle, wishes[i].name, wishes[i].function))
			return wishes[i].name;
	return NULL;
}
#define ASK(handle, wishes) ask(handle, wishes, sizeof(wishes) / sizeof *(wishes))

static const struct wish always[] = {
    {"thread_started", ON(thread_started)}, {"thread_stopped", ON(thread_stopped)},   {"domain_name", ON(domain_named)},
    {"image_loaded", ON(image_loaded)},     {"assembly_loaded", ON(assembly_loaded)},
};
static const struct wish execution[] = {
    {"class_loaded", ON(class_loaded)},
    {"jit_begin", ON(jit_begins)},
    {"jit_done", ON(jit_done)},
    {"jit_failed", ON(jit_failed)},
    {"method_free", ON(method_freed)},
    {"domain_unloaded", ON(mono_domain_goes)},
    {"image_unloading", ON(mono_image_goes)},
};
static const struct wish collections[] = {{"gc_event", ON(mono_gc_happens)}};
static const struct wish samples[] = {{"sample_hit", ON(mono_sampled)}};
static const struct wish allocations[] = {{"gc_allocation", ON(mono_allocated)}};
static const struct wish calls[] = {
    {"call_instrumentation_filter", ON(mono_hooks)},
    {"method_enter", ON(mono_entered)},
    {"method_leave", ON(mono_left)},
    {"method_tail_call", ON(mono_tail_called)},
    {"method_exception_leave", ON(mono_thrown)},
};

static const char *ask_for_stacks(struct mono_handle *handle, const struct profiler_options *options)
{
	const char *lacks = NULL;
	if (options->memory)
		lacks = mono.profiler_enable_allocations() ? ASK(handle, allocations) : "allocations";
	if (!lacks && options->method == PROFILER_SAMPLING)
		lacks = mono_sample_begin(handle, options->sampling_ms) ? ASK(handle, samples) : "samples";
	if (!lacks && options->method == PROFILER_INSTRUMENTATION)
		lacks = ASK(handle, calls);
	return lacks;
}

const char *mono_ask(struct mono_handle *handle, const struct profiler_options *options)
{
	const char *lacks = ASK(handle, always);
	if (!lacks && (options->execution || options->method != PROFILER_NONE || options->memory))
		lacks = ASK(handle, execution);
	if (!lacks && (options->gc || options->live_heap))
		lacks = ASK(handle, collections);
	return lacks ? lacks : ask_for_stacks(handle, options);
}
