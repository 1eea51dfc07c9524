/* sizes.c - how much of an archive is read at a time, and how much of it waits to be put in order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/fxt.h"
#include "fxt/merge/merge_window.h"

/* Fuchsia's trace manager gives a provider a buffer of 4 MB, and what is in it may come late by as much. */
enum { REORDER_WINDOW = 4 << 20 };

/* Where several archives are read at once to be merged, their windows have a part of the memory limit. */
enum { WINDOW_SHARE = 8, FORGOTTEN_SHARE = 2, WINDOW_LEAST = 1 << 15 };

uint64_t fxt_reorder_window(const struct tw_reader *reader)
{
	uint64_t most = tw_memory_limit(reader) / (fxt_merge_window_forgets(reader) ? FORGOTTEN_SHARE : WINDOW_SHARE);
	if (reader->options.reorder_window)
		return reader->options.reorder_window;
	if (reader->request.merged < 2 || most > REORDER_WINDOW)
		return REORDER_WINDOW;
	return most > WINDOW_LEAST ? most : WINDOW_LEAST;
}

/* A power of two, so that words lie in one chunk: as small as it takes to have rows of a dozen at once, but as many as
 * are held must be the lanes of the sorter. */
size_t fxt_chunk_size(const struct tw_reader *reader)
{
	enum { OF_MEMORY = 1024 };
	uint64_t window = fxt_reorder_window(reader), most = tw_memory_limit(reader) / OF_MEMORY;
	size_t size = FXT_CHUNK;
	while (reader->request.merged > 1 && size > FXT_CHUNK_LEAST && size > most &&
	       size / 2 * TW_ORDER_SLABS > window)
		size /= 2;
	return size;
}
