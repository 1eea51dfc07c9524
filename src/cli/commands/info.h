/* info.h - what trackway info shows, and the forms it is written in. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMANDS_INFO_H
#define CLI_COMMANDS_INFO_H

#include "cli/commands/info_part.h"
#include "cli/output/screen.h"

#include <trackway/reader.h>

/* What is shown of one file. */
struct tw_info_view {
	const char *path;
	const struct tw_reader *reader; /* for how much was found */
	struct tw_info info;
	bool all;                        /* all threads */
	const struct tw_info_part *part; /* what passes the filters; NULL: all does */
};

void tw_info_put_json(struct tw_output *out, const struct tw_info_view *view);

/* Returns 0, or TW_EXIT_FAILED after saying that there was no memory. */
int tw_info_put_text(struct tw_screen *screen, const struct tw_info_view *view);

#endif
