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
	PAGE = 4 << 10,
	HUGE_PAGE = 2 << 20,
	HUGE = 32 << 20,     /* of the heap, at its beginning */
	ARRAY_MOST = 4 << 20 /* what is larger goes back to the system as soon as it is freed */
};

/* The heap begins with a small page, because that is written to before it can be said of the others that they should be
 * huge. */
void tw_heap_begin(void)
{
	const uintptr_t end = (uintptr_t)sbrk(0), huge = (end + PAGE + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	if (sbrk((intptr_t)(huge - PAGE - end)) != (void *)end)
		return;
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, ARRAY_MOST);
	mallopt(M_TRIM_THRESHOLD, 2 * HUGE);
	mallopt(M_TOP_PAD, HUGE + PAGE);
	void *volatile first = malloc(1); /* the heap grows by the pad */
	free(first);
	mallopt(M_TOP_PAD, HUGE_PAGE);
	madvise((void *)huge, HUGE, MADV_HUGEPAGE);
}
#else
void tw_heap_begin(void)
{
}
#endif
