/* blobs.h - the blobs of a trace, in a list and as files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_BLOBS_H
#define CLI_BLOBS_H

#include "base/map.h"
#include "base/memory.h"

#include <trackway/event.h>

/* One blob: all rows of one name, in the order of the trace. */
struct tw_blob {
	uint32_t name;
	uint64_t type; /* of its first part, as time and track */
	uint64_t size; /* bytes that are there */
	uint64_t missing;
	uint64_t parts; /* records */
	uint64_t time;
	uint32_t track;
};

struct tw_blobs {
	struct tw_blob *items; /* in the order in which they begin */
	size_t count, room, limit;
	struct tw_map map; /* name to item */
	uint64_t left_out; /* rows of blobs that there was no room for */
	uint32_t open;     /* the blob whose record goes on with the next row, plus 1; 0: none */
	uint64_t expected; /* bytes of that record still to come */
};

/* The bytes of a row; NULL where it has none. */
const struct tw_argument *tw_blob_bytes(const struct tw_event *event, const struct tw_argument *arguments);

/* Counts a row. Returns the number of its blob, UINT32_MAX when there is no room. */
uint32_t tw_blobs_take(struct tw_blobs *blobs, const struct tw_event *event, const struct tw_argument *bytes);

/* After the last row. */
void tw_blobs_end(struct tw_blobs *blobs);
void tw_blobs_free(struct tw_blobs *blobs);

/* ---- Files. ---- */

/* A folder that blobs are written into, each to a file of its own. All zero but folder and force to begin. */
struct tw_blob_folder {
	const char *path;
	bool force; /* what is there is replaced */
	int fd;     /* of the folder */
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

/* Writes the next bytes of a blob. A file that cannot be made is told once, and its blob left out. Returns 0, or
 * TW_EXIT_FAILED after saying why nothing more can be written. */
int tw_blob_folder_write(struct tw_blob_folder *folder, uint32_t blob, const struct tw_name *name,
                         const struct tw_argument *bytes);

/* Returns 0, or TW_EXIT_FAILED when not all could be written. */
int tw_blob_folder_close(struct tw_blob_folder *folder);

#endif
