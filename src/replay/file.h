/* file.h - a thread's two files, in parts from snapshot to snapshot. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_FILE_H
#define REPLAY_FILE_H

#include "replay/replay.h"

/* The files in memory. */
struct replay_file {
	const uint8_t *data, *snapshots;
	size_t data_size, snapshots_size;
	struct tw_xtrace_layout layout;
	size_t first, count; /* snapshots of this data file */
	uint64_t number;     /* which of `parts` data files it is */
	size_t parts;
};

/* Opens DIR/xtrace....xinsndata.bin and the snapshots beside it (of several data files, those of the first), whose
 * layout is found as far as it is not known (enum tw_xtrace_known); what is compressed goes to temporary files without
 * names in a folder (NULL: /tmp). Returns NULL, or what is wrong; close it in any case. */
const char *replay_file_open(struct replay_file *file, const char *path, const char *folder,
                             const struct tw_xtrace_layout *layout, unsigned known);
void replay_file_close(struct replay_file *file);

/* The part from snapshot i to the next. Returns NULL or what is wrong with it. */
const char *replay_file_part(const struct replay_file *file, size_t i, struct replay_part *part,
                             struct tw_xtrace_snapshot *start);

#endif
