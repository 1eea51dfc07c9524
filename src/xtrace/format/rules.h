/* rules.h - every rule of xtrace: the enum, the messages and the manual come from this list. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_FORMAT_RULES_H
#define XTRACE_FORMAT_RULES_H

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
	X(XTRACE_SNAPSHOT_CUT, "xtrace.snapshot-cut", TW_ERROR, "The snapshot file ends inside a snapshot.")           \
	X(XTRACE_SNAPSHOT_INDEX, "xtrace.snapshot-index", TW_ERROR,                                                    \
	  "No instruction begins in the data file where a snapshot's index says.")                                     \
	X(XTRACE_SNAPSHOT_COUNT, "xtrace.snapshot-count", TW_WARNING,                                                  \
	  "There are not as many instructions between two snapshots as their counters say.")                           \
	X(XTRACE_SNAPSHOT_SPACING, "xtrace.snapshot-spacing", TW_NOTE,                                                 \
	  "More than a million instructions, of those that the header divides by, have no snapshot between them.")     \
	X(XTRACE_SNAPSHOTS_MISSING, "xtrace.snapshots-missing", TW_NOTE,                                               \
	  "A data file has no snapshot file: its instructions cannot be executed again.")                              \
	X(XTRACE_DATA_MISSING, "xtrace.data-missing", TW_ERROR, "A snapshot file has no data file.")                   \
	X(XTRACE_HEADER_RESERVED, "xtrace.header-reserved", TW_NOTE, "Bytes behind the header's fields are not 0.")    \
	X(XTRACE_HEADER_VALUE, "xtrace.header-value", TW_WARNING,                                                      \
	  "A field of the header that is 0 or 1 has another value.")                                                   \
	X(XTRACE_HEADER_STREAM, "xtrace.header-stream", TW_WARNING,                                                    \
	  "The header tells of a thread's stream, and the file's name of a core's.")                                   \
	X(XTRACE_HEADER_ORDER, "xtrace.header-order", TW_WARNING,                                                      \
	  "The header says that there are TIMEs, and there is none, or the other way round.")                          \
	X(XTRACE_HEADER_GLOBAL, "xtrace.header-global", TW_WARNING,                                                    \
	  "The global snapshot point is behind the last snapshot of the file.")                                        \
	X(XTRACE_HEADERS_DIFFER, "xtrace.headers-differ", TW_WARNING,                                                  \
	  "Files of a set have headers that differ in more than the order of accesses.")                               \
	X(XTRACE_NUMBER_TWICE, "xtrace.number-twice", TW_WARNING,                                                      \
	  "A thread and a core, or two cores, of a set have the same number.")                                         \
	X(XTRACE_PC_UNKNOWN, "xtrace.pc-unknown", TW_ERROR, "An INST comes before any PCINST: its PC is not known.")   \
	X(XTRACE_PC_UNALIGNED, "xtrace.pc-unaligned", TW_WARNING, "A PC is no multiple of 4.")                         \
	X(XTRACE_INST_AFTER_BRANCH, "xtrace.inst-after-branch", TW_ERROR,                                              \
	  "An INST, whose PC is the last one and 4, follows a branch that goes elsewhere.")                            \
	X(XTRACE_BRANCH_TARGET, "xtrace.branch-target", TW_WARNING,                                                    \
	  "After a direct branch the PC is neither where it goes nor, if it is conditional, behind it.")               \
	X(XTRACE_TARGET_DIFFERS, "xtrace.target-differs", TW_WARNING,                                                  \
	  "The PC after an indirect branch is not what TARGET_B says.")                                                \
	X(XTRACE_PC_JUMP, "xtrace.pc-jump", TW_NOTE,                                                                   \
	  "The PC changes without a branch, as by a signal or an interrupt.")                                          \
	X(XTRACE_LEFT_OUT, "xtrace.left-out", TW_NOTE,                                                                 \
	  "Behind ALLGPR the PC jumps to where a snapshot is, as between windows or marks.")                           \
	X(XTRACE_ACCESS_UNEXPECTED, "xtrace.access-unexpected", TW_WARNING,                                            \
	  "A LOAD or STORE follows an instruction that does not load or store.")                                       \
	X(XTRACE_ACCESS_SIZE, "xtrace.access-size", TW_WARNING, "An instruction accesses more bytes than it can.")     \
	X(XTRACE_ACCESS_MISSING, "xtrace.access-missing", TW_WARNING,                                                  \
	  "An instruction accesses fewer bytes than it does.")                                                         \
	X(XTRACE_ACCESS_BASE, "xtrace.access-base", TW_WARNING,                                                        \
	  "Accesses of an instruction are apart, or not where its opcode says.")                                       \
	X(XTRACE_VALUE_UNEXPECTED, "xtrace.value-unexpected", TW_WARNING,                                              \
	  "A token of a register follows an instruction that it does not belong to.")                                  \
	X(XTRACE_VALUE_MISSING, "xtrace.value-missing", TW_WARNING,                                                    \
	  "An instruction is not followed by the token that tells of its register.")                                   \
	X(XTRACE_STXR_VALUE, "xtrace.stxr-value", TW_WARNING,                                                          \
	  "An exclusive store's status is not 0 (it stored) or 1 (it did not), or not what it did.")                   \
	X(XTRACE_EXCLUSIVE_ALONE, "xtrace.exclusive-alone", TW_WARNING,                                                \
	  "An exclusive store succeeds without an exclusive load of its address before.")                              \
	X(XTRACE_SVC_ARGUMENTS, "xtrace.svc-arguments", TW_WARNING,                                                    \
	  "A system call is not followed by its number and six arguments.")                                            \
	X(XTRACE_SVC_RETURN, "xtrace.svc-return", TW_WARNING, "A program goes on after a system call without SVCRET.") \
	X(XTRACE_STXR_LOAD, "xtrace.stxr-load", TW_NOTE, "A STXR follows an exclusive load, which has no status.")     \
	X(XTRACE_FLAGS_MISSING, "xtrace.flags-missing", TW_NOTE,                                                       \
	  "MISC_FLAGS does not follow a conditional select, or MRS of RNDR or RNDRRS.")                                \
	X(XTRACE_FLAGS_RESERVED, "xtrace.flags-reserved", TW_NOTE, "MISC_FLAGS has bits beside N, Z, C and V.")        \
	X(XTRACE_LEVEL_REGISTERS, "xtrace.level-registers", TW_NOTE, "The exception level changes without ALLGPR.")    \
	X(XTRACE_TIME_ORDER, "xtrace.time-order", TW_WARNING, "A TIME is not behind the one before it in its file.")   \
	X(XTRACE_TIME_ALONE, "xtrace.time-alone", TW_WARNING, "A TIME follows no LOAD, STORE or system call.")         \
	X(XTRACE_MEMORY_LIMIT, "xtrace.memory-limit", TW_WARNING,                                                      \
	  "There are more functions, or calls inside each other, than the memory limit allows.")                       \
	X(XTRACE_TIME_TWICE, "xtrace.time-twice", TW_WARNING, "Two files of a set have the same TIME.")                \
	X(XTRACE_NO_ORDER, "xtrace.no-order", TW_WARNING,                                                              \
	  "Several threads have no TIME: nothing tells what came first.")

enum xtrace_rule {
#define X(id, name, severity, text) id,
	XTRACE_RULE_LIST(X)
#undef X
	    XTRACE_RULES
};

extern const struct tw_rule xtrace_rules[XTRACE_RULES];

#endif
