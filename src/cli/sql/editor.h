/* editor.h - libedit, loaded where a person types. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SQL_EDITOR_H
#define CLI_SQL_EDITOR_H

#include <editline/readline.h>

#define TW_EDITOR_LIST(X)                                                                                              \
	X(readline)                                                                                                    \
	X(add_history)                                                                                                 \
	X(using_history)                                                                                               \
	X(stifle_history)                                                                                              \
	X(read_history)                                                                                                \
	X(write_history)

/* Its functions, by their own names. */
struct tw_editor {
#define X(name) __typeof__(&(name)) name;
	TW_EDITOR_LIST(X)
#undef X
};

/* Returns NULL, or what is missing, in words; then *editor must not be used. */
const char *tw_editor_load(struct tw_editor *editor);

#endif
