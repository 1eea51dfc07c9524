/* loads.c - a program that opens libraries, calls them and closes them, and one of these libraries.
 *
 * loads COUNT FILE: FILE is opened so many times, at another place each, and `visit` called. loads FILE OTHER: two
 * processes open one each, at the same place. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef VISIT

/* No call of its own. */
int VISIT(int times);
int VISIT(int times)
{
	volatile int sum = 0;
	for (int i = 0; i < times; i++)
		sum += i;
	return sum;
}

#else

enum { MOST = 64 };

static void *open_and_call(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*function)(int) = library ? (int (*)(int))dlsym(library, name) : NULL;
	printf("%p %d\n", (void *)function, function ? function(5) : -1);
	return library;
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[1]) : 0;
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; i < count && i < MOST; i++) {
		void *library = open_and_call(argv[2], "visit");
		if (library)
			dlclose(library);
	}
	if (count == 0 && argc == 3) {
		pid_t child = fork();
		open_and_call(child ? argv[1] : argv[2], child ? "visit" : "other");
		if (child)
			wait(NULL);
	}
	return 0;
}

#endif
