/* editor.h - libedit, loaded where a person types. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SQL_EDITOR_H
#define CLI_SQL_EDITOR_H

/* Its functions, by their own names, as <editline/readline.h> has them. */
struct tw_editor {
	char *(*readline)(const char *prompt);
	int (*add_history)(const char *line);
	void (*using_history)(void);
	void (*stifle_history)(int most);
	int (*read_history)(const char *path);
	int (*write_history)(const char *path);
};

/* Returns NULL, or what is missing, in words; then *editor must not be used. */
const char *tw_editor_load(struct tw_editor *editor);

#endif
