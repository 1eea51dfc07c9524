/* merge_rows.c - rows of archives that are merged, given to the writer one by one.
 *
 * They are mapped to the merged dictionary as rows of any format. The indices that the writer gave their names and
 * threads are told to the threads that make records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/merge/merge_rows.h"

#include "fxt/write/writer.h"

static bool add_name(const struct fxt_tables *tables, const struct fxt_merge_input *from, uint32_t own)
{
	const struct tw_mapping *mapping = &from->input->own;
	uint32_t name = own < mapping->name_room ? mapping->names[own] : 0;
	if (name == 0 || name >= tables->string_room || tables->strings[name] == 0)
		return true;
	return fxt_merge_add_name(&from->fxt->names, from->fxt->pipeline, own, tables->strings[name]);
}

static bool add_thread(const struct fxt_tables *tables, const struct fxt_merge_input *from, uint32_t own)
{
	const struct tw_mapping *mapping = &from->input->own;
	uint32_t track = own < mapping->track_room ? mapping->tracks[own] : 0;
	if (track == 0 || track >= tables->tracks_seen || !tables->threads[track].written)
		return true;
	const struct fxt_koids koids = fxt_koids_of(tables, track);
	return fxt_merge_add_thread(&from->fxt->names, from->fxt->pipeline, own, koids.process, koids.thread,
	                            tables->threads[track].index);
}

/* False when there is no memory. */
static bool add_written(const struct fxt_tables *tables, const struct fxt_merge_input *from, const struct tw_event *row,
                        const struct tw_argument *arguments)
{
	bool fine = add_name(tables, from, row->name) && add_name(tables, from, row->category) &&
	            add_thread(tables, from, row->track);
	for (unsigned i = 0; i < row->argument_count && fine; i++)
		fine = add_name(tables, from, arguments[i].name);
	return fine;
}

static int no_memory(struct tw_reader *merged)
{
	return tw_fail(merged, TW_ERR_MEMORY, "out of memory");
}

int fxt_merge_row(struct fxt_merge_output *to, const struct fxt_merge_input *from, const struct tw_event *row,
                  const struct tw_argument *arguments, uint64_t time)
{
	struct fxt_writer *w = to->writer->state;
	struct tw_event event = *row;
	if (event.argument_count)
		memcpy(to->arguments, arguments, event.argument_count * sizeof *to->arguments);
	event.first_argument = 0;
	event.time = time;
	if (!tw_map_row(&from->input->own, &event, to->arguments))
		return no_memory(to->merged);
	tw_merge_note_moved(to->merged);
	w->source = from;
	to->passed->written = tw_write(to->writer, to->merged, &(struct tw_batch){&event, 1, to->arguments});
	if (to->passed->written < 0)
		return 0;
	if (row->kind == TW_LOST)
		to->passed->lost_bytes = tw_sum(to->passed->lost_bytes, row->value);
	else
		to->passed->events++;
	return add_written(w->tables, from, row, arguments) ? 0 : no_memory(to->merged);
}
