/* vectors.c - basic block vectors alone: SimPoint's files, a line for each interval of a thread.
 *
 * A basic block is that of `phases`: it begins behind a branch or system call, or where the PC jumps, and ends with the
 * next branch. QEMU's blocks end also for reasons of its own: what follows them belongs to the same one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/windows/vectors.h"

#include "base/memory/map.h"
#include "base/memory/memory.h"
#include "collect/alive.h"
#include "collect/execs.h"
#include "collect/follow.h"
#include "collect/machine.h"
#include "collect/system/calling.h"
#include "xtrace/format/opcode.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Text that is written when it is complete. */
struct vector_text {
	char *bytes;
	size_t size, room;
};

struct vector_thread {
	uint64_t behind;   /* where the last block goes on in the same basic block */
	uint64_t left;     /* instructions of the interval */
	uint32_t block;    /* the basic block that is executed */
	uint32_t last;     /* the largest number in the file so far */
	uint32_t *counts;  /* of this interval, by block */
	uint32_t *touched; /* blocks that have a count, as they came */
	uint32_t *names;   /* numbers in the file, from 1, by block; 0: none yet */
	size_t count_room, touched_room, name_room, touched_count;
	uint32_t number;           /* of the thread or core */
	struct collect_exec *exec; /* that has not returned, as far as is known */
	bool sees;                 /* the registers: */
	struct guest machine;
	struct vector_text line, blocks;
	struct vector_thread *next; /* in the list of all */
};

static _Thread_local struct vector_thread *self __attribute__((tls_model("initial-exec")));
static struct collect_board *board;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the two below */
static struct vector_thread *threads;
static struct {
	struct tw_map map; /* by PC */
	uint64_t *pcs;
	size_t count, room;
} blocks;
static pthread_key_t at_end;

/* ---- Files: open for a moment only, as the guest sees the process's descriptors. ---- */

static void fail(int error)
{
	int32_t none = 0;
	atomic_compare_exchange_strong(&board->error, &none, error);
}

__attribute__((format(printf, 2, 3))) static void put(struct vector_text *text, const char *format, ...)
{
	enum { LONGEST = 64 };
	va_list arguments;
	if (text->room - text->size < LONGEST &&
	    !tw_grow(&text->bytes, &text->room, text->size + LONGEST, sizeof *text->bytes)) {
		fail(ENOMEM);
		return;
	}
	va_start(arguments, format);
	text->size += (size_t)vsnprintf(text->bytes + text->size, LONGEST, format, arguments);
	va_end(arguments);
}

static void append(const struct vector_thread *thread, const char *suffix, struct vector_text *text)
{
	char path[PATH_MAX + TW_XTRACE_NAME_SIZE];
	snprintf(path, sizeof path, "%s/xtrace.%s.%s%" PRIu32 "%s", board->directory, board->timestamp,
	         board->options.of_machine ? "core" : "thread", thread->number, suffix);
	int fd = atomic_load(&board->error) ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	for (size_t done = 0; fd >= 0 && done < text->size;) {
		ssize_t count = write(fd, text->bytes + done, text->size - done);
		if (count < 0 && errno != EINTR) {
			fail(errno);
			break;
		}
		done += count > 0 ? (size_t)count : 0;
	}
	if (fd >= 0)
		close(fd);
	else
		fail(errno);
	text->size = 0;
}

/* ---- Intervals. ---- */

static uint32_t name_of(struct vector_thread *thread, uint32_t block)
{
	if (thread->names[block])
		return thread->names[block];
	pthread_mutex_lock(&lock);
	uint64_t pc = blocks.pcs[block];
	pthread_mutex_unlock(&lock);
	put(&thread->blocks, "%" PRIu32 " 0x%" PRIx64 "\n", ++thread->last, pc);
	return thread->names[block] = thread->last;
}

static void close_interval(struct vector_thread *thread)
{
	thread->left = board->options.interval;
	if (!thread->touched_count)
		return;
	put(&thread->line, "T");
	for (size_t i = 0; i < thread->touched_count; i++) {
		uint32_t block = thread->touched[i];
		put(&thread->line, ":%" PRIu32 ":%" PRIu32 " ", name_of(thread, block), thread->counts[block]);
		thread->counts[block] = 0;
	}
	put(&thread->line, "\n");
	thread->touched_count = 0;
	alive_check(board);
	append(thread, ".blocks", &thread->blocks);
	append(thread, ".bb", &thread->line);
}

static inline void add(struct vector_thread *thread, uint32_t count)
{
	uint32_t *counted = &thread->counts[thread->block];
	if (!*counted)
		thread->touched[thread->touched_count++] = thread->block;
	*counted += count;
	thread->left -= count;
}

/* The interval ends in the block. */
static void add_parts(struct vector_thread *thread, uint32_t count)
{
	while (count) {
		uint32_t part = count < thread->left ? count : (uint32_t)thread->left;
		add(thread, part);
		count -= part;
		if (!thread->left)
			close_interval(thread);
	}
}

static bool make_room(struct vector_thread *thread, uint32_t block)
{
	size_t most = (size_t)block + 1;
	bool made = tw_grow(&thread->touched, &thread->touched_room, most, sizeof *thread->touched) &&
	            tw_grow(&thread->names, &thread->name_room, most, sizeof *thread->names) &&
	            tw_grow(&thread->counts, &thread->count_room, most, sizeof *thread->counts);
	if (!made)
		fail(ENOMEM);
	return made;
}

/* ---- Threads. ---- */

/* id: as windows have it. */
static void begin(struct vector_thread *thread, uint32_t number, long id)
{
	*thread = (struct vector_thread){.left = board->options.interval, .number = number};
	pthread_mutex_lock(&lock);
	thread->next = threads;
	threads = thread;
	pthread_mutex_unlock(&lock);
	put(&thread->blocks, "#interval %" PRIu64 " thread %ld\n", board->options.interval, id);
	append(thread, ".blocks", &thread->blocks);
	atomic_fetch_add(&board->streams, 1);
}

static void begin_thread(struct vector_thread *thread)
{
	begin(thread, atomic_fetch_add(&board->windows.threads, 1), gettid());
	pthread_setspecific(at_end, thread);
	self = thread;
}

static struct vector_thread *open_thread(void)
{
	struct vector_thread *thread = malloc(sizeof *thread);
	if (thread)
		begin_thread(thread);
	else
		fail(ENOMEM);
	return thread;
}

static void release(struct vector_thread *thread)
{
	free(thread->counts);
	free(thread->touched);
	free(thread->names);
	free(thread->line.bytes);
	free(thread->blocks.bytes);
}

static void end_thread(void *ended)
{
	struct vector_thread *thread = ended;
	close_interval(thread);
	pthread_mutex_lock(&lock);
	struct vector_thread **at = &threads;
	while (*at && *at != thread)
		at = &(*at)->next;
	if (*at)
		*at = thread->next;
	pthread_mutex_unlock(&lock);
	self = NULL;
	release(thread);
	free(thread);
}

/* A child process has one thread, which begins anew. */
static void begin_child(void)
{
	pthread_mutex_init(&lock, NULL);
	threads = NULL;
	alive_begin(board);
	if (!self)
		return;
	release(self);
	begin_thread(self);
}

bool vectors_setup(struct collect_board *shared)
{
	board = shared;
	pthread_atfork(NULL, NULL, begin_child);
	return pthread_key_create(&at_end, end_thread) == 0;
}

void vectors_end(void)
{
	for (struct vector_thread *thread = threads; thread; thread = thread->next)
		close_interval(thread);
}

/* ---- Blocks. ---- */

static bool find_number(uint64_t pc, uint32_t *number)
{
	if (tw_map_find(&blocks.map, pc, number))
		return true;
	*number = (uint32_t)blocks.count;
	if (!tw_grow(&blocks.pcs, &blocks.room, blocks.count + 1, sizeof *blocks.pcs) ||
	    !tw_map_add(&blocks.map, pc, *number))
		return false;
	blocks.pcs[blocks.count++] = pc;
	return true;
}

struct vector_block *vectors_make(uint64_t pc, const uint32_t *opcodes, size_t count)
{
	struct xtrace_operation last;
	struct vector_block *block = malloc(sizeof *block);
	uint32_t number = 0;
	pthread_mutex_lock(&lock);
	bool found = find_number(pc, &number);
	pthread_mutex_unlock(&lock);
	if (!block || !found) {
		free(block);
		fail(ENOMEM);
		return NULL;
	}
	xtrace_operation(opcodes[count - 1], &last);
	*block = (struct vector_block){.pc = pc,
	                               .behind = last.flow == XTRACE_NEXT ? pc + 4 * count : 1,
	                               .number = number,
	                               .count = (uint32_t)count};
	return block;
}

static void take(struct vector_thread *thread, const struct vector_block *block)
{
	if (block->pc != thread->behind) {
		if (block->number >= thread->count_room && !make_room(thread, block->number))
			return;
		thread->block = block->number;
	}
	thread->behind = block->behind;
	if (block->count < thread->left)
		add(thread, block->count);
	else
		add_parts(thread, block->count);
}

void vectors_take(unsigned cpu, void *block)
{
	struct vector_thread *thread = self;
	(void)cpu;
	if (thread || (thread = open_thread()))
		take(thread, block);
}

void vectors_take_core(unsigned core, const struct vector_block *block)
{
	static struct vector_thread *cores[CORES_MOST];
	struct vector_thread **own = &cores[core];
	if (!*own && (*own = malloc(sizeof **own)))
		begin(*own, core, core);
	if (*own)
		take(*own, block);
	else
		fail(ENOMEM);
}

void vectors_call(unsigned cpu, void *data)
{
	struct vector_thread *thread = self;
	(void)cpu;
	(void)data;
	if (!thread || (!thread->sees && !(thread->sees = machine_open(&thread->machine))))
		return;
	execs_end(thread->exec);
	thread->exec = NULL;
	struct followed_program *next = follow_begin(&thread->machine);
	if (next) {
		close_interval(thread);
		follow_go(next, board, NULL);
	}
	thread->exec = execs_begin(&thread->machine, board);
}
