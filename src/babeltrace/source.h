/* source.h - a component of babeltrace2 that reads traces: a port for each file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BABELTRACE_SOURCE_H
#define BABELTRACE_SOURCE_H

#include <trackway/reader.h>
#include <trackway/symbols.h>

#include <babeltrace2/babeltrace.h>

/* A file of the component's parameters: its port's data. */
struct tw_babel_input {
	struct tw_babel_source *source;
	char *path;
	struct tw_reader *reader;   /* opened with the component; NULL: the first iterator has it */
	struct tw_symbols *symbols; /* of the programs that the trace tells; NULL: the parameter `program` is given */
};

struct tw_babel_source {
	bt_self_component_source *self;
	struct tw_symbols *symbols; /* of the parameter `program`; NULL: there is none */
	struct tw_read_options options;
	struct tw_babel_input *inputs;
	size_t count;
};

/* The methods of the component class. */
bt_component_class_initialize_method_status tw_babel_initialize(bt_self_component_source *self,
                                                                bt_self_component_source_configuration *configuration,
                                                                const bt_value *params, void *data);
void tw_babel_finalize(bt_self_component_source *self);

/* Opens the file of an input for an iterator, which closes the reader. Returns what tw_open() returns. */
int tw_babel_open(struct tw_babel_input *input, struct tw_reader **reader);

/* A line of the component's log. */
void tw_babel_log(const struct tw_babel_source *source, bt_logging_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The methods of its iterators. */
bt_message_iterator_class_initialize_method_status tw_babel_begin(bt_self_message_iterator *self,
                                                                  bt_self_message_iterator_configuration *configuration,
                                                                  bt_self_component_port_output *port);
bt_message_iterator_class_next_method_status tw_babel_next(bt_self_message_iterator *self,
                                                           bt_message_array_const messages, uint64_t capacity,
                                                           uint64_t *count);
void tw_babel_end(bt_self_message_iterator *self);
bt_message_iterator_class_can_seek_beginning_method_status tw_babel_can_restart(bt_self_message_iterator *self,
                                                                                bt_bool *can);
bt_message_iterator_class_seek_beginning_method_status tw_babel_restart(bt_self_message_iterator *self);

#endif
