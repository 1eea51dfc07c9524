/* walk.c - an xray-profiling log from block to block and path to path, over damage. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "profiling/profiling.h"

#include <inttypes.h>

enum {
	REACH = 1 << 22,    /* bytes in which the next block is looked for */
	NUMBERS_APART = 16, /* blocks that may be missing there */
	CALLS_BITS = 48,    /* no program counts further */
	TICKS_BITS = 60,    /* years */
	THREAD_BITS = 32,
	PID_BITS = 22,
	BEGINS = 64,   /* bytes that tell a log of another kind */
	LOOK = 1 << 12 /* bytes that are looked at together */
};

static int view(struct tw_reader *reader, struct profiling_walk *walk, uint64_t at, size_t want, const uint8_t **bytes,
                size_t *have)
{
	int status = tw_window_view(&walk->window, at, want, bytes, have);
	return status < 0 ? tw_fail(reader, status, "%s", tw_input_error(reader->input)) : 0;
}

static void check_version(struct tw_reader *reader, const struct profiling_walk *walk, uint64_t offset)
{
	if (walk->header.version != PROFILING_VERSION)
		tw_report(reader, &profiling_rules[PROFILING_BAD_VERSION], offset, offset + 8, 0,
		          "expected version 0x%x, found 0x%" PRIx64 ": it is read as that", PROFILING_VERSION,
		          walk->header.version);
}

int profiling_walk_open(struct tw_reader *reader, struct profiling_walk *walk)
{
	const uint8_t *bytes;
	size_t have;
	int status = 0;
	if (!tw_input_seekable(reader->input))
		status = tw_input_spool(reader->input, reader->options.temporary_directory);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	walk->window = (struct tw_window){.input = reader->input};
	status = view(reader, walk, 0, PROFILING_HEADER_SIZE, &bytes, &have);
	if (status < 0)
		return status;
	if (have < PROFILING_HEADER_SIZE)
		return tw_fail(reader, TW_ERR_EMPTY, "%s: expected a header of %d bytes, found %zu",
		               tw_input_name(reader->input), PROFILING_HEADER_SIZE, have);
	profiling_header_decode(bytes, &walk->header);
	if (!profiling_is_log(bytes, &walk->header.big))
		return tw_fail(reader, TW_ERR_FORMAT, "%s: there is no xray-profiling log at its beginning",
		               tw_input_name(reader->input));
	check_version(reader, walk, 0);
	walk->at = PROFILING_HEADER_SIZE;
	return 0;
}

void profiling_walk_free(struct profiling_walk *walk)
{
	tw_window_free(&walk->window);
}

/* ---- Blocks. ---- */

/* Whether a block of these numbers may follow `numbers` others. */
static bool may_follow(const struct profiling_block *block, uint32_t numbers)
{
	return block->size >= PROFILING_BLOCK_SIZE && block->number >= numbers &&
	       block->number - numbers < NUMBERS_APART && block->thread >> THREAD_BITS == 0;
}

/* Whether another log begins there, as `cat` makes one file of several. */
static bool begins_log(const uint8_t *bytes, size_t have)
{
	bool big;
	return have >= PROFILING_HEADER_SIZE && profiling_is_log(bytes, &big);
}

/* The same of another kind of XRay's, of a byte order. Source: doc/formats/xray-fdr.md, "The header". */
static bool begins_in_order(const uint8_t *bytes, bool big)
{
	enum { VERSIONS = 5, TYPES = 2, BOTH = 3, FIRST_BITS = 30, SLOWEST = 1000000 };
	const uint64_t frequency = tw_load64(bytes + 8, big), fastest = UINT64_C(100000000000);
	const uint32_t bits = tw_load32(bytes + 4, big);
	const uint16_t version = tw_load16(bytes, big);
	return version >= 1 && version <= VERSIONS && tw_load16(bytes + 2, big) < TYPES &&
	       ((bits & BOTH) == BOTH || (big && bits >> FIRST_BITS == BOTH)) && frequency >= SLOWEST &&
	       frequency <= fastest;
}

static bool begins_other(const uint8_t *bytes, size_t have)
{
	enum { HEADER = 32 };
	return have >= HEADER && (begins_in_order(bytes, false) || begins_in_order(bytes, true));
}

/* The same wherever it is met: with what such logs have behind the header, an entry of a function by a thread of Linux,
 * or the beginning of a buffer, by the order of bits. */
static bool begins_other_surely(const uint8_t *bytes, size_t have)
{
	enum { RECORD = 32, THREAD = RECORD + 16, BUFFER = 0x0f, BUFFER_MSB = 0x87, FIRST = 0x01, FIRST_MSB = 0x80 };
	if (have < BEGINS || !begins_other(bytes, have))
		return false;
	const bool big = bytes[0] == 0;
	const uint32_t id = tw_load32(bytes + RECORD + sizeof id, big), thread = tw_load32(bytes + THREAD, big);
	const uint8_t first = bytes[RECORD];
	if (tw_load16(bytes + 2, big) == 1)
		return first == BUFFER || first == BUFFER_MSB || first == FIRST || first == FIRST_MSB;
	return tw_load16(bytes + RECORD, big) <= 1 && id && thread && thread >> PID_BITS == 0;
}

/* Whether the bytes at an offset are the end of the file, or the header of a block or of another log. */
static int is_border(struct tw_reader *reader, struct profiling_walk *walk, uint64_t at, uint32_t numbers, bool *border)
{
	const uint8_t *bytes;
	struct profiling_block block;
	size_t have;
	*border = at == tw_input_size(reader->input);
	if (*border)
		return 0;
	int status = view(reader, walk, at, PROFILING_HEADER_SIZE, &bytes, &have);
	if (status < 0 || have < PROFILING_BLOCK_SIZE)
		return status;
	profiling_block_decode(bytes, walk->header.big, &block);
	*border = begins_log(bytes, have) || begins_other(bytes, have) || may_follow(&block, numbers);
	return 0;
}

/* Finds the next block behind `from`, whose size leads to a border, or log. *found: 0 where there is none. */
static int find_block(struct tw_reader *reader, struct profiling_walk *walk, uint64_t from, uint64_t *found)
{
	*found = 0;
	for (uint64_t at = from; at - from < REACH; at++) {
		const uint8_t *bytes;
		struct profiling_block block;
		size_t have;
		bool border = false;
		int status = view(reader, walk, at, BEGINS, &bytes, &have);
		if (status < 0 || have < PROFILING_BLOCK_SIZE)
			return status;
		if (begins_log(bytes, have) || begins_other_surely(bytes, have)) {
			*found = at;
			return 0;
		}
		profiling_block_decode(bytes, walk->header.big, &block);
		if (!may_follow(&block, walk->numbers) || block.size <= PROFILING_BLOCK_SIZE)
			continue;
		status = is_border(reader, walk, at + block.size, block.number + 1, &border);
		if (status < 0)
			return status;
		if (border) {
			*found = at;
			return 0;
		}
	}
	return 0;
}

/* Where a block ends whose size leads nowhere: where another one begins, or with the file. */
static int settle_end(struct tw_reader *reader, struct profiling_walk *walk, uint64_t offset)
{
	const uint64_t end = tw_input_size(reader->input);
	uint64_t found;
	int status = find_block(reader, walk, offset + PROFILING_BLOCK_SIZE, &found);
	if (status < 0)
		return status;
	if (!found && walk->block_end > end)
		tw_report(reader, &profiling_rules[PROFILING_CUT_BLOCK], offset, end, 0,
		          "the block of thread %" PRIu64 " should have %" PRIu32 " bytes, the file ends after %" PRIu64,
		          walk->block.thread, walk->block.size, end - offset);
	else
		tw_report(reader, &profiling_rules[PROFILING_BAD_SIZE], offset, offset, 0,
		          "a size of %" PRIu32 " does not lead to the next block%s", walk->block.size,
		          found ? ", which was found by its header" : "");
	walk->block_end = found ? found : end;
	return 0;
}

/* Bytes that belong to no block, up to the next one or to the end. */
static int pass_junk(struct tw_reader *reader, struct profiling_walk *walk, struct profiling_item *item)
{
	const uint64_t end = tw_input_size(reader->input), offset = walk->at;
	uint64_t found;
	int status = find_block(reader, walk, offset + 1, &found);
	if (status < 0)
		return status;
	walk->at = walk->block_end = found ? found : end;
	*item = (struct profiling_item){.kind = PROFILING_GAP, .offset = offset, .size = walk->at - offset};
	tw_report(reader, &profiling_rules[PROFILING_NO_BLOCK], offset, offset, 0,
	          "expected the header of a block, found %" PRIu64 " other bytes", item->size);
	return 1;
}

/* Goes on in the log that begins here. */
static void pass_header(struct tw_reader *reader, struct profiling_walk *walk, const uint8_t *bytes)
{
	profiling_header_decode(bytes, &walk->header);
	tw_report(reader, &profiling_rules[PROFILING_ANOTHER_LOG], walk->at, walk->at, 0,
	          "the header of another log, of process %" PRIu64 ": both are read", walk->header.process);
	check_version(reader, walk, walk->at);
	walk->at += PROFILING_HEADER_SIZE;
	walk->numbers = 0;
	walk->logs++;
}

/* This log ends. */
static void pass_other(struct tw_reader *reader, const struct profiling_walk *walk)
{
	const uint64_t offset = walk->at;
	reader->reports.quiet &= !walk->looks;
	tw_log_ends(reader, offset, "a log of another kind", &profiling_rules[PROFILING_FOREIGN_LOG],
	            &profiling_rules[PROFILING_TOO_MANY_LOGS]);
}

static int next_block(struct tw_reader *reader, struct profiling_walk *walk, struct profiling_item *item)
{
	const uint8_t *bytes;
	size_t have;
	bool border;
	int status;
	while ((status = view(reader, walk, walk->at, PROFILING_HEADER_SIZE, &bytes, &have)) >= 0 &&
	       begins_log(bytes, have))
		pass_header(reader, walk, bytes);
	if (status < 0 || have == 0)
		return status;
	if (begins_other(bytes, have)) {
		pass_other(reader, walk);
		return 0;
	}
	*item = (struct profiling_item){.kind = PROFILING_BLOCK, .offset = walk->at, .size = PROFILING_BLOCK_SIZE};
	if (have < PROFILING_BLOCK_SIZE)
		return pass_junk(reader, walk, item);
	profiling_block_decode(bytes, walk->header.big, &walk->block);
	/* The number may be damaged, but not the size with it. */
	if (walk->block.size < PROFILING_BLOCK_SIZE || walk->block.thread >> THREAD_BITS)
		return pass_junk(reader, walk, item);
	if (walk->block.number != walk->numbers)
		tw_report(reader, &profiling_rules[PROFILING_BAD_NUMBER], walk->at, walk->at + 4, 0,
		          "expected block %" PRIu32 ", found %" PRIu32, walk->numbers, walk->block.number);
	walk->numbers = may_follow(&walk->block, walk->numbers) ? walk->block.number + 1 : walk->numbers + 1;
	walk->block_end = walk->at + walk->block.size;
	status = is_border(reader, walk, walk->block_end, walk->numbers, &border);
	if (status >= 0 && !border)
		status = settle_end(reader, walk, walk->at);
	walk->at += PROFILING_BLOCK_SIZE;
	return status < 0 ? status : 1;
}

/* ---- Paths. ---- */

/* Finds the end of the ids that begin at `at`: a word of 0 before `end`. What is known of the words is kept, because in
 * bytes that are no paths the same ones are asked for from place to place. */
static int find_end(struct tw_reader *reader, struct profiling_walk *walk, struct profiling_ids *ids, uint64_t at,
                    uint64_t end)
{
	const uint8_t *bytes;
	size_t have;
	if (at < ids->from || at > ids->to)
		*ids = (struct profiling_ids){.from = at, .to = at};
	while (!ids->ended && ids->to + PROFILING_ID_SIZE <= end) {
		const uint64_t left = end - ids->to;
		int status = view(reader, walk, ids->to, left < LOOK ? (size_t)left : LOOK, &bytes, &have);
		if (status < 0 || have < PROFILING_ID_SIZE)
			return status;
		for (size_t i = 0; i + PROFILING_ID_SIZE <= have && i < LOOK && !ids->ended; i += PROFILING_ID_SIZE) {
			ids->ended = tw_load32(bytes + i, false) == 0;
			ids->to += ids->ended ? 0 : PROFILING_ID_SIZE;
		}
	}
	return 0;
}

/* The size of the path at a place of the block, the `nth` of two; 0: there is none. */
static int size_at(struct tw_reader *reader, struct profiling_walk *walk, unsigned nth, uint64_t at, size_t *size)
{
	enum { REST = PROFILING_ID_SIZE + PROFILING_SUMS_SIZE };
	const uint64_t left = walk->block_end - at;
	const size_t limit = tw_memory_limit(reader) / 8, most = left < limit ? (size_t)left : limit;
	struct profiling_ids *ids = &walk->ids[nth][at % PROFILING_ID_SIZE];
	struct profiling_path path;
	const uint8_t *bytes;
	size_t have;
	*size = 0;
	int status = find_end(reader, walk, ids, at, at + most);
	if (status < 0 || !ids->ended || ids->to == at || ids->to + REST > at + most)
		return status;
	status = view(reader, walk, ids->to, REST, &bytes, &have);
	if (status < 0 || !profiling_path_decode(bytes, have < REST ? have : REST, walk->header.big, &path))
		return status;
	if (path.calls && !(path.calls >> CALLS_BITS) && !(path.ticks >> TICKS_BITS))
		*size = (size_t)(ids->to - at) + REST;
	return 0;
}

/* Bytes that are no path: up to where two follow each other, or one that ends with the block. */
static int pass_bad(struct tw_reader *reader, struct profiling_walk *walk, struct profiling_item *item)
{
	const uint64_t offset = walk->at;
	uint64_t at = offset + 1;
	for (; at < walk->block_end && at - offset < REACH; at++) {
		size_t size, then = 0;
		int status = size_at(reader, walk, 0, at, &size);
		if (status >= 0 && size && at + size < walk->block_end)
			status = size_at(reader, walk, 1, at + size, &then);
		if (status < 0)
			return status;
		if (size && (then || at + size == walk->block_end))
			break;
	}
	walk->at = at < walk->block_end && at - offset < REACH ? at : walk->block_end;
	*item = (struct profiling_item){.kind = PROFILING_GAP, .offset = offset, .size = walk->at - offset};
	tw_report(reader, &profiling_rules[PROFILING_BAD_PATH], offset, offset, 0,
	          "expected the functions of a path, 0, calls and ticks, found %" PRIu64 " other bytes", item->size);
	return 1;
}

int profiling_walk_next(struct tw_reader *reader, struct profiling_walk *walk, struct profiling_item *item)
{
	const uint8_t *bytes;
	size_t size, have;
	if (walk->at >= walk->block_end)
		return next_block(reader, walk, item);
	int status = size_at(reader, walk, 0, walk->at, &size);
	if (status >= 0 && !size)
		return pass_bad(reader, walk, item);
	if (status >= 0)
		status = view(reader, walk, walk->at, size, &bytes, &have);
	if (status < 0)
		return status;
	*item = (struct profiling_item){.kind = PROFILING_PATH, .offset = walk->at, .size = size};
	if (profiling_path_decode(bytes, have < size ? have : size, walk->header.big, &item->path) != size)
		return pass_bad(reader, walk, item);
	walk->at += size;
	return 1;
}

int profiling_look_behind(struct tw_reader *reader)
{
	struct profiling_walk walk = {0};
	struct profiling_item item;
	const bool quiet = reader->reports.quiet;
	reader->reports.quiet = true;
	int status = profiling_walk_open(reader, &walk);
	walk.looks = !quiet;
	while (status >= 0 && (status = profiling_walk_next(reader, &walk, &item)) > 0)
		;
	reader->reports.quiet = quiet;
	profiling_walk_free(&walk);
	return status;
}
