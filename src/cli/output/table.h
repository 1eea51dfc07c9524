/* table.h - rows of cells in aligned columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_TABLE_H
#define CLI_OUTPUT_TABLE_H

#include "base/memory/memory.h"
#include "cli/output/screen.h"

enum { TW_TABLE_COLUMNS = 16 };

enum { TW_TABLE_LEAST_TEXT = 16 }; /* columns that a text keeps where it is cut */

struct tw_table_column {
	const char *title; /* NULL: a table without a header line shows nothing above it */
	bool right;        /* numbers */
};

/* Set up: columns and column_count; the rest is 0. */
struct tw_table {
	const struct tw_table_column *columns;
	size_t column_count;
	const char *indent; /* before each line; NULL: none */
	bool headless;
	struct tw_text cells; /* terminated texts, row after row */
	size_t cell_count;
	size_t widths[TW_TABLE_COLUMNS];
	uint32_t hidden; /* a bit for each column that the terminal has no room for */
	bool failed;     /* there was no memory for a cell */
};

/* Writes at most `room` columns of a text; an ellipsis stands for what is cut off. */
void tw_put_cut(struct tw_output *out, const char *text, size_t room);

/* Writes one more of the columns that a terminal has no room for, in lines that it has room for. *at: 0 at first. The
 * caller closes the bracket. */
void tw_put_hidden(struct tw_screen *screen, const char *title, size_t *at);

/* Adds the next cell, row after row. Any bytes are fine. */
void tw_table_add(struct tw_table *table, const char *text);

/* The same of a text that may have zero bytes in it. */
void tw_table_add_bytes(struct tw_table *table, const char *bytes, size_t size);

/* Writes the table; in Markdown where the screen says so, with an empty line behind it. On a terminal it is as wide as
 * that: texts are cut, the last column first, then numbers on the right are left out, and named below the table. Frees
 * the cells: the table is empty again. Returns 0, or TW_EXIT_FAILED after saying that there was no memory. */
int tw_table_put(struct tw_table *table, struct tw_screen *screen);

#endif
