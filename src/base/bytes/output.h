/* output.h - buffered writing of bytes and numbers, with one check for errors at the end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_OUTPUT_H
#define BASE_BYTES_OUTPUT_H

#include "base/bytes/outfile.h"
#include "base/bytes/press.h"
#include "base/memory/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TW_OUTPUT_BUFFER = 1 << 16 };

/* Takes all of these bytes. Returns 0 or an errno. */
typedef int tw_output_fn(void *context, const void *bytes, size_t size);

/* A sink. After an error everything is dropped and `error` keeps the first errno; it is told by tw_output_close(). */
struct tw_output {
	int fd;
	atomic_int error; /* set from the thread that compresses, too */
	char *buffer;     /* TW_OUTPUT_BUFFER bytes */
	size_t used;
	uint64_t flushed; /* bytes that have left the buffer */
	bool own;         /* fd is that of `file` */
	struct tw_outfile file;
	struct tw_press *press; /* NULL: the bytes go out as they are */
	struct tw_text *text;   /* where they go instead of fd; NULL: to `taker`, or to fd */
	struct {
		tw_output_fn *take; /* NULL: to fd */
		void *context;
	} taker;
	const int *aside; /* a descriptor that takes the bytes meanwhile, as they are; NULL: there is none */
};

/* Opens a file, "-" being standard output. A regular file appears under its name when tw_output_close() succeeds;
 * devices and pipes are written in place. A path that ends in ".gz" or ".zst" is compressed. Returns 0, or an errno (>
 * 0). */
int tw_output_open(struct tw_output *out, const char *path);

/* The same for a name that nobody has given, as it is: no link is followed, and nothing is compressed. */
int tw_output_open_here(struct tw_output *out, const char *path);

/* Compresses all that is written as the ending of a name says, unless the path has asked for that already. A thread of
 * its own does it, so that `out` must stay where it is. Call it before anything is written. Returns 0 or an errno. */
int tw_output_compress(struct tw_output *out, const char *name, enum tw_pack_effort effort);

/* Writes to a descriptor, which is closed in the end unless it is a standard one. Returns 0 or an errno. */
int tw_output_fd(struct tw_output *out, int fd);

/* Writes to a growing text; each tw_output_flush() brings it up to date. What no memory was there for shows in `error`.
 * It may be set to another text after a flush. Returns 0 or an errno. */
int tw_output_text(struct tw_output *out, struct tw_text *text);

/* Hands all bytes to a function, which no two threads call at once. Returns 0 or an errno. */
int tw_output_taker(struct tw_output *out, tw_output_fn *take, void *context);

/* Flushes and closes; a file gets its name. Returns 0 or the first errno there was; then the file is gone. */
int tw_output_close(struct tw_output *out);

/* Gives up: frees, and removes a file not complete. Fine after close. */
void tw_output_discard(struct tw_output *out);

/* Hands the buffer to the system now, or to the compression. */
void tw_output_flush(struct tw_output *out);

/* What is put from now on goes to a file, as it is; NULL: where it went before. And puts all that is in such a file,
 * which is empty then; it does not count twice. */
void tw_output_turn_aside(struct tw_output *out, const int *fd);
void tw_output_put_back(struct tw_output *out, int fd);

/* Bytes written so far, before compression. */
static inline uint64_t tw_output_position(const struct tw_output *out)
{
	return out->flushed + out->used;
}

/* Room for `size` bytes (at most TW_OUTPUT_BUFFER), to be filled by the caller; then tell how many with took. */
static inline char *tw_output_room(struct tw_output *out, size_t size)
{
	if (TW_OUTPUT_BUFFER - out->used < size)
		tw_output_flush(out);
	return out->buffer + out->used;
}

static inline void tw_output_took(struct tw_output *out, size_t size)
{
	out->used += size;
}

void tw_put_large(struct tw_output *out, const void *bytes, size_t size);

static inline void tw_put(struct tw_output *out, const void *bytes, size_t size)
{
	if (TW_OUTPUT_BUFFER - out->used < size) {
		tw_put_large(out, bytes, size);
		return;
	}
	if (size)
		memcpy(out->buffer + out->used, bytes, size);
	out->used += size;
}

static inline void tw_put_char(struct tw_output *out, char c)
{
	*tw_output_room(out, 1) = c;
	out->used++;
}

static inline void tw_put_text(struct tw_output *out, const char *text)
{
	tw_put(out, text, strlen(text));
}

void tw_put_u64(struct tw_output *out, uint64_t value);
void tw_put_task(struct tw_output *out, uint64_t id); /* of a process or a thread: tw_task_digits() */
void tw_put_i64(struct tw_output *out, int64_t value);
void tw_put_hex(struct tw_output *out, uint64_t value); /* 0x1f */
void tw_put_double(struct tw_output *out, double value);

/* As printf, for lines that are not in a hot loop. */
void tw_putf(struct tw_output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
