/* plugin.c - source.trackway.trace: traces of all formats as messages of babeltrace2. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "babeltrace/source.h"

#include <string.h>

/* How sure it is that a file is a trace: as sure as babeltrace2's own components are; not so of a format that any text
 * with numbers might be. */
static const double SURE = 0.75, GUESS = 0.1;

static double weight_of(const char *path)
{
	struct tw_reader *reader = NULL;
	double weight = 0;
	if (tw_open(&reader, path, NULL) == 0)
		weight = strcmp(tw_reader_format(reader), "folded") == 0 ? GUESS : SURE;
	tw_close(reader);
	return weight;
}

static const char *text_of(const bt_value *params, const char *name)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(params, name);
	return value && bt_value_is_string(value) ? bt_value_string_get(value) : "";
}

/* "babeltrace.support-info": whether an input that a user names is for this component. */
static bt_component_class_query_method_status query(bt_self_component_class_source *self,
                                                    bt_private_query_executor *executor, const char *object,
                                                    const bt_value *params, void *data, const bt_value **result)
{
	(void)self;
	(void)executor;
	(void)data;
	if (strcmp(object, "babeltrace.support-info") != 0)
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	bool place = strcmp(text_of(params, "type"), "string") != 0;
	*result = bt_value_real_create_init(place ? weight_of(text_of(params, "input")) : 0);
	return *result ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK
	               : BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
}

#pragma GCC diagnostic ignored "-Wpedantic" /* the macros end with a semicolon */

/* The functions by which babeltrace2 finds what is in a plugin. */
#pragma GCC visibility push(default)
BT_PLUGIN_MODULE();
#pragma GCC visibility pop
BT_PLUGIN(trackway);
BT_PLUGIN_DESCRIPTION("Execution traces: XRay, FXT, xtrace, TraceLog, Chrome's JSON, uftrace");
BT_PLUGIN_LICENSE("Apache-2.0");
BT_PLUGIN_SOURCE_COMPONENT_CLASS(trace, tw_babel_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(trace, "Read traces of all formats that Trackway knows");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(trace, "Parameters: inputs, a list of paths, one port each; program, the program "
                                             "or the map of it that names the functions of an XRay log.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(trace, tw_babel_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(trace, tw_babel_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(trace, query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(trace, tw_babel_begin);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(trace, tw_babel_end);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(trace, tw_babel_restart,
                                                                               tw_babel_can_restart);
