/* core_file.c - a core dump instead of a log: the flight recorder's log that the process had in its memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/bytes/temporary.h"
#include "base/bytes/whole.h"
#include "fdr/fdr.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FILE_HEADER = sizeof(Elf64_Ehdr),
	SEGMENT = sizeof(Elf64_Phdr),
	PAGE = 1 << 12,
	LARGEST = 1 << 24, /* of chunks */
	NOTHING = 1 << 26, /* behind so many bytes without a chunk the log is at its end */
	HEAD = 32,
	EXTENTS_AT = 15,
	BEGUN_AT = 160 + 32 + 8 /* of the log's state: CLOCK_MONOTONIC_RAW of its start */
};

bool fdr_is_core(const uint8_t *bytes, size_t size)
{
	static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};
	return size >= FILE_HEADER && memcmp(bytes, ident, sizeof ident) == 0 &&
	       tw_load16(bytes + offsetof(Elf64_Ehdr, e_type), false) == ET_CORE;
}

/* A stretch of the file. */
struct core_log {
	uint64_t offset, size;
	uint64_t begun; /* when its log was; newer ones are the process's own, and not those of its parents */
};

static bool read_at(struct tw_reader *reader, uint64_t offset, void *bytes, size_t size)
{
	return tw_input_read(reader->input, offset, bytes, size) == (int64_t)size;
}

/* Whether a segment begins as a log does. */
static bool is_log(struct tw_reader *reader, struct core_log *segment)
{
	uint8_t bytes[BEGUN_AT + sizeof(uint64_t)];
	struct tw_fdr_header header;
	if (segment->size < (uint64_t)2 * PAGE || !read_at(reader, segment->offset, bytes, sizeof bytes) ||
	    tw_fdr_header_decode(bytes, sizeof bytes, &header) < 0 || !fdr_is_flight(&header))
		return false;
	segment->begun = tw_load64(bytes + BEGUN_AT, false);
	return true;
}

/* The newest log of the segments; of none the size is 0. */
static struct core_log find_log(struct tw_reader *reader, const uint8_t *header)
{
	const uint64_t table = tw_load64(header + offsetof(Elf64_Ehdr, e_phoff), false);
	const unsigned count = tw_load16(header + offsetof(Elf64_Ehdr, e_phnum), false);
	struct core_log found = {0};
	uint8_t bytes[SEGMENT];
	for (unsigned i = 0; i < count && read_at(reader, table + (uint64_t)i * SEGMENT, bytes, SEGMENT); i++) {
		struct core_log segment = {.offset = tw_load64(bytes + offsetof(Elf64_Phdr, p_offset), false),
		                           .size = tw_load64(bytes + offsetof(Elf64_Phdr, p_filesz), false)};
		const bool loaded = tw_load32(bytes + offsetof(Elf64_Phdr, p_type), false) == PT_LOAD;
		if (loaded && segment.size <= INT64_MAX && segment.offset <= INT64_MAX - segment.size &&
		    is_log(reader, &segment) && (!found.size || segment.begun >= found.begun))
			found = segment;
	}
	return found;
}

/* ---- Copying. ---- */

/* The size of the chunk that begins at `at`, 0: none does; *used is how many bytes of it are written. */
static uint64_t chunk_at(struct tw_reader *reader, const struct core_log *log, uint64_t at, uint64_t *used)
{
	uint8_t head[HEAD] = {0};
	*used = 0;
	if (log->size - at < HEAD || !read_at(reader, log->offset + at, head, HEAD))
		return 0;
	const uint64_t size = tw_load32(head, false), count = tw_load64(head + EXTENTS_AT + 1, false);
	if (size < PAGE / 2 || size > LARGEST || size > log->size - at || (at + size) % PAGE != 0)
		return 0;
	*used = count > size - HEAD ? size : HEAD - 1 + count;
	return size;
}

static int copy(struct tw_reader *reader, const struct core_log *log, int file)
{
	uint8_t *bytes = malloc(LARGEST);
	uint64_t last = TW_FDR_HEADER_SIZE;
	bool good = bytes && read_at(reader, log->offset, bytes, TW_FDR_HEADER_SIZE) &&
	            tw_write_whole_at(file, bytes, TW_FDR_HEADER_SIZE, 0) == 0;
	for (uint64_t at = last; good && at < log->size && at - last < NOTHING;) {
		uint64_t used;
		const uint64_t size = chunk_at(reader, log, at, &used);
		if (size) {
			const int64_t have = tw_input_read(reader->input, log->offset + at, bytes, (size_t)used);
			good = have >= 0 &&
			       tw_write_whole_at(file, bytes, (size_t)have, at) == 0; /* less where the dump was cut */
			last = at + size;
		}
		at = size ? last : at / PAGE * PAGE + PAGE;
	}
	good = good && ftruncate(file, (off_t)(last < log->size ? last : log->size)) == 0;
	free(bytes);
	return good ? 0 : TW_ERR_SYSTEM;
}

int fdr_core_open(struct tw_reader *reader)
{
	const uint8_t *bytes;
	size_t size;
	int status = tw_window_view(&reader->window, 0, FILE_HEADER, &bytes, &size);
	if (status < 0)
		return tw_fail(reader, status, "%s", tw_input_error(reader->input));
	if (!fdr_is_core(bytes, size))
		return 0;
	const struct core_log log = find_log(reader, bytes);
	if (!log.size)
		return tw_fail(
		    reader, TW_ERR_EMPTY,
		    "%s: a core dump without a log of the flight recorder: what has a name stands in its file",
		    tw_input_name(reader->input));
	const int file = tw_temporary_open(reader->options.temporary_directory);
	status = file < 0 ? TW_ERR_SYSTEM : copy(reader, &log, file);
	if (status < 0) {
		const int error = errno;
		if (file >= 0)
			close(file);
		return tw_fail(reader, status, "%s: the log in it cannot be copied to %s: %s",
		               tw_input_name(reader->input), tw_temporary_place(reader->options.temporary_directory),
		               strerror(error));
	}
	const size_t chunk = reader->window.chunk;
	tw_input_replace(reader->input, file);
	tw_window_free(&reader->window);
	reader->window = (struct tw_window){.input = reader->input, .chunk = chunk};
	return 0;
}
