/* system_records.c - context switches, wake-ups, logs and objects to FXT records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/write/writer.h"

/* ---- Scheduling and logs ---- */

static bool has_argument(const struct fxt_writer *w, const struct tw_event *event, const char *text)
{
	for (unsigned i = 0; i < event->argument_count; i++) {
		uint32_t name = w->arguments[event->first_argument + i].name;
		if (strcmp(tw_dictionary_name(w->dictionary, name)->text, text) == 0)
			return true;
	}
	return false;
}

static bool is_legacy(const struct fxt_writer *w, const struct tw_event *event)
{
	static const struct fxt_field priorities[] = {{"outgoing_priority", TW_ARG_UINT, FXT_BYTE_MAX},
	                                              {"incoming_priority", TW_ARG_UINT, FXT_BYTE_MAX}};
	return event->kind == TW_SWITCH && fxt_has_fields(w, event, priorities, 2, 0) && event->cpu <= FXT_BYTE_MAX;
}

/* The document, "Context switch record (legacy)": threads as references, and their priorities. */
static void put_legacy(struct fxt_writer *w, const struct tw_event *event, uint64_t state)
{
	const struct tw_argument *priorities = fxt_first_argument(w, event);
	uint64_t leaves = fxt_thread_index(w->tables, event->track), comes = fxt_thread_index(w->tables, event->other);
	struct fxt_new_record record = fxt_begin_timed(w, event, leaves);
	if (comes == 0)
		fxt_put_koids(w, &record, event->other);
	fxt_record_end(&w->writer->out, &record,
	               TW_FXT_TYPE_SCHEDULING | (uint64_t)event->cpu << 16 | state << 24 | leaves << 28 | comes << 36 |
	                   priorities[0].value.u << 44 | priorities[1].value.u << 52);
}

/* A thread of which only scheduling is known may be of a process that comes later: then a thread record would be wrong,
 * and the koid in the scheduling record is all that there is to tell. */
static void add_scheduled(struct fxt_writer *w, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(w->dictionary, number);
	if (track->process || track->name || track->kind != TW_TRACK_THREAD)
		fxt_thread_index(w->tables, number);
}

/* The document, "Context switch record" and "Thread wakeup record": one koid more or less, and the state. */
static void put_switch(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as,
                       uint64_t state)
{
	struct fxt_arguments list;
	bool wakeup = event->kind == TW_WAKEUP;
	list.count = list.own_count = 0;
	fxt_add_arguments(w, &list, event, 0);
	add_scheduled(w, event->track);
	if (event->other)
		add_scheduled(w, event->other);
	uint64_t other = fxt_koids_of(w->tables, event->other).thread;
	if (wakeup && event->other && !has_argument(w, event, "waker"))
		fxt_add_own_argument(w, &list, FXT_OWN_WAKER, TW_ARG_KOID, other);
	struct fxt_new_record record = fxt_record_begin(&w->writer->out, w->tables->big);
	fxt_put_word(&record, fxt_ticks_of(w, event->time));
	fxt_put_word(&record, fxt_koids_of(w->tables, event->track).thread);
	if (!wakeup)
		fxt_put_word(&record, other);
	uint64_t count = fxt_put_arguments(w, &record, &list, 0);
	fxt_record_end(&w->writer->out, &record,
	               TW_FXT_TYPE_SCHEDULING | count << 16 | (uint64_t)event->cpu << 20 | state << 36 |
	                   (uint64_t)(as->kind - TW_FXT_LEGACY_CONTEXT_SWITCH) << 60);
}

void fxt_put_scheduling(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
{
	uint64_t state = event->kind == TW_WAKEUP ? 0 : fxt_limited(w, event->value, FXT_STATE_MAX, "thread state");
	if (is_legacy(w, event))
		put_legacy(w, event, state);
	else
		put_switch(w, event, as, state);
	fxt_no_place(w, event->name, "name");
	fxt_no_place(w, event->category, "category");
}

/* The message is the first argument, where that is a text; otherwise the name. Returns its bytes and *size. */
static const char *message_of(struct fxt_writer *w, const struct tw_event *event, size_t *size)
{
	const struct tw_argument *first = fxt_first_argument(w, event);
	const struct tw_name *name = tw_dictionary_name(w->dictionary, event->name);
	bool is_first = first && first->type >= TW_ARG_TEXT;
	const char *text = is_first ? (const char *)first->value.bytes : name->text;
	size_t whole = is_first ? (size_t)first->size : name->length;
	for (unsigned i = is_first; i < event->argument_count; i++)
		fxt_loss(w, "argument", false);
	if (is_first)
		fxt_no_place(w, event->name, "name");
	if (whole > TW_FXT_STRING_MAX)
		fxt_loss(w, "long string", true);
	*size = fxt_cut_text(text, whole, TW_FXT_STRING_MAX);
	return text;
}

void fxt_put_log(struct fxt_writer *w, const struct tw_event *event, const struct fxt_written_kind *as)
{
	(void)as;
	size_t size;
	const char *message = message_of(w, event, &size);
	uint64_t thread = fxt_thread_index(w->tables, event->track);
	struct fxt_new_record record = fxt_begin_timed(w, event, thread);
	fxt_put_stream(&record, message, size);
	fxt_record_end(&w->writer->out, &record, TW_FXT_TYPE_LOG | (uint64_t)size << 16 | thread << 32);
	fxt_no_place(w, event->value, "severity");
	fxt_no_place(w, event->category, "category");
}

/* ---- Objects ---- */

/* Objects of programs, which come and go: what is written of them has no time, and no thread. */
static bool has_lifetime(const struct fxt_writer *w, const struct tw_event *event)
{
	enum { NONE = 0 }; /* ZX_OBJ_TYPE_NONE, zircon/types.h: no kernel object has it */
	return w->foreign && event->value == NONE && !(event->flags & TW_FLAG_USERSPACE);
}

/* The track of the thread that states a userspace object; 0: its process is all that is known. */
static uint32_t thread_track_of(const struct fxt_writer *w, const struct tw_event *event)
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
	uint32_t track = userspace ? thread_track_of(w, event) : 0;
	uint64_t thread = track ? fxt_thread_index(w->tables, track) : 0;
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
