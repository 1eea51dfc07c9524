/* jump.c - jumps near the code that is patched: what stands in a sled, or in a function, reaches only so far. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/sites/sled.h"

#include "flight/log/log.h"

#include <string.h>
#include <sys/mman.h>

void flight_put_jump(uint8_t *place, void (*function)(void))
{
#if defined(__x86_64__)
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
#else
	static const uint32_t jump[] = {0x58000050 /* ldr x16, .+8 */, 0xd61f0200 /* br x16 */};
#endif
	memcpy(place, jump, sizeof jump);
	memcpy(place + sizeof jump, &function, sizeof function);
	__builtin___clear_cache((char *)place, (char *)place + FLIGHT_JUMP);
}

/* At a multiple of the largest pages that there are. */
static uint8_t *map_near(uint64_t place)
{
	enum { STEP = 1 << 20, LARGEST_PAGE = 1 << 16 };
	const uint64_t start = place & -(uint64_t)LARGEST_PAGE;
	for (uint64_t away = FLIGHT_REACH / 8; away < FLIGHT_REACH; away += STEP) {
		const uint64_t wanted[] = {start + away, start - away};
		for (unsigned i = 0; i < 2; i++) {
			void *page = mmap((void *)wanted[i], FLIGHT_PAGE, PROT_READ | PROT_WRITE,
			                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (page == (void *)wanted[i])
				return page;
			if (page != MAP_FAILED)
				munmap(page, FLIGHT_PAGE);
		}
	}
	return NULL;
}

/* A page of them, one for each function. */
uint8_t *flight_make_jump(uint64_t place, void (*const *functions)(void), unsigned count)
{
	uint8_t *page = map_near(place);
	for (unsigned i = 0; page && i < count; i++)
		flight_put_jump(page + i * FLIGHT_JUMP, functions[i]);
	if (page && mprotect(page, FLIGHT_PAGE, PROT_READ | PROT_EXEC) < 0) {
		munmap(page, FLIGHT_PAGE);
		return NULL;
	}
	return page;
}
