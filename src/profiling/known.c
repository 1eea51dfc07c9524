/* known.c - paths that a log read before has: a forked child's log repeats those of its parent up to the fork, with
 * which the blocks of both begin. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiling/profiling.h"

enum { SEED = 1 };

/* The hash of a block up to a path; 0: none. A path of no ticks is not enough to tell two blocks apart. */
static uint64_t go_on(uint64_t hash, const struct profiling_item *item)
{
	if (!hash || (hash == SEED && !item->path.ticks))
		return 0;
	hash = tw_hash_bytes(item->path.ids, (size_t)item->size, hash);
	return hash ? hash : SEED;
}

int profiling_is_known(struct profiling_known *known, const struct profiling_walk *walk,
                       const struct profiling_item *item)
{
	const uint32_t process = (uint32_t)walk->header.process;
	uint32_t whose;
	if (item->kind == PROFILING_BLOCK) {
		known->hash = SEED;
		known->known = true;
	}
	if (item->kind != PROFILING_PATH)
		return 0;
	known->hash = go_on(known->hash, item);
	const bool found = known->hash && tw_map_find(&known->beginnings, known->hash, &whose);
	known->known = known->known && found && whose != process;
	if (known->hash && !found && !tw_map_add(&known->beginnings, known->hash, process))
		return TW_ERR_MEMORY;
	return known->known;
}

static int add_log(struct tw_reader *before, struct profiling_known *known)
{
	struct profiling_walk *walk = &((struct profiling_reader *)before->state)->walk;
	struct profiling_item item;
	int status = 0;
	while (status >= 0 && profiling_walk_next(before, walk, &item) > 0)
		status = profiling_is_known(known, walk, &item);
	return status < 0 ? status : 0;
}

int profiling_known_load(struct tw_reader *reader, struct profiling_known *known)
{
	const struct tw_read_options *options = &reader->options;
	int status = 0;
	for (size_t i = 0; i < options->before_count && status >= 0; i++) {
		struct tw_reader *before;
		if (tw_open_before(&before, reader, i))
			status = add_log(before, known);
		tw_close(before);
	}
	return status;
}

void profiling_known_free(struct profiling_known *known)
{
	tw_map_free(&known->beginnings);
}
