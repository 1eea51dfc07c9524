/* loops.c - no loop is switched off. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loops.h"

_Static_assert(TW_LOOPS <= 64, "a bit for each");

uint64_t tw_loops_off;
