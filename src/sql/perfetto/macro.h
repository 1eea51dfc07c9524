/* macro.h - macros, and statements in which they are called: NAME!(...) becomes the macro's text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_MACRO_H
#define SQL_PERFETTO_MACRO_H

#include "sql/perfetto/source.h"

enum { SQL_ARGUMENTS_MOST = 32 };

struct sql_macro {
	struct sql_macro *next;
	char *name, *body;
	char *arguments[SQL_ARGUMENTS_MOST];
	size_t count;
	bool open; /* it is being expanded */
};

/* Takes a macro into a list, in place of one of its name. */
void sql_macro_add(struct sql_macro **list, struct sql_macro *macro);

struct sql_macro *sql_macro_named(struct sql_macro *list, const char *name);

/* Takes the macro away; false where there is none. */
bool sql_macro_remove(struct sql_macro **list, const char *name);

void sql_macro_free(struct sql_macro *macro);

/* Whether a call of a macro stands before `end`. */
bool sql_macro_called(const char *from, const char *end);

/* Adds what stands between two places to a source, with macros expanded. False where that is wrong: *fault tells. */
bool sql_macro_expand(struct sql_macro *list, struct sql_source *source, const char *from, const char *end,
                      struct sql_fault *fault);

#endif
