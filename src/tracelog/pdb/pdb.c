/* pdb.c - source lines of methods, from a portable PDB. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/pdb/pdb.h"

#include "tracelog/pdb/cursor.h"

enum {
	SIGNATURE = 0x424a5342, /* "BSJB" */
	DOCUMENT = 0x30,        /* numbers of tables */
	METHOD = 0x31,
	METHOD_TOKEN = 0x06, /* in the upper byte of a token */
	NAME_MAX_BYTES = 4096,
	SOURCE_LINE_MAX = 0x1fffffff /* of sequence points */
};

/* ---- Numbers. ---- */

/* A number of 2 or 4 bytes. */
static uint32_t load(const uint8_t *at, unsigned width)
{
	return width == 2 ? tw_load16(at, false) : tw_load32(at, false);
}

/* A compressed number (II.23.2) of 1, 2 or 4 bytes, and how many bits it has. */
static uint32_t take_compressed(struct pdb_cursor *cursor, unsigned *bits)
{
	const uint8_t first = *pdb_take(cursor, 1);
	if (first < 0x80) {
		*bits = 7;
		return first;
	}
	if (first < 0xc0) {
		*bits = 14;
		return (first & 0x3fu) << 8 | *pdb_take(cursor, 1);
	}
	const uint8_t *more = pdb_take(cursor, 3);
	*bits = 29;
	return (first & 0x1fu) << 24 | (uint32_t)more[0] << 16 | (uint32_t)more[1] << 8 | more[2];
}

static uint32_t take_unsigned(struct pdb_cursor *cursor)
{
	unsigned bits;
	return take_compressed(cursor, &bits);
}

/* The sign is the lowest bit; a negative number is one of as many bits as were written. */
static int32_t take_signed(struct pdb_cursor *cursor)
{
	unsigned bits;
	uint32_t written = take_compressed(cursor, &bits);
	return (int32_t)(written >> 1) - (written & 1 ? INT32_C(1) << (bits - 1) : 0);
}

/* ---- The parts. ---- */

static bool is_called(const uint8_t *name, size_t size, const char *wanted)
{
	return size > strlen(wanted) && memcmp(name, wanted, strlen(wanted) + 1) == 0;
}

/* The stream of a name: the root is a list of them. */
static bool find_stream(struct tracelog_pdb_bytes root, const char *name, struct tracelog_pdb_bytes *stream)
{
	struct pdb_cursor cursor = pdb_cursor_of(root);
	bool is_metadata = pdb_take32(&cursor) == SIGNATURE;
	pdb_take(&cursor, 8);
	uint32_t version = pdb_take32(&cursor);
	if (!is_metadata || version > root.size)
		return false;
	pdb_take(&cursor, version);
	pdb_take(&cursor, 2);
	unsigned count = tw_load16(pdb_take(&cursor, 2), false);
	for (unsigned i = 0; i < count && !cursor.failed; i++) {
		uint32_t offset = pdb_take32(&cursor), size = pdb_take32(&cursor);
		const uint8_t *text = cursor.at, *end = memchr(text, 0, (size_t)(cursor.end - text));
		if (!end || offset > root.size || size > root.size - offset)
			return false;
		*stream = (struct tracelog_pdb_bytes){root.bytes + offset, size};
		if (is_called(text, (size_t)(end - text) + 1, name))
			return true;
		pdb_take(&cursor, ((size_t)(end - text) + 4) / 4 * 4);
	}
	return false;
}

/* The rows of tables before that of documents are of other metadata; there are none in a PDB that stands alone. */
static bool find_tables(struct tracelog_pdb *pdb, struct tracelog_pdb_bytes tables)
{
	struct pdb_cursor cursor = pdb_cursor_of(tables);
	pdb_take(&cursor, 6);
	uint8_t heaps = *pdb_take(&cursor, 1);
	pdb_take(&cursor, 1);
	uint64_t valid = tw_load64(pdb_take(&cursor, 8), false);
	pdb_take(&cursor, 8);
	if (valid & ((UINT64_C(1) << DOCUMENT) - 1) || !(valid >> DOCUMENT & 1) || !(valid >> METHOD & 1))
		return false;
	pdb->document_count = pdb_take32(&cursor);
	pdb->method_count = pdb_take32(&cursor);
	for (uint64_t more = valid >> (METHOD + 1); more; more &= more - 1)
		pdb_take32(&cursor);
	pdb->guid_width = heaps & 2 ? 4 : 2;
	pdb->blob_width = heaps & 4 ? 4 : 2;
	pdb->document_width = pdb->document_count > UINT16_MAX ? 4 : 2;
	pdb->document_size = 2 * (size_t)pdb->blob_width + 2 * (size_t)pdb->guid_width;
	pdb->method_size = (size_t)pdb->document_width + pdb->blob_width;
	pdb->documents = pdb_take(&cursor, pdb->document_count * pdb->document_size);
	pdb->methods = pdb_take(&cursor, pdb->method_count * pdb->method_size);
	return !cursor.failed;
}

/* Whether this is a PDB of the debuggers of Windows: another format under the same ending. */
static bool is_of_windows(struct tracelog_pdb_bytes root)
{
	static const char start[] = "Microsoft C/C++";
	return root.size >= sizeof start - 1 && memcmp(root.bytes, start, sizeof start - 1) == 0;
}

/* Why there are no parts; NULL: they are found. */
static const char *find_parts(struct tracelog_pdb *pdb, struct tracelog_pdb_bytes root)
{
	struct tracelog_pdb_bytes head, tables;
	if (is_of_windows(root))
		return "a PDB of Windows, not a portable one";
	if (root.size < sizeof(uint32_t) || tw_load32(root.bytes, false) != SIGNATURE)
		return "no portable PDB";
	if (!find_stream(root, "#Pdb", &head) || head.size < TRACELOG_PDB_ID)
		return "damaged: it has no #Pdb";
	if (!find_stream(root, "#~", &tables))
		return "damaged: it has no tables";
	if (!find_stream(root, "#Blob", &pdb->blobs))
		return "damaged: it has no #Blob";
	memcpy(pdb->id, head.bytes, TRACELOG_PDB_ID);
	return find_tables(pdb, tables) ? NULL : "damaged: its tables end too early, or are of something else";
}

bool tracelog_pdb_open(struct tracelog_pdb *pdb, const uint8_t *bytes, size_t size)
{
	*pdb = (struct tracelog_pdb){0};
	pdb->wrong = find_parts(pdb, (struct tracelog_pdb_bytes){bytes, size});
	return !pdb->wrong;
}

/* ECMA-335, II.22.30: the first table has one row, of a generation, a name, and the place of the GUID. */
bool tracelog_pdb_module(struct tracelog_pdb_bytes metadata, uint8_t guid[TRACELOG_GUID])
{
	struct tracelog_pdb_bytes tables, guids;
	if (!find_stream(metadata, "#~", &tables) || !find_stream(metadata, "#GUID", &guids))
		return false;
	struct pdb_cursor cursor = pdb_cursor_of(tables);
	pdb_take(&cursor, 6);
	const uint8_t heaps = *pdb_take(&cursor, 1);
	pdb_take(&cursor, 1);
	const uint64_t valid = tw_load64(pdb_take(&cursor, 8), false);
	pdb_take(&cursor, 8);
	for (uint64_t more = valid; more; more &= more - 1)
		pdb_take32(&cursor);
	pdb_take(&cursor, heaps & 1 ? 6 : 4);
	const unsigned width = heaps & 2 ? 4 : 2;
	const uint32_t place = load(pdb_take(&cursor, width), width);
	if (cursor.failed || !(valid & 1) || place == 0 || place > guids.size / TRACELOG_GUID)
		return false;
	memcpy(guid, guids.bytes + (size_t)(place - 1) * TRACELOG_GUID, TRACELOG_GUID);
	return true;
}

/* ---- Lines. ---- */

static bool find_blob(const struct tracelog_pdb *pdb, uint32_t at, struct tracelog_pdb_bytes *blob)
{
	if (at >= pdb->blobs.size)
		return false;
	struct pdb_cursor cursor = {pdb->blobs.bytes + at, pdb->blobs.bytes + pdb->blobs.size, false};
	uint32_t size = take_unsigned(&cursor);
	*blob = (struct tracelog_pdb_bytes){cursor.at, size};
	pdb_take(&cursor, size);
	return !cursor.failed;
}

/* The sequence points of a method: each is an offset, and the line of what is there. */
struct pdb_points {
	struct pdb_cursor cursor;
	uint32_t document, il, line, column, end_line, end_column;
	bool begun, placed; /* there was one; one with a line */
	bool hidden;        /* the one that was read has no line */
};

static void take_place(struct pdb_points *points)
{
	struct pdb_cursor *cursor = &points->cursor;
	uint32_t lines = take_unsigned(cursor);
	int32_t columns = lines ? take_signed(cursor) : (int32_t)take_unsigned(cursor);
	points->hidden = lines == 0 && columns == 0;
	if (points->hidden)
		return;
	points->line = points->placed ? points->line + (uint32_t)take_signed(cursor) : take_unsigned(cursor);
	points->column = points->placed ? points->column + (uint32_t)take_signed(cursor) : take_unsigned(cursor);
	points->end_line = points->line + lines;
	points->end_column = points->column + (uint32_t)columns;
	points->placed = true;
}

/* Reads the next point; a record between two of them tells of another document. False: there is none. */
static bool next_point(struct pdb_points *points)
{
	struct pdb_cursor *cursor = &points->cursor;
	while (cursor->at < cursor->end) {
		uint32_t more = take_unsigned(cursor);
		if (points->begun && more == 0) {
			points->document = take_unsigned(cursor);
			continue;
		}
		points->il += more;
		points->begun = true;
		take_place(points);
		return !cursor->failed;
	}
	return false;
}

/* Whether a point is one that a compiler writes. */
static bool is_sound(const struct tracelog_pdb *pdb, const struct pdb_points *points)
{
	return points->hidden || (points->document && points->document <= pdb->document_count && points->line &&
	                          points->line <= SOURCE_LINE_MAX && points->end_line <= SOURCE_LINE_MAX);
}

bool tracelog_pdb_find(const struct tracelog_pdb *pdb, uint32_t token, uint32_t il, struct tracelog_pdb_line *line,
                       struct tracelog_pdb_search *search)
{
	const uint32_t number = token & 0xffffff;
	struct tracelog_pdb_bytes blob;
	search->damaged = false;
	*line = (struct tracelog_pdb_line){0};
	if (!search->left || token >> 24 != METHOD_TOKEN || number == 0 || number > pdb->method_count)
		return false;
	const uint8_t *row = pdb->methods + (number - 1) * pdb->method_size;
	struct pdb_points points = {.document = load(row, pdb->document_width)};
	uint32_t at = load(row + pdb->document_width, pdb->blob_width);
	search->damaged = at && !find_blob(pdb, at, &blob);
	if (at == 0 || search->damaged)
		return false;
	points.cursor = pdb_cursor_of(blob);
	take_unsigned(&points.cursor); /* the signature of local variables */
	if (!points.document)
		points.document = take_unsigned(&points.cursor);
	while (next_point(&points) && points.il <= il && is_sound(pdb, &points))
		if (!points.hidden)
			*line = (struct tracelog_pdb_line){points.document, points.line, points.column, points.end_line,
			                                   points.end_column};
	search->damaged = points.cursor.failed || (points.il <= il && points.begun && !is_sound(pdb, &points));
	tracelog_pdb_spend(search, (size_t)(points.cursor.at - blob.bytes));
	return line->line;
}

/* ---- Documents. ---- */

static bool add_part(const struct tracelog_pdb *pdb, uint32_t at, struct tw_text *name)
{
	struct tracelog_pdb_bytes part;
	return at == 0 || (find_blob(pdb, at, &part) && name->length + part.size <= NAME_MAX_BYTES &&
	                   tw_text_add(name, (const char *)part.bytes, part.size));
}

/* A name is a list of parts, with a separator between them. */
bool tracelog_pdb_name(const struct tracelog_pdb *pdb, uint32_t document, struct tw_text *name)
{
	struct tracelog_pdb_bytes blob;
	if (document == 0 || document > pdb->document_count)
		return false;
	const uint8_t *row = pdb->documents + (document - 1) * pdb->document_size;
	if (!find_blob(pdb, load(row, pdb->blob_width), &blob) || blob.size == 0)
		return false;
	struct pdb_cursor cursor = pdb_cursor_of(blob);
	const char separator = (char)*pdb_take(&cursor, 1);
	for (bool first = true; cursor.at < cursor.end; first = false) {
		uint32_t part = take_unsigned(&cursor);
		if (cursor.failed || (!first && separator && !tw_text_add(name, &separator, 1)) ||
		    !add_part(pdb, part, name))
			return false;
	}
	return name->length > 0;
}
