/* rules.h - every rule of xtrace: the enum, the messages and the manual come from this list. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_RULES_H
#define XTRACE_RULES_H

#include <trackway/finding.h>

/* X(enumerator, name, severity, sentence). */
#define XTRACE_RULE_LIST(X)                                                                                            \
	X(XTRACE_COMPRESSION, "xtrace.compression", TW_ERROR,                                                          \
	  "The compressed file is damaged or cut: the rest of it is missing.")                                         \
	X(XTRACE_UNKNOWN_TOKEN, "xtrace.unknown-token", TW_ERROR,                                                      \
	  "A byte that is no token, or a token that cannot be so long.")                                               \
	X(XTRACE_RESERVED_TOKEN, "xtrace.reserved-token", TW_ERROR,                                                    \
	  "A token that the document counts and does not describe: its length is not known.")                          \
	X(XTRACE_CUT_TOKEN, "xtrace.cut-token", TW_ERROR, "The data file ends inside a token.")                        \
	X(XTRACE_SNAPSHOT_LAYOUT, "xtrace.snapshot-layout", TW_ERROR,                                                  \
	  "The snapshot file makes sense in no layout: it is left out.")                                               \
	X(XTRACE_SNAPSHOT_LENGTH, "xtrace.snapshot-length", TW_ERROR,                                                  \
	  "A snapshot does not end with the vector length.")                                                           \
	X(XTRACE_SNAPSHOT_ORDER, "xtrace.snapshot-order", TW_ERROR,                                                    \
	  "A snapshot's counters or its index are not behind those of the one before.")                                \
	X(XTRACE_SNAPSHOT_CUT, "xtrace.snapshot-cut", TW_ERROR, "The snapshot file ends inside a snapshot.")

enum xtrace_rule {
#define X(id, name, severity, text) id,
	XTRACE_RULE_LIST(X)
#undef X
	    XTRACE_RULES
};

extern const struct tw_rule xtrace_rules[XTRACE_RULES];

#endif
