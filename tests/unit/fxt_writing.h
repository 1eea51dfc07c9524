/* fxt_writing.h - what the tests of FXT's writer share: events of a reader of nothing, and the words that become of
 * them. The words expected are worked out by hand from the format's document. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FXT_WRITING_H
#define TESTS_UNIT_FXT_WRITING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes/bytes.h"
#include "core/format.h"
#include "files.h"
#include "fxt/write/record.h"

enum { ARGUMENTS = 32 };

/* A reader of nothing: a dictionary and a clock. */
struct fixture {
	struct tw_format format;
	struct tw_reader reader;
	struct tw_writer *writer;
	struct tw_argument arguments[ARGUMENTS];
	char path[64];
	uint8_t *bytes;
	size_t words, next; /* next: the word that is compared next */
	uint32_t main, worker;
	uint32_t fib, cat, size; /* names */
};

static inline uint32_t name(struct fixture *f, const char *text)
{
	return tw_dictionary_text(f->reader.dictionary, text);
}

static inline uint32_t track(struct fixture *f, enum tw_track_kind kind, uint64_t process, uint64_t thread)
{
	return tw_dictionary_add_track(f->reader.dictionary,
	                               &(struct tw_track){.process = process, .thread = thread, .kind = kind});
}

static inline uint32_t push(struct fixture *f, uint32_t caller, uint32_t function)
{
	const struct tw_location place = {.name = function};
	return tw_dictionary_push(f->reader.dictionary, caller,
	                          tw_dictionary_add_location(f->reader.dictionary, &place));
}

static inline void create(struct fixture *f, const struct tw_write_options *options)
{
	tw_discard(f->writer);
	assert_int_equal(tw_create(&f->writer, f->path, "fxt", options), 0);
}

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	*state = f;
	f->format.name = "test";
	f->reader.format = &f->format;
	f->reader.dictionary = tw_dictionary_new();
	f->reader.clock = (struct tw_clock){.ticks_per_second = 1000000000};
	f->main = track(f, TW_TRACK_THREAD, 7, 8);
	f->worker = track(f, TW_TRACK_THREAD, 7, 9);
	f->fib = name(f, "fib");
	f->cat = name(f, "category");
	f->size = name(f, "size");
	snprintf(f->path, sizeof f->path, "/tmp/test_fxt_writer.%d.fxt", (int)getpid());
	create(f, NULL);
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	tw_discard(f->writer);
	tw_dictionary_free(f->reader.dictionary);
	unlink(f->path);
	free(f->bytes);
	free(f);
	return 0;
}

static inline void put(struct fixture *f, const struct tw_event *event)
{
	struct tw_batch batch = {.events = event, .count = 1, .arguments = f->arguments};
	assert_int_equal(tw_write(f->writer, &f->reader, &batch), 0);
}

#define PUT(f, ...) put(f, &(const struct tw_event){__VA_ARGS__})

static inline void finish(struct fixture *f)
{
	size_t size;
	assert_int_equal(tw_finish(f->writer), 0);
	free(f->bytes);
	f->bytes = (uint8_t *)read_text(f->path, &size);
	assert_int_equal(size % 8, 0);
	f->words = size / 8;
}

static inline uint64_t word(const struct fixture *f, size_t i)
{
	assert_true(i < f->words);
	return tw_load64(f->bytes + 8 * i, false);
}

/* Compares what comes next. */
static inline void next(struct fixture *f, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++, f->next++)
		if (word(f, f->next) != words[i])
			fail_msg("word %zu is %#018llx, not %#018llx", f->next, (unsigned long long)word(f, f->next),
			         (unsigned long long)words[i]);
}

#define NEXT(f, ...) next(f, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* Magic number; provider info: type 0, size 2, metadata type 1, id 1, name of 8 bytes; initialization: type 1, size
 * 2. */
#define HEAD(rate) 0x0016547846040010, 0x0080000000110020, 0x7961776b63617274, 0x0000000000000021, rate

/* String records: type 2, size, index from bit 16, length from bit 32. */
#define FIB(index) 0x0000000300000022 | (index) << 16, 0x0000000000626966
#define CATEGORY(index) 0x0000000800000022 | (index) << 16, 0x79726f6765746163
#define SIZE(index) 0x0000000400000022 | (index) << 16, 0x00000000657a6973

/* Thread records: type 3, size 3, index from bit 16, process, thread. */
#define MAIN(index) 0x0000000000000033 | (index) << 16, 7, 8
#define WORKER(index) 0x0000000000000033 | (index) << 16, 7, 9

static inline void end(const struct fixture *f)
{
	assert_int_equal(f->next, f->words);
}

/* Begins to compare: the head, for a clock of 10^9 ticks a second. */
static inline void begin(struct fixture *f)
{
	finish(f);
	NEXT(f, HEAD(1000000000));
}

static inline const struct tw_loss *loss_of(struct fixture *f, const char *what)
{
	const struct tw_loss *loss;
	for (size_t i = 0; (loss = tw_writer_loss(f->writer, i)); i++)
		if (strcmp(loss->what, what) == 0)
			return loss;
	fail_msg("no loss of \"%s\"", what);
	return NULL;
}

/* The only loss. */
static inline void expect_loss(struct fixture *f, const char *what, uint64_t approximated, uint64_t left_out)
{
	const struct tw_loss *loss = loss_of(f, what);
	assert_int_equal(loss->approximated, approximated);
	assert_int_equal(loss->left_out, left_out);
	assert_null(tw_writer_loss(f->writer, 1));
}

static inline void expect_no_loss(struct fixture *f)
{
	assert_null(tw_writer_loss(f->writer, 0));
}

static inline struct tw_argument text_argument(uint32_t label, const char *text)
{
	return (struct tw_argument){.name = label,
	                            .type = TW_ARG_TEXT,
	                            .value.bytes = (const uint8_t *)text,
	                            .size = (uint32_t)strlen(text)};
}

#endif
