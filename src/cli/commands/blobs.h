/* blobs.h - the blobs of a trace as files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMANDS_BLOBS_H
#define CLI_COMMANDS_BLOBS_H

#include "base/bytes/outdir.h"
#include "base/memory/map.h"

#include <trackway/event.h>

/* A folder that blobs are written into, each to a file of its own; they appear when all are complete. All zero but
 * path, force and input to begin. */
struct tw_blob_folder {
	const char *path;
	bool force; /* what is there is replaced */
	struct tw_outdir begun;
	int fd; /* of the folder, if it was there; -1 */
	int current_fd;
	uint32_t current;           /* blob that current_fd is of, plus 1 */
	struct tw_blob_file *files; /* by blob */
	size_t room;
	struct tw_map names; /* hash of a file's name to the blob */
	const char *input;   /* is not replaced */
	uint64_t written, refused;
};

/* Opens the folder, and makes it where it is not there. Returns 0 or TW_EXIT_FAILED after saying why. */
int tw_blob_folder_open(struct tw_blob_folder *folder);

/* Writes the next bytes of a blob. A file that cannot be made is reported once, and its blob left out. Returns 0, or
 * TW_EXIT_FAILED after saying why nothing more can be written. */
int tw_blob_folder_write(struct tw_blob_folder *folder, uint32_t blob, const struct tw_name *name,
                         const struct tw_argument *bytes);

/* Gives the files their place, or removes them. Returns 0, or TW_EXIT_FAILED when not all could be written. */
int tw_blob_folder_close(struct tw_blob_folder *folder, bool keep);

#endif
