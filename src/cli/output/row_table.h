/* row_table.h - rows in JSON as a table: CSV or Markdown. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_ROW_TABLE_H
#define CLI_OUTPUT_ROW_TABLE_H

#include "base/bytes/output.h"

#include <stdio.h>

enum tw_row_table_form { TW_ROWS_CSV, TW_ROWS_CSV_SAFE, TW_ROWS_MARKDOWN };

/* Reads JSON Lines, as struct tw_json writes them, from the beginning of a file, twice, and writes a table: a column
 * for each name that any of them has, in the order in which they first come. A member of an object inside is a column
 * "OUTER.INNER"; an array of plain values is one field, with ";" between them; null is empty. No lines make no table.
 * Returns false when there is no memory. */
bool tw_row_table_put(struct tw_output *out, FILE *rows, enum tw_row_table_form form);

#endif
