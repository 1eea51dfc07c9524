/* press.h - compression by other threads, behind the one that writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_PRESS_H
#define BASE_BYTES_PRESS_H

#include "base/bytes/compress.h"

#include <stdbool.h>
#include <stddef.h>

struct tw_press;

/* Starts. The sink is called from any thread, but by one at a time. NULL when there is no memory. */
struct tw_press *tw_press_new(const struct tw_packer *packer, enum tw_pack_effort effort,
                              const struct tw_pack_sink *sink);

/* Takes a copy of the bytes, and waits while too much is still to be compressed. */
void tw_press_put(struct tw_press *press, const char *bytes, size_t size);

/* Waits until all is compressed and in the sink, where nobody else is then. False when there was no memory. */
bool tw_press_end(struct tw_press *press);

/* Stops, wherever it is, and frees; NULL is fine. */
void tw_press_free(struct tw_press *press);

#endif
