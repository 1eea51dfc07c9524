/* names.h - the programs that give names to functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_OPTIONS_NAMES_H
#define CLI_OPTIONS_NAMES_H

#include <trackway/reader.h>

struct tw_common;
struct tw_symbols;

/* All zero to begin. */
struct tw_name_sources {
	bool ids, addresses; /* what tells functions in the traces: ids, or addresses */
	char *list;          /* path of the list of loaded files beside one of the traces; NULL: there is none */
	bool lists_differ;   /* not all traces have the same list: none is used */
	const char **paths;  /* of traces that may tell of their programs */
	size_t path_count, path_room;
	bool no_memory;    /* to look at them */
	bool unsure;       /* one of the traces could not be looked at */
	const char **logs; /* paths of files that tell functions by ids */
	size_t log_count, log_room;
	struct tw_symbols *symbols;
};

/* The path of a --binary, "FILE" or "N=FILE". *number: of the shared object, where it is told. */
const char *tw_binary_path(const char *binary, uint64_t *number);

/* Looks at one of the traces: what tells its functions, and whether there is a list beside it. */
void tw_names_want(struct tw_name_sources *names, const struct tw_common *common, const char *path);

/* Opens what the options name, or else the list beside the trace, for the traces that were looked at. Returns 0, or
 * TW_EXIT_FAILED after saying why; close it in any case. */
int tw_names_open(struct tw_name_sources *names, const struct tw_common *common, struct tw_read_options *options);

/* Instead, where functions are not shown: names of files with several logs, whose numbers mean others in each. */
int tw_names_open_later(struct tw_name_sources *names, const struct tw_common *common, struct tw_read_options *options);

void tw_names_close(struct tw_name_sources *names);

#endif
