/* sled_aarch64.c - the sleds of AArch64. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/sites/sled.h"

#if defined(__aarch64__)

#include "flight/log/log.h"

#include <string.h>
#include <sys/mman.h>

/* What sleds call, by kind. In stubs_aarch64.S. */
extern void tw_flight_enter(void);
extern void tw_flight_exit(void);
extern void tw_flight_tail_exit(void);
extern void tw_flight_enter_argument(void);
static void (*const stubs[])(void) = {tw_flight_enter, tw_flight_exit, tw_flight_tail_exit, tw_flight_enter_argument};
enum { STUBS = sizeof stubs / sizeof *stubs, WORDS = 8 };

/* Sleds of functions have a whole address, those of events a jump of their own. */
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
static void replace(uint32_t *sled, const uint32_t *words, unsigned count)
{
	memcpy(sled + 1, words + 1, (count - 1) * sizeof *words);
	__atomic_store_n(sled, words[0], __ATOMIC_RELEASE);
	__builtin___clear_cache((char *)sled, (char *)(sled + count));
}

static bool patch_function(uint32_t *sled, uint32_t id, unsigned kind)
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
	if (!is_empty(sled) || is_needed_behind(sled))
		return false;
	memcpy(&words[ADDRESS], &stubs[kind], sizeof stubs[kind]);
	replace(sled, words, WORDS);
	return true;
}

/* ---- The sled of an event. ----
 *
 * "b", then what the function's registers become as the arguments of a call: %x0, %x1, and %x2 of a typed one are put
 * on the stack, registers are moved, the call, and back again. The moves may be in the wrong order, and the call
 * changes %x30: so all of it is replaced, and the recorder takes the arguments from where they are.
 * Source: LLVM, AArch64AsmPrinter.cpp, LowerPATCHABLE_EVENT_CALL, since LLVM 17 */

extern void tw_flight_event(void); /* of both kinds, in stubs_aarch64.S */

enum { CUSTOM_WORDS = 6, TYPED_WORDS = 9, ARGUMENTS_MOST = 3, REGISTER = 31, TYPED = 1 << 15 };

/* How an event's sled is written, but for the registers that are moved, and where it calls. */
static const struct event_sled {
	unsigned count, first_move, moves;
	uint32_t words[TYPED_WORDS], call;
} shapes[] = {
    {CUSTOM_WORDS,
     2,
     2,
     {
	 0x14000006, /* b #24 */
	 0xa9bf07e0, /* stp x0, x1, [sp, #-16]! */
	 0xaa0003e0, /* mov x0, x_ */
	 0xaa0003e1, /* mov x1, x_ */
	 0x94000000, /* bl __xray_CustomEvent */
	 0xa8c107e0, /* ldp x0, x1, [sp], #16 */
     },
     4},
    {TYPED_WORDS,
     3,
     3,
     {
	 0x14000009, /* b #36 */
	 0xa9be07e0, /* stp x0, x1, [sp, #-32]! */
	 0xf9000be2, /* str x2, [sp, #16] */
	 0xaa0003e0, /* mov x0, x_ */
	 0xaa0003e1, /* mov x1, x_ */
	 0xaa0003e2, /* mov x2, x_ */
	 0x94000000, /* bl __xray_TypedEvent */
	 0xf9400be2, /* ldr x2, [sp, #16] */
	 0xa8c207e0, /* ldp x0, x1, [sp], #32 */
     },
     6},
};

/* Where each argument is. False: the sled is another. */
static bool find_arguments(const uint32_t *sled, const struct event_sled *shape, uint32_t *registers)
{
	enum { SOURCE_AT = 16, CALLED = 0x3ffffff };
	for (unsigned i = 0; i < shape->count; i++) {
		const bool moves = i >= shape->first_move && i < shape->first_move + shape->moves;
		const uint32_t own = moves ? (uint32_t)REGISTER << SOURCE_AT : i == shape->call ? CALLED : 0;
		if ((sled[i] & ~own) != shape->words[i])
			return false;
		if (moves)
			registers[i - shape->first_move] = sled[i] >> SOURCE_AT & REGISTER;
	}
	return true;
}

/* A page whose addresses have 32 bits, as far as can be from where a heap grows. NULL: there is none. */
static uint32_t *map_low(void)
{
	enum { STEP = 1 << 24 };
	for (uint64_t wanted = (UINT64_C(1) << 32) - STEP; wanted; wanted -= STEP) {
		void *page = mmap((void *)wanted, FLIGHT_PAGE, PROT_READ | PROT_WRITE,
		                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (page == (void *)wanted)
			return page;
		if (page != MAP_FAILED)
			munmap(page, FLIGHT_PAGE);
	}
	return NULL;
}

/* A jump to the stub, which the sled of an event reaches: it has no room for a whole address. NULL: there is no memory,
 * and none is looked for again. */
static const uint32_t *event_jump(void)
{
	static uint32_t *page;
	static bool done;
	uint32_t *made = done ? NULL : map_low();
	done = true;
	if (made) {
		flight_put_jump((uint8_t *)made, tw_flight_event);
		if (mprotect(made, FLIGHT_PAGE, PROT_READ | PROT_EXEC) == 0)
			page = made;
		else
			munmap(made, FLIGHT_PAGE);
	}
	return page;
}

static bool patch_event(uint32_t *sled, const struct event_sled *shape)
{
	enum { ADDRESS = 3, PLACES = 4 };
	uint32_t registers[ARGUMENTS_MOST] = {0};
	uint32_t words[TYPED_WORDS] = {
	    0xa9bf7bf0,                         /* stp x16, x30, [sp, #-16]! */
	    0x18000050,                         /* ldr w16, .+8 */
	    0xd63f0200,                         /* blr x16, which returns behind the data */
	    0,          0,                      /* the address, the registers */
	    0xa8c17bf0,                         /* ldp x16, x30, [sp], #16 */
	    0xd503201f, 0xd503201f, 0xd503201f, /* nop */
	};
	if (!find_arguments(sled, shape, registers))
		return false;
	const uint32_t *jump = event_jump();
	if (!jump)
		return false;
	words[ADDRESS] = (uint32_t)(uint64_t)jump;
	words[PLACES] = /* and whether it is a typed one */
	    registers[0] | registers[1] << 5 | registers[2] << 10 | (shape->count == TYPED_WORDS ? (uint32_t)TYPED : 0);
	replace(sled, words, shape->count);
	return true;
}

/* What the stub calls: the values of all registers, of the one that is always zero, too. */
void tw_flight_sled_event(const uint64_t *registers, const uint32_t *data);
__attribute__((visibility("hidden"))) void tw_flight_sled_event(const uint64_t *registers, const uint32_t *data)
{
	if (flight_is_off())
		return;
	const uint64_t first = registers[data[1] & REGISTER], second = registers[data[1] >> 5 & REGISTER],
		       third = registers[data[1] >> 10 & REGISTER];
	if (data[1] & TYPED)
		flight_event(&(struct flight_event){(const void *)second, third, true, (uint16_t)first});
	else
		flight_event(&(struct flight_event){(const void *)first, second, false, 0});
}

bool flight_patch_sled(uint8_t *sled, uint32_t id, unsigned kind, const uint8_t *jumps)
{
	uint32_t *words = (uint32_t *)sled;
	(void)jumps;
	if (kind >= FLIGHT_SLED_KINDS)
		return false;
	return kind < STUBS ? patch_function(words, id, kind)
	                    : patch_event(words, &shapes[kind - FLIGHT_SLED_CUSTOM_EVENT]);
}

#else
typedef int flight_no_sleds_of_aarch64;
#endif
