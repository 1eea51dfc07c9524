/* execs.c - a program that makes processes, each of which becomes the program that an argument names, or goes on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words)
{
	for (int i = 1; i < count; i++) {
		pid_t child = fork();
		if (child == 0) {
			execl(words[i], words[i], (char *)NULL);
			getppid();
			_exit(3);
		}
		int status = 0;
		waitpid(child, &status, 0);
		printf("%d\n", WEXITSTATUS(status));
	}
	return 0;
}
