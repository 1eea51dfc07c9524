/* profiler.h - what the parts of the profiler share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COREPROFILER_PROFILER_H
#define COREPROFILER_PROFILER_H

#include "coreprofiler/com.h"
#include "coreprofiler/ids.h"
#include "coreprofiler/lines.h"
#include "coreprofiler/text.h"

#include <limits.h>

/* What is recorded, as the environment says (options.c). The names are those of CoreProfiler's own variables, and of
 * `prf cfg`. */
struct profiler_options {
	const char *image; /* a pattern of `record`, which writes the log; NULL: the profiler writes it itself */
	const char *log;
	bool stream; /* log is a pipe or what is there already: it is written to, not made anew */
	uint64_t room;
	enum profiler_method { PROFILER_NONE, PROFILER_SAMPLING, PROFILER_INSTRUMENTATION } method;
	uint32_t sampling_ms, cpu_ms;
	uint64_t alloc_bytes; /* a sample of what is allocated about every so many bytes; 0: all of it */
	bool high_granularity, line_trace, cpu_process, cpu_thread, execution, memory, stacks, gc, live_heap;
	bool delayed; /* it begins paused */
	bool old;     /* dialect d2 */
	bool check;   /* stacks that are not walked are walked, too */
};

struct profiler {
	struct com *info;
	struct profiler_options options;
	struct line_image lines;
	struct ids classes, functions;
	bool kinds_come;        /* an event says of which kind a collection is */
	bool ticks_come;        /* events are the samples of what is allocated */
	bool off;               /* a forked child: nothing is written */
	_Atomic uint64_t wrong; /* of stacks that were checked */
	_Atomic bool paused;    /* what is loaded is logged, and no more */
	_Atomic uint32_t beats; /* a millisecond each, about, where calls are not logged one by one: of ticks.c */
};
extern struct profiler profiler;

/* Also where a child was forked that nobody was told of. */
static inline bool profiler_is_off(void)
{
	return profiler.off || !lines_are_own(&profiler.lines);
}

void profiler_options_read(struct profiler_options *options);

/* ---- Beginning and ending (begin.c). ---- */

/* With the options that have been read: opens the log, and writes its first lines. */
bool profiler_begin(void);

/* Tells that allocations are estimates, where they are: when it is known of how many bytes. */
void profiler_write_sample_bytes(void);

/* The runtime cannot do what is asked for: nothing is recorded. */
void profiler_give_up(void);

/* The program ends in order. */
void profiler_finish(void);

/* ---- The log (log.c). ---- */

/* Begins it, and time. False: it cannot be written. */
bool profiler_log_open(const struct profiler_options *options);

/* Writes what there is, where the profiler writes the log itself. */
void profiler_write_out(void);

/* Milliseconds since the beginning. */
uint64_t profiler_ms(void);

/* ---- Messages (messages.c). ---- */

enum profiler_level { PROFILER_SILENT, PROFILER_FATAL, PROFILER_ERROR, PROFILER_WARN, PROFILER_INFO };

/* Tells of the profiler itself, where messages of this level are asked for. */
void profiler_say(enum profiler_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Lines (state.c). ---- */

/* Ends a line and hands it on; frees it. */
void profiler_send(struct text *line);

/* Add a space, and a number as the format has it. */
void profiler_add_pointer(struct text *line, uint64_t value);
void profiler_add_hex8(struct text *line, uint32_t value);

/* ---- What the runtime calls (records.c): start.c adds what is missing. ---- */

extern com_function *profiler_callbacks[COM_CALLBACKS];

/* ---- Compilations (jit.c). ---- */

/* Begins a line of what this thread does now. */
void profiler_begin_at_now(struct text *line, const char *kind);

/* "jit cms " and the others; `status` of "jit cmf " alone. */
void profiler_write_jit(const char *kind, uint64_t id, const int32_t *status);

/* ---- Words of names (words.c). ---- */

enum { PROFILER_PRIMITIVES = 0x1d };
extern const struct profiler_primitive {
	const char *keyword, *name; /* in signatures, elsewhere; NULL: it is none */
} profiler_primitives[PROFILER_PRIMITIVES];

/* Adds the letter of a type argument, with its number where letters are not enough. */
extern const char profiler_type_letters[], profiler_method_letters[];
void profiler_add_parameter(struct text *text, const char *letters, uint64_t number);

/* ---- Names from metadata (names.c). ---- */

void profiler_add_class(struct text *text, uint64_t id);

/* Adds a function's name, what it returns, and its parameters, each in quotes. */
void profiler_add_function(struct text *text, uint64_t id);

/* ---- Classes and functions (objects.c). ---- */

/* Tells of a class, if nobody has; with its module and token where `loaded` says so. Returns its internal id. */
uint32_t profiler_write_class(uint64_t id, bool loaded, int32_t status);

/* Logs of a function what has not been logged: its name, and each body. */
void profiler_write_function(uint64_t id);

/* ---- Threads (threads.c). ---- */

struct profiler_frame {
	uint64_t function, ip; /* function 0: unmanaged ones */
	uint64_t sp;           /* 0: not known */
	uint32_t iid;          /* of the function; 0: not looked up yet */
};

/* By chance a thread samples its allocations: the state of its generator of random numbers. */
struct profiler_chance {
	uint64_t state; /* 0: nothing has been drawn yet */
	uint64_t left;  /* bytes until the next sample */
};

/* A thread. Never freed: when the thread has ended, the next one that begins takes it over. */
struct profiler_thread {
	struct profiler_thread *next;
	_Atomic uint64_t id; /* the runtime's; 0: it has ended */
	_Atomic uint32_t system;
	uint32_t iid;
	uint64_t cpu_us;
	_Atomic bool busy; /* somebody reads or changes what follows */
	struct profiler_stack {
		struct profiler_frame *frames; /* the outermost first */
		size_t depth, room;
		bool failed;
	} logged, now; /* as the log has it; as it is */
	bool stands;   /* the log has a stack of it */
	uint64_t ms;   /* the time of that */
	struct profiler_calls {
		struct profiler_call {
			uint64_t sp; /* of who called it */
			uint32_t iid;
		} * frames; /* the outermost first */
		size_t depth, room;
		size_t logged, lowest; /* the depth as the log has it; the lowest depth since */
		uint64_t ms;           /* of the change that the log does not have yet */
		uint32_t beat;         /* when the clock was looked at last */
		uint32_t changes;      /* since */
		uint32_t unwound;      /* the function that an exception takes away */
	} calls;
	struct profiler_places *places; /* NULL: none yet */
	bool has_old_places;            /* of a thread that has ended */
	struct profiler_chance chance;
};

struct profiler_thread *profiler_threads(void); /* the first; then `next` */

/* Who has a thread may change it. Not for long, and nothing that waits. */
static inline bool profiler_try(struct profiler_thread *thread)
{
	return !atomic_exchange_explicit(&thread->busy, true, memory_order_acquire);
}

static inline void profiler_give(struct profiler_thread *thread)
{
	atomic_store_explicit(&thread->busy, false, memory_order_release);
}

void profiler_wait_for(struct profiler_thread *thread); /* what taking a thread is that somebody has */
static inline void profiler_take(struct profiler_thread *thread)
{
	if (!profiler_try(thread))
		profiler_wait_for(thread);
}

bool profiler_take_soon(struct profiler_thread *thread); /* false: who has it does not go on */

/* Who the own thread is, as it has been found. */
struct profiler_own {
	struct profiler_thread *thread; /* NULL: not found yet */
	uint32_t system;                /* as the system numbers it; 0: not asked for yet */
};
extern _Thread_local struct profiler_own profiler_own __attribute__((tls_model("initial-exec")));

struct profiler_thread *profiler_find_own_thread(void);
static inline struct profiler_thread *profiler_own_thread(void)
{
	const struct profiler_own *own = &profiler_own;
	if (own->thread && own->thread->id && own->thread->system == own->system)
		return own->thread;
	return profiler_find_own_thread();
}

void profiler_thread_created(uint64_t id);
void profiler_thread_assigned(uint64_t id, uint32_t system);
void profiler_thread_destroyed(uint64_t id);
uint32_t profiler_system_thread(void);
struct profiler_thread *profiler_thread_find(uint64_t id); /* NULL: there is none */

/* Adds who does something now: the thread as the system numbers it, in d2 by its internal id. */
void profiler_add_thread(struct text *line);

/* ---- Stacks (stacks.c). ---- */

/* Room for so many frames. False: there is none. */
bool profiler_make_room(struct profiler_stack *stack, size_t depth);

/* Puts in the stack of a thread that is suspended, or of the own one (0), with stack pointers where they can be had.
 * False: there is none. */
bool profiler_walk(struct profiler_stack *stack, uint64_t id);

/* Writes how a stack has changed by then, with this many ticks; without ticks only if it has. */
void profiler_write_stack(struct profiler_thread *thread, struct profiler_stack *now, uint32_t ticks, uint64_t ms);

/* Begins such a line, up to what is to be told of depths. */
void profiler_begin_stack(struct text *line, const struct profiler_thread *thread, uint64_t ms, uint32_t ticks);

/* Tells of the functions of a stack, and looks their internal ids up: from then on it is written without the runtime.
 * Not while that is suspended. */
void profiler_write_frames(struct profiler_stack *stack);

/* Tells of bodies of functions that stacks have shown for the first time. Neither. */
void profiler_write_seen(void);

/* Its id may become another one's. */
void profiler_forget_function(uint64_t id);

/* ---- Allocations (allocations.c). ---- */

struct profiler_amount {
	uint64_t count, bytes;
};

/* In the thread that allocates. */
void profiler_allocated(uint64_t object, uint64_t class_id);

/* The same of a sample that the runtime takes, by the size of its object, and the bytes that it stands for. */
void profiler_ticked(uint64_t class_id, uint64_t size, uint64_t bytes);

/* ---- Estimates (estimates.c). ---- */

/* Whether an object of a size is a sample, where one is taken about every so many bytes; and what it stands for: as
 * many of them as one sample of them comes of. */
bool profiler_is_sample(struct profiler_chance *chance, uint64_t size, uint64_t every, struct profiler_amount *amount);

/* As many objects of a size as bytes make: rounded up or down by chance, so that many of them add up. */
uint64_t profiler_objects_in(struct profiler_chance *chance, uint64_t bytes, uint64_t size);

/* ---- The runtime's own events (events.c). ---- */

/* How often the runtime itself takes samples of what is allocated. Source: allocation_tick of its gc.cpp. */
enum { PROFILER_TICK_BYTES = 100 * 1024 };

/* Asks for those of collections, and for its samples of allocations. After events were asked for with COM_HIGH_EVENTS.
 * False: it has none (before .NET 5). */
bool profiler_begin_events(bool ticks);

void profiler_take_event(uint64_t provider, uint32_t id, const uint8_t *event, uint32_t size);

/* ---- Collections (collections.c). ---- */

/* What the runtime calls. */
int32_t profiler_collection_started(struct com *own, int32_t count, const int32_t *collected, uint32_t reason);
int32_t profiler_collection_finished(struct com *own);
int32_t profiler_object_lives(struct com *own, uint64_t object, uint64_t class_id, uint32_t count,
                              const uint64_t *others);

/* Of which kind the collection is whose beginning was logged last. */
void profiler_collection_begins(bool background, bool induced);

/* Writes what a thread has allocated and the log does not have. By who has the thread (busy). */
void profiler_write_allocated(struct profiler_thread *thread);

/* The same of all threads: also of those that are in the middle of something, or without them. */
void profiler_write_all_allocated(bool waits);

/* A function or a class has gone: its id, and where its code was, may become another one's. */
void profiler_forget_places(void);
uint32_t profiler_gone(void); /* how much that was */

/* ---- Stacks by enter and leave (calls.c). ---- */

/* Before events are asked for. False: the runtime has no hooks (hooked.c). */
bool profiler_hook_functions(void);

/* By hooks: internal id of the function, stack pointer of who called it. */
#define PROFILER_NO_SP UINT64_MAX /* for all calls of a process */
void profiler_entered(uint64_t iid, uint64_t sp);
void profiler_left(uint64_t iid, uint64_t sp);

void profiler_unwinds(uint64_t function);
void profiler_unwound(void);

/* Writes how the stack has changed. By who has the thread. */
void profiler_write_calls(struct profiler_thread *thread);

/* The same of all threads, where it has not changed again for at least a millisecond. */
void profiler_write_all_calls(void);

/* What has changed while the profiler was paused has changed now. */
void profiler_resume_calls(void);

/* ---- The heap (heap.c). ---- */

void profiler_heap_add(uint64_t class_id, uint64_t size);
void profiler_write_heap(uint64_t ms);

/* What is used and reserved by generations (0 to 2), large objects, pinned ones. */
enum { PROFILER_GENERATIONS = 5 };
struct profiler_generations {
	uint64_t used[PROFILER_GENERATIONS], reserved[PROFILER_GENERATIONS];
	unsigned parts; /* one less where the runtime has no heap of pinned objects */
};

/* The runtime may have to be waited for. False: it does not tell. */
bool profiler_look_at_generations(struct profiler_generations *left);
void profiler_write_generations(const struct profiler_generations *left, uint64_t ms);

/* ---- Pausing (pause.c). ---- */

/* Takes the signals. */
void profiler_pause_begin(bool paused);

/* Does what a signal has asked for. By one thread. */
void profiler_pause_look(void);

/* ---- The thread that does something now and then (ticks.c). ---- */

/* At each tick: writes the stacks of all threads, if samples are asked for (samples.c). */
void profiler_sample(void);

/* Waits for what that thread is at, unless it takes long: it may wait for us. By another thread. */
void profiler_ticks_wait(void);

bool profiler_ticks_begin(void);
void profiler_ticks_end(void);

#endif
