/* merge_window.c - chunks of an archive being merged that wait as bytes, and the threads that make rows of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/merge/merge_window.h"

#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/loops.h"
#include "base/memory/memory.h"
#include "fxt/format/layout.h"
#include "fxt/fxt.h"

#include <stdlib.h>
#include <string.h>

static bool is_one_of_few(const struct fxt_merge_window *window)
{
	return window->reader->request.merged <= FXT_FEW;
}

/* ---- What becomes of a chunk that was walked. ---- */

static void decode_if_eager(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	if (chunk->merge.wait == FXT_EAGER)
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

static void decode_to_merge(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch,
                            const struct fxt_merge_names *names)
{
	chunk->failed = !fxt_merge_events_begin(chunk, names);
	if (chunk->failed)
		return;
	fxt_decode(chunk, wish, scratch);
	fxt_decoded(chunk, wish, scratch);
	fxt_merge_events_end(chunk, &scratch->sort);
}

static void decide(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	bool waits = chunk->merge.wait != FXT_EAGER && !chunk->failed && tw_loop_is_on(TW_LOOP_FXT_WAIT);
	if (waits && fxt_chunk_times(chunk)) {
		chunk->merge.wait = FXT_WAITS;
		chunk->merge.digest = tw_input_digest(chunk->bytes + chunk->begin, chunk->end - chunk->begin);
		return;
	}
	fxt_lend_name_caches(chunk, scratch->name_caches, FXT_NAME_CACHES);
	if (!chunk->failed) /* otherwise it may refer to providers that are no more */
		decode_all(chunk, wish, scratch);
	chunk->merge.wait = FXT_HAS_ROWS;
}

const struct fxt_work fxt_merge_window_work = {.decode = decode_if_eager, .decoded = decide};

bool fxt_merge_window_fits(const struct tw_reader *reader, const struct fxt_wish *wish)
{
	const struct tw_read_options *options = &reader->options;
	return reader->request.merged > 1 && wish->sort && !wish->check && wish->kinds == UINT32_MAX &&
	       options->thread_count == 0 && !options->provider;
}

static void lend_memory(struct fxt_chunk *chunk, const struct fxt_row_memory *memory)
{
	chunk->rows.slab = memory->slab;
	chunk->rows.fixes = memory->fixes;
	chunk->rows.fix_room = memory->fix_room;
	chunk->merge.events = memory->merge;
	tw_slab_clear(&chunk->rows.slab);
}

static void free_memory(struct fxt_row_memory *memory)
{
	tw_slab_free(&memory->slab);
	free(memory->fixes);
	fxt_merge_events_free(&memory->merge);
}

/* ---- The bytes of a chunk that waits: they need not be in memory where they can be read again. ---- */

static bool has_room(struct fxt_chunk *chunk)
{
	if (chunk->bytes && chunk->room >= chunk->end)
		return true;
	free(chunk->bytes);
	size_t usual = chunk->size + chunk->size / FXT_HEAD;
	size_t room = chunk->end > usual ? chunk->end : usual;
	chunk->bytes = malloc(room);
	chunk->room = chunk->bytes ? room : 0;
	return chunk->bytes;
}

static int fetch(const struct fxt_merge_window *window, struct fxt_chunk *chunk)
{
	if (!has_room(chunk))
		return TW_ERR_MEMORY;
	return tw_input_reread(window->reader->input, fxt_offset(chunk, chunk->begin), chunk->bytes + chunk->begin,
	                       chunk->end - chunk->begin, chunk->merge.digest);
}

/* ---- Rows: all of these are called with the lock, and let it go during the work. ---- */

static void make(struct fxt_merge_window *window, struct fxt_chunk *chunk, struct fxt_row_maker *maker,
                 struct fxt_scratch *scratch)
{
	maker->names = ((const struct fxt_reader *)window->reader->state)->names;
	fxt_lend_name_caches(chunk, maker->name_caches, is_one_of_few(window) ? FXT_WINDOW_NAME_CACHES : 1);
	chunk->merge.wait = FXT_IN_WORK;
	bool forgotten = !chunk->bytes;
	if (window->spare_count)
		lend_memory(chunk, &window->spare[--window->spare_count]);
	fxt_pipeline_lend_bytes(window->pipeline, chunk);
	fxt_pipeline_unlock(window->pipeline);
	chunk->merge.status = forgotten ? fetch(window, chunk) : 0;
	if (chunk->merge.status == 0 && window->wish.merges)
		decode_to_merge(chunk, &window->wish, scratch, maker->names.known ? &maker->names : NULL);
	else if (chunk->merge.status == 0)
		decode_all(chunk, &window->wish, scratch);
	fxt_pipeline_lock(window->pipeline);
	chunk->merge.wait = FXT_HAS_ROWS;
}

/* The chunk that waits and whose first event is the earliest; NULL where none waits, or enough have rows already. */
static struct fxt_chunk *next_to_make(const struct fxt_merge_window *window)
{
	struct fxt_chunk *next = NULL;
	unsigned made = 0;
	for (size_t i = 0; i < window->count; i++) {
		struct fxt_chunk *chunk = window->waiting[i];
		made += chunk->merge.wait != FXT_WAITS;
		if (chunk->merge.wait == FXT_WAITS && (!next || chunk->merge.least < next->merge.least))
			next = chunk;
	}
	return made < (is_one_of_few(window) ? 2u : 1u) ? next : NULL;
}

static bool help(void *context, struct fxt_scratch *scratch)
{
	struct fxt_merge_window *window = context;
	struct fxt_chunk *chunk = window->helping || window->settled ? NULL : next_to_make(window);
	window->settled = !window->helping && !chunk;
	if (!chunk)
		return false;
	window->helping = true;
	make(window, chunk, &window->other, scratch);
	window->helping = false;
	return true;
}

static void finish(struct fxt_merge_window *window, struct fxt_chunk *chunk)
{
	while (chunk->merge.wait == FXT_IN_WORK)
		fxt_pipeline_help(window->pipeline);
	if (chunk->merge.wait == FXT_WAITS)
		make(window, chunk, &window->own, fxt_pipeline_scratch(window->pipeline));
}

void fxt_merge_window_count_early(struct fxt_merge_window *window, struct fxt_chunk *chunk)
{
	const struct tw_slab *slab = &chunk->rows.slab;
	chunk->merge.early_bytes =
	    slab->count * (sizeof *slab->events + sizeof *slab->order) + fxt_merge_events_size(&chunk->merge.events) +
	    slab->argument_count * sizeof *slab->arguments + chunk->rows.fix_count * sizeof *chunk->rows.fixes;
	if (fxt_merge_window_forgets(window->reader) && chunk->bytes) /* a chunk that waits has none */
		chunk->merge.early_bytes += chunk->room;
	window->early_bytes += chunk->merge.early_bytes;
}

/* Makes the rows of all chunks: tables that these refer to are about to be forgotten. */
static void finish_all(void *context, struct fxt_chunk *const *line, size_t count)
{
	struct fxt_merge_window *window = context;
	for (size_t i = 0; i < window->count; i++) {
		finish(window, window->waiting[i]);
		fxt_merge_window_count_early(window, window->waiting[i]);
	}
	for (size_t i = 0; i < count; i++)
		finish(window, line[i]);
	window->count = 0;
	fxt_pipeline_keep_tables(window->pipeline, UINT64_MAX);
}

/* ---- The caller. ---- */

/* Says from which offset on records may still look into the tables. */
static void keep_tables(struct fxt_merge_window *window)
{
	const struct fxt_chunk *first = window->count ? window->waiting[0] : NULL;
	fxt_pipeline_keep_tables(window->pipeline, first ? fxt_offset(first, first->begin) : UINT64_MAX);
}

void fxt_merge_window_put(struct fxt_merge_window *window, struct fxt_chunk *chunk)
{
	fxt_pipeline_lock(window->pipeline);
	window->waiting[window->count++] = chunk;
	window->settled = false;
	if (fxt_merge_window_forgets(window->reader) && chunk->merge.wait == FXT_WAITS)
		fxt_pipeline_put_bytes(window->pipeline, chunk);
	keep_tables(window);
	fxt_pipeline_unlock(window->pipeline);
}

void fxt_merge_window_make(struct fxt_merge_window *window, struct fxt_chunk *chunk)
{
	size_t i = 0;
	fxt_pipeline_lock(window->pipeline);
	finish(window, chunk);
	while (i < window->count && window->waiting[i] != chunk)
		i++;
	if (i < window->count) {
		window->count--;
		memmove(&window->waiting[i], &window->waiting[i + 1], (window->count - i) * sizeof(struct fxt_chunk *));
		window->settled = false;
	}
	keep_tables(window);
	fxt_pipeline_unlock(window->pipeline);
}

void fxt_merge_window_empty(struct fxt_merge_window *window, struct fxt_chunk *chunk)
{
	struct fxt_row_memory memory = {chunk->rows.slab, chunk->rows.fixes, chunk->rows.fix_room, chunk->merge.events};
	if (chunk->merge.wait == FXT_EMPTY)
		return;
	chunk->merge.wait = FXT_EMPTY;
	window->early_bytes -= chunk->merge.early_bytes;
	chunk->rows.slab =
	    (struct tw_slab){.count = memory.slab.count}; /* by this the sorter knows that all are delivered */
	chunk->merge.events = (struct fxt_merge_events){0};
	chunk->rows.fixes = NULL;
	chunk->rows.fix_room = 0;
	fxt_pipeline_lock(window->pipeline);
	bool kept = window->spare_count < (is_one_of_few(window) ? FXT_SPARE_ROWS : 1);
	if (kept)
		window->spare[window->spare_count++] = memory;
	fxt_pipeline_put_bytes(window->pipeline, chunk);
	fxt_pipeline_unlock(window->pipeline);
	if (!kept)
		free_memory(&memory);
}

struct fxt_merge_window *fxt_merge_window_new(struct tw_reader *reader, struct fxt_pipeline *pipeline,
                                              const struct fxt_wish *wish, bool merges)
{
	struct fxt_merge_window *window = calloc(1, sizeof *window);
	if (!window)
		return NULL;
	window->reader = reader;
	window->pipeline = pipeline;
	window->wish = *wish;
	window->wish.merges = merges;
	window->wish.sort = !merges;
	fxt_pipeline_lock(pipeline);
	fxt_pipeline_add_work(pipeline, help, window);
	fxt_pipeline_before_forgetting(pipeline, finish_all);
	fxt_pipeline_unlock(pipeline);
	return window;
}

void fxt_merge_window_free(struct fxt_merge_window *window)
{
	if (!window)
		return;
	for (size_t i = 0; i < window->spare_count; i++)
		free_memory(&window->spare[i]);
	free(window);
}
