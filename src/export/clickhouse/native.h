/* native.h - rows of a table in memory, and as a block of ClickHouse's Native format.
 *
 * Source: ClickHouse's documents "Native Format" and "LowCardinality Data Type", and the server of Debian 12 (18.16).
 * A block is the number of its columns and of its rows (LEB128), then column after column: its name, its type, and all
 * of its values. Integers are little endian. Of a LowCardinality(String) come a version (1), what the indexes are (the
 * size of each, and that the keys stand here), the keys, the empty one first, and an index for each row. Of an
 * Array(String) come the ends of all arrays, then all texts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_CLICKHOUSE_NATIVE_H
#define EXPORT_CLICKHOUSE_NATIVE_H

#include "export/text/line.h"

#include <trackway/event.h>

/* X(id, type) */
#define TW_NATIVE_TYPES(X)                                                                                             \
	X(TW_NATIVE_U8, "UInt8")                                                                                       \
	X(TW_NATIVE_U16, "UInt16")                                                                                     \
	X(TW_NATIVE_U32, "UInt32")                                                                                     \
	X(TW_NATIVE_U64, "UInt64")                                                                                     \
	X(TW_NATIVE_DOUBLE, "Float64")                                                                                 \
	X(TW_NATIVE_DAY, "Date")        /* days since 1970: 16 bits */                                                 \
	X(TW_NATIVE_SECOND, "DateTime") /* seconds since 1970: 32 bits */                                              \
	X(TW_NATIVE_TEXT, "String")     /* any bytes */                                                                \
	X(TW_NATIVE_TEXTS, "Array(String)")                                                                            \
	X(TW_NATIVE_NAME, "LowCardinality(String)")

enum tw_native_type {
#define X(id, type) id,
	TW_NATIVE_TYPES(X)
#undef X
	    TW_NATIVE_TYPE_COUNT
};

extern const char *const tw_native_types[TW_NATIVE_TYPE_COUNT];

enum { TW_NATIVE_WORDS = 32 };

/* The texts of a LowCardinality column, each once in a block: by a number of the caller's, or by a constant. */
struct tw_native_keys {
	struct tw_line bytes; /* all of them */
	uint32_t count;       /* the empty text is the first, 0 */
	uint32_t *places;     /* by number: where its text is; 0: it is not there, or empty */
	size_t place_room;
	uint32_t *numbers; /* whose places are set */
	size_t number_count, number_room;
	const char *words[TW_NATIVE_WORDS]; /* the constants */
	uint32_t word_places[TW_NATIVE_WORDS];
	unsigned word_count;
};

struct tw_native_column {
	const char *name;
	enum tw_native_type type;
	struct tw_line bytes; /* values as they are written; of names their indexes, 32 bits each */
	struct tw_line ends;  /* of arrays */
	struct tw_native_keys keys;
	uint64_t texts; /* of arrays: how many there are */
};

struct tw_native_block {
	struct tw_native_column *columns;
	size_t column_count, rows;
	size_t bytes; /* of texts so far */
	bool failed;  /* no memory */
};

void tw_native_free(struct tw_native_block *block);

/* Forgets all rows. */
void tw_native_clear(struct tw_native_block *block);

/* Values of the row that is being added; every column has to get one. Of numbers the low bits count. */
void tw_native_number(struct tw_native_block *block, size_t column, uint64_t value);
void tw_native_double(struct tw_native_block *block, size_t column, double value);
void tw_native_text(struct tw_native_block *block, size_t column, const char *bytes, size_t size);
void tw_native_texts(struct tw_native_block *block, size_t column, const char *const *texts, size_t count);
/* A constant, of which a column has at most TW_NATIVE_WORDS. */
void tw_native_word(struct tw_native_block *block, size_t column, const char *word);
/* Whether the text of a number is in the block: then the row has it. Otherwise it is added by the next function. */
bool tw_native_known(struct tw_native_block *block, size_t column, uint32_t number);
void tw_native_key(struct tw_native_block *block, size_t column, uint32_t number, const char *bytes, size_t size);

/* The row is complete. */
void tw_native_end_row(struct tw_native_block *block);

/* Adds the block to a line. */
void tw_native_put(struct tw_native_block *block, struct tw_line *out);

/* A number as LEB128. */
void tw_native_put_count(struct tw_line *out, uint64_t value);

#endif
