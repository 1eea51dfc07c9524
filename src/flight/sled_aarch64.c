/* sled_aarch64.c - the sleds of AArch64. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/sled.h"

#if defined(__aarch64__)

#include <string.h>

/* What sleds call, by kind. In stubs_aarch64.S. */
extern void tw_flight_enter(void);
extern void tw_flight_exit(void);
extern void tw_flight_tail_exit(void);
extern void tw_flight_enter_argument(void);
static void (*const stubs[])(void) = {tw_flight_enter, tw_flight_exit, tw_flight_tail_exit, tw_flight_enter_argument};
enum { STUBS = sizeof stubs / sizeof *stubs, WORDS = 8 };

/* Sleds have a whole address. */
uint8_t *flight_make_jumps(uint64_t place)
{
	return (uint8_t *)place;
}

/* "b #32" and seven "nop". */
static bool is_empty(const uint32_t *sled)
{
	const uint32_t jump = 0x14000008, nothing = 0xd503201f;
	for (unsigned i = 1; i < WORDS; i++)
		if (sled[i] != nothing)
			return false;
	return sled[0] == jump;
}

/* Where a function leaves by "br x16" or "br x17", the sled's own use of these would lead elsewhere. */
static bool is_needed_behind(const uint32_t *sled)
{
	const uint32_t branch = 0xd61f0200, mask = 0xffffffdf;
	return (sled[WORDS] & mask) == branch;
}

/* The first word comes last, at once: who runs there meanwhile sees the one or the other. */
bool flight_patch_sled(uint8_t *sled, uint32_t id, unsigned kind, const uint8_t *jumps)
{
	uint32_t words[WORDS] = {
	    0xa9bf7be0,             /* stp x0, x30, [sp, #-16]! */
	    0x18000071,             /* ldr w17, .+12 */
	    0x58000070,             /* ldr x16, .+12 */
	    0xd63f0200,             /* blr x16, which returns behind the data */
	    id,         0,          /* the address */
	    0,          0xa8c17be0, /* ldp x0, x30, [sp], #16 */
	};
	enum { ADDRESS = 5 };
	uint32_t *place = (uint32_t *)sled;
	(void)jumps;
	if (kind >= STUBS || !is_empty(place) || is_needed_behind(place))
		return false;
	memcpy(&words[ADDRESS], &stubs[kind], sizeof stubs[kind]);
	memcpy(place + 1, words + 1, sizeof words - sizeof *words);
	__atomic_store_n(place, words[0], __ATOMIC_RELEASE);
	__builtin___clear_cache((char *)place, (char *)(place + WORDS));
	return true;
}

#else
typedef int flight_no_sleds_of_aarch64;
#endif
