/* press.c - compression in a thread of its own, behind the one that writes.
 *
 * What comes out does not depend on when either of them runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/press.h"

#include <stdlib.h>
#include <string.h>

#include "base/behind.h"

enum { BLOCKS = 4, ROOM = 1 << 16 };

struct block {
	size_t size;
	char bytes[ROOM];
};

struct tw_press {
	struct tw_pack *pack;
	struct tw_pack_sink sink;
	struct tw_behind *behind;
	bool failed; /* the other thread's until the end */
	struct block blocks[BLOCKS];
};

static void compress(void *context, void *piece)
{
	struct tw_press *press = context;
	const struct block *block = piece;
	press->failed |= !tw_pack_write(press->pack, &press->sink, block->bytes, block->size, false);
}

void tw_press_put(struct tw_press *press, const char *bytes, size_t size)
{
	for (size_t part; size; bytes += part, size -= part) {
		struct block *block = tw_behind_piece(press->behind);
		part = size < ROOM ? size : ROOM;
		memcpy(block->bytes, bytes, part);
		block->size = part;
		tw_behind_put(press->behind);
	}
}

bool tw_press_end(struct tw_press *press)
{
	tw_behind_end(press->behind);
	return tw_pack_write(press->pack, &press->sink, "", 0, true) && !press->failed;
}

static bool start(struct tw_press *press)
{
	void *list[BLOCKS];
	for (unsigned i = 0; i < BLOCKS; i++)
		list[i] = &press->blocks[i];
	press->behind = tw_behind_new(compress, press, list, BLOCKS);
	return press->behind != NULL;
}

struct tw_press *tw_press_new(const struct tw_packer *packer, enum tw_pack_effort effort,
                              const struct tw_pack_sink *sink)
{
	struct tw_press *press = calloc(1, sizeof *press);
	if (!press)
		return NULL;
	press->sink = *sink;
	press->pack = tw_pack_new(packer, effort);
	if (press->pack && start(press))
		return press;
	tw_press_free(press);
	return NULL;
}

void tw_press_free(struct tw_press *press)
{
	if (!press)
		return;
	tw_behind_free(press->behind);
	tw_pack_free(press->pack);
	free(press);
}
