/* record.c - the records of functions: what runs for each call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log.h"
#include "flight/system.h"

/* A signal handler may interrupt a record; its own go into another chunk of the thread. */
enum { DEPTHS = 3 };
#define FLIGHT_TLS static _Thread_local __attribute__((tls_model("initial-exec")))
FLIGHT_TLS struct flight_thread places[DEPTHS];
FLIGHT_TLS uint32_t depth;

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

static inline bool fits(const struct flight_log *log, const struct flight_thread *thread, uint64_t now, uint32_t cpu,
                        size_t size)
{
	return thread->generation == log->generation && now - thread->last <= INT32_MAX && cpu == thread->cpu &&
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

/* ---- A limit of depth. ----
 *
 * Exceptions and longjmp() end calls without an exit: those whose place on the stack is free when the next begins. */

static bool is_entry_too_deep(struct flight_thread *thread, uint32_t deepest, uint32_t id, uint64_t place)
{
	const uint32_t before = thread->open;
	while (thread->open && thread->calls[thread->open - 1].place < place)
		thread->open--;
	if (thread->open < before)
		thread->skipped = 0;
	if (thread->open == deepest) {
		thread->skipped++;
		return true;
	}
	thread->skipped = 0;
	thread->calls[thread->open++] = (struct flight_open){place, id};
	return false;
}

/* The innermost open call ends, or, where exits are missing, one around it. */
static bool is_exit_too_deep(struct flight_thread *thread, uint32_t id, uint64_t place)
{
	const struct flight_open *last = thread->open ? &thread->calls[thread->open - 1] : NULL;
	if (thread->skipped && !(last && last->id == id && place >= last->place)) {
		thread->skipped--;
		return true;
	}
	thread->skipped = 0;
	uint32_t open = thread->open;
	while (open && thread->calls[open - 1].id != id)
		open--;
	if (open)
		thread->open = open - 1;
	return open == 0;
}

static __attribute__((noinline)) bool is_too_deep(const struct flight_log *log, struct flight_thread *thread,
                                                  uint32_t word)
{
	const uint64_t place = (uint64_t)__builtin_frame_address(0);
	const uint32_t id = word >> 4;
	return is_exit(word) ? is_exit_too_deep(thread, id, place) : is_entry_too_deep(thread, log->deepest, id, place);
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

static inline void record(uint32_t word, bool has_argument, uint64_t argument)
{
	struct flight_log *log = flight_log;
	if (__builtin_expect(log->counts != NULL, 0)) {
		if (!is_exit(word))
			flight_count(log, word >> 4);
		return;
	}
	const uint32_t outer = depth;
	if (outer == DEPTHS) {
		flight_lose();
		return;
	}
	struct flight_thread *thread = &places[outer];
	depth = outer + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	const uint64_t now = now_of(log);
	const uint32_t cpu = flight_cpu();
	const size_t size = FLIGHT_FUNCTION + (has_argument ? FLIGHT_METADATA : 0);
	if ((__builtin_expect(fits(log, thread, now, cpu, size), 1) || flight_prepare(thread, now, cpu, size)) &&
	    !(__builtin_expect(log->deepest != 0, 0) && is_too_deep(log, thread, word)) &&
	    !(__builtin_expect(log->shortest != 0, 0) && is_exit(word) && take_away(log, thread, word, now)))
		put(thread, word, now, has_argument, argument);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	depth = outer;
}

void flight_function(uint32_t word)
{
	record(word, false, 0);
}

void flight_function_argument(uint32_t word, uint64_t argument)
{
	record(word, true, argument);
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

void flight_event(const struct flight_event *event)
{
	struct flight_log *log = flight_log;
	const uint32_t outer = depth;
	if (log->counts)
		return;
	if (outer == DEPTHS || event->size == 0 || event->size > FLIGHT_PAYLOAD_MOST) {
		flight_lose();
		return;
	}
	struct flight_thread *thread = &places[outer];
	depth = outer + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	const uint64_t now = now_of(log), size = FLIGHT_METADATA + event->size;
	const uint32_t cpu = flight_cpu();
	if (fits(log, thread, now, cpu, size) || flight_prepare(thread, now, cpu, size))
		put_event(thread, event, now);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	depth = outer;
}
