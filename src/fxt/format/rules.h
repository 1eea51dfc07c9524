/* rules.h - every rule of FXT archives: the enum, the messages and the manual come from this list. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_FORMAT_RULES_H
#define FXT_FORMAT_RULES_H

#include <trackway/finding.h>

/* X(enumerator, name, severity, sentence) */
#define FXT_RULE_LIST(X)                                                                                               \
	X(FXT_COMPRESSION, "fxt.compression", TW_ERROR,                                                                \
	  "The compressed file is damaged or cut: the rest of it is missing.")                                         \
	X(FXT_ZERO_SIZE, "fxt.zero-size-record", TW_ERROR, "A record header says a size of 0 words.")                  \
	X(FXT_GARBAGE, "fxt.garbage", TW_ERROR, "Bytes that are no records.")                                          \
	X(FXT_RECORD_BROKEN, "fxt.record-broken", TW_ERROR, "What is in a record does not fit in its size.")           \
	X(FXT_RECORD_TRUNCATED, "fxt.record-truncated", TW_ERROR, "The file ends inside a record.")                    \
	X(FXT_MAGIC_MISSING, "fxt.magic-missing", TW_NOTE,                                                             \
	  "The archive does not begin with the magic number; archives of 2019 and before had none.")                   \
	X(FXT_SECOND_ARCHIVE, "fxt.second-archive", TW_NOTE,                                                           \
	  "Another archive begins: tables, providers and clocks start anew.")                                          \
	X(FXT_RECORD_TYPE, "fxt.record-type", TW_WARNING,                                                              \
	  "There is no record of this type: it is skipped by its size.")                                               \
	X(FXT_METADATA_TYPE, "fxt.metadata-type", TW_WARNING,                                                          \
	  "There is no metadata record of this type: it is skipped by its size.")                                      \
	X(FXT_EVENT_TYPE, "fxt.event-type", TW_WARNING, "There is no event of this type: it is skipped by its size.")  \
	X(FXT_SCHEDULING_TYPE, "fxt.scheduling-type", TW_WARNING,                                                      \
	  "There is no scheduling record of this type: it is skipped by its size.")                                    \
	X(FXT_PROFILER_TYPE, "fxt.profiler-type", TW_WARNING,                                                          \
	  "There is no profiler record of this type: it is skipped by its size.")                                      \
	X(FXT_LARGE_TYPE, "fxt.large-type", TW_WARNING,                                                                \
	  "There is no large record of this type: it is skipped by its size.")                                         \
	X(FXT_LARGE_FORMAT, "fxt.large-format", TW_WARNING,                                                            \
	  "Large blobs have no format of this number: it is skipped by its size.")                                     \
	X(FXT_TRACE_INFO, "fxt.trace-info", TW_WARNING,                                                                \
	  "There is no trace information of this type: it is skipped by its size.")                                    \
	X(FXT_ARGUMENT_TYPE, "fxt.argument-type", TW_WARNING,                                                          \
	  "There is no argument of this type: it is skipped by its size.")                                             \
	X(FXT_TRAILING_WORDS, "fxt.trailing-words", TW_NOTE,                                                           \
	  "Words follow all that the format defines for this record; they are kept.")                                  \
	X(FXT_RESERVED, "fxt.reserved", TW_WARNING, "Reserved bits are not 0.")                                        \
	X(FXT_PADDING, "fxt.padding", TW_WARNING, "A text or payload is not padded with zeros.")                       \
	X(FXT_UTF8, "fxt.utf8", TW_WARNING, "A text is not valid UTF-8; its bytes are kept.")                          \
	X(FXT_STRING_UNDEFINED, "fxt.string-undefined", TW_ERROR,                                                      \
	  "A string index is used that no string record has registered.")                                              \
	X(FXT_STRING_INDEX_ZERO, "fxt.string-index-zero", TW_WARNING,                                                  \
	  "A string record has index 0, which means the empty string: it is ignored.")                                 \
	X(FXT_STRING_TOO_LONG, "fxt.string-too-long", TW_WARNING, "A text is longer than 32000 bytes.")                \
	X(FXT_STRING_REPLACED, "fxt.string-replaced", TW_NOTE,                                                         \
	  "A string record gives another text to an index in use.")                                                    \
	X(FXT_THREAD_UNDEFINED, "fxt.thread-undefined", TW_ERROR,                                                      \
	  "A thread index is used that no thread record has registered.")                                              \
	X(FXT_THREAD_INDEX_ZERO, "fxt.thread-index-zero", TW_WARNING,                                                  \
	  "A thread record has index 0, which means an inline thread: it is ignored.")                                 \
	X(FXT_THREAD_REPLACED, "fxt.thread-replaced", TW_NOTE,                                                         \
	  "A thread record gives another thread to an index in use.")                                                  \
	X(FXT_PROVIDER_MISSING, "fxt.provider-missing", TW_NOTE,                                                       \
	  "Records stand before any provider info: they are taken for those of provider 0.")                           \
	X(FXT_PROVIDER_UNKNOWN, "fxt.provider-unknown", TW_WARNING,                                                    \
	  "A section belongs to a provider that no provider info record has named.")                                   \
	X(FXT_PROVIDER_AGAIN, "fxt.provider-again", TW_NOTE, "A provider is announced again: its tables start anew.")  \
	X(FXT_PROVIDER_EVENT, "fxt.provider-event", TW_WARNING, "There is no provider event of this number.")          \
	X(FXT_RECORDS_DROPPED, "fxt.records-dropped", TW_WARNING,                                                      \
	  "A provider's buffer was full: records are missing.")                                                        \
	X(FXT_FREQUENCY_ZERO, "fxt.frequency-zero", TW_WARNING,                                                        \
	  "An initialization record says 0 ticks a second: it is ignored.")                                            \
	X(FXT_INITIALIZATION_MISSING, "fxt.initialization-missing", TW_NOTE,                                           \
	  "A provider has timed records before its initialization record: a tick is shown as 1 ns.")                   \
	X(FXT_INITIALIZATION_AGAIN, "fxt.initialization-again", TW_NOTE,                                               \
	  "An initialization record changes the ticks per second of a provider.")                                      \
	X(FXT_INITIALIZATION_BASE, "fxt.initialization-base", TW_NOTE,                                                 \
	  "An initialization record tells the wall time of a tick, which the document does not know.")                 \
	X(FXT_TIME_OVERFLOW, "fxt.time-overflow", TW_WARNING,                                                          \
	  "A time is beyond what 64 bits of nanoseconds hold: it is shown at their end.")                              \
	X(FXT_LATE, "fxt.late-record", TW_WARNING,                                                                     \
	  "Records come later than they can be put in order: of a pipe that is profiled, or where archives are "       \
	  "merged with very little memory.")                                                                           \
	X(FXT_SCOPE, "fxt.scope", TW_WARNING, "The scope of an instant event is none of thread, process and global.")  \
	X(FXT_END_BEFORE_START, "fxt.end-before-start", TW_WARNING,                                                    \
	  "A complete slice ends before it starts: it is taken as 0 ns.")                                              \
	X(FXT_COUNTER_EMPTY, "fxt.counter-empty", TW_WARNING, "A counter event has no value.")                         \
	X(FXT_COUNTER_VALUE, "fxt.counter-value", TW_WARNING, "A value of a counter is not a number.")                 \
	X(FXT_THREAD_STATE, "fxt.thread-state", TW_WARNING,                                                            \
	  "A thread goes into a state that does not exist, or that one that leaves its CPU cannot have.")              \
	X(FXT_BLOB_TYPE, "fxt.blob-type", TW_NOTE, "There is no blob of this type.")                                   \
	X(FXT_THREAD_PROCESS, "fxt.thread-process", TW_NOTE,                                                           \
	  "A kernel object record of a thread does not tell its process: the name is not used.")                       \
	X(FXT_END_WITHOUT_BEGIN, "fxt.end-without-begin", TW_WARNING,                                                  \
	  "A duration ends that did not begin on this thread.")                                                        \
	X(FXT_END_MISMATCHED, "fxt.end-mismatched", TW_WARNING, "A duration ends below others that did not.")          \
	X(FXT_BEGIN_WITHOUT_END, "fxt.begin-without-end", TW_NOTE, "A duration is still open when the archive ends.")  \
	X(FXT_SLICES_OVERLAP, "fxt.slices-overlap", TW_NOTE,                                                           \
	  "Slices of a thread overlap without nesting: a complete one lasts as long as it says.")                      \
	X(FXT_ASYNC_SHARED_KEY, "fxt.async-shared-key", TW_NOTE,                                                       \
	  "An asynchronous operation begins while another one of its category, name and id is open: an end is that "   \
	  "of the newest.")                                                                                            \
	X(FXT_ASYNC_WITHOUT_BEGIN, "fxt.async-without-begin", TW_WARNING,                                              \
	  "An asynchronous operation ends, or has an instant, that did not begin.")                                    \
	X(FXT_ASYNC_WITHOUT_END, "fxt.async-without-end", TW_NOTE,                                                     \
	  "An asynchronous operation is still open when the archive ends.")                                            \
	X(FXT_FLOW_WITHOUT_BEGIN, "fxt.flow-without-begin", TW_WARNING,                                                \
	  "A flow has a step or an end, but did not begin.")                                                           \
	X(FXT_FLOW_WITHOUT_END, "fxt.flow-without-end", TW_NOTE, "A flow is still open when the archive ends.")        \
	X(FXT_PAIR_LIMIT, "fxt.pair-limit", TW_WARNING,                                                                \
	  "More operations are open than the memory limit allows to follow: the rest is not checked.")                 \
	X(FXT_NAME_LIMIT, "fxt.name-limit", TW_WARNING,                                                                \
	  "There are more strings, threads or providers than the memory limit allows: the rest is shown as one.")      \
	X(FXT_IMAGE_NOT_FINISHED, "fxt.image-not-finished", TW_NOTE,                                                   \
	  "An image of a program that died while it recorded, or goes on.")                                            \
	X(FXT_IMAGE_DAMAGED, "fxt.image-damaged", TW_ERROR, "Bytes of an image that are no records.")                  \
	X(FXT_IMAGE_DROPPED, "fxt.image-dropped", TW_NOTE, "How many events found no room in a recorder's buffer.")    \
	X(FXT_THREAD_DROPPED, "fxt.thread-dropped", TW_NOTE,                                                           \
	  "How many of the events that found no room are a thread's.")                                                 \
	X(FXT_IMAGE_OVERWRITTEN, "fxt.image-overwritten", TW_NOTE,                                                     \
	  "A circular buffer kept the newest events, and overwrote others.")                                           \
	X(FXT_IMAGE_CUT, "fxt.image-cut", TW_NOTE, "Arguments or texts of a program that did not fit in a record.")    \
	X(FXT_SCOPES_UNKEPT, "fxt.scopes-unkept", TW_NOTE,                                                             \
	  "Durations began so deep in others that a death would leave nothing of them.")                               \
	X(FXT_CHILDREN_UNRECORDED, "fxt.children-unrecorded", TW_WARNING,                                              \
	  "Processes that a recorded program forked could not record.")                                                \
	X(FXT_RECORDING_DAMAGED, "fxt.recording-damaged", TW_WARNING,                                                  \
	  "Some of what a program had recorded was damaged before the archive was made of it.")                        \
	X(FXT_IMAGE_ABANDONED, "fxt.image-abandoned", TW_NOTE,                                                         \
	  "The recording of a program ended early: whoever had started it, a record, had died.")

enum fxt_rule {
#define X(id, name, severity, text) id,
	FXT_RULE_LIST(X)
#undef X
	    FXT_RULES
};

extern const struct tw_rule fxt_rules[FXT_RULES];

#endif
