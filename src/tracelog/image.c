/* image.c - what a profiler left in shared pages, instead of a log: what is read is the log that it makes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/bytes/output.h"
#include "base/bytes/temporary.h"
#include "coreprofiler/lines.h"
#include "tracelog/tracelog.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool tracelog_image_probe(const uint8_t *bytes, size_t size)
{
	return size >= sizeof(uint64_t) && tw_load64(bytes, false) == LINES_MAGIC;
}

static bool read_input(void *context, uint64_t offset, void *bytes, size_t size)
{
	return tw_input_read(context, offset, bytes, size) == (int64_t)size;
}

static bool take(void *context, const char *text, size_t size)
{
	struct tw_output *out = context;
	tw_put(out, text, size);
	return out->error == 0;
}

static int fail(struct tw_reader *reader, int error)
{
	const char *name = tw_input_name(reader->input), *text = tw_input_error(reader->input);
	if (*text)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s", text);
	if (error == ENOMEM)
		return tw_fail_memory(reader);
	if (error == EINVAL || error == EFBIG || error == EIO)
		return tw_fail(reader, TW_ERR_FORMAT,
		               "%s: offset 0x0: an image of a version that is not known, or cut off", name);
	return tw_fail(reader, TW_ERR_SYSTEM, "%s: cannot be written as a log in %s: %s", name,
	               tw_temporary_place(reader->options.temporary_directory), strerror(error));
}

/* The log of an image, as a file without a name. Returns its descriptor, or -1 and errno. */
static int make_log(struct tw_reader *reader)
{
	const struct lines_source source = {read_input, reader->input, tw_input_size(reader->input)};
	struct lines_summary summary;
	struct tw_output out;
	const int fd = tw_temporary_open(reader->options.temporary_directory), kept = fd < 0 ? -1 : dup(fd);
	int error = kept < 0 ? errno : tw_output_fd(&out, fd);
	if (error == 0) {
		const int wrong = lines_collect(&source, take, &out, &summary);
		error = tw_output_close(&out);
		error = wrong ? wrong : error;
	} else if (fd >= 0)
		close(fd);
	if (error == 0)
		return kept;
	if (kept >= 0)
		close(kept);
	errno = error;
	return -1;
}

int tracelog_image_open(struct tw_reader *reader)
{
	const size_t chunk = reader->window.chunk;
	const uint8_t *bytes;
	size_t size;
	int status = tw_window_view(&reader->window, 0, sizeof(uint64_t), &bytes, &size);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	if (!tracelog_image_probe(bytes, size))
		return 0;
	status = tw_input_spool(reader->input, reader->options.temporary_directory);
	const int fd = status < 0 ? -1 : make_log(reader);
	if (fd < 0)
		return fail(reader, errno);
	tw_input_replace(reader->input, fd);
	tw_window_free(&reader->window);
	reader->window = (struct tw_window){.input = reader->input, .chunk = chunk};
	return 0;
}
