/* sleds.h - the places of functions that clang's -fxray-instrument leaves empty, made to call the recorder. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_SLEDS_H
#define FLIGHT_SLEDS_H

#include <stddef.h>
#include <stdint.h>

/* Sources: compiler-rt/lib/xray/xray_interface_internal.h (XRaySledEntry), xray_x86_64.cpp (the bytes of sleds). */
enum flight_sled_kind { FLIGHT_SLED_ENTER, FLIGHT_SLED_EXIT, FLIGHT_SLED_TAIL_EXIT, FLIGHT_SLED_ENTER_ARGUMENT };

struct flight_sleds {
	uint64_t patched;
	uint64_t foreign; /* somebody has patched them, or they are none that this machine has */
};

/* Patches the sleds of all objects that are loaded and have a map. Uses libc: not from a hook. */
struct flight_sleds flight_patch_all(void);

#endif
