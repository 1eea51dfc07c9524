/* pack.c - rows without the columns that nobody asks for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/pack.h"

/* Bytes of a value in a row. */
static size_t size_of(enum sql_value value)
{
	switch (value) {
	case SQL_NUMBER:
	case SQL_UNSIGNED:
	case SQL_REAL:
	case SQL_TIME:
	case SQL_RECORD:
		return sizeof(uint64_t);
	case SQL_WORD:
		return sizeof(const char *);
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
		return 0;
	case SQL_TEXT:
		return sizeof(struct sql_text);
	case SQL_ANY:
		return sizeof(struct sql_any);
	}
	return 0;
}

void sql_packing_begin(struct sql_packing *packing, struct sql_cursor *cursor, uint64_t columns)
{
	const struct sql_table *table = cursor->table;
	*packing = (struct sql_packing){0};
	for (unsigned i = 0; i < table->column_count; i++) {
		size_t size = size_of(table->columns[i].value);
		if (!(columns >> i & 1) || size == 0)
			continue;
		packing->fields[packing->count].place = table->columns[i].place;
		packing->fields[packing->count++].size = size;
		cursor->given.slots[i].place = packing->size;
		packing->size += size;
	}
	packing->size += !packing->size; /* without any column, rows are still counted */
	cursor->given.stride = packing->size;
}
