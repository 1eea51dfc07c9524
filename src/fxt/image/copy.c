/* copy.c - a ring that is written while it is read: its chunks are copied before anything is made of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/temporary.h"
#include "fxt/image/image.h"

#include <trackway/status.h>
#include <trackway/trace.h>

#include <errno.h>
#include <unistd.h>

int fxt_image_copy_open(struct fxt_image *image, const char *directory)
{
	if (image->header.mode != TW_TRACE_CIRCULAR || image->header.state == IMAGE_COMPLETE)
		return 0;
	image->copy = tw_temporary_open(directory);
	image->copied = image->copy >= 0;
	return image->copied ? 0 : TW_ERR_SYSTEM;
}

void fxt_image_copy_close(struct fxt_image *image)
{
	if (image->copied)
		close(image->copy);
	image->copied = false;
}

int fxt_image_copy_put(const struct fxt_image *image, uint64_t offset, const uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t n = pwrite(image->copy, bytes, size, (off_t)offset);
		if (n < 0 && errno != EINTR)
			return TW_ERR_SYSTEM;
		size -= n > 0 ? (size_t)n : 0;
		bytes += n > 0 ? n : 0;
		offset += n > 0 ? (uint64_t)n : 0;
	}
	return 0;
}

int64_t fxt_image_copy_get(const struct fxt_image *image, uint64_t offset, uint8_t *bytes, size_t size)
{
	size_t done = 0;
	while (done < size) {
		ssize_t n = pread(image->copy, bytes + done, size - done, (off_t)(offset + done));
		if (n == 0 || (n < 0 && errno != EINTR))
			return TW_ERR_SYSTEM;
		done += n > 0 ? (size_t)n : 0;
	}
	return (int64_t)done;
}
