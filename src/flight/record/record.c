/* record.c - the records of functions: what runs for each call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log/log.h"
#include "flight/system.h"

/* A signal handler may interrupt a record; its own go into another chunk of the thread. */
enum { DEPTHS = 3 };
#define FLIGHT_TLS static _Thread_local __attribute__((tls_model("initial-exec")))
FLIGHT_TLS struct level {
	struct flight_thread thread;
	/* Of the record that is being made, its place on the stack, all bits turned; 0: there is none. A handler may
	 * have left it. */
	uint64_t begun_at;
} levels[DEPTHS];

/* glibc's place of the restartable sequences, which the kernel keeps up to date. Older ones have none. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

uint32_t flight_cpu(void)
{
	enum { CPU_AT = 4 };
	if (!&__rseq_size || __rseq_size == 0)
		return 0;
	const char *thread = (const char *)__builtin_thread_pointer();
	return *(const volatile uint32_t *)(thread + __rseq_offset + CPU_AT);
}

static inline uint64_t now_of(const struct flight_log *log)
{
#if defined(__x86_64__)
	if (log->ticks)
		return __builtin_ia32_rdtsc();
#else
	(void)log;
#endif
	return flight_now();
}

/* When and where a record is made. */
struct record_time {
	uint64_t now;
	uint32_t cpu;
};

static inline struct record_time this_moment(const struct flight_log *log)
{
	return (struct record_time){now_of(log), flight_cpu()};
}

static inline bool fits(const struct flight_thread *thread, struct record_time moment, size_t size)
{
	return moment.now - thread->last <= INT32_MAX && moment.cpu == thread->cpu &&
	       (size_t)(thread->end - thread->at) >= size;
}

static inline void store(uint8_t *at, uint64_t value)
{
	__builtin_memcpy(at, &value, sizeof value);
}

enum { KIND = 14, ENTER = 0 << 1, EXIT = 1 << 1, TAIL_EXIT = 2 << 1 }; /* in the first half of a record */

static inline bool is_exit(uint32_t word)
{
	return (word & KIND) == EXIT || (word & KIND) == TAIL_EXIT;
}

/* Takes away the entry of a call that was too short, if it is the last record. A reader that is at it meanwhile sees
 * the record that comes there next, or that one. */
static inline bool take_away(const struct flight_log *log, struct flight_thread *thread, uint32_t word, uint64_t now)
{
	uint64_t entry;
	if (thread->at - thread->floor < FLIGHT_FUNCTION || now - thread->last >= log->shortest)
		return false;
	__builtin_memcpy(&entry, thread->at - FLIGHT_FUNCTION, sizeof entry);
	if ((uint32_t)entry != (word & ~(uint32_t)KIND))
		return false;
	thread->last -= entry >> 32;
	flight_commit(thread, thread->at - FLIGHT_FUNCTION);
	return true;
}

static inline void put(struct flight_thread *thread, uint32_t word, uint64_t now, bool has_argument, uint64_t argument)
{
	enum { CALL_ARGUMENT = 0x0d };
	const uint64_t delta = now > thread->last ? now - thread->last : 0;
	uint8_t *end = thread->at + FLIGHT_FUNCTION + (has_argument ? FLIGHT_METADATA : 0);
	store(thread->at, word | delta << 32);
	if (has_argument) {
		store(thread->at + FLIGHT_FUNCTION, CALL_ARGUMENT | argument << 8);
		store(thread->at + FLIGHT_FUNCTION + 8, argument >> 56);
	}
	if ((word & KIND) != ENTER)
		thread->floor = end;
	thread->last += delta;
	flight_commit(thread, end);
}

/* ---- A record at a time. ---- */

static inline __attribute__((always_inline)) void write(struct flight_thread *thread, uint32_t word,
                                                        struct record_time moment)
{
	const struct flight_log *log = flight_log;
	if ((__builtin_expect(fits(thread, moment, FLIGHT_FUNCTION), 1) ||
	     flight_prepare(thread, moment.now, moment.cpu, FLIGHT_FUNCTION)) &&
	    !(__builtin_expect(log->shortest != 0, 0) && is_exit(word) && take_away(log, thread, word, moment.now)))
		put(thread, word, moment.now, false, 0);
}

static void write_argument(struct flight_thread *thread, uint32_t word, struct record_time moment, uint64_t argument)
{
	enum { SIZE = FLIGHT_FUNCTION + FLIGHT_METADATA };
	if (fits(thread, moment, SIZE) || flight_prepare(thread, moment.now, moment.cpu, SIZE))
		put(thread, word, moment.now, true, argument);
}

/* Ends the innermost open call. */
static inline __attribute__((always_inline)) void write_exit(struct flight_thread *thread, uint32_t kind,
                                                             struct record_time moment)
{
	const uint32_t id = thread->calls[--thread->open].id;
	if (!(id & FLIGHT_LEFT_OUT))
		write(thread, id << 4 | kind, moment);
}

static void close_down_to(struct flight_thread *thread, uint32_t open, struct record_time moment)
{
	while (thread->open > open)
		write_exit(thread, EXIT, moment);
}

/* One store: a handler comes before it, and has the level until it ends, or behind it, and has the next. */
static inline void enter_level(struct level *level, uint64_t place)
{
	level->begun_at = ~place;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void leave_level(struct level *level)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	level->begun_at = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* A handler has left by longjmp() what it had interrupted: a record, which may be begun. Its chunk is left, too. Other
 * handlers may come meanwhile. Returns the first level that is free. */
static __attribute__((noinline)) uint32_t leave_interrupted(uint64_t place)
{
	const struct flight_log *log = flight_log;
	uint32_t free = 1;
	while (free < DEPTHS && levels[free].begun_at)
		free++;
	for (; free && ~levels[free - 1].begun_at <= place && !flight_is_foreign(log->pid, levels[0].thread.tid, place);
	     free--) {
		struct flight_thread *interrupted = &levels[free - 1].thread;
		if (free < DEPTHS && levels[free].thread.generation == log->generation) {
			enter_level(&levels[free], place);
			close_down_to(&levels[free].thread, 0, this_moment(log));
			leave_level(&levels[free]);
		}
		interrupted->at = interrupted->end = interrupted->floor = NULL;
		leave_level(&levels[free - 1]);
	}
	return free;
}

/* The level of a record. NULL: there is none, which is counted. */
static inline struct level *begin_record(const struct flight_log *log, uint64_t place)
{
	struct level *level = &levels[0];
	if (__builtin_expect(level->begun_at != 0, 0)) {
		const uint32_t free = leave_interrupted(place);
		if (free == DEPTHS) {
			flight_lose_in_handler();
			return NULL;
		}
		level = &levels[free];
	}
	enter_level(level, place);
	if (__builtin_expect(level->thread.generation != log->generation, 0) && !flight_join(&level->thread)) {
		leave_level(level);
		return NULL;
	}
	return level;
}

/* ---- Calls begin and end. ---- */

/* Whether a call cannot be open where another one begins, or ends: then the id is 0. Those on foreign stacks do not
 * tell. A function that is inlined has the place and the site of the one around it. */
static bool is_over(const struct flight_thread *thread, const struct flight_call *call, struct flight_frame frame,
                    uint32_t id)
{
	const uint32_t pid = flight_log->pid;
	if (flight_is_foreign(pid, thread->tid, call->place) != flight_is_foreign(pid, thread->tid, frame.place))
		return call->place > frame.place;
	if (call->place != frame.place || id == 0)
		return call->place < frame.place;
	return frame.kind != FLIGHT_SHARED || call->site != frame.site || (call->id & ~FLIGHT_LEFT_OUT) == id;
}

/* Returns the last that is closed; 0: none is. */
static __attribute__((noinline)) uint32_t close_over(struct flight_thread *thread, struct flight_frame frame,
                                                     uint32_t id, struct record_time moment)
{
	uint32_t last = 0;
	while (thread->open && is_over(thread, &thread->calls[thread->open - 1], frame, id)) {
		last = thread->calls[thread->open - 1].id;
		write_exit(thread, EXIT, moment);
	}
	return last & ~FLIGHT_LEFT_OUT;
}

/* Keeps a call. False: no record tells of it. */
static inline bool open_call(struct flight_thread *thread, uint32_t id, struct flight_frame frame)
{
	const uint32_t deepest = flight_log->deepest;
	const bool left_out = __builtin_expect(deepest != 0, 0) && thread->open >= deepest;
	if (__builtin_expect(thread->open < thread->most, 1))
		thread->calls[thread->open++] =
		    (struct flight_call){frame.place, left_out ? id | FLIGHT_LEFT_OUT : id, frame.site};
	else if (frame.kind == FLIGHT_BY_PLACE) {
		flight_lose();
		return false;
	}
	return !left_out;
}

static inline bool enter(struct flight_thread *thread, uint32_t id, struct flight_frame frame,
                         struct record_time moment)
{
	if (thread->open && __builtin_expect(thread->calls[thread->open - 1].place <= frame.place, 0))
		close_over(thread, frame, id, moment);
	return open_call(thread, id, frame);
}

static inline bool is_of(const struct flight_call *call, uint32_t id)
{
	return (call->id & ~FLIGHT_LEFT_OUT) == id;
}

/* How many calls are around the one that ends, and that one; 0: it is not known. Where frames are so large that the
 * place of a call is not known for sure, its site tells it. */
static uint32_t find_call(const struct flight_thread *thread, uint32_t id, struct flight_frame frame)
{
	enum { LOOKS = 64 }; /* at calls that are open */
	uint32_t found = 0;
	unsigned looks = 0;
	for (uint32_t i = thread->open; i && looks < LOOKS; i--) {
		const struct flight_call *call = &thread->calls[i - 1];
		looks += !is_over(thread, call, frame, 0);
		if (is_of(call, id) && call->place == frame.place)
			return i;
		if (is_of(call, id) && frame.kind == FLIGHT_SHARED && call->site == frame.site && !found)
			found = i;
	}
	return found;
}

/* An exit that is not that of the innermost call. One without an entry is written as it is. */
static __attribute__((noinline)) void leave_another(struct flight_thread *thread, uint32_t word,
                                                    struct flight_frame frame, struct record_time moment)
{
	const uint32_t id = word >> 4, found = find_call(thread, id, frame);
	if (found) {
		close_down_to(thread, found, moment);
		write_exit(thread, word & KIND, moment);
	} else if (close_over(thread, frame, 0, moment) != id) {
		write(thread, word, moment);
	}
}

static inline void leave(struct flight_thread *thread, uint32_t word, struct flight_frame frame,
                         struct record_time moment)
{
	const struct flight_call *last = &thread->calls[thread->open - 1];
	if (thread->open && __builtin_expect(is_of(last, word >> 4) && last->place == frame.place, 1))
		write_exit(thread, word & KIND, moment);
	else
		leave_another(thread, word, frame, moment);
}

static inline bool counts(struct flight_log *log, uint32_t word)
{
	if (__builtin_expect(log->counts == NULL, 1))
		return false;
	if (!is_exit(word))
		flight_count(log, word >> 4);
	return true;
}

void flight_function(uint32_t word, struct flight_frame frame)
{
	struct flight_log *log = flight_log;
	if (counts(log, word))
		return;
	struct level *level = begin_record(log, frame.place);
	if (!level)
		return;
	struct flight_thread *thread = &level->thread;
	const struct record_time moment = this_moment(log);
	if (is_exit(word))
		leave(thread, word, frame, moment);
	else if (enter(thread, word >> 4, frame, moment))
		write(thread, word, moment);
	leave_level(level);
}

void flight_function_argument(uint32_t word, struct flight_frame frame, uint64_t argument)
{
	struct flight_log *log = flight_log;
	if (counts(log, word))
		return;
	struct level *level = begin_record(log, frame.place);
	if (!level)
		return;
	struct flight_thread *thread = &level->thread;
	const struct record_time moment = this_moment(log);
	if (enter(thread, word >> 4, frame, moment))
		write_argument(thread, word, moment, argument);
	leave_level(level);
}

/* Calls around it that are still open are in higher places, or on another stack. */
static __attribute__((noinline)) void return_to(struct flight_thread *thread, struct flight_frame frame,
                                                struct record_time moment)
{
	close_over(thread, frame, 0, moment);
	if (thread->open && thread->calls[thread->open - 1].place == frame.place)
		write_exit(thread, EXIT, moment);
}

void flight_return(struct flight_frame frame)
{
	struct flight_log *log = flight_log;
	if (log->counts)
		return;
	struct level *level = begin_record(log, frame.place);
	if (!level)
		return;
	struct flight_thread *thread = &level->thread;
	const struct record_time moment = this_moment(log);
	if (thread->open && __builtin_expect(thread->calls[thread->open - 1].place == frame.place, 1))
		write_exit(thread, EXIT, moment);
	else
		return_to(thread, frame, moment);
	leave_level(level);
}

/* The two halves: kind, size, difference of the clock, type. */
static inline void put_event(struct flight_thread *thread, const struct flight_event *event, uint64_t now)
{
	enum { CUSTOM_EVENT = 0x0b, TYPED_EVENT = 0x11 };
	const uint64_t delta = now > thread->last ? now - thread->last : 0;
	store(thread->at, (event->typed ? TYPED_EVENT : CUSTOM_EVENT) | event->size << 8 | delta << 40);
	store(thread->at + 8, delta >> 24 | (uint64_t)event->type << 8);
	flight_copy(thread->at + FLIGHT_METADATA, event->payload, event->size);
	thread->last += delta;
	thread->floor = thread->at + FLIGHT_METADATA + event->size;
	flight_commit(thread, thread->floor);
}

/* Handlers have lower places than what they interrupt. */
void flight_event(const struct flight_event *event)
{
	struct flight_log *log = flight_log;
	if (log->counts)
		return;
	if (event->size == 0 || event->size > FLIGHT_PAYLOAD_MOST) {
		flight_lose();
		return;
	}
	struct level *level = begin_record(log, (uint64_t)__builtin_frame_address(0));
	if (!level)
		return;
	struct flight_thread *thread = &level->thread;
	const struct record_time moment = this_moment(log);
	const uint64_t size = FLIGHT_METADATA + event->size;
	if (fits(thread, moment, size) || flight_prepare(thread, moment.now, moment.cpu, size))
		put_event(thread, event, moment.now);
	leave_level(level);
}
