/* marked.c - the first program of a machine: it asks once between two marks, twice between the next two, and three times
 * between the last two, and much in between. */
/* SPDX-License-Identifier: Apache-2.0 */
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

int main(void)
{
	for (int i = 1; i <= PAIRS; i++) {
		make_child();
		MARK();
		for (int k = 0; k < i; k++)
			ask();
		MARK();
	}
	sync();
	reboot(RB_POWER_OFF);
}
