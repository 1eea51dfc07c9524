/* rules.h - the rules of TraceLog: names, severities and what they mean. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_FORMAT_RULES_H
#define TRACELOG_FORMAT_RULES_H

#include <trackway/finding.h>

/* Names are stable; doc/formats/tracelog.md says which of them are reported once, with a count. */
#define TRACELOG_RULE_LIST(X)                                                                                          \
	X(TRACELOG_BAD_FIELD, "tracelog.bad-field", TW_ERROR,                                                          \
	  "A field of a record is missing or not as it should be: the line is left out.")                              \
	X(TRACELOG_BAD_ITEM, "tracelog.bad-item", TW_ERROR,                                                            \
	  "An item of a record's list is not as it should be: it is left out.")                                        \
	X(TRACELOG_SURPLUS, "tracelog.surplus", TW_WARNING,                                                            \
	  "Something stands behind the last field of a record: the record is taken without it.")                       \
	X(TRACELOG_NO_RECORD, "tracelog.no-record", TW_ERROR,                                                          \
	  "A line is no record, as the rest of a name with a line end in it: it is left out.")                         \
	X(TRACELOG_LONG_LINE, "tracelog.long-line", TW_ERROR,                                                          \
	  "A line is longer than the memory limit allows: it is left out.")                                            \
	X(TRACELOG_LONG_LIST, "tracelog.long-list", TW_WARNING,                                                        \
	  "A list has more items than the memory limit allows to show: the rest of it is left out of the listing.")    \
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
	  "A time from 2147483648 ms on is written without sign; the profiler writes a negative number.")              \
	X(TRACELOG_START_LATE, "tracelog.start-late", TW_WARNING,                                                      \
	  "Records stand before the start of the session (prf stm).")                                                  \
	X(TRACELOG_START_AGAIN, "tracelog.start-again", TW_NOTE,                                                       \
	  "Another session starts: a process of its own, placed by the difference of the two starts.")                 \
	X(TRACELOG_PDB_OTHER, "tracelog.pdb-other", TW_WARNING,                                                        \
	  "A PDB is of another build than its assembly: it is not used.")                                              \
	X(TRACELOG_PDB_DAMAGED, "tracelog.pdb-damaged", TW_WARNING,                                                    \
	  "A PDB, or a method in it, cannot be read: source lines are missing.")                                       \
	X(TRACELOG_DIALECTS_MIXED, "tracelog.dialects-mixed", TW_WARNING,                                              \
	  "A record is of another dialect than those before it can be of.")                                            \
	X(TRACELOG_SETTING_VALUE, "tracelog.setting-value", TW_WARNING,                                                \
	  "A setting has a value that is none of those that it can have.")                                             \
	X(TRACELOG_SETTING_AGAIN, "tracelog.setting-again", TW_WARNING,                                                \
	  "A setting is told again, with another value.")                                                              \
	X(TRACELOG_SETTING_CONTRADICTED, "tracelog.setting-contradicted", TW_WARNING,                                  \
	  "There is a record, or an instruction pointer, of what the settings switch off.")                            \
	X(TRACELOG_TIME_BACKWARDS, "tracelog.time-backwards", TW_WARNING, "The times of a thread go back.")            \
	X(TRACELOG_PAUSE_AGAIN, "tracelog.pause-again", TW_WARNING, "Profiling is paused while it is paused.")         \
	X(TRACELOG_RESUME_WITHOUT_PAUSE, "tracelog.resume-without-pause", TW_WARNING,                                  \
	  "Profiling is resumed while it is not paused.")                                                              \
	X(TRACELOG_SAMPLE_WHILE_PAUSED, "tracelog.sample-while-paused", TW_WARNING,                                    \
	  "A sample is taken while profiling is paused.")                                                              \
	X(TRACELOG_USAGE_WHILE_PAUSED, "tracelog.usage-while-paused", TW_WARNING,                                      \
	  "A CPU usage is told while profiling is paused: it belongs to what follows the resume.")                     \
	X(TRACELOG_THREAD_UNKNOWN, "tracelog.thread-unknown", TW_WARNING,                                              \
	  "A thread is used that was not created before.")                                                             \
	X(TRACELOG_THREAD_DESTROYED, "tracelog.thread-destroyed", TW_WARNING,                                          \
	  "A thread is used after it was destroyed.")                                                                  \
	X(TRACELOG_THREAD_AGAIN, "tracelog.thread-again", TW_WARNING,                                                  \
	  "A thread is created with the number of another.")                                                           \
	X(TRACELOG_THREAD_POINTER, "tracelog.thread-pointer", TW_WARNING,                                              \
	  "A thread is created at the pointer of one that was not destroyed.")                                         \
	X(TRACELOG_OS_THREAD_SHARED, "tracelog.os-thread-shared", TW_WARNING,                                          \
	  "A thread is assigned to a thread of the system that another, which lives, runs on.")                        \
	X(TRACELOG_THREAD_OF_SYSTEM, "tracelog.thread-of-system", TW_NOTE,                                             \
	  "A thread of the system that no managed thread was assigned to does something.")                             \
	X(TRACELOG_DOMAIN_UNKNOWN, "tracelog.domain-unknown", TW_WARNING,                                              \
	  "An application domain is referred to and never announced.")                                                 \
	X(TRACELOG_PROCESS_AGAIN, "tracelog.process-again", TW_WARNING,                                                \
	  "An application domain is of another process than those before it.")                                         \
	X(TRACELOG_PROCESS_NO_THREAD, "tracelog.process-no-thread", TW_NOTE,                                           \
	  "No thread was assigned to the main one of the process before: the Visual Studio plug-in stops here.")       \
	X(TRACELOG_ASSEMBLY_UNKNOWN, "tracelog.assembly-unknown", TW_WARNING,                                          \
	  "An assembly is referred to and never announced.")                                                           \
	X(TRACELOG_MODULE_UNKNOWN, "tracelog.module-unknown", TW_WARNING,                                              \
	  "A module is referred to and never announced.")                                                              \
	X(TRACELOG_MODULE_AGAIN, "tracelog.module-attached-again", TW_WARNING,                                         \
	  "A module is attached to another assembly than the one that it is of.")                                      \
	X(TRACELOG_CLASS_UNKNOWN, "tracelog.class-unknown", TW_WARNING, "A class is referred to and never announced.") \
	X(TRACELOG_FUNCTION_UNKNOWN, "tracelog.function-unknown", TW_WARNING,                                          \
	  "A function is referred to and never announced.")                                                            \
	X(TRACELOG_FUNCTION_UNNAMED, "tracelog.function-unnamed", TW_NOTE,                                             \
	  "A function is never named, as when the runtime was shut down first.")                                       \
	X(TRACELOG_CLASS_UNNAMED, "tracelog.class-unnamed", TW_NOTE,                                                   \
	  "A class is never named, in a log that names classes.")                                                      \
	X(TRACELOG_NAME_MISSING, "tracelog.name-missing", TW_NOTE,                                                     \
	  "A name is what the profiler writes for one that it could not find out.")                                    \
	X(TRACELOG_NAME_AGAIN, "tracelog.name-again", TW_WARNING, "A class or function gets another name.")            \
	X(TRACELOG_IID_AGAIN, "tracelog.iid-again", TW_WARNING,                                                        \
	  "A number that is never used again is announced with another meaning.")                                      \
	X(TRACELOG_POINTER_REUSED, "tracelog.pointer-reused", TW_NOTE,                                                 \
	  "A pointer is announced again, as something else: what it was is taken to be gone.")                         \
	X(TRACELOG_STATUS, "tracelog.status", TW_NOTE, "The runtime tells of a failure (HRESULT).")                    \
	X(TRACELOG_MAP_REVERSED, "tracelog.map-reversed", TW_WARNING, "A range of an IL map ends before it starts.")   \
	X(TRACELOG_MAP_OUTSIDE, "tracelog.map-outside-code", TW_WARNING,                                               \
	  "A range of an IL map lies outside the function's code.")                                                    \
	X(TRACELOG_MAP_OVERLAP, "tracelog.map-overlap", TW_WARNING,                                                    \
	  "Ranges of an IL map overlap: the first that has an instruction holds.")                                     \
	X(TRACELOG_IP_OUTSIDE_CODE, "tracelog.ip-outside-code", TW_NOTE,                                               \
	  "An instruction pointer lies outside the code of its function, as where that was compiled again.")           \
	X(TRACELOG_LINE_UNKNOWN, "tracelog.line-unknown", TW_WARNING,                                                  \
	  "A number stands in the place of an instruction pointer that is no line of the source told before.")         \
	X(TRACELOG_LINE_EARLY, "tracelog.line-before-function", TW_NOTE,                                               \
	  "A line of the source is of a function that was not announced before.")                                      \
	X(TRACELOG_SOURCE_AGAIN, "tracelog.source-again", TW_WARNING,                                                  \
	  "A file or a line of the source is told again, as another one.")                                             \
	X(TRACELOG_FILE_UNKNOWN, "tracelog.file-unknown", TW_WARNING,                                                  \
	  "A line of the source is in a file that was not named before.")                                              \
	X(TRACELOG_DEPTH_MISMATCH, "tracelog.depth-mismatch", TW_WARNING,                                              \
	  "A sample changes a stack of another depth than the thread has: samples were lost.")                         \
	X(TRACELOG_MATCH_ABOVE_SIZE, "tracelog.match-above-size", TW_WARNING,                                          \
	  "More frames of a stack are said to stay than it has.")                                                      \
	X(TRACELOG_IP_WITHOUT_FRAME, "tracelog.ip-without-frame", TW_WARNING,                                          \
	  "An instruction pointer is told for the last frame that stays, and none stays.")                             \
	X(TRACELOG_COUNT_UNKNOWN, "tracelog.count-unknown", TW_NOTE,                                                   \
	  "A sample does not tell its ticks (?): none are counted.")                                                   \
	X(TRACELOG_COUNT_ZERO, "tracelog.count-zero", TW_NOTE,                                                         \
	  "A sample of no ticks stands before no allocation of its thread, outside Instrumentation mode.")             \
	X(TRACELOG_TICKS_WITHOUT_TIMER, "tracelog.ticks-without-timer", TW_WARNING,                                    \
	  "A sample has ticks, and the method of collection (Instrumentation, None) has no timer.")                    \
	X(TRACELOG_ALLOCATION_WITHOUT_STACK, "tracelog.stack-missing", TW_NOTE,                                        \
	  "A thread allocates, and no record told its stack before.")                                                  \
	X(TRACELOG_EMPTY_OBJECTS, "tracelog.empty-objects", TW_WARNING,                                                \
	  "There are objects without bytes, or bytes without objects.")                                                \
	X(TRACELOG_USAGE_NEGATIVE, "tracelog.usage-taken-back", TW_NOTE,                                               \
	  "A CPU usage is negative: it takes back what was told before.")                                              \
	X(TRACELOG_USAGE_ABOVE_INTERVAL, "tracelog.usage-above-interval", TW_NOTE,                                     \
	  "A thread used more CPU time than passed, or a process more than 1024 processors have.")                     \
	X(TRACELOG_JIT_WITHOUT_START, "tracelog.jit-without-start", TW_WARNING,                                        \
	  "The compilation of a function, or the search for one, finishes without a start.")                           \
	X(TRACELOG_JIT_WITHOUT_FINISH, "tracelog.jit-without-finish", TW_NOTE,                                         \
	  "The compilation of a function, or the search for one, does not finish.")                                    \
	X(TRACELOG_GC_WITHOUT_START, "tracelog.gc-without-start", TW_WARNING,                                          \
	  "A garbage collection finishes without a start.")                                                            \
	X(TRACELOG_GC_WITHOUT_FINISH, "tracelog.gc-without-finish", TW_NOTE, "A garbage collection does not finish.")  \
	X(TRACELOG_GC_OVERLAP, "tracelog.gc-overlap", TW_NOTE, "A garbage collection starts inside another.")          \
	X(TRACELOG_GENERATION_FLAGS, "tracelog.generation-flags", TW_NOTE,                                             \
	  "A garbage collection has not four flags: of generations 0, 1, 2 and of large objects.")                     \
	X(TRACELOG_GENERATION_PARTS, "tracelog.generations", TW_WARNING,                                               \
	  "A record of the heap has not its parts: large objects, generations 2, 1, 0, and perhaps pinned objects.")   \
	X(TRACELOG_CLASS_TWICE, "tracelog.class-twice", TW_WARNING,                                                    \
	  "A class stands twice in the table of what is alive.")                                                       \
	X(TRACELOG_HEAP_ABOVE_RESERVED, "tracelog.heap-above-reserved", TW_NOTE,                                       \
	  "A generation has more bytes allocated than reserved.")                                                      \
	X(TRACELOG_LATE, "tracelog.late", TW_WARNING,                                                                  \
	  "Lines of a pipe stand further behind later ones than the reorder window reaches: a profile of calls has "   \
	  "events out of order.")                                                                                      \
	X(TRACELOG_TABLE_LIMIT, "tracelog.table-limit", TW_WARNING,                                                    \
	  "There are more names and objects than the memory limit allows: the rest is shown as (other).")              \
	X(TRACELOG_STACK_LIMIT, "tracelog.stack-limit", TW_WARNING,                                                    \
	  "There are more stacks than the memory limit allows: the rest is shown as (other).")

enum tracelog_rule {
#define X(id, name, severity, text) id,
	TRACELOG_RULE_LIST(X)
#undef X
	    TRACELOG_RULES
};

extern const struct tw_rule tracelog_rules[TRACELOG_RULES];

#endif
