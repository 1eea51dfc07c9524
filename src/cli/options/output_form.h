/* output_form.h - in which form a listing is written: by an option, or by the name of the output. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPTIONS_OUTPUT_FORM_H
#define CLI_OPTIONS_OUTPUT_FORM_H

#include "cli/command.h"

/* Sets form, json and from_rows of the options. A form that an option asks for comes before that of the name. Returns
 * 0, or TW_EXIT_FAILED after saying that more than one was asked for, that the command cannot write what the name
 * tells, or that a picture would go to a terminal. */
int tw_choose_form(const struct tw_command *command, struct tw_common *common);

/* What no command writes by the ending of a name, as ".png"; NULL: it has none of these endings. */
const char *tw_unwritten_ending(const char *path);

/* Options of commands that write samples as CSV, and pictures. */
#define TW_OUTPUT_BY_NAME_HELP                                                                                         \
	"where to write; .json, .csv, .md and .svg tell the form, and .gz or .zst behind them the compression. - is "  \
	"standard output, the default"
#define TW_OPTION_OUTPUT_BY_NAME                                                                                       \
	{                                                                                                              \
		"output", 'o', TW_OPTION_FILE, offsetof(struct tw_common, output), .placeholder = "FILE",              \
										   .help = TW_OUTPUT_BY_NAME_HELP      \
	}
#define TW_OPTION_JSON_ROWS(row)                                                                                       \
	{                                                                                                              \
		"json", 0, TW_OPTION_FLAG, offsetof(struct tw_common, forms.json),                                     \
		    .help = "write JSON Lines: an object a " row                                                       \
	}
#define TW_OPTION_CSV_HELP(text)                                                                                       \
	{                                                                                                              \
		"csv", 0, TW_OPTION_FLAG, offsetof(struct tw_common, forms.csv), .help = text                          \
	}
#define TW_OPTION_CSV_SAFE(offset)                                                                                     \
	{                                                                                                              \
		"csv-safe", 0, TW_OPTION_FLAG, offset,                                                                 \
		    .help = "CSV for a spreadsheet: a text that begins with =, +, - or @ has an apostrophe in front"   \
	}
#define TW_OPTION_CSV_SAFE_ROWS TW_OPTION_CSV_SAFE(offsetof(struct tw_common, forms.csv_safe))
#define TW_OPTION_CSV_SAMPLES TW_OPTION_CSV_HELP("write every sample: a line each, in the order of time")
#define TW_OPTION_CSV_ROWS TW_OPTION_CSV_HELP("write comma-separated values: the columns are the names of --json")
#define TW_OPTION_MARKDOWN                                                                                             \
	{                                                                                                              \
		"markdown", 0, TW_OPTION_FLAG, offsetof(struct tw_common, forms.markdown),                             \
		    .help = "write tables in Markdown"                                                                 \
	}
#define TW_OPTION_SVG(text)                                                                                            \
	{                                                                                                              \
		"svg", 0, TW_OPTION_FLAG, offsetof(struct tw_common, forms.svg), .help = text                          \
	}

#endif
