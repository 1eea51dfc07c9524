/* writer_records.c - events that become FXT records of their own: scheduling, logs, objects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/write/writer.h"

static bool has_argument(const struct fxt_writer *w, const struct tw_event *event, const char *text)
{
	for (unsigned i = 0; i < event->argument_count; i++) {
		uint32_t name = w->arguments[event->first_argument + i].name;
		if (strcmp(tw_dictionary_name(w->intern->dictionary, name)->text, text) == 0)
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
	struct tw_output *out = &w->writer->out;
	const struct tw_argument *priorities = fxt_first_argument(w, event);
	uint64_t leaves = fxt_thread_index(w->intern, event->track), comes = fxt_thread_index(w->intern, event->other);
	struct fxt_put put = fxt_put_begin(out, w->intern->big);
	fxt_put_word(&put, fxt_ticks_of(w, event->time));
	if (leaves == 0)
		fxt_put_koids(w, &put, event->track);
	if (comes == 0)
		fxt_put_koids(w, &put, event->other);
	fxt_put_end(out, &put,
	            TW_FXT_TYPE_SCHEDULING | (uint64_t)event->cpu << 16 | state << 24 | leaves << 28 | comes << 36 |
	                priorities[0].value.u << 44 | priorities[1].value.u << 52);
}

/* A thread of which only scheduling is known may be of a process that comes later: then a thread record would be wrong,
 * and the koid in the scheduling record is all that there is to tell. */
static void meet_scheduled(struct fxt_writer *w, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(w->intern->dictionary, number);
	if (track->process || track->name || track->kind != TW_TRACK_THREAD)
		fxt_thread_index(w->intern, number);
}

/* The document, "Context switch record" and "Thread wakeup record": one koid more or less, and the state. */
static void put_scheduling(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape,
                           uint64_t state)
{
	struct tw_output *out = &w->writer->out;
	struct fxt_items items = {.count = 0};
	bool wakeup = event->kind == TW_WAKEUP;
	fxt_add_arguments(w, &items, event, 0);
	meet_scheduled(w, event->track);
	if (event->other)
		meet_scheduled(w, event->other);
	uint64_t other = fxt_koids_of(w->intern, event->other).thread;
	if (wakeup && event->other && !has_argument(w, event, "waker"))
		fxt_add_made(w, &items, FXT_OWN_WAKER, TW_ARG_KOID, other);
	struct fxt_put put = fxt_put_begin(out, w->intern->big);
	fxt_put_word(&put, fxt_ticks_of(w, event->time));
	fxt_put_word(&put, fxt_koids_of(w->intern, event->track).thread);
	if (!wakeup)
		fxt_put_word(&put, other);
	uint64_t count = fxt_put_items(w, &put, &items, 0);
	fxt_put_end(out, &put, fxt_scheduling_header(shape->kind, event->cpu, state, count));
}

void fxt_put_scheduling(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape)
{
	uint64_t state = event->kind == TW_WAKEUP ? 0 : fxt_limited(w, event->value, FXT_STATE_MAX, "thread state");
	if (is_legacy(w, event))
		put_legacy(w, event, state);
	else
		put_scheduling(w, event, shape, state);
	fxt_no_place(w, event->name, "name");
	fxt_no_place(w, event->category, "category");
}

/* The message is the first argument, where that is a text; otherwise the name. Returns its bytes and *size. */
static const char *message_of(struct fxt_writer *w, const struct tw_event *event, size_t *size)
{
	const struct tw_argument *first = fxt_first_argument(w, event);
	const struct tw_name *name = tw_dictionary_name(w->intern->dictionary, event->name);
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

void fxt_put_log(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape)
{
	(void)shape;
	struct tw_output *out = &w->writer->out;
	size_t size;
	const char *message = message_of(w, event, &size);
	uint64_t thread = fxt_thread_index(w->intern, event->track);
	struct fxt_put put = fxt_put_begin(out, w->intern->big);
	fxt_put_word(&put, fxt_ticks_of(w, event->time));
	if (thread == 0)
		fxt_put_koids(w, &put, event->track);
	fxt_put_stream(&put, message, size);
	fxt_put_end(out, &put, TW_FXT_TYPE_LOG | (uint64_t)size << 16 | thread << 32);
	fxt_no_place(w, event->value, "severity");
	fxt_no_place(w, event->category, "category");
}

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
void fxt_put_object(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape)
{
	(void)shape;
	struct tw_output *out = &w->writer->out;
	struct fxt_items items = {.count = 0};
	bool userspace = event->flags & TW_FLAG_USERSPACE;
	if (!userspace && fxt_described_ahead(w->intern, event, fxt_first_argument(w, event)))
		return;
	fxt_add_arguments(w, &items, event, 0);
	struct fxt_label name = fxt_label(w->intern, event->name);
	uint64_t process = tw_dictionary_track(w->dictionary, event->track)->process;
	uint32_t teller = userspace ? teller_of(w, event) : 0;
	uint64_t thread = teller ? fxt_thread_index(w->intern, teller) : 0;
	uint64_t type = userspace ? 0 : fxt_limited(w, event->value, FXT_BYTE_MAX, "object type");
	uint64_t header =
	    userspace ? TW_FXT_TYPE_USERSPACE_OBJECT | thread << 16 : TW_FXT_TYPE_KERNEL_OBJECT | type << 16;
	struct fxt_put put = fxt_put_begin(out, w->intern->big);
	fxt_put_word(&put, event->id);
	if (userspace && thread == 0)
		fxt_put_word(&put, process);
	fxt_put_label(&put, &name);
	uint64_t count = fxt_put_items(w, &put, &items, 0);
	fxt_put_end(out, &put, header | (uint64_t)name.reference << 24 | count << 40);
	fxt_object_told(w->intern, userspace ? TW_ARG_POINTER : TW_ARG_KOID, process, event->id, event->name);
	count_left_out(w, event, thread);
}
