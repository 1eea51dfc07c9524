/* heap.c - where the memory of the tool's process comes from. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>

enum {
	HUGE_PAGE = 2 << 20,
	HUGE = 32 << 20,     /* of the heap, at its beginning */
	ARRAY_MOST = 4 << 20 /* what is larger goes back to the system as soon as it is freed */
};

void tw_heap_begin(void)
{
	uintptr_t end = (uintptr_t)sbrk(0), from = (end + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, ARRAY_MOST);
	mallopt(M_TRIM_THRESHOLD, 2 * HUGE);
	mallopt(M_TOP_PAD, (int)(from - end) + HUGE);
	void *volatile first = malloc(HUGE_PAGE); /* the heap grows by this and the pad */
	free(first);
	mallopt(M_TOP_PAD, HUGE_PAGE);
	madvise((void *)from, HUGE, MADV_HUGEPAGE);
}
#else
void tw_heap_begin(void)
{
}
#endif
