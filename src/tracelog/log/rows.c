/* rows.c - rows of events and their arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/rows.h"

#include "tracelog/log/log.h"

struct tw_event *tracelog_row(struct tracelog_log *log, const struct tracelog_thread *thread, enum tw_event_kind kind,
                              uint64_t time)
{
	struct tw_event *row = tw_slab_next(log->rows.slab);
	if (!row) {
		log->failed = true;
		row = &log->rows.spare;
	}
	uint16_t first = row->first_argument;
	*row = (struct tw_event){
	    .time = time,
	    .offset = log->line.at.offset,
	    .track = thread->track,
	    .first_argument = first,
	    .kind = (uint8_t)kind,
	};
	return row;
}

uint32_t tracelog_runtime_name(struct tracelog_log *log, enum tw_runtime_name name)
{
	const char *text = tw_runtime_text(name);
	uint32_t *number = &log->rows.names[name];
	if (!*number)
		*number = tracelog_name(log, text, strlen(text));
	return *number;
}

static void add(struct tracelog_log *log, uint32_t name, struct tw_argument argument)
{
	argument.name = name;
	if (log->rows.slab->count && !log->rows.slab->failed)
		tw_slab_argument(log->rows.slab, &argument);
	log->failed |= log->rows.slab->failed;
}

void tracelog_add_number(struct tracelog_log *log, uint32_t name, enum tw_argument_type type, uint64_t value)
{
	add(log, name, (struct tw_argument){.type = (uint8_t)type, .value.u = value});
}

void tracelog_add_percent(struct tracelog_log *log, uint32_t name, double value)
{
	add(log, name, (struct tw_argument){.type = TW_ARG_DOUBLE, .value.d = value});
}

/* Texts are few, and live as long as the dictionary, which keeps them as names. */
void tracelog_add_text(struct tracelog_log *log, const char *name, const void *text, size_t length)
{
	/* A copy: the name of the argument may be new to the dictionary, and move the names. */
	const struct tw_name kept = *tw_dictionary_name(log->dictionary, tracelog_name(log, text, length));
	add(log, tracelog_name(log, name, strlen(name)),
	    (struct tw_argument){.type = TW_ARG_TEXT,
	                         .value.bytes = (const uint8_t *)kept.text,
	                         .size = (uint32_t)kept.length});
}

void tracelog_add_object(struct tracelog_log *log, const char *name, enum tracelog_object_kind kind, uint32_t number)
{
	const struct tracelog_object *object = tracelog_object(log, kind, number);
	if (number)
		add(log, tracelog_name(log, name, strlen(name)),
		    (struct tw_argument){.type = TW_ARG_POINTER, .value.u = object->pointer, .size = object->name});
}
