/* rules.h - every rule of Chrome's trace event JSON: the enum, the messages and the manual come from this list. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHROME_RULES_H
#define CHROME_RULES_H

#include <trackway/finding.h>

/* X(enumerator, name, severity, sentence). */
#define CHROME_RULE_LIST(X)                                                                                            \
	X(CHROME_COMPRESSION, "chrome.compression", TW_ERROR,                                                          \
	  "The compressed file is damaged or cut: the rest of it is missing.")                                         \
	X(CHROME_MALFORMED, "chrome.malformed", TW_ERROR,                                                              \
	  "Text that is no JSON: it is skipped up to the next event that can be read.")                                \
	X(CHROME_TRUNCATED, "chrome.truncated", TW_NOTE,                                                               \
	  "The file ends inside an event, as a tracer that was stopped leaves it.")                                    \
	X(CHROME_UNCLOSED, "chrome.unclosed", TW_NOTE,                                                                 \
	  "The file ends before its array or object does, which the format allows for arrays.")                        \
	X(CHROME_AFTER_END, "chrome.after-end", TW_WARNING, "Something follows the end of the document.")              \
	X(CHROME_NO_EVENTS, "chrome.no-events", TW_NOTE, "The file holds no event.")                                   \
	X(CHROME_EVENT_TOO_LARGE, "chrome.event-too-large", TW_ERROR,                                                  \
	  "An event is larger than a sixteenth of the memory limit: it is left out.")                                  \
	X(CHROME_NESTING, "chrome.nesting", TW_ERROR, "A value is nested too deep to be read: it is left out.")        \
	X(CHROME_NOT_AN_EVENT, "chrome.not-an-event", TW_ERROR, "A value stands where an event should.")               \
	X(CHROME_PHASE_MISSING, "chrome.phase-missing", TW_ERROR,                                                      \
	  "An event has no phase (\"ph\") of one character: what it means is not known.")                              \
	X(CHROME_PHASE_UNKNOWN, "chrome.phase-unknown", TW_WARNING,                                                    \
	  "There is no phase of this letter: the events are kept as metadata.")                                        \
	X(CHROME_TIME_MISSING, "chrome.time-missing", TW_WARNING, "An event has no time (\"ts\"): it is left out.")    \
	X(CHROME_TIME_WRONG, "chrome.time-wrong", TW_WARNING,                                                          \
	  "A time is not a number: the event is left out. Or a duration is not: 0 is taken.")                          \
	X(CHROME_TIME_RANGE, "chrome.time-range", TW_WARNING,                                                          \
	  "A time is before the start of the clock, or does not fit 64 bits of nanoseconds.")                          \
	X(CHROME_DURATION_MISSING, "chrome.duration-missing", TW_WARNING,                                              \
	  "A complete event has no duration (\"dur\"): 0 is taken.")                                                   \
	X(CHROME_DURATION_NEGATIVE, "chrome.duration-negative", TW_WARNING, "A duration is negative: 0 is taken.")     \
	X(CHROME_SLICES_OVERLAP, "chrome.slices-overlap", TW_NOTE,                                                     \
	  "Slices of a thread overlap without nesting: a complete one lasts as long as it says.")                      \
	X(CHROME_ASYNC_SHARED_KEY, "chrome.async-shared-key", TW_NOTE,                                                 \
	  "An asynchronous operation begins while another one of its category, name and id is open: an end is that "   \
	  "of the newest.")                                                                                            \
	X(CHROME_ID_MISSING, "chrome.id-missing", TW_WARNING,                                                          \
	  "An event of a kind that is matched by its id has none: 0 is taken.")                                        \
	X(CHROME_COUNTER_VALUE, "chrome.counter-value", TW_WARNING,                                                    \
	  "A value of a counter is a string that is no number.")                                                       \
	X(CHROME_FRAME_UNKNOWN, "chrome.frame-unknown", TW_WARNING,                                                    \
	  "A sample or a frame names a frame that is not there: the stack ends before it.")                            \
	X(CHROME_FRAME_CYCLE, "chrome.frame-cycle", TW_WARNING,                                                        \
	  "Frames of stacks call each other in a circle: the stack ends where it would begin again.")                  \
	X(CHROME_ARGUMENTS, "chrome.arguments", TW_WARNING,                                                            \
	  "An event has more than 255 arguments: the rest of them is left out.")                                       \
	X(CHROME_MEMBER, "chrome.member", TW_NOTE, "A member that has no place among the events is left out.")         \
	X(CHROME_NAME_LIMIT, "chrome.name-limit", TW_WARNING,                                                          \
	  "There are more names and threads than the memory limit allows: the rest is shown as one.")                  \
	X(CHROME_NOT_STRICT, "chrome.not-strict", TW_WARNING,                                                          \
	  "JSON that a strict parser refuses: a stray or missing comma, NaN, a raw control character, a bad escape.")  \
	X(CHROME_UTF8, "chrome.utf8", TW_WARNING, "A string is not UTF-8: its bytes are kept as they are.")

enum chrome_rule {
#define X(id, name, severity, text) id,
	CHROME_RULE_LIST(X)
#undef X
	    CHROME_RULES
};

extern const struct tw_rule chrome_rules[CHROME_RULES];

#endif
