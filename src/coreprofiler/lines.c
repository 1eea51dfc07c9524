/* lines.c - an image of lines: made, written by many threads, written out by the program itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Making. ---- */

struct lines_file lines_file_of(int fd)
{
	struct stat status;
	struct lines_file file = {.fd = fd};
	if (fd < 0 || fstat(fd, &status) < 0)
		return file;
	file.device = status.st_dev;
	file.inode = status.st_ino;
	return file;
}

bool lines_file_is_open(const struct lines_file *file)
{
	struct stat status;
	return file->fd >= 0 && fstat(file->fd, &status) == 0 && status.st_dev == file->device &&
	       status.st_ino == file->inode;
}

void lines_file_close(struct lines_file *file)
{
	if (lines_file_is_open(file))
		close(file->fd);
	free(file->path);
	*file = (struct lines_file){.fd = -1};
}

static bool may_grow(uint64_t end)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) < 0 || end <= limit.rlim_cur;
}

/* Blocks of the file, before they are touched: of a full disk that would be SIGBUS. A file that the program has closed
 * is opened for as long as that takes: whoever closes all descriptors counts on the lowest numbers. */
static bool allocate(const struct line_image *lines, uint64_t offset, uint64_t size)
{
	if (lines->file.inode == 0)
		return true;
	struct lines_file file = lines->file;
	const bool kept = lines_file_is_open(&file);
	if (!kept)
		file.fd = file.path ? open(file.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	const bool done = may_grow(offset + size) && lines_file_is_open(&file) &&
	                  posix_fallocate(file.fd, (off_t)offset, (off_t)size) == 0;
	if (!kept && file.fd >= 0)
		close(file.fd);
	return done;
}

/* A page that is 1, and 0 in a forked child: also in one that runs no handlers of pthread_atfork(). Where the kernel
 * has no such pages (before Linux 4.14), it is 1 there, too. */
static const uint8_t *make_own(void)
{
	static const uint8_t always = 1;
	uint8_t *page = mmap(NULL, LINES_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return &always;
	*page = 1;
	madvise(page, LINES_PAGE, MADV_WIPEONFORK);
	return page;
}

static int give_up(struct line_image *lines, const char *path)
{
	const int error = errno ? errno : ENOSPC;
	if (path && lines->file.fd >= 0)
		unlink(path);
	lines_file_close(&lines->file);
	return error;
}

int lines_open(struct line_image *lines, const char *path, uint64_t room)
{
	*lines = (struct line_image){.room = room, .file.fd = -1, .mutex = PTHREAD_MUTEX_INITIALIZER};
	if (path)
		lines->file = lines_file_of(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
	if (path && lines->file.fd < 0)
		return errno;
	lines->file.path = path ? realpath(path, NULL) : NULL;
	errno = 0;
	if (!allocate(lines, 0, LINES_PAGE))
		return give_up(lines, path);
	const int kind = path ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	void *bytes = mmap(NULL, LINES_PAGE + room, PROT_READ | PROT_WRITE, kind | MAP_NORESERVE, lines->file.fd, 0);
	if (bytes == MAP_FAILED)
		return give_up(lines, path);
	struct lines_header *header = bytes;
	header->version = LINES_VERSION;
	header->process = (uint32_t)getpid();
	atomic_store_explicit(&header->state, LINES_OPEN, memory_order_relaxed);
	header->magic = LINES_MAGIC;
	lines->own = make_own();
	lines->header = header;
	return 0;
}

void lines_end(struct line_image *lines)
{
	if (lines_are_own(lines))
		atomic_store_explicit(&lines->header->state, LINES_ENDED, memory_order_release);
}

/* ---- Chunks. ---- */

static struct lines_chunk *chunk_at(const struct line_image *lines, uint64_t offset)
{
	return (struct lines_chunk *)((uint8_t *)lines->header + LINES_PAGE + offset);
}

/* One whose lines are all written out. */
static struct lines_chunk *free_chunk(const struct line_image *lines, uint64_t size)
{
	for (uint64_t at = 0; lines->file.fd < 0 && at < lines->used; at += chunk_at(lines, at)->size) {
		struct lines_chunk *chunk = chunk_at(lines, at);
		if (chunk->closed && chunk->size >= size && chunk->taken == chunk->committed)
			return chunk;
	}
	return NULL;
}

static struct lines_chunk *new_chunk(struct line_image *lines, uint64_t size)
{
	if (lines->full || size > lines->room - lines->used || !allocate(lines, LINES_PAGE + lines->used, size)) {
		if (lines->file.fd >= 0)
			lines->full = true;
		return NULL;
	}
	struct lines_chunk *chunk = chunk_at(lines, lines->used);
	chunk->size = size;
	chunk->magic = LINES_CHUNK_MAGIC;
	lines->used += size;
	atomic_store_explicit(&lines->header->chunks, lines->used, memory_order_release);
	return chunk;
}

static bool next_chunk(struct line_image *lines, struct lines_writer *writer, uint64_t need)
{
	uint64_t size = LINES_CHUNK;
	while (size < need + sizeof(struct lines_chunk))
		size *= 2;
	if (size > LINES_CHUNK_MOST)
		return false;
	pthread_mutex_lock(&lines->mutex);
	if (writer->chunk)
		writer->chunk->closed = 1;
	struct lines_chunk *chunk = free_chunk(lines, size);
	chunk = chunk ? chunk : new_chunk(lines, size);
	if (chunk) {
		chunk->taken = chunk->closed = 0;
		atomic_store_explicit(&chunk->committed, 0, memory_order_relaxed);
	}
	writer->chunk = chunk;
	pthread_mutex_unlock(&lines->mutex);
	return chunk != NULL;
}

/* ---- Writing. ---- */

/* One that no other thread is at: a line takes no longer than its bytes are copied. Threads begin with different ones,
 * and stay with theirs. */
static struct lines_writer *take_writer(struct line_image *lines)
{
	enum { TRIES = 1 << 14 };
	static _Atomic unsigned threads;
	static _Thread_local unsigned last __attribute__((tls_model("initial-exec"))); /* its number + 1; 0: none yet */
	if (!last)
		last = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % LINES_WRITERS;
	for (unsigned i = 0; i < TRIES; i++) {
		struct lines_writer *writer = &lines->writers[(last - 1 + i) % LINES_WRITERS];
		if (!atomic_exchange_explicit(&writer->busy, 1, memory_order_acquire)) {
			last = 1 + (last - 1 + i) % LINES_WRITERS;
			return writer;
		}
		if (i % LINES_WRITERS == LINES_WRITERS - 1)
			sched_yield();
	}
	return NULL;
}

static uint64_t room_of(uint64_t size)
{
	return sizeof(struct lines_line) + (size + LINES_ALIGNMENT - 1) / LINES_ALIGNMENT * LINES_ALIGNMENT;
}

static bool put(struct line_image *lines, struct lines_writer *writer, const char *text, size_t size)
{
	const uint64_t need = room_of(size);
	struct lines_chunk *chunk = writer->chunk;
	if (!chunk || chunk->size - sizeof *chunk - chunk->committed < need) {
		if (!next_chunk(lines, writer, need))
			return false;
		chunk = writer->chunk;
	}
	uint8_t *at = (uint8_t *)(chunk + 1) + chunk->committed;
	const struct lines_line line = {atomic_fetch_add_explicit(&lines->header->next, 1, memory_order_relaxed), size};
	memcpy(at, &line, sizeof line);
	memcpy(at + sizeof line, text, size);
	atomic_store_explicit(&chunk->committed, chunk->committed + need, memory_order_release);
	return true;
}

void lines_put(struct line_image *lines, const char *text, size_t size)
{
	struct lines_header *header = lines->header;
	if (!lines_are_own(lines))
		return;
	struct lines_writer *writer =
	    atomic_load_explicit(&lines->full, memory_order_relaxed) ? NULL : take_writer(lines);
	if (!writer || !put(lines, writer, text, size))
		atomic_fetch_add_explicit(&header->lost, 1, memory_order_relaxed);
	if (writer)
		atomic_store_explicit(&writer->busy, 0, memory_order_release);
}

/* ---- Writing out. ---- */

static size_t find_runs(const struct line_image *lines, struct lines_run **runs)
{
	size_t count = 0, room = 0;
	for (uint64_t at = 0; at < lines->used; at += chunk_at(lines, at)->size)
		room++;
	*runs = room ? malloc(room * sizeof **runs) : NULL;
	for (uint64_t at = 0; *runs && at < lines->used; at += chunk_at(lines, at)->size) {
		struct lines_chunk *chunk = chunk_at(lines, at);
		const uint64_t end = atomic_load_explicit(&chunk->committed, memory_order_acquire);
		const uint8_t *bytes = (const uint8_t *)(chunk + 1);
		if (end == chunk->taken)
			continue;
		(*runs)[count] = (struct lines_run){.at = bytes + chunk->taken, .end = bytes + end, .chunk = chunk};
		memcpy(&(*runs)[count++].number, bytes + chunk->taken, sizeof(uint64_t));
	}
	return count;
}

static int write_whole(int fd, const char *bytes, size_t size)
{
	for (ssize_t done; size; bytes += done, size -= (size_t)done) {
		done = write(fd, bytes, size);
		if (done < 0 && errno != EINTR)
			return errno;
		done = done < 0 ? 0 : done;
	}
	return 0;
}

static int write_lines(struct lines_merge *merge, int fd)
{
	enum { BUFFER = 1 << 15 };
	char buffer[BUFFER];
	const char *text;
	size_t size, used = 0;
	int error = 0;
	while (error == 0 && lines_merge_next(merge, &text, &size)) {
		if (used + size > BUFFER) {
			error = write_whole(fd, buffer, used);
			used = 0;
		}
		if (size > BUFFER)
			error = error ? error : write_whole(fd, text, size);
		else {
			memcpy(buffer + used, text, size);
			used += size;
		}
	}
	return error ? error : write_whole(fd, buffer, used);
}

/* What is committed later has a larger number than what was there when `limit` was taken, but for lines that were in
 * the making: those come with the next call. */
int lines_drain(struct line_image *lines, int fd)
{
	struct lines_merge merge = {0};
	if (!lines_are_own(lines))
		return 0;
	merge.limit = atomic_load_explicit(&lines->header->next, memory_order_acquire);
	pthread_mutex_lock(&lines->mutex);
	merge.count = find_runs(lines, &merge.runs);
	pthread_mutex_unlock(&lines->mutex);
	int error = lines_merge_begin(&merge) ? write_lines(&merge, fd) : ENOMEM;
	pthread_mutex_lock(&lines->mutex);
	for (size_t i = 0; i < merge.count && error == 0; i++)
		merge.runs[i].chunk->taken = (uint64_t)(merge.runs[i].at - (const uint8_t *)(merge.runs[i].chunk + 1));
	pthread_mutex_unlock(&lines->mutex);
	lines_merge_end(&merge);
	free(merge.runs);
	return error;
}
