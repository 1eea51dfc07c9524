/* stays.c - a program that ends and leaves a process behind, which goes on in a session of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	pid_t child = fork();
	if (child == 0) {
		setsid();
		for (;;)
			usleep(10000);
	}
	printf("%d\n", (int)child);
	return 0;
}
