/* object_names.c - objects that arguments refer to, described before the first record that does.
 *
 * The records that describe them may have been left out, or stand behind others where these were put in order of time.
 */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/events/objects.h"
#include "fxt/write/tables.h"

static struct fxt_object object_of(const struct fxt_tables *tables, enum tw_argument_type type, uint64_t process,
                                   uint64_t number)
{
	return type == TW_ARG_POINTER ? fxt_written_pointer(tables->provider, process, number)
	                              : fxt_written_koid(tables->provider, number);
}

/* Without memory it is not known, and described once more. */
static void learn(struct tw_map *told, uint64_t key, uint32_t name)
{
	uint32_t *known = tw_map_stored(told, key);
	if (known)
		*known = name + 1;
	else
		tw_map_add(told, key, name);
}

void fxt_note_object_name(struct fxt_tables *tables, enum tw_argument_type type, uint64_t process, uint64_t number,
                          uint32_t name)
{
	struct tw_map *told = &tables->described->objects;
	const struct fxt_object object = object_of(tables, type, process, number);
	if (name == 0)
		return;
	if (told->count >= tables->described->objects_most)
		tw_map_clear(told);
	learn(told, object.own, name);
	if (object.all)
		learn(told, object.all, name);
}

/* A kernel object has no type: that is not known. */
static void put_object(struct fxt_tables *tables, uint64_t process, const struct tw_argument *argument)
{
	struct tw_output *out = &tables->writer->out;
	bool pointer = argument->type == TW_ARG_POINTER;
	struct fxt_string_ref name = fxt_string(tables, (uint32_t)argument->size);
	struct fxt_new_record record = fxt_record_begin(out, tables->big);
	fxt_put_word(&record, argument->value.u);
	if (pointer)
		fxt_put_word(&record, process);
	fxt_put_text(&record, &name);
	uint64_t type = pointer ? TW_FXT_TYPE_USERSPACE_OBJECT : TW_FXT_TYPE_KERNEL_OBJECT;
	fxt_record_end(out, &record, type | (uint64_t)name.reference << 24);
}

void fxt_describe_object(struct fxt_tables *tables, uint64_t process, const struct tw_argument *argument)
{
	enum tw_argument_type type = (enum tw_argument_type)argument->type;
	uint32_t name = (uint32_t)argument->size;
	if ((type != TW_ARG_POINTER && type != TW_ARG_KOID) || name == 0)
		return;
	const struct fxt_object object = object_of(tables, type, process, argument->value.u);
	if (fxt_object_name(&tables->described->objects, object) == name)
		return;
	put_object(tables, process, argument);
	fxt_note_object_name(tables, type, process, argument->value.u, name);
}
