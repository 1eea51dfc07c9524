/* file.h - the disk of a log's file: had before somebody writes there, whatever the program does with descriptors. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_FILE_H
#define FLIGHT_FILE_H

#include "flight/log/path.h"

#include <stdbool.h>
#include <stdint.h>

/* The program may close all descriptors, and its own files get their numbers: so the file is known by its inode, and
 * found again by its path. */
struct flight_file {
	int fd;
	uint64_t device, inode;
	char path[FLIGHT_PATH]; /* absolute */
	bool in_memory;         /* as large as it may become; it ends with its last holder */
	bool pages_alone;       /* its system has no disk */
};

/* Makes a file, as flight_make_file() does. A pattern "@NAME" makes one without a name, in memory, and gives it to
 * whoever listens at the abstract socket NAME; where that cannot be, the errno alone, a byte. Returns 0 or an errno. */
int flight_file_make(struct flight_file *file, const char *pattern, uint32_t pid);

/* What a file without a log begins with, and an errno behind it, u32: why there is none. */
#define FLIGHT_REFUSED "trackway.refused"

/* Writes it into a file that nothing else was written to. Where the file is in memory, whoever was given it has it. */
void flight_file_refuse(const struct flight_file *file, int error);

/* How large it may become, as it is mapped. Returns 0 or an errno. */
int flight_file_room(struct flight_file *file, uint64_t size);

/* Closes it, where the program has not. */
void flight_file_close(struct flight_file *file);

/* Disk for a stretch of the file: a page without any is SIGBUS. Returns 0 or an errno, ESTALE where the file is
 * found no more. From any place. */
int flight_file_grow(const struct flight_file *file, uint64_t offset, uint64_t size);

#endif
