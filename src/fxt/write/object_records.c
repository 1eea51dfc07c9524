/* object_records.c - objects to FXT records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/write/writer.h"

/* Objects of programs, which come and go: what is written of them has no time, and no thread. */
static bool has_lifetime(const struct fxt_writer *w, const struct tw_event *event)
{
	enum { NONE = 0 }; /* ZX_OBJ_TYPE_NONE, zircon/types.h: no kernel object has it */
	return w->foreign && event->value == NONE && !(event->flags & TW_FLAG_USERSPACE);
}

/* The track of the thread that tells of a userspace object; 0: its process is all that is known. */
static uint32_t teller_of(const struct fxt_writer *w, const struct tw_event *event)
{
	bool process = tw_dictionary_track(w->dictionary, event->track)->kind == TW_TRACK_PROCESS;
	return event->other || process ? event->other : event->track;
}

static void count_left_out(const struct fxt_writer *w, const struct tw_event *event, uint64_t thread)
{
	bool userspace = event->flags & TW_FLAG_USERSPACE;
	fxt_no_place(w, thread == 0 ? event->other : 0, "thread of an object");
	fxt_no_place(w, userspace ? event->value : 0, "object type");
	if (has_lifetime(w, event))
		fxt_loss(w, "object", true);
	fxt_no_place(w, event->category, "category");
}

/* Of a userspace object without a reference to a thread the process alone stands there, as the document has it. */
void fxt_put_object(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
{
	(void)as;
	struct tw_output *out = &w->writer->out;
	struct fxt_arguments list = {.count = 0};
	bool userspace = event->flags & TW_FLAG_USERSPACE;
	if (!userspace && fxt_was_described(w->tables, event, fxt_first_argument(w, event)))
		return;
	fxt_add_arguments(w, &list, event, 0);
	struct fxt_string_ref name = fxt_string(w->tables, event->name);
	uint64_t process = tw_dictionary_track(w->dictionary, event->track)->process;
	uint32_t teller = userspace ? teller_of(w, event) : 0;
	uint64_t thread = teller ? fxt_thread_index(w->tables, teller) : 0;
	uint64_t type = userspace ? 0 : fxt_limited(w, event->value, FXT_BYTE_MAX, "object type");
	uint64_t header =
	    userspace ? TW_FXT_TYPE_USERSPACE_OBJECT | thread << 16 : TW_FXT_TYPE_KERNEL_OBJECT | type << 16;
	struct fxt_new_record record = fxt_record_begin(out, w->tables->big);
	fxt_put_word(&record, event->id);
	if (userspace && thread == 0)
		fxt_put_word(&record, process);
	fxt_put_text(&record, &name);
	uint64_t count = fxt_put_arguments(w, &record, &list, 0);
	fxt_record_end(out, &record, header | (uint64_t)name.reference << 24 | count << 40);
	fxt_note_object_name(w->tables, userspace ? TW_ARG_POINTER : TW_ARG_KOID, process, event->id, event->name);
	count_left_out(w, event, thread);
}
