/* source_lines.h - the source lines of a log's instructions, by their functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_JOBS_SOURCE_LINES_H
#define TRACELOG_JOBS_SOURCE_LINES_H

#include "base/memory/map.h"
#include "tracelog/pdb/pdb.h"

struct tw_name;

/* An instruction of a function, by its session and number, and the place of its line. */
struct tracelog_placed_ip {
	uint64_t ip;
	uint32_t session, iid;
	uint32_t line;
};

struct tracelog_line_file {
	uint32_t session, name;
	char *path; /* of `size` bytes */
	size_t size;
	bool written; /* inject_lines.c */
};

struct tracelog_line_of_function {
	uint32_t session, iid;
	uint32_t file; /* place */
	struct tracelog_pdb_line at;
	bool met; /* a record has it: it is written, or will be; inject_lines.c */
};

/* Lines and files have numbers in the log: their places, plus 1. */
struct tracelog_source_lines {
	struct tracelog_placed_ip *ips;
	struct tracelog_line_of_function *lines;
	struct tracelog_line_file *files;
	size_t ip_count, ip_room, line_count, line_room, file_count, file_room;
	struct tw_map by_ip, by_line, by_file; /* hashes to places */
	size_t memory;                         /* bytes that are left */
	bool own;                              /* the log has lines of its own; code.c */
	bool failed;                           /* no memory */
};

/* Notes the line of an instruction, in a file of that number and name. What is beyond the memory is left out. */
void tracelog_note_line(struct tracelog_source_lines *lines, const struct tracelog_placed_ip *ip, uint32_t name,
                        const struct tw_name *path, const struct tracelog_pdb_line *at);

/* The place of an instruction's line, all but `line` of which is given. False: it has none. */
bool tracelog_find_line(const struct tracelog_source_lines *lines, const struct tracelog_placed_ip *ip, uint32_t *line);

void tracelog_source_lines_free(struct tracelog_source_lines *lines);

#endif
