/* input_spool.c - a stream to a temporary file, which can be read at any offset. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/input_state.h"
#include "base/bytes/temporary.h"
#include "base/bytes/whole.h"

#include <trackway/status.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPOOL_STEP = 1 << 18 };

static int copy_rest(struct tw_input *input, int fd, uint8_t *step)
{
	int error = tw_write_whole(fd, input->stream.kept, input->stream.kept_size);
	while (!error) {
		int64_t n = tw_input_read_stream(input, step, SPOOL_STEP, SPOOL_STEP);
		if (n <= 0)
			return (int)n;
		error = tw_write_whole(fd, step, (size_t)n);
	}
	return error;
}

static int copy_to(struct tw_input *input, int fd, const char *directory)
{
	uint8_t *step = malloc(SPOOL_STEP);
	if (!step)
		return tw_input_no_memory(input);
	int error = copy_rest(input, fd, step);
	free(step);
	if (error <= 0)
		return error;
	tw_input_note(input, "cannot be copied to a temporary file in %s: %s", directory, strerror(error));
	errno = error;
	return TW_ERR_SYSTEM;
}

void tw_input_replace(struct tw_input *input, int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	tw_input_close_source(input);
	input->file.fd = fd;
	input->file.close_fd = input->regular = input->seekable = input->remade = true;
	input->origin = 0;
	input->size = size > 0 ? (uint64_t)size : 0;
	atomic_store(&input->taken, 0);
}

int tw_input_spool(struct tw_input *input, const char *directory)
{
	if (input->seekable)
		return 0;
	assert(input->stream.position <= TW_INPUT_KEPT_MAX);
	directory = tw_temporary_place(directory);
	int fd = tw_temporary_open(directory);
	if (fd < 0) {
		int error = errno;
		tw_input_note(input, "no temporary file can be made in %s: %s", directory, strerror(error));
		errno = error;
		return TW_ERR_SYSTEM;
	}
	int status = copy_to(input, fd, directory);
	if (status < 0) {
		close(fd);
		return status;
	}
	tw_input_replace(input, fd);
	input->remade = false;
	return 0;
}
