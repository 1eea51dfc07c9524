/* study.h - what the commands share that study instructions: reading, and their tables as text or JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INSTRUCTIONS_STUDY_H
#define CLI_INSTRUCTIONS_STUDY_H

#include "cli/command.h"

#include <trackway/study.h>

struct tw_study_common;

/* Writes files beside what is shown. Returns enum tw_exit. */
typedef int (*tw_study_write_fn)(const struct tw_study_common *common, const struct tw_study *study);

/* The options of such a command begin with it. */
struct tw_study_common {
	struct tw_common common; /* first */
	tw_study_write_fn write; /* set by the command; NULL: none */
	struct tw_option_number top;
	bool all; /* --all */
	uint64_t from_insn, to_insn;
	struct tw_option_number from_address, to_address;
	const char *exception_level;
};

/* Writes a picture instead of tables. */
typedef int (*tw_study_render_fn)(struct tw_output *out, const struct tw_study *study, const char *title);

/* Reads the trace and shows what was found; render: NULL where there is no picture. Returns enum tw_exit. */
int tw_study_show(const struct tw_study_common *common, const struct tw_study_options *options,
                  const struct tw_command *command, tw_study_render_fn render, char **operands, size_t count);

/* Shows a study that was made of something else. */
int tw_study_show_made(const struct tw_study_common *common, struct tw_study *study, tw_study_render_fn render,
                       char *path);

/* Options that all of them have: --top, --all, --thread. */
extern const struct tw_option_group tw_study_row_options;

/* Which instructions: --from-insn, --to-insn, --function, --exception-level, --from-address, --to-address. */
extern const struct tw_option_group tw_study_range_options;

/* --output, --json, --csv, --markdown, --svg. */
extern const struct tw_option_group tw_study_picture_options;

#endif
