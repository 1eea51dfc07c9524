/* tool_file.h - --tool: a user's own analysis, in a shared object. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INSTRUCTIONS_TOOL_FILE_H
#define CLI_INSTRUCTIONS_TOOL_FILE_H

#include "cli/command.h"

#include <trackway/study.h>

struct tw_tool_file {
	void *object;
	const struct tw_study_tool *tool; /* lives until it is closed */
};

/* Opens a tool; close it in any case. Returns 0, or TW_EXIT_FAILED after saying what is wrong. */
int tw_tool_open(struct tw_tool_file *file, const char *path);
void tw_tool_close(struct tw_tool_file *file);

#endif
