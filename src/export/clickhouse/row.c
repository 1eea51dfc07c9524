/* row.c - rows of ClickHouse's tables, their blocks, and the archive that these go to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/clickhouse/clickhouse.h"
#include "export/text/labels.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_ROWS = 1 << 18, BLOCK_BYTES = 32 << 20 };
static_assert(BLOCK_ROWS <= 1 << 20, "a server parts larger blocks, min_insert_block_size_rows");

/* ---- The archive. ---- */

/* POSIX.1-1988, "ustar Interchange Format": offsets and sizes of the fields of a header. */
enum {
	TAR_BLOCK = 512,
	TAR_MODE = 100,
	TAR_OWNER = 108,
	TAR_GROUP = 116,
	TAR_SIZE = 124,
	TAR_TIME = 136,
	TAR_SUM = 148,
	TAR_TYPE = 156,
	TAR_MAGIC = 257
};

static void put_entry(struct tw_output *out, const char *name, const struct tw_text *text)
{
	char head[TAR_BLOCK] = {0};
	unsigned sum = 0;
	snprintf(head, TAR_MODE, "%s", name);
	memcpy(head + TAR_MODE, "0000644", 7);
	memcpy(head + TAR_OWNER, "0000000", 7);
	memcpy(head + TAR_GROUP, "0000000", 7);
	snprintf(head + TAR_SIZE, TAR_TIME - TAR_SIZE, "%011zo", text->length);
	memcpy(head + TAR_TIME, "00000000000", 11);
	memset(head + TAR_SUM, ' ', TAR_TYPE - TAR_SUM);
	head[TAR_TYPE] = '0';
	memcpy(head + TAR_MAGIC, "ustar\00000", 8);
	for (size_t i = 0; i < sizeof head; i++)
		sum += (unsigned char)head[i];
	snprintf(head + TAR_SUM, TAR_TYPE - TAR_SUM, "%06o", sum);
	tw_put(out, head, sizeof head);
	tw_put(out, text->bytes, text->length);
	memset(head, 0, sizeof head);
	tw_put(out, head, (TAR_BLOCK - text->length % TAR_BLOCK) % TAR_BLOCK);
}

void tw_clickhouse_put_schema(struct clickhouse *clickhouse)
{
	struct tw_line *line = &clickhouse->piece;
	tw_line_clear(line);
	for (size_t i = 0; i < TW_TABLES; i++) {
		tw_schema_put_create(line, &tw_schema[i], NULL);
		tw_line_text(line, ";\n");
	}
	clickhouse->failed |= line->failed;
	put_entry(&clickhouse->writer->out, "schema.sql", &line->text);
}

void tw_clickhouse_put_block(struct clickhouse *clickhouse, enum tw_table_id table)
{
	char name[TAR_MODE];
	struct tw_native_block *block = &clickhouse->blocks[table];
	struct tw_line *line = &clickhouse->piece;
	if (block->rows == 0)
		return;
	tw_line_clear(line);
	tw_native_put(block, line);
	clickhouse->failed |= block->failed;
	snprintf(name, sizeof name, "%s/%08llu.native", tw_schema[table].name,
	         (unsigned long long)clickhouse->numbers[table]++);
	put_entry(&clickhouse->writer->out, name, &line->text);
	tw_native_clear(block);
}

void tw_clickhouse_put_end(struct clickhouse *clickhouse)
{
	static const char nothing[2 * TAR_BLOCK];
	tw_put(&clickhouse->writer->out, nothing, sizeof nothing);
}

/* ---- Rows. ---- */

struct tw_native_block *tw_clickhouse_row(struct clickhouse *clickhouse, enum tw_table_id table)
{
	struct tw_native_block *block = &clickhouse->blocks[table];
	tw_native_word(block, SLICE_TRACE, clickhouse->options.trace);
	tw_native_number(block, SLICE_DAY, clickhouse->time.day);
	tw_native_number(block, SLICE_BLOCK, clickhouse->numbers[table]);
	return block;
}

void tw_clickhouse_end_row(struct clickhouse *clickhouse, enum tw_table_id table)
{
	struct tw_native_block *block = &clickhouse->blocks[table];
	clickhouse->rows[table]++;
	tw_native_end_row(block);
	if (block->rows == BLOCK_ROWS || block->bytes >= BLOCK_BYTES)
		tw_clickhouse_put_block(clickhouse, table);
}

/* ---- Names. ---- */

static void put_label(struct clickhouse *clickhouse, struct tw_native_block *block, size_t column, uint32_t number,
                      const struct tw_name *name)
{
	struct tw_line *text = &clickhouse->text;
	tw_line_clear(text);
	if (!tw_label_name(text, name))
		tw_count_loss(clickhouse->writer, "long name", true);
	clickhouse->failed |= text->failed;
	tw_native_key(block, column, number, text->text.bytes, text->text.length);
}

void tw_clickhouse_name(struct clickhouse *clickhouse, struct tw_native_block *block, size_t column, uint32_t number)
{
	if (!tw_native_known(block, column, number))
		put_label(clickhouse, block, column, number, tw_dictionary_name(clickhouse->dictionary, number));
}

/* By the number of the track plus 1: a name of a process has no number. */
static void put_process_name(struct clickhouse *clickhouse, struct tw_native_block *block, size_t column,
                             uint32_t track, uint64_t process)
{
	if (!tw_native_known(block, column, track + 1))
		put_label(clickhouse, block, column, track + 1,
		          tw_dictionary_process_name(clickhouse->dictionary, process));
}

/* The columns stand behind those of all rows, in the same places in all tables. */
struct tw_native_block *tw_clickhouse_track_row(struct clickhouse *clickhouse, enum tw_table_id table, uint32_t number,
                                                uint64_t time, uint64_t id)
{
	struct tw_native_block *block = tw_clickhouse_row(clickhouse, table);
	const struct tw_track *track = tw_dictionary_track(clickhouse->dictionary, number);
	tw_native_number(block, SLICE_TRACK, number);
	tw_native_number(block, SLICE_TIME, time > clickhouse->time.start ? time - clickhouse->time.start : 0);
	tw_native_number(block, SLICE_ID, id);
	tw_native_number(block, SLICE_PROCESS, track->process);
	tw_native_number(block, SLICE_THREAD, track->thread);
	tw_clickhouse_name(clickhouse, block, SLICE_THREAD_NAME, track->name);
	put_process_name(clickhouse, block, SLICE_PROCESS_NAME, number, track->process);
	return block;
}
