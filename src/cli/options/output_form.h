/* output_form.h - in which form a listing is written: text, JSON, CSV or a picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPTIONS_OUTPUT_FORM_H
#define CLI_OPTIONS_OUTPUT_FORM_H

#include "cli/command.h"

enum tw_form { TW_FORM_TEXT, TW_FORM_JSON, TW_FORM_CSV, TW_FORM_SVG };

/* The options that ask for a form, beside --json and the ending of the output's name. */
struct tw_form_options {
	bool csv, csv_safe, svg;
};

enum tw_form tw_form_of(const struct tw_common *common, const struct tw_form_options *forms);

/* Returns 0, or TW_EXIT_FAILED after saying that more than one was asked for, or a picture for a terminal. */
int tw_check_form(const struct tw_command *command, const struct tw_common *common,
                  const struct tw_form_options *forms);

/* A field of CSV (base/text/csv.h), with quotes where it needs them. safe: what a spreadsheet would take for a formula
 * begins with an apostrophe. */
void tw_put_csv(struct tw_output *out, const char *bytes, size_t size, bool safe);

/* Options that several commands have as they are. offset: of `csv` in the command's struct. */
#define TW_OUTPUT_BY_NAME_HELP                                                                                         \
	"where to write; .csv and .svg tell the form, and .gz or .zst behind them the compression. - is standard "     \
	"output, the default"
#define TW_OPTION_OUTPUT_BY_NAME                                                                                       \
	{                                                                                                              \
		"output", 'o', TW_OPTION_FILE, offsetof(struct tw_common, output), .placeholder = "FILE",              \
										   .help = TW_OUTPUT_BY_NAME_HELP      \
	}
#define TW_OPTION_CSV_SAMPLES(offset)                                                                                  \
	{                                                                                                              \
		"csv", 0, TW_OPTION_FLAG, offset, .help = "write every sample: a line each, in the order of time"      \
	}
#define TW_OPTION_CSV_SAFE(offset)                                                                                     \
	{                                                                                                              \
		"csv-safe", 0, TW_OPTION_FLAG, offset,                                                                 \
		    .help = "CSV for a spreadsheet: a text that begins with =, +, - or @ has an apostrophe in front"   \
	}

#endif
