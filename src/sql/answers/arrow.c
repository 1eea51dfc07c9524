/* arrow.c - an answer for who reads Arrow's C data and C stream interfaces. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/answers/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The structs of Apache Arrow's documents "The Arrow C data interface" and "The Arrow C stream interface". */
enum { ARROW_FLAG_NULLABLE = 2 };

struct ArrowSchema {
	const char *format, *name, *metadata;
	int64_t flags, n_children;
	struct ArrowSchema **children, *dictionary;
	void (*release)(struct ArrowSchema *schema);
	void *private_data;
};

struct ArrowArray {
	int64_t length, null_count, offset, n_buffers, n_children;
	const void **buffers;
	struct ArrowArray **children, *dictionary;
	void (*release)(struct ArrowArray *array);
	void *private_data;
};

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *schema);
	int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *array);
	const char *(*get_last_error)(struct ArrowArrayStream *stream);
	void (*release)(struct ArrowArrayStream *stream);
	void *private_data;
};

static bool is_coded(const struct tw_sql_column *column)
{
	return column->type == TW_SQL_TEXT || column->type == TW_SQL_BYTES;
}

/* ---- Schemas. What a node owns is its children, its dictionary and a reference: each may be moved away alone. ---- */

static void release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; schema->children && i < schema->n_children; i++) {
		if (schema->children[i] && schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
		free(schema->children[i]);
	}
	free(schema->children);
	if (schema->dictionary && schema->dictionary->release)
		schema->dictionary->release(schema->dictionary);
	free(schema->dictionary);
	tw_sql_result_free(schema->private_data);
	schema->release = NULL;
}

static void begin_schema(struct ArrowSchema *schema, struct tw_sql_result *result, const char *format, const char *name)
{
	*schema = (struct ArrowSchema){
	    .format = format,
	    .name = name,
	    .release = release_schema,
	    .private_data = sql_answer_keep(result),
	};
}

static bool make_schema(struct ArrowSchema *schema, struct tw_sql_result *result, const struct tw_sql_column *column)
{
	static const char *const formats[] = {
	    [TW_SQL_NULL] = "n", [TW_SQL_INT] = "l", [TW_SQL_REAL] = "g", [TW_SQL_TEXT] = "i", [TW_SQL_BYTES] = "i"};
	begin_schema(schema, result, formats[column->type], column->name);
	schema->flags = ARROW_FLAG_NULLABLE;
	if (!is_coded(column))
		return true;
	schema->dictionary = calloc(1, sizeof *schema->dictionary);
	if (schema->dictionary)
		begin_schema(schema->dictionary, result, column->type == TW_SQL_TEXT ? "U" : "Z", "");
	return schema->dictionary;
}

static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
	struct tw_sql_result *result = stream->private_data;
	begin_schema(schema, result, "+s", "");
	schema->children = calloc(result->column_count + 1, sizeof *schema->children);
	bool whole = schema->children;
	for (size_t i = 0; whole && i < result->column_count; i++) {
		struct ArrowSchema *child = schema->children[i] = calloc(1, sizeof *child);
		schema->n_children++;
		whole = child && make_schema(child, result, &result->columns[i].finished);
	}
	if (!whole)
		release_schema(schema);
	return whole ? 0 : ENOMEM;
}

/* ---- Arrays. ---- */

/* What a node owns beside its children. */
struct array_memory {
	struct tw_sql_result *result;
	const void *buffers[3];
};

static void release_array(struct ArrowArray *array)
{
	struct array_memory *node = array->private_data;
	for (int64_t i = 0; array->children && i < array->n_children; i++) {
		if (array->children[i] && array->children[i]->release)
			array->children[i]->release(array->children[i]);
		free(array->children[i]);
	}
	free(array->children);
	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	free(array->dictionary);
	tw_sql_result_free(node->result);
	free(node);
	array->release = NULL;
}

static struct array_memory *begin_array(struct ArrowArray *array, struct tw_sql_result *result, size_t length,
                                        int64_t buffers)
{
	struct array_memory *node = calloc(1, sizeof *node);
	if (!node)
		return NULL;
	node->result = sql_answer_keep(result);
	*array = (struct ArrowArray){
	    .length = (int64_t)length,
	    .n_buffers = buffers,
	    .buffers = node->buffers,
	    .release = release_array,
	    .private_data = node,
	};
	return node;
}

static bool make_values(struct ArrowArray *array, struct tw_sql_result *result, const struct tw_sql_column *column)
{
	struct array_memory *node = begin_array(array, result, column->values, 3);
	if (!node)
		return false;
	node->buffers[1] = column->offsets;
	node->buffers[2] = column->bytes;
	return true;
}

static bool make_array(struct ArrowArray *array, struct tw_sql_result *result, const struct tw_sql_column *column)
{
	struct array_memory *node = begin_array(array, result, result->rows, column->type == TW_SQL_NULL ? 0 : 2);
	if (!node)
		return false;
	array->null_count = column->type == TW_SQL_NULL ? array->length : (int64_t)column->nulls;
	node->buffers[0] = column->valid;
	node->buffers[1] = column->type == TW_SQL_INT    ? (const void *)column->ints
	                   : column->type == TW_SQL_REAL ? (const void *)column->reals
	                                                 : column->codes;
	if (!is_coded(column))
		return true;
	array->dictionary = calloc(1, sizeof *array->dictionary);
	return array->dictionary && make_values(array->dictionary, result, column);
}

static bool make_batch(struct ArrowArray *array, struct tw_sql_result *result)
{
	if (!begin_array(array, result, result->rows, 1))
		return false;
	array->children = calloc(result->column_count + 1, sizeof *array->children);
	bool whole = array->children;
	for (size_t i = 0; whole && i < result->column_count; i++) {
		struct ArrowArray *child = array->children[i] = calloc(1, sizeof *child);
		array->n_children++;
		whole = child && make_array(child, result, &result->columns[i].finished);
	}
	if (!whole)
		release_array(array);
	return whole;
}

/* ---- The stream: one batch, then the end. ---- */

static int give_end(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
	(void)stream;
	*array = (struct ArrowArray){0};
	return 0;
}

static int give_batch(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
	if (!make_batch(array, stream->private_data))
		return ENOMEM;
	stream->get_next = give_end;
	return 0;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
	tw_sql_result_free(stream->private_data);
	stream->release = NULL;
}

int tw_sql_arrow(struct tw_sql_result *result, struct ArrowArrayStream *stream)
{
	*stream = (struct ArrowArrayStream){
	    .get_schema = give_schema,
	    .get_next = give_batch,
	    .get_last_error = last_error,
	    .release = release_stream,
	    .private_data = sql_answer_keep(result),
	};
	return 0;
}
