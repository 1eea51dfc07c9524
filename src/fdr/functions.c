/* functions.c - function ids for names that have none, and the table that tells them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "fdr/fdr.h"

#include <stdlib.h>

void fdr_functions_of(struct fdr_functions *functions, const struct tw_reader *reader)
{
	const char *format = tw_reader_format(reader);
	functions->own = !reader->traits.numbers_clash &&
	                 (strcmp(format, tw_format_fdr.name) == 0 || strcmp(format, tw_format_basic.name) == 0);
}

uint32_t fdr_function_id(struct fdr_functions *functions, const struct tw_dictionary *dictionary, uint32_t name,
                         uint32_t most)
{
	uint64_t own = tw_dictionary_name(dictionary, name)->id;
	if (functions->own)
		return own <= most ? (uint32_t)own : FDR_NO_FUNCTION;
	if (name < functions->id_room && functions->ids[name])
		return functions->ids[name];
	size_t count = functions->count + (size_t)1;
	if (count > most || !tw_grow(&functions->ids, &functions->id_room, name + (size_t)1, sizeof *functions->ids) ||
	    !tw_grow(&functions->names, &functions->name_room, count, sizeof *functions->names))
		return FDR_NO_FUNCTION;
	functions->names[functions->count] = name;
	functions->ids[name] = ++functions->count;
	return functions->count;
}

/* A name has any bytes, a line of the table has no others of these. */
static void put_escaped(struct tw_output *out, const struct tw_name *name)
{
	static const char special[] = "\\\t\n\r", letters[] = "\\tnr";
	for (size_t i = 0; i < name->length; i++) {
		const char *found = name->text[i] ? strchr(special, name->text[i]) : NULL;
		if (!found) {
			tw_put_char(out, name->text[i]);
			continue;
		}
		tw_put_char(out, '\\');
		tw_put_char(out, letters[found - special]);
	}
}

int fdr_functions_write(const struct fdr_functions *functions, const struct tw_dictionary *dictionary,
                        struct tw_writer *writer)
{
	const char *path = writer->options.functions;
	struct tw_output out;
	for (uint32_t i = 0; i < functions->count && !path; i++)
		tw_count_loss(writer, "function name", false);
	if (functions->count == 0 || !path)
		return 0;
	tw_output_flush(&writer->out);
	if (writer->out.error) /* tw_finish() tells it: a log that is not written needs no table */
		return 0;
	int error = tw_output_open(&out, path);
	if (error)
		return tw_writer_fail_system(writer, path, error);
	for (uint32_t id = 1; id <= functions->count; id++) {
		tw_put_u64(&out, id);
		tw_put_char(&out, '\t');
		put_escaped(&out, tw_dictionary_name(dictionary, functions->names[id - 1]));
		tw_put_char(&out, '\n');
	}
	error = tw_output_close(&out);
	return error ? tw_writer_fail_system(writer, path, error) : 0;
}

void fdr_functions_free(struct fdr_functions *functions)
{
	free(functions->ids);
	free(functions->names);
}

uint32_t fdr_number_of(struct tw_writer *writer, uint32_t track, uint64_t koid)
{
	if (koid <= UINT32_MAX)
		return (uint32_t)koid;
	tw_count_loss(writer, "process or thread id", true);
	return UINT32_MAX - track;
}
