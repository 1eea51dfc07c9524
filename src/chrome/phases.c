/* phases.c - what the letters of Chrome's phases mean. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/chrome.h"

enum { TIMED = CHROME_HAS_TIME, MATCHED = CHROME_HAS_TIME | CHROME_HAS_ID };

/* Source: the "Trace Event Format" document; k, w, l and the system's t and p: Fuchsia's converter.
 *
 * X(letter, kind of record, told as, kind of event, needs) */
#define PHASE_LIST(X)                                                                                                  \
	X('B', "duration-begin", NULL, TW_SLICE_BEGIN, TIMED)                                                          \
	X('E', "duration-end", NULL, TW_SLICE_END, TIMED)                                                              \
	X('X', "complete", NULL, TW_SLICE_COMPLETE, TIMED)                                                             \
	X('i', "instant", NULL, TW_INSTANT, TIMED)                                                                     \
	X('I', "instant-legacy", NULL, TW_INSTANT, TIMED)                                                              \
	X('C', "counter", NULL, TW_COUNTER, TIMED)                                                                     \
	X('b', "async-begin", NULL, TW_ASYNC_BEGIN, MATCHED)                                                           \
	X('n', "async-instant", NULL, TW_ASYNC_INSTANT, MATCHED)                                                       \
	X('e', "async-end", NULL, TW_ASYNC_END, MATCHED)                                                               \
	X('S', "async-begin-legacy", NULL, TW_ASYNC_BEGIN, MATCHED)                                                    \
	X('T', "async-step-into-legacy", "T", TW_ASYNC_INSTANT, MATCHED)                                               \
	X('p', "async-step-past-legacy", "p", TW_ASYNC_INSTANT, MATCHED)                                               \
	X('F', "async-end-legacy", NULL, TW_ASYNC_END, MATCHED)                                                        \
	X('s', "flow-begin", NULL, TW_FLOW_BEGIN, MATCHED)                                                             \
	X('t', "flow-step", NULL, TW_FLOW_STEP, MATCHED)                                                               \
	X('f', "flow-end", NULL, TW_FLOW_END, MATCHED)                                                                 \
	X('N', "object-created", "N", TW_OBJECT, TIMED)                                                                \
	X('O', "object-snapshot", "O", TW_OBJECT, TIMED)                                                               \
	X('D', "object-destroyed", "D", TW_OBJECT, TIMED)                                                              \
	X('P', "sample", NULL, TW_STACK_SAMPLE, TIMED)                                                                 \
	X('R', "mark", "R", TW_INSTANT, TIMED)                                                                         \
	X('M', "metadata", NULL, TW_METADATA, 0)                                                                       \
	X('c', "clock-sync", "c", TW_METADATA, TIMED)                                                                  \
	X('v', "memory-dump", "v", TW_METADATA, TIMED)                                                                 \
	X('V', "memory-dump-global", "V", TW_METADATA, TIMED)                                                          \
	X('(', "context-enter", "(", TW_METADATA, TIMED)                                                               \
	X(')', "context-leave", ")", TW_METADATA, TIMED)                                                               \
	X('=', "link-ids", "=", TW_METADATA, TIMED)                                                                    \
	X('k', "context-switch", NULL, TW_SWITCH, TIMED)                                                               \
	X('w', "thread-wakeup", NULL, TW_WAKEUP, TIMED)                                                                \
	X('l', "log", NULL, TW_LOG, TIMED)

enum { UNKNOWN, SYSTEM_NAME, FIRST };

const struct chrome_phase chrome_phases[CHROME_PHASES] = {
    /* of no letter, or of one that means something else elsewhere */
    [UNKNOWN] = {"unknown", "", TW_METADATA, 0},
    [SYSTEM_NAME] = {"system-name", NULL, TW_METADATA, CHROME_NAMES},
#define X(letter, kind, argument, event, need) {kind, argument, event, need},
    PHASE_LIST(X)
#undef X
};

static const char letters[] = {
#define X(letter, kind, argument, event, need) letter,
    PHASE_LIST(X)
#undef X
};

_Static_assert(sizeof letters + FIRST == CHROME_PHASES, "one letter a phase");

static unsigned number_of(char phase)
{
	for (unsigned i = 0; i < sizeof letters; i++)
		if (letters[i] == phase)
			return FIRST + i;
	return UNKNOWN;
}

unsigned chrome_phase_number(const struct chrome_item *item)
{
	char phase = chrome_phase_of(item);
	/* Fuchsia names threads with "t" and processes with "p", without a time. */
	if ((phase == 't' || phase == 'p') && !item->values[CHROME_TS].type && item->values[CHROME_NAME].type)
		return SYSTEM_NAME;
	return number_of(phase);
}
