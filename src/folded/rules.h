/* rules.h - every rule of folded stacks: the enum, the messages and the manual come from this list. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FOLDED_RULES_H
#define FOLDED_RULES_H

#include <trackway/finding.h>

/* X(enumerator, name, severity, sentence). */
#define FOLDED_RULE_LIST(X)                                                                                            \
	X(FOLDED_COMPRESSION, "folded.compression", TW_ERROR,                                                          \
	  "The compressed file is damaged or cut: the rest of it is missing.")                                         \
	X(FOLDED_NO_COUNT, "folded.no-count", TW_ERROR,                                                                \
	  "A line does not end with a space and a number: it is left out.")                                            \
	X(FOLDED_COUNT_RANGE, "folded.count-range", TW_ERROR, "A count does not fit 64 bits: the line is left out.")   \
	X(FOLDED_LINE_TOO_LONG, "folded.line-too-long", TW_ERROR,                                                      \
	  "A line is longer than an eighth of the memory limit: it is left out.")                                      \
	X(FOLDED_CUT_LINE, "folded.cut-line", TW_NOTE, "The last line has no end: its count may be cut.")              \
	X(FOLDED_TWO_COUNTS, "folded.two-counts", TW_WARNING,                                                          \
	  "Lines have two counts, before and after: those after are taken; diff and flame show both.")                 \
	X(FOLDED_FRACTION, "folded.fraction", TW_NOTE, "A count is a fraction: it is rounded.")                        \
	X(FOLDED_NO_STACK, "folded.no-stack", TW_WARNING, "A count stands for an empty stack.")                        \
	X(FOLDED_EMPTY_FRAME, "folded.empty-frame", TW_NOTE, "A frame of a stack has no name.")                        \
	X(FOLDED_CRLF, "folded.crlf", TW_NOTE, "A line ends with CR LF.")                                              \
	X(FOLDED_UTF8, "folded.utf8", TW_WARNING, "A name is not UTF-8: its bytes are kept as they are.")              \
	X(FOLDED_NAME_LIMIT, "folded.name-limit", TW_WARNING,                                                          \
	  "There are more names and stacks than the memory limit allows: the rest of a stack is left out.")

enum folded_rule {
#define X(id, name, severity, text) id,
	FOLDED_RULE_LIST(X)
#undef X
	    FOLDED_RULES
};

extern const struct tw_rule folded_rules[FOLDED_RULES];

#endif
