/* groups.c - rows put together by name or track.
 *
 * They are told apart by the reader's number of it. Of each row the columns are kept that are asked for; beyond the
 * memory limit what is there goes to a temporary file, a piece for each number. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/tables/groups.h"

#include "base/bytes/temporary.h"
#include "base/memory/order.h"
#include "core/format.h"
#include "sql/engine/cursor.h"
#include "sql/engine/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	UNIT = 256,   /* bytes, what blocks are made of */
	LARGEST = 16, /* units of a block */
	CHUNK = 4096, /* units */
	SHARE = 4,    /* of the memory limit */
	GIVEN = 2048  /* bytes that are read of the file at a time */
};

/* Rows of one name, as many as one or more units have room for. */
struct group_block {
	uint32_t next; /* plus 1 */
	uint32_t count;
	uint8_t rows[UNIT - 8];
};

/* Before the rows of one name in the file. */
struct group_piece {
	uint64_t before; /* place of the name's piece before, plus 1 */
	uint64_t count;
};

/* Where the next row of a name goes: what is looked at for each row stands close together. */
struct group_tail {
	uint8_t *to;
	uint32_t left;  /* rows that there is room for */
	uint32_t group; /* plus 1; 0: none yet */
};

struct group {
	uint32_t name; /* the reader's number of it; 0: none */
	struct sql_group_value value;
	uint32_t first, last; /* blocks, by the number of the first unit plus 1 */
	uint32_t units;       /* of the last */
	uint64_t piece;       /* place of the newest, plus 1 */
};

struct sql_groups {
	struct sql_cursor *cursor;
	const struct sql_column *column; /* that they are grouped by */
	size_t name_place;               /* of the name's number in a row */
	struct sql_packing packing;
	struct group *groups;
	size_t count, room;
	size_t ended;                /* groups of the files before this one */
	struct group_tail *place_of; /* by the reader's number of the name */
	size_t name_room;
	struct group_block **chunks;
	size_t chunk_count, chunk_room;
	uint32_t units; /* in use */
	struct tw_output out;
	bool spilled;
	size_t at;                /* the group that is given */
	struct group_piece piece; /* that is given: its rows left */
	uint64_t piece_place;     /* of the next row in the file */
	uint8_t rows[GIVEN];      /* that are given, of the file */
};

/* ---- What is kept of a row. ---- */

/* Whether it is the same number or word whatever file it is of. */
static bool stands_alone(enum sql_value value)
{
	return value == SQL_NUMBER || value == SQL_UNSIGNED || value == SQL_SMALL || value == SQL_REAL ||
	       value == SQL_WORD;
}

bool sql_groups_fit(const struct sql_table *table, uint64_t used, unsigned column, bool several)
{
	for (size_t i = 0; i < table->column_count; i++) {
		enum sql_value value = table->columns[i].value;
		bool asked = i != column && used >> i & 1;
		if (asked && (value == SQL_TEXT || value == SQL_ANY || (several && !stands_alone(value))))
			return false;
	}
	return table->column_count <= SQL_COLUMNS_MOST;
}

bool sql_groups_by(const struct sql_column *column)
{
	return column->value == SQL_NAME || column->value == SQL_TRACK || column->value == SQL_THREAD;
}

bool sql_groups_have_names(const struct sql_groups *groups)
{
	return groups->column->role == SQL_IS_NAME;
}

struct sql_groups *sql_groups_new(struct sql_cursor *cursor, unsigned column)
{
	const struct sql_table *table = cursor->table;
	struct sql_groups *groups = calloc(1, sizeof *groups);
	if (!groups)
		return NULL;
	groups->cursor = cursor;
	groups->column = &table->columns[column];
	groups->name_place = table->columns[column].place;
	sql_packing_begin(&groups->packing, cursor, cursor->query.used & ~(UINT64_C(1) << column));
	cursor->given.slots[column] = (struct sql_slot){sql_cursor_put_group, 0};
	return groups;
}

/* ---- Blocks. ---- */

static struct group_block *block_at(const struct sql_groups *groups, uint32_t number)
{
	return &groups->chunks[number / CHUNK][number % CHUNK];
}

/* Blocks of a name grow with it, but not beyond the chunk. */
static uint32_t units_of_next(const struct sql_groups *groups, const struct group *group)
{
	uint32_t wanted = !group->last ? 1 : group->units < LARGEST ? 2 * group->units : LARGEST;
	uint32_t left = CHUNK - groups->units % CHUNK;
	return wanted < left ? wanted : left;
}

/* A new block, the last of a group's. NULL when there is no memory. */
static struct group_block *add_block(struct sql_groups *groups, struct group *group)
{
	if (groups->units == groups->chunk_count * CHUNK) {
		if (!tw_grow(&groups->chunks, &groups->chunk_room, groups->chunk_count + 1, sizeof *groups->chunks))
			return NULL;
		struct group_block *chunk = malloc(CHUNK * sizeof *chunk);
		if (!chunk)
			return NULL;
		groups->chunks[groups->chunk_count++] = chunk;
	}
	uint32_t number = groups->units + 1;
	if (group->last)
		block_at(groups, group->last - 1)->next = number;
	else
		group->first = number;
	group->units = units_of_next(groups, group);
	group->last = number;
	groups->units += group->units;
	struct group_block *block = block_at(groups, number - 1);
	block->next = 0;
	block->count =
	    (uint32_t)((group->units * sizeof *block - offsetof(struct group_block, rows)) / groups->packing.size);
	return block;
}

/* ---- The file. ---- */

static int fail(struct sql_groups *groups, int error)
{
	struct sql_session *session = groups->cursor->scan.session;
	if (error == ENOMEM)
		return sql_no_memory(groups->cursor);
	return sql_session_fail(session, TW_ERR_SYSTEM, "temporary file in %s: %s",
	                        tw_temporary_place(session->options.temporary_directory), strerror(error));
}

/* A file without a name. */
static int open_file(struct sql_groups *groups)
{
	int fd = tw_temporary_open(groups->cursor->scan.session->options.temporary_directory);
	if (fd < 0)
		return fail(groups, errno);
	int error = tw_output_fd(&groups->out, fd);
	groups->spilled = true;
	return error ? fail(groups, error) : 0;
}

static void write_group(struct sql_groups *groups, struct group *group)
{
	struct group_piece piece = {.before = group->piece};
	for (uint32_t b = group->first; b; b = block_at(groups, b - 1)->next)
		piece.count += block_at(groups, b - 1)->count;
	group->piece = tw_output_position(&groups->out) + 1;
	tw_put(&groups->out, &piece, sizeof piece);
	for (uint32_t b = group->first; b; b = block_at(groups, b - 1)->next)
		tw_put(&groups->out, block_at(groups, b - 1)->rows,
		       block_at(groups, b - 1)->count * groups->packing.size);
	group->first = 0;
}

/* The last blocks are told how many rows they have; the next rows want new ones. */
static void close_blocks(struct sql_groups *groups)
{
	for (size_t i = groups->ended; i < groups->count; i++) {
		struct group *group = &groups->groups[i];
		struct group_tail *place = &groups->place_of[group->name];
		if (group->last)
			block_at(groups, group->last - 1)->count -= place->left;
		group->last = place->left = 0;
	}
}

/* All that is in memory goes to the file. */
static int spill(struct sql_groups *groups)
{
	int status = groups->spilled ? 0 : open_file(groups);
	close_blocks(groups);
	for (size_t i = 0; i < groups->count && status == 0; i++)
		if (groups->groups[i].first)
			write_group(groups, &groups->groups[i]);
	groups->units = 0;
	if (status == 0)
		tw_output_flush(&groups->out);
	return status < 0 || !groups->out.error ? status : fail(groups, groups->out.error);
}

/* ---- Taking rows. ---- */

/* Makes room at the place of a name, with a group where it has none. The texts of names are not looked at before all
 * rows are there. */
static bool make_room(struct sql_groups *groups, uint32_t name)
{
	if (!tw_grow(&groups->place_of, &groups->name_room, (size_t)name + 1, sizeof *groups->place_of) ||
	    !tw_grow(&groups->groups, &groups->room, groups->count + 1, sizeof *groups->groups))
		return false;
	struct group_tail *place = &groups->place_of[name];
	if (!place->group) {
		groups->groups[groups->count++] = (struct group){.name = name};
		place->group = (uint32_t)groups->count;
	}
	struct group_block *block = add_block(groups, &groups->groups[place->group - 1]);
	if (!block)
		return false;
	place->to = block->rows;
	place->left = block->count;
	return true;
}

bool sql_groups_put(struct sql_groups *groups, const void *row)
{
	const uint8_t *from = row;
	uint32_t name;
	memcpy(&name, from + groups->name_place, sizeof name);
	if ((name >= groups->name_room || !groups->place_of[name].left) && !make_room(groups, name))
		return false;
	struct group_tail *place = &groups->place_of[name];
	sql_pack(&groups->packing, from, place->to);
	place->to += groups->packing.size;
	place->left--;
	__builtin_prefetch(place->to + 64, 1);
	return true;
}

int sql_groups_settle(struct sql_groups *groups)
{
	size_t limit = tw_memory_limit(groups->cursor->scan.reader) / SHARE;
	return (size_t)groups->units * UNIT > limit ? spill(groups) : 0;
}

int sql_groups_take(struct sql_groups *groups)
{
	struct sql_cursor *cursor = groups->cursor;
	for (size_t i = 0; i < cursor->made.count; i++)
		if (!sql_groups_put(groups, cursor->made.rows + i * cursor->table->row_size))
			return sql_no_memory(cursor);
	cursor->made.count = 0;
	return sql_groups_settle(groups);
}

/* ---- Giving them back. ---- */

/* NULL comes first. */
static int compare(const void *left, const void *right)
{
	const struct sql_group_value *a = &((const struct group *)left)->value,
				     *b = &((const struct group *)right)->value;
	if (!a->there || !b->there)
		return a->there - b->there;
	if (!a->text)
		return (a->id > b->id) - (a->id < b->id);
	int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
	return order ? order : tw_compare(a->length, b->length);
}

static int compare_down(const void *left, const void *right)
{
	return compare(right, left);
}

/* What a group of the file that is open has in common. False when there is no memory. */
static bool evaluate(struct sql_groups *groups, struct group *group)
{
	struct sql_cursor *cursor = groups->cursor;
	if (groups->column->value != SQL_NAME) {
		group->value.there = sql_cursor_key(cursor, groups->column, &group->name, &group->value.id);
		return true;
	}
	const struct sql_scan_name *name = group->name ? sql_scan_name(&cursor->scan, group->name) : NULL;
	if (name)
		group->value = (struct sql_group_value){.text = name->text, .length = name->length, .there = true};
	return name || !group->name;
}

/* Finds the texts of a file; leaves out names that are not wanted. */
static bool resolve(struct sql_groups *groups)
{
	size_t kept = groups->ended;
	for (size_t i = groups->ended; i < groups->count; i++) {
		struct group *group = &groups->groups[i];
		if (!evaluate(groups, group))
			return false;
		if (!sql_groups_have_names(groups) ||
		    sql_matches(groups->cursor, &groups->cursor->query.name, group->name))
			groups->groups[kept++] = *group;
	}
	groups->count = kept;
	return true;
}

int sql_groups_end_file(struct sql_groups *groups)
{
	close_blocks(groups);
	if (!resolve(groups))
		return sql_no_memory(groups->cursor);
	groups->ended = groups->count;
	if (groups->name_room)
		memset(groups->place_of, 0, groups->name_room * sizeof *groups->place_of);
	return 0;
}

void sql_groups_sort(struct sql_groups *groups)
{
	if (groups->count)
		qsort(groups->groups, groups->count, sizeof *groups->groups,
		      groups->cursor->query.downwards ? compare_down : compare);
}

/* The cursor has rows as they are kept, without a copy. */
static void give_rows(struct sql_groups *groups, const uint8_t *rows, size_t count)
{
	groups->cursor->given.row = rows;
	groups->cursor->made.count = count;
}

static void prefetch(const struct group_block *block)
{
	enum { LINE = 64 };
	for (const char *at = (const char *)block; at < (const char *)(block + 1); at += LINE)
		__builtin_prefetch(at);
}

static void give_block(struct sql_groups *groups, struct group *group)
{
	const struct group_block *block = block_at(groups, group->first - 1);
	give_rows(groups, block->rows, block->count);
	group->first = block->next;
	/* Blocks of a name lie apart. bench/run --only sql: 4 % of `group by name`. */
	if (block->next)
		prefetch(block_at(groups, block->next - 1));
}

static bool read_at(struct sql_groups *groups, uint64_t place, void *to, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(groups->out.fd, (char *)to + done, size - done, (off_t)(place + done));
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Some rows of the piece that is given, or of the group's next. */
static int give_piece(struct sql_groups *groups, struct group *group)
{
	if (!groups->piece.count) {
		groups->piece_place = group->piece - 1 + sizeof groups->piece;
		if (!read_at(groups, group->piece - 1, &groups->piece, sizeof groups->piece))
			return fail(groups, errno);
		group->piece = groups->piece.before;
	}
	size_t most = sizeof groups->rows / groups->packing.size;
	size_t count = groups->piece.count < most ? (size_t)groups->piece.count : most;
	if (!read_at(groups, groups->piece_place, groups->rows, count * groups->packing.size))
		return fail(groups, errno);
	give_rows(groups, groups->rows, count);
	groups->piece_place += count * groups->packing.size;
	groups->piece.count -= count;
	return 0;
}

int sql_groups_give(struct sql_groups *groups)
{
	struct sql_cursor *cursor = groups->cursor;
	int status = 0;
	for (; groups->at < groups->count; groups->at++) {
		struct group *group = &groups->groups[groups->at];
		cursor->given.group_value = group->value;
		if (group->first)
			give_block(groups, group);
		else if (groups->piece.count || group->piece)
			status = give_piece(groups, group);
		if (status < 0 || cursor->made.count)
			break;
	}
	return status < 0 ? status : cursor->made.count > 0;
}

void sql_groups_free(struct sql_groups *groups)
{
	if (!groups)
		return;
	if (groups->spilled && groups->out.buffer)
		tw_output_discard(&groups->out);
	for (size_t i = 0; i < groups->chunk_count; i++)
		free(groups->chunks[i]);
	free(groups->chunks);
	free(groups->groups);
	free(groups->place_of);
	free(groups);
}
