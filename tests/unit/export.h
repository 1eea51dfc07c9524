/* export.h - what the tests of targets share: events of a reader of nothing, and the bytes that become of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_EXPORT_H
#define TESTS_UNIT_EXPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/format.h"
#include "files.h"

enum { START = 1000, ARGUMENTS = 16 };

/* A dictionary, a clock and a writer. */
struct fixture {
	struct tw_format format;
	struct tw_reader reader;
	struct tw_writer *writer;
	struct tw_argument arguments[ARGUMENTS];
	char path[64];
	char *text; /* of the file, terminated */
	size_t size;
	uint32_t main, worker;   /* tracks 1 and 2: of process 7, threads 7 and 8 */
	uint32_t fib, leaf, cat; /* names 1, 2 and 3 */
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

/* Returns the stack of a place that is called from another stack; caller: 0 for the outermost place. */
static inline uint32_t push(struct fixture *f, uint32_t caller, const struct tw_location *place)
{
	return tw_dictionary_push(f->reader.dictionary, caller,
	                          tw_dictionary_add_location(f->reader.dictionary, place));
}

#define PLACE(...) (&(const struct tw_location){__VA_ARGS__})

/* The stack of leaf, at line 12 of a.c and address 16, called from a place (NULL: none). */
static inline uint32_t push_leaf(struct fixture *f, const struct tw_location *outer)
{
	uint32_t file = name(f, "a.c"), caller = outer ? push(f, 0, outer) : 0;
	return push(f, caller, PLACE(.name = f->leaf, .file = file, .line = 12, .address = 16));
}

static inline int setup_for(void **state, const char *target)
{
	struct fixture *f = calloc(1, sizeof *f);
	*state = f;
	f->format.name = "test";
	f->reader.format = &f->format;
	f->reader.dictionary = tw_dictionary_new();
	f->reader.clock = (struct tw_clock){.ticks_per_second = 1000000000, .start_ns = START};
	f->main = track(f, TW_TRACK_THREAD, 7, 7);
	f->worker = track(f, TW_TRACK_THREAD, 7, 8);
	f->fib = name(f, "fib");
	f->leaf = name(f, "leaf");
	f->cat = name(f, "cat");
	snprintf(f->path, sizeof f->path, "/tmp/test_%s.%d", target, (int)getpid());
	return tw_create(&f->writer, f->path, target, NULL);
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	tw_discard(f->writer);
	tw_dictionary_free(f->reader.dictionary);
	unlink(f->path);
	free(f->text);
	free(f);
	return 0;
}

static inline void put(struct fixture *f, const struct tw_event *events, size_t count)
{
	struct tw_batch batch = {.events = events, .count = count, .arguments = f->arguments};
	assert_int_equal(tw_write(f->writer, &f->reader, &batch), 0);
}

#define PUT(f, ...)                                                                                                    \
	put(f, (const struct tw_event[]){__VA_ARGS__},                                                                 \
	    sizeof((const struct tw_event[]){__VA_ARGS__}) / sizeof(struct tw_event))

/* Times of events are since the start of the trace. */
#define EVENT(t, k, tr, ...) ((struct tw_event){.time = START + (t), .kind = (k), .track = (tr), .name = __VA_ARGS__})

/* Completes the file and gives its text. */
static inline const char *finish(struct fixture *f)
{
	assert_int_equal(tw_finish(f->writer), 0);
	f->text = read_text(f->path, &f->size);
	return f->text;
}

static inline void expect_loss(struct fixture *f, const char *what, uint64_t approximated, uint64_t left_out)
{
	const struct tw_loss *loss;
	for (size_t i = 0; (loss = tw_writer_loss(f->writer, i)); i++)
		if (strcmp(loss->what, what) == 0) {
			assert_int_equal(loss->approximated, approximated);
			assert_int_equal(loss->left_out, left_out);
			return;
		}
	fail_msg("no loss of \"%s\"", what);
}

static inline void expect_no_loss(struct fixture *f)
{
	assert_null(tw_writer_loss(f->writer, 0));
}

#endif
