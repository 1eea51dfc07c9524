/* sleds.h - the places of functions that clang's -fxray-instrument leaves empty, made to call the recorder. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_SLEDS_H
#define FLIGHT_SLEDS_H

#include <stddef.h>
#include <stdint.h>

struct flight_sleds {
	uint64_t patched;
	uint64_t foreign; /* somebody else has patched them, or they are of another machine */
};

/* Patches the sleds of all objects that are loaded, have a map, and are not patched yet; and forgets those that are no
 * longer there. Uses libc: not from a hook. */
struct flight_sleds flight_patch_all(void);

/* Has it done again whenever dlopen() or dlclose() has changed what is loaded. */
void flight_watch_objects(void);

#endif
