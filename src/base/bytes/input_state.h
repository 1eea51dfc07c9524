/* input_state.h - what an input is made of, for the files that read and spool it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_INPUT_STATE_H
#define BASE_BYTES_INPUT_STATE_H

#include "base/bytes/decompress.h"
#include "base/bytes/input.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { TW_INPUT_KEPT_MAX = 1 << 20 }; /* so much of a stream may have been read when it is spooled */

struct tw_input {
	char *name;
	struct {
		const char *text; /* NULL: none */
		char *own;        /* the same, to be freed; NULL where there was no memory for it */
	} error;
	pthread_mutex_t lock; /* around error: what is seekable is read by several threads */
	bool damaged;
	struct {
		int fd; /* -1: none */
		bool close_fd;
		bool briefly; /* open only while it is read */
		dev_t device; /* briefly: what must be found again */
		ino_t inode;
	} file;
	struct {
		struct tw_input_calls functions; /* read: NULL: a file */
		pthread_mutex_t *lock; /* around seek and read: of the first of several inputs of the same functions */
		pthread_mutex_t own_lock;
	} calls;
	bool regular; /* pread() works, or seek */
	bool remade;  /* the bytes are not those of the file of its name */
	bool seekable;
	uint64_t behind;               /* bytes of the file behind its end */
	const uint8_t *memory;         /* NULL: a file */
	uint64_t origin;               /* where in the file the trace begins: standard input may stand anywhere */
	uint64_t size;                 /* of the file or memory when it was opened; 0: not known */
	const struct tw_piece *pieces; /* what there is of the file; NULL: all */
	size_t piece_count;
	_Atomic uint64_t taken;  /* raw bytes read */
	struct tw_raw_bytes raw; /* raw bytes read ahead */
	struct {
		uint8_t *bytes;
		size_t room;
	} buffer; /* of the raw */
	struct tw_unpack *unpack;
	struct {
		uint64_t position; /* where the next byte stands */
		uint8_t *kept;     /* the first bytes, until there are too many */
		size_t kept_size, kept_room;
	} stream;
};

/* The first error stays. Names may hold anything, the text is one line. */
void tw_input_note(struct tw_input *input, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads `least` to `most` bytes, fewer only at the end. */
int64_t tw_input_read_stream(struct tw_input *input, uint8_t *bytes, size_t least, size_t most);

/* Closes the file, and forgets what was read ahead. */
void tw_input_close_source(struct tw_input *input);

#endif
