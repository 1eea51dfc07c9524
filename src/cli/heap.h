/* heap.h - where the memory of the tool's process comes from. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HEAP_H
#define CLI_HEAP_H

/* Before memory is allocated and threads are started: has arrays of some size come from the heap, and asks the system
 * to give the beginning of that in huge pages: the time that small ones take is a tenth of that of a `check` of 100 MB
 * (`make bench`). A command takes up to 10 MB more with it. Does nothing where that cannot be had. */
void tw_heap_begin(void);

#endif
