/* iterator.c - the events of a trace as messages: the stream begins, its events in order of time, it ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "babeltrace/event.h"
#include "babeltrace/source.h"

#include <stdlib.h>
#include <string.h>

static const int64_t SECOND = 1000000000;

enum stage { STAGE_BEGIN, STAGE_EVENTS, STAGE_DONE };

struct iterator {
	bt_self_message_iterator *self;
	struct tw_babel_input *input;
	struct tw_reader *reader;
	struct tw_batch batch;
	size_t at; /* the next event of the batch */
	enum stage stage;
	int status;     /* of the last tw_read() */
	bool no_memory; /* for a message */
	struct tw_babel_classes classes;
	bt_trace *trace;
	bt_stream *stream;
	uint64_t last, latest; /* the time of the last event; the latest that the clock of babeltrace2 can tell */
	uint64_t raised;       /* events whose time was before that of the last one */
	struct tw_babel_shape shape;
	struct tw_babel_filler filler;
};

static bt_self_component *component_of(const struct iterator *iterator)
{
	return bt_self_component_source_as_self_component(iterator->input->source->self);
}

/* ---- The stream. ---- */

/* Whether the trace tells the wall time of its start, and it is one. */
static bool knows_wall(const struct tw_clock *clock)
{
	int64_t start;
	return clock->has_wall && clock->start_ns <= INT64_MAX &&
	       !__builtin_add_overflow(clock->wall_ns, (int64_t)clock->start_ns, &start) && start >= 0;
}

/* The clock is the trace's own, in nanoseconds, moved to wall time where that is known. */
static bt_clock_class *make_clock(struct iterator *iterator)
{
	const struct tw_clock *clock = tw_reader_clock(iterator->reader);
	const bool known = knows_wall(clock);
	const int64_t wall = known ? clock->wall_ns : 0;
	const int64_t behind = (wall % SECOND + SECOND) % SECOND;
	bt_clock_class *made = bt_clock_class_create(component_of(iterator));
	if (!made)
		return NULL;
	iterator->latest = (uint64_t)(INT64_MAX - (wall > 0 ? wall : 0) - SECOND);
	bt_clock_class_set_frequency(made, (uint64_t)SECOND);
	bt_clock_class_set_offset(made, (wall - behind) / SECOND, (uint64_t)behind);
	bt_clock_class_set_origin_is_unix_epoch(made, known && !clock->since_boot);
	return made;
}

static bool set_clock(struct iterator *iterator)
{
	bt_clock_class *clock = make_clock(iterator);
	bool done = clock && bt_stream_class_set_default_clock_class(iterator->classes.stream, clock) ==
	                         BT_STREAM_CLASS_SET_DEFAULT_CLOCK_CLASS_STATUS_OK;
	if (clock)
		bt_clock_class_put_ref(clock);
	return done;
}

/* Of a trace: the file's, since sinks make folders of it. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* Makes the stream, whose clock is known with the first batch. */
static bool make_stream(struct iterator *iterator)
{
	struct tw_babel_classes *classes = &iterator->classes;
	classes->trace = bt_trace_class_create(component_of(iterator));
	classes->stream = classes->trace ? bt_stream_class_create(classes->trace) : NULL;
	if (!classes->stream || !set_clock(iterator))
		return false;
	iterator->trace = bt_trace_create(classes->trace);
	if (!iterator->trace ||
	    bt_trace_set_name(iterator->trace, name_of(iterator->input->path)) != BT_TRACE_SET_NAME_STATUS_OK)
		return false;
	iterator->stream = bt_stream_create(classes->stream, iterator->trace);
	return iterator->stream;
}

/* ---- Events. ---- */

/* Times of a stream may not go back. */
static uint64_t time_of(struct iterator *iterator, const struct tw_event *event)
{
	uint64_t time = event->time < iterator->latest ? event->time : iterator->latest;
	if (time < iterator->last) {
		iterator->raised++;
		time = iterator->last;
	}
	return iterator->last = time;
}

static bt_message *make_event(struct iterator *iterator, const struct tw_event *event)
{
	tw_babel_shape_of(&iterator->filler, event, &iterator->shape);
	const bt_event_class *class =
	    tw_babel_class_of(&iterator->classes, iterator->filler.cells.dictionary, &iterator->shape);
	bt_message *message =
	    class ? bt_message_event_create_with_default_clock_snapshot(iterator->self, class, iterator->stream,
	                                                                time_of(iterator, event))
		  : NULL;
	if (message &&
	    !tw_babel_fill(&iterator->filler, event, &iterator->shape, bt_message_event_borrow_event(message))) {
		bt_message_put_ref(message);
		return NULL;
	}
	return message;
}

/* Reads on where all events of the batch are delivered, until there is one of a kind that is known. */
static const struct tw_event *next_event(struct iterator *iterator)
{
	while (iterator->status >= 0) {
		while (iterator->at < iterator->batch.count) {
			const struct tw_event *event = &iterator->batch.events[iterator->at++];
			if (event->kind < TW_EVENT_KINDS)
				return event;
		}
		iterator->at = iterator->batch.count = 0;
		iterator->status = tw_read(iterator->reader, &iterator->batch);
		if (iterator->status <= 0)
			return NULL;
		tw_cells_meet(&iterator->filler.cells, iterator->reader, &iterator->batch);
	}
	return NULL;
}

/* ---- Messages. ---- */

static void report_raised(const struct iterator *iterator)
{
	if (iterator->raised)
		tw_babel_log(iterator->input->source, BT_LOGGING_LEVEL_WARNING,
		             "%s: events with a time before that of the event before, which have that one: %llu",
		             iterator->input->path, (unsigned long long)iterator->raised);
}

/* The next message; NULL where there is none, at the end and after a failure. */
static bt_message *make_message(struct iterator *iterator)
{
	const struct tw_event *event = NULL;
	switch (iterator->stage) {
	case STAGE_BEGIN:
		if (next_event(iterator))
			iterator->at--;
		else if (iterator->status < 0)
			return NULL;
		iterator->stage = STAGE_EVENTS;
		return make_stream(iterator) ? bt_message_stream_beginning_create(iterator->self, iterator->stream)
		                             : NULL;
	case STAGE_EVENTS:
		event = next_event(iterator);
		if (event)
			return make_event(iterator, event);
		if (iterator->status < 0)
			return NULL;
		report_raised(iterator);
		iterator->stage = STAGE_DONE;
		return bt_message_stream_end_create(iterator->self, iterator->stream);
	case STAGE_DONE:
		return NULL;
	}
	return NULL;
}

static bt_message_iterator_class_next_method_status fail(struct iterator *iterator)
{
	const char *text =
	    iterator->status < 0 && iterator->reader ? tw_reader_error(iterator->reader) : "out of memory";
	bt_current_thread_error_append_cause_from_message_iterator(iterator->self, __FILE__, __LINE__, "%s", text);
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

/* What was made before a failure is delivered first: the failure is met again. */
bt_message_iterator_class_next_method_status tw_babel_next(bt_self_message_iterator *self,
                                                           bt_message_array_const messages, uint64_t capacity,
                                                           uint64_t *count)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);
	*count = 0;
	while (*count < capacity && iterator->stage != STAGE_DONE && !iterator->no_memory) {
		bt_message *message = make_message(iterator);
		iterator->no_memory = !message && iterator->status >= 0;
		if (!message)
			break;
		messages[(*count)++] = message;
	}
	if (*count)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	return iterator->stage == STAGE_DONE ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END : fail(iterator);
}

/* ---- Begin and end. ---- */

/* Frees all that was made of the trace. */
static void clear(struct iterator *iterator)
{
	tw_babel_filler_free(&iterator->filler);
	if (iterator->stream)
		bt_stream_put_ref(iterator->stream);
	if (iterator->trace)
		bt_trace_put_ref(iterator->trace);
	tw_babel_classes_free(&iterator->classes);
	tw_close(iterator->reader);
}

static void free_iterator(struct iterator *iterator)
{
	clear(iterator);
	free(iterator);
}

/* Opens the trace: of an iterator that has nothing but `self` and `input`. */
static bool open_trace(struct iterator *iterator)
{
	tw_babel_filler_init(&iterator->filler);
	iterator->status = tw_babel_open(iterator->input, &iterator->reader);
	if (iterator->status < 0)
		fail(iterator);
	return iterator->status >= 0;
}

bt_message_iterator_class_initialize_method_status tw_babel_begin(bt_self_message_iterator *self,
                                                                  bt_self_message_iterator_configuration *configuration,
                                                                  bt_self_component_port_output *port)
{
	struct iterator *iterator = calloc(1, sizeof *iterator);
	if (!iterator)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	iterator->self = self;
	iterator->input = bt_self_component_port_get_data(bt_self_component_port_output_as_self_component_port(port));
	if (!open_trace(iterator)) {
		free_iterator(iterator);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	/* babeltrace2 goes to a time by reading on from the beginning. */
	bt_self_message_iterator_configuration_set_can_seek_forward(configuration, BT_TRUE);
	bt_self_message_iterator_set_data(self, iterator);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void tw_babel_end(bt_self_message_iterator *self)
{
	free_iterator(bt_self_message_iterator_get_data(self));
}

/* Standard input is there once. */
bt_message_iterator_class_can_seek_beginning_method_status tw_babel_can_restart(bt_self_message_iterator *self,
                                                                                bt_bool *can)
{
	const struct iterator *iterator = bt_self_message_iterator_get_data(self);
	*can = iterator->stage == STAGE_BEGIN || strcmp(iterator->input->path, "-") != 0;
	return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_BEGINNING_METHOD_STATUS_OK;
}

/* What begins again is another trace with classes of its own: its names may have other numbers. */
bt_message_iterator_class_seek_beginning_method_status tw_babel_restart(bt_self_message_iterator *self)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);
	if (iterator->stage == STAGE_BEGIN && iterator->status >= 0)
		return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
	clear(iterator);
	*iterator = (struct iterator){.self = self, .input = iterator->input};
	return open_trace(iterator) ? BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK
	                            : BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_ERROR;
}
