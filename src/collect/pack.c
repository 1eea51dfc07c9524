/* pack.c - tokens as frames of zstd: each is whole by itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/pack.h"

#include <stdlib.h>
#include <zstd.h>

void *pack_frame(const uint8_t *bytes, size_t size, size_t *packed)
{
	enum { LEVEL = 1 };
	size_t room = ZSTD_compressBound(size);
	void *frame = malloc(room);
	*packed = frame ? ZSTD_compress(frame, room, bytes, size, LEVEL) : 0;
	if (frame && !ZSTD_isError(*packed))
		return frame;
	free(frame);
	return NULL;
}
