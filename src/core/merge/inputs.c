/* inputs.c - the inputs of a merged reader: what they are read with, and what is left of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/temporary.h"
#include "base/memory/memory.h"
#include "core/merge/merge.h"
#include "core/tool.h"

#include <errno.h>
#include <string.h>

static int no_memory(struct tw_reader *reader)
{
	return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
}

struct tw_read_options tw_merge_options_of(const struct tw_reader *merged, size_t shares)
{
	struct tw_read_options options = merged->options;
	options.order = TW_ORDER_TIME;
	options.function = options.category = NULL;
	options.from_ns = options.to_ns = options.min_duration_ns = 0;
	options.complete_slices = options.from_start = false;
	options.memory_limit = tw_memory_limit(merged) / shares;
	return options;
}

void tw_merge_share(struct tw_reader *merged, size_t i, const struct tw_reader *reader)
{
	merged->traits.origin =
	    reader && (i == 0 || merged->traits.origin == reader->traits.origin) ? reader->traits.origin : NULL;
	if (reader && reader->traits.rounding > merged->traits.rounding)
		merged->traits.rounding = reader->traits.rounding;
	merged->traits.ends_unordered |= reader && reader->traits.ends_unordered;
	merged->traits.sampled = reader && (i == 0 || merged->traits.sampled) && reader->traits.sampled;
	merged->traits.summed = reader && (i == 0 || merged->traits.summed) && reader->traits.summed;
	merged->traits.timeless = reader && (i == 0 || merged->traits.timeless) && reader->traits.timeless;
	const bool documents = reader && (i == 0 || merged->traits.document) && reader->traits.document;
	merged->traits.document = documents ? &((struct tw_merge *)merged->state)->documents.text : NULL;
}

int tw_merge_reserve(struct tw_reader *merged, size_t count)
{
	struct tw_merge *merge = merged->state;
	if (tw_grow(&merge->inputs, &merge->room, count, sizeof *merge->inputs) &&
	    tw_grow(&merge->heads.items, &merge->heads.room, 2 * count + 1, sizeof *merge->heads.items))
		return 0;
	return no_memory(merged);
}

int tw_merge_leave_out(struct tw_reader *merged, struct tw_merge_trace *trace, const struct tw_reader *reader,
                       int status)
{
	struct tw_merge *merge = merged->state;
	const char *error = reader ? tw_reader_error(reader) : "out of memory";
	if (!merge->options.on_left_out || !tw_may_leave_out(trace->path, status))
		return tw_fail(merged, status, "%s", error);
	merge->options.on_left_out(merge->options.context, (size_t)(trace - merge->traces), error);
	trace->left_out = true;
	if (++merge->left_out == merge->trace_count)
		return tw_fail(merged, TW_ERR_EMPTY, "none of the files is a trace");
	return 0;
}

int tw_merge_file_status(struct tw_reader *merged, int error)
{
	if (!error)
		return 0;
	return tw_fail(merged, error == ENOMEM ? TW_ERR_MEMORY : TW_ERR_SYSTEM, "temporary file in %s: %s",
	               tw_temporary_place(merged->options.temporary_directory), strerror(error));
}

int tw_merge_take_document(struct tw_reader *merged, const struct tw_reader *reader)
{
	struct tw_merge *merge = merged->state;
	const struct tw_text *own = reader->traits.document, *all = &merge->documents.text;
	merged->traits.altered.frames += reader->traits.altered.frames;
	if (!merged->request.texts || !own || !own->length)
		return 0;
	if (!all->length)
		return tw_text_add(&merge->documents.text, own->bytes, own->length) ? 0 : no_memory(merged);
	merged->traits.altered.documents +=
	    own->length != all->length || memcmp(own->bytes, all->bytes, all->length) != 0;
	return 0;
}

void tw_merge_close_inputs(struct tw_merge *merge)
{
	for (size_t i = 0; i < merge->count; i++) {
		struct tw_merge_input *input = &merge->inputs[i];
		tw_close(input->reader);
		tw_spill_cursor_close(&input->run);
		tw_mapping_free(&input->own);
		*input = (struct tw_merge_input){0};
	}
	merge->count = 0;
}
