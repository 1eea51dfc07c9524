/* threads.c - Mono's threads: they are known by their pthread_t. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "monoprofiler/parts.h"

static _Thread_local bool gone; /* what it does after its end is nobody's */

uint64_t mono_thread(void)
{
	return gone ? 0 : (uint64_t)pthread_self();
}

void mono_thread_lives(bool lives)
{
	gone = !lives;
}
