/* read_thread.c - a reader that another thread reads ahead of the caller.
 *
 * Batches are copied into blocks, which go round: the other thread fills one while the caller uses another. Where the
 * source puts rows together it may do so in the block. What the source does next must not be seen: so each batch brings
 * the changes of the source's dictionary, which are made in the dictionary of the caller's reader when the batch is
 * given out. A batch that is too large for a block (of blobs) is lent: the source waits until it is used. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/threads/read_thread.h"

#include "base/threads/parallel.h"
#include "core/order/rows.h"
#include "core/order/slab.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCKS = 8,  /* the rows of some milliseconds: so long a thread waits for a processor. `make bench` */
	ROWS = 4096, /* of a block */
	ARGUMENTS = 8192,
	BYTES = 256 << 10, /* of texts and payloads */
	BATCHES = 1024,
	OFFERED = 1024, /* arguments: less room than that is not offered to the source */
	CHANGES = 1024  /* of the dictionary, that a block keeps room for */
};

/* A batch in a block. */
struct item {
	struct tw_batch batch;
	struct tw_clock clock;
	bool raised;               /* as in struct tw_traits, */
	struct tw_altered altered; /* and this */
	size_t changes;            /* up to here they belong to this batch and those before */
};

struct read_block {
	struct tw_event events[ROWS];
	struct tw_argument arguments[ARGUMENTS];
	char bytes[BYTES];
	size_t event_count, argument_count, byte_count;
	struct item items[BATCHES];
	size_t item_count;
	struct tw_dictionary_changes changes;
	struct tw_clock clock;     /* behind all batches, */
	struct tw_altered altered; /* and this */
	int status;                /* what follows this block: 1 another one, 0 the end, or a negative status */
};

struct read_thread {
	struct tw_format format; /* of the source's name */
	struct tw_reader *source;
	struct read_block *blocks[BLOCKS]; /* number n is blocks[n % BLOCKS]; NULL: not needed so far */
	uint64_t filled, used;             /* how many have gone so far */
	size_t item, change;               /* the next ones of the caller's block */
	bool holds;                        /* the caller has a block */
	bool stop;
	bool helped, called; /* helped: the source can be; called: there is something to do since it was asked last */
	struct tw_batch_room room; /* for the next batch */
	pthread_mutex_t lock;
	pthread_cond_t change_made;
	pthread_t thread;
};

/* ---- The other thread: filling blocks. ---- */

/* What a batch needs in a block. */
struct need {
	size_t arguments, bytes;
};

static void measure_argument(struct need *need, const struct tw_argument *argument)
{
	if (tw_has_bytes(argument) && need->bytes <= BYTES)
		need->bytes += argument->size < BYTES ? (size_t)argument->size : BYTES + 1;
}

static struct need measure(const struct tw_batch *batch)
{
	struct need need = {0};
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		for (size_t k = 0; k < event->argument_count; k++)
			measure_argument(&need, &batch->arguments[event->first_argument + k]);
		need.arguments += event->argument_count;
	}
	return need;
}

/* The same of a batch that the source has put into the block itself: its arguments end with the last row's. */
static struct need measure_placed(const struct tw_batch *batch)
{
	const struct tw_event *last = &batch->events[batch->count - 1];
	struct need need = {.arguments = (size_t)last->first_argument + last->argument_count};
	for (size_t i = 0; i < need.arguments; i++)
		measure_argument(&need, &batch->arguments[i]);
	return need;
}

static bool fits(const struct read_block *block, const struct tw_batch *batch, const struct need *need)
{
	return block->item_count < BATCHES && batch->count <= ROWS - block->event_count &&
	       need->arguments <= ARGUMENTS - block->argument_count && need->bytes <= BYTES - block->byte_count;
}

/* Texts and payloads of the arguments behind those that are there. */
static void copy_bytes(struct read_block *block, size_t count)
{
	struct tw_argument *arguments = block->arguments + block->argument_count;
	for (size_t i = 0; i < count; i++) {
		if (!tw_has_bytes(&arguments[i]) || arguments[i].size == 0)
			continue;
		char *to = block->bytes + block->byte_count;
		memcpy(to, arguments[i].value.bytes, (size_t)arguments[i].size);
		arguments[i].value.bytes = (const uint8_t *)to;
		block->byte_count += (size_t)arguments[i].size;
	}
	block->argument_count += count;
}

static struct tw_batch copy(struct read_block *block, const struct tw_batch *batch)
{
	struct tw_event *events = block->events + block->event_count;
	struct tw_argument *arguments = block->arguments + block->argument_count;
	size_t used = 0;
	memcpy(events, batch->events, batch->count * sizeof *events);
	for (size_t i = 0; i < batch->count; i++) {
		if (events[i].argument_count == 0)
			continue;
		memcpy(arguments + used, batch->arguments + events[i].first_argument,
		       events[i].argument_count * sizeof *arguments);
		events[i].first_argument = (uint16_t)used;
		used += events[i].argument_count;
	}
	copy_bytes(block, used);
	block->event_count += batch->count;
	return (struct tw_batch){events, batch->count, arguments};
}

/* Adds a batch whose rows the source has put into the block itself. */
static struct tw_batch keep(struct read_block *block, const struct tw_batch *batch, const struct need *need)
{
	copy_bytes(block, need->arguments);
	block->event_count += batch->count;
	return *batch;
}

static void add_item(struct read_thread *thread, struct read_block *block, const struct tw_batch *batch)
{
	block->items[block->item_count++] = (struct item){.batch = *batch,
	                                                  .clock = thread->source->clock,
	                                                  .raised = thread->source->traits.raised,
	                                                  .altered = thread->source->traits.altered,
	                                                  .changes = block->changes.count};
}

/* Does some of the source's work instead of waiting; false where there is nothing to do. With the lock, which is let go
 * meanwhile. The system leaves a processor idle rather than to take a thread from another one for so short a time:
 * `make bench` measures convert. */
static bool help(struct read_thread *thread, bool guest)
{
	struct tw_reader *source = thread->source;
	if (!source->format->reading.help)
		return false;
	pthread_mutex_unlock(&thread->lock);
	bool helped = source->format->reading.help(source, guest);
	pthread_mutex_lock(&thread->lock);
	return helped;
}

static bool is_full(const struct read_thread *thread, bool all)
{
	return !thread->stop && thread->filled - thread->used > (all ? 0 : BLOCKS - 1);
}

static void clear(struct read_block *block)
{
	block->event_count = block->argument_count = block->byte_count = block->item_count = block->changes.count = 0;
	if (block->changes.room <= CHANGES)
		return;
	free(block->changes.items);
	block->changes = (struct tw_dictionary_changes){0};
}

/* Gives the block to the caller and waits for the next one. NULL: it is time to stop, or there is no memory for it. */
static struct read_block *next_free(struct read_thread *thread, bool all)
{
	pthread_mutex_lock(&thread->lock);
	while (is_full(thread, all))
		if (!help(thread, false) && is_full(thread, all))
			pthread_cond_wait(&thread->change_made, &thread->lock);
	struct read_block *block = thread->stop ? NULL : thread->blocks[thread->filled % BLOCKS];
	pthread_mutex_unlock(&thread->lock);
	if (block)
		clear(block);
	return block;
}

/* Makes a block with its first use: a short trace needs one. */
static bool make_block(struct read_thread *thread, uint64_t number)
{
	struct read_block **block = &thread->blocks[number % BLOCKS];
	if (!*block)
		*block = calloc(1, sizeof **block);
	return *block;
}

static void hand_on(struct read_thread *thread, struct read_block *block, int status)
{
	if (status > 0 && !make_block(thread, thread->filled + 1))
		status = tw_fail(thread->source, TW_ERR_MEMORY, "out of memory");
	block->status = status;
	block->clock = thread->source->clock;
	block->altered = thread->source->traits.altered;
	pthread_mutex_lock(&thread->lock);
	thread->filled++;
	pthread_cond_broadcast(&thread->change_made);
	pthread_mutex_unlock(&thread->lock);
}

/* Offers the source what room the block has. */
static void offer(struct read_thread *thread, struct read_block *block)
{
	thread->room =
	    (struct tw_batch_room){block->events + block->event_count, block->arguments + block->argument_count,
	                           ARGUMENTS - block->argument_count};
	bool enough = ROWS - block->event_count >= TW_SLAB_BLOCK && thread->room.argument_room >= OFFERED;
	thread->source->help.room = enough && !thread->source->filtering.filter ? &thread->room : NULL;
}

static bool is_placed(const struct read_thread *thread, const struct tw_batch *batch)
{
	return thread->source->help.room && batch->events == thread->room.events;
}

/* Puts a batch into the block or into another one, which is returned; NULL: it is time to stop. */
static struct read_block *put(struct read_thread *thread, struct read_block *block, const struct tw_batch *batch)
{
	const struct read_block empty = {0};
	bool placed = is_placed(thread, batch);
	const struct need need = placed ? measure_placed(batch) : measure(batch);
	bool lends = !fits(&empty, batch, &need);
	if (!lends && !fits(block, batch, &need)) {
		hand_on(thread, block, 1);
		block = next_free(thread, false);
		placed = false;
	}
	if (!block)
		return NULL;
	if (!tw_dictionary_collect(thread->source->dictionary, &block->changes)) {
		hand_on(thread, block, tw_fail(thread->source, TW_ERR_MEMORY, "out of memory"));
		return NULL;
	}
	const struct tw_batch kept = lends ? *batch : placed ? keep(block, batch, &need) : copy(block, batch);
	add_item(thread, block, &kept);
	if (!lends)
		return block;
	hand_on(thread, block, 1);
	return next_free(thread, true);
}

static void call_for_help(void *context)
{
	struct read_thread *thread = context;
	pthread_mutex_lock(&thread->lock);
	thread->helped = thread->called = true;
	pthread_cond_broadcast(&thread->change_made);
	pthread_mutex_unlock(&thread->lock);
}

/* The caller is one of the threads that work for the source, where it helps: more of them than processors would hold
 * each other up. */
static void share_jobs(struct tw_read_options *options, const struct tw_format *format)
{
	unsigned jobs = options->jobs ? options->jobs : tw_processors();
	if (format->reading.help && jobs > 1)
		options->jobs = jobs - 1;
}

static void *run(void *context)
{
	struct read_thread *thread = context;
	thread->source->help.on_work = call_for_help;
	thread->source->help.context = thread;
	share_jobs(&thread->source->options, thread->source->format);
	struct read_block *block = next_free(thread, false);
	struct tw_batch batch;
	int status = 1;
	while (block && status > 0) {
		offer(thread, block);
		status = tw_read(thread->source, &batch);
		if (status > 0)
			block = put(thread, block, &batch);
	}
	if (!block)
		return NULL;
	if (!tw_dictionary_collect(thread->source->dictionary, &block->changes) && status == 0)
		status = tw_fail(thread->source, TW_ERR_MEMORY, "out of memory");
	hand_on(thread, block, status);
	return NULL;
}

/* ---- The caller. ---- */

static void give_back(struct read_thread *thread)
{
	pthread_mutex_lock(&thread->lock);
	thread->used += thread->holds;
	thread->holds = false;
	pthread_cond_broadcast(&thread->change_made);
	pthread_mutex_unlock(&thread->lock);
}

static bool help_as_guest(struct read_thread *thread)
{
	thread->called = false;
	return thread->helped && help(thread, true);
}

static void wait_for_block(struct read_thread *thread)
{
	pthread_mutex_lock(&thread->lock);
	while (thread->filled == thread->used)
		if (!help_as_guest(thread) && !thread->called && thread->filled == thread->used)
			pthread_cond_wait(&thread->change_made, &thread->lock);
	pthread_mutex_unlock(&thread->lock);
	thread->holds = true;
	thread->item = thread->change = 0;
}

static int apply(struct tw_reader *reader, const struct read_block *block, size_t until)
{
	struct read_thread *thread = reader->state;
	for (; thread->change < until; thread->change++)
		if (!tw_dictionary_apply(reader->dictionary, &block->changes.items[thread->change]))
			return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	return 0;
}

static int give(struct tw_reader *reader, const struct read_block *block, struct tw_batch *batch)
{
	struct read_thread *thread = reader->state;
	const struct item *item = &block->items[thread->item++];
	int status = apply(reader, block, item->changes);
	reader->clock = item->clock;
	reader->traits.raised = item->raised;
	reader->traits.altered = item->altered;
	*batch = item->batch;
	return status < 0 ? status : (int)item->batch.count;
}

/* The block that has something to give, or the last one, which stays the caller's: what is read once more ends once
 * more. */
static const struct read_block *current(struct read_thread *thread)
{
	for (;;) {
		if (!thread->holds)
			wait_for_block(thread);
		const struct read_block *block = thread->blocks[thread->used % BLOCKS];
		if (thread->item < block->item_count || block->status <= 0)
			return block;
		give_back(thread);
	}
}

static int thread_read(struct tw_reader *reader, struct tw_batch *batch)
{
	const struct read_block *block = current(reader->state);
	struct read_thread *thread = reader->state;
	if (thread->item < block->item_count)
		return give(reader, block, batch);
	*batch = (struct tw_batch){0};
	reader->clock = block->clock;
	reader->traits.altered = block->altered;
	int status = apply(reader, block, block->changes.count);
	if (status == 0 && block->status < 0)
		tw_fail(reader, block->status, "%s", tw_reader_error(thread->source));
	return status < 0 ? status : block->status;
}

/* ---- The whole. ---- */

static void free_blocks(struct read_thread *thread)
{
	for (size_t i = 0; i < BLOCKS && thread->blocks[i]; i++) {
		free(thread->blocks[i]->changes.items);
		free(thread->blocks[i]);
	}
	pthread_mutex_destroy(&thread->lock);
	pthread_cond_destroy(&thread->change_made);
	free(thread);
}

static void thread_close(struct tw_reader *reader)
{
	struct read_thread *thread = reader->state;
	pthread_mutex_lock(&thread->lock);
	thread->stop = true;
	pthread_cond_broadcast(&thread->change_made);
	pthread_mutex_unlock(&thread->lock);
	pthread_join(thread->thread, NULL);
	free_blocks(thread);
}

static struct read_thread *new_thread(struct tw_reader *source)
{
	struct read_thread *thread = calloc(1, sizeof *thread);
	if (!thread)
		return NULL;
	thread->source = source;
	thread->format = (struct tw_format){.name = source->format->name,
	                                    .title = source->format->title,
	                                    .reading.read = thread_read,
	                                    .reading.close = thread_close};
	pthread_mutex_init(&thread->lock, NULL);
	pthread_cond_init(&thread->change_made, NULL);
	if (make_block(thread, 0))
		return thread;
	free_blocks(thread);
	return NULL;
}

int tw_open_read_thread(struct tw_reader **opened, struct tw_reader *source)
{
	struct tw_reader *reader = tw_reader_new(&source->options);
	struct read_thread *thread = reader ? new_thread(source) : NULL;
	*opened = NULL;
	if (!thread) {
		tw_close(reader);
		return TW_ERR_MEMORY;
	}
	reader->whole = source;
	reader->format = &thread->format;
	reader->input = source->input;
	reader->path = source->path;
	reader->clock = source->clock;
	reader->traits = source->traits;
	tw_dictionary_watch(source->dictionary);
	if (pthread_create(&thread->thread, NULL, run, thread) != 0) {
		free_blocks(thread);
		tw_close(reader);
		return TW_ERR_MEMORY;
	}
	reader->state = thread;
	*opened = reader;
	return 0;
}
