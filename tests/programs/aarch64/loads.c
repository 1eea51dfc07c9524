/* loads.c - a program that opens libraries, calls them and closes them, and one of these libraries.
 *
 * loads COUNT FILE: FILE is opened so many times, at another place each, and `visit` called. loads FILE OTHER: two
 * processes open one each, at the same place. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

static void *open_and_call(const char *path, const char *name, void **place)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*function)(int) = library ? (int (*)(int))dlsym(library, name) : NULL;
	*place = (void *)function;
	printf("%p %d\n", *place, function ? function(5) : -1);
	return library;
}

/* So that no library comes there again. */
static void keep_page(void *place)
{
	enum { PAGE = 4096 };
	void *page = (void *)((uintptr_t)place & ~(uintptr_t)(PAGE - 1));
	if (mmap(page, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page)
		abort();
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[1]) : 0;
	void *place;
	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; i < count && i < MOST; i++) {
		void *library = open_and_call(argv[2], "visit", &place);
		if (library && dlclose(library) == 0)
			keep_page(place);
	}
	if (count == 0 && argc == 3) {
		pid_t child = fork();
		open_and_call(child ? argv[1] : argv[2], child ? "visit" : "other", &place);
		if (child)
			wait(NULL);
	}
	return 0;
}

#endif
