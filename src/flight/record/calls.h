/* calls.h - the calls that are open in a thread, by their places on the stack.
 *
 * Exceptions and longjmp() end calls without an exit: they are those whose place on the stack is free when another
 * call begins or ends. Their exits are written then. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_CALLS_H
#define FLIGHT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct flight_call {
	uint64_t place; /* on the stack */
	uint32_t id;    /* FLIGHT_LEFT_OUT with it: no record tells of the call */
	uint32_t site;  /* where it was called from: the lower half */
};
#define FLIGHT_LEFT_OUT (UINT32_C(1) << 31)
enum { FLIGHT_CALLS_MOST = 1 << 18 };

/* A call that begins or ends. */
struct flight_frame {
	uint64_t place; /* of its return address */
	uint32_t site;
	uint32_t kind; /* enum flight_frame_kind */
};
enum flight_frame_kind {
	FLIGHT_OWN,     /* of one call alone */
	FLIGHT_SHARED,  /* functions that are inlined may have the same */
	FLIGHT_BY_PLACE /* of one call: its exit does not tell the function */
};

/* Room for FLIGHT_CALLS_MOST open calls of a thread: that of one that is no more, or new. NULL: there is none. From
 * any place. */
struct flight_call *flight_take_calls(uint32_t pid, uint32_t tid);

/* Whether the stack of a thread other than the first ends below a place: it is on one that handlers of signals, or
 * coroutines, have. */
bool flight_is_foreign(uint32_t pid, uint32_t tid, uint64_t place);

#endif
