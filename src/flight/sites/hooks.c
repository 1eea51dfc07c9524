/* hooks.c - what -finstrument-functions of gcc and clang calls. glibc has functions of these names that do nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/functions/objects.h"
#include "flight/log/log.h"

#define FLIGHT_HOOK __attribute__((visibility("default"), no_instrument_function))

enum { ENTER, EXIT };

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

/* The place of the return address of a function that calls a hook, or jumps to it, with what that address is; where
 * its frame is larger than is looked through, a place in the frame. */
static inline uint64_t place_of(const uint64_t *stack, const void *site)
{
	enum { LOOKS = 128 };
	for (int i = -1; i < LOOKS; i++)
		if (stack[i] == (uint64_t)site)
			return (uint64_t)&stack[i];
	return (uint64_t)stack;
}

static inline void hook(const void *function, const void *site, uint32_t kind, const uint64_t *stack)
{
	if (flight_is_off())
		return;
	const uint32_t id = flight_id_of(function);
	if (id == FLIGHT_NOT_CHOSEN)
		return;
	const struct flight_frame frame = {.place = place_of(stack, site),
	                                   .site = (uint32_t)(uint64_t)site,
	                                   .kind = FLIGHT_SHARED};
	if (id)
		flight_function(id << 4 | kind << 1, frame);
	else
		flight_lose();
}

FLIGHT_HOOK void __cyg_profile_func_enter(void *function, void *site)
{
	hook(function, site, ENTER, __builtin_dwarf_cfa());
}

FLIGHT_HOOK void __cyg_profile_func_exit(void *function, void *site)
{
	hook(function, site, EXIT, __builtin_dwarf_cfa());
}
