/* whole.c - bytes that go to a descriptor whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/whole.h"

#include <errno.h>
#include <unistd.h>

/* What a call wrote: n bytes, or an error. Returns 0 or an errno. */
static int took(ssize_t n, const uint8_t **from, size_t *size)
{
	if (n == 0 || (n < 0 && errno != EINTR))
		return n < 0 ? errno : EIO;
	*from += n > 0 ? n : 0;
	*size -= n > 0 ? (size_t)n : 0;
	return 0;
}

int tw_write_whole(int fd, const void *bytes, size_t size)
{
	int error = 0;
	for (const uint8_t *from = bytes; size && !error;)
		error = took(write(fd, from, size), &from, &size);
	return error;
}

int tw_write_whole_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
	const uint64_t end = offset + size;
	int error = 0;
	for (const uint8_t *from = bytes; size && !error;)
		error = took(pwrite(fd, from, size, (off_t)(end - size)), &from, &size);
	return error;
}
