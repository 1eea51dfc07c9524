/* open.c - an image instead of an archive: what is read is the archive that it makes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/temporary.h"
#include "core/format.h"
#include "fxt/format/rules.h"
#include "fxt/fxt.h"
#include "image/image.h"

#include <trackway/trace.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY_SHARE = 4 };

static void note(struct tw_reader *reader, enum fxt_rule rule, uint64_t offset, const char *text)
{
	tw_report(reader, &fxt_rules[rule], offset, offset, 0, "%s", text);
}

/* What became of the recording. What it lost is told by the archive. */
static void report(struct tw_reader *reader, const struct trace_image *image)
{
	const struct image_header *header = &image->header;
	if (header->now.state != IMAGE_COMPLETE)
		note(reader, FXT_IMAGE_NOT_FINISHED, 0,
		     "The recording was not finished: the program died, or goes on; all that it committed is here.");
	if (image->damaged)
		tw_report(reader, &fxt_rules[FXT_IMAGE_DAMAGED], image->damage, image->damage, 0,
		          "%" PRIu64 " bytes of the image are no records.", image->damaged);
}

/* Loads the image and writes its archive into a file. Returns enum fxt_recording or a negative status. */
static int make_archive(struct tw_reader *reader, struct tw_output *out)
{
	struct trace_image image, *const images[] = {&image};
	int status = trace_image_load(&image, reader->input, reader->options.temporary_directory);
	if (status == 0)
		status = trace_images_write(images, 1, out, tw_memory_limit(reader) / MEMORY_SHARE);
	if (status == 0) {
		report(reader, &image);
		status = image.header.now.state == IMAGE_COMPLETE ? FXT_RECORDING_COMPLETE : FXT_RECORDING_UNFINISHED;
	}
	trace_image_free(&image);
	return status;
}

static int fail_to_write(struct tw_reader *reader, int error)
{
	const char *place = tw_temporary_place(reader->options.temporary_directory);
	return tw_fail(reader, TW_ERR_SYSTEM, "%s: cannot be written as an archive in %s: %s",
	               tw_input_name(reader->input), place, strerror(error));
}

static int fail(struct tw_reader *reader, int status)
{
	const char *name = tw_input_name(reader->input), *text = tw_input_error(reader->input);
	if (*text)
		return tw_fail(reader, status, "%s", text);
	if (status == TW_ERR_SYSTEM) /* the copy of a ring */
		return fail_to_write(reader, errno);
	if (status == TW_ERR_FORMAT)
		return tw_fail(reader, status, "%s: offset 0x0: an image of a version that is not known, or cut off",
		               name);
	return tw_fail(reader, status, "%s: %s", name, tw_status_text(status));
}

/* The window has been looked through, and stands on the image. */
static void forget_window(struct tw_reader *reader)
{
	size_t chunk = reader->window.chunk;
	tw_window_free(&reader->window);
	reader->window = (struct tw_window){.input = reader->input, .chunk = chunk};
}

static int open_image(struct tw_reader *reader)
{
	const uint8_t *bytes;
	size_t size;
	int status = tw_window_view(&reader->window, 0, IMAGE_WORD, &bytes, &size);
	if (status < 0 || !trace_image_probe(bytes, size))
		return status < 0 ? fail(reader, status) : FXT_RECORDING_NONE;
	status = tw_input_spool(reader->input, reader->options.temporary_directory);
	if (status < 0)
		return fail(reader, status);
	struct tw_output out;
	int fd = tw_temporary_open(reader->options.temporary_directory), kept = fd < 0 ? -1 : dup(fd);
	int error = fd < 0 || kept < 0 ? errno : tw_output_fd(&out, fd);
	if (error)
		return fail_to_write(reader, error);
	status = make_archive(reader, &out);
	error = tw_output_close(&out);
	if (status >= 0 && !error) {
		tw_input_replace(reader->input, kept);
		forget_window(reader);
		return status;
	}
	close(kept);
	return error && status >= 0 ? fail_to_write(reader, error) : fail(reader, status);
}

const struct fxt_images trace_images = {.probe = trace_image_probe, .open = open_image};
