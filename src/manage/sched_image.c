/* sched_image.c - scheduling as an image (doc/recording.md): its clock is CLOCK_MONOTONIC, one process writes it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "manage/sched.h"

#include "base/bytes/whole.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_OWNER = 1, WORDS = 3 };

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void write_at(struct sched_image *image, const void *bytes, size_t size, uint64_t offset)
{
	image->failed = image->failed || tw_write_whole_at(image->fd, bytes, size, offset) != 0;
}

/* Records first, then how many there are: whoever reads takes whole ones. */
static void flush(struct sched_image *image, struct sched_chunk *chunk)
{
	if (chunk->used == chunk->written)
		return;
	const struct image_chunk head = {.magic = IMAGE_CHUNK_MAGIC,
	                                 .size = IMAGE_CHUNK_MOST,
	                                 .owner = chunk->owner,
	                                 .committed = chunk->used - IMAGE_CHUNK_HEAD};
	write_at(image, chunk->bytes + chunk->written, chunk->used - chunk->written, chunk->offset + chunk->written);
	write_at(image, (const void *)&head, sizeof head, chunk->offset);
	chunk->written = chunk->used;
}

/* A new chunk behind the last. */
static void open_chunk(struct sched_image *image, struct sched_chunk *chunk)
{
	flush(image, chunk);
	chunk->offset = IMAGE_PAGE + image->header.now.chunks;
	chunk->used = chunk->written = IMAGE_CHUNK_HEAD;
	image->header.now.chunks += IMAGE_CHUNK_MOST;
	image->failed |= ftruncate(image->fd, (off_t)(IMAGE_PAGE + image->header.now.chunks)) < 0;
}

/* Room for a record; it is zero. */
static uint64_t *room(struct sched_image *image, struct sched_chunk *chunk, size_t words)
{
	if (chunk->offset == 0 || IMAGE_CHUNK_MOST - chunk->used < words * IMAGE_WORD)
		open_chunk(image, chunk);
	uint64_t *to = (uint64_t *)(void *)(chunk->bytes + chunk->used);
	chunk->used += words * IMAGE_WORD;
	memset(to, 0, words * IMAGE_WORD);
	return to;
}

void sched_image_begin(struct sched_image *image, int fd)
{
	image->fd = fd;
	image->header =
	    (struct image_header){.magic = IMAGE_MAGIC, .version = IMAGE_VERSION, .now.state = IMAGE_RECORDING};
	image->header.start.ns = image->header.start.ticks = now_ns(CLOCK_MONOTONIC);
	image->header.wall_ns = now_ns(CLOCK_REALTIME);
	image->header.ticks_per_second = 1000000000;
	snprintf(image->header.name, sizeof image->header.name, "kernel");
	image->events.owner = EVENTS_OWNER;
	image->durable.owner = IMAGE_DURABLE;
	sched_image_flush(image, false);
}

void sched_image_switch(struct sched_image *image, uint64_t time, unsigned cpu, unsigned state,
                        const uint32_t threads[2])
{
	uint64_t *to = room(image, &image->events, WORDS);
	to[0] = image_word(IMAGE_SWITCH, WORDS, 0, cpu | state << IMAGE_STATE_BIT);
	to[1] = time;
	to[2] = threads[0] | (uint64_t)threads[1] << 32;
}

void sched_image_wakeup(struct sched_image *image, uint64_t time, unsigned cpu, uint32_t thread, uint32_t waker)
{
	uint64_t *to = room(image, &image->events, WORDS);
	to[0] = image_word(IMAGE_WAKEUP, WORDS, 0, cpu);
	to[1] = time;
	to[2] = thread | (uint64_t)waker << 32;
}

void sched_image_thread(struct sched_image *image, uint32_t number, uint32_t process, uint32_t thread, const char *name)
{
	size_t length = strlen(name), words = 2 + image_words(length);
	uint64_t *to = room(image, &image->durable, words);
	to[0] = image_word(IMAGE_STRING, words, 0, ++image->strings);
	to[1] = length;
	memcpy(to + 2, name, length);
	to = room(image, &image->durable, WORDS);
	to[0] = image_word(IMAGE_THREAD, WORDS, 0, number);
	to[1] = process;
	to[2] = thread;
	to = room(image, &image->durable, 2);
	to[0] = image_word(IMAGE_THREAD_NAME, 2, 0, number);
	to[1] = image->strings;
}

void sched_image_flush(struct sched_image *image, bool complete)
{
	uint8_t page[IMAGE_PAGE] = {0};
	flush(image, &image->durable);
	flush(image, &image->events);
	image->header.now.state = complete ? IMAGE_COMPLETE : IMAGE_RECORDING;
	memcpy(page, (const void *)&image->header, sizeof image->header);
	write_at(image, page, sizeof page, 0);
}
