/* pack.c - tokens as frames of zstd: each is whole by itself, and has a checksum. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/pack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zstd.h>

void *pack_frame(const uint8_t *bytes, size_t size, size_t *packed)
{
	enum { LEVEL = 1 };
	size_t room = ZSTD_compressBound(size);
	void *frame = malloc(room);
	ZSTD_CCtx *packer = ZSTD_createCCtx();
	bool made = frame && packer && !ZSTD_isError(ZSTD_CCtx_setParameter(packer, ZSTD_c_compressionLevel, LEVEL)) &&
	            !ZSTD_isError(ZSTD_CCtx_setParameter(packer, ZSTD_c_checksumFlag, 1));
	*packed = made ? ZSTD_compress2(packer, frame, room, bytes, size) : 0;
	ZSTD_freeCCtx(packer);
	if (made && !ZSTD_isError(*packed))
		return frame;
	free(frame);
	return NULL;
}
