/* code.h - the place of an instruction: a line of the source, or an offset in the intermediate language. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_CODE_H
#define TRACELOG_LOG_CODE_H

#include "base/memory/cover.h"
#include "base/memory/map.h"

#include <trackway/tracelog.h>

/* Edges of many intervals, by which the one that holds a number is found; none where there are few. */
struct tracelog_edges {
	uint32_t first, count;
};

/* What a compilation made of a function. */
struct tracelog_body {
	uint32_t first_block, block_count;
	uint32_t first_range, range_count; /* of offsets in the code, and theirs in the IL */
	struct tracelog_edges block_edges, range_edges;
	struct tw_interval span; /* from the first instruction of its blocks to behind the last */
	uint64_t bytes;
	uint32_t older;    /* the body before it, plus 1 */
	uint32_t count;    /* of those before it */
	bool has_size_row; /* a row has its size; written by jit_and_gc.c */
};

/* The code of a function: a runtime compiles it again where it is called often, and its older bodies still run. */
struct tracelog_function_code {
	uint32_t location;         /* the one without an address, plus 1 */
	uint32_t unplaced;         /* the first location that no line is known of, plus 1 */
	struct tracelog_body body; /* the newest */
};

struct tracelog_code {
	uint64_t start, size;
	uint64_t before; /* bytes of the blocks before it */
};

struct tracelog_range {
	uint64_t start, end; /* offsets in the code */
	int64_t il;
};

struct tracelog_source_line {
	uint32_t function; /* the function's number (iid) */
	uint32_t file;     /* number given by the log */
	uint32_t line, column, end_line, end_column;
};

/* Written by code.c. */
struct tracelog_sources {
	struct tracelog_code *codes;
	size_t code_count, code_room;
	struct tracelog_range *ranges;
	size_t range_count, range_room;
	struct tracelog_body *bodies; /* that have newer ones */
	size_t body_count, body_room;
	struct tw_edge *edges; /* of functions that have many blocks or ranges */
	size_t edge_count, edge_room;
	struct {
		struct tracelog_source_line *items;
		size_t count, room;
		struct tw_map by_number; /* number of a line to its place in `lines` */
	} lines;
	struct tw_map files; /* number of a file to a name */
	struct {
		/* By location of the dictionary. */
		uint32_t *items; /* object */
		size_t room;
	} functions;
	struct {
		uint32_t *items; /* the next location of the function that no line is known of, plus 1 */
		size_t room;
	} unplaced;
};

struct tracelog_log;

/* Takes the code and the map out of the list of a function's record. */
void tracelog_take_code(struct tracelog_log *log, uint32_t function, const struct tw_tracelog_record *record);
void tracelog_take_line(struct tracelog_log *log, const struct tw_tracelog_record *record);
void tracelog_take_file(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* The location of an instruction in a function; ip 0: not known. UINT32_MAX when there is no memory. */
uint32_t tracelog_location(struct tracelog_log *log, uint32_t function, uint64_t ip);
void tracelog_sources_free(struct tracelog_sources *sources);

#endif
