/* input.h - bytes of a trace by offset: from a file, a pipe, memory, compressed or not, through one interface. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_BYTES_INPUT_H
#define BASE_BYTES_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files are read with pread(), not mapped: a file that is cut while it is read gives an error, not a SIGBUS, and
 * the pages do not count as the process's memory (doc/design.md has the measurement). */
struct tw_input;

/* Opens a file, "-" being standard input. gzip and zstd are recognised by content and read through. *input is set even
 * on failure (NULL only for TW_ERR_MEMORY), for tw_input_error(). Returns 0 or TW_ERR_SYSTEM, TW_ERR_MEMORY. */
int tw_input_open(struct tw_input **input, const char *path);

/* The same for what must be a regular file, as those that belong to another: it does not wait for a pipe's writer. */
int tw_input_open_regular(struct tw_input **input, const char *path);

/* Some bytes of a file, and where they stand in an input that has only such pieces. */
struct tw_piece {
	uint64_t offset, size;
	uint64_t place; /* the sizes of those before together */
};

/* Sorts pieces, which may overlap, joins those that touch, and sets their places. Returns the bytes of all; *count is
 * then how many are left. */
uint64_t tw_join_pieces(struct tw_piece *pieces, size_t *count);

/* Opens pieces of a regular file, one after the other, as if they were all of it. None is empty; they must outlive the
 * input. */
int tw_input_open_pieces(struct tw_input **input, const char *path, const struct tw_piece *pieces, size_t count);

/* Returns the piece that a place, less than all their sizes together, is in. */
const struct tw_piece *tw_piece_at(const struct tw_piece *pieces, size_t count, uint64_t place);

/* Bytes in memory, which must outlive the input; gzip and zstd are read through. */
int tw_input_memory(struct tw_input **input, const char *name, const void *bytes, size_t size);

/* Bytes that functions give. What `read` returns: how many, 0 at the end, or -errno; `seek`: 0 or an errno. */
struct tw_input_calls {
	int64_t (*read)(void *context, void *bytes, size_t size);
	int (*seek)(void *context, uint64_t offset); /* NULL: read once, and forward */
	void *context;
	uint64_t size; /* with seek: bytes in all */
};

/* The functions are called by one thread at a time. Or of a descriptor, from where it stands, which stays open. */
int tw_input_open_calls(struct tw_input **input, const char *name, const struct tw_input_calls *calls);
int tw_input_open_fd(struct tw_input **input, const char *name, int fd);

void tw_input_close(struct tw_input *input);

const char *tw_input_name(const struct tw_input *input);

/* What went wrong, in words; "" when nothing did. Damaged compression ends the data early and is told here too. */
const char *tw_input_error(const struct tw_input *input);

/* Whether compression was found damaged in what has been read so far: the data ended early, or garbage follows it. */
bool tw_input_damaged(const struct tw_input *input);

/* What is wrong then, without the name of the file. */
const char *tw_input_damage(const struct tw_input *input);

/* Whether any offset can be read at any time, by several threads. Pipes and compressed files cannot. */
bool tw_input_seekable(const struct tw_input *input);

/* The descriptor of a seekable file, which it keeps. */
int tw_input_descriptor(const struct tw_input *input);

/* Whether it can be read once more while it is read: all but pipes. */
bool tw_input_repeatable(const struct tw_input *input);

/* The same once more, from its beginning: another input, which must not outlive the first. It must be repeatable.
 * Returns as tw_input_open(). */
int tw_input_again(struct tw_input **again, const struct tw_input *input);

/* The same from an offset of a seekable input on, which must not be one of pieces. Another input, which must not
 * outlive the first. Returns as tw_input_open(). */
int tw_input_behind(struct tw_input **behind, const struct tw_input *input, uint64_t offset);

/* From now on a seekable input ends at this offset, where it is less than its size; UINT64_MAX: at its own end. */
void tw_input_end_at(struct tw_input *input, uint64_t offset);

/* Makes it seekable: copies what a pipe or compressed file holds, from its first byte, to a temporary file without a
 * name in a directory (NULL: /tmp). Not more than 1 MiB may have been read before. Returns 0, TW_ERR_SYSTEM or
 * TW_ERR_MEMORY. */
int tw_input_spool(struct tw_input *input, const char *directory);

/* From now on it reads another file, without a name, which it closes in the end: what was made of the bytes that there
 * were. */
void tw_input_replace(struct tw_input *input, int fd);

/* Whether that has been done: a file of its name has other bytes. */
bool tw_input_remade(const struct tw_input *input);

/* From now on the file is open only while it is read, by one thread: so there may be more inputs than a process may
 * have descriptors. Reading fails when the name is another file's by then. What is compressed, or has no name, stays
 * open. */
void tw_input_open_briefly(struct tw_input *input);

/* Bytes in all (decompressed), if seekable; otherwise what has been read so far. */
uint64_t tw_input_size(const struct tw_input *input);

/* Takes the size of a seekable file anew: one that is written while it is read has grown. */
void tw_input_measure(struct tw_input *input);

/* For a progress line: how much of the file on disk has been read, and its size (0 when not known). */
void tw_input_progress(const struct tw_input *input, uint64_t *done, uint64_t *all);

/* Reads up to size bytes at an offset; fewer only at the end of the data. An input that is not seekable is read forward
 * only: offset is where the last read ended. Returns the count or TW_ERR_SYSTEM, TW_ERR_MEMORY. */
int64_t tw_input_read(struct tw_input *input, uint64_t offset, void *bytes, size_t size);

/* The same, but of a pipe no more than `least` bytes are waited for: up to `most` where they are there already. */
int64_t tw_input_read_some(struct tw_input *input, uint64_t offset, void *bytes, size_t least, size_t most);

/* Tells of an input that there was no memory to read it. Returns TW_ERR_MEMORY. */
int tw_input_no_memory(struct tw_input *input);

/* ---- Look-ahead and consume (window.c). ---- */

enum { TW_WINDOW_CHUNK = 1 << 18 };

/* A moving view of an input: all zero but `input`, and `chunk` (how much is read at a time) where the default of
 * TW_WINDOW_CHUNK is not wanted. */
struct tw_window {
	struct tw_input *input;
	size_t chunk;
	uint8_t *bytes;
	size_t room;
	size_t used;     /* bytes held */
	uint64_t offset; /* of bytes[0] */
	bool at_end;     /* the bytes held reach to the end of the input */
};

/* As tw_window_view(), where the bytes may not be held yet. */
int tw_window_refill(struct tw_window *window, uint64_t offset, size_t want, const uint8_t **bytes, size_t *have);

/* Gives a pointer to at least `want` bytes at an offset, fewer only at the end of the input; *have is how many there
 * are (it may be more than wanted). Bytes before offset are forgotten: an input that is not seekable cannot go back to
 * them. The view lives until the next call. Returns 0 or a negative status. */
static inline int tw_window_view(struct tw_window *window, uint64_t offset, size_t want, const uint8_t **bytes,
                                 size_t *have)
{
	uint64_t skip = offset - window->offset;
	if (skip >= window->used || window->used - skip < want)
		return tw_window_refill(window, offset, want, bytes, have);
	*bytes = window->bytes + skip;
	*have = window->used - (size_t)skip;
	return 0;
}

/* Gives the buffer, with the bytes that are held, in exchange for another (NULL with no room: a new one), into which
 * those behind the first `size` go: they are held from then on. Returns 0 or TW_ERR_MEMORY. */
int tw_window_exchange(struct tw_window *window, size_t size, uint8_t **bytes, size_t *room);

void tw_window_free(struct tw_window *window);

#endif
