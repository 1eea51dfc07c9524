/* who.h - the threads that --thread and --process choose, by number and by name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_WHO_H
#define CLI_FILES_WHO_H

#include "cli/options/options.h"

#include <trackway/reader.h>

/* What names stand for in one or several files; all zero to begin. */
struct tw_who {
	uint64_t *threads, *processes;
	size_t count, thread_room, process_room;
};

/* Sets the threads of options. For names and processes a file is read as far as its dictionary needs: to its end, after
 * standard input was made a file. among: it is one of several, and where it is no trace, who opens it then tells so.
 * Returns 0, or TW_EXIT_FAILED after saying why. `who` lives as long as the options. */
int tw_who_choose(struct tw_who *who, const struct tw_common *common, char *path, bool among,
                  struct tw_read_options *options);

void tw_who_free(struct tw_who *who);

#endif
