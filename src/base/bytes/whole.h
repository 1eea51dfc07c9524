/* whole.h - bytes that go to a descriptor whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_WHOLE_H
#define BASE_BYTES_WHOLE_H

#include <stddef.h>
#include <stdint.h>

/* Writes all bytes, over interruptions and short writes. Returns 0 or an errno. */
int tw_write_whole(int fd, const void *bytes, size_t size);

/* The same at an offset of a file. */
int tw_write_whole_at(int fd, const void *bytes, size_t size, uint64_t offset);

#endif
