/* calls.h - begins and ends of slices to calls: the stack of every track. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_CALLS_H
#define CORE_CALLS_CALLS_H

#include "base/inline.h"
#include "base/loops.h"
#include "core/budget.h"

#include <trackway/event.h>

/* Rows are what the owner counts calls in, by number. */
enum { TW_ROW_NONE, TW_ROW_OTHER, TW_ROW_FIRST };

/* A row with this bit is one that the owner gave a call while it is not known what that is inside of: what is told by
 * begin and end is open together with what tells its end. Once all such calls of a track have ended, it is known. */
#define TW_ROW_HELD 0x80000000u

enum { TW_LANES_MOST = 1024 /* further stacks of a track, for slices that do not nest */ };

enum tw_call_end { TW_CALL_ENDED, TW_CALL_UNWOUND, TW_CALL_OPEN };

/* A call that is going on. */
struct tw_frame {
	uint64_t begin;
	uint64_t children; /* ns in the calls directly inside */
	union {
		struct {
			uint32_t row, name;
		};
		uint64_t function; /* name and row as one number */
	};
};

/* A call that has ended. */
struct tw_left_call {
	uint64_t duration;
	uint64_t children; /* ns in the calls directly inside */
	union {
		struct {
			uint32_t row;
			/* Calls of this row that still go on: what is inside of another counts only once. */
			uint32_t below;
		};
		uint64_t function; /* name and row as one number */
	};
};

static inline uint64_t tw_call_self(const struct tw_left_call *call)
{
	uint64_t self;
	return __builtin_sub_overflow(call->duration, call->children, &self) ? 0 : self;
}

/* Calls of a name that are going on. */
union tw_on_stack {
	struct {
		uint32_t row; /* free for read_calls of a format */
		uint32_t calls;
	};
	uint64_t function; /* name and row as one number, as in struct tw_left_call */
};

/* What a track has while calls are going on. Once the stack is empty there are 0 calls of every name and row, so that a
 * space can go to another track as it is. */
struct tw_call_space {
	struct tw_frame *frames; /* the first is the root of the stack: its name is UINT32_MAX */
	size_t frame_room;
	union tw_on_stack *on_stack; /* by name */
	size_t name_room;
	uint32_t *row_on_stack; /* calls by row, only where `by_row` */
	size_t row_room;
	bool tableless;             /* there is no memory for these two: frames are looked through */
	uint32_t looks;             /* calls that began so */
	uint32_t lowest_other;      /* where the lowest call of TW_ROW_OTHER is, if it is there: otherwise stale */
	struct tw_call_space *next; /* of those that no track has */
};

/* A frame whose end is known: a complete slice. None ends later than the ones below. */
struct tw_timed_frame {
	uint64_t end;
	uint64_t due_below; /* `due` of the stack without this frame */
	uint32_t depth;
	uint32_t over; /* ns that the slice lasts beyond `end`, by rounding */
};

/* Slices of one track may overlap without nesting: what ends after a slice that is open is not inside of it, and goes
 * to a further lane, a stack of its own. The root of a lane stands for the innermost slice that holds all of it. */
struct tw_call_lane;

/* What a frame has beside as long as calls overlap. */
struct tw_call_overlap {
	uint64_t covered; /* until when calls that were directly inside lasted */
	uint64_t number;  /* of its begin: calls that begin are counted since there were further lanes */
	bool lapsed;      /* a complete slice that is over: see `lapsed` of the track */
};

/* A track. There may be very many: what few have is not in here. */
struct tw_call_stack {
	struct tw_call_space *space; /* NULL: nothing is going on */
	uint32_t depth;              /* of the top frame; 0: none but the root */
	uint32_t lane_count;         /* up to the last in which something is open; 0: all slices nest */
	uint64_t folded;             /* calls above the top for which there was no room */
	uint64_t last;               /* time of the last event, and of ends that events tell */
	uint64_t due;                /* when the first of the timed frames ends; UINT64_MAX: there are none */
	struct tw_timed_frame *timed;
	size_t timed_count, timed_room;
	struct tw_call_overlap *overlaps; /* by depth */
	size_t overlap_room;
	uint64_t numbers_from;      /* numbers of begins up to this one are of frames that are gone */
	uint32_t lifted;            /* the lowest frame that went on when one beside or below it ended; 0: none */
	uint32_t held;              /* frames with TW_ROW_HELD */
	uint32_t lapsed;            /* complete slices that are over, below calls that may end at the same time */
	uint32_t based;             /* the highest frame that the root of a lane may stand for */
	bool laneless;              /* the first of those that are folded had no lane */
	uint64_t lapsed_at;         /* the time at which they are over; they end with the first event of a later time */
	struct tw_call_lane *lanes; /* the further lanes */
	size_t lane_room;
};

/* A node of the tree over lanes: what is open on the lanes below it. */
struct tw_lane_node {
	uint64_t first;        /* when the first call began of those on the roots */
	uint64_t last;         /* when the last of these ends; UINT64_MAX: that is not known */
	uint32_t latest;       /* the lane whose top began last; 0: nothing is open */
	uint32_t due, top_due; /* where the next complete slice ends, and the next of those on top; 0: there is none */
	uint32_t free;         /* the first in which nothing is open; 0: there is none */
	bool untimed;          /* a call is not a complete slice, or has lapsed */
	bool deep, lapsed;     /* more than TW_CALLS_DEEP; a complete slice has lapsed */
};

struct tw_call_lane {
	struct tw_call_stack stack;
	uint32_t base_lane, base_depth; /* the frame that the root stands for; 0, 0: the track's root */
	uint32_t level;                 /* how deep that is, in all */
	struct tw_lane_node node;       /* of the tree over all lanes: lane_tree.c */
};

enum { TW_UNWOUND_KEPT = 8 };

/* Names of calls that were unwound at a time, of one track: ends of one time may come in another order. */
struct tw_unwound_calls {
	uint64_t time;
	uint32_t track, count;
	uint32_t names[TW_UNWOUND_KEPT];
};

struct tw_calls;

/* The owner's part: struct tw_calls is the first member of the context. */
struct tw_call_hooks {
	/* Gives the row of the stack's root; NULL: TW_ROW_NONE. */
	uint32_t (*root)(struct tw_calls *calls, uint32_t track);
	/* Gives the row of a call; TW_ROW_OTHER when there is no memory for it. caller[1].begin is when it begins. */
	uint32_t (*enter)(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name);
	void (*leave)(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
	              enum tw_call_end how);
	/* A call that began inside of `was` was not inside: `was` has ended. Gives its row under the one that holds it;
	 * NULL: it keeps its row. */
	uint32_t (*moved)(struct tw_calls *calls, const struct tw_frame *caller, const struct tw_frame *frame);
	/* All calls of the track with TW_ROW_HELD have ended. NULL: the owner gives no such rows. */
	void (*settle)(struct tw_calls *calls);
};

/* The stack of a lane; 0: the track's own. */
static inline const struct tw_call_stack *tw_lane_at(const struct tw_call_stack *own, uint32_t lane)
{
	return lane ? &own->lanes[lane - 1].stack : own;
}

/* What the owner asks for, and what its source is like. Written by the owner, before the first event. */
struct tw_call_rules {
	uint64_t min_duration;
	bool by_row;       /* several rows may have the same name on one track */
	bool in_turn;      /* a track is over when it is left */
	bool flat;         /* the owner has no lanes: a slice is cut where another begins that it does not hold */
	bool exact;        /* times of rounding, too, make another lane: nothing on a lane ends in another order */
	bool splits;       /* a slice that goes on when the slice around it ends is cut: its rest is another slice */
	uint64_t rounding; /* ns of the source's times: what begins so little before a slice ends is not inside of it */
	bool ends_unordered; /* of the source: an end of no open call may be that of one which was unwound just then */
	bool others_alike;   /* nobody asks for `below` of calls of TW_ROW_OTHER: the fast path takes them, too */
};

/* The stacks of all tracks. Written by calls.c, and what they have room in by spaces.c. */
struct tw_call_tracks {
	struct tw_call_stack *stacks; /* by track */
	size_t stack_room;
	uint64_t begun;               /* calls that began beside further lanes */
	struct tw_call_stack spare;   /* of all tracks that there is no memory for */
	struct tw_call_space *spaces; /* that no track has */
};

/* What was odd, by how often. Written by calls.c, lanes.c and call_by_call.h. */
struct tw_call_counts {
	uint64_t exits_without_entry, time_backwards;
	uint64_t uncertain; /* events of TW_FLAG_UNCERTAIN */
	uint64_t cut;       /* calls that went on after the end of one around them, and count as two */
	uint64_t overlaps;  /* calls that overlap one that is open, by more than rounding */
	uint64_t untimed;   /* calls that there was no room for: they are counted, without a duration */
	uint64_t beyond;    /* of these, the ones for which there was no lane: TW_LANES_MOST */
};

struct tw_calls {
	const struct tw_call_hooks *hooks;
	struct tw_budget *budget;
	struct tw_call_rules rules;
	bool scarce;       /* memory for tables has been short: who has them must need them */
	size_t name_limit; /* names below this may be given to `find` of the fast path */
	/* Rows by name, for names below name_limit; NULL where rows are not found by name alone. */
	const uint32_t *row_of;
	uint32_t track;
	uint32_t lane; /* for hooks: that of the call, 0 the track's own stack; how deep its root is */
	uint32_t level;
	struct tw_call_stack *stack; /* of the track, or for hooks that of the lane */
	struct tw_call_stack *own;   /* of the track, while `stack` is that of a lane */
	struct tw_frame *around;     /* for `leave`: what the call was directly inside of; not of the fast path */
	struct tw_call_tracks tracks;
	struct tw_unwound_calls unwound;
	bool again; /* for `enter`: the call that begins is the rest of one that was cut */
	bool mixed; /* for `enter`: its row may have TW_ROW_HELD */
	struct tw_call_counts counts;
};

/* A begin, an end or both, of one track: all that stacks need of an event. */
enum tw_call_kind { TW_CALL_BEGIN, TW_CALL_END, TW_CALL_COMPLETE };

struct tw_call_item {
	uint64_t time;
	uint64_t duration; /* of TW_CALL_COMPLETE */
	uint32_t name;
	uint32_t mark; /* tw_item_mark() */
};

/* Kind and place (the format's own) as one number. As bit fields compilers put them
 * together where they are to stand, and read there what was never written: a second page fault for each page. */
static inline uint32_t tw_item_mark(enum tw_call_kind kind, uint32_t place)
{
	return place << 2 | kind;
}

static inline enum tw_call_kind tw_item_kind(const struct tw_call_item *item)
{
	return item->mark & 3;
}

static inline bool tw_item_is_complete(const struct tw_call_item *item)
{
	return tw_item_kind(item) == TW_CALL_COMPLETE;
}

static inline uint32_t tw_item_place(const struct tw_call_item *item)
{
	return item->mark >> 2;
}

/* Items of a track in the order of time. */
struct tw_call_run {
	uint32_t track;
	uint64_t last; /* the same of events of any kind; 0: the items are all */
	const struct tw_call_item *items;
	size_t count;
	size_t uncertain; /* items of events of TW_FLAG_UNCERTAIN */
};

enum { TW_RUN_ITEMS = 64 };

static inline bool tw_is_call(const struct tw_event *event)
{
	return event->kind <= TW_SLICE_COMPLETE; /* the first three */
}

/* Whether damage makes it uncertain when a call began or ended. */
static inline bool tw_is_uncertain(const struct tw_event *event)
{
	return tw_is_call(event) && event->flags & TW_FLAG_UNCERTAIN;
}

/* Whether an event shows that its track still goes on: what is told about an object may stand anywhere. */
static inline bool tw_goes_on(const struct tw_event *event)
{
	return event->kind != TW_OBJECT && event->kind != TW_METADATA;
}

/* The item that an event is which is a call. Member by member: an initializer is put together in memory and copied from
 * there as a whole, for which the processor waits (`make bench` measures convert). */
static inline struct tw_call_item tw_call_item_of(const struct tw_event *event)
{
	struct tw_call_item item;
	item.time = event->time;
	item.duration = event->value;
	item.name = event->name;
	item.mark = tw_item_mark(event->kind & 3u, 0); /* kinds of events and of items have the same numbers */
	return item;
}

static inline uint64_t tw_call_over(uint64_t time, uint64_t duration, enum tw_call_kind kind)
{
	uint64_t over = time;
	if (kind == TW_CALL_COMPLETE && __builtin_add_overflow(time, duration, &over))
		return UINT64_MAX;
	return over;
}

/* Returns the time at which what an item tells is over. */
static inline uint64_t tw_call_item_over(const struct tw_call_item *item)
{
	return tw_call_over(item->time, item->duration, tw_item_kind(item));
}

/* The same of an event; 0 where it does not show that its track still goes on. The processor cannot predict the kind of
 * the next event, and no jump depends on it: `make bench` measures convert. */
static inline uint64_t tw_event_over(const struct tw_event *event)
{
	uint64_t lasts = event->kind == TW_SLICE_COMPLETE, goes_on = tw_goes_on(event), over;
	uint64_t wraps = __builtin_add_overflow(event->time, event->value & (0 - lasts), &over);
	return (over | (0 - wraps)) & (0 - goes_on);
}

/* Adds an event of any kind to a run whose items are in `items`. The item of an event that is no call is written, too,
 * and the next one takes its place: tw_event_over() says why. */
static inline void tw_call_run_add(struct tw_call_run *run, struct tw_call_item *items, const struct tw_event *event)
{
	items[run->count] = tw_call_item_of(event);
	run->count += tw_is_call(event);
	run->uncertain += tw_is_uncertain(event);
	uint64_t over = tw_event_over(event);
	run->last = over > run->last ? over : run->last;
}

/* Makes a run of the first events of a batch, up to TW_RUN_ITEMS of one track. Returns how many events it is made
 * of. */
size_t tw_calls_make_run(const struct tw_event *events, size_t count, struct tw_call_item *items,
                         struct tw_call_run *run);

bool tw_calls_init(struct tw_calls *calls);
void tw_calls_free(struct tw_calls *calls);

/* Takes any event; an item of the current track. */
void tw_calls_take(struct tw_calls *calls, const struct tw_event *event);
void tw_calls_take_item(struct tw_calls *calls, const struct tw_call_item *item);

/* Ends the complete slices of the current track that are over at a time, for what stands on the stack to be true
 * there. */
void tw_calls_advance(struct tw_calls *calls, uint64_t time);

/* Returns the innermost call that goes on on a track, the one that began last; NULL: there is none. */
const struct tw_frame *tw_calls_innermost(const struct tw_calls *calls, uint32_t track);

/* For hooks: calls of the track that have a row with TW_ROW_HELD get another one. */
void tw_calls_let_go(struct tw_calls *calls, uint32_t (*row_of)(struct tw_calls *calls, uint32_t row));

/* How many calls are around one that begins, for hooks. */
static inline uint32_t tw_calls_depth(const struct tw_calls *calls)
{
	return calls->level + calls->stack->depth;
}

/* Makes a track the current one. */
void tw_calls_switch(struct tw_calls *calls, uint32_t track);

/* The same, inline where nothing needs to be made or given back. */
static inline void tw_calls_select_track(struct tw_calls *calls, uint32_t track)
{
	const struct tw_call_stack *left = calls->stack;
	if (track == calls->track)
		return;
	if (calls->rules.in_turn || track >= calls->tracks.stack_room || (left->space && !left->depth)) {
		tw_calls_switch(calls, track);
		return;
	}
	calls->track = track;
	calls->stack = &calls->tracks.stacks[track];
}

/* Makes the track of an event the current one. False where it is no call: then the event is taken. */
static inline bool tw_calls_meet(struct tw_calls *calls, const struct tw_event *event)
{
	tw_calls_select_track(calls, event->track);
	if (tw_is_call(event))
		return true;
	tw_calls_take(calls, event);
	return false;
}

/* Ends what is open on all tracks, and frees what they had: no event may follow. The budget does not get it back before
 * the owner is closed, so that it does not matter which of several parts ends first. */
void tw_calls_finish(struct tw_calls *calls);

/* Calls that ended, for formats that find them without making events: struct tw_format's read_calls. */
struct tw_left_calls {
	struct tw_left_call *calls; /* one more than room: it may be written before it is known whether a call ended */
	size_t count, room;
};

/* ---- The fast path: calls of one track that nest. Nothing in it makes rows or frames; what it cannot do it leaves to
 * tw_calls_take_item(). It is inlined so that find and leave, constants, are too. `make bench` measures stat; without
 * it calls take four times as long. ---- */

/* Finds the row of a call; TW_ROW_NONE when that takes more than a look. As the hook `enter`. */
typedef uint32_t (*tw_call_find_fn)(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name);
typedef void (*tw_call_leave_fn)(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                                 enum tw_call_end how);

/* What the fast path keeps in registers. */
struct tw_call_cursor {
	struct tw_calls *calls;
	struct tw_frame *top, *last; /* last: there is no room above */
	union tw_on_stack *on_stack;
	uint32_t *row_on_stack;
	size_t names, rows; /* for which there is room */
	uint32_t least_row; /* that it takes */
	uint64_t min_duration, rounding;
	bool holds; /* the owner gives rows with TW_ROW_HELD */
	struct tw_frame *frames;
	struct tw_timed_frame *timed, *timed_last; /* above the top one; there is no room above */
	struct tw_frame *timed_top;                /* its frame; NULL: there is none */
	uint64_t due;
};

TW_INLINE bool tw_calls_push(struct tw_call_cursor *at, const struct tw_call_item *item, tw_call_find_fn find,
                             bool by_row)
{
	uint32_t name = item->name;
	if (name >= at->names || at->top == at->last)
		return false;
	at->top[1].begin = item->time;
	uint32_t row = find(at->calls, at->top, name);
	if (row < at->least_row || (by_row && row >= at->rows))
		return false;
	at->on_stack[name].calls++;
	if (by_row)
		at->row_on_stack[row]++;
	*++at->top = (struct tw_frame){.begin = item->time, .name = name, .row = row};
	return true;
}

/* Ends the call on top, which is one that is taken here. */
TW_INLINE void tw_calls_end(struct tw_call_cursor *at, uint64_t time, tw_call_leave_fn leave, bool by_row)
{
	struct tw_frame *top = at->top;
	uint64_t duration = time - top->begin;
	uint32_t below = --at->on_stack[top->name].calls;
	if (by_row)
		below = --at->row_on_stack[top->row];
	at->top--;
	if (duration < at->min_duration) {
		top[-1].children += top->children;
		return;
	}
	top[-1].children += duration;
	const struct tw_left_call call = {.duration = duration,
	                                  .children = top->children,
	                                  .row = top->row,
	                                  .below = below};
	leave(at->calls, top, &call, TW_CALL_ENDED);
}

TW_INLINE bool tw_calls_pop(struct tw_call_cursor *at, const struct tw_call_item *item, tw_call_leave_fn leave,
                            bool by_row)
{
	struct tw_frame *top = at->top;
	if (at->due < item->time || top->name != item->name || item->time < top->begin || top == at->timed_top ||
	    top->row < at->least_row)
		return false;
	tw_calls_end(at, item->time, leave, by_row);
	return true;
}

static inline struct tw_frame *tw_calls_timed_top(const struct tw_call_cursor *at, const struct tw_call_stack *stack)
{
	return at->timed > stack->timed ? at->frames + at->timed[-1].depth : NULL;
}

/* The call on top is over at a known time. */
static inline void tw_calls_put_timed(struct tw_call_cursor *at, const struct tw_call_item *item)
{
	uint64_t end = tw_call_item_over(item);
	*at->timed++ = (struct tw_timed_frame){end, at->due, (uint32_t)(at->top - at->frames), 0};
	at->timed_top = at->top;
	at->due = end;
}

/* Ends the complete slices on top that are over at a time, but for those that last beyond what is around them. */
TW_INLINE void tw_calls_settle(struct tw_call_cursor *at, uint64_t time, tw_call_leave_fn leave, bool by_row)
{
	while (at->due <= time && at->timed_top == at->top && at->timed[-1].end == at->due && !at->timed[-1].over &&
	       at->top->row >= at->least_row) {
		tw_calls_end(at, at->due, leave, by_row);
		at->due = (--at->timed)->due_below;
		at->timed_top = tw_calls_timed_top(at, at->calls->stack);
	}
}

/* Whether complete slices and slices with an end of their own go on together where a call begins. */
TW_INLINE bool tw_calls_mix(const struct tw_call_cursor *at, bool timed)
{
	const ptrdiff_t depth = at->top - at->frames;
	return at->holds && (timed ? at->timed - at->calls->stack->timed != depth : at->due != UINT64_MAX);
}

TW_INLINE bool tw_calls_begin(struct tw_call_cursor *at, const struct tw_call_item *item, tw_call_find_fn find,
                              bool by_row)
{
	bool timed = tw_item_is_complete(item);
	if (at->due - at->rounding <= item->time ||
	    (timed && (at->timed == at->timed_last || tw_call_item_over(item) > at->due)) || tw_calls_mix(at, timed) ||
	    !tw_calls_push(at, item, find, by_row))
		return false;
	if (timed)
		tw_calls_put_timed(at, item);
	return true;
}

/* A place among the timed frames; there may be no array yet, and C has no NULL + 0. */
static inline struct tw_timed_frame *tw_calls_timed_at(const struct tw_call_stack *stack, size_t i)
{
	return stack->timed ? stack->timed + i : NULL;
}

static inline struct tw_call_cursor tw_calls_cursor(struct tw_calls *calls)
{
	const struct tw_call_stack *stack = calls->stack;
	const struct tw_call_space *space = stack->space;
	struct tw_call_cursor at = {
	    .calls = calls,
	    .top = space->frames + stack->depth,
	    .last = space->frames + space->frame_room - 1,
	    .on_stack = space->on_stack,
	    .row_on_stack = space->row_on_stack,
	    .names = space->name_room < calls->name_limit ? space->name_room : calls->name_limit,
	    .rows = space->row_room,
	    .least_row = calls->rules.others_alike ? TW_ROW_OTHER : TW_ROW_FIRST,
	    .min_duration = calls->rules.min_duration,
	    .rounding = calls->rules.rounding,
	    .holds = calls->hooks->settle,
	    .frames = space->frames,
	    .timed = tw_calls_timed_at(stack, stack->timed_count),
	    .timed_last = tw_calls_timed_at(stack, stack->timed_room),
	    .due = stack->due,
	};
	at.timed_top = tw_calls_timed_top(&at, stack);
	return at;
}

/* The track goes on until a time. */
static inline void tw_calls_go_on(struct tw_calls *calls, uint64_t time)
{
	if (time > calls->stack->last)
		calls->stack->last = time;
}

/* Takes items of the current track, as many as it can; returns how many. over: what is told of complete slices that are
 * over by then; leave: of what an item ends. */
TW_INLINE size_t tw_calls_take_items(struct tw_calls *calls, const struct tw_call_item *items, size_t count,
                                     tw_call_find_fn find, tw_call_leave_fn over, tw_call_leave_fn leave, bool by_row)
{
	struct tw_call_stack *stack = calls->stack;
	if (!stack->space || stack->space->tableless || stack->folded || stack->lane_count || stack->lifted ||
	    stack->held || !tw_loop_is_on(TW_LOOP_CALLS_NEST))
		return 0;
	struct tw_call_cursor at = tw_calls_cursor(calls);
	const struct tw_call_item *item = items, *end = items + count;
	for (; item < end; item++) {
		tw_calls_settle(&at, item->time, over, by_row);
		if (tw_item_kind(item) == TW_CALL_END ? !tw_calls_pop(&at, item, leave, by_row)
		                                      : !tw_calls_begin(&at, item, find, by_row))
			break;
	}
	stack->depth = (uint32_t)(at.top - at.frames);
	stack->timed_count = (size_t)(at.timed - stack->timed);
	stack->due = at.due;
	if (item > items)
		tw_calls_go_on(calls, tw_call_item_over(&item[-1]));
	return (size_t)(item - items);
}

/* Takes an event that is a call, of the current track; false where it cannot. For events of all tracks in their order.
 * `make bench` measures convert to Perfetto and speedscope. */
TW_INLINE bool tw_calls_take_one(struct tw_calls *calls, const struct tw_event *event, tw_call_find_fn find,
                                 tw_call_leave_fn over, tw_call_leave_fn leave)
{
	const struct tw_call_item item = tw_call_item_of(event);
	return tw_loop_is_on(TW_LOOP_CALLS_ONE) && tw_calls_take_items(calls, &item, 1, find, over, leave, false);
}

/* Takes a run. */
TW_INLINE void tw_calls_add_run(struct tw_calls *calls, const struct tw_call_run *run, tw_call_find_fn find,
                                tw_call_leave_fn leave, bool by_row)
{
	if (run->track != calls->track)
		tw_calls_switch(calls, run->track);
	for (size_t i = 0; i < run->count;) {
		i += tw_calls_take_items(calls, run->items + i, run->count - i, find, leave, leave, by_row);
		if (i < run->count)
			tw_calls_take_item(calls, &run->items[i++]);
	}
	tw_calls_go_on(calls, run->last);
}

#endif
