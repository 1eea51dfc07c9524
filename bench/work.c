/* work.c - an AArch64 program without a library that numbers are made, sorted and summed by: `replay` is measured with
 * it. */
/* SPDX-License-Identifier: Apache-2.0 */

enum { COUNT = 1 << 12 };

static unsigned numbers[COUNT];

static void sort(unsigned *from, unsigned *to)
{
	if (to - from < 2)
		return;
	unsigned pivot = from[(to - from) / 2], *low = from, *high = to - 1;
	while (low <= high) {
		while (*low < pivot)
			low++;
		while (*high > pivot)
			high--;
		if (low <= high) {
			unsigned other = *low;
			*low++ = *high;
			*high-- = other;
		}
	}
	sort(from, high + 1);
	sort(low, to);
}

/* Its only system call is its last instruction. */
void _start(void)
{
	unsigned seed = 1, sum = 0;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < COUNT; i++)
			numbers[i] = seed = seed * 1664525 + 1013904223;
		sort(numbers, numbers + COUNT);
		for (unsigned i = 0; i < COUNT; i++)
			sum = sum * 31 + numbers[i];
	}
	register long status __asm__("x0") = sum & 1;
	register long number __asm__("x8") = 94; /* exit_group */
	__asm__ volatile("svc #0" : : "r"(status), "r"(number));
	__builtin_unreachable();
}
