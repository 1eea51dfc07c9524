/* numbers.h - rows of numbers by tables: sorted, as cells, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_NUMBERS_H
#define CLI_OUTPUT_NUMBERS_H

#include "base/text/json.h"
#include "cli/output/show.h"
#include "cli/output/table.h"

/* A number of a row, a uint64_t. */
struct tw_number {
	size_t offset;
	const char *name;  /* in JSON */
	const char *title; /* of its column; NULL: it has none */
	const char *sort;  /* the word for --sort; NULL: rows cannot be sorted by it */
	struct tw_shown (*show)(uint64_t value);
};

/* Rows that are shown: in this order, the first `shown` of them. */
struct tw_list_rows {
	const void **items;
	size_t count, room, shown;
};

/* Adds a row; false when there is no memory. The owner frees items. */
bool tw_rows_add(struct tw_list_rows *rows, const void *row);

/* Sorts by the number of that word, the largest first, equal ones in the order they came in; rows of a word that no
 * number has stay in it. Then chooses the first `top` of them (0: all). */
void tw_rows_sort(struct tw_list_rows *rows, const struct tw_number *numbers, size_t count, const char *word,
                  uint64_t top);

/* Whether one of the numbers has that word for --sort. */
bool tw_numbers_have(const struct tw_number *numbers, size_t count, const char *word);

/* Word number i of --sort: those of the numbers, then "name"; NULL past the last. */
const char *tw_numbers_word(const struct tw_number *numbers, size_t count, size_t i);

void tw_numbers_titles(struct tw_table_column *columns, size_t *column_count, const struct tw_number *numbers,
                       size_t count);

/* Numbers of a row as cells, "-", and as members of an object, null, where it is NULL: they are not known. */
void tw_numbers_cells(struct tw_table *table, const void *row, const struct tw_number *numbers, size_t count);
void tw_numbers_json(struct tw_json *json, const void *row, const struct tw_number *numbers, size_t count);

/* What stands below a table that does not show all. */
void tw_rows_put_more(struct tw_screen *screen, const struct tw_list_rows *rows);

#endif
