/* merge_names.c - where names and threads stand in the tables of the archive that is written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/merge/merge_events.h"
#include "fxt/walk/pipeline.h"

#include <stdlib.h>
#include <string.h>

/* Gives a table at least this room, twice as much as before. The table before it is kept, as other threads may be
 * reading it. */
static bool enlarge(struct fxt_merge_names *names, struct fxt_pipeline *pipeline, void *table, size_t *room,
                    size_t need, size_t size)
{
	enum { ROOM_LEAST = 64 };
	void **place = table, *before = *place;
	size_t fresh = *room ? *room * 2 : ROOM_LEAST;
	fresh = fresh < need ? need : fresh;
	void *made = names->old_count < FXT_MERGE_OLD_TABLES ? calloc(fresh, size) : NULL;
	if (!made)
		return false;
	if (before) {
		memcpy(made, before, *room * size);
		names->old[names->old_count++] = before;
	}
	fxt_pipeline_lock(pipeline);
	*place = made;
	*room = fresh;
	fxt_pipeline_unlock(pipeline);
	return true;
}

void fxt_merge_names_begin(struct fxt_merge_names *names, struct fxt_pipeline *pipeline,
                           const struct tw_merge_input *input)
{
	fxt_pipeline_lock(pipeline);
	names->time = input->time;
	names->moves_ids = input->own.place && !input->own.homes->together;
	names->known = true;
	fxt_pipeline_unlock(pipeline);
}

bool fxt_merge_add_name(struct fxt_merge_names *names, struct fxt_pipeline *pipeline, uint32_t name, uint16_t index)
{
	if (name >= names->name_room &&
	    !enlarge(names, pipeline, &names->names, &names->name_room, name + (size_t)1, sizeof *names->names))
		return false;
	atomic_store_explicit(&names->names[name], index, memory_order_relaxed);
	return true;
}

bool fxt_merge_add_thread(struct fxt_merge_names *names, struct fxt_pipeline *pipeline, uint32_t track,
                          uint64_t process, uint64_t thread, uint8_t index)
{
	if (track >= names->thread_room &&
	    !enlarge(names, pipeline, &names->threads, &names->thread_room, track + (size_t)1, sizeof *names->threads))
		return false;
	struct fxt_merged_thread *added = &names->threads[track];
	if (atomic_load_explicit(&added->state, memory_order_relaxed))
		return true;
	added->process = process;
	added->thread = thread;
	atomic_store_explicit(&added->state, FXT_MERGED | index, memory_order_release);
	return true;
}

void fxt_merge_names_free(struct fxt_merge_names *names)
{
	for (size_t i = 0; i < names->old_count; i++)
		free(names->old[i]);
	free(names->names);
	free(names->threads);
	*names = (struct fxt_merge_names){0};
}
