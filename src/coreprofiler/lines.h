/* lines.h - lines of text in shared pages: many threads of a program write them, and whoever has the pages reads them.
 *
 * An image is a page of header, then chunks. A chunk begins with its header; behind it are lines, each with its number
 * and size in front. Who writes a line stores how much of the chunk is complete behind the bytes of the line, with
 * release: so whoever has the pages, while they grow or after any death, has whole lines alone. The numbers put the
 * lines of all chunks in order; in a chunk they grow. doc/dotnet.md tells of it, too. Who reads an image trusts none
 * of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COREPROFILER_LINES_H
#define COREPROFILER_LINES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LINES_MAGIC UINT64_C(0x0a53454e494c5754)       /* "TWLINES\n" */
#define LINES_CHUNK_MAGIC UINT64_C(0x0a4b4e5548435754) /* "TWCHUNK\n" */

enum {
	LINES_VERSION = 1,
	LINES_PAGE = 4096,
	LINES_CHUNK = 1 << 16, /* bytes of a chunk; those of longer lines have a power of two of it */
	LINES_CHUNK_MOST = 1 << 30,
	LINES_WRITERS = 16,   /* chunks that are written at a time */
	LINES_ALIGNMENT = 8,  /* of lines */
	LINES_UNSHARED = 128, /* bytes that processors take from each other at once: two cache lines */
};

enum lines_state { LINES_OPEN = 1, LINES_ENDED };

struct lines_header {
	uint64_t magic;
	uint32_t version, process;
	uint64_t reserved[2];
	/* What changes. */
	_Atomic uint64_t chunks; /* bytes of chunks behind the header */
	_Atomic uint64_t next;   /* the number of the next line */
	_Atomic uint64_t lost;   /* lines that had no room */
	_Atomic uint64_t state;  /* enum lines_state */
};

struct lines_chunk {
	uint64_t magic;
	uint64_t size;              /* with this header: a multiple of LINES_PAGE */
	_Atomic uint64_t committed; /* bytes of lines behind this header */
	uint64_t taken;             /* bytes of these that the program has written to the log itself */
	uint64_t closed;            /* 1: nobody writes into it any more */
};

struct lines_line {
	uint64_t number, size; /* of the text behind it, which is filled up to LINES_ALIGNMENT */
};

/* ---- Writing (lines.c). ---- */

/* A file that stays open in a program, which may close all descriptors, and then has its own files at their numbers:
 * it is known by its inode. */
struct lines_file {
	int fd; /* -1: there is none */
	dev_t device;
	ino_t inode;
	char *path; /* absolute, on the heap; NULL: it has none */
};

/* Takes a descriptor, also -1. */
struct lines_file lines_file_of(int fd);

/* Whether the descriptor is still that of the file. */
bool lines_file_is_open(const struct lines_file *file);

/* Closes the file, if it is still open. */
void lines_file_close(struct lines_file *file);

/* An image of this process. */
struct line_image {
	struct lines_header *header; /* NULL: nothing is written */
	uint64_t room, used;         /* bytes of chunks: mapped, handed out */
	struct lines_file file;      /* fd -1: it has none */
	_Atomic bool full;           /* for good: the lines that are there stay without gaps */
	const uint8_t *own;          /* 0 in a forked child, however it was made: nothing is written there */
	pthread_mutex_t mutex;       /* of all chunks but those that are a writer's */
	struct lines_writer {
		_Alignas(LINES_UNSHARED) _Atomic uint32_t busy;
		struct lines_chunk *chunk; /* NULL: none yet */
	} writers[LINES_WRITERS];
};

/* Makes an image: in a new file, or in memory (path NULL). `room` is how many bytes of chunks there may be. Returns 0
 * or an errno. */
int lines_open(struct line_image *lines, const char *path, uint64_t room);

/* Whether there is an image, and this is the process that made it. What follows does nothing elsewhere. */
static inline bool lines_are_own(const struct line_image *lines)
{
	return lines->header && *lines->own;
}

/* Appends a line, which has its line end. Where there is no room it is counted. */
void lines_put(struct line_image *lines, const char *text, size_t size);

/* Tells that the program ended in order. */
void lines_end(struct line_image *lines);

/* Writes all lines that there are to a descriptor, in order, and makes their room free. By one thread at a time.
 * Returns 0 or an errno. */
int lines_drain(struct line_image *lines, int fd);

/* ---- Merging (merge.c): runs of lines in order of their numbers. ---- */

struct lines_run {
	uint64_t number;           /* of its next line */
	const uint8_t *at, *end;   /* of its lines; NULL: not loaded yet */
	uint64_t place;            /* what the caller knows it by */
	struct lines_chunk *chunk; /* the same */
};

struct lines_merge {
	struct lines_run *runs; /* of the caller, who frees it */
	size_t count;
	/* Loads a run that has not been; false: there is none. NULL: all are. */
	bool (*load)(void *context, struct lines_run *run);
	/* All its lines have been taken; NULL: nobody wants to know. */
	void (*done)(void *context, struct lines_run *run);
	void *context;
	uint64_t limit; /* lines with this number, and larger ones, are left */
	/* The merge's own. */
	size_t begun;            /* runs that have been loaded */
	struct lines_run **heap; /* those that have lines left, as a heap */
	size_t left;
	bool given; /* the line of the first run */
};

/* Begins with runs, which it puts in order. False: no memory. */
bool lines_merge_begin(struct lines_merge *merge);

/* The next line. It is valid until the next call. False: there is none. */
bool lines_merge_next(struct lines_merge *merge, const char **text, size_t *size);

void lines_merge_end(struct lines_merge *merge);

/* ---- Collecting (collect.c): what a program left in a file. ---- */

struct lines_summary {
	uint64_t lines, bytes; /* that were taken */
	uint64_t lost;         /* that had no room */
	uint32_t process;
	bool ended; /* in order */
};

/* The bytes of an image, from wherever they are. */
struct lines_source {
	/* Reads bytes at an offset. False: there are not so many. */
	bool (*read)(void *context, uint64_t offset, void *bytes, size_t size);
	void *context;
	uint64_t size;
};

/* Gives all lines of an image to `take`, in order, until that returns false. Where lines had no room, one more tells of
 * it (`prf cfg LostRecords N`), which `summary` does not count. Returns 0, or an errno: EINVAL where it is no image,
 * EFBIG where more of it would have to be in memory than any image needs. */
int lines_collect(const struct lines_source *source, bool (*take)(void *context, const char *text, size_t size),
                  void *context, struct lines_summary *summary);

#endif
