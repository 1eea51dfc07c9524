/* source.h - options for a trace in a database: how it is known, its day, its labels. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LOAD_SOURCE_H
#define CLI_LOAD_SOURCE_H

#include "base/bytes/sha256.h"
#include "cli/files/findings.h"

#include <trackway/clickhouse.h>

#include <stdbool.h>

/* All zero to begin. */
struct tw_source_facts {
	struct tw_clickhouse_options options;
	char trace[2 * TW_SHA256_BYTES + 1];
	bool named; /* the trace is a file, or several: its bytes have a digest */
};

/* Finds the digest of a trace's bytes, or of those of its files in the order of their names, its size and day; of what
 * is no regular file nothing is found. findings: of its reader. Returns 0, or TW_EXIT_FAILED after saying why not. */
int tw_source_find(struct tw_source_facts *facts, const char *path, struct tw_findings *findings);

/* Takes a day, "2026-11-29"; days since 1970, 0 where it is none. */
unsigned tw_day_parse(const char *text);

/* The same as text. */
struct tw_day_text {
	char text[16];
};
struct tw_day_text tw_day_show(unsigned day);

#endif
