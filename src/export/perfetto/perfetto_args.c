/* perfetto_args.c - arguments of events as debug annotations of Perfetto's traces. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perfetto/perfetto.h"

#include "base/text/utf8.h"
#include "export/text/labels.h"

static void add_hex(struct tw_proto *event, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	size_t begin = tw_proto_begin(event, ANNOTATION_STRING);
	if (tw_proto_room(event, 2 * size))
		for (size_t i = 0; i < size; i++) {
			event->bytes[event->length++] = (uint8_t)digits[bytes[i] >> 4];
			event->bytes[event->length++] = (uint8_t)digits[bytes[i] & 15];
		}
	tw_proto_end(event, begin);
}

static void add_bytes(struct perfetto *perfetto, const struct tw_argument *argument)
{
	size_t size = argument->size < PERFETTO_VALUE_MAX ? (size_t)argument->size : PERFETTO_VALUE_MAX;
	if (size < argument->size)
		tw_count_loss(perfetto->writer, "long argument", true);
	tw_count_unknown(perfetto->writer, argument);
	if (argument->type == TW_ARG_TEXT || tw_is_printable(argument->value.bytes, size))
		tw_proto_string(&perfetto->event, ANNOTATION_STRING, (const char *)argument->value.bytes, size);
	else
		add_hex(&perfetto->event, argument->value.bytes, size);
}

/* "0x1234 (lock)" where the object is known. */
static void add_reference(struct perfetto *perfetto, const struct tw_argument *argument)
{
	uint32_t number = argument->size < UINT32_MAX ? (uint32_t)argument->size : 0;
	const struct tw_name *object = tw_dictionary_name(perfetto->dictionary, number);
	struct tw_line *text = &perfetto->label;
	if (object->length == 0) {
		tw_proto_uint(&perfetto->event, argument->type == TW_ARG_KOID ? ANNOTATION_UINT : ANNOTATION_POINTER,
		              argument->value.u);
		return;
	}
	tw_line_clear(text);
	tw_label_address(text, argument->value.u);
	tw_line_text(text, " (");
	if (!tw_label_name(text, object))
		tw_count_loss(perfetto->writer, "long name", true);
	tw_line_text(text, ")");
	tw_proto_string(&perfetto->event, ANNOTATION_STRING, text->text.bytes, text->text.length);
	perfetto->failed |= text->failed;
}

static void add_value(struct perfetto *perfetto, const struct tw_argument *argument)
{
	struct tw_proto *event = &perfetto->event;
	switch ((enum tw_argument_type)argument->type) {
	case TW_ARG_NULL:
		tw_proto_text(event, ANNOTATION_STRING, "null");
		return;
	case TW_ARG_BOOL:
		tw_proto_uint(event, ANNOTATION_BOOL, argument->value.u != 0);
		return;
	case TW_ARG_INT:
		tw_proto_uint(event, ANNOTATION_INT, (uint64_t)argument->value.i);
		return;
	case TW_ARG_UINT:
		tw_proto_uint(event, ANNOTATION_UINT, argument->value.u);
		return;
	case TW_ARG_POINTER:
	case TW_ARG_KOID:
		add_reference(perfetto, argument);
		return;
	case TW_ARG_DOUBLE:
		tw_proto_double(event, ANNOTATION_DOUBLE, argument->value.d);
		return;
	case TW_ARG_TEXT:
	case TW_ARG_BYTES:
		add_bytes(perfetto, argument);
		return;
	}
}

static void add_argument(struct perfetto *perfetto, const struct tw_argument *argument)
{
	if (perfetto->event.length > PERFETTO_EVENT_MAX) {
		tw_count_loss(perfetto->writer, "argument", false);
		return;
	}
	size_t begin = tw_proto_begin(&perfetto->event, EVENT_DEBUG_ANNOTATIONS);
	if (argument->name)
		tw_proto_uint(&perfetto->event, ANNOTATION_NAME_IID, tw_perfetto_annotation(perfetto, argument->name));
	else
		tw_proto_text(&perfetto->event, ANNOTATION_NAME, "argument");
	add_value(perfetto, argument);
	tw_proto_end(&perfetto->event, begin);
}

void tw_perfetto_add_arguments(struct perfetto *perfetto, const struct tw_event *event, unsigned from)
{
	for (unsigned i = from; i < event->argument_count; i++)
		add_argument(perfetto, &perfetto->arguments[event->first_argument + i]);
}

void tw_perfetto_add_own(struct perfetto *perfetto, const char *name, unsigned field, uint64_t value)
{
	size_t begin = tw_proto_begin(&perfetto->event, EVENT_DEBUG_ANNOTATIONS);
	tw_proto_text(&perfetto->event, ANNOTATION_NAME, name);
	tw_proto_uint(&perfetto->event, field, value);
	tw_proto_end(&perfetto->event, begin);
}

void tw_perfetto_add_flag_words(struct perfetto *perfetto, unsigned kind, uint16_t flags)
{
	const struct {
		uint16_t flag;
		const char *name;
	} words[] = {
	    {TW_FLAG_TAIL, "tail"},
	    {TW_FLAG_CLIPPED, "clipped"},
	    {TW_FLAG_PARTIAL, kind <= TW_INSTANT ? "uncertain" : "partial"},
	    {TW_FLAG_UNWOUND, "unwound"},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (flags & words[i].flag)
			tw_perfetto_add_own(perfetto, words[i].name, ANNOTATION_BOOL, true);
}
