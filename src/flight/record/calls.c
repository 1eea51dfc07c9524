/* calls.c - memory for the calls that are open in threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/record/calls.h"

#include "flight/system.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

/* Nobody tells when threads end: a thread that needs memory looks whether some others are still there. */
enum { SLOTS = 1 << 14, LOOKS = 8, SIZE = FLIGHT_CALLS_MOST * sizeof(struct flight_call) };
static struct thread_slot {
	uint32_t tid; /* 0: it has no memory */
	struct flight_call *calls;
} slots[SLOTS];
static uint32_t slot_count, next_look;

static struct flight_call *take_over(uint32_t pid, uint32_t tid)
{
	const uint32_t count = __atomic_load_n(&slot_count, __ATOMIC_ACQUIRE), most = count < SLOTS ? count : SLOTS;
	for (uint32_t i = 0; i < LOOKS && i < most; i++) {
		struct thread_slot *slot = &slots[__atomic_fetch_add(&next_look, 1, __ATOMIC_RELAXED) % most];
		uint32_t owner = __atomic_load_n(&slot->tid, __ATOMIC_ACQUIRE);
		if (owner && owner != tid && flight_call(SYS_tgkill, pid, owner, 0, 0) == -ESRCH &&
		    __atomic_compare_exchange_n(&slot->tid, &owner, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return slot->calls;
	}
	return NULL;
}

struct flight_call *flight_take_calls(uint32_t pid, uint32_t tid)
{
	struct flight_call *calls = take_over(pid, tid);
	if (calls || __atomic_load_n(&slot_count, __ATOMIC_RELAXED) >= SLOTS)
		return calls;
	const uint32_t place = __atomic_fetch_add(&slot_count, 1, __ATOMIC_ACQ_REL);
	calls = place < SLOTS
	            ? flight_map(SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1)
	            : NULL;
	if (calls) {
		slots[place].calls = calls;
		__atomic_store_n(&slots[place].tid, tid, __ATOMIC_RELEASE);
	}
	return calls;
}

/* glibc has what a thread pointer points to above the stack of the thread. */
bool flight_is_foreign(uint32_t pid, uint32_t tid, uint64_t place)
{
	return tid != pid && place >= (uint64_t)__builtin_thread_pointer();
}
