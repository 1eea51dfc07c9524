/* flush.c - what is left in the buffers when QEMU has ended goes to the files, which then end with a whole token. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/flush.h"

#include "base/bytes/bytes.h"
#include "collect/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 24, SNAPSHOT_INDEX = 8 };

struct collect_board *collect_board_make(int *fd)
{
	*fd = memfd_create("trackway", 0);
	if (*fd < 0)
		return NULL;
	/* only what is touched takes memory */
	void *board =
	    ftruncate(*fd, (off_t)sizeof(struct collect_board)) < 0
		? MAP_FAILED
		: mmap(NULL, sizeof(struct collect_board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
	if (board != MAP_FAILED) {
		((struct collect_board *)board)->file = *fd;
		return board;
	}
	close(*fd);
	return NULL;
}

void collect_board_free(struct collect_board *board, int fd)
{
	munmap(board, sizeof *board);
	close(fd);
}

struct path {
	char text[PATH_MAX + TW_XTRACE_NAME_SIZE + 8];
};

static struct path path_of(const struct collect_board *board, const char *name)
{
	struct path path;
	snprintf(path.text, sizeof path.text, "%s/%s", board->directory, name);
	return path;
}

static int open_file(const struct collect_board *board, const char *name)
{
	const struct path path = path_of(board, name);
	return open(path.text, O_RDWR | O_CLOEXEC);
}

/* A thread that had not begun when all was ended leaves no file, whole or half. */
static void remove_files(const struct collect_board *board, const struct collect_slot *slot)
{
	const struct path data = path_of(board, slot->data_name), snapshots = path_of(board, slot->snapshot_name);
	unlink(data.text);
	unlink(snapshots.text);
}

/* How many of the first bytes are whole tokens. */
static size_t whole_tokens(const uint8_t *bytes, size_t size)
{
	struct tw_xtrace_token token;
	size_t at = 0;
	while (at < size && tw_xtrace_decode(bytes + at, size - at, &token) > 0)
		at += token.size;
	return at;
}

/* Returns how many bytes could be written; less when errno tells why. */
static size_t write_rest(int fd, const uint8_t *bytes, size_t size, uint64_t at)
{
	size_t done = 0;
	while (done < size) {
		ssize_t count = pwrite(fd, bytes + done, size - done, (off_t)(at + done));
		if (count < 0 && errno != EINTR)
			break;
		done += count > 0 ? (size_t)count : 0;
	}
	return done;
}

/* The last frame; one that was begun goes. Returns 0 or errno. */
static int flush_frame(int fd, const struct collect_slot *slot, size_t size)
{
	size_t packed = 0;
	uint64_t stored = atomic_load(&slot->stored);
	void *frame = size ? pack_frame(slot->buffer, size, &packed) : NULL;
	int error = size && !frame ? ENOMEM : ftruncate(fd, (off_t)stored) < 0 ? errno : 0;
	if (!error && write_rest(fd, frame, packed, stored) < packed) {
		error = errno;
		error = ftruncate(fd, (off_t)stored) < 0 ? errno : error;
	}
	free(frame);
	return error;
}

/* Returns 0 or errno. *length: of the file now; 0 when it cannot be opened. */
static int flush_tokens(const struct collect_board *board, struct collect_slot *slot, uint64_t *length)
{
	uint64_t start = atomic_load(&slot->start), end = atomic_load(&slot->end);
	size_t size = end - start <= COLLECT_BUFFER ? (size_t)(end - start) : 0;
	int fd = open_file(board, slot->data_name), error = 0;
	if (fd < 0)
		return errno;
	if (board->options.compress) {
		error = flush_frame(fd, slot, whole_tokens(slot->buffer, size));
		*length = start + (error ? 0 : whole_tokens(slot->buffer, size));
		close(fd);
		return error;
	}
	size_t written = write_rest(fd, slot->buffer, size, start);
	if (written < size)
		error = errno;
	*length = start + whole_tokens(slot->buffer, written);
	if (ftruncate(fd, (off_t)*length) < 0 && !error)
		error = errno;
	close(fd);
	return error;
}

/* Snapshots of what is no longer there, or half of one, are cut off. */
static int flush_snapshots(const struct collect_board *board, const struct collect_slot *slot, uint64_t length)
{
	struct stat status;
	uint8_t index[8];
	int fd = open_file(board, slot->snapshot_name), error = 0;
	if (fd < 0)
		return errno;
	uint64_t size = fstat(fd, &status) == 0 ? (uint64_t)status.st_size : 0;
	uint64_t step = slot->snapshot_size, count = step && size > HEADER ? (size - HEADER) / step : 0;
	for (; count; count--) {
		off_t at = (off_t)(HEADER + (count - 1) * step + SNAPSHOT_INDEX);
		if (pread(fd, index, sizeof index, at) == sizeof index && tw_load64(index, false) < length)
			break;
	}
	if (ftruncate(fd, size >= HEADER ? (off_t)(HEADER + count * step) : 0) < 0)
		error = errno;
	close(fd);
	return error;
}

int collect_flush(struct collect_board *board)
{
	int first = atomic_load(&board->error);
	unsigned used = atomic_load(&board->used);
	for (unsigned i = 0; i < used && i < COLLECT_SLOTS; i++) {
		struct collect_slot *slot = &board->slots[i];
		uint64_t length = 0;
		uint32_t state = atomic_load(&slot->state);
		if (state == COLLECT_FREE || !slot->data_name[0])
			continue;
		if (state == COLLECT_TAKEN) {
			remove_files(board, slot);
			continue;
		}
		int tokens = flush_tokens(board, slot, &length);
		int snapshots = flush_snapshots(board, slot, length); /* on a full disk, too: it only cuts */
		first = first ? first : tokens ? tokens : snapshots;
	}
	return first;
}
