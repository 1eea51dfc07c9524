/* finding.h - what is wrong in a trace, and where. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_FINDING_H
#define TRACKWAY_FINDING_H

#include <stdint.h>

#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tw_severity {
	TW_NOTE,    /* legal but worth knowing: nothing is lost */
	TW_WARNING, /* the writer did something wrong; the data was read as it was meant */
	TW_ERROR    /* the format is broken here; bytes or meaning are lost */
};

/* One thing found wrong. Damage in the input is a finding, never a status. All pointers are borrowed: they live until
 * the function that was given the finding returns (rule and severity names are constants). */
struct tw_finding {
	enum tw_severity severity;
	const char *rule; /* "fdr.extents-wrong": stable, listed in the manual */
	const char *file; /* the name that the input was opened by */
	uint64_t record;  /* byte offset of the record that breaks the rule */
	uint64_t at;      /* byte offset of the guilty byte */
	uint64_t line;    /* text formats: the line, from 1; otherwise 0 */
	uint64_t column;  /* text formats: which byte of its line the guilty byte is, from 1; otherwise 0 */
	const char *text; /* one sentence: what was expected, what is there */
};

/* Receives findings as a reader meets them. It must not call the reader. */
typedef void (*tw_finding_fn)(void *context, const struct tw_finding *finding);

/* A rule of a format, for the manual and for tests. */
struct tw_rule {
	const char *name;
	enum tw_severity severity;
	const char *text; /* one sentence */
};

/* Returns "note", "warning" or "error". */
TW_API const char *tw_severity_name(enum tw_severity severity);

#ifdef __cplusplus
}
#endif

#endif
