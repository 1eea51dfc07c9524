/* modules.h - the modules that `include perfetto module` knows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_MODULES_H
#define SQL_PERFETTO_MODULES_H

#include <stdbool.h>
#include <stddef.h>

struct sql_module {
	const char *name, *text;
};

/* NULL past the last. */
const struct sql_module *sql_module_at(size_t i);

/* What is always there. */
extern const char *const sql_module_prelude;

/* Whether a module is meant by a name: its own, of a package all, "a.*" or "*". */
bool sql_module_matches(const struct sql_module *module, const char *name);

/* The module that makes something of a name; NULL: none does, or it is always there. */
const struct sql_module *sql_module_making(const char *name);

/* A name that a module, or the prelude, makes: the i-th of them all, to be freed; NULL past the last. */
char *sql_module_name_at(size_t i);

#endif
