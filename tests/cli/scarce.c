/* scarce.c - malloc() and its like for a program whose memory is to run out: loaded before it.
 *
 * SCARCE_FROM and SCARCE_TO: the first and the last allocation that fails, counted from 1; SCARCE_COUNT: a file that
 * gets the count of all of them when the program ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The same in glibc under other names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *bytes, size_t size);

static atomic_ulong made;
static unsigned long from, to;

static unsigned long number_in(const char *name)
{
	const char *text = getenv(name);
	return text ? strtoul(text, NULL, 10) : 0;
}

void served_begin(void);

/* Also where one process runs many commands, each in a fork (tests/truth/serve.c). */
void served_begin(void)
{
	to = number_in("SCARCE_TO");
	from = number_in("SCARCE_FROM");
	atomic_store(&made, 0);
}

__attribute__((constructor)) static void begin(void)
{
	served_begin();
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("SCARCE_COUNT");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
	if (fd < 0)
		return;
	dprintf(fd, "%lu\n", atomic_load(&made));
	close(fd);
}

static bool fails(void)
{
	unsigned long number = atomic_fetch_add(&made, 1) + 1;
	bool chosen = from && number >= from && number <= to;
	if (chosen)
		errno = ENOMEM;
	return chosen;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *bytes, size_t size)
{
	return fails() ? NULL : __libc_realloc(bytes, size);
}
