/* faults.c - a load that faults, between instructions that use flags and vectors, which the signal's handler changes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static volatile double half;
static int faults;

/* Goes on behind the load. */
static void take(int number, siginfo_t *information, void *context)
{
	ucontext_t *where = context;
	unsigned char bytes[64];
	(void)number;
	(void)information;
	memset(bytes, ++faults, sizeof bytes);
	half = half * 0.5 + bytes[63];
	__asm__ volatile("movi v0.16b, #255\n\tcmp sp, #1" ::: "v0", "cc");
	where->uc_mcontext.pc += 4;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};
	unsigned char from[16] = "fifteen letters", to[16];
	int same = 0;
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < 20; i++) {
		long equal = 0;
		__asm__ volatile("ldr q0, [%1]\n\t"
		                 "cmp %1, %1\n\t"
		                 "ldr x9, [%3]\n\t"
		                 "cset %0, eq\n\t"
		                 "str q0, [%2]"
		                 : "=&r"(equal)
		                 : "r"(from), "r"(to), "r"(16L)
		                 : "v0", "x9", "cc", "memory");
		same += equal && memcmp(from, to, sizeof to) == 0;
	}
	printf("%d %d\n", faults, same);
	return 0;
}
