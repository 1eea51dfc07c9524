/* cells.h - a field of a table in CSV and in Markdown. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OUTPUT_CELLS_H
#define CLI_OUTPUT_CELLS_H

#include "base/bytes/output.h"

/* A field of CSV (base/text/csv.h), with quotes where it needs them. safe: what a spreadsheet would take for a formula
 * begins with an apostrophe. */
void tw_put_csv(struct tw_output *out, const char *bytes, size_t size, bool safe);

/* A cell of Markdown's tables (GFM): what has a meaning there stands behind "\", a line end is "<br>". */
void tw_put_markdown(struct tw_output *out, const char *bytes, size_t size);
void tw_put_markdown_text(struct tw_output *out, const char *text);

#endif
