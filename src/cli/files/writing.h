/* writing.h - events of a reader to a trace, with what was lost on the way: convert, cut, merge. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_WRITING_H
#define CLI_FILES_WRITING_H

#include "base/text/json.h"
#include "cli/command.h"
#include "core/tool.h"

#include <trackway/writer.h>

/* What became of a trace: of its events, or of its records where it was written record by record. */
struct tw_written {
	bool records;
	struct tw_copied passed; /* of records: how many were written, and lost bytes */
	uint64_t bytes_out;      /* before compression; 0 for a directory */
	struct tw_loss losses[TW_LOSSES];
	size_t loss_count;
};

struct tw_writing {
	const struct tw_common *common;
	const char *format, *output;
	struct tw_write_options write;
	bool strict;                /* losses are findings */
	struct tw_written *written; /* filled in by the functions below */
};

/* Sets output from --output, and format from --to or the output's name. `to` may be NULL. Returns 0, or TW_EXIT_FAILED
 * after saying what is wrong. */
int tw_choose_format(struct tw_writing *writing, const struct tw_command *command, const char *to);

/* Refuses a name that promises another kind of file, where a trace keeps its format. Returns 0 or TW_EXIT_FAILED. */
int tw_refuse_name(const struct tw_command *command, const char *output);

/* Sets output from --output, which must be there and no terminal. Returns as above. */
int tw_choose_output(struct tw_writing *writing, const struct tw_command *command);

/* Writes all events, and tells what the format could not hold, unless that is for --json. Returns enum tw_exit or the
 * reader's negative status. */
int tw_write_events(const struct tw_writing *writing, struct tw_reader *reader);

/* Writes a trace in its own format, record by record, and tells what was lost. Returns as above; TW_ERR_UNSUPPORTED
 * where the format is not written so. */
int tw_write_records(const struct tw_writing *writing, struct tw_reader *reader);

/* Writes what passes the reader's filters in its own format: its events, or its records where it is not written from
 * events. Returns as above. */
/* Refuses the name of another format than a trace has that is written in its own. Returns 0, or TW_EXIT_FAILED after
 * saying so. */
int tw_refuse_other_format(const char *output, const char *format);

int tw_write_part(const struct tw_writing *writing, struct tw_reader *reader);

/* Writes on standard output what became of a trace, as an object in JSON. from, path: the trace's format and
 * name. Returns enum tw_exit. */
int tw_written_put_json(const struct tw_writing *writing, const char *from, const char *path);

/* Adds what was written and lost to an object. */
void tw_written_put_fields(struct tw_json *json, const struct tw_writing *writing);

/* Refuses --json beside a trace that goes to standard output. Returns 0, or TW_EXIT_FAILED after saying so. */
int tw_refuse_two_outputs(const struct tw_common *common, const struct tw_command *command);

#endif
