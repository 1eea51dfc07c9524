/* wait.c - chunks of archives that are merged wait in the file, and become rows when their time comes.
 *
 * Records come late by as much as a provider's buffer, so a few megabytes of each archive wait to be put in order. Rows
 * take three times as much memory as bytes: where several archives are merged, bytes are read again, and rows are made,
 * only of chunks that are about to be delivered. Two archives keep their bytes. Chunks that others depend on, with
 * objects, blobs or damage, become rows at once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/loops.h"
#include "base/memory/memory.h"
#include "fxt/fxt.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- In any thread. ---- */

/* A number by which the bytes of a chunk are known again. Two sums, as one would wait for itself. */
static uint64_t fingerprint(const struct fxt_chunk *chunk)
{
	const uint8_t *at = chunk->bytes + chunk->begin, *const end = chunk->bytes + chunk->end;
	const uint64_t factor = tw_hash_key.factor;
	uint64_t even = tw_hash_key.offset, odd = 0;
	for (; end - at >= 2 * TW_FXT_WORD; at += 2 * TW_FXT_WORD) {
		even = (even + tw_load64(at, false)) * factor;
		odd = (odd + tw_load64(at + TW_FXT_WORD, false)) * factor;
	}
	for (; at < end; at++)
		even = (even + *at) * factor;
	return even ^ odd >> 1;
}

static void decode_if_eager(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	if (chunk->wait.eager)
		fxt_decode(chunk, wish, scratch);
}

static void decode_all(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	size_t count = 0;
	for (size_t i = 0; i < chunk->walk.piece_count; i++)
		count += chunk->walk.pieces[i].count;
	tw_slab_reserve(&chunk->rows.slab, count, 0); /* growing step by step would leave holes in memory */
	fxt_decode(chunk, wish, scratch);
	fxt_decoded(chunk, wish, scratch);
}

static void decide(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	const bool may_wait = !chunk->wait.eager && !chunk->failed && tw_loop_is_on(TW_LOOP_FXT_WAIT);
	chunk->wait.waits = may_wait && fxt_find_times(chunk);
	if (!chunk->wait.waits && !chunk->failed) /* otherwise it may refer to providers that are no more */
		decode_all(chunk, wish, scratch);
}

/* ---- In the caller's thread. ---- */

/* Reads the bytes of a chunk again; nothing is made of others. Returns 0 or a negative status. */
static int read_again(struct tw_reader *reader, struct fxt_chunk *chunk)
{
	const struct fxt_reader *fxt = reader->state;
	const uint64_t from = fxt_offset(chunk, chunk->begin);
	const size_t size = chunk->end - chunk->begin;
	fxt_pipeline_take_bytes(fxt->pipeline, chunk);
	if (!tw_extend(&chunk->bytes, &chunk->room, chunk->end, 1))
		return fxt_fail(reader, TW_ERR_MEMORY);
	const int64_t got = tw_input_read(reader->input, from, chunk->bytes + chunk->begin, size);
	if (got < 0)
		return fxt_fail(reader, (int)got);
	if ((uint64_t)got < size || fingerprint(chunk) != chunk->wait.fingerprint)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: offset 0x%" PRIx64 ": changed while it was read",
		               tw_input_name(reader->input), from);
	return 0;
}

static void make_rows(struct tw_reader *reader, struct fxt_chunk *chunk)
{
	struct fxt_reader *fxt = reader->state;
	struct fxt_scratch *scratch = fxt_pipeline_scratch(fxt->pipeline);
	const struct fxt_wish wish = {.options = &reader->options, .kinds = UINT32_MAX, .sort = true};
	chunk->wait.waits = false;
	chunk->wait.status = chunk->bytes ? 0 : read_again(reader, chunk);
	if (chunk->wait.status < 0)
		return;
	fxt_lend_name_caches(chunk, scratch->name_caches, reader->request.merged <= FXT_FEW ? FXT_NAME_CACHES : 1);
	decode_all(chunk, &wish, scratch);
}

static int make(void *context, uint64_t number)
{
	struct tw_reader *reader = context;
	struct fxt_reader *fxt = reader->state;
	struct fxt_chunk *chunk = fxt->held[number - fxt->sorter.oldest];
	if (chunk->wait.waits)
		make_rows(reader, chunk);
	if (chunk->wait.status < 0)
		return chunk->wait.status;
	fxt_commit(&fxt->commit, chunk);
	return chunk->failed || chunk->rows.slab.failed ? fxt_fail(reader, TW_ERR_MEMORY) : 0;
}

/* Makes the rows of all chunks: tables that these refer to are about to be forgotten. */
static void finish_all(void *context, struct fxt_chunk *const *line, size_t count)
{
	struct tw_reader *reader = context;
	const struct fxt_reader *fxt = reader->state;
	for (size_t i = 0; i < fxt->held_count; i++)
		if (fxt->held[i]->wait.waits)
			make_rows(reader, fxt->held[i]);
	for (size_t i = 0; i < count; i++)
		if (line[i]->wait.waits)
			make_rows(reader, line[i]);
}

struct fxt_work fxt_wait_start(struct tw_reader *reader)
{
	struct fxt_reader *fxt = reader->state;
	fxt->sorter.make = make;
	fxt->sorter.context = reader;
	return (struct fxt_work){
	    .decode = decode_if_eager,
	    .decoded = decide,
	    .finish = finish_all,
	    .context = reader,
	};
}

void fxt_wait_put(struct tw_reader *reader, struct fxt_chunk *chunk)
{
	struct fxt_reader *fxt = reader->state;
	fxt->commit.time = chunk->wait.last;
	fxt->commit.timed = true;
	chunk->wait.later = true;
	tw_sorter_put_later(&fxt->sorter, &chunk->rows.slab, chunk->decoder.passed.least);
	if (!tw_input_seekable(reader->input) || reader->request.merged <= FXT_PAIR)
		return;
	chunk->wait.fingerprint = fingerprint(chunk);
	fxt_pipeline_give_bytes(fxt->pipeline, chunk);
}

void fxt_wait_empty(struct fxt_reader *fxt, struct fxt_chunk *chunk)
{
	if (!chunk->rows.slab.events)
		return;
	const size_t count = chunk->rows.slab.count;
	tw_slab_free(&chunk->rows.slab);
	free(chunk->rows.fixes);
	chunk->rows = (struct fxt_chunk_rows){.slab.count = count}; /* by this the sorter knows it is done */
	fxt_pipeline_give_bytes(fxt->pipeline, chunk);
}
