/* source.c - the component: its parameters, its ports and its log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "babeltrace/source.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The log. ---- */

static const bt_component *component_of(const struct tw_babel_source *source)
{
	return bt_self_component_as_component(bt_self_component_source_as_self_component(source->self));
}

void tw_babel_log(const struct tw_babel_source *source, bt_logging_level level, const char *format, ...)
{
	const bt_component *component = component_of(source);
	char text[1 << 10];
	va_list values;
	if (level < bt_component_get_logging_level(component))
		return;
	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	fprintf(stderr, "%s PLUGIN/SRC.TRACKWAY.TRACE [%s] %s\n", level >= BT_LOGGING_LEVEL_WARNING ? "W" : "I",
	        bt_component_get_name(component), text);
}

static void take_finding(void *context, const struct tw_finding *finding)
{
	bt_logging_level level = finding->severity == TW_NOTE ? BT_LOGGING_LEVEL_INFO : BT_LOGGING_LEVEL_WARNING;
	char place[sizeof ":0x:" + 2 * 20];
	if (finding->line)
		snprintf(place, sizeof place, "%" PRIu64 ":%" PRIu64, finding->line, finding->column);
	else
		snprintf(place, sizeof place, "0x%" PRIx64, finding->at);
	tw_babel_log(context, level, "%s:%s: %s: %s [%s]", finding->file, place, tw_severity_name(finding->severity),
	             finding->text, finding->rule);
}

/* ---- Failure. ---- */

static bool fail(struct tw_babel_source *source, const char *text)
{
	bt_current_thread_error_append_cause_from_component(bt_self_component_source_as_self_component(source->self),
	                                                    __FILE__, __LINE__, "%s", text);
	return false;
}

/* ---- Parameters. ---- */

static const bt_value *parameter(const bt_value *params, const char *name)
{
	return bt_value_map_borrow_entry_value_const(params, name);
}

static bool open_program(struct tw_babel_source *source, const bt_value *program)
{
	if (!program)
		return true;
	if (!bt_value_is_string(program))
		return fail(source, "the parameter `program` is no text");
	if (tw_symbols_open(&source->symbols, bt_value_string_get(program)) < 0)
		return fail(source, source->symbols ? tw_symbols_error(source->symbols) : "out of memory");
	source->options.namer = tw_symbols_namer(source->symbols);
	return true;
}

static bool is_inputs(const bt_value *inputs)
{
	if (!inputs || !bt_value_is_array(inputs) || bt_value_array_get_length(inputs) == 0)
		return false;
	for (uint64_t i = 0; i < bt_value_array_get_length(inputs); i++)
		if (!bt_value_is_string(bt_value_array_borrow_element_by_index_const(inputs, i)))
			return false;
	return true;
}

static bool add_port(struct tw_babel_source *source, struct tw_babel_input *input, size_t number)
{
	char name[sizeof "trace" + 20];
	snprintf(name, sizeof name, "trace%zu", number);
	return bt_self_component_source_add_output_port(source->self, name, input, NULL) ==
	           BT_SELF_COMPONENT_ADD_PORT_STATUS_OK ||
	       fail(source, "no port for a trace");
}

static int open_reader(const struct tw_babel_input *input, struct tw_reader **reader)
{
	struct tw_read_options options = input->source->options;
	if (input->symbols) {
		options.namer = tw_symbols_namer(input->symbols);
		options.thread_namers = tw_symbols_thread_namers(input->symbols);
	}
	return tw_open(reader, input->path, &options);
}

/* False when there is no memory. */
static bool name_input(struct tw_babel_input *input)
{
	if (input->source->symbols)
		return true;
	if (tw_symbols_new(&input->symbols) < 0)
		return false;
	const int missing = tw_symbols_add_trace(input->symbols, input->path);
	if (missing != 0 && missing != TW_ERR_MEMORY)
		tw_babel_log(input->source, BT_LOGGING_LEVEL_WARNING, "%s: names are missing: %s", input->path,
		             tw_symbols_error(input->symbols));
	return missing != TW_ERR_MEMORY;
}

static bool add_input(struct tw_babel_source *source, const char *path)
{
	struct tw_babel_input *input = &source->inputs[source->count++];
	*input = (struct tw_babel_input){.source = source, .path = strdup(path)};
	if (!input->path || !name_input(input))
		return fail(source, "out of memory");
	if (open_reader(input, &input->reader) < 0)
		return fail(source, input->reader ? tw_reader_error(input->reader) : "out of memory");
	return add_port(source, input, source->count - 1);
}

static bool add_inputs(struct tw_babel_source *source, const bt_value *inputs)
{
	if (!is_inputs(inputs))
		return fail(source, "the parameter `inputs` is no list of one or more paths");
	const uint64_t count = bt_value_array_get_length(inputs);
	source->inputs = calloc(count, sizeof *source->inputs);
	if (!source->inputs)
		return fail(source, "out of memory");
	for (uint64_t i = 0; i < count; i++)
		if (!add_input(source, bt_value_string_get(bt_value_array_borrow_element_by_index_const(inputs, i))))
			return false;
	return true;
}

int tw_babel_open(struct tw_babel_input *input, struct tw_reader **reader)
{
	*reader = input->reader;
	input->reader = NULL;
	return *reader ? 0 : open_reader(input, reader);
}

/* ---- The methods. ---- */

static void free_source(struct tw_babel_source *source)
{
	for (size_t i = 0; i < source->count; i++) {
		tw_close(source->inputs[i].reader);
		tw_symbols_close(source->inputs[i].symbols);
		free(source->inputs[i].path);
	}
	tw_symbols_close(source->symbols);
	free(source->inputs);
	free(source);
}

bt_component_class_initialize_method_status tw_babel_initialize(bt_self_component_source *self,
                                                                bt_self_component_source_configuration *configuration,
                                                                const bt_value *params, void *data)
{
	(void)configuration;
	(void)data;
	struct tw_babel_source *source = calloc(1, sizeof *source);
	if (!source)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	source->self = self;
	source->options = (struct tw_read_options){
	    .struct_size = sizeof source->options,
	    .order = TW_ORDER_TIME,
	    .on_finding = take_finding,
	    .finding_context = source,
	};
	if (!open_program(source, parameter(params, "program")) || !add_inputs(source, parameter(params, "inputs"))) {
		free_source(source);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_component_set_data(bt_self_component_source_as_self_component(self), source);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void tw_babel_finalize(bt_self_component_source *self)
{
	free_source(bt_self_component_get_data(bt_self_component_source_as_self_component(self)));
}
