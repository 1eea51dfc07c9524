/* modules.c - the modules that `include perfetto module` knows, from share/trackway/perfetto. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/modules.h"

#include "sql/perfetto/parse.h"

#include "sql_modules.h" /* needs the struct */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MODULES = sizeof modules / sizeof *modules };

/* The first of them, which is always there. */
const char *const sql_module_prelude = prelude;

const struct sql_module *sql_module_at(size_t i)
{
	return i < MODULES ? &modules[i] : NULL;
}

bool sql_module_matches(const struct sql_module *module, const char *name)
{
	size_t length = strlen(name);
	if (strcmp(name, "*") == 0 || strcasecmp(name, module->name) == 0)
		return true;
	if (length > 2 && strcmp(name + length - 2, ".*") == 0)
		length -= 2;
	return strncasecmp(name, module->name, length) == 0 && module->name[length] == '.';
}

/* Returns what stands behind a statement; *name: the table, view or function that it makes; NULL: it makes none. */
static const char *pass(const char *at, char **name)
{
	struct sql_own_statement own;
	struct sql_fault fault;
	*name = NULL;
	if (sql_own_parse(at, &own, &fault) && own.kind != SQL_OWN_NONE && own.kind != SQL_OWN_INCLUDE)
		*name = sql_token_name(&own.name);
	sql_own_free(&own);
	const char *end = sql_statement_end(at);
	return *end ? end + 1 : end;
}

static bool makes(const struct sql_module *module, const char *wanted)
{
	bool found = false;
	for (const char *at = module->text; *at && !found;) {
		char *name;
		at = pass(at, &name);
		found = name && strcasecmp(name, wanted) == 0;
		free(name);
	}
	return found;
}

const struct sql_module *sql_module_making(const char *name)
{
	for (size_t i = 0; i < MODULES; i++)
		if (makes(&modules[i], name))
			return &modules[i];
	return NULL;
}

static char *name_in(const char *text, size_t *i)
{
	for (const char *at = text; *at;) {
		char *name;
		at = pass(at, &name);
		if (name && (*i)-- == 0)
			return name;
		free(name);
	}
	return NULL;
}

char *sql_module_name_at(size_t i)
{
	char *name = name_in(prelude, &i);
	for (size_t k = 0; !name && k < MODULES; k++)
		name = name_in(modules[k].text, &i);
	return name;
}
