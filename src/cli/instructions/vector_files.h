/* vector_files.h - the files of basic block vectors that an operand stands for. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INSTRUCTIONS_VECTOR_FILES_H
#define CLI_INSTRUCTIONS_VECTOR_FILES_H

#include <stddef.h>

struct tw_vector_files {
	char **paths;
	size_t count, room;
};

/* A file named .bb; or a directory's, as `record --bbv` leaves them, where there is no trace: by the numbers of their
 * threads. None where it stands for something else. Returns 0, or TW_EXIT_FAILED after saying why they cannot be found.
 * Free them in any case. */
int tw_vector_files_find(struct tw_vector_files *files, const char *operand);
void tw_vector_files_free(struct tw_vector_files *files);

#endif
