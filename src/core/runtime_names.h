/* runtime_names.h - the names of a runtime's events: readers give them to collections, compilations and CPU time, and
 * the analyses find these by them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_RUNTIME_NAMES_H
#define CORE_RUNTIME_NAMES_H

#include "core/dictionary.h"

/* X(enumerator, text) */
#define TW_RUNTIME_NAME_LIST(X)                                                                                        \
	/* Categories. A collection or a compilation is a slice; the others are counters. */                           \
	X(GC, "gc")                                                                                                    \
	X(JIT, "jit")                                                                                                  \
	X(JIT_CACHED, "jit-cached")                                                                                    \
	X(HEAP, "heap")                                                                                                \
	X(GENERATION, "generation")                                                                                    \
	X(CPU, "cpu")                                                                                                  \
	/* Counters of the category "cpu". */                                                                          \
	X(PROCESS_CPU, "process CPU")                                                                                  \
	X(THREAD_CPU, "thread CPU")                                                                                    \
	/* Arguments: of collections, of compilations, of the heap, of generations, of CPU time. */                    \
	X(REASON, "reason")                                                                                            \
	X(GENERATIONS, "generations")                                                                                  \
	X(CODE_BYTES, "code_bytes")                                                                                    \
	X(STATUS, "status")                                                                                            \
	X(BODY, "body")                                                                                                \
	X(COUNT, "count")                                                                                              \
	X(BYTES, "bytes")                                                                                              \
	X(ALLOCATED, "allocated")                                                                                      \
	X(RESERVED, "reserved")                                                                                        \
	X(US, "us")                                                                                                    \
	X(PERCENT, "percent")                                                                                          \
	X(INTERVAL_US, "interval_us")

enum tw_runtime_name {
	TW_RUNTIME_OTHER, /* any other name */
#define X(id, text) TW_RUNTIME_##id,
	TW_RUNTIME_NAME_LIST(X)
#undef X
	    TW_RUNTIME_NAMES
};

const char *tw_runtime_text(enum tw_runtime_name name);

/* The names of a dictionary as those of a runtime. The dictionary is set, the rest 0, to begin. */
struct tw_runtime_names {
	const struct tw_dictionary *dictionary;
	uint8_t *found; /* by number: enum tw_runtime_name, plus 1; 0: not looked for yet */
	size_t room;
};

enum tw_runtime_name tw_runtime_find(struct tw_runtime_names *names, uint32_t number);

/* Which name of a runtime a name of the dictionary is. */
static inline enum tw_runtime_name tw_runtime_name(struct tw_runtime_names *names, uint32_t number)
{
	uint8_t found = number < names->room ? names->found[number] : 0;
	return found ? (enum tw_runtime_name)(found - 1) : tw_runtime_find(names, number);
}

#endif
