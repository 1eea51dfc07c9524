/* watch.c - what dlopen() brings and dlclose() removes: the loader tells debuggers, by a function that does nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/sites/sled.h"
#include "flight/sites/sleds.h"

#if defined(__x86_64__)

#include "flight/log/log.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* A program without a loader has none. Source: glibc, elf/link.h */
#pragma weak _r_debug

enum { JUMP_SIZE = 5, ROOM = 8, GO = 0xe9, RETURN = 0xc3 };

/* In place of the loader's function, which has the lock of the loader. */
static void on_change(void)
{
	if (_r_debug.r_state == RT_CONSISTENT && flight_has_log())
		flight_patch_all();
}

/* Whether it is "ret" with nothing but filling behind it: one that a debugger has changed is left alone. */
static bool does_nothing(const uint8_t *function)
{
	static const uint8_t marked[] = {0xf3, 0x0f, 0x1e, 0xfa}, filling[] = {0x66, 0x0f, 0x90, 0xcc, 0x2e};
	const bool is_marked = memcmp(function, marked, sizeof marked) == 0;
	const uint8_t *end = function + (is_marked ? sizeof marked : 0);
	return (uint64_t)function % (2 * (uint64_t)ROOM) == 0 && *end == RETURN &&
	       memchr(filling, end[1], sizeof filling) != NULL;
}

/* All eight bytes at once: another thread may be there. */
static void redirect(uint8_t *function, const uint8_t *jump)
{
	uint64_t code;
	const int32_t distance = (int32_t)(jump - (function + JUMP_SIZE));
	uint8_t *page = function - (uint64_t)function % FLIGHT_PAGE;
	memcpy(&code, function, sizeof code);
	uint8_t *bytes = (uint8_t *)&code;
	bytes[0] = GO;
	memcpy(bytes + 1, &distance, sizeof distance);
	if (mprotect(page, FLIGHT_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) {
		__atomic_store_n((uint64_t *)function, code, __ATOMIC_RELEASE);
		mprotect(page, FLIGHT_PAGE, PROT_READ | PROT_EXEC);
	}
}

void flight_watch_objects(void)
{
	uint8_t *function = &_r_debug && _r_debug.r_version ? (uint8_t *)_r_debug.r_brk : NULL;
	if (!function || !does_nothing(function))
		return;
	const uint8_t *jump = flight_make_jump((uint64_t)function, (void (*const[])(void)){on_change}, 1);
	if (jump)
		redirect(function, jump);
}

#else

void flight_watch_objects(void)
{
}

#endif
