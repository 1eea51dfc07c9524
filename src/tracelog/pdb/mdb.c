/* mdb.c - source lines of methods, from the file that Mono's compilers write beside an assembly. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/pdb/mdb.h"

#include "tracelog/pdb/cursor.h"

#define MAGIC UINT64_C(0x45e82623fd7fa614)

enum {
	VERSION = 50,
	GUID_AT = 16,     /* behind the magic number and the version */
	HEAD = 32,        /* bytes before the table of offsets */
	METHOD_SIZE = 12, /* of a row: token, and where its data and its lines are */
	SOURCE_SIZE = 8,  /* number, and where its data is */
	NAME_MAX_BYTES = 4096,
	LINE_MAX_MDB = 0xfeefed, /* the next is of what has no line */
	FIELDS = 6,              /* of a method's data, before its flags */
	HAS_COLUMNS = 1 << 1,    /* flags */
	HAS_ENDS = 1 << 2,
	NO_END = 0xffffff
};

/* Standard opcodes, and extended ones, which stand behind a 0 and their size. */
enum { COPY = 1, ADVANCE_OFFSET, ADVANCE_LINE, SET_FILE, ADD_LARGEST = 8 };
enum { END = 1, NEGATE_HIDDEN = 0x40, EXTENSIONS_END = 0x7f };

/* Words of the table of offsets. */
enum { METHODS = 9, METHODS_AT, METHODS_SIZE, SOURCES = 6, SOURCES_AT, SOURCES_SIZE, LINE_BASE = 16, WORDS = 20 };

/* A number of 7 bits a byte, the lowest first. */
static uint32_t take_number(struct pdb_cursor *cursor)
{
	uint32_t number = 0;
	for (unsigned shift = 0; shift < 35; shift += 7) {
		const uint8_t byte = *pdb_take(cursor, 1);
		number |= shift < 32 ? (uint32_t)(byte & 0x7f) << shift : 0;
		if (!(byte & 0x80))
			return number;
	}
	cursor->failed = true;
	return 0;
}

static struct pdb_cursor cursor_at(const struct tracelog_mdb *mdb, uint32_t at)
{
	const size_t from = at < mdb->all.size ? at : mdb->all.size;
	return (struct pdb_cursor){mdb->all.bytes + from, mdb->all.bytes + mdb->all.size, false};
}

/* ---- The parts. ---- */

static const uint8_t *rows(const struct tracelog_mdb *mdb, const uint32_t *table, size_t size)
{
	const uint32_t count = table[0], at = table[1];
	const bool there = at <= mdb->all.size && count <= (mdb->all.size - at) / size && table[2] == count * size;
	return there ? mdb->all.bytes + at : NULL;
}

static uint32_t token_of(const struct tracelog_mdb *mdb, uint32_t i)
{
	return tw_load32(mdb->methods + (size_t)i * METHOD_SIZE, false);
}

/* Why there are no parts; NULL: they are found. */
static const char *find_parts(struct tracelog_mdb *mdb)
{
	struct pdb_cursor cursor = pdb_cursor_of(mdb->all);
	uint32_t words[WORDS];
	if (mdb->all.size < HEAD || tw_load64(pdb_take(&cursor, 8), false) != MAGIC)
		return "no symbol file of Mono's";
	if (pdb_take32(&cursor) != VERSION)
		return "a symbol file of Mono's of another version than 50";
	mdb->guid = mdb->all.bytes + GUID_AT;
	cursor.at = mdb->all.bytes + HEAD;
	for (unsigned i = 0; i < WORDS; i++)
		words[i] = pdb_take32(&cursor);
	mdb->method_count = words[METHODS];
	mdb->source_count = words[SOURCES];
	mdb->methods = rows(mdb, &words[METHODS], METHOD_SIZE);
	mdb->sources = rows(mdb, &words[SOURCES], SOURCE_SIZE);
	mdb->line_base = (int32_t)words[LINE_BASE];
	mdb->line_range = words[LINE_BASE + 1];
	mdb->opcode_base = words[LINE_BASE + 2];
	if (cursor.failed || !mdb->methods || !mdb->sources)
		return "damaged: its tables end too early";
	if (mdb->line_range - 1 > UINT8_MAX || mdb->opcode_base <= ADD_LARGEST || mdb->opcode_base > UINT8_MAX)
		return "damaged: its lines are counted in no way that there is";
	for (uint32_t i = 1; i < mdb->method_count; i++)
		if (token_of(mdb, i) <= token_of(mdb, i - 1))
			return "damaged: its methods are not in order";
	return NULL;
}

bool tracelog_mdb_open(struct tracelog_mdb *mdb, const uint8_t *bytes, size_t size)
{
	*mdb = (struct tracelog_mdb){.all = {bytes, size}};
	mdb->wrong = find_parts(mdb);
	return !mdb->wrong;
}

/* ---- Lines. ---- */

struct mdb_lines {
	const struct tracelog_mdb *mdb;
	struct pdb_cursor cursor;
	uint32_t file, line, offset;
	bool hidden, moved, ended; /* moved: since the last entry */
};

static void move(struct mdb_lines *lines, unsigned opcode)
{
	const struct tracelog_mdb *mdb = lines->mdb;
	lines->offset += opcode / mdb->line_range;
	lines->line += (uint32_t)mdb->line_base + opcode % mdb->line_range;
}

/* Whether an entry is there then. */
static bool take_extended(struct mdb_lines *lines)
{
	const unsigned size = *pdb_take(&lines->cursor, 1);
	const uint8_t *inside = pdb_take(&lines->cursor, size);
	if (lines->cursor.failed || size == 0) {
		lines->cursor.failed = true;
		return false;
	}
	const unsigned opcode = *inside;
	lines->ended = opcode == END;
	if (opcode == NEGATE_HIDDEN) {
		lines->hidden = !lines->hidden;
		lines->moved = true;
	} else if (!lines->ended && (opcode < NEGATE_HIDDEN || opcode > EXTENSIONS_END)) {
		lines->cursor.failed = true;
	}
	return lines->ended && lines->moved;
}

static bool take_standard(struct mdb_lines *lines, unsigned opcode)
{
	lines->moved = opcode != COPY;
	if (opcode == ADVANCE_OFFSET)
		lines->offset += take_number(&lines->cursor);
	else if (opcode == ADVANCE_LINE)
		lines->line += take_number(&lines->cursor);
	else if (opcode == SET_FILE)
		lines->file = take_number(&lines->cursor);
	else if (opcode == ADD_LARGEST)
		lines->offset += (UINT8_MAX - lines->mdb->opcode_base) / lines->mdb->line_range;
	else if (opcode != COPY)
		lines->cursor.failed = true;
	return opcode == COPY;
}

/* Reads the next entry. False: there is none. */
static bool next_entry(struct mdb_lines *lines)
{
	bool entry = false;
	while (!entry && !lines->ended && !lines->cursor.failed) {
		const unsigned opcode = *pdb_take(&lines->cursor, 1);
		if (lines->cursor.failed)
			break;
		if (opcode == 0) {
			entry = take_extended(lines);
		} else if (opcode < lines->mdb->opcode_base) {
			entry = take_standard(lines, opcode);
		} else {
			move(lines, opcode - lines->mdb->opcode_base);
			entry = true;
		}
	}
	lines->moved &= !entry;
	return entry && !lines->cursor.failed;
}

static const uint8_t *find_method(const struct tracelog_mdb *mdb, uint32_t token)
{
	uint32_t low = 0, high = mdb->method_count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (token_of(mdb, middle) < token)
			low = middle + 1;
		else
			high = middle;
	}
	return low < mdb->method_count && token_of(mdb, low) == token ? mdb->methods + (size_t)low * METHOD_SIZE : NULL;
}

static uint32_t flags_of(const struct tracelog_mdb *mdb, const uint8_t *method)
{
	struct pdb_cursor cursor = cursor_at(mdb, tw_load32(method + 4, false));
	for (unsigned i = 0; i < FIELDS; i++)
		take_number(&cursor);
	const uint32_t flags = take_number(&cursor);
	return cursor.failed ? 0 : flags;
}

/* Behind the entries stand a column of each, and the end of each. Reads those of the one that has been found. */
static void take_columns(struct mdb_lines *lines, uint32_t flags, uint32_t number, uint32_t count,
                         struct tracelog_pdb_line *line)
{
	for (uint32_t i = 0; i < count && flags & HAS_COLUMNS && !lines->cursor.failed; i++) {
		const uint32_t column = take_number(&lines->cursor);
		line->column = i == number ? column : line->column;
	}
	line->end_line = line->line;
	line->end_column = line->column;
	for (uint32_t i = 0; i <= number && flags & HAS_ENDS && !lines->cursor.failed; i++) {
		const uint32_t more = take_number(&lines->cursor);
		const uint32_t column = more == NO_END ? 0 : take_number(&lines->cursor);
		if (i == number && more != NO_END) {
			line->end_line = line->line + more;
			line->end_column = column;
		}
	}
}

static bool is_sound(const struct mdb_lines *lines)
{
	return lines->hidden || (lines->file && lines->file <= lines->mdb->source_count && lines->line);
}

bool tracelog_mdb_find(const struct tracelog_mdb *mdb, uint32_t token, uint32_t il, struct tracelog_pdb_line *line,
                       struct tracelog_pdb_search *search)
{
	const uint8_t *method = search->left ? find_method(mdb, token) : NULL;
	uint32_t number = 0, count = 0;
	search->damaged = false;
	*line = (struct tracelog_pdb_line){0};
	if (!method)
		return false;
	struct mdb_lines lines = {.mdb = mdb,
	                          .cursor = cursor_at(mdb, tw_load32(method + 8, false)),
	                          .file = 1,
	                          .line = 1};
	const uint8_t *begin = lines.cursor.at;
	for (; next_entry(&lines) && is_sound(&lines); count++)
		if (lines.offset <= il && !lines.hidden && lines.line <= LINE_MAX_MDB) {
			*line = (struct tracelog_pdb_line){.document = lines.file, .line = lines.line};
			number = count;
		}
	if (line->line && lines.ended)
		take_columns(&lines, flags_of(mdb, method), number, count, line);
	search->damaged = lines.cursor.failed || !lines.ended;
	tracelog_pdb_spend(search, (size_t)(lines.cursor.at - begin));
	return line->line;
}

/* ---- Sources. ---- */

bool tracelog_mdb_name(const struct tracelog_mdb *mdb, uint32_t document, struct tw_text *name)
{
	if (document == 0 || document > mdb->source_count)
		return false;
	struct pdb_cursor cursor =
	    cursor_at(mdb, tw_load32(mdb->sources + (size_t)(document - 1) * SOURCE_SIZE + 4, false));
	const uint32_t size = take_number(&cursor);
	const uint8_t *text = pdb_take(&cursor, size);
	return !cursor.failed && size && size <= NAME_MAX_BYTES && tw_text_add(name, (const char *)text, size);
}
