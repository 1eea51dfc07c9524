/* store.c - the file that an index is in: mapped, without a name, and only growing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/store.h"

#include "base/bytes/temporary.h"
#include "base/memory/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The file grows by a part, within two sizes of a step. */
#define STEP_LEAST ((uint64_t)1 << 18)
#define STEP_MOST ((uint64_t)1 << 26)

static void *map(int fd, uint64_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
}

int view_store_open(struct view_store *store, const char *directory, uint64_t room)
{
	*store = (struct view_store){.room = room, .fd = tw_temporary_open(directory)};
	if (store->fd < 0)
		return errno;
	void *bytes = map(store->fd, store->room);
	/* A limit of addresses, or a tool that watches memory, has less. */
	while (bytes == MAP_FAILED && store->room > VIEW_ROOM_LEAST) {
		store->room /= 2;
		bytes = map(store->fd, store->room);
	}
	int error = bytes == MAP_FAILED ? errno : 0;
	if (error) {
		close(store->fd);
		return error;
	}
	store->bytes = bytes;
	return 0;
}

int view_store_map(struct view_store *store, int fd, uint64_t offset, uint64_t used, uint64_t behind)
{
	*store = (struct view_store){.room = used + behind, .size = used, .used = used};
	void *bytes = mmap(NULL, store->room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, (off_t)offset);
	if (bytes == MAP_FAILED)
		return errno;
	store->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (store->fd < 0) {
		const int error = errno;
		munmap(bytes, store->room);
		return error;
	}
	store->bytes = bytes;
	return 0;
}

/* Takes all from a file. Returns 0 or an errno. */
static int fill(uint8_t *bytes, int fd, uint64_t offset, uint64_t size)
{
	enum { MOST = 1 << 30 };
	for (uint64_t at = 0; at < size;) {
		const uint64_t left = size - at;
		const ssize_t got = pread(fd, bytes + at, left < MOST ? left : MOST, (off_t)(offset + at));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? errno : EIO;
		at += (uint64_t)got;
	}
	return 0;
}

int view_store_copy(struct view_store *store, const char *directory, int fd, uint64_t offset, uint64_t used,
                    uint64_t behind)
{
	int error = view_store_open(store, directory, used + behind + VIEW_ROOM_LEAST);
	if (error)
		return error;
	view_store_take(store, used + behind);
	error = store->error ? store->error : fill(store->bytes, fd, offset, used);
	store->used = used;
	if (error)
		view_store_close(store);
	return error;
}

void view_store_close(struct view_store *store)
{
	if (!store->bytes)
		return;
	munmap(store->bytes, store->room);
	close(store->fd);
	free(store->times);
	*store = (struct view_store){0};
}

/* The blocks are taken now: a page of a hole would end the program where the disk is full. */
static bool extend(struct view_store *store, uint64_t need)
{
	enum { PART = 32 };
	uint64_t step = store->size / PART & ~(STEP_LEAST - 1);
	step = step < STEP_LEAST ? STEP_LEAST : step > STEP_MOST ? STEP_MOST : step;
	step = step < need ? need : step;
	if (step > store->room - store->size)
		step = store->room - store->size;
	if (step < need) {
		store->error = ENOMEM;
		return false;
	}
	store->error = posix_fallocate(store->fd, (off_t)store->size, (off_t)step);
	store->size += store->error ? 0 : step;
	return !store->error;
}

uint64_t view_store_take(struct view_store *store, uint64_t size)
{
	size = (size + 7) & ~(uint64_t)7;
	const uint64_t left = store->size - store->used, need = size + VIEW_BEHIND;
	if (store->error || (need > left && !extend(store, need - left)))
		return VIEW_NOWHERE;
	store->used += size;
	return store->used - size;
}

void view_store_trim(struct view_store *store)
{
	enum { PAGE = 4096 };
	const uint64_t size = (store->used + VIEW_BEHIND + PAGE - 1) / PAGE * PAGE;
	if (size < store->size && ftruncate(store->fd, (off_t)size) == 0)
		store->size = size;
}

/* ---- Arrays. ---- */

/* Records of all parts that are still growing. */
enum { GROWING = VIEW_PART_MOST - VIEW_PART_FIRST };

struct place {
	size_t part;
	uint64_t at;   /* in it */
	uint64_t size; /* of it, in records */
};

static struct place place_of(uint64_t i)
{
	if (i >= GROWING)
		return (struct place){.part = VIEW_PART_DOUBLINGS + (size_t)((i - GROWING) / VIEW_PART_MOST),
		                      .at = (i - GROWING) % VIEW_PART_MOST,
		                      .size = VIEW_PART_MOST};
	unsigned part = 63 - (unsigned)__builtin_clzll(i / VIEW_PART_FIRST + 1);
	uint64_t size = (uint64_t)VIEW_PART_FIRST << part;
	return (struct place){.part = part, .at = i - (size - VIEW_PART_FIRST), .size = size};
}

size_t view_column_parts(uint64_t count)
{
	return count ? place_of(count - 1).part + 1 : 0;
}

uint64_t view_part_records(size_t part)
{
	return part < VIEW_PART_DOUBLINGS ? (uint64_t)VIEW_PART_FIRST << part : VIEW_PART_MOST;
}

/* Columns are many, and most have few parts. */
static bool has_part_room(struct view_column *column)
{
	enum { FIRST = 2 };
	const size_t room = column->part_room;
	return column->part_count < room ||
	       tw_resize(&column->parts, &column->part_room, room ? 2 * room : FIRST, sizeof *column->parts);
}

void *view_column_add(struct view_column *column, struct view_store *store, size_t size)
{
	struct place place = place_of(column->count);
	if (place.at == 0 && place.part == column->part_count) {
		if (!has_part_room(column)) {
			store->error = ENOMEM;
			return NULL;
		}
		uint64_t part = view_store_take(store, place.size * size);
		if (part == VIEW_NOWHERE)
			return NULL;
		column->parts[column->part_count++] = part;
	}
	column->count++;
	return store->bytes + column->parts[place.part] + place.at * size;
}

void view_column_cut(struct view_column *column, uint64_t count)
{
	column->count = count;
}

void *view_column_at(const struct view_column *column, const struct view_store *store, size_t size, uint64_t i)
{
	struct place place = place_of(i);
	return store->bytes + column->parts[place.part] + place.at * size;
}

void view_column_free(struct view_column *column)
{
	free(column->parts);
	*column = (struct view_column){0};
}
