/* archive.c - the blocks of a trace, out of the archive that they are written in, as it comes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "load/archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* POSIX.1-1988, "ustar Interchange Format". */
enum { NAME_SIZE = 100, SIZE_AT = 124, SIZE_DIGITS = 12 };

/* The entry "slice/00000012.native". False for any other. */
static bool take_name(struct load_block *block, const char *name)
{
	for (unsigned i = 0; i < TW_TABLES; i++) {
		size_t length = strlen(tw_schema[i].name);
		if (strncmp(name, tw_schema[i].name, length) == 0 && name[length] == '/') {
			block->table = (enum tw_table_id)i;
			block->number = strtoull(name + length + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

static void begin_entry(struct load_archive *archive)
{
	char size[SIZE_DIGITS + 1] = {0}, name[NAME_SIZE + 1] = {0};
	memcpy(size, archive->head + SIZE_AT, SIZE_DIGITS);
	memcpy(name, archive->head, NAME_SIZE);
	archive->head_size = 0;
	archive->left = strtoull(size, NULL, 8);
	archive->padding = (sizeof archive->head - archive->left % sizeof archive->head) % sizeof archive->head;
	archive->wanted = take_name(&archive->block, name);
	archive->block.bytes.length = 0;
}

/* A block begins with how many columns it has, and rows (LEB128). */
static uint64_t rows_of(const struct tw_text *bytes)
{
	uint64_t value = 0;
	unsigned number = 0, shift = 0;
	for (size_t i = 0; i < bytes->length && number < 2 && shift < 64; i++) {
		unsigned char c = (unsigned char)bytes->bytes[i];
		value |= (uint64_t)(c & 0x7f) << shift;
		shift += 7;
		if (c & 0x80)
			continue;
		if (++number < 2)
			value = shift = 0;
	}
	return value;
}

static int end_entry(struct load_archive *archive)
{
	if (!archive->wanted)
		return 0;
	archive->wanted = false;
	archive->block.rows = rows_of(&archive->block.bytes);
	return archive->take(archive->context, &archive->block);
}

/* Takes some bytes. Returns how many, or 0 with *error set. */
static size_t take(struct load_archive *archive, const char *bytes, size_t size, int *error)
{
	size_t part = size;
	if (archive->left) {
		part = archive->left < size ? (size_t)archive->left : size;
		if (archive->wanted && !tw_text_add(&archive->block.bytes, bytes, part))
			*error = ENOMEM;
		archive->left -= part;
		if (!archive->left && !*error)
			*error = end_entry(archive);
	} else if (archive->padding) {
		part = archive->padding < size ? (size_t)archive->padding : size;
		archive->padding -= part;
	} else {
		size_t room = sizeof archive->head - archive->head_size;
		part = room < size ? room : size;
		memcpy(archive->head + archive->head_size, bytes, part);
		archive->head_size += part;
		if (archive->head_size == sizeof archive->head)
			begin_entry(archive);
	}
	return *error ? 0 : part;
}

int load_archive_write(void *context, const void *bytes, size_t size)
{
	struct load_archive *archive = context;
	const char *from = bytes;
	int error = 0;
	for (size_t part; size && (part = take(archive, from, size, &error)); size -= part)
		from += part;
	return error;
}

void load_archive_free(struct load_archive *archive)
{
	tw_text_free(&archive->block.bytes);
}
