/* archive.c - the files of programs become one archive. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/output.h"
#include "image/image.h"
#include "manage/manage.h"

#include <trackway/status.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An image and what it is read from. */
struct image_file {
	struct tw_input *input;
	struct trace_image image;
};

/* What found no room where the recording ended with it came behind the end. */
static void forget_drops(struct trace_image *image)
{
	image->dropped = 0;
	for (size_t i = 0; i < image->threads.count; i++)
		image->threads.items[i].dropped = 0;
}

static void note(struct manage_provider *provider, const struct trace_image *image)
{
	provider->archived.written = true;
	provider->archived.finished = image->header.now.state == IMAGE_COMPLETE;
	provider->archived.dropped = image->dropped;
	provider->archived.overwritten = image->header.now.overwritten;
	provider->archived.cut = image->header.now.cut;
	provider->archived.unkept = image->header.now.unkept;
	provider->archived.unrecorded = image->header.now.unrecorded;
	provider->archived.last_unrecorded = (int)(uint32_t)image->header.now.last_unrecorded;
	provider->archived.bytes = image->header.now.chunks;
	provider->archived.damaged = image->damaged;
	memcpy(provider->archived.name, image->header.name, sizeof provider->archived.name - 1);
}

/* Opens a file once more, by its descriptor: whatever has become of its name. A program that has begun nothing has an
 * empty one. */
static bool load(struct image_file *part, int image, const char *temporary)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", image);
	int status = tw_input_open_regular(&part->input, path);
	if (status == 0 && tw_input_seekable(part->input) &&
	    trace_image_load(&part->image, part->input, temporary) == 0)
		return true;
	trace_image_free(&part->image);
	tw_input_close(part->input);
	*part = (struct image_file){0};
	return false;
}

static int write_parts(struct manage_result *result, struct trace_image *const *images, size_t count,
                       const char *output, uint64_t memory)
{
	struct tw_output out;
	int error = tw_output_open(&out, output);
	if (error)
		return manage_fail(result, "%s: %s", output, strerror(error));
	int status = trace_images_write(images, count, &out, memory);
	if (status < 0) {
		tw_output_discard(&out);
		return manage_fail(result, "%s: %s", output, tw_status_text(status));
	}
	error = tw_output_close(&out);
	return error ? manage_fail(result, "%s: %s", output, strerror(error)) : 0;
}

/* The kernel's scheduling stands first: names that programs give their threads come behind it. Returns how many. */
static size_t load_all(struct image_file *parts, struct manage_result *result, const struct manage_wish *wish)
{
	const char *temporary = wish->temporary;
	size_t first = result->sched_image >= 0 && load(parts, result->sched_image, temporary), count = first;
	for (size_t i = 0; i < result->count; i++) {
		struct manage_provider *provider = &result->providers[i];
		if (provider->image < 0 || !load(&parts[count], provider->image, temporary)) {
			provider->archived.unreadable = provider->image >= 0 && provider->started;
			continue;
		}
		if (wish->size_ends && result->full)
			forget_drops(&parts[count].image);
		note(provider, &parts[count++].image);
	}
	return count > first ? count : 0;
}

int manage_write(struct manage_result *result, const struct manage_wish *wish)
{
	struct image_file *parts = calloc(result->count + 2, sizeof *parts);
	struct trace_image **images = calloc(result->count + 2, sizeof *images);
	size_t count = parts && images ? load_all(parts, result, wish) : 0;
	int status = -1;
	for (size_t i = 0; i < count; i++)
		images[i] = &parts[i].image;
	if (!parts || !images)
		manage_fail(result, "out of memory");
	else
		status = count ? write_parts(result, images, count, wish->output, wish->memory)
		               : manage_fail(result, "nothing was recorded");
	for (size_t i = 0; parts && i < result->count + 2; i++) {
		trace_image_free(&parts[i].image);
		tw_input_close(parts[i].input);
	}
	free(parts);
	free(images);
	return status;
}
