/* watch.c - what dlopen() brings and dlclose() removes: the loader tells debuggers, by a function that does nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log/log.h"
#include "flight/sites/sled.h"
#include "flight/sites/sleds.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* A program without a loader has none. Source: glibc, elf/link.h */
#pragma weak _r_debug

/* In place of the loader's function, which has the lock of the loader. */
static void on_change(void)
{
	if (_r_debug.r_state == RT_CONSISTENT && flight_has_log())
		flight_patch_all();
}

/* What of a function is replaced at once, for another thread may be there. */
#if defined(__x86_64__)

typedef uint64_t code;

/* Whether it is "ret" with nothing but filling behind it: one that a debugger has changed is left alone. */
static code *find_return(uint8_t *function)
{
	enum { RETURN = 0xc3 };
	static const uint8_t marked[] = {0xf3, 0x0f, 0x1e, 0xfa}, filling[] = {0x66, 0x0f, 0x90, 0xcc, 0x2e};
	const bool is_marked = memcmp(function, marked, sizeof marked) == 0;
	const uint8_t *end = function + (is_marked ? sizeof marked : 0);
	const bool found = (uint64_t)function % (2 * sizeof(code)) == 0 && *end == RETURN &&
	                   memchr(filling, end[1], sizeof filling) != NULL;
	return found ? (code *)function : NULL;
}

/* "jmp", and what stands behind it. */
static code jump_from(const code *place, const uint8_t *jump)
{
	enum { SIZE = 5, GO = 0xe9 };
	code made = *place;
	const int32_t distance = (int32_t)(jump - ((const uint8_t *)place + SIZE));
	uint8_t *bytes = (uint8_t *)&made;
	bytes[0] = GO;
	memcpy(bytes + 1, &distance, sizeof distance);
	return made;
}

#else

typedef uint32_t code;

/* "ret", at once or behind "bti c". */
static code *find_return(uint8_t *function)
{
	const code end = 0xd65f03c0, mark = 0xd503245f;
	code *at = (code *)function;
	at += *at == mark;
	return *at == end ? at : NULL;
}

/* "b" */
static code jump_from(const code *place, const uint8_t *jump)
{
	const code go = 0x14000000, distance = 0x3ffffff; /* in words */
	return go | ((code)((jump - (const uint8_t *)place) >> 2) & distance);
}

#endif

static void redirect(code *place, const uint8_t *jump)
{
	uint8_t *page = (uint8_t *)flight_page_of((uint64_t)place);
	const size_t size = (size_t)((uint8_t *)(place + 1) - page);
	if (mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) {
		__atomic_store_n(place, jump_from(place, jump), __ATOMIC_RELEASE);
		__builtin___clear_cache((char *)place, (char *)(place + 1));
		mprotect(page, size, PROT_READ | PROT_EXEC);
	}
}

void flight_watch_objects(void)
{
	uint8_t *function = &_r_debug && _r_debug.r_version ? (uint8_t *)_r_debug.r_brk : NULL;
	code *end = function ? find_return(function) : NULL;
	const uint8_t *jump = end ? flight_make_jump((uint64_t)end, (void (*const[])(void)){on_change}, 1) : NULL;
	if (jump)
		redirect(end, jump);
}
