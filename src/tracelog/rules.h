/* rules.h - the rules of TraceLog: names, severities and what they mean. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_RULES_H
#define TRACELOG_RULES_H

#include <trackway/finding.h>

/* Names are stable; doc/formats/tracelog.md says which of them are told once, with a count. */
#define TRACELOG_RULE_LIST(X)                                                                                          \
	X(TRACELOG_BAD_FIELD, "tracelog.bad-field", TW_ERROR,                                                          \
	  "A field of a record is missing or not as it should be: the line is left out.")                              \
	X(TRACELOG_BAD_ITEM, "tracelog.bad-item", TW_ERROR,                                                            \
	  "An item of a record's list is not as it should be: it is left out.")                                        \
	X(TRACELOG_NO_RECORD, "tracelog.no-record", TW_ERROR,                                                          \
	  "A line is no record, as the rest of a name with a line end in it: it is left out.")                         \
	X(TRACELOG_LONG_LINE, "tracelog.long-line", TW_ERROR,                                                          \
	  "A line is longer than the memory limit allows: it, or what is too much of it, is left out.")                \
	X(TRACELOG_COMPRESSION, "tracelog.compression", TW_ERROR,                                                      \
	  "The compressed file is damaged: the log ends early.")                                                       \
	X(TRACELOG_UNKNOWN_KIND, "tracelog.unknown-kind", TW_WARNING,                                                  \
	  "A line begins with two words that look like a kind of record, but there is none of this name.")             \
	X(TRACELOG_NUL, "tracelog.nul", TW_WARNING, "A text holds a NUL byte; it is kept.")                            \
	X(TRACELOG_UTF8, "tracelog.utf8", TW_WARNING, "A text is not valid UTF-8; its bytes are kept.")                \
	X(TRACELOG_CUT_LINE, "tracelog.cut-line", TW_NOTE,                                                             \
	  "The last line has no end, as in a log that is cut off while it is written.")                                \
	X(TRACELOG_EMPTY_LINE, "tracelog.empty-line", TW_NOTE, "A line is empty.")                                     \
	X(TRACELOG_CRLF, "tracelog.crlf", TW_NOTE, "A line ends in CR LF, not LF.")                                    \
	X(TRACELOG_BLANKS, "tracelog.blanks", TW_NOTE,                                                                 \
	  "Tabs, or other than one space between fields, or spaces before or behind them.")                            \
	X(TRACELOG_BOM, "tracelog.bom", TW_NOTE, "A byte order mark stands before a line.")                            \
	X(TRACELOG_CASE, "tracelog.case", TW_NOTE,                                                                     \
	  "A pointer is written in lower-case digits, or another number in those of both cases.")                      \
	X(TRACELOG_DIGITS, "tracelog.digits", TW_NOTE, "A number has more or fewer digits than the field has.")        \
	X(TRACELOG_QUOTES, "tracelog.quotes", TW_NOTE,                                                                 \
	  "A text has quotes in it: where it ends is a guess, at the last that can be the end.")                       \
	X(TRACELOG_NEGATIVE_US, "tracelog.negative-usage", TW_NOTE,                                                    \
	  "A CPU usage is written as a negative number, not as 64 bits without sign.")                                 \
	X(TRACELOG_UNSIGNED_MS, "tracelog.unsigned-time", TW_NOTE,                                                     \
	  "A time from 2147483648 ms on is written without sign; the profiler writes a negative number.")

enum tracelog_rule {
#define X(id, name, severity, text) id,
	TRACELOG_RULE_LIST(X)
#undef X
	    TRACELOG_RULES
};

extern const struct tw_rule tracelog_rules[TRACELOG_RULES];

#endif
