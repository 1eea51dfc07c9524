/* fuzz_fxt_image.c - any bytes as an image of a traced program: the archive that it makes has no errors. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>

#include "base/bytes/input.h"
#include "image/image.h"

/* The archive of an image, NULL where it is none. Freed by the caller. */
static uint8_t *convert(const uint8_t *bytes, size_t size, uint64_t memory, size_t *made)
{
	struct trace_image image = {0}, *const images[] = {&image, &image};
	struct tw_input *input = NULL;
	struct tw_output out;
	fuzz_require(tw_input_memory(&input, "image", bytes, size) == 0, "memory is enough");
	int status = tw_input_seekable(input) ? trace_image_load(&image, input, NULL) : TW_ERR_FORMAT;
	fuzz_scratch(&out);
	if (status == 0)
		status = trace_images_write(images, 1 + (memory & 1), &out, memory);
	uint8_t *archive = fuzz_scratch_bytes(&out, made);
	trace_image_free(&image);
	tw_input_close(input);
	if (status == 0)
		return archive;
	free(archive);
	return NULL;
}

FUZZ_TARGET(fxt_image, const uint8_t *bytes, size_t size)
{
	const struct tw_read_options options = {.order = TW_ORDER_FILE, .checking = TW_CHECK_ALL};
	size_t made;
	if (size < 1)
		return 0;
	uint8_t *archive = convert(bytes + 1, size - 1, bytes[0], &made);
	if (!archive)
		return 0;
	struct tw_reader *reader = fuzz_open(archive, made, &options);
	fuzz_require(reader != NULL, "the archive of an image can be opened");
	fuzz_drain(reader);
	fuzz_require(tw_reader_findings(reader, TW_ERROR) == 0, "the archive of an image has no errors");
	tw_close(reader);
	free(archive);
	return 0;
}
