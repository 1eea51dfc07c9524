/* events.c - items to rows: times, tracks, ids, and what each phase has of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "chrome/chrome.h"
#include "core/idle.h"

#include <string.h>

static const struct chrome_value *member(const struct chrome_fill *fill, enum chrome_member which)
{
	return &fill->item->values[which];
}

/* ---- Times. ---- */

enum { REST = 1000000000 };

/* Gives the rows at the beginning that have no time the time of the first row that has one. */
static void time_the_first(struct chrome_fill *fill, uint64_t time)
{
	struct chrome_state *state = fill->state;
	struct tw_slab *slab = &fill->piece->slab;
	for (size_t i = 0; !state->times.begun && i < slab->count; i++)
		slab->events[i].time = time;
	state->times.timed = true;
	state->times.timed_at = state->stream.at;
}

static void report_time(struct chrome_fill *fill, enum chrome_rule rule, enum chrome_member which, const char *text)
{
	const struct chrome_value *value = member(fill, which);
	chrome_report(fill->reader, rule, fill->item, value->type ? value->bytes : NULL, "%s", text);
}

/* Returns false where an event needs a time, and has none: that of another one would be a lie. */
static bool take_time(struct chrome_fill *fill, struct tw_event *event, struct chrome_exact_time *ts, bool needed)
{
	struct chrome_state *state = fill->state;
	const struct chrome_value *value = member(fill, CHROME_TS);
	*ts = (struct chrome_exact_time){0};
	event->time = state->times.last;
	if (!needed)
		return true;
	if (!value->type) {
		report_time(fill, CHROME_TIME_MISSING, CHROME_TS, "expected \"ts\"");
		return false;
	}
	if (!chrome_micros(value, ts)) {
		report_time(fill, CHROME_TIME_WRONG, CHROME_TS, "expected a number of microseconds in \"ts\"");
		return false;
	}
	if (ts->wide) {
		report_time(fill, CHROME_TIME_RANGE, CHROME_TS, "the time does not fit 64 bits of nanoseconds");
		return false;
	}
	bool fits = true;
	event->time = chrome_on_clock(fill, ts->ns, &fits);
	if (!fits)
		report_time(fill, CHROME_TIME_RANGE, CHROME_TS, "the time does not fit the trace's clock");
	state->times.last = event->time;
	if (!state->times.timed)
		time_the_first(fill, event->time);
	return true;
}

/* Whether a slice of this ts, in ns, may last so long. */
static bool fits_behind(int64_t ts, int64_t duration)
{
	int64_t end;
	return !__builtin_add_overflow(ts, duration, &end);
}

/* Returns a slice's duration in ns: from its begin to its end, both rounded down, so that slices which end together
 * still do. */
static uint64_t duration_of(struct chrome_fill *fill, const struct chrome_exact_time *ts)
{
	struct chrome_exact_time dur;
	if (!member(fill, CHROME_DUR)->type) {
		report_time(fill, CHROME_DURATION_MISSING, CHROME_DUR, "expected \"dur\"");
		return 0;
	}
	if (!chrome_micros(member(fill, CHROME_DUR), &dur)) {
		report_time(fill, CHROME_TIME_WRONG, CHROME_DUR, "expected a number of microseconds in \"dur\"");
		return 0;
	}
	if (dur.ns < 0) {
		report_time(fill, CHROME_DURATION_NEGATIVE, CHROME_DUR, "the duration is negative");
		return 0;
	}
	if (dur.wide || !fits_behind(ts->ns, dur.ns)) {
		report_time(fill, CHROME_TIME_RANGE, CHROME_DUR, "the duration does not fit 64 bits of nanoseconds");
		return 0;
	}
	return (uint64_t)dur.ns + (ts->rest + dur.rest >= REST);
}

/* ---- Ids. ---- */

/* Returns the number for an id: a number stands for itself, another text becomes its hash, because a table of texts
 * would grow with the trace. */
static uint64_t number_of_id(const struct chrome_value *value)
{
	uint64_t number;
	if (chrome_id_number(value, &number))
		return number;
	return value->type ? chrome_hash(value, 0) : 0;
}

/* {"id2":{"local":1}} or "global". A plain id is one of all processes. */
static struct chrome_value id_value(const struct chrome_fill *fill, bool *global)
{
	struct chrome_value key, value = *member(fill, CHROME_ID);
	const struct chrome_value *object = member(fill, CHROME_ID2);
	*global = value.type != CHROME_NOTHING;
	if (value.type || object->type != CHROME_OBJECT)
		return value;
	struct chrome_scan scan = {.at = object->bytes + 1, .end = object->bytes + object->size};
	if (!chrome_next_member(&scan, &key, &value))
		return (struct chrome_value){.type = CHROME_NOTHING};
	*global = chrome_is(&key, "global");
	return value;
}

static uint64_t take_id(struct chrome_fill *fill, bool needed, bool *global)
{
	struct chrome_value id = id_value(fill, global);
	const struct chrome_value *scope = member(fill, CHROME_SCOPE);
	if (!id.type && needed)
		chrome_report(fill->reader, CHROME_ID_MISSING, fill->item, NULL, "expected \"id\"");
	uint64_t number = number_of_id(&id);
	return id.type && scope->type == CHROME_STRING && scope->size ? chrome_hash(scope, number) : number;
}

/* ---- What a phase has of its own. ---- */

static void take_scope(struct chrome_fill *fill, struct tw_event *event)
{
	const struct chrome_value *scope = member(fill, CHROME_S);
	if (chrome_is(scope, "g"))
		event->flags |= TW_FLAG_GLOBAL;
	else if (chrome_is(scope, "p"))
		event->flags |= TW_FLAG_PROCESS;
}

/* Scheduling of Fuchsia tells threads by their numbers alone, or of process 0 where its kernel did not know better. */
static bool has_process(const struct chrome_value *pid)
{
	uint64_t number;
	return pid->type && !(chrome_integer(pid, &number) && number == 0);
}

static uint32_t scheduled_track(struct chrome_fill *fill, const struct chrome_value *pid,
                                const struct chrome_value *tid)
{
	uint32_t track = has_process(pid) ? chrome_track(fill->reader, pid, tid) : chrome_koid_track(fill->reader, tid);
	fill->failed |= track == UINT32_MAX;
	return fill->failed ? 0 : track;
}

/* The track of {"pid":1,"tid":2}, and its state. */
static uint32_t switch_side(struct chrome_fill *fill, const struct chrome_value *object, uint64_t *state)
{
	struct chrome_value key, value, pid = {.type = CHROME_NOTHING}, tid = pid;
	if (object->type != CHROME_OBJECT)
		return 0;
	struct chrome_scan scan = {.at = object->bytes + 1, .end = object->bytes + object->size};
	while (chrome_next_member(&scan, &key, &value)) {
		if (chrome_is(&key, "pid"))
			pid = value;
		else if (chrome_is(&key, "tid"))
			tid = value;
		else if (chrome_is(&key, "state"))
			chrome_integer(&value, state);
	}
	return scheduled_track(fill, &pid, &tid);
}

/* Takes the CPU of a scheduling event. The clock's has_cpu stays false, because other events do not tell theirs. */
static void take_cpu(struct chrome_fill *fill, struct tw_event *event)
{
	uint64_t cpu;
	if (chrome_integer(member(fill, CHROME_CPU), &cpu) && cpu <= UINT16_MAX)
		event->cpu = (uint16_t)cpu;
}

static void take_kind(struct chrome_fill *fill, struct tw_event *event, const struct chrome_exact_time *ts,
                      uint8_t need)
{
	uint64_t ignored;
	bool global = false;
	if (event->kind == TW_SLICE_COMPLETE)
		event->value = duration_of(fill, ts);
	else if (event->kind == TW_INSTANT)
		take_scope(fill, event);
	else if (event->kind == TW_SWITCH) {
		event->track = switch_side(fill, member(fill, CHROME_OUT), &event->value);
		event->other = switch_side(fill, member(fill, CHROME_IN), &ignored);
	}
	if (need & CHROME_HAS_ID || event->kind == TW_OBJECT || event->kind == TW_COUNTER)
		event->id = take_id(fill, need & CHROME_HAS_ID, &global);
	if (global && event->kind >= TW_ASYNC_BEGIN && event->kind <= TW_ASYNC_END)
		event->flags |= TW_FLAG_GLOBAL;
	if (event->kind == TW_FLOW_END && !chrome_is(member(fill, CHROME_BP), "e"))
		event->other = TW_FLOW_NEXT;
	if (event->kind == TW_SWITCH || event->kind == TW_WAKEUP)
		take_cpu(fill, event);
}

/* ---- Samples. ---- */

static const struct {
	const char *category;
	uint8_t kind;
} sample_kinds[] = {
    {"stack-sample", TW_STACK_SAMPLE},
    {"cpu-sample", TW_CPU_SAMPLE},
    {"allocation-sample", TW_ALLOCATION_SAMPLE},
};

/* Of those that Trackway wrote the category tells the kind. Returns whether it did. */
static bool take_sample(struct chrome_fill *fill, struct tw_event *event)
{
	const struct chrome_value *category = member(fill, CHROME_CAT);
	event->value = 1;
	event->other = chrome_sample_stack(fill);
	for (size_t i = 0; fill->state->stream.own && i < sizeof sample_kinds / sizeof *sample_kinds; i++)
		if (chrome_is(category, sample_kinds[i].category)) {
			event->kind = sample_kinds[i].kind;
			event->value = 0;
			return true;
		}
	return false;
}

/* Of an instant that Trackway wrote the category tells that it is a message of a log. Returns whether it did. */
static bool take_message(struct chrome_fill *fill, struct tw_event *event)
{
	const bool own = fill->state->stream.own && event->kind == TW_INSTANT;
	if (!own || !chrome_is(member(fill, CHROME_CAT), "log") || !chrome_is(member(fill, CHROME_NAME), "log"))
		return false;
	event->kind = TW_LOG;
	return true;
}

/* What one side of a switch says: its priority, and whether it has a process. */
struct said {
	struct chrome_value priority;
	bool process;
};

static struct said said_of(const struct chrome_value *object)
{
	struct said said = {.priority.type = CHROME_NOTHING};
	struct chrome_value key, value;
	if (object->type != CHROME_OBJECT)
		return said;
	struct chrome_scan scan = {.at = object->bytes + 1, .end = object->bytes + object->size};
	while (chrome_next_member(&scan, &key, &value)) {
		said.process |= chrome_is(&key, "pid");
		if (chrome_is(&key, "prio"))
			said.priority = value;
	}
	return said;
}

/* A legacy switch has a byte for each priority: another number is a weight. */
static bool is_legacy(const struct said *said)
{
	uint64_t number;
	return !said->priority.type ||
	       (said->process && (!chrome_integer(&said->priority, &number) || number <= UINT8_MAX));
}

/* Fuchsia's converter writes the priority of a legacy switch, whose threads have a pid, and the weight of a newer one,
 * whose threads have none, as "prio". */
static void take_priorities(struct chrome_fill *fill)
{
	const struct said out = said_of(member(fill, CHROME_OUT)), in = said_of(member(fill, CHROME_IN));
	const bool legacy = is_legacy(&out) && is_legacy(&in);
	void (*const take)(struct chrome_fill *, const char *, const struct chrome_value *) =
	    legacy ? chrome_priority : chrome_weight;
	if (out.priority.type)
		take(fill, legacy ? tw_switch_leaving.priority : tw_switch_leaving.weight, &out.priority);
	if (in.priority.type)
		take(fill, legacy ? tw_switch_coming.priority : tw_switch_coming.weight, &in.priority);
}

/* Arguments that stand outside of "args". */
static void take_outside(struct chrome_fill *fill, const struct chrome_phase *phase)
{
	struct chrome_value letter = *member(fill, CHROME_PH);
	if (phase->event == TW_LOG && member(fill, CHROME_MESSAGE)->type)
		chrome_argument(fill, "message", member(fill, CHROME_MESSAGE));
	if (phase->event == TW_SWITCH) {
		take_priorities(fill);
		chrome_prefixed_arguments(fill, member(fill, CHROME_OUT), "out");
		chrome_prefixed_arguments(fill, member(fill, CHROME_IN), "in");
	}
	if (phase->event == TW_WAKEUP && member(fill, CHROME_PRIO)->type)
		chrome_weight(fill, "weight", member(fill, CHROME_PRIO));
	if (phase->argument && letter.type)
		chrome_argument(fill, "ph", &letter);
}

/* Numbers and texts tell a process or a thread. */
static void note_ids(struct chrome_fill *fill)
{
	const struct chrome_value *pid = member(fill, CHROME_PID), *tid = member(fill, CHROME_TID);
	const struct chrome_value *wrong = pid->type > CHROME_NUMBER ? pid : tid;
	if (wrong->type > CHROME_NUMBER && chrome_first(&fill->state->stream, CHROME_REPORTED_ID))
		chrome_report(fill->reader, CHROME_MEMBER, fill->item, wrong->bytes,
		              "a \"pid\" or \"tid\" is neither a number nor a text: 0 is taken");
}

static void note_members(struct chrome_fill *fill)
{
	note_ids(fill);
	for (unsigned i = 0; i < fill->item->other_count; i++) {
		const struct chrome_value *key = &fill->item->others[i];
		if (chrome_first(&fill->state->stream, tw_hash_bytes(key->bytes, key->size, 3)))
			chrome_report(fill->reader, CHROME_MEMBER, fill->item, key->bytes, "\"%.*s\" is left out",
			              (int)(key->size < 64 ? key->size : 64), (const char *)key->bytes);
	}
	const bool slice = fill->event->kind <= TW_SLICE_COMPLETE && !fill->reader->request.thread_times;
	const struct chrome_value *frame = member(fill, CHROME_SF), *stack = member(fill, CHROME_STACK);
	const uint8_t *at = frame->type ? frame->bytes : stack->bytes;
	bool sample = chrome_phase_of(fill->item) == 'P';
	fill->reader->traits.altered.members += fill->item->other_count;
	if (!sample)
		fill->reader->traits.altered.members += (uint64_t)(frame->type != 0) + (stack->type != 0);
	if (slice)
		fill->reader->traits.altered.members +=
		    (uint64_t)(member(fill, CHROME_TTS)->type != 0) + (member(fill, CHROME_TDUR)->type != 0);
	if (!sample && (frame->type || stack->type) && chrome_first(&fill->state->stream, CHROME_REPORTED_STACK))
		chrome_report(fill->reader, CHROME_MEMBER, fill->item, at, "the stack of an event is left out");
}

static bool is_scheduling(const struct tw_event *event)
{
	return event->kind == TW_SWITCH || event->kind == TW_WAKEUP;
}

/* Sets the CPU of an event that does not tell it: Trackway writes it only where it changed since the thread's last
 * event. */
static void carry_cpu(struct chrome_fill *fill, struct chrome_track_info *track)
{
	if (!fill->state->stream.own_cpu || fill->event->flags & TW_FLAG_CLIPPED || is_scheduling(fill->event))
		return;
	track->cpu = fill->event->cpu;
	fill->reader->clock.has_cpu = true;
}

/* The same of an event that comes with its text. */
static void take_text_cpu(struct chrome_fill *fill, struct chrome_track_info *track)
{
	const struct chrome_value *args = member(fill, CHROME_ARGS);
	const bool object = args->type == CHROME_OBJECT;
	struct chrome_scan scan = {0};
	struct chrome_value key, value;
	uint64_t cpu;
	bool clipped = false;
	if (!fill->state->stream.own_cpu || fill->event->kind == TW_METADATA)
		return;
	if (object)
		scan = (struct chrome_scan){.at = args->bytes + 1, .end = args->bytes + args->size};
	while (object && chrome_next_member(&scan, &key, &value)) {
		if (chrome_is(&key, "cpu") && chrome_integer(&value, &cpu) && cpu <= UINT16_MAX) {
			fill->event->cpu = (uint16_t)cpu;
			track->has_cpu = true;
		}
		clipped |= chrome_is(&key, "clipped") && value.type == CHROME_TRUE;
	}
	if (!clipped)
		carry_cpu(fill, track);
}

/* ---- Rows. ---- */

/* Flows of the newer kind are not events: an id binds those together that say that it goes in, out, or both. */
static int add_flow(struct chrome_fill *fill, const struct tw_event *event)
{
	bool in = member(fill, CHROME_FLOW_IN)->type == CHROME_TRUE;
	bool out = member(fill, CHROME_FLOW_OUT)->type == CHROME_TRUE;
	if (event->kind == TW_SLICE_END || (!in && !out))
		return 0;
	const struct tw_event flow = {
	    .kind = in && out ? TW_FLOW_STEP
	            : out     ? TW_FLOW_BEGIN
	                      : TW_FLOW_END,
	    .offset = event->offset,
	    .track = event->track,
	    .time = event->time,
	    .cpu = event->cpu,
	    .id = number_of_id(member(fill, CHROME_BIND_ID)),
	    .name = chrome_name(fill->reader, "flow", strlen("flow")),
	};
	bool added = flow.name != UINT32_MAX && tw_slab_add(&fill->piece->slab, &flow);
	return added && !fill->piece->slab.failed ? 0 : TW_ERR_MEMORY;
}

/* "tts" or "tdur" of a slice. */
static void add_thread_time(struct chrome_fill *fill, enum chrome_member which, uint16_t raw)
{
	struct chrome_exact_time time;
	if (chrome_micros(member(fill, which), &time) && fill->event->argument_count < UINT8_MAX)
		tw_slab_argument(&fill->piece->slab,
		                 &(struct tw_argument){.type = TW_ARG_INT, .raw = raw, .value.i = time.ns});
}

static int add_row(struct chrome_fill *fill, const struct chrome_phase *phase, struct tw_event *event)
{
	struct chrome_state *state = fill->state;
	if (!tw_grow(&state->tracks, &state->track_room, event->track + (size_t)1, sizeof *state->tracks))
		return TW_ERR_MEMORY;
	struct chrome_track_info *track = &state->tracks[event->track];
	track->bytes += fill->item->size;
	if (state->stream.own_cpu && !is_scheduling(event))
		event->cpu = track->cpu;
	fill->event = tw_slab_add(&fill->piece->slab, event);
	if (!fill->event)
		return TW_ERR_MEMORY;
	if (chrome_keeps_text(fill)) {
		take_text_cpu(fill, track);
		chrome_add_text(fill, track->has_cpu);
		return fill->failed || fill->piece->slab.failed ? TW_ERR_MEMORY : 0;
	}
	fill->end = state->stream.own && event->kind == TW_SLICE_END;
	take_outside(fill, phase);
	chrome_arguments(fill, member(fill, CHROME_ARGS));
	if (fill->reader->request.thread_times && event->kind <= TW_SLICE_COMPLETE) {
		add_thread_time(fill, CHROME_TTS, TW_RAW_THREAD_TS);
		add_thread_time(fill, CHROME_TDUR, TW_RAW_THREAD_DUR);
	}
	note_members(fill);
	carry_cpu(fill, track);
	if (fill->failed || fill->piece->slab.failed)
		return TW_ERR_MEMORY;
	return member(fill, CHROME_BIND_ID)->type ? add_flow(fill, event) : 0;
}

static void report_phase(struct chrome_fill *fill)
{
	const struct chrome_value *value = member(fill, CHROME_PH);
	char phase = chrome_phase_of(fill->item);
	if (!phase)
		chrome_report(fill->reader, CHROME_PHASE_MISSING, fill->item, value->type ? value->bytes : NULL,
		              "expected \"ph\" of one character");
	else if (chrome_first(&fill->state->stream, CHROME_REPORTED_PHASE + (uint64_t)(uint8_t)phase))
		chrome_report(fill->reader, CHROME_PHASE_UNKNOWN, fill->item, value->bytes,
		              "\"%c\" is no phase that is known", phase >= ' ' && phase <= '~' ? phase : '?');
}

static int take_gap(struct chrome_fill *fill, uint64_t bytes)
{
	const struct tw_event event = {
	    .kind = TW_LOST,
	    .offset = fill->item->offset,
	    .time = fill->state->times.last,
	    .value = bytes,
	};
	return tw_slab_add(&fill->piece->slab, &event) ? 0 : TW_ERR_MEMORY;
}

static uint32_t event_name(struct chrome_fill *fill)
{
	const struct chrome_value *name = member(fill, CHROME_NAME), *place = member(fill, CHROME_LOC);
	if (place->type != CHROME_STRING || !name->type)
		return chrome_name_of(fill, name);
	struct chrome_value text = chrome_text_of(fill, name, false), where = chrome_text_of(fill, place, false);
	uint32_t number = chrome_located_name(fill->reader, &text, &where);
	fill->failed |= number == UINT32_MAX;
	return fill->failed ? 0 : number;
}

/* Whether an event without a tid is of its process: otherwise it is of the thread whose number is the pid, as
 * Perfetto's importer has it. Trackway itself writes none without a tid but of processes. */
static bool is_of_process(const struct chrome_fill *fill, uint8_t kind)
{
	const struct chrome_value *scope = member(fill, CHROME_S);
	return fill->state->stream.own || kind == TW_COUNTER || kind == TW_OBJECT || kind == TW_METADATA ||
	       (kind == TW_INSTANT && (chrome_is(scope, "p") || chrome_is(scope, "g")));
}

/* Whether metadata are of the process, whatever thread tells them: "process_name", "process_labels" and the like. */
static bool is_about_process(const struct chrome_fill *fill, uint8_t kind)
{
	static const char start[] = "process_";
	const struct chrome_value *name = member(fill, CHROME_NAME);
	return kind == TW_METADATA && name->type == CHROME_STRING && name->size >= sizeof start - 1 &&
	       memcmp(name->bytes, start, sizeof start - 1) == 0;
}

static uint32_t event_track(struct chrome_fill *fill, uint8_t kind)
{
	const struct chrome_value *pid = member(fill, CHROME_PID), *tid = member(fill, CHROME_TID);
	bool alone = kind == TW_METADATA || fill->state->stream.own;
	if (kind == TW_SWITCH || (alone && !pid->type && !tid->type))
		return 0;
	if (kind == TW_WAKEUP)
		return scheduled_track(fill, pid, tid);
	if (is_about_process(fill, kind) || (!tid->type && is_of_process(fill, kind)))
		return chrome_process_track(fill->reader, pid);
	return chrome_track(fill->reader, pid, tid);
}

/* Whether what a name or another property is told of is among what is chosen: a process, where one of its threads may
 * be. */
static bool is_chosen(const struct tw_reader *reader, uint32_t number)
{
	const struct tw_read_options *options = &reader->options;
	const struct tw_track *track = tw_dictionary_track(reader->dictionary, number);
	if (!number || chrome_wanted(reader, number))
		return true;
	if (track->kind != TW_TRACK_PROCESS || !options->thread_processes)
		return track->kind == TW_TRACK_PROCESS;
	for (size_t i = 0; i < options->thread_count; i++)
		if (options->thread_processes[i] == track->process || options->thread_processes[i] == TW_ANY_PROCESS)
			return true;
	return false;
}

static int take_event(struct chrome_fill *fill, const struct chrome_phase *phase)
{
	struct chrome_exact_time ts;
	struct tw_event event = {
	    .kind = phase->event,
	    .offset = fill->item->offset,
	    .track = event_track(fill, phase->event),
	};
	if (event.track == UINT32_MAX || fill->failed)
		return TW_ERR_MEMORY;
	bool has_time = phase == &chrome_phases[0] && member(fill, CHROME_TS)->type;
	if (!take_time(fill, &event, &ts, phase->need & CHROME_HAS_TIME || has_time)) {
		fill->state->stream.lost += fill->item->size;
		return take_gap(fill, fill->item->size);
	}
	const bool message = take_message(fill, &event);
	bool own_sample = event.kind == TW_STACK_SAMPLE && take_sample(fill, &event);
	take_kind(fill, &event, &ts, phase->need);
	bool timeless =
	    chrome_keeps_text(fill) && event.kind == TW_METADATA && !(phase->need & CHROME_HAS_TIME) && !has_time;
	if (timeless && is_chosen(fill->reader, event.track))
		event.value = 1;
	else if (timeless || (!chrome_wanted(fill->reader, event.track) &&
	                      !(event.other && chrome_wanted(fill->reader, event.other))))
		return fill->failed ? TW_ERR_MEMORY : 0;
	event.name = message ? 0 : event_name(fill);
	if (!own_sample && !message)
		event.category = chrome_name_of(fill, member(fill, CHROME_CAT));
	return fill->failed ? TW_ERR_MEMORY : add_row(fill, phase, &event);
}

int chrome_take(struct tw_reader *reader, struct chrome_piece *piece, const struct chrome_item *item, bool last)
{
	struct chrome_fill fill = {
	    .reader = reader, .state = reader->state, .piece = piece, .item = item, .last = last};
	if (item->lost)
		return take_gap(&fill, item->lost);
	unsigned number = chrome_phase_number(item);
	const struct chrome_phase *phase = &chrome_phases[number];
	int named = 0;
	if (phase->event == TW_STACK_SAMPLE && !chrome_keeps_text(&fill) &&
	    (chrome_keep_sample(&fill) || chrome_keep_chunk(&fill)))
		return fill.failed ? TW_ERR_MEMORY : 0;
	fill.state->counts[number]++;
	if (number == 0)
		report_phase(&fill);
	else if (phase->event == TW_METADATA && !phase->argument)
		named = chrome_take_naming(&fill, phase);
	if (chrome_is_profile(item) && !chrome_keeps_text(&fill))
		return chrome_take_profile(&fill);
	if (named < 0 || (named && !chrome_keeps_text(&fill)))
		return named < 0 ? named : 0;
	return take_event(&fill, phase);
}
