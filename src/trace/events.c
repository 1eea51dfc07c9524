/* events.c - what traced code calls: events, durations, logs, blobs, objects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/session.h"

#include <string.h>
#include <unistd.h>

enum { BLOB_MOST = 32000 };

static struct trace_session *const session = &trace_session;

/* ---- Sites. ---- */

static void ask_about(struct tw_trace_site *site)
{
	uint32_t state = tw_trace_state;
	bool named = site->category || site->name;
	if (site->state == 0 && named && session->hooks.on_site)
		session->hooks.on_site(trace_text(site->category));
	bool wanted = atomic_load(&session->state) &&
	              (!named || trace_category_wanted(&session->options, trace_text(site->category)));
	if (wanted && named) {
		site->label = trace_label(site->category, site->name);
		memset(site->names, 0, sizeof site->names);
	}
	__atomic_store_n(&site->state, state + wanted, __ATOMIC_RELEASE);
}

int tw_trace_ask(struct tw_trace_site *site)
{
	uint32_t now = __atomic_load_n(&tw_trace_state, __ATOMIC_RELAXED);
	if (__builtin_expect(__atomic_load_n(&site->state, __ATOMIC_ACQUIRE) == now + 1, 1))
		return 1;
	trace_look_around();
	if (!trace_lock()) {
		trace_drop(NULL);
		return 0;
	}
	uint32_t state = __atomic_load_n(&site->state, __ATOMIC_ACQUIRE);
	if (state != tw_trace_state && state != tw_trace_state + 1)
		ask_about(site);
	state = __atomic_load_n(&site->state, __ATOMIC_RELAXED);
	bool on = state == tw_trace_state + 1;
	trace_unlock();
	return on;
}

/* Whether what a site knows is of the recording that a thread is in. */
static bool is_current(const struct tw_trace_site *site, const struct trace_thread *thread)
{
	return __atomic_load_n(&site->state, __ATOMIC_ACQUIRE) ==
	       atomic_load_explicit(&thread->state, memory_order_relaxed) + 1;
}

/* ---- Arguments. ---- */

/* An argument as it will be written. */
struct laid {
	uint32_t name;
	uint32_t words; /* 0: it is left out */
	uint64_t size;  /* of text and bytes */
};

static bool has_bytes(const struct tw_trace_argument *argument)
{
	return argument->type == TW_TRACE_TYPE_TEXT || argument->type == TW_TRACE_TYPE_BYTES;
}

static uint64_t size_of(const struct tw_trace_argument *argument)
{
	return argument->bytes ? argument->number : 0;
}

/* No character of UTF-8 is cut in two. */
static uint64_t cut_text(const struct tw_trace_argument *argument, uint64_t size)
{
	const uint8_t *text = argument->bytes;
	while (argument->type == TW_TRACE_TYPE_TEXT && size && (text[size] & 0xc0) == 0x80)
		size--;
	return size;
}

/* Lays out an argument in at most `left` words; 0 where it does not fit. */
static uint64_t lay(struct laid *laid, const struct tw_trace_argument *argument, uint64_t left, bool *cut)
{
	enum { HEAD = 2 };
	laid->size = 0;
	laid->words = argument->type == TW_TRACE_TYPE_NULL ? 1 : HEAD;
	if (has_bytes(argument) && left > HEAD) {
		uint64_t most = (left - HEAD) * IMAGE_WORD;
		most = most < BLOB_MOST ? most : BLOB_MOST;
		*cut |= size_of(argument) > most;
		laid->size = size_of(argument) > most ? cut_text(argument, most) : size_of(argument);
		laid->words += (uint32_t)image_words(laid->size);
	} else if (has_bytes(argument) && size_of(argument)) {
		laid->words = UINT32_MAX;
	}
	if (laid->words > left)
		*cut = true;
	return laid->words > left ? 0 : laid->words;
}

static uint64_t *put_argument(uint64_t *to, const struct tw_trace_argument *argument, const struct laid *laid)
{
	*to++ = argument->type | (uint64_t)laid->words << 4 | (uint64_t)laid->name << 32;
	if (argument->type != TW_TRACE_TYPE_NULL)
		*to++ = has_bytes(argument) ? laid->size : argument->number;
	if (laid->size) {
		uint64_t words = image_words(laid->size);
		to[words - 1] = 0;
		trace_copy(to, argument->bytes, laid->size);
		to += words;
	}
	return to;
}

/* The string of an argument's name, which a site remembers. Locks, unless that has been done. */
/* NOLINTNEXTLINE(readability-non-const-parameter): it is stored through by a builtin */
static uint32_t name_of(const struct tw_trace_argument *argument, uint32_t *kept, bool locked)
{
	uint32_t name = kept ? __atomic_load_n(kept, __ATOMIC_RELAXED) : 0;
	if (name || (!locked && !trace_lock()))
		return name;
	name = trace_string(argument->name);
	if (!locked)
		trace_unlock();
	if (kept)
		__atomic_store_n(kept, name, __ATOMIC_RELAXED);
	return name;
}

/* The arguments of a record. */
struct argument_list {
	struct laid laid[TW_TRACE_ARGUMENTS_MAX];
	const struct tw_trace_argument *arguments;
	size_t count, put; /* that are laid out, and that are not left out of these */
	uint64_t words;
};

/* Counts in the header. There is none where the recording was ended though this thread was in the middle of an
 * event. */
#define COUNT(member)                                                                                                  \
	do {                                                                                                           \
		struct image_header *header = __atomic_load_n(&session->header, __ATOMIC_RELAXED);                     \
		if (header)                                                                                            \
			atomic_fetch_add_explicit(&header->member, 1, memory_order_relaxed);                           \
	} while (0)

static void count_cut(void)
{
	COUNT(now.cut);
}

/* Lays out as many as fit into `left` words, and whose type there is; that others are left out is counted. */
static void lay_all(struct argument_list *list, const struct tw_trace_argument *arguments, size_t count, uint32_t *kept,
                    uint64_t left, bool locked)
{
	count = arguments ? count : 0;
	bool cut = count > TW_TRACE_ARGUMENTS_MAX;
	list->arguments = arguments;
	list->count = list->put = list->words = 0;
	for (size_t i = 0; i < count && i < TW_TRACE_ARGUMENTS_MAX; i++) {
		list->count++;
		list->laid[i].words = 0;
		if (arguments[i].type >= TW_TRACE_TYPE_END) {
			cut = true;
			continue;
		}
		uint64_t words = lay(&list->laid[i], &arguments[i], left - list->words, &cut);
		if (words == 0) {
			list->count--;
			break;
		}
		list->laid[i].name = name_of(&arguments[i], kept ? &kept[i] : NULL, locked);
		list->words += words;
		list->put++;
	}
	if (cut)
		count_cut();
}

static void put_all(uint64_t *to, const struct argument_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->laid[i].words)
			to = put_argument(to, &list->arguments[i], &list->laid[i]);
}

/* ---- Events. ---- */

/* An event to be written. */
struct event {
	unsigned kind;
	uint32_t label;
	uint64_t time, number; /* number: the end, the id, the scope */
	const struct tw_trace_argument *arguments;
	size_t count;
	uint32_t *names; /* that the site remembers; NULL: nobody does */
	uint32_t track;  /* 0: the thread's own */
};

static bool has_number(unsigned kind)
{
	return kind != TW_TRACE_KIND_BEGIN && kind != TW_TRACE_KIND_END;
}

/* What follows is another thread's. */
static uint64_t *put_owner(uint64_t *to, uint32_t thread)
{
	*to = image_word(IMAGE_OWNER, 1, 0, thread);
	return to + 1;
}

static void put_event(struct trace_thread *thread, struct trace_writer *writer, const struct event *event)
{
	enum { OWNERS = 2 };
	uint64_t fixed = has_number(event->kind) ? 3 : 2, beside = event->track ? OWNERS : 0;
	struct argument_list list;
	list.words = list.count = list.put = 0;
	if (event->count) {
		uint64_t left = trace_record_most() / IMAGE_WORD - fixed - beside;
		lay_all(&list, event->arguments, event->count, event->names, left, false);
	}
	uint64_t words = fixed + list.words, number = event->number;
	if (event->kind == TW_TRACE_KIND_INSTANT && number > TW_SCOPE_GLOBAL) {
		number = TW_SCOPE_THREAD;
		count_cut();
	}
	if (!trace_room(thread, writer, (words + beside) * IMAGE_WORD))
		return;
	uint64_t *to = (uint64_t *)(void *)writer->at;
	if (event->track)
		to = put_owner(to, event->track);
	to[0] = image_word(event->kind, words, list.put, event->label);
	to[1] = event->time;
	if (fixed > 2)
		to[2] = number;
	put_all(to + fixed, &list);
	if (event->track)
		put_owner(to + words, thread->number);
	trace_commit_event(writer, (words + beside) * IMAGE_WORD);
}

void tw_trace_event(struct tw_trace_site *site, unsigned kind, uint64_t number,
                    const struct tw_trace_argument *arguments, size_t count)
{
	struct trace_writer *writer;
	uint64_t time = trace_now();
	struct trace_thread *thread = trace_enter(&writer);
	if (!thread)
		return;
	if (!is_current(site, thread) || !site->label || kind >= IMAGE_EVENTS)
		trace_drop(thread);
	else
		put_event(thread, writer,
		          &(struct event){kind, site->label, time, number, arguments, count, site->names, 0});
	trace_leave(thread);
}

int tw_trace_enabled(const char *category)
{
	trace_look_around();
	if (!atomic_load_explicit(&session->state, memory_order_acquire) || !trace_lock())
		return 0;
	bool on = atomic_load(&session->state) != 0;
	bool wanted = on && (!category || trace_category_wanted(&session->options, category));
	trace_unlock();
	return wanted;
}

/* The label of an event that may be written; 0: it is not wanted, or could not be had, which is counted. */
static uint32_t label_of(const char *category, const char *name)
{
	uint32_t label = 0;
	trace_look_around();
	if (!atomic_load_explicit(&session->state, memory_order_acquire))
		return 0;
	if (!trace_lock()) {
		trace_drop(NULL);
		return 0;
	}
	if (atomic_load(&session->state) && trace_category_wanted(&session->options, trace_text(category))) {
		label = trace_label(category, name);
		if (!label)
			trace_drop(NULL);
	}
	trace_unlock();
	return label;
}

static void write_event(struct event *event, const char *category, const char *name)
{
	struct trace_writer *writer;
	trace_look_around();
	uint32_t state = atomic_load_explicit(&session->state, memory_order_acquire);
	event->label = label_of(category, name);
	struct trace_thread *thread = event->label ? trace_enter(&writer) : NULL;
	if (!thread)
		return;
	const uint32_t track = event->track ? trace_track_number(event->track, state) : 0;
	const bool sound = event->kind < IMAGE_EVENTS && (track || !event->track);
	event->track = track;
	if (sound && atomic_load_explicit(&thread->state, memory_order_relaxed) == state)
		put_event(thread, writer, event);
	else
		trace_drop(thread);
	trace_leave(thread);
}

void tw_trace_write(unsigned kind, const char *category, const char *name, uint64_t number,
                    const struct tw_trace_argument *arguments, size_t count)
{
	kind = kind == TW_TRACE_KIND_COMPLETE ? IMAGE_EVENTS : kind; /* it has no end */
	write_event(&(struct event){kind, 0, trace_now(), number, arguments, count, NULL, 0}, category, name);
}

/* NOLINTNEXTLINE(readability-function-size): all that an event has */
void tw_trace_write_at(uint32_t track, uint64_t time, uint64_t end, unsigned kind, const char *category,
                       const char *name, uint64_t number, const struct tw_trace_argument *arguments, size_t count)
{
	const bool complete = kind == TW_TRACE_KIND_COMPLETE;
	number = complete ? end : number;
	kind = complete && end < time ? IMAGE_EVENTS : kind;
	write_event(&(struct event){kind, 0, time, number, arguments, count, NULL, track}, category, name);
}

void tw_trace_alert(const char *category, const char *name)
{
	tw_trace_write(TW_TRACE_KIND_INSTANT, category, name, TW_SCOPE_PROCESS, NULL, 0);
	if (session->hooks.alerted)
		session->hooks.alerted(trace_text(name));
}

/* ---- Durations. ---- */

static const uint32_t NO_DEPTH = UINT32_MAX;

/* Keeps what is open where it outlives the process; not in a handler that may have come between the two stores. */
static uint32_t push(struct trace_thread *thread, uint32_t label, uint64_t begin)
{
	struct image_slot *slot = thread->slot;
	if (!slot || atomic_load_explicit(&thread->busy, memory_order_relaxed) > 1)
		return NO_DEPTH;
	uint32_t depth = atomic_load_explicit(&slot->depth, memory_order_relaxed);
	if (depth < IMAGE_DEPTH)
		slot->scopes[depth] = (struct image_scope){.begin = begin, .label = label};
	else
		COUNT(now.unkept);
	atomic_store_explicit(&slot->depth, depth + 1, memory_order_release);
	return depth;
}

void tw_trace_open(struct tw_trace_duration *duration, struct tw_trace_site *site,
                   const struct tw_trace_argument *arguments, size_t count)
{
	struct trace_writer *writer;
	struct trace_thread *thread = trace_enter(&writer);
	duration->site = NULL;
	if (!thread)
		return;
	if (is_current(site, thread) && site->label) {
		*duration = (struct tw_trace_duration){site, arguments, count, trace_now(), 0, 0};
		duration->state = atomic_load_explicit(&thread->state, memory_order_relaxed);
		duration->depth = push(thread, site->label, duration->begin);
	}
	trace_leave(thread);
}

void tw_trace_close(struct tw_trace_duration *duration)
{
	struct trace_writer *writer;
	struct tw_trace_site *site = duration->site;
	uint64_t end = trace_now();
	struct trace_thread *thread = site ? trace_enter(&writer) : NULL;
	if (!thread)
		return;
	if (atomic_load_explicit(&thread->state, memory_order_relaxed) == duration->state) {
		put_event(thread, writer,
		          &(struct event){TW_TRACE_KIND_COMPLETE, site->label, duration->begin, end,
		                          duration->arguments, duration->count, site->names, 0});
		if (duration->depth != NO_DEPTH && thread->slot)
			atomic_store_explicit(&thread->slot->depth, duration->depth, memory_order_release);
	}
	trace_leave(thread);
}

/* ---- All else. ---- */

/* Bytes behind a header of some words. */
static void put_bytes(uint64_t *to, size_t words, const void *bytes, size_t size)
{
	if (size == 0)
		return;
	to[words + image_words(size) - 1] = 0;
	trace_copy(to + words, bytes, size);
}

void tw_trace_log(const char *text, size_t size)
{
	enum { HEAD = 3 };
	struct trace_writer *writer;
	uint64_t time = trace_now();
	struct trace_thread *thread = trace_enter(&writer);
	if (!thread)
		return;
	uint64_t most = trace_record_most() - HEAD * IMAGE_WORD;
	most = most < BLOB_MOST ? most / IMAGE_WORD * IMAGE_WORD : BLOB_MOST;
	size = text ? size : 0;
	if (size > most) {
		const struct tw_trace_argument whole = {"", text, size, TW_TRACE_TYPE_TEXT};
		size = cut_text(&whole, most);
		count_cut();
	}
	uint64_t words = HEAD + image_words(size);
	if (trace_room(thread, writer, words * IMAGE_WORD)) {
		uint64_t *to = (uint64_t *)(void *)writer->at;
		to[0] = image_word(IMAGE_LOG, words, 0, 0);
		to[1] = time;
		to[2] = size;
		put_bytes(to, HEAD, text, size);
		trace_commit_event(writer, words * IMAGE_WORD);
	}
	trace_leave(thread);
}

void tw_trace_log_text(const char *text)
{
	tw_trace_log(text, text ? strlen(text) : 0);
}

static bool put_blob(struct trace_thread *thread, struct trace_writer *writer, uint32_t name, const void *bytes,
                     size_t size)
{
	enum { HEAD = 2 };
	uint64_t words = HEAD + image_words(size);
	if (!trace_room(thread, writer, words * IMAGE_WORD))
		return false;
	uint64_t *to = (uint64_t *)(void *)writer->at;
	to[0] = image_word(IMAGE_BLOB, words, 0, name);
	to[1] = size;
	put_bytes(to, HEAD, bytes, size);
	trace_commit_event(writer, words * IMAGE_WORD);
	return true;
}

void tw_trace_blob(const char *name, const void *bytes, size_t size)
{
	struct trace_writer *writer;
	struct trace_thread *thread = trace_enter(&writer);
	if (!thread)
		return;
	const struct tw_trace_argument named = {name, NULL, 0, TW_TRACE_TYPE_NULL};
	uint32_t string = name_of(&named, NULL, false);
	uint64_t most = trace_record_most() - 2 * IMAGE_WORD;
	most = most < BLOB_MOST ? most / IMAGE_WORD * IMAGE_WORD : BLOB_MOST;
	bool put = string != 0;
	size = bytes ? size : 0;
	bytes = bytes ? bytes : "";
	if (!put)
		trace_drop(thread);
	for (size_t at = 0, part; put && (at < size || at == 0); at += part ? part : 1) {
		part = size - at < most ? size - at : most;
		put = put_blob(thread, writer, string, (const uint8_t *)bytes + at, part);
	}
	trace_leave(thread);
}

void tw_trace_object(const void *pointer, const char *name, const struct tw_trace_argument *arguments, size_t count)
{
	enum { HEAD = 2, MOST = 4000 };
	struct argument_list list;
	trace_look_around();
	if (!atomic_load_explicit(&session->state, memory_order_acquire) || !trace_lock())
		return;
	if (atomic_load(&session->state)) {
		uint32_t string = trace_string(name);
		lay_all(&list, arguments, count, NULL, MOST, true);
		uint64_t words = HEAD + list.words, *to = string ? trace_durable_room(words) : NULL;
		if (to) {
			to[0] = image_word(IMAGE_OBJECT, words, list.put, string);
			to[1] = (uint64_t)(uintptr_t)pointer;
			put_all(to + HEAD, &list);
			trace_durable_put(words);
		} else {
			trace_drop(NULL);
		}
	}
	trace_unlock();
}

void tw_trace_thread_name(const char *name)
{
	trace_name_thread(name);
}

/* Where no track could be had its events are dropped, and counted: no track has the greatest number. */
static uint32_t track_or_none(uint32_t number)
{
	return number ? number : UINT32_MAX;
}

uint32_t tw_trace_track(const char *name)
{
	trace_look_around();
	if (!trace_lock())
		return track_or_none(0);
	uint32_t number = trace_track(name);
	trace_unlock();
	return track_or_none(number);
}

uint32_t tw_trace_vthread(const char *name, uint64_t id)
{
	trace_look_around();
	if (!trace_lock())
		return track_or_none(0);
	uint32_t number = trace_virtual_thread(name, id);
	trace_unlock();
	return track_or_none(number);
}

uint64_t tw_trace_now(void)
{
	return trace_now();
}

static uint64_t ticks_of(uint64_t ns, uint64_t rate)
{
	__extension__ typedef unsigned __int128 wide;
	return (uint64_t)((wide)ns * rate / 1000000000u);
}

uint64_t tw_trace_time(uint64_t monotonic_ns)
{
	if (session->clock == IMAGE_MONOTONIC || !trace_lock())
		return monotonic_ns;
	const struct image_pair from = session->times.pair;
	const uint64_t rate = session->times.ticks_per_second;
	trace_unlock();
	if (monotonic_ns < from.ns)
		return from.ticks - ticks_of(from.ns - monotonic_ns, rate);
	return from.ticks + ticks_of(monotonic_ns - from.ns, rate);
}
