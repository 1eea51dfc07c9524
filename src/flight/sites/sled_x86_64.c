/* sled_x86_64.c - the sleds of x86-64. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/sites/sled.h"

#if defined(__x86_64__)

#include "flight/log/log.h"

#include <string.h>

/* What sleds call: flight_sled() with all registers kept. In stubs.S, by kind. */
extern void tw_flight_enter(void);
extern void tw_flight_exit(void);
extern void tw_flight_tail_exit(void);
extern void tw_flight_enter_argument(void);
extern void tw_flight_event(void); /* of both kinds */
static void (*const stubs[])(void) = {tw_flight_enter, tw_flight_exit, tw_flight_tail_exit, tw_flight_enter_argument,
                                      tw_flight_event};
enum { STUBS = sizeof stubs / sizeof *stubs, EVENT = STUBS - 1, SLED = 11 };

uint8_t *flight_make_jumps(uint64_t place)
{
	return flight_make_jump(place, stubs, STUBS);
}

/* ---- A sled. ---- */

/* Whether it stands there as the compiler left it: "jmp +9", or at an exit "ret", and what fills the rest. */
static bool is_empty(const uint8_t *sled, unsigned kind)
{
	return kind == FLIGHT_SLED_EXIT ? sled[0] == 0xc3 : sled[0] == 0xeb && sled[1] == 0x09;
}

/* "mov $id, %r10d" and "call" or, at an exit, "jmp". The first two bytes come last, at once: who runs there meanwhile
 * sees the one or the other. */
static void patch(uint8_t *sled, uint32_t id, unsigned kind, const uint8_t *jumps)
{
	enum { ID_AT = 2, CALL_AT = 6, CALL = 0xe8, GO = 0xe9 };
	const uint16_t move = 0xba41;
	const int32_t distance = (int32_t)(jumps + kind * FLIGHT_JUMP - (sled + SLED));
	memcpy(sled + ID_AT, &id, sizeof id);
	sled[CALL_AT] = kind == FLIGHT_SLED_EXIT ? GO : CALL;
	memcpy(sled + CALL_AT + 1, &distance, sizeof distance);
	__atomic_store_n((uint16_t *)sled, move, __ATOMIC_RELEASE);
}

/* ---- The sled of an event. ----
 *
 * "jmp", then what the function's registers become as the arguments of a call: each argument's own register is pushed,
 * or it is the right one and there are four bytes of nothing, then registers are moved, then the call, then "pop". The
 * moves may be in the wrong order, and what is pushed may be where the function has its red zone: so all of it is
 * replaced, and the recorder takes the arguments from where they are.
 * Source: LLVM, X86MCInstLower.cpp, LowerPATCHABLE_EVENT_CALL, LowerPATCHABLE_TYPED_EVENT_CALL */

enum { RSP = 4, ARGUMENTS_MOST = 3, HEAD = 2, MOVE = 3, CALL_SIZE = 5 };

static unsigned arguments_of(unsigned kind)
{
	return kind == FLIGHT_SLED_TYPED_EVENT ? 3 : 2;
}

/* The registers that a call has its arguments in: %rdi, %rsi, %rdx. */
static const uint8_t wanted[ARGUMENTS_MOST] = {7, 6, 2};

/* Where each argument is; its own register where nothing moves it. False: the sled is another. */
static bool find_arguments(const uint8_t *sled, unsigned kind, uint8_t *registers)
{
	enum { JUMP_SHORT = 0xeb, PUSH = 0x50, POP = 0x58, NOTHING = 0x90, CALL = 0xe8, STORE = 0x89, BOTH = 0xc0 };
	static const uint8_t nothing[] = {0x0f, 0x1f, 0x40};
	const unsigned count = arguments_of(kind), size = CALL_SIZE * (count + 1);
	const uint8_t *at = sled + HEAD;
	bool moved[ARGUMENTS_MOST];
	if (sled[0] != JUMP_SHORT || sled[1] != size)
		return false;
	for (unsigned i = 0; i < count; i++) {
		moved[i] = *at == PUSH + wanted[i];
		if (!moved[i] && memcmp(at, nothing, sizeof nothing) != 0)
			return false;
		at += moved[i] ? 1 : 4;
	}
	for (unsigned i = 0; i < count; i++) {
		registers[i] = wanted[i];
		if (!moved[i])
			continue;
		const bool high = at[0] == 0x4c;
		if ((at[0] != 0x48 && !high) || at[1] != STORE || (at[2] & (BOTH | 7)) != (BOTH | wanted[i]))
			return false;
		registers[i] = (uint8_t)((at[2] >> 3 & 7) + (high ? 8 : 0));
		if (registers[i] == RSP)
			return false;
		at += MOVE;
	}
	if (*at != CALL)
		return false;
	at += CALL_SIZE;
	for (unsigned i = count; i-- > 0; at++)
		if (*at != (moved[i] ? POP + wanted[i] : NOTHING))
			return false;
	return true;
}

/* "lea -128(%rsp), %rsp", the call, and instructions that do nothing, in which a register has four bits.
 * "xchg %ax, %ax" takes the place of the jump at the end, at once. */
static void patch_event(uint8_t *sled, unsigned kind, const uint8_t *registers, const uint8_t *jumps)
{
	static const uint8_t below[] = {0x48, 0x8d, 0x64, 0x24, 0x80}, custom[] = {0x0f, 0x1f, 0x44, 0x00},
			     typed[] = {0x66, 0x0f, 0x1f, 0x84, 0x00, 0, 0, 0, 0, 0x90};
	const uint16_t nothing = 0x9066;
	uint8_t *call = sled + HEAD + sizeof below, *behind = call + CALL_SIZE;
	const int32_t distance = (int32_t)(jumps + EVENT * FLIGHT_JUMP - behind);
	memcpy(sled + HEAD, below, sizeof below);
	*call = 0xe8;
	memcpy(call + 1, &distance, sizeof distance);
	const uint8_t first = (uint8_t)(registers[0] | registers[1] << 4);
	if (kind == FLIGHT_SLED_CUSTOM_EVENT) {
		memcpy(behind, custom, sizeof custom);
		behind[sizeof custom] = first;
	} else {
		memcpy(behind, typed, sizeof typed);
		behind[5] = first;
		behind[6] = registers[2];
	}
	__atomic_store_n((uint16_t *)sled, nothing, __ATOMIC_RELEASE);
}

/* What the stub calls. */
void tw_flight_sled_event(const uint64_t *registers, const uint8_t *behind);
__attribute__((visibility("hidden"))) void tw_flight_sled_event(const uint64_t *registers, const uint8_t *behind)
{
	if (flight_is_off())
		return;
	const bool typed = *behind == 0x66;
	const uint8_t *places = behind + (typed ? 5 : 4);
	const uint64_t first = registers[places[0] & 15], second = registers[places[0] >> 4];
	if (typed)
		flight_event(
		    &(struct flight_event){(const void *)second, registers[places[1] & 15], true, (uint16_t)first});
	else
		flight_event(&(struct flight_event){(const void *)first, second, false, 0});
}

bool flight_patch_sled(uint8_t *sled, uint32_t id, unsigned kind, const uint8_t *jumps)
{
	uint8_t registers[ARGUMENTS_MOST];
	if (kind >= FLIGHT_SLED_KINDS)
		return false;
	if (kind < FLIGHT_SLED_CUSTOM_EVENT) {
		const bool empty = is_empty(sled, kind);
		if (empty)
			patch(sled, id, kind, jumps);
		return empty;
	}
	const bool found = find_arguments(sled, kind, registers);
	if (found)
		patch_event(sled, kind, registers, jumps);
	return found;
}

#else
typedef int flight_no_sleds_of_x86_64;
#endif
