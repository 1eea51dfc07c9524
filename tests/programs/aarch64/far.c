/* far.c - a program that writes to a byte each of so many pages, so many MiB from one to the next. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

int main(int argc, char **argv)
{
	static const uintptr_t first = UINT64_C(0x1000000000);
	size_t count = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	size_t step = argc > 2 ? strtoul(argv[2], NULL, 10) << 20 : 0;
	for (size_t i = 0; i < count; i++) {
		unsigned char *page = mmap((void *)(first + i * step), PAGE, PROT_READ | PROT_WRITE,
		                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		if (page == MAP_FAILED)
			return 1;
		*page = 1;
	}
	return 0;
}
