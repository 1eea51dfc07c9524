/* pack.h - rows without the columns that nobody asks for. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ENGINE_PACK_H
#define SQL_ENGINE_PACK_H

#include "sql/tables/table.h"

#include <string.h>

/* Which columns of a table's rows are kept, one value behind the other. */
struct sql_packing {
	struct {
		size_t place, size;
	} fields[SQL_COLUMNS_MOST];
	size_t count;
	size_t size; /* of a packed row; not 0 */
};

/* Keeps columns, bits; the cursor finds them in packed rows from now on. */
void sql_packing_begin(struct sql_packing *packing, struct sql_cursor *cursor, uint64_t columns);

/* Most values have one of two sizes: copies of a size that is known are no calls. */
static inline void sql_pack(const struct sql_packing *packing, const uint8_t *row, uint8_t *to)
{
	for (size_t i = 0; i < packing->count; i++) {
		const uint8_t *from = row + packing->fields[i].place;
		size_t size = packing->fields[i].size;
		if (size == sizeof(uint64_t))
			memcpy(to, from, sizeof(uint64_t));
		else if (size == sizeof(uint32_t))
			memcpy(to, from, sizeof(uint32_t));
		else
			memcpy(to, from, size);
		to += size;
	}
}

#endif
