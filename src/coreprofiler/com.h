/* com.h - the runtime's interfaces for profilers, as the tables of functions that they are.
 *
 * An object begins with a pointer to its table. The numbers of slots are the order of declaration in the runtime's
 * corprof.idl and cor.h (dotnet/runtime, src/coreclr/inc), behind the three of IUnknown; each interface goes on where
 * the one that it extends ends: ICorProfilerInfo 3, Info2 36, Info3 57, Info4 71, Info5 81, Info7 84, Info8 87,
 * Info9 90, Info10 93, Info11 99, Info12 101; ICorProfilerCallback 3, Callback2 72, Callback3 80, Callback8 92,
 * Callback9 94, Callback10 95, up to 98. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COREPROFILER_COM_H
#define COREPROFILER_COM_H

#include <stdint.h>

typedef void com_function(void);
struct com {
	com_function *const *slots;
};

struct com_guid {
	uint32_t a;
	uint16_t b, c;
	uint8_t d[8];
};

enum { COM_OK = 0, COM_FALSE = 1 };
#define COM_NO_INTERFACE ((int32_t)0x80004002)
#define COM_FAILED ((int32_t)0x80004005)

struct com_code {
	uint64_t start, size;
};
struct com_map {
	uint32_t il, start, end; /* offsets */
};
struct com_range {
	uint32_t generation;
	uint64_t start, length, reserved; /* reserved: with what is in use */
};

/* COR_PRF_EVENTPIPE_PROVIDER_CONFIG */
struct com_provider {
	const uint16_t *name;
	uint64_t keywords;
	uint32_t level;
	const uint16_t *filter;
};

typedef uint64_t com_mapper(uint64_t function, void *context, int32_t *hook);
typedef int32_t com_frame(uint64_t function, uint64_t ip, uint64_t frame, uint32_t size, uint8_t *registers,
                          void *context);

/* X(name, slot, parameters behind the object) */
#define COM_CALLS(X)                                                                                                   \
	/* IUnknown */                                                                                                 \
	X(query, 0, const struct com_guid *id, struct com **object)                                                    \
	/* ICorProfilerInfo */                                                                                         \
	X(is_array, 11, uint64_t id, uint32_t *type, uint64_t *base, uint32_t *rank)                                   \
	X(current_thread, 13, uint64_t *thread)                                                                        \
	X(class_info, 14, uint64_t id, uint64_t *module, uint32_t *token)                                              \
	X(module_info, 20, uint64_t id, uint64_t *base, uint32_t room, uint32_t *length, uint16_t *name,               \
	  uint64_t *assembly)                                                                                          \
	X(module_metadata, 21, uint64_t id, uint32_t flags, const struct com_guid *kind, struct com **metadata)        \
	X(domain_info, 25, uint64_t id, uint32_t room, uint32_t *length, uint16_t *name, uint64_t *process)            \
	X(assembly_info, 26, uint64_t id, uint32_t room, uint32_t *length, uint16_t *name, uint64_t *domain,           \
	  uint64_t *module)                                                                                            \
	/* ICorProfilerInfo2 */                                                                                        \
	X(snapshot, 36, uint64_t thread, com_frame *take, uint32_t flags, void *context, uint8_t *registers,           \
	  uint32_t size)                                                                                               \
	X(function_info, 38, uint64_t id, uint64_t frame, uint64_t *class_id, uint64_t *module, uint32_t *token,       \
	  uint32_t room, uint32_t *count, uint64_t *arguments)                                                         \
	X(class_arguments, 41, uint64_t id, uint64_t *module, uint32_t *token, uint64_t *parent, uint32_t room,        \
	  uint32_t *count, uint64_t *arguments)                                                                        \
	X(generations, 54, uint32_t room, uint32_t *count, struct com_range *ranges)                                   \
	/* ICorProfilerInfo3 */                                                                                        \
	X(set_mapper, 59, com_mapper *map, void *context)                                                              \
	X(set_hooks, 61, com_function *enter, com_function *leave, com_function *tail_call)                            \
	/* ICorProfilerInfo4 and later */                                                                              \
	X(object_size, 80, uint64_t object, uint64_t *size)                                                            \
	X(set_events, 82, uint32_t low, uint32_t high)                                                                 \
	X(dynamic_function, 89, uint64_t id, uint64_t *module, const uint8_t **signature, uint32_t *size,              \
	  uint32_t room, uint32_t *length, uint16_t *name)                                                             \
	X(bodies, 90, uint64_t id, uint64_t rejit, uint32_t room, uint32_t *count, uint64_t *starts)                   \
	X(body_map, 91, uint64_t start, uint32_t room, uint32_t *count, struct com_map *maps)                          \
	X(body_code, 92, uint64_t start, uint32_t room, uint32_t *count, struct com_code *code)                        \
	/* ICorProfilerInfo12, from .NET 5 on */                                                                       \
	X(start_session, 101, uint32_t count, const struct com_provider *providers, int32_t rundown,                   \
	  uint64_t *session)                                                                                           \
	X(provider_info, 105, uint64_t provider, uint32_t room, uint32_t *length, uint16_t *name)                      \
	/* IMetaDataImport */                                                                                          \
	X(type_definition, 12, uint32_t token, uint16_t *name, uint32_t room, uint32_t *length, uint32_t *flags,       \
	  uint32_t *base)                                                                                              \
	X(type_reference, 14, uint32_t token, uint32_t *scope, uint16_t *name, uint32_t room, uint32_t *length)        \
	X(method, 30, uint32_t token, uint32_t *type, uint16_t *name, uint32_t room, uint32_t *length,                 \
	  uint32_t *flags, const uint8_t **signature, uint32_t *size, uint32_t *address, uint32_t *implementation)     \
	X(enclosing_type, 62, uint32_t token, uint32_t *type)

#define COM_DECLARE(name, slot, ...)                                                                                   \
	typedef int32_t com_##name(struct com *, __VA_ARGS__);                                                         \
	enum { COM_SLOT_##name = slot };
COM_CALLS(COM_DECLARE)
#undef COM_DECLARE

/* Those without parameters. */
typedef int32_t com_plain(struct com *);
enum { COM_SLOT_release = 2, COM_SLOT_initialize_thread = 72, COM_SLOT_suspend = 97, COM_SLOT_resume = 98 };

#define COM_CALL(object, name, ...) (((com_##name *)(object)->slots[COM_SLOT_##name])((object), __VA_ARGS__))
#define COM_DO(object, name) (((com_plain *)(object)->slots[COM_SLOT_##name])(object))

/* What the runtime calls: ICorProfilerCallback up to Callback11. */
enum com_callback {
	COM_ON_QUERY,
	COM_ON_ADD,
	COM_ON_RELEASE,
	COM_ON_INITIALIZE,
	COM_ON_SHUTDOWN,
	COM_ON_DOMAIN_CREATED = 6,
	COM_ON_ASSEMBLY_LOADED = 10,
	COM_ON_MODULE_LOADED = 14,
	COM_ON_MODULE_ATTACHED = 17,
	COM_ON_CLASS_LOADED = 19,
	COM_ON_CLASS_UNLOADED = 21,
	COM_ON_FUNCTION_UNLOAD = 22,
	COM_ON_JIT_STARTED = 23,
	COM_ON_JIT_FINISHED = 24,
	COM_ON_CACHE_STARTED = 25,
	COM_ON_CACHE_FINISHED = 26,
	COM_ON_THREAD_CREATED = 29,
	COM_ON_THREAD_DESTROYED = 30,
	COM_ON_THREAD_ASSIGNED = 31,
	COM_ON_ALLOCATED = 50,
	COM_ON_REFERENCES = 52,
	COM_ON_UNWIND_BEGUN = 62,
	COM_ON_UNWIND_ENDED = 63,
	COM_ON_GC_STARTED = 73,
	COM_ON_GC_FINISHED = 75,
	COM_ON_DYNAMIC_JIT_STARTED = 92,
	COM_ON_DYNAMIC_JIT_FINISHED = 93,
	COM_ON_DYNAMIC_UNLOADED = 94,
	COM_ON_EVENT = 95,
	COM_CALLBACKS = 104 /* some more than there are */
};

/* COR_PRF_MONITOR and COR_PRF_HIGH_MONITOR. */
enum {
	COM_WANT_FUNCTION_UNLOADS = 0x1,
	COM_WANT_CLASSES = 0x2,
	COM_WANT_MODULES = 0x4,
	COM_WANT_ASSEMBLIES = 0x8,
	COM_WANT_DOMAINS = 0x10,
	COM_WANT_JIT = 0x20,
	COM_WANT_EXCEPTIONS = 0x40,
	COM_WANT_GC = 0x80, /* with what refers to what; no collections in the background then */
	COM_WANT_ALLOCATIONS = 0x100,
	COM_WANT_THREADS = 0x200,
	COM_WANT_ENTER_LEAVE = 0x1000,
	COM_WANT_CACHE_SEARCHES = 0x20000,
	COM_WANT_NO_INLINING = 0x200000,
	COM_CAN_ALLOCATIONS = 0x800000,
	COM_CAN_SNAPSHOTS = 0x10000000,
	COM_HIGH_DYNAMIC_UNLOADS = 0x4,
	COM_HIGH_GC = 0x10, /* when collections begin and end */
	COM_HIGH_EVENTS = 0x80
};

#endif
