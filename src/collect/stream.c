/* stream.c - a thread's pair of files.
 *
 * Files are opened for each write and closed: the guest sees the process's descriptors, and must not find ours among
 * them, nor close them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/stream.h"

#include "collect/alive.h"
#include "collect/images.h"
#include "collect/pack.h"
#include "collect/scalable/registers.h"
#include "collect/system/registers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct tw_xtrace_layout layout = {.header_size = 24, .has_za = true, .vector_bits = 8 * MACHINE_VECTOR};

enum { HEADER = 24 };

/* Nothing is recorded any more, by no thread: a trace with holes that look like jumps is worse than a short one. */
static void fail(struct stream *stream, struct collect_board *board, int error)
{
	int32_t none = 0;
	atomic_compare_exchange_strong(&board->error, &none, error);
	stream_abandon(stream);
}

/* Returns 0 or errno. */
static int write_at(const struct collect_board *board, const char *name, const void *bytes, size_t size, uint64_t at)
{
	char path[PATH_MAX + TW_XTRACE_NAME_SIZE + 8];
	snprintf(path, sizeof path, "%s/%s", board->directory, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666), error = 0;
	if (fd < 0)
		return errno;
	for (size_t done = 0; !error && done < size;) {
		ssize_t count = pwrite(fd, (const char *)bytes + done, size - done, (off_t)(at + done));
		if (count < 0 && errno != EINTR)
			error = errno;
		done += count > 0 ? (size_t)count : 0;
	}
	close(fd);
	return error;
}

/* ---- Names. ---- */

static const char *suffix_of(const struct collect_board *board)
{
	return board->options.compress ? ".zst" : "";
}

static bool is_there(const struct collect_board *board, const struct tw_xtrace_name *name)
{
	char text[TW_XTRACE_NAME_SIZE], path[PATH_MAX + TW_XTRACE_NAME_SIZE + 8];
	tw_xtrace_name_format(name, text);
	snprintf(path, sizeof path, "%s/%s%s", board->directory, text, suffix_of(board));
	return access(path, F_OK) == 0;
}

/* The name of this thread's data. A number that comes again, as the system gives it to a new thread when the old one
 * has ended, is raised, so that no file is opened over another: no number of the system is so large. */
static struct tw_xtrace_name name_of(const struct collect_board *board)
{
	enum { AGAIN = 10000000 /* PID_MAX_LIMIT of Linux is 4,194,304 */ };
	struct tw_xtrace_name name = {.number = (uint64_t)gettid(), .hint = 9};
	memcpy(name.timestamp, board->timestamp, sizeof name.timestamp);
	while (is_there(board, &name))
		name.number += AGAIN;
	return name;
}

/* ---- Slots. ---- */

static struct collect_slot *take_slot(struct collect_board *board)
{
	for (unsigned i = 0; i < COLLECT_SLOTS; i++) {
		uint32_t state = COLLECT_FREE, used = atomic_load(&board->used);
		if (!atomic_compare_exchange_strong(&board->slots[i].state, &state, COLLECT_TAKEN))
			continue;
		while (used < i + 1 && !atomic_compare_exchange_weak(&board->used, &used, i + 1))
			;
		return &board->slots[i];
	}
	atomic_fetch_add(&board->unrecorded, 1);
	return NULL;
}

static int write_header(const struct stream *stream, const struct collect_board *board)
{
	/* The identification has no documented value. A core's snapshots come by instructions of all levels. */
	const struct tw_xtrace_header header = {.global_snapshot = stream->global,
	                                        .version = 1,
	                                        .division = stream->of_core,
	                                        .stream = stream->of_core,
	                                        .has_order = stream->ordered};
	uint8_t bytes[HEADER];
	tw_xtrace_header_encode(&header, &layout, bytes);
	return write_at(board, stream->slot->snapshot_name, bytes, sizeof bytes, 0);
}

static void open_files(struct stream *stream, struct collect_board *board, struct tw_xtrace_name name)
{
	if (atomic_load(&board->error) || !(stream->slot = take_slot(board)))
		return;
	atomic_store(&stream->slot->start, 0);
	atomic_store(&stream->slot->end, 0);
	atomic_store(&stream->slot->stored, 0);
	stream->slot->snapshot_size = 0;
	tw_xtrace_name_format(&name, stream->slot->data_name);
	strcat(stream->slot->data_name, suffix_of(board));
	name.snapshots = true;
	tw_xtrace_name_format(&name, stream->slot->snapshot_name);
	int error = write_at(board, stream->slot->data_name, "", 0, 0);
	error = error ? error : write_header(stream, board);
	stream->snapshots = HEADER;
	stream->at = stream->slot->buffer;
	stream->limit = stream->at + COLLECT_BUFFER;
	atomic_fetch_add(&board->streams, 1);
	atomic_store(&stream->slot->state, COLLECT_USED);
	if (error)
		fail(stream, board, error);
}

void stream_open(struct stream *stream, struct collect_board *board, bool ordered)
{
	struct tw_xtrace_name name = name_of(board);
	*stream = (struct stream){.ordered = ordered, .number = name.number};
	open_files(stream, board, name);
	if (stream->slot)
		images_thread(board, name.number);
}

void stream_open_core(struct stream *stream, struct collect_board *board, unsigned core, bool is_main, bool ordered)
{
	struct tw_xtrace_name name = {.number = core, .hint = is_main ? 9 : 13};
	memcpy(name.timestamp, board->timestamp, sizeof name.timestamp);
	*stream = (struct stream){.ordered = ordered, .of_core = true, .number = core};
	open_files(stream, board, name);
}

void stream_order(struct stream *stream, struct collect_board *board)
{
	if (stream->ordered || !stream->slot)
		return;
	stream->ordered = true;
	int error = write_header(stream, board);
	if (error)
		fail(stream, board, error);
}

/* Returns 0 or errno. */
static int write_tokens(const struct collect_board *board, struct collect_slot *slot, size_t size, uint64_t at)
{
	size_t packed;
	if (!board->options.compress)
		return write_at(board, slot->data_name, slot->buffer, size, at);
	if (!size)
		return 0;
	void *frame = pack_frame(slot->buffer, size, &packed);
	uint64_t stored = atomic_load(&slot->stored);
	int error = frame ? write_at(board, slot->data_name, frame, packed, stored) : ENOMEM;
	free(frame);
	if (!error)
		atomic_store(&slot->stored, stored + packed);
	return error;
}

void stream_flush(struct stream *stream, struct collect_board *board)
{
	struct collect_slot *slot = stream->slot;
	if (!slot)
		return;
	size_t size = (size_t)(stream->at - slot->buffer);
	alive_check(board);
	int error = atomic_load(&board->error);
	error = error ? error : write_tokens(board, slot, size, stream->base);
	if (error) {
		fail(stream, board, error);
		return;
	}
	stream->base += size;
	stream->at = slot->buffer;
	atomic_store(&slot->start, stream->base); /* killed before this, the tool writes the same bytes again */
}

void stream_release(struct collect_slot *slot)
{
	slot->data_name[0] = '\0';
	atomic_store(&slot->state, COLLECT_FREE);
}

void stream_close(struct stream *stream, struct collect_board *board)
{
	struct collect_slot *slot = stream->slot;
	stream_flush(stream, board);
	if (stream->slot)
		stream_release(slot);
	stream_abandon(stream);
}

/* ---- Snapshots and tokens. ---- */

/* Of one length in a file: that of its first. A machine's tasks may have others each: the longest has them all. */
static void take_vector(struct stream *stream, struct collect_board *board, const struct guest *machine)
{
	unsigned length = stream->of_core ? scalable_longest(machine) : scalable_length(machine);
	struct tw_xtrace_layout own = layout;
	if (!stream->vector)
		stream->vector = length;
	else if (stream->vector != length)
		atomic_store(&board->resized, 1);
	own.vector_bits = (uint16_t)(8 * stream->vector);
	stream->snapshot_size = (uint32_t)tw_xtrace_snapshot_size(&own);
	stream->slot->snapshot_size = stream->snapshot_size;
}

/* bytes: of the slot's size. */
static void encode_snapshot(const struct stream *stream, const struct guest *machine, uint8_t *bytes)
{
	uint8_t vectors[32 * MACHINE_VECTOR];
	struct scalable_room room;
	struct tw_xtrace_layout own = layout;
	struct tw_xtrace_snapshot snapshot = {.index = atomic_load(&stream->slot->end),
	                                      .user_count = stream->count - stream->kernel_count,
	                                      .count = stream->count};
	machine_snapshot(machine, &snapshot, vectors);
	scalable_snapshot(machine, stream->vector, &snapshot, &room);
	if (stream->of_core)
		system_snapshot(machine, &snapshot);
	own.vector_bits = (uint16_t)(8 * stream->vector);
	tw_xtrace_snapshot_encode(&snapshot, &own, bytes);
}

void stream_snapshot(struct stream *stream, struct collect_board *board, const struct guest *machine)
{
	if (!stream->slot)
		return;
	take_vector(stream, board, machine);
	size_t size = stream->snapshot_size;
	uint8_t *bytes = malloc(size);
	if (!bytes) {
		fail(stream, board, ENOMEM);
		return;
	}
	encode_snapshot(stream, machine, bytes);
	if (stream->snapshots > HEADER && stream->last_count == stream->count)
		stream->snapshots -= size;
	int error = write_at(board, stream->slot->snapshot_name, bytes, size, stream->snapshots);
	free(bytes);
	stream->snapshots += size;
	if (error)
		fail(stream, board, error);
	stream->last_count = stream->count;
	stream->next_snapshot = stream->count + board->options.interval - stream->count % board->options.interval;
}

uint64_t stream_last_snapshot(const struct stream *stream)
{
	return stream->snapshots > HEADER ? (stream->snapshots - HEADER) / stream->snapshot_size - 1 : 0;
}

void stream_mark_global(struct stream *stream, struct collect_board *board)
{
	if (stream->has_global || !stream->slot)
		return;
	stream->has_global = true;
	stream->global = (uint32_t)stream_last_snapshot(stream);
	int error = stream->global ? write_header(stream, board) : 0;
	if (error)
		fail(stream, board, error);
}

void stream_token(struct stream *stream, struct collect_board *board, const struct tw_xtrace_token *token)
{
	size_t size = 0;
	int status = tw_xtrace_encode(token, stream->at, (size_t)(stream->limit - stream->at), &size);
	if (status == TW_ERR_ROOM && stream_room(stream, board, size))
		status = tw_xtrace_encode(token, stream->at, size, &size);
	if (status == 0 && stream->slot)
		stream_add(stream, stream->at + size);
}
