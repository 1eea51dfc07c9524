/* forks.c - a process that makes another, and one that a signal interrupts by a fault. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;

static void take(int number, siginfo_t *information, void *context)
{
	(void)context;
	(void)information;
	siglongjmp(back, number);
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	volatile int caught = 0;
	if (sigsetjmp(back, 1) == 0)
		*(volatile int *)16 = 1;
	else
		caught++;
	if (sigsetjmp(back, 1) == 0)
		__asm__ volatile("udf #0");
	else
		caught++;
	pid_t child = fork();
	if (child == 0)
		_exit(caught);
	int status = 0;
	waitpid(child, &status, 0);
	printf("%d %d\n", caught, WEXITSTATUS(status));
	return 0;
}
