/* perfetto_sched.c - ftrace's events of Perfetto's traces: switches, wake-ups, frequencies and idle states of CPUs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perfetto/perfetto.h"

#include "core/idle.h"

#include <string.h>

/* What a side of a switch is called, by arguments that some writers give. */
struct switch_fields {
	const struct tw_switch_names *names;
	unsigned comm, pid, prio;
};

static const struct switch_fields leaving = {&tw_switch_leaving, SWITCH_PREV_COMM, SWITCH_PREV_PID, SWITCH_PREV_PRIO};
static const struct switch_fields coming = {&tw_switch_coming, SWITCH_NEXT_COMM, SWITCH_NEXT_PID, SWITCH_NEXT_PRIO};

static bool is_integer(const struct tw_argument *argument)
{
	return argument->type == TW_ARG_INT || argument->type == TW_ARG_UINT;
}

/* NULL where there is none that is an integer: the value of another is something else. */
static const struct tw_argument *argument_named(const struct perfetto *perfetto, const struct tw_event *event,
                                                const char *name)
{
	for (unsigned i = 0; i < event->argument_count; i++) {
		const struct tw_argument *argument = &perfetto->arguments[event->first_argument + i];
		if (is_integer(argument) &&
		    strcmp(tw_dictionary_name(perfetto->dictionary, argument->name)->text, name) == 0)
			return argument;
	}
	return NULL;
}

static void add_comm(struct perfetto *perfetto, unsigned field, uint32_t number)
{
	uint32_t name = tw_dictionary_track(perfetto->dictionary, number)->name;
	if (name)
		tw_perfetto_put_name(perfetto, &perfetto->event, field, tw_dictionary_name(perfetto->dictionary, name));
}

/* Idle is thread 0, whatever stands for it in the trace: trackway/sched.h tells what that is. */
static void add_side(struct perfetto *perfetto, const struct tw_event *event, uint32_t number,
                     const struct switch_fields *side)
{
	struct tw_proto *proto = &perfetto->event;
	const struct tw_track *track = tw_dictionary_track(perfetto->dictionary, number);
	const struct tw_argument *weight = argument_named(perfetto, event, side->names->weight);
	const struct tw_argument *priority = argument_named(perfetto, event, side->names->priority);
	bool idle = weight && weight->type == TW_ARG_INT && weight->value.i == INT32_MIN;
	if (!idle)
		idle = priority ? track->process == 0 && priority->value.u == 0 : track->thread == 0;
	if (idle)
		tw_proto_text(proto, side->comm, "swapper");
	else
		add_comm(perfetto, side->comm, number);
	tw_proto_uint(proto, side->pid, idle ? 0 : perfetto->tracks.items[number].tid);
	if (priority)
		tw_proto_uint(proto, side->prio, priority->value.u);
}

/* The states of FXT as Linux numbers them; a thread in one that FXT does not name sleeps. */
static uint64_t linux_state(uint64_t state)
{
	static const uint8_t states[] = {
	    0,  /* new: runnable */
	    0,  /* running: runnable */
	    4,  /* suspended: stopped */
	    1,  /* blocked: interruptible sleep */
	    32, /* dying: zombie */
	    16, /* dead */
	};
	return state < sizeof states ? states[state] : 1;
}

/* The messages around an ftrace event. */
struct bundle {
	size_t event, kind;
};

static struct bundle begin_ftrace_at(struct perfetto *perfetto, uint64_t time, uint32_t cpu, unsigned field,
                                     uint32_t pid)
{
	struct tw_proto *proto = &perfetto->event;
	struct bundle bundle;
	tw_proto_uint(proto, BUNDLE_CPU, cpu);
	bundle.event = tw_proto_begin(proto, BUNDLE_EVENT);
	tw_proto_uint(proto, FTRACE_TIMESTAMP, time);
	tw_proto_uint(proto, FTRACE_PID, pid);
	bundle.kind = tw_proto_begin(proto, field);
	return bundle;
}

static struct bundle begin_ftrace(struct perfetto *perfetto, const struct tw_event *event, unsigned field, uint32_t pid)
{
	return begin_ftrace_at(perfetto, event->time, tw_perfetto_cpu(perfetto, event->cpu), field, pid);
}

static void put_ftrace(struct perfetto *perfetto, const struct bundle *bundle)
{
	tw_proto_end(&perfetto->event, bundle->kind);
	tw_proto_end(&perfetto->event, bundle->event);
	tw_perfetto_put_packet(perfetto, PACKET_FTRACE_EVENTS, NULL);
}

/* Whether there is a field for it: of a switch the priorities, of a wake-up who wakes, which `other` tells. */
static bool has_field(const struct tw_event *event, const struct tw_argument *argument, const char *name)
{
	if (event->kind == TW_WAKEUP)
		return event->other && argument->type == TW_ARG_KOID && strcmp(name, "waker") == 0;
	return is_integer(argument) &&
	       (strcmp(name, tw_switch_leaving.priority) == 0 || strcmp(name, tw_switch_coming.priority) == 0);
}

/* Counts the arguments for which there is no field. */
static void count_others(struct perfetto *perfetto, const struct tw_event *event)
{
	for (unsigned i = 0; i < event->argument_count; i++) {
		const struct tw_argument *argument = &perfetto->arguments[event->first_argument + i];
		const char *name = tw_dictionary_name(perfetto->dictionary, argument->name)->text;
		if (!has_field(event, argument, name))
			tw_count_loss(perfetto->writer, "argument", false);
	}
}

/* ---- Switches without arguments between threads with short names, as most are: the size of each message is a byte,
 * and all is put where it goes out. `make bench` measures convert. ---- */

enum { LEAVING, COMING };

static void make_comm(struct perfetto *perfetto, const struct tw_event *event, uint32_t number, const char *text)
{
	static const struct switch_fields *const sides[] = {[LEAVING] = &leaving, [COMING] = &coming};
	struct perfetto_comm *comm = &perfetto->tracks.items[number].comm;
	struct tw_proto *proto = &perfetto->event;
	*comm = (struct perfetto_comm){.of = text};
	for (size_t i = 0; i < 2; i++) {
		add_side(perfetto, event, number, sides[i]);
		comm->size = proto->length <= PERFETTO_COMM_MAX ? (uint8_t)proto->length : 0;
		if (comm->size)
			memcpy(comm->bytes[i], proto->bytes, comm->size);
		tw_proto_clear(proto);
	}
}

/* NULL where it is not kept. */
static const struct perfetto_comm *comm_of(struct perfetto *perfetto, const struct tw_event *event, uint32_t number)
{
	const struct perfetto_comm *comm = &perfetto->tracks.items[number].comm;
	uint32_t name = tw_dictionary_track(perfetto->dictionary, number)->name;
	const struct tw_name *known = &perfetto->all_names[name];
	if (comm->of != known->text && known->length <= PERFETTO_COMM_MAX)
		make_comm(perfetto, event, number, known->text);
	return comm->of == known->text && comm->size ? comm : NULL;
}

static uint8_t *put_comm(uint8_t *p, const struct perfetto_comm *comm, unsigned side)
{
	memcpy(p, comm->bytes[side], PERFETTO_COMM_MAX);
	return p + comm->size;
}

static uint8_t *put_number(uint8_t *p, unsigned field, uint64_t value)
{
	*p = (uint8_t)(field << 3);
	return tw_proto_digits(p + 1, value);
}

/* Begins a message whose size will be a byte: returns the place of that. */
static uint8_t *begin_message(uint8_t *p, unsigned field)
{
	*p = (uint8_t)(field << 3 | TW_PROTO_DELIMITED);
	return p + 1;
}

static void end_message(uint8_t *size, const uint8_t *end)
{
	*size = (uint8_t)(end - size - 1);
}

static void put_switch(struct perfetto *perfetto, const struct tw_event *event, uint32_t pid,
                       const struct perfetto_comm *from, const struct perfetto_comm *to)
{
	enum {
		FIELDS = 8,
		FIELD_MAX = 2 + TW_PROTO_VARINT_MAX,
		SWITCH_MAX = FIELDS * FIELD_MAX + 2 * PERFETTO_COMM_MAX
	};
	struct tw_output *out = &perfetto->writer->out;
	const uint32_t cpu = tw_perfetto_cpu(perfetto, event->cpu);
	uint8_t *start = (uint8_t *)tw_output_room(out, SWITCH_MAX);
	uint8_t *packet = begin_message(start, TRACE_PACKET);
	uint8_t *p = put_number(packet + 1, PACKET_SEQUENCE_ID, PERFETTO_SEQUENCE);
	p = put_number(p, PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
	uint8_t *bundle = begin_message(p, PACKET_FTRACE_EVENTS);
	uint8_t *ftrace = begin_message(put_number(bundle + 1, BUNDLE_CPU, cpu), BUNDLE_EVENT);
	p = put_number(ftrace + 1, FTRACE_TIMESTAMP, event->time);
	uint8_t *kind = begin_message(put_number(p, FTRACE_PID, pid), FTRACE_SCHED_SWITCH);
	p = put_number(put_comm(kind + 1, from, LEAVING), SWITCH_PREV_STATE, linux_state(event->value));
	p = put_comm(p, to, COMING);
	end_message(kind, p);
	end_message(ftrace, p);
	end_message(bundle, p);
	end_message(packet, p);
	tw_output_took(out, (size_t)(p - start));
}

/* The first packet after a reset says more. */
static bool try_quickly(struct perfetto *perfetto, const struct tw_event *event, uint32_t pid)
{
	if (event->argument_count || perfetto->said_reset != perfetto->reset)
		return false;
	const struct perfetto_comm *from = comm_of(perfetto, event, event->track);
	const struct perfetto_comm *to = comm_of(perfetto, event, event->other);
	if (from && to)
		put_switch(perfetto, event, pid, from, to);
	return from && to;
}

void tw_perfetto_take_switch(struct perfetto *perfetto, const struct tw_event *event)
{
	uint32_t pid = tw_perfetto_track(perfetto, event->track)->tid;
	tw_perfetto_track(perfetto, event->other);
	if (try_quickly(perfetto, event, pid))
		return;
	struct bundle bundle = begin_ftrace(perfetto, event, FTRACE_SCHED_SWITCH, pid);
	add_side(perfetto, event, event->track, &leaving);
	tw_proto_uint(&perfetto->event, SWITCH_PREV_STATE, linux_state(event->value));
	add_side(perfetto, event, event->other, &coming);
	put_ftrace(perfetto, &bundle);
	count_others(perfetto, event);
}

void tw_perfetto_take_wakeup(struct perfetto *perfetto, const struct tw_event *event)
{
	uint32_t waker = event->other ? tw_perfetto_track(perfetto, event->other)->tid : 0;
	uint32_t woken = tw_perfetto_track(perfetto, event->track)->tid;
	struct bundle bundle = begin_ftrace(perfetto, event, FTRACE_SCHED_WAKING, waker);
	add_comm(perfetto, WAKING_COMM, event->track);
	tw_proto_uint(&perfetto->event, WAKING_PID, woken);
	tw_proto_uint(&perfetto->event, WAKING_TARGET_CPU, tw_perfetto_cpu(perfetto, event->cpu));
	put_ftrace(perfetto, &bundle);
	count_others(perfetto, event);
}

/* Of no thread: the trace does not tell who was there. */
void tw_perfetto_put_cpu(struct perfetto *perfetto, uint64_t time, const struct perfetto_cpu *cpu)
{
	uint32_t number = tw_perfetto_cpu(perfetto, (uint16_t)cpu->number);
	struct bundle bundle = begin_ftrace_at(perfetto, time, number, cpu->field, 0);
	tw_proto_uint(&perfetto->event, POWER_STATE, cpu->state);
	tw_proto_uint(&perfetto->event, POWER_CPU_ID, number);
	put_ftrace(perfetto, &bundle);
}
