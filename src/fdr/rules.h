/* rules.h - every rule of XRay logs: the enum, the messages and the manual come from this list. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_RULES_H
#define FDR_RULES_H

#include <trackway/finding.h>

/* X(enumerator, name, severity, sentence). "xray" rules hold for both kinds of log. */
#define FDR_RULE_LIST(X)                                                                                               \
	X(XRAY_HEADER_RESERVED, "xray.header-reserved", TW_NOTE,                                                       \
	  "Reserved bits of the header are not 0; LLVM's runtime leaves them uninitialised.")                          \
	X(XRAY_TSC_FLAGS, "xray.tsc-flags", TW_WARNING,                                                                \
	  "The header does not promise a constant, nonstop counter: ticks may not be comparable.")                     \
	X(XRAY_FREQUENCY_ZERO, "xray.frequency-zero", TW_WARNING,                                                      \
	  "The cycle frequency is 0: a tick is shown as 1 ns.")                                                        \
	X(XRAY_FREQUENCY_IMPLAUSIBLE, "xray.frequency-implausible", TW_WARNING,                                        \
	  "The cycle frequency is not between 1 MHz and 100 GHz: times may be wrong.")                                 \
	X(XRAY_CLOCK_FALLBACK, "xray.clock-fallback", TW_NOTE,                                                         \
	  "The cycle frequency is exactly 1 GHz: LLVM's runtime had no counter, used clock_gettime and wrote CPU 0.")  \
	X(XRAY_COMPRESSION, "xray.compression", TW_ERROR,                                                              \
	  "The compressed file is damaged or cut: the rest of it is missing.")                                         \
	X(XRAY_ANOTHER_LOG, "xray.another-log", TW_NOTE,                                                               \
	  "Another log with the same clock follows in the file: both are read.")                                       \
	X(XRAY_FOREIGN_LOG, "xray.foreign-log", TW_NOTE,                                                               \
	  "A log of another kind, clock or program follows in the file: both are read.")                               \
	X(XRAY_TOO_MANY_LOGS, "xray.too-many-logs", TW_ERROR,                                                          \
	  "More logs of other kinds, clocks or programs follow in the file than are read.")                            \
	X(XRAY_FUNCTION_ID_ZERO, "xray.function-id-zero", TW_WARNING, "Function ids begin at 1.")                      \
	X(XRAY_TSC_BACKWARDS, "xray.tsc-backwards", TW_WARNING, "The counter goes back within a thread.")              \
	X(XRAY_EXIT_WITHOUT_ENTRY, "xray.exit-without-entry", TW_WARNING,                                              \
	  "A function exits that is not on the thread's stack: its entry is not in the log.")                          \
	X(XRAY_EXIT_MISMATCHED, "xray.exit-mismatched", TW_NOTE,                                                       \
	  "A function exits below others that did not: an exception or longjmp left them, or their exits are lost.")   \
	X(XRAY_ENTRY_WITHOUT_EXIT, "xray.entry-without-exit", TW_NOTE,                                                 \
	  "A function is still open when its thread's records end.")                                                   \
	X(XRAY_NAME_LIMIT, "xray.name-limit", TW_WARNING,                                                              \
	  "There are more functions than the memory limit allows to name: the rest is shown as one.")                  \
	X(FDR_INDEX_LIMIT, "fdr.index-limit", TW_ERROR,                                                                \
	  "There are more buffers, or threads, than the memory limit allows to sort: the rest is left out.")           \
	X(FDR_BUFFER_SIZE, "fdr.buffer-size", TW_WARNING,                                                              \
	  "The header's buffer size cannot hold a buffer: the runtime wrote beyond it, or the field is damaged.")      \
	X(FDR_NO_BUFFERS, "fdr.no-buffers", TW_WARNING, "The log holds no buffer.")                                    \
	X(FDR_JUNK, "fdr.junk", TW_ERROR, "Bytes that belong to no buffer.")                                           \
	X(FDR_EXTENTS_MISSING, "fdr.extents-missing", TW_WARNING,                                                      \
	  "A buffer of version 2 or later begins without a BufferExtents record.")                                     \
	X(FDR_EXTENTS_UNEXPECTED, "fdr.extents-unexpected", TW_WARNING,                                                \
	  "A log of version 1 has a BufferExtents record.")                                                            \
	X(FDR_EXTENTS_WRONG, "fdr.extents-wrong", TW_ERROR,                                                            \
	  "The size in BufferExtents leads neither to the next buffer nor to the end of the file.")                    \
	X(FDR_BUFFER_TRUNCATED, "fdr.buffer-truncated", TW_ERROR, "The file ends inside a buffer.")                    \
	X(FDR_BUFFER_OVERRUN, "fdr.buffer-overrun", TW_WARNING,                                                        \
	  "A buffer is longer than the header's buffer size: the runtime copied an event past its end.")               \
	X(FDR_NESTED_BUFFER, "fdr.nested-buffer", TW_ERROR, "A buffer begins inside another.")                         \
	X(FDR_NEW_BUFFER_MISSING, "fdr.new-buffer-missing", TW_ERROR,                                                  \
	  "A buffer does not begin with a NewBuffer record: its thread is unknown.")                                   \
	X(FDR_WALL_TIME_MISSING, "fdr.wall-time-missing", TW_WARNING,                                                  \
	  "A buffer has no WallTime record after NewBuffer.")                                                          \
	X(FDR_WALL_TIME_MISPLACED, "fdr.wall-time-misplaced", TW_WARNING,                                              \
	  "A WallTime record stands elsewhere than right after NewBuffer.")                                            \
	X(FDR_MICROSECONDS, "fdr.microseconds", TW_WARNING,                                                            \
	  "The microseconds of a WallTime record are 1000000 or more.")                                                \
	X(FDR_PID_MISSING, "fdr.pid-missing", TW_NOTE, "A buffer of version 3 or later has no Pid record.")            \
	X(FDR_PID_MISPLACED, "fdr.pid-misplaced", TW_WARNING,                                                          \
	  "A Pid record stands elsewhere than right after WallTime, or in a version before 3.")                        \
	X(FDR_CPU_MISSING, "fdr.cpu-missing", TW_WARNING,                                                              \
	  "A buffer's first timed record comes before any NewCPUId: its time is carried over from the buffer before.") \
	X(FDR_THREAD_ID, "fdr.thread-id", TW_NOTE,                                                                     \
	  "The 4-byte thread id is impossible: the 2 bytes of the document were taken.")                               \
	X(FDR_END_OF_BUFFER, "fdr.end-of-buffer", TW_WARNING, "EndOfBuffer records exist in version 1 only.")          \
	X(FDR_END_OF_BUFFER_MISSING, "fdr.end-of-buffer-missing", TW_WARNING,                                          \
	  "A buffer of version 1 has no EndOfBuffer record.")                                                          \
	X(FDR_RECORD_TRUNCATED, "fdr.record-truncated", TW_ERROR, "A record goes beyond the end of its buffer.")       \
	X(FDR_RECORD_KIND, "fdr.record-kind", TW_ERROR, "There is no metadata record of this kind.")                   \
	X(FDR_FUNCTION_KIND, "fdr.function-kind", TW_ERROR, "There is no function record of this kind.")               \
	X(FDR_DOUBTFUL, "fdr.doubtful", TW_ERROR,                                                                      \
	  "Bytes that could be records, but do not fit the rest of the log: no function, time or order of it.")        \
	X(FDR_SUSPECT, "fdr.suspect", TW_NOTE, "Damage follows a record at once: its last bytes may be of it.")        \
	X(FDR_TIME_UNCERTAIN, "fdr.time-uncertain", TW_NOTE,                                                           \
	  "Behind damage, times are counted on from before it up to the next NewCPUId or TSCWrap: some are missing.")  \
	X(FDR_EVENT_SIZE, "fdr.event-size", TW_ERROR, "The size of a custom or typed event is 0 or negative.")         \
	X(FDR_EVENT_TOO_LARGE, "fdr.event-too-large", TW_WARNING,                                                      \
	  "An event is larger than the memory limit allows to hold: only its beginning is shown.")                     \
	X(FDR_TYPED_EVENT_EXTENTS, "fdr.typed-event-extents", TW_ERROR,                                                \
	  "LLVM's runtime counts 16 bytes too few for each typed event: the end of the buffer is not in the file.")    \
	X(FDR_TYPED_EVENT_DOUBT, "fdr.typed-event-doubt", TW_NOTE,                                                     \
	  "A buffer with typed events ends well: if LLVM's runtime wrote it, 16 bytes for each are missing after it.") \
	X(FDR_ARGUMENT_MISPLACED, "fdr.argument-misplaced", TW_WARNING,                                                \
	  "A CallArgument record does not follow an entry with arguments.")                                            \
	X(FDR_ARGUMENT_MISSING, "fdr.argument-missing", TW_WARNING,                                                    \
	  "An entry with arguments has no CallArgument record.")                                                       \
	X(FDR_PADDING, "fdr.padding", TW_NOTE,                                                                         \
	  "Bytes that mean nothing are not 0; LLVM's runtime leaves them uninitialised.")                              \
	X(FDR_DELTA_WIDE, "fdr.delta-wide", TW_NOTE,                                                                   \
	  "A delta is above 2147483647 ticks: LLVM's runtime would have written a TSCWrap record.")                    \
	X(FDR_BUFFER_TWICE, "fdr.buffer-twice", TW_WARNING,                                                            \
	  "A buffer is in the log twice; it is read once. For each such buffer another one is missing.")               \
	X(FDR_BUFFER_ORDER, "fdr.buffer-order", TW_NOTE, "A thread's buffers do not stand in the order of time.")      \
	X(FDR_BUFFER_OVERLAP, "fdr.buffer-overlap", TW_WARNING,                                                        \
	  "A thread's buffer begins before the one before it ends.")                                                   \
	X(BASIC_NO_RECORDS, "basic.no-records", TW_WARNING, "The log holds no record.")                                \
	X(BASIC_SIZE, "basic.size", TW_ERROR, "The file ends inside a record.")                                        \
	X(BASIC_RECORD_TYPE, "basic.record-type", TW_ERROR, "There is no record of this type.")                        \
	X(BASIC_KIND, "basic.kind", TW_ERROR, "There is no function record of this kind.")                             \
	X(BASIC_DOUBTFUL, "basic.doubtful", TW_ERROR,                                                                  \
	  "Zeros, or bytes that could be a record while those behind them are records that begin in between.")         \
	X(BASIC_TAIL_EXIT, "basic.tail-exit", TW_NOTE, "Tail exits came with version 2.")                              \
	X(BASIC_ARGUMENT_MISPLACED, "basic.argument-misplaced", TW_WARNING,                                            \
	  "An argument does not follow an entry of the same function, thread and process.")                            \
	X(BASIC_ARGUMENT_MISSING, "basic.argument-missing", TW_WARNING,                                                \
	  "An entry with arguments has no argument record.")                                                           \
	X(BASIC_PADDING, "basic.padding", TW_NOTE, "Bytes that mean nothing are not 0.")

enum fdr_rule {
#define X(id, name, severity, text) id,
	FDR_RULE_LIST(X)
#undef X
	    FDR_RULES
};

extern const struct tw_rule fdr_rules[FDR_RULES];

#endif
