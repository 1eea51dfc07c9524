/* repair.c - an xray-profiling log written again: blocks with the paths that could be read, sizes and numbers right. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "profiling/profiling.h"

/* A block is held back until its size is known: it is never larger than it was. */
struct block_repair {
	struct tw_output *out;
	struct tw_rewrite_result *result;
	bool big, open;
	uint32_t logs; /* that ended */
	struct profiling_block block;
	struct tw_text paths;
};

static void put_block(struct block_repair *repair)
{
	uint8_t bytes[PROFILING_BLOCK_SIZE];
	if (!repair->open)
		return;
	repair->block.size = (uint32_t)(PROFILING_BLOCK_SIZE + repair->paths.length);
	profiling_block_encode(&repair->block, repair->big, bytes);
	tw_put(repair->out, bytes, sizeof bytes);
	tw_put(repair->out, repair->paths.bytes, repair->paths.length);
	repair->result->records_out++;
	repair->paths.length = 0;
	repair->block.number++;
	repair->open = false;
}

static void put_header(struct block_repair *repair, const struct profiling_header *header)
{
	uint8_t bytes[PROFILING_HEADER_SIZE];
	profiling_header_encode(header, bytes);
	tw_put(repair->out, bytes, sizeof bytes);
	repair->big = header->big;
	repair->block.number = 0;
}

static bool put_path(struct block_repair *repair, const struct profiling_item *item)
{
	if (repair->paths.length + item->size > UINT32_MAX - PROFILING_BLOCK_SIZE)
		put_block(repair);
	repair->open = true;
	repair->result->records_out++;
	return tw_text_add(&repair->paths, (const char *)item->path.ids, (size_t)item->size);
}

static bool take(struct block_repair *repair, const struct profiling_walk *walk, const struct profiling_item *item)
{
	if (item->kind == PROFILING_GAP) {
		repair->result->lost_bytes += item->size;
		return true;
	}
	repair->result->records_in++;
	if (item->kind == PROFILING_PATH)
		return put_path(repair, item);
	put_block(repair);
	if (repair->logs != walk->logs)
		put_header(repair, &walk->header);
	repair->logs = walk->logs;
	repair->block.thread = walk->block.thread;
	repair->open = true;
	return true;
}

static void count_missing(const struct tw_reader *reader, const struct profiling_walk *walk, uint64_t begun,
                          struct tw_rewrite_result *result)
{
	const uint64_t end = tw_input_size(reader->input);
	if (walk->block_end == end && begun + walk->block.size > end)
		result->missing_bytes = begun + walk->block.size - end;
}

int profiling_repair(struct tw_reader *reader, struct tw_output *out, struct tw_rewrite_result *result)
{
	struct profiling_walk *walk = &((struct profiling_reader *)reader->state)->walk;
	struct block_repair repair = {.out = out, .result = result};
	struct profiling_item item;
	uint64_t begun = 0;
	bool room = true;
	int status;
	put_header(&repair, &walk->header);
	while (room && (status = profiling_walk_next(reader, walk, &item)) > 0) {
		begun = item.kind == PROFILING_BLOCK ? item.offset : begun;
		room = take(&repair, walk, &item);
	}
	put_block(&repair);
	tw_text_free(&repair.paths);
	if (!room)
		return tw_fail_memory(reader);
	if (begun)
		count_missing(reader, walk, begun, result);
	return status;
}
