/* pack.h - tokens as frames of zstd. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_PACK_H
#define COLLECT_PACK_H

#include <stddef.h>
#include <stdint.h>

/* Makes a frame of some bytes, to be freed. Returns NULL without memory. */
void *pack_frame(const uint8_t *bytes, size_t size, size_t *packed);

#endif
