/* answer.h - what a server answers: input, as any other. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_ANSWER_H
#define LOAD_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOAD_ANSWER_MOST = 16 << 20, LOAD_CELLS = 8, LOAD_LINE = 400 };

/* Some bytes of an answer. */
struct load_cell {
	const char *bytes;
	size_t size;
};

/* Reads the next row of a text in the format TabSeparated from *at on, which is set behind it. Returns how many cells
 * it has; those beyond LOAD_CELLS are not told. 0: there is no more. */
unsigned load_next_row(const char *bytes, size_t size, size_t *at, struct load_cell cells[LOAD_CELLS]);

/* Takes a number; false where the cell is none of 64 bits. */
bool load_cell_number(const struct load_cell *cell, uint64_t *number);

bool load_cell_is(const struct load_cell *cell, const char *text);

/* Writes what a server says is wrong as one line of printable text, without what repeats on every such line.
 * Returns the number of the error, 0 where it is not told. "Code: 60, e.displayText() = DB::Exception: Table x does not
 * exist" */
unsigned load_error_line(const char *bytes, size_t size, char line[LOAD_LINE]);

#endif
