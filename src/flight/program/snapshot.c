/* snapshot.c - what a process writes of its log while it goes on: a plain log of the records since a moment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/program/snapshot.h"

#include "flight/log/log.h"
#include "flight/log/path.h"
#include "flight/log/stretch.h"
#include "flight/system.h"

#include <trackway/flight.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MARK = 8 };

static char named[4096];
static uint64_t wanted_age;

void flight_name_snapshots(const char *pattern, const char *log, uint64_t age)
{
	static const char mark[] = "-snapshot";
	const char *name = strrchr(log, '/'), *ending = strrchr(name ? name : log, '.');
	const size_t stem = ending ? (size_t)(ending - log) : strlen(log);
	wanted_age = age;
	if (pattern && *pattern && strlen(pattern) < sizeof named) {
		strcpy(named, pattern);
	} else if (strlen(log) + sizeof mark <= sizeof named) {
		memcpy(named, log, stem);
		memcpy(named + stem, mark, sizeof mark - 1);
		strcpy(named + stem + sizeof mark - 1, log + stem);
	}
}

uint64_t tw_flight_moment(uint64_t ago)
{
	const struct flight_log *log = flight_log;
	if (!flight_has_log())
		return 0;
	const uint64_t now = flight_now(), ticks = flight_ticks_of(ago, flight_frequency(log));
	return ticks < now ? now - ticks : 1;
}

/* ---- Writing, without libc's memory. ---- */

struct snapshot {
	int fd, error; /* errno; 0 */
	uint64_t at;   /* bytes that are written */
	uint8_t *room; /* for a chunk */
	uint64_t since, frequency;
};

static void put(struct snapshot *snapshot, const uint8_t *bytes, uint64_t size)
{
	while (size && !snapshot->error) {
		const long done = flight_call(SYS_pwrite64, snapshot->fd, (long)bytes, (long)size, (long)snapshot->at);
		if (done == -EINTR)
			continue;
		if (done <= 0) {
			snapshot->error = done ? (int)-done : ENOSPC;
			return;
		}
		bytes += done;
		size -= (uint64_t)done;
		snapshot->at += (uint64_t)done;
	}
}

static bool is_old(const uint8_t *chunk, uint64_t since)
{
	uint64_t left;
	memcpy(&left, chunk + FLIGHT_LEFT_AT, sizeof left);
	return left && left < since;
}

/* A chunk's buffer, without the gap before it. */
static void take(struct snapshot *snapshot, const uint8_t *chunk, uint64_t size)
{
	if (size > FLIGHT_LARGEST || is_old(chunk, snapshot->since) || !flight_copy_chunk(snapshot->room, chunk, size))
		return;
	const uint64_t kept = flight_keep_since(snapshot->room, snapshot->since, snapshot->frequency);
	if (kept)
		put(snapshot, snapshot->room + FLIGHT_EXTENTS_AT, kept - FLIGHT_EXTENTS_AT);
}

static void take_all(struct snapshot *snapshot, const struct flight_log *log)
{
	const uint64_t size = __atomic_load_n(&log->ends, __ATOMIC_ACQUIRE);
	uint8_t header[FLIGHT_FILE_HEADER];
	memcpy(header, log->base, sizeof header - MARK);
	memset(header + sizeof header - MARK, 0, MARK); /* a plain log */
	put(snapshot, header, sizeof header);
	for (uint64_t at = FLIGHT_FILE_HEADER; at < size && !snapshot->error;) {
		const uint64_t chunk = flight_chunk_size(log->base, at, size);
		if (chunk)
			take(snapshot, log->base + at, chunk);
		at = flight_chunk_next(at, chunk);
	}
}

static int write_snapshot(uint64_t since, const char *pattern)
{
	struct flight_log *log = flight_log;
	char path[FLIGHT_PATH];
	if (!flight_has_log() || log->counts || !*pattern || strlen(pattern) >= sizeof named)
		return ENODATA;
	struct snapshot snapshot = {.fd = flight_make_file(pattern, log->pid, path), .since = since};
	if (snapshot.fd < 0)
		return errno;
	snapshot.room = flight_map(FLIGHT_LARGEST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	flight_note_clock(log);
	snapshot.frequency = flight_frequency(log);
	if (snapshot.room)
		take_all(&snapshot, log);
	else
		snapshot.error = ENOMEM;
	flight_call(SYS_munmap, (long)snapshot.room, FLIGHT_LARGEST, 0, 0);
	close(snapshot.fd);
	if (snapshot.error)
		unlink(path);
	return snapshot.error;
}

int tw_flight_snapshot(uint64_t since, const char *path)
{
	const int before = errno, error = write_snapshot(since, path ? path : named);
	errno = before;
	return error;
}

void flight_snapshot_of_signal(void)
{
	tw_flight_snapshot(wanted_age ? tw_flight_moment(wanted_age) : 0, NULL);
}
