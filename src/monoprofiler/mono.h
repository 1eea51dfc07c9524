/* mono.h - what Mono has for profilers, as far as it is used: Mono 6.8, mono/metadata/profiler.h (version 3 of that
 * interface) and what its functions are given. All of it is looked up when the profiler is loaded. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONOPROFILER_MONO_H
#define MONOPROFILER_MONO_H

#include <stdbool.h>
#include <stdint.h>

/* Mono's own; of the methods, classes and images their addresses are the ids in the log. */
struct mono_handle;
struct mono_domain;
struct mono_assembly;
struct mono_assembly_name;
struct mono_image;
struct mono_class;
struct mono_type;
struct mono_signature;
struct mono_method;
struct mono_body; /* MonoJitInfo */
struct mono_object;

/* MonoDebugMethodJitInfo, as far as it is read: mono/metadata/mono-debug.h. */
struct mono_line {
	uint32_t il, native;
};
struct mono_lines {
	const uint8_t *start;
	uint32_t size, prologue_end, epilogue_begin;
	const uint8_t *wrapper;
	uint32_t count;
	const struct mono_line *lines;
};

/* Returns whether that was enough. */
typedef int mono_take_frame(struct mono_method *method, struct mono_domain *domain, void *start, int offset,
                            void *context);
typedef int mono_take_object(struct mono_object *object, struct mono_class *class_of, uintptr_t size, uintptr_t count,
                             struct mono_object **references, uintptr_t *offsets, void *context);
typedef void mono_function(void);

enum { MONO_SAMPLE_NONE, MONO_SAMPLE_WALL = 2 }; /* MonoProfilerSampleMode */
enum {
	MONO_HOOK_ENTER = 1 << 1,
	MONO_HOOK_LEAVE = 1 << 3, /* MonoProfilerCallInstrumentationFlags */
	MONO_HOOK_TAIL_CALL = 1 << 5,
	MONO_HOOK_EXCEPTION = 1 << 6
};
enum mono_gc_event {
	MONO_GC_START = 0,
	MONO_GC_END = 5,
	MONO_GC_STOPS_WORLD = 6,
	MONO_GC_STARTS_WORLD = 8,
	MONO_GC_UNLOCKED = 11
};

/* X(returns, name behind "mono_", parameters) */
#define MONO_CALLS(X)                                                                                                  \
	X(struct mono_handle *, profiler_create, (void *own))                                                          \
	X(int, profiler_enable_allocations, (void))                                                                    \
	X(int, profiler_enable_sampling, (struct mono_handle * handle))                                                \
	X(int, profiler_set_sample_mode, (struct mono_handle * handle, int mode, uint32_t hertz))                      \
	X(struct mono_domain *, get_root_domain, (void))                                                               \
	X(struct mono_domain *, domain_get, (void))                                                                    \
	X(const char *, image_get_filename, (struct mono_image * image))                                               \
	X(struct mono_assembly *, image_get_assembly, (struct mono_image * image))                                     \
	X(void *, image_rva_map, (struct mono_image * image, uint32_t address))                                        \
	X(int, image_is_dynamic, (struct mono_image * image))                                                          \
	X(struct mono_image *, assembly_get_image, (struct mono_assembly * assembly))                                  \
	X(struct mono_assembly_name *, assembly_get_name, (struct mono_assembly * assembly))                           \
	X(const char *, assembly_name_get_name, (struct mono_assembly_name * name))                                    \
	X(struct mono_type *, class_get_type, (struct mono_class * class_of))                                          \
	X(uint32_t, class_get_type_token, (struct mono_class * class_of))                                              \
	X(struct mono_image *, class_get_image, (struct mono_class * class_of))                                        \
	X(int, class_get_rank, (struct mono_class * class_of))                                                         \
	X(struct mono_class *, class_get_element_class, (struct mono_class * class_of))                                \
	X(int, type_get_type, (struct mono_type * type))                                                               \
	X(char *, type_full_name, (struct mono_type * type))                                                           \
	X(const char *, method_get_name, (struct mono_method * method))                                                \
	X(char *, method_full_name, (struct mono_method * method, int signature))                                      \
	X(struct mono_class *, method_get_class, (struct mono_method * method))                                        \
	X(uint32_t, method_get_token, (struct mono_method * method))                                                   \
	X(struct mono_signature *, method_signature, (struct mono_method * method))                                    \
	X(struct mono_type *, signature_get_return_type, (struct mono_signature * signature))                          \
	X(struct mono_type *, signature_get_params, (struct mono_signature * signature, void **state))                 \
	X(void, free, (void *memory))                                                                                  \
	X(struct mono_body *, jit_info_table_find, (struct mono_domain * domain, void *address))                       \
	X(void *, jit_info_get_code_start, (struct mono_body * body))                                                  \
	X(int, jit_info_get_code_size, (struct mono_body * body))                                                      \
	X(struct mono_method *, jit_info_get_method, (struct mono_body * body))                                        \
	X(int, debug_enabled, (void))                                                                                  \
	X(struct mono_lines *, debug_find_method, (struct mono_method * method, struct mono_domain * domain))          \
	X(void, debug_free_method_jit_info, (struct mono_lines * lines))                                               \
	X(struct mono_class *, object_get_class, (struct mono_object * object))                                        \
	X(uint32_t, object_get_size, (struct mono_object * object))                                                    \
	X(int, gc_walk_heap, (int flags, mono_take_object *take, void *context))                                       \
	X(int64_t, gc_get_used_size, (void))                                                                           \
	X(int64_t, gc_get_heap_size, (void))                                                                           \
	X(void, stack_walk_async_safe, (mono_take_frame * take, void *registers, void *context))                       \
	X(void, threads_attach_tools_thread, (void))                                                                   \
	X(void, thread_info_detach, (void))

struct mono {
#define MONO_MEMBER(type, name, parameters) type(*name) parameters;
	MONO_CALLS(MONO_MEMBER)
#undef MONO_MEMBER
};
extern struct mono mono;

/* Looks all up. NULL, or what this Mono does not have. */
const char *mono_find(void);

/* Has Mono call a function: `name` as in "mono_profiler_set_NAME_callback". False: it has no such call. */
bool mono_on(struct mono_handle *handle, const char *name, mono_function *function);

#endif
