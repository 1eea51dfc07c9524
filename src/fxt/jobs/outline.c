/* outline.c - where the records of an archive stand, told by nothing but their headers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/format/layout.h"
#include "fxt/fxt.h"

/* What records of an unknown type define cannot be told. */
static bool is_needed(unsigned type)
{
	bool known = type <= TW_FXT_TYPE_PROFILER || type == TW_FXT_TYPE_LARGE;
	return fxt_is_needed(type) || !known;
}

/* Without a magic number, or where a size cannot be right, only the walk knows what to do. */
int fxt_outline(struct tw_reader *reader, tw_outline_fn put, void *context)
{
	const uint64_t end = tw_input_size(reader->input);
	const uint8_t *bytes = NULL;
	size_t have = 0;
	bool big = false;
	if (tw_input_remade(reader->input)) /* the pieces would be those of the image */
		return TW_ERR_UNSUPPORTED;
	for (uint64_t offset = 0; offset < end;) {
		int status = 0;
		if (have < TW_FXT_WORD)
			status = tw_window_view(&reader->window, offset, TW_FXT_WORD, &bytes, &have);
		if (status < 0)
			return fxt_fail(reader, status);
		if (have < TW_FXT_WORD || (offset == 0 && tw_fxt_magic(bytes, &big) < 0))
			return TW_ERR_UNSUPPORTED;
		uint64_t header = tw_load64(bytes, big), size = (uint64_t)fxt_size(header) * TW_FXT_WORD;
		if (size == 0 || size > end - offset)
			return TW_ERR_UNSUPPORTED;
		if (!put(context, offset, size, is_needed(fxt_type(header))))
			return 0;
		offset += size;
		bytes += size < have ? size : have;
		have -= size < have ? (size_t)size : have;
	}
	return 0;
}
