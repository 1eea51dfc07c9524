/* hooks.c - what -finstrument-functions of gcc and clang calls. glibc has functions of these names that do nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log.h"
#include "flight/objects.h"

#define FLIGHT_HOOK __attribute__((visibility("default"), no_instrument_function))

enum { ENTER, EXIT };

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static inline void hook(const void *function, uint32_t kind)
{
	if (flight_log->generation == 0)
		return;
	const uint32_t id = flight_id_of(function);
	if (id == FLIGHT_NOT_CHOSEN)
		return;
	if (id)
		flight_function(id << 4 | kind << 1);
	else
		flight_lose();
}

FLIGHT_HOOK void __cyg_profile_func_enter(void *function, void *site)
{
	(void)site;
	hook(function, ENTER);
}

FLIGHT_HOOK void __cyg_profile_func_exit(void *function, void *site)
{
	(void)site;
	hook(function, EXIT);
}
