/* findings.h - collecting what a reader finds wrong, within bounds, and listing it in order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_FINDINGS_H
#define CLI_FILES_FINDINGS_H

#include "base/bytes/output.h"

#include <trackway/finding.h>

struct tw_findings_rule;

/* One finding that was kept. */
struct tw_kept {
	enum tw_severity severity;
	const char *rule;
	uint64_t record, at, line, column;
	char *text;
	const char *file; /* in the same memory as text, behind it */
};

/* The findings of one file: of each rule those with the smallest offsets, and how many there were. */
struct tw_findings {
	size_t limit; /* of findings kept of each rule */
	struct tw_findings_rule *rules;
	size_t rule_count, rule_room;
	uint64_t dropped;  /* findings that there was no memory for */
	uint64_t unjudged; /* findings that tw_findings_keep() could not look at, because they had not been kept */
};

/* A tw_finding_fn; context is a struct tw_findings. */
void tw_findings_add(void *context, const struct tw_finding *finding);

struct tw_findings_list {
	void (*put)(void *context, const struct tw_kept *finding);
	void (*more)(void *context, const char *rule, uint64_t count); /* there were `count` more of this rule */
	void *context;
	size_t notes; /* how many notes of each rule are put; 0: all that were kept */
};

/* Calls put for each finding kept of at least that severity, by offset of the record; then more for each rule of which
 * not all were put. Returns false when there was no memory for some. */
bool tw_findings_each(const struct tw_findings *findings, enum tw_severity least, const struct tw_findings_list *list);

/* Keeps the findings for which `wanted` is true, of each rule the first `most`. The others are not counted any more.
 * Neither are those that had not been kept, since `wanted` cannot be asked about them: they are counted as unjudged. */
void tw_findings_keep(struct tw_findings *findings, size_t most,
                      bool (*wanted)(void *context, const struct tw_kept *kept), void *context);

/* Calls visit for each finding kept, in any order. */
void tw_findings_visit(const struct tw_findings *findings, void (*visit)(void *context, const struct tw_kept *kept),
                       void *context);

/* How many findings of a severity there were. */
uint64_t tw_findings_count(const struct tw_findings *findings, enum tw_severity severity);

/* Forgets all; limit stays. */
void tw_findings_clear(struct tw_findings *findings);

#endif
