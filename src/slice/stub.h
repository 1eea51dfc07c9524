/* stub.h - what stands in for an instruction of a slice where something happens that it does not do. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLICE_STUB_H
#define SLICE_STUB_H

#include "slice/a64.h"
#include "slice/slice.h"

/* The words of a stub, behind its code: offsets in bytes. */
enum {
	STUB_SAVED_LINK = 0,
	STUB_THREAD = 8, /* what TPIDR_EL0 is to the slice: the stub uses the register itself */
	STUB_SAVED_28 = 16,
	STUB_SAVED_26 = 32,
	STUB_NEXT_RECORD = 48, /* address of the record of the next event */
	STUB_VALUE = 56,
	STUB_SAVED_25 = 64,
	STUB_LITERAL = 72 /* the constant that slice_put_stub() tells */
};

/* The words of an event's record. */
enum {
	STUB_RECORD_LEFT = 0,    /* executions of the place until the event */
	STUB_RECORD_COUNT = 8,   /* how many bytes something else writes */
	STUB_RECORD_WRITES = 16, /* where they are: pairs of address and byte */
	STUB_RECORD_VALUE = 24,  /* of the register that is set */
	STUB_RECORD_FLAGS = 32,
	STUB_RECORD = 40
};

/* The bits of the flags: struct slice_event. */
enum { STUB_SKIPS, STUB_STOPS, STUB_MARKS };

/* Puts the code of a stub, whose words are at `area`. *constant is what STUB_LITERAL must hold. Returns false where the
 * instruction cannot be executed anywhere but in its place: then no execution may pass. */
bool slice_put_stub(struct a64_code *code, const struct slice_place *place, uint64_t area, uint64_t *constant);

#endif
