/* rules.h - every rule of uftrace's data: the enum, the messages and the manual come from this list. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UFTRACE_RULES_H
#define UFTRACE_RULES_H

#include <trackway/finding.h>

/* X(enumerator, name, severity, sentence). */
#define UFTRACE_RULE_LIST(X)                                                                                           \
	X(UFTRACE_BAD_RECORD, "uftrace.bad-record", TW_ERROR,                                                          \
	  "Bytes that are no record are skipped up to the next that fits.")                                            \
	X(UFTRACE_CUT_RECORD, "uftrace.cut-record", TW_NOTE,                                                           \
	  "The file ends inside a record, as a program that was killed leaves it.")                                    \
	X(UFTRACE_BAD_LINE, "uftrace.bad-line", TW_WARNING,                                                            \
	  "A line of task.txt, of a map or of a symbol file cannot be read: it is left out.")                          \
	X(UFTRACE_UNREADABLE, "uftrace.unreadable", TW_ERROR,                                                          \
	  "A file of the directory cannot be read: its names, or its thread, are left out.")                           \
	X(UFTRACE_LOST, "uftrace.lost", TW_WARNING, "The recorder had no room: it lost records.")                      \
	X(UFTRACE_TIME_BACK, "uftrace.time-back", TW_WARNING, "Time goes backwards within a thread.")                  \
	X(UFTRACE_DEPTH, "uftrace.depth", TW_WARNING,                                                                  \
	  "A record is deeper than the one before it allows: records between are missing.")                            \
	X(UFTRACE_NO_TASKS, "uftrace.no-tasks", TW_WARNING,                                                            \
	  "There is no task.txt, or nothing in it: programs, and which process a thread is of, are not known.")        \
	X(UFTRACE_NO_MAP, "uftrace.no-map", TW_WARNING,                                                                \
	  "The map of a session is missing: its functions have no names.")                                             \
	X(UFTRACE_NO_SYMBOLS, "uftrace.no-symbols", TW_WARNING,                                                        \
	  "The symbol file of a program or library is missing: its functions have no names.")                          \
	X(UFTRACE_NOT_READ, "uftrace.not-read", TW_WARNING,                                                            \
	  "Of what was recorded of the kernel, kernel_header does not tell what it is: it is left out.")               \
	X(UFTRACE_NAME_LIMIT, "uftrace.name-limit", TW_WARNING,                                                        \
	  "There are more symbols and addresses than the memory limit allows: the rest is shown as one.")              \
	X(UFTRACE_THREAD_LIMIT, "uftrace.thread-limit", TW_ERROR,                                                      \
	  "There are more threads than the memory limit allows, or than 1,048,576: the rest is left out.")

enum uftrace_rule {
#define X(id, name, severity, text) id,
	UFTRACE_RULE_LIST(X)
#undef X
	    UFTRACE_RULES
};

extern const struct tw_rule uftrace_rules[UFTRACE_RULES];

#endif
