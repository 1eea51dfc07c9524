/* known.c - paths that a log read before has: a forked child's log repeats those of its parent up to the fork, with
 * which the blocks of both begin. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiling/profiling.h"

enum { SEED = 1 };

/* The hash of a block up to a path. 0 is none. */
static uint64_t go_on(uint64_t hash, const struct profiling_item *item)
{
	hash = tw_hash_bytes(item->path.ids, (size_t)item->size, hash);
	return hash ? hash : SEED;
}

/* A path of no ticks is not enough to tell two blocks apart. */
static int add_log(struct tw_reader *before, struct profiling_known *known)
{
	struct profiling_walk *walk = &((struct profiling_reader *)before->state)->walk;
	struct profiling_item item;
	uint64_t hash = 0;
	uint32_t there;
	while (profiling_walk_next(before, walk, &item) > 0) {
		if (item.kind == PROFILING_BLOCK) {
			hash = SEED;
		} else if (item.kind == PROFILING_PATH && hash) {
			hash = hash != SEED || item.path.ticks ? go_on(hash, &item) : 0;
			if (hash && !tw_map_find(&known->beginnings, hash, &there) &&
			    !tw_map_add(&known->beginnings, hash, 0))
				return TW_ERR_MEMORY;
		}
	}
	return 0;
}

int profiling_known_load(struct tw_reader *reader, struct profiling_known *known)
{
	const struct tw_read_options *options = &reader->options;
	const uint64_t process = ((struct profiling_reader *)reader->state)->walk.header.process;
	int status = 0;
	for (size_t i = 0; i < options->before_count && status >= 0; i++) {
		struct tw_reader *before;
		if (tw_open_before(&before, reader, i) &&
		    ((struct profiling_reader *)before->state)->walk.header.process != process)
			status = add_log(before, known);
		tw_close(before);
	}
	return status;
}

bool profiling_is_known(struct profiling_known *known, const struct profiling_item *item)
{
	uint32_t there;
	if (item->kind == PROFILING_BLOCK)
		known->hash = SEED;
	if (item->kind != PROFILING_PATH || !known->hash)
		return false;
	known->hash = go_on(known->hash, item);
	if (!tw_map_find(&known->beginnings, known->hash, &there))
		known->hash = 0;
	return known->hash != 0;
}

void profiling_known_free(struct profiling_known *known)
{
	tw_map_free(&known->beginnings);
}
