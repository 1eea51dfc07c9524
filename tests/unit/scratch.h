/* scratch.h - a file in memory, for the tests of what is read from files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct scratch {
	int fd;
	char path[64];
};

static inline int scratch_set_up(void **state)
{
	struct scratch *scratch = calloc(1, sizeof *scratch);
	*state = scratch;
	if (!scratch)
		return -1;
	scratch->fd = memfd_create("program", MFD_CLOEXEC);
	snprintf(scratch->path, sizeof scratch->path, "/proc/self/fd/%d", scratch->fd);
	return scratch->fd < 0 ? -1 : 0;
}

static inline int scratch_tear_down(void **state)
{
	struct scratch *scratch = *state;
	close(scratch->fd);
	free(scratch);
	return 0;
}

static inline void save(const struct scratch *scratch, const void *bytes, size_t size)
{
	assert_int_equal(ftruncate(scratch->fd, (off_t)size), 0);
	assert_int_equal(pwrite(scratch->fd, bytes, size, 0), size);
}

#endif
