/* objects.h - domains, assemblies, modules, classes and functions: the meaning of a pointer or a number. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_OBJECTS_H
#define TRACELOG_LOG_OBJECTS_H

#include "base/memory/map.h"
#include "tracelog/log/code.h"
#include "tracelog/log/findings.h"
#include "tracelog/log/jit_and_gc.h"

enum tracelog_object_kind {
	TRACELOG_DOMAIN,
	TRACELOG_ASSEMBLY,
	TRACELOG_MODULE,
	TRACELOG_CLASS,
	TRACELOG_FUNCTION,
	TRACELOG_OBJECT_KINDS
};

/* An object of the runtime. It has a pointer; classes and functions also have a number (iid). It comes into being when
 * it is announced, named or referred to, whatever is first, and keeps the number of its name from then on. */
struct tracelog_object {
	uint64_t pointer;
	struct tracelog_place met; /* where it was first */
	uint32_t iid;
	uint32_t token;
	uint32_t name; /* of the dictionary: a placeholder until its name comes */
	uint32_t twin; /* another name that stands for it, because it was referred to by pointer before; or 0 */
	/* The class of a function, the module of a class, the assembly of a module, the domain of an assembly. */
	uint32_t owner;
	uint32_t module; /* of a function */
	/* Of a function: its signature, a name of the dictionary, and the next function of its name. */
	uint32_t signature, alike;
	bool announced, named, used;
	bool shares_name;                   /* `name` is that of another function */
	bool folded;                        /* a function that has the name of its method: the body of an async one */
	struct tracelog_function_code code; /* functions: written by code.c */
	struct tracelog_compiled compiled;  /* functions: written by jit_and_gc.c */
	uint32_t bodies;                    /* functions: that were compiled or found; written by jit_and_gc.c */
	uint32_t live;                      /* classes: place in the last heap table, plus 1; written by heap.c */
};

/* Written by objects.c. */
struct tracelog_objects {
	struct tracelog_object *items; /* number 0 is none */
	size_t count, room;
	struct tw_map by_pointer, by_iid;
	uint32_t other;   /* stands for all that there is no memory for, once there is one */
	uint32_t unknown; /* the same for all whose number is "?" */
};

/* Written by objects.c. */
struct tracelog_naming {
	bool classes_named;       /* cls nam */
	struct tw_map signatures; /* by a hash of a function's name: that of its signature, or that there are several */
	struct tw_map alike;      /* the same: a function of that name */
};

struct tracelog_log;

/* The object that a pointer means now; 0 for a null pointer. One that was never announced comes into being. */
uint32_t tracelog_object_at(struct tracelog_log *log, enum tracelog_object_kind kind, uint64_t pointer);

/* The same by number, for classes and functions. */
uint32_t tracelog_object_of(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t iid);

/* Adds the object that a record announces: from now on its pointer means it. Returns its number. */
uint32_t tracelog_announce(struct tracelog_log *log, enum tracelog_object_kind kind,
                           const struct tw_tracelog_record *record);

/* Takes the names of a function. Overloads have one name, so their signatures follow it: on all of them where the log
 * was looked through before, otherwise from the second one on. */
void tracelog_name_function(struct tracelog_log *log, uint32_t number, const struct tw_tracelog_record *record);

/* Notes that there is a function of a name and signature, which may come into being later. */
void tracelog_meet_signature(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* Take a name that is told, and one whose owner or module is told. */
void tracelog_name_object(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t number,
                          struct tw_tracelog_text text);
void tracelog_update_name(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t number);

/* Reports at the end the objects that were referred to and never announced, or announced and never named. */
void tracelog_judge_objects(struct tracelog_log *log);
void tracelog_objects_free(struct tracelog_objects *objects);

#endif
