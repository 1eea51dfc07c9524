/* editor.c - libedit, loaded where a person types. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sql/editor.h"

#include "base/load.h"

#include <editline/readline.h>

#define TW_EDITOR_LIST(X)                                                                                              \
	X(readline)                                                                                                    \
	X(add_history)                                                                                                 \
	X(using_history)                                                                                               \
	X(stifle_history)                                                                                              \
	X(read_history)                                                                                                \
	X(write_history)

static const struct tw_loaded functions[] = {
#define X(name) {#name, offsetof(struct tw_editor, name)},
    TW_EDITOR_LIST(X)
#undef X
};

#define X(name)                                                                                                        \
	_Static_assert(__builtin_types_compatible_p(__typeof__(&(name)), __typeof__(((struct tw_editor *)0)->name)),   \
	               #name);
TW_EDITOR_LIST(X)
#undef X

TW_DLOPEN_NOTE("libedit.so.2\",\"libedit.so.0", "prompt", "Lines that are edited at the prompt of sql", "suggested")

/* Debian has its own number; elsewhere it is 0. */
static const char *const libraries[] = {"libedit.so.2", "libedit.so.0"};

const char *tw_editor_load(struct tw_editor *editor)
{
	const char *missing = "";
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries && missing; i++)
		missing = tw_load(libraries[i], editor, functions, sizeof functions / sizeof *functions);
	return missing;
}
