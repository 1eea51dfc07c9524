/* sled.h - a sled of the machine, empty or patched. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_SLED_H
#define FLIGHT_SLED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>

/* Sources: compiler-rt/lib/xray/xray_interface_internal.h (XRaySledEntry), xray_x86_64.cpp, xray_AArch64.cpp (the
 * bytes of sleds). */
enum flight_sled_kind {
	FLIGHT_SLED_ENTER,
	FLIGHT_SLED_EXIT,
	FLIGHT_SLED_TAIL_EXIT,
	FLIGHT_SLED_ENTER_ARGUMENT,
	FLIGHT_SLED_CUSTOM_EVENT,
	FLIGHT_SLED_TYPED_EVENT,
	FLIGHT_SLED_KINDS
};

/* How many bytes a sled has. */
static inline uint64_t flight_sled_size(unsigned kind)
{
#if defined(__x86_64__)
	return kind == FLIGHT_SLED_TYPED_EVENT ? 22 : kind == FLIGHT_SLED_CUSTOM_EVENT ? 17 : 11;
#else
	return kind == FLIGHT_SLED_TYPED_EVENT ? 36 : kind == FLIGHT_SLED_CUSTOM_EVENT ? 24 : 32;
#endif
}

/* What sleds near a place jump to. NULL: there is no memory that they reach. Uses libc. */
uint8_t *flight_make_jumps(uint64_t place);

/* How far a jump in a sled or a function reaches, less what there may be of code on the way. AArch64: that of "b". */
#if defined(__x86_64__)
#define FLIGHT_REACH ((UINT64_C(1) << 31) - (64 << 20))
#else
#define FLIGHT_REACH ((UINT64_C(1) << 27) - (16 << 20))
#endif

/* Places near another that jump to functions, FLIGHT_JUMP bytes from each other. NULL: there is no memory. Uses
 * libc. */
enum { FLIGHT_JUMP = 16 };
uint8_t *flight_make_jump(uint64_t place, void (*const *functions)(void), unsigned count);

/* The page that an address is in, as the kernel protects them. */
static inline uint64_t flight_page_of(uint64_t address)
{
	return address & -(uint64_t)getauxval(AT_PAGESZ);
}

/* Puts a jump to a function, FLIGHT_JUMP bytes at most, where it can be written to. */
void flight_put_jump(uint8_t *place, void (*function)(void));

/* Makes a sled, which can be written to, call the recorder. False: it is none that the compiler has left, and stays as
 * it is. */
bool flight_patch_sled(uint8_t *sled, uint32_t id, unsigned kind, const uint8_t *jumps);

#endif
