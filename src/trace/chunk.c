/* chunk.c - chunks of the image: made, handed out, given back, taken from others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/session.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { OWNER_WORDS = 3, OWNER_RECORD = OWNER_WORDS * IMAGE_WORD, PART_LEAST = 512, CIRCULAR_PARTS = 32 };

static struct trace_session *const session = &trace_session;

/* ---- The file. ---- */

bool trace_file_is_ours(void)
{
	struct stat status;
	return session->image.fd >= 0 && fstat(session->image.fd, &status) == 0 &&
	       status.st_dev == session->image.device && status.st_ino == session->image.inode;
}

bool trace_may_grow(uint64_t end)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) < 0 || end <= limit.rlim_cur;
}

/* Blocks of the file, before they are touched: of a full disk that would be SIGBUS. */
static bool allocate(uint64_t end)
{
	enum { STEP_LEAST = 1 << 16, STEP_MOST = 1 << 20 };
	if (end <= session->space.allocated)
		return true;
	if (session->image.full || end > session->space.mapped || !trace_file_is_ours())
		return false;
	uint64_t step = session->space.allocated / 4;
	step = step < STEP_LEAST ? STEP_LEAST : step > STEP_MOST ? STEP_MOST : step / IMAGE_PAGE * IMAGE_PAGE;
	uint64_t ends[] = {session->space.allocated + step, end};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		off_t from = (off_t)session->space.allocated, size = (off_t)(ends[i] - session->space.allocated);
		if (ends[i] < end || ends[i] > session->space.mapped || !trace_may_grow(ends[i]) ||
		    posix_fallocate(session->image.fd, from, size) != 0)
			continue;
		session->space.allocated = ends[i];
		return true;
	}
	session->image.full = true;
	return false;
}

struct image_chunk *trace_chunk_new(uint64_t size)
{
	struct image_header *header = session->header;
	if (!allocate(IMAGE_PAGE + session->space.chunks + size))
		return NULL;
	struct image_chunk *chunk = (struct image_chunk *)((uint8_t *)header + IMAGE_PAGE + session->space.chunks);
	chunk->size = size;
	chunk->magic = IMAGE_CHUNK_MAGIC;
	session->space.chunks += size;
	atomic_store_explicit(&header->now.chunks, session->space.chunks, memory_order_release);
	return chunk;
}

/* ---- Handing out. ---- */

static void put_owner(struct trace_writer *writer, uint32_t thread, uint64_t which)
{
	const uint64_t words[OWNER_WORDS] = {image_word(IMAGE_OWNER, OWNER_WORDS, 0, thread),
	                                     ++writer->taken | which << IMAGE_WRITER_BIT, session->ring.sequence};
	trace_copy(writer->at, words, sizeof words);
	trace_commit(writer, sizeof words);
}

/* Who reads must find the number grown before anything stands in the chunk. */
uint64_t trace_next_given(void)
{
	atomic_store_explicit(&session->header->now.given, ++session->ring.sequence, memory_order_seq_cst);
	return session->ring.sequence;
}

/* A chunk of `size` becomes a writer's; what is in it stays up to `committed`. */
static void give(struct trace_thread *thread, struct trace_writer *writer, struct image_chunk *chunk, uint64_t size,
                 uint64_t committed)
{
	atomic_store_explicit(&chunk->owner, 0, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	atomic_store_explicit(&chunk->committed, committed, memory_order_release);
	if (committed == 0)
		chunk->pair = trace_pair();
	writer->owner = trace_next_given() << 32 | thread->number;
	atomic_store_explicit(&chunk->owner, writer->owner, memory_order_release);
	atomic_thread_fence(memory_order_release);
	writer->chunk = chunk;
	writer->at = (uint8_t *)chunk + IMAGE_CHUNK_HEAD + committed;
	writer->end = (uint8_t *)chunk + size;
	put_owner(writer, thread->number, (uint64_t)(writer - thread->writers));
}

static bool has_room(const struct trace_writer *writer, uint64_t need)
{
	return (uint64_t)(writer->end - writer->at) >= need + OWNER_RECORD;
}

/* The rest of a chunk of a thread that has ended. */
static bool take_part(struct trace_thread *thread, struct trace_writer *writer, uint64_t need)
{
	for (unsigned i = 0; i < session->ended.part_count; i++) {
		struct trace_writer part = session->ended.parts[i];
		if (!has_room(&part, need))
			continue;
		session->ended.parts[i] = session->ended.parts[--session->ended.part_count];
		const uint8_t *start = (const uint8_t *)part.chunk;
		give(thread, writer, part.chunk, (uint64_t)(part.end - start),
		     (uint64_t)(part.at - start) - IMAGE_CHUNK_HEAD);
		return true;
	}
	return false;
}

/* The first chunk of a thread is small: most threads have little to say. */
static uint64_t next_size(const struct trace_writer *writer, uint64_t need)
{
	uint64_t size = session->space.chunk_size ? session->space.chunk_size : writer->size * 2;
	size = size < IMAGE_CHUNK_LEAST ? IMAGE_CHUNK_LEAST : size;
	need += IMAGE_CHUNK_HEAD + OWNER_RECORD;
	while (size < need)
		size *= 2;
	return size < IMAGE_CHUNK_MOST ? size : IMAGE_CHUNK_MOST;
}

/* By one call, and by touching each page, which is a fault where the kernel does not have the call, and one that the
 * kernel does not see where a hypervisor makes its own page tables. So the pauses come when a chunk is handed out, and
 * no event in it has another. `bench/trace` counts them. */
void trace_make_pages(struct trace_writer *writer)
{
	volatile uint8_t *chunk = (uint8_t *)writer->chunk;
	writer->fresh = false;
	madvise(writer->chunk, writer->size, 23 /* MADV_POPULATE_WRITE of Linux 5.14 */);
	for (uint64_t at = IMAGE_PAGE; at < writer->size; at += IMAGE_PAGE)
		chunk[at] = 0;
}

static bool take_new(struct trace_thread *thread, struct trace_writer *writer, uint64_t need)
{
	uint64_t size = next_size(writer, need), left = session->options.size - session->space.events;
	if (session->options.size && size > left)
		size = left / IMAGE_PAGE * IMAGE_PAGE;
	if (size < need + IMAGE_CHUNK_HEAD + OWNER_RECORD)
		return false;
	struct image_chunk *chunk = trace_chunk_new(size);
	if (!chunk)
		return false;
	session->space.events += size;
	writer->size = size;
	writer->fresh = true;
	give(thread, writer, chunk, size, 0);
	return true;
}

/* ---- Circular mode: the oldest is overwritten. ---- */

static void overwrite(struct trace_thread *thread, struct trace_writer *writer, struct image_chunk *chunk)
{
	uint64_t *count = (uint64_t *)&session->header->now.overwritten;
	uint64_t lost = atomic_load_explicit(&chunk->committed, memory_order_relaxed);
	__atomic_fetch_add(count, lost, __ATOMIC_RELAXED);
	give(thread, writer, chunk, session->space.chunk_size, 0);
}

/* Every chunk is in the queue once at most. */
static void queue_full(struct image_chunk *chunk)
{
	if (session->ring.count == session->ring.room)
		return;
	session->ring.chunks[(session->ring.first + session->ring.count++) % session->ring.room] = chunk;
}

static bool take_oldest(struct trace_thread *thread, struct trace_writer *writer)
{
	if (session->ring.count == 0)
		return false;
	struct image_chunk *chunk = session->ring.chunks[session->ring.first];
	session->ring.first = (session->ring.first + 1) % session->ring.room;
	session->ring.count--;
	overwrite(thread, writer, chunk);
	return true;
}

/* Of all that threads have, the chunk that was taken first, if that is long ago. */
static struct trace_writer *longest_held(const struct trace_thread *thread, struct trace_thread **holder)
{
	enum { LONG_NS = 100000000 };
	struct trace_writer *found = NULL;
	for (struct trace_thread *other = session->all; other; other = other->next)
		for (int i = 0; i < TRACE_NESTED && other != thread; i++) {
			struct trace_writer *writer = &other->writers[i];
			if (!writer->chunk || writer->chunk->owner != writer->owner)
				continue;
			if (!found || writer->chunk->pair.ns < found->chunk->pair.ns) {
				found = writer;
				*holder = other;
			}
		}
	return found && trace_monotonic() - found->chunk->pair.ns > LONG_NS ? found : NULL;
}

/* Takes a chunk from a thread that is between two records. Behind the barrier the thread has either said that it is
 * busy, or sees that the chunk is not its own any more. */
static bool take_held(struct trace_thread *thread, struct trace_writer *writer)
{
	struct trace_thread *holder = NULL;
	struct trace_writer *held = longest_held(thread, &holder);
	if (!held)
		return false;
	uint64_t owner = held->owner;
	struct image_chunk *chunk = held->chunk;
	if (!atomic_compare_exchange_strong(&chunk->owner, &owner, 0))
		return false;
	if (!trace_barrier() || atomic_load_explicit(&holder->busy, memory_order_acquire)) {
		atomic_store_explicit(&chunk->owner, owner, memory_order_release);
		return false;
	}
	overwrite(thread, writer, chunk);
	return true;
}

/* Parts have stood longest. */
static bool take_whole_part(struct trace_thread *thread, struct trace_writer *writer)
{
	if (session->ended.part_count == 0)
		return false;
	struct image_chunk *chunk = session->ended.parts[0].chunk;
	session->ended.parts[0] = session->ended.parts[--session->ended.part_count];
	overwrite(thread, writer, chunk);
	return true;
}

static bool take_again(struct trace_thread *thread, struct trace_writer *writer, uint64_t need)
{
	if (session->options.mode != TW_TRACE_CIRCULAR ||
	    need + IMAGE_CHUNK_HEAD + OWNER_RECORD > session->space.chunk_size)
		return false;
	return take_oldest(thread, writer) || take_whole_part(thread, writer) || take_held(thread, writer);
}

/* ---- For writers. ---- */

static void forget(struct trace_writer *writer)
{
	writer->chunk = NULL;
	writer->at = writer->end = NULL;
}

static bool is_own(const struct trace_writer *writer)
{
	return writer->chunk && atomic_load_explicit(&writer->chunk->owner, memory_order_relaxed) == writer->owner;
}

/* Streaming: pages that were written long ago stay in the file, and leave the process's memory. Many at once: each
 * time, all processors that run its threads are interrupted. A thread that still writes there gets its page again. */
static void drop_old_pages(void)
{
	enum { STEP = 1 << 20 };
	if (session->options.mode != TW_TRACE_STREAMING || session->space.chunks - session->space.left < 2 * STEP)
		return;
	madvise((uint8_t *)session->header + IMAGE_PAGE + session->space.left, STEP, MADV_DONTNEED);
	session->space.left += STEP;
}

/* A chunk that nothing more goes into. */
static void finish_chunk(struct trace_writer *writer)
{
	if (is_own(writer) && session->options.mode == TW_TRACE_CIRCULAR)
		queue_full(writer->chunk);
	forget(writer);
}

bool trace_chunk_take(struct trace_thread *thread, struct trace_writer *writer, uint64_t need)
{
	bool had = writer->chunk != NULL;
	finish_chunk(writer);
	drop_old_pages();
	if (!had && take_part(thread, writer, need))
		return true;
	return take_new(thread, writer, need) || take_part(thread, writer, need) || take_again(thread, writer, need);
}

void trace_chunk_leave(struct trace_writer *writer)
{
	if (is_own(writer) && writer->end - writer->at >= PART_LEAST && session->ended.part_count < TRACE_PARTS)
		session->ended.parts[session->ended.part_count++] = *writer;
	else
		finish_chunk(writer);
	forget(writer);
}

uint64_t trace_record_most(void)
{
	enum { WORDS_MOST = 4095, SHARE = 2 };
	uint64_t size = session->space.chunk_size ? session->space.chunk_size : IMAGE_CHUNK_MOST;
	if (session->options.size && size > session->options.size / SHARE)
		size = session->options.size / SHARE;
	uint64_t most = size - IMAGE_CHUNK_HEAD - OWNER_RECORD;
	return most < WORDS_MOST * IMAGE_WORD ? most : WORDS_MOST * IMAGE_WORD;
}
