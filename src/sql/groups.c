/* groups.c - rows put together by name. Of each row the columns are kept that are asked for; beyond the memory limit what is
 * there goes to a temporary file, a piece for each name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/groups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/format.h"

enum {
	BLOCK = 256,  /* bytes, its head included */
	CHUNK = 4096, /* blocks */
	SHARE = 4,    /* of the memory limit */
	COLUMNS = 32,
	GIVEN = 256 /* rows at a time, at least a block's */
};

/* Rows of one name. */
struct block {
	uint32_t next; /* plus 1 */
	uint32_t count;
	uint8_t rows[BLOCK - 8];
};

/* Before the rows of one name in the file. */
struct piece {
	uint64_t before; /* place of the name's piece before, plus 1 */
	uint64_t count;
};

struct group {
	uint32_t name; /* the reader's number of it; 0: NULL */
	const char *text;
	size_t length;
	uint32_t first, last; /* blocks, plus 1 */
	uint64_t piece;       /* place of the newest, plus 1 */
};

struct sql_groups {
	struct sql_cursor *cursor;
	bool by_name;      /* not by category */
	size_t name_place; /* of the name's number in a row */
	struct {
		size_t place, size;
	} fields[COLUMNS]; /* of a row that are kept */
	size_t field_count, packed, per_block;
	struct group *groups;
	size_t count, room;
	uint32_t *group_of; /* by the reader's number of the name: plus 1 */
	size_t name_room;
	struct block **chunks;
	size_t chunk_count, chunk_room;
	uint32_t blocks; /* in use */
	struct tw_output out;
	bool spilled;
	size_t at;            /* the group that is given */
	struct piece piece;   /* that is given: its rows left */
	uint64_t piece_place; /* of the next row in the file */
};

/* ---- What is kept of a row. ---- */

/* Bytes of a value in a row; 0: none, SIZE_MAX: it cannot be kept. */
static size_t size_of(enum sql_value value)
{
	switch (value) {
	case SQL_NUMBER:
	case SQL_UNSIGNED:
	case SQL_REAL:
	case SQL_TIME:
	case SQL_RECORD:
	case SQL_WORD:
		return sizeof(uint64_t);
	case SQL_SMALL:
	case SQL_TRACK:
	case SQL_THREAD:
	case SQL_KNOWN_TRACK:
	case SQL_PROCESS:
	case SQL_SERIES:
	case SQL_STACK:
	case SQL_NAME:
	case SQL_KNOWN_NAME:
		return sizeof(uint32_t);
	case SQL_FILE:
	case SQL_HIDDEN_FILE:
		return 0;
	case SQL_TEXT:
	case SQL_ANY:
		return SIZE_MAX;
	}
	return SIZE_MAX;
}

bool sql_groups_fit(const struct sql_table *table, uint64_t used)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (used >> (i < 63 ? i : 63) & 1 && size_of(table->columns[i].value) == SIZE_MAX)
			return false;
	return table->column_count <= COLUMNS;
}

struct sql_groups *sql_groups_new(struct sql_cursor *cursor, unsigned column)
{
	const struct sql_table *table = cursor->table;
	struct sql_groups *groups = calloc(1, sizeof *groups);
	if (!groups)
		return NULL;
	groups->cursor = cursor;
	groups->name_place = table->columns[column].place;
	groups->by_name = table->columns[column].role == SQL_IS_NAME;
	for (unsigned i = 0; i < table->column_count; i++) {
		size_t size = size_of(table->columns[i].value);
		if (!sql_uses(cursor, i) || size == 0 || i == column)
			continue;
		groups->fields[groups->field_count].place = table->columns[i].place;
		groups->fields[groups->field_count++].size = size;
		groups->packed += size;
	}
	groups->packed += !groups->packed; /* where only rows are counted */
	groups->per_block = sizeof((struct block *)0)->rows / groups->packed;
	return groups;
}

/* ---- Blocks. ---- */

static struct block *block_at(const struct sql_groups *groups, uint32_t number)
{
	return &groups->chunks[number / CHUNK][number % CHUNK];
}

/* The number of a new block plus 1; 0 when there is no memory. */
static uint32_t add_block(struct sql_groups *groups)
{
	if (groups->blocks == groups->chunk_count * CHUNK) {
		if (!tw_grow(&groups->chunks, &groups->chunk_room, groups->chunk_count + 1, sizeof *groups->chunks))
			return 0;
		struct block *chunk = malloc(CHUNK * sizeof *chunk);
		if (!chunk)
			return 0;
		groups->chunks[groups->chunk_count++] = chunk;
	}
	struct block *block = block_at(groups, groups->blocks);
	block->next = block->count = 0;
	return ++groups->blocks;
}

/* ---- The file. ---- */

static int fail(struct sql_groups *groups, int error)
{
	struct sql_session *session = groups->cursor->scan.session;
	if (error == ENOMEM)
		return sql_no_memory(groups->cursor);
	return sql_session_fail(session, TW_ERR_SYSTEM, "temporary file: %s", strerror(error));
}

/* A file without a name. */
static int open_file(struct sql_groups *groups)
{
	const char *folder = groups->cursor->scan.session->options.temporary_directory;
	int fd = open(folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(groups, errno);
	int error = tw_output_fd(&groups->out, fd);
	groups->spilled = true;
	return error ? fail(groups, error) : 0;
}

static void write_group(struct sql_groups *groups, struct group *group)
{
	struct piece piece = {.before = group->piece};
	for (uint32_t b = group->first; b; b = block_at(groups, b - 1)->next)
		piece.count += block_at(groups, b - 1)->count;
	group->piece = tw_output_position(&groups->out) + 1;
	tw_put(&groups->out, &piece, sizeof piece);
	for (uint32_t b = group->first; b; b = block_at(groups, b - 1)->next)
		tw_put(&groups->out, block_at(groups, b - 1)->rows, block_at(groups, b - 1)->count * groups->packed);
	group->first = group->last = 0;
}

/* All that is in memory goes to the file. */
static int spill(struct sql_groups *groups)
{
	int status = groups->spilled ? 0 : open_file(groups);
	for (size_t i = 0; i < groups->count && status == 0; i++)
		if (groups->groups[i].first)
			write_group(groups, &groups->groups[i]);
	groups->blocks = 0;
	if (status == 0)
		tw_output_flush(&groups->out);
	return status < 0 || !groups->out.error ? status : fail(groups, groups->out.error);
}

/* ---- Taking rows. ---- */

/* The group of a name, plus 1; 0 when there is no memory. The texts of names are not looked at before all rows are there. */
static uint32_t find_group(struct sql_groups *groups, uint32_t name)
{
	if (!tw_grow(&groups->group_of, &groups->name_room, (size_t)name + 1, sizeof *groups->group_of) ||
	    !tw_grow(&groups->groups, &groups->room, groups->count + 1, sizeof *groups->groups))
		return 0;
	groups->groups[groups->count++] = (struct group){.name = name};
	return groups->group_of[name] = (uint32_t)groups->count;
}

/* The block that the next row of a group goes to; NULL when there is no memory. */
static struct block *block_for(struct sql_groups *groups, struct group *group)
{
	struct block *last = group->last ? block_at(groups, group->last - 1) : NULL;
	if (last && last->count < groups->per_block)
		return last;
	uint32_t fresh = add_block(groups);
	if (!fresh)
		return NULL;
	if (last)
		last->next = fresh;
	else
		group->first = fresh;
	group->last = fresh;
	return block_at(groups, fresh - 1);
}

static bool take_row(struct sql_groups *groups, const uint8_t *row)
{
	uint32_t name;
	memcpy(&name, row + groups->name_place, sizeof name);
	uint32_t number = name < groups->name_room ? groups->group_of[name] : 0;
	if (!number && !(number = find_group(groups, name)))
		return false;
	struct block *block = block_for(groups, &groups->groups[number - 1]);
	if (!block)
		return false;
	uint8_t *to = block->rows + block->count++ * groups->packed;
	for (size_t i = 0; i < groups->field_count; i++) {
		memcpy(to, row + groups->fields[i].place, groups->fields[i].size);
		to += groups->fields[i].size;
	}
	return true;
}

int sql_groups_take(struct sql_groups *groups)
{
	struct sql_cursor *cursor = groups->cursor;
	size_t limit = tw_memory_limit(cursor->scan.reader) / SHARE;
	for (size_t i = 0; i < cursor->row_count; i++)
		if (!take_row(groups, cursor->rows + i * cursor->table->row_size))
			return sql_no_memory(cursor);
	cursor->row_count = 0;
	return (size_t)groups->blocks * BLOCK > limit ? spill(groups) : 0;
}

/* ---- Giving them back. ---- */

/* NULL comes first. */
static int compare(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	if (!a->text || !b->text)
		return (a->text != NULL) - (b->text != NULL);
	int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_down(const void *left, const void *right)
{
	return compare(right, left);
}

/* Finds the texts; leaves out names that are not wanted. */
static bool resolve(struct sql_groups *groups)
{
	size_t kept = 0;
	for (size_t i = 0; i < groups->count; i++) {
		struct group *group = &groups->groups[i];
		const struct sql_scan_name *name =
		    group->name ? sql_scan_name(&groups->cursor->scan, group->name) : NULL;
		if (group->name && !name)
			return false;
		group->text = name ? name->text : NULL;
		group->length = name ? name->length : 0;
		if (!groups->by_name || sql_matches(groups->cursor, &groups->cursor->name, group->name))
			groups->groups[kept++] = *group;
	}
	groups->count = kept;
	return true;
}

int sql_groups_sort(struct sql_groups *groups)
{
	if (!resolve(groups))
		return sql_no_memory(groups->cursor);
	if (groups->count)
		qsort(groups->groups, groups->count, sizeof *groups->groups,
		      groups->cursor->downwards ? compare_down : compare);
	return 0;
}

static bool give_row(struct sql_groups *groups, uint32_t name, const uint8_t *from)
{
	uint8_t *row = sql_add_row(groups->cursor);
	if (!row)
		return false;
	memcpy(row + groups->name_place, &name, sizeof name);
	for (size_t i = 0; i < groups->field_count; i++) {
		memcpy(row + groups->fields[i].place, from, groups->fields[i].size);
		from += groups->fields[i].size;
	}
	return true;
}

static bool give_block(struct sql_groups *groups, struct group *group)
{
	const struct block *block = block_at(groups, group->first - 1);
	bool fine = true;
	for (uint32_t i = 0; i < block->count && fine; i++)
		fine = give_row(groups, group->name, block->rows + i * groups->packed);
	group->first = block->next;
	return fine;
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
	uint8_t rows[GIVEN * 8];
	if (!groups->piece.count) {
		groups->piece_place = group->piece - 1 + sizeof groups->piece;
		if (!read_at(groups, group->piece - 1, &groups->piece, sizeof groups->piece))
			return fail(groups, errno);
		group->piece = groups->piece.before;
	}
	size_t most = sizeof rows / groups->packed;
	size_t count = groups->piece.count < most ? (size_t)groups->piece.count : most;
	if (!read_at(groups, groups->piece_place, rows, count * groups->packed))
		return fail(groups, errno);
	for (size_t i = 0; i < count; i++)
		if (!give_row(groups, group->name, rows + i * groups->packed))
			return sql_no_memory(groups->cursor);
	groups->piece_place += count * groups->packed;
	groups->piece.count -= count;
	return 1;
}

int sql_groups_give(struct sql_groups *groups)
{
	struct sql_cursor *cursor = groups->cursor;
	int status = 0;
	while (groups->at < groups->count && cursor->row_count < GIVEN && status >= 0) {
		struct group *group = &groups->groups[groups->at];
		if (group->first)
			status = give_block(groups, group) ? 1 : sql_no_memory(cursor);
		else if (groups->piece.count || group->piece)
			status = give_piece(groups, group);
		else
			groups->at++;
	}
	return status < 0 ? status : cursor->row_count > 0;
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
	free(groups->group_of);
	free(groups);
}
