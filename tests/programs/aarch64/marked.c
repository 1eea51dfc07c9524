/* marked.c - the first program of a machine: it asks once between two marks, twice between the next two, and three times
 * between the third two, and much in between. Then it has SVE, with vectors of 256 bits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAIRS = 3 };

#define MARK() __asm__ volatile("hint #9")

__attribute__((noipa)) static long ask(void)
{
	register long number __asm__("x8") = SYS_getppid;
	register long result __asm__("x0");
	__asm__ volatile("svc #0" : "=r"(result) : "r"(number) : "memory");
	return result;
}

/* Other tasks are executed. */
static void make_child(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

/* Between the marks; registers are set before. Nothing was stored to the pages yet: the kernel makes them, the last two
 * for one instruction. */
#define EIGHT(n) (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7
static const uint8_t numbers[32] = {EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24)};
uint8_t stored[3 * 4096] __attribute__((aligned(4096)));

__attribute__((noipa)) static void use_vectors(void)
{
	__asm__ volatile(".arch_extension sve\n"
	                 "ptrue p0.d, vl3\n"
	                 "ptrue p1.b, vl5\n"
	                 "wrffr p1.b\n"
	                 "index z0.b, #1, #2\n"
	                 "index z2.d, #8, #-4\n"
	                 "hint #9\n"
	                 ".global with_vectors\n"
	                 "with_vectors:\n"
	                 "ld1d {z1.d}, p0/z, [%0]\n"
	                 "st1b {z1.d}, p0, [%1]\n"
	                 "ld1d {z3.d}, p0/z, [%0, z2.d]\n"
	                 "st1w {z1.d}, p0, [%1, z2.d, lsl #2]\n"
	                 "str z0, [%2]\n"
	                 "str p1, [%1, #10, mul vl]\n"
	                 "hint #9\n"
	                 :
	                 : "r"(numbers), "r"(stored), "r"(stored + 2 * 4096 - 8)
	                 : "memory", "v0", "v1", "v2", "v3");
}

int main(void)
{
	for (int i = 1; i <= PAIRS; i++) {
		make_child();
		MARK();
		for (int k = 0; k < i; k++)
			ask();
		MARK();
	}
	use_vectors();
	sync();
	reboot(RB_POWER_OFF);
}
