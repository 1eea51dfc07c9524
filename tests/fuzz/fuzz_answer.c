/* fuzz_answer.c - any bytes as what a server of ClickHouse answers, as an address of one, as an archive of blocks: rows
 * lie in the answer, its error is one line, an address that is taken can be asked, and pieces of an archive are one. The
 * first byte says how large the pieces are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "load/address.h"
#include "load/answer.h"
#include "load/archive.h"

#include <stdlib.h>
#include <string.h>

static void read_rows(const char *bytes, size_t size)
{
	struct load_cell cells[LOAD_CELLS];
	uint64_t number;
	size_t rows = 0;
	for (size_t at = 0; load_next_row(bytes, size, &at, cells); rows++) {
		fuzz_require(at <= size && rows <= size, "a row lies in the answer");
		fuzz_require(cells[0].bytes >= bytes && cells[0].bytes + cells[0].size <= bytes + size,
		             "and so its cell");
		fuzz_require(!memchr(cells[0].bytes, '\t', cells[0].size), "a cell ends at a tab");
		if (load_cell_number(&cells[0], &number))
			fuzz_require(cells[0].bytes[0] >= '0' && cells[0].bytes[0] <= '9', "a number has digits");
	}
}

static void read_error(const char *bytes, size_t size)
{
	char line[LOAD_LINE];
	load_error_line(bytes, size, line);
	fuzz_require(strlen(line) < LOAD_LINE, "an error is short");
	for (const char *c = line; *c; c++)
		fuzz_require((unsigned char)*c >= ' ' && *c != 127, "and of one line");
}

static void read_address(const char *bytes, size_t size)
{
	struct load_address address;
	char *text = malloc(size + 1);
	if (!text)
		return;
	if (size)
		memcpy(text, bytes, size);
	text[size] = '\0';
	if (!load_address_parse(&address, text)) {
		fuzz_require(address.host_count > 0 && address.host_count <= LOAD_HOSTS, "there are hosts");
		fuzz_require(load_is_identifier(address.database), "the database is a name");
		for (unsigned i = 0; i < address.host_count; i++)
			fuzz_require(strchr(address.hosts[i], ':') != NULL, "each with a port");
	}
	free(text);
}

/* All blocks, one behind the other. */
static int take_block(void *context, struct load_block *block)
{
	struct tw_text *all = context;
	fuzz_require(block->table < TW_TABLES, "a block is of a table");
	return tw_text_add(all, block->bytes.bytes ? block->bytes.bytes : "", block->bytes.length) ? 0 : 1;
}

static struct tw_text read_archive(const char *bytes, size_t size, size_t piece)
{
	struct tw_text all = {0};
	struct load_archive archive = {.take = take_block, .context = &all};
	for (size_t at = 0; at < size; at += piece)
		load_archive_write(&archive, bytes + at, size - at < piece ? size - at : piece);
	load_archive_free(&archive);
	return all;
}

FUZZ_TARGET(answer, const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	const char *bytes = (const char *)data + 1;
	size--;
	read_rows(bytes, size);
	read_error(bytes, size);
	read_address(bytes, size);
	struct tw_text whole = read_archive(bytes, size, size + 1), pieces = read_archive(bytes, size, data[0] + 1u);
	fuzz_require(whole.length == pieces.length, "pieces of an archive have the same blocks");
	fuzz_require(!whole.length || memcmp(whole.bytes, pieces.bytes, whole.length) == 0, "with the same bytes");
	tw_text_free(&whole);
	tw_text_free(&pieces);
	return 0;
}
