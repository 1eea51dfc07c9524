/* relay.c - a reader that another thread reads ahead of the caller.
 *
 * Batches are copied into blocks, which go round: the other thread fills one while the caller uses another. Where the
 * source puts rows together it may do so in the block. What the source does next must not be seen: so each batch brings
 * what it changed in the dictionary, which is done to the relay's own when the batch is given out. A batch that is too
 * large for a block (of blobs) is lent: the source waits until it is used. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/threads/relay.h"

#include "base/threads/parallel.h"
#include "core/order/rows.h"
#include "core/order/slab.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCKS = 32, /* the rows of some milliseconds: so long a thread waits for a processor. `make bench` */
	ROWS = 2048, /* of a block */
	ARGUMENTS = 4096,
	BYTES = 64 << 10, /* of texts and payloads */
	BATCHES = 256,
	OFFERED = 1024, /* arguments: less room than that is not offered to the source */
	CHANGES = 1024  /* of the dictionary, that a block keeps room for */
};

/* A batch in a block. */
struct item {
	struct tw_batch batch;
	struct tw_clock clock;
	bool raised;    /* as tw_reader.raised */
	size_t changes; /* up to here they belong to this batch and those before */
};

struct block {
	struct tw_event *events;
	struct tw_argument *arguments;
	char *bytes;
	size_t event_count, argument_count, byte_count;
	struct item items[BATCHES];
	size_t item_count;
	struct tw_dictionary_changes changes;
	struct tw_clock clock; /* behind all batches */
	int status;            /* what follows this block: 1 another one, 0 the end, or a negative status */
};

struct relay {
	struct tw_format format; /* of the source's name */
	struct tw_reader *source;
	struct block blocks[BLOCKS]; /* number n is blocks[n % BLOCKS] */
	uint64_t filled, used;       /* how many have gone so far */
	size_t item, change;         /* the next ones of the caller's block */
	bool holds;                  /* the caller has a block */
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

static bool fits(const struct block *block, const struct tw_batch *batch, const struct need *need)
{
	return block->item_count < BATCHES && batch->count <= ROWS - block->event_count &&
	       need->arguments <= ARGUMENTS - block->argument_count && need->bytes <= BYTES - block->byte_count;
}

/* Texts and payloads of the arguments behind those that are there. */
static void copy_bytes(struct block *block, size_t count)
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

static struct tw_batch copy(struct block *block, const struct tw_batch *batch)
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
static struct tw_batch keep(struct block *block, const struct tw_batch *batch, const struct need *need)
{
	copy_bytes(block, need->arguments);
	block->event_count += batch->count;
	return *batch;
}

static void add_item(struct relay *relay, struct block *block, const struct tw_batch *batch)
{
	block->items[block->item_count++] = (struct item){.batch = *batch,
	                                                  .clock = relay->source->clock,
	                                                  .raised = relay->source->raised,
	                                                  .changes = block->changes.count};
}

/* Does some of the source's work instead of waiting; false where there is nothing to do. With the lock, which is let go
 * meanwhile. The system leaves a processor idle rather than to take a thread from another one for so short a time:
 * `make bench` measures convert. */
static bool help(struct relay *relay, bool guest)
{
	struct tw_reader *source = relay->source;
	if (!source->format->help)
		return false;
	pthread_mutex_unlock(&relay->lock);
	bool helped = source->format->help(source, guest);
	pthread_mutex_lock(&relay->lock);
	return helped;
}

static bool is_full(const struct relay *relay, bool all)
{
	return !relay->stop && relay->filled - relay->used > (all ? 0 : BLOCKS - 1);
}

static void clear(struct block *block)
{
	block->event_count = block->argument_count = block->byte_count = block->item_count = block->changes.count = 0;
	if (block->changes.room <= CHANGES)
		return;
	free(block->changes.items);
	block->changes = (struct tw_dictionary_changes){0};
}

/* Gives the block to the caller and waits for the next one. NULL: it is time to stop. */
static struct block *next_free(struct relay *relay, bool all)
{
	pthread_mutex_lock(&relay->lock);
	while (is_full(relay, all))
		if (!help(relay, false) && is_full(relay, all))
			pthread_cond_wait(&relay->change_made, &relay->lock);
	struct block *block = relay->stop ? NULL : &relay->blocks[relay->filled % BLOCKS];
	pthread_mutex_unlock(&relay->lock);
	if (block)
		clear(block);
	return block;
}

static void hand_on(struct relay *relay, struct block *block, int status)
{
	block->status = status;
	block->clock = relay->source->clock;
	pthread_mutex_lock(&relay->lock);
	relay->filled++;
	pthread_cond_broadcast(&relay->change_made);
	pthread_mutex_unlock(&relay->lock);
}

/* Offers the source what room the block has. */
static void offer(struct relay *relay, const struct block *block)
{
	relay->room =
	    (struct tw_batch_room){block->events + block->event_count, block->arguments + block->argument_count,
	                           ARGUMENTS - block->argument_count};
	bool enough = ROWS - block->event_count >= TW_SLAB_BLOCK && relay->room.argument_room >= OFFERED;
	relay->source->room = enough && !relay->source->filter ? &relay->room : NULL;
}

static bool is_placed(const struct relay *relay, const struct tw_batch *batch)
{
	return relay->source->room && batch->events == relay->room.events;
}

/* Puts a batch into the block or into another one, which is returned; NULL: it is time to stop. */
static struct block *put(struct relay *relay, struct block *block, const struct tw_batch *batch)
{
	const struct block empty = {0};
	bool placed = is_placed(relay, batch);
	const struct need need = placed ? measure_placed(batch) : measure(batch);
	bool lends = !fits(&empty, batch, &need);
	if (!lends && !fits(block, batch, &need)) {
		hand_on(relay, block, 1);
		block = next_free(relay, false);
		placed = false;
	}
	if (!block)
		return NULL;
	if (!tw_dictionary_collect(relay->source->dictionary, &block->changes)) {
		hand_on(relay, block, tw_fail(relay->source, TW_ERR_MEMORY, "out of memory"));
		return NULL;
	}
	const struct tw_batch kept = lends ? *batch : placed ? keep(block, batch, &need) : copy(block, batch);
	add_item(relay, block, &kept);
	if (!lends)
		return block;
	hand_on(relay, block, 1);
	return next_free(relay, true);
}

static void call_for_help(void *context)
{
	struct relay *relay = context;
	pthread_mutex_lock(&relay->lock);
	relay->helped = relay->called = true;
	pthread_cond_broadcast(&relay->change_made);
	pthread_mutex_unlock(&relay->lock);
}

/* The caller is one of the threads that work for the source, where it helps: more of them than processors would hold
 * each other up. */
static void share_jobs(struct tw_read_options *options, const struct tw_format *format)
{
	unsigned jobs = options->jobs ? options->jobs : tw_processors();
	if (format->help && jobs > 1)
		options->jobs = jobs - 1;
}

static void *run(void *context)
{
	struct relay *relay = context;
	relay->source->on_work = call_for_help;
	relay->source->work_context = relay;
	share_jobs(&relay->source->options, relay->source->format);
	struct block *block = next_free(relay, false);
	struct tw_batch batch;
	int status = 1;
	while (block && status > 0) {
		offer(relay, block);
		status = tw_read(relay->source, &batch);
		if (status > 0)
			block = put(relay, block, &batch);
	}
	if (!block)
		return NULL;
	if (!tw_dictionary_collect(relay->source->dictionary, &block->changes) && status == 0)
		status = tw_fail(relay->source, TW_ERR_MEMORY, "out of memory");
	hand_on(relay, block, status);
	return NULL;
}

/* ---- The caller. ---- */

static void give_back(struct relay *relay)
{
	pthread_mutex_lock(&relay->lock);
	relay->used += relay->holds;
	relay->holds = false;
	pthread_cond_broadcast(&relay->change_made);
	pthread_mutex_unlock(&relay->lock);
}

static bool help_as_guest(struct relay *relay)
{
	relay->called = false;
	return relay->helped && help(relay, true);
}

static void wait_for_block(struct relay *relay)
{
	pthread_mutex_lock(&relay->lock);
	while (relay->filled == relay->used)
		if (!help_as_guest(relay) && !relay->called && relay->filled == relay->used)
			pthread_cond_wait(&relay->change_made, &relay->lock);
	pthread_mutex_unlock(&relay->lock);
	relay->holds = true;
	relay->item = relay->change = 0;
}

static int apply(struct tw_reader *reader, const struct block *block, size_t until)
{
	struct relay *relay = reader->state;
	for (; relay->change < until; relay->change++)
		if (!tw_dictionary_apply(reader->dictionary, &block->changes.items[relay->change]))
			return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	return 0;
}

static int give(struct tw_reader *reader, const struct block *block, struct tw_batch *batch)
{
	struct relay *relay = reader->state;
	const struct item *item = &block->items[relay->item++];
	int status = apply(reader, block, item->changes);
	reader->clock = item->clock;
	reader->raised = item->raised;
	*batch = item->batch;
	return status < 0 ? status : (int)item->batch.count;
}

/* The block that has something to give, or the last one, which stays the caller's: what is read once more ends once
 * more. */
static const struct block *current(struct relay *relay)
{
	for (;;) {
		if (!relay->holds)
			wait_for_block(relay);
		const struct block *block = &relay->blocks[relay->used % BLOCKS];
		if (relay->item < block->item_count || block->status <= 0)
			return block;
		give_back(relay);
	}
}

static int relay_read(struct tw_reader *reader, struct tw_batch *batch)
{
	const struct block *block = current(reader->state);
	struct relay *relay = reader->state;
	if (relay->item < block->item_count)
		return give(reader, block, batch);
	*batch = (struct tw_batch){0};
	reader->clock = block->clock;
	int status = apply(reader, block, block->changes.count);
	if (status == 0 && block->status < 0)
		tw_fail(reader, block->status, "%s", tw_reader_error(relay->source));
	return status < 0 ? status : block->status;
}

/* ---- The whole. ---- */

static void free_blocks(struct relay *relay)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		free(relay->blocks[i].events);
		free(relay->blocks[i].arguments);
		free(relay->blocks[i].bytes);
		free(relay->blocks[i].changes.items);
	}
	pthread_mutex_destroy(&relay->lock);
	pthread_cond_destroy(&relay->change_made);
	free(relay);
}

static void relay_close(struct tw_reader *reader)
{
	struct relay *relay = reader->state;
	pthread_mutex_lock(&relay->lock);
	relay->stop = true;
	pthread_cond_broadcast(&relay->change_made);
	pthread_mutex_unlock(&relay->lock);
	pthread_join(relay->thread, NULL);
	free_blocks(relay);
}

static bool make_blocks(struct relay *relay)
{
	bool fine = true;
	for (size_t i = 0; i < BLOCKS; i++) {
		struct block *block = &relay->blocks[i];
		block->events = malloc(ROWS * sizeof *block->events);
		block->arguments = malloc(ARGUMENTS * sizeof *block->arguments);
		block->bytes = malloc(BYTES);
		fine &= block->events && block->arguments && block->bytes;
	}
	return fine;
}

static struct relay *new_relay(struct tw_reader *source)
{
	struct relay *relay = calloc(1, sizeof *relay);
	if (!relay)
		return NULL;
	relay->source = source;
	relay->format = (struct tw_format){.name = source->format->name,
	                                   .title = source->format->title,
	                                   .read = relay_read,
	                                   .close = relay_close};
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->change_made, NULL);
	if (make_blocks(relay))
		return relay;
	free_blocks(relay);
	return NULL;
}

int tw_open_relay(struct tw_reader **opened, struct tw_reader *source)
{
	struct tw_reader *reader = tw_reader_new(&source->options);
	struct relay *relay = reader ? new_relay(source) : NULL;
	*opened = NULL;
	if (!relay) {
		tw_close(reader);
		return TW_ERR_MEMORY;
	}
	reader->whole = source;
	reader->format = &relay->format;
	reader->input = source->input;
	reader->path = source->path;
	reader->clock = source->clock;
	reader->sampled = source->sampled;
	reader->origin = source->origin;
	tw_dictionary_watch(source->dictionary);
	if (pthread_create(&relay->thread, NULL, run, relay) != 0) {
		free_blocks(relay);
		tw_close(reader);
		return TW_ERR_MEMORY;
	}
	reader->state = relay;
	*opened = reader;
	return 0;
}
