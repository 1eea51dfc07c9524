/* source.h - a statement as SQLite gets it, and where each part of it stands in what was written. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_SOURCE_H
#define SQL_PERFETTO_SOURCE_H

#include "base/memory/memory.h"

/* What is wrong with a text: one line, and its place. */
struct sql_fault {
	char text[512];
	size_t offset;
	int code;    /* SQLite's result, where it is its own */
	bool placed; /* the offset is known */
};

/* From `out` on it is what stands from `in` on, or what was made of that. */
struct sql_source_piece {
	size_t out, in;
	bool same;
};

struct sql_source {
	const char *written;
	struct tw_text text;
	struct sql_source_piece *pieces;
	size_t count, room;
	bool failed; /* there was no memory */
};

/* Adds a part of what was written, and something made of what stands at a place. */
void sql_source_keep(struct sql_source *source, const char *from, const char *to);
void sql_source_make(struct sql_source *source, const char *at, const char *bytes, size_t length);

/* Where in what was written an offset of the text stands. */
size_t sql_source_place(const struct sql_source *source, size_t offset);

void sql_source_free(struct sql_source *source);

/* The text of a fault is one line, whatever names are in it. */
void sql_fault_one_line(struct sql_fault *fault);

/* Sets a fault; returns false. */
bool sql_fault_set(struct sql_fault *fault, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
