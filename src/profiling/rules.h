/* rules.h - every rule of xray-profiling logs: the enum, the messages and the manual come from this list. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILING_RULES_H
#define PROFILING_RULES_H

#include <trackway/finding.h>

/* X(enumerator, name, severity, sentence). */
#define PROFILING_RULE_LIST(X)                                                                                         \
	X(PROFILING_COMPRESSION, "xray-profiling.compression", TW_ERROR,                                               \
	  "The compressed file is damaged or cut: the rest of it is missing.")                                         \
	X(PROFILING_ANOTHER_LOG, "xray-profiling.another-log", TW_NOTE,                                                \
	  "Another log follows in the file: both are read.")                                                           \
	X(PROFILING_FOREIGN_LOG, "xray-profiling.foreign-log", TW_NOTE,                                                \
	  "A log of another kind follows in the file: both are read.")                                                 \
	X(PROFILING_TOO_MANY_LOGS, "xray-profiling.too-many-logs", TW_ERROR,                                           \
	  "More logs of other kinds follow in the file than are read.")                                                \
	X(PROFILING_BAD_VERSION, "xray-profiling.version", TW_WARNING, "The version is not the known one.")            \
	X(PROFILING_NO_PATHS, "xray-profiling.empty", TW_WARNING, "The log has no paths.")                             \
	X(PROFILING_CUT_BLOCK, "xray-profiling.cut-block", TW_ERROR,                                                   \
	  "The file ends before its last block: what there is of it is read.")                                         \
	X(PROFILING_BAD_SIZE, "xray-profiling.block-size", TW_ERROR,                                                   \
	  "The size of a block does not lead to where the next one begins.")                                           \
	X(PROFILING_NO_BLOCK, "xray-profiling.no-block", TW_ERROR, "There are bytes that belong to no block.")         \
	X(PROFILING_BAD_PATH, "xray-profiling.path", TW_ERROR, "There are bytes in a block that are no path.")         \
	X(PROFILING_BAD_NUMBER, "xray-profiling.block-number", TW_NOTE,                                                \
	  "The numbers of the blocks are not 0, 1, 2 and so on.")                                                      \
	X(PROFILING_NO_CALLER, "xray-profiling.no-caller", TW_NOTE,                                                    \
	  "A path leads over one that has no counts of its own.")                                                      \
	X(PROFILING_LONG_CALLEES, "xray-profiling.long-callees", TW_NOTE,                                              \
	  "The functions called on a path took longer than the path: its own time is 0.")                              \
	X(PROFILING_LIMIT, "xray-profiling.limit", TW_WARNING,                                                         \
	  "There are more paths than the memory limit allows: the rest is left out.")

enum profiling_rule {
#define X(id, name, severity, text) id,
	PROFILING_RULE_LIST(X)
#undef X
	    PROFILING_RULES
};

extern const struct tw_rule profiling_rules[PROFILING_RULES];

#endif
