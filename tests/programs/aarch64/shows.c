/* shows.c - a program that prints its name, its arguments and its environment, a line each, and ends with 7. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

extern char **environ;

int main(int count, char **words)
{
	for (int i = 0; i < count; i++)
		printf("%s\n", words[i]);
	for (char **at = environ; *at; at++)
		printf("%s\n", *at);
	return 7;
}
