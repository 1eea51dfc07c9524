/* writer_records.c - events that become FXT records of their own: scheduling, samples, logs, objects, losses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/writer.h"

enum {
	EVENT_RECORDS_DROPPED = 0, /* the document, "Provider event metadata" */
	STATE_MAX = 15
};

static bool has_argument(const struct fxt_writer *w, const struct tw_event *event, const char *text)
{
	for (unsigned i = 0; i < event->argument_count; i++) {
		uint32_t name = w->arguments[event->first_argument + i].name;
		if (strcmp(tw_dictionary_name(w->intern->dictionary, name)->text, text) == 0)
			return true;
	}
	return false;
}

/* The document, "Context switch record" and "Thread wakeup record": one koid more or less, and the state. */
void fxt_put_scheduling(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape)
{
	struct tw_output *out = &w->writer->out;
	struct fxt_items items = {.count = 0};
	bool wakeup = event->kind == TW_WAKEUP;
	fxt_add_arguments(w, &items, event, 0);
	fxt_thread_index(w->intern, event->track);
	if (event->other)
		fxt_thread_index(w->intern, event->other);
	uint64_t other = fxt_koids_of(w->intern, event->other).thread;
	if (wakeup && event->other && !has_argument(w, event, "waker"))
		fxt_add_made(w, &items, FXT_OWN_WAKER, TW_ARG_KOID, other);
	uint64_t state = wakeup ? 0 : fxt_limited(w, event->value, STATE_MAX, "thread state");
	struct fxt_put put = fxt_put_begin(out, w->intern->big);
	fxt_put_word(&put, fxt_ticks_of(w, event->time));
	fxt_put_word(&put, fxt_koids_of(w->intern, event->track).thread);
	if (!wakeup)
		fxt_put_word(&put, other);
	uint64_t count = fxt_put_items(w, &put, &items, 0);
	fxt_put_end(out, &put, fxt_scheduling_header(shape->kind, event->cpu, state, count));
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

/* Of a userspace object with an inline thread the process alone stands there, as the document has it. */
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
	uint64_t thread = userspace ? fxt_thread_index(w->intern, event->track) : 0;
	uint64_t type = userspace ? 0 : fxt_limited(w, event->value, FXT_BYTE_MAX, "object type");
	struct fxt_put put = fxt_put_begin(out, w->intern->big);
	fxt_put_word(&put, event->id);
	if (userspace && thread == 0)
		fxt_put_word(&put, fxt_koids_of(w->intern, event->track).process);
	fxt_put_label(&put, &name);
	uint64_t count = fxt_put_items(w, &put, &items, 0);
	uint64_t header =
	    userspace ? TW_FXT_TYPE_USERSPACE_OBJECT | thread << 16 : TW_FXT_TYPE_KERNEL_OBJECT | type << 16;
	fxt_put_end(out, &put, header | (uint64_t)name.reference << 24 | count << 40);
	fxt_no_place(w, userspace ? event->value : 0, "object type");
	if (has_lifetime(w, event))
		fxt_loss(w, "object", true);
	fxt_no_place(w, event->category, "category");
}

static bool are_addresses(const struct tw_argument *arguments, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (arguments[i].type != TW_ARG_POINTER)
			return false;
	return count > 0;
}

/* A backtrace of the newest Fuchsia sources, where the arguments are addresses. */
void fxt_put_sample(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape)
{
	struct tw_output *out = &w->writer->out;
	const struct tw_argument *addresses = fxt_first_argument(w, event);
	if (!are_addresses(addresses, event->argument_count)) {
		fxt_put_stand_in(w, event, shape);
		return;
	}
	uint64_t thread = fxt_thread_index(w->intern, event->track), count = event->argument_count;
	struct fxt_put put = fxt_put_begin(out, w->intern->big);
	fxt_put_word(&put, fxt_ticks_of(w, event->time));
	if (thread == 0)
		fxt_put_koids(w, &put, event->track);
	for (unsigned i = 0; i < event->argument_count; i++)
		fxt_put_word(&put, addresses[i].value.u);
	uint64_t backtrace = TW_FXT_PROFILER_BACKTRACE - TW_FXT_PROFILER_MODULE;
	fxt_put_end(out, &put, TW_FXT_TYPE_PROFILER | backtrace << 16 | thread << 20 | count << 28);
	fxt_no_place(w, event->name, "name");
	fxt_no_place(w, event->category, "category");
	fxt_no_place(w, event->value > 1, "weight");
}

/* Returns the provider whose records were dropped: the one whose id is the event's argument, or else the event's
 * own. */
static unsigned loser(const struct fxt_writer *w, const struct tw_event *event)
{
	const struct tw_argument *first = fxt_first_argument(w, event);
	uint32_t number = first && first->type == TW_ARG_UINT ? tw_dictionary_providers(w->dictionary) : 0;
	if (number && tw_dictionary_provider(w->dictionary, event->provider)->id == first->value.u)
		return event->provider;
	while (number > 1)
		if (tw_dictionary_provider(w->dictionary, --number)->id == first->value.u)
			return number;
	return event->provider;
}

void fxt_put_lost(struct fxt_writer *w, const struct tw_event *event, const struct fxt_shape *shape)
{
	const struct tw_name *name = tw_dictionary_name(w->intern->dictionary, event->name);
	if (strcmp(name->text, "records dropped") != 0) {
		fxt_put_stand_in(w, event, shape);
		return;
	}
	if (!fxt_turn_to(w, loser(w, event))) {
		fxt_loss(w, tw_event_kind_name(TW_LOST), false);
		return;
	}
	uint64_t type = TW_FXT_PROVIDER_EVENT - TW_FXT_PROVIDER_INFO + 1, id = w->sections[w->provider]->id;
	struct fxt_put put = fxt_put_begin(&w->writer->out, w->intern->big);
	fxt_put_end(&w->writer->out, &put,
	            TW_FXT_TYPE_METADATA | type << 16 | id << 20 | (uint64_t)EVENT_RECORDS_DROPPED << 52);
	fxt_no_place(w, event->value, "bytes of a loss");
}
