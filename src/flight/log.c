/* log.c - the file of a flight recorder: made, grown by chunks, ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log.h"

#include "flight/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static struct flight_log nothing;
_Alignas(FLIGHT_UNSHARED) struct flight_log *flight_log = &nothing;

enum { NANOSECONDS = 1000000000, CALIBRATION = 2000000 /* ns, of the first pair of clocks */ };

/* ---- Clocks. ---- */

/* Whether the counter of the processor runs at one speed and is the same on all processors: the processor must say the
 * one, and the kernel, which has compared them, the other. */
static bool ticks_are_sound(void)
{
#if defined(__x86_64__)
	enum { INVARIANT = 1 << 8 };
	unsigned a, b, c, d = 0;
	char name[8] = {0};
	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & INVARIANT))
		return false;
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	bool sound = fd >= 0 && read(fd, name, sizeof name) >= 4 && memcmp(name, "tsc\n", 4) == 0;
	if (fd >= 0)
		close(fd);
	return sound;
#else
	return true; /* CNTVCT_EL0 is architected so */
#endif
}

static uint64_t kernel_time(clockid_t clock)
{
	struct timespec now = {0};
	if (flight_call(SYS_clock_gettime, clock, (long)&now, 0, 0) < 0) /* a filter forbids it */
		clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

uint64_t flight_now(void)
{
	if (!flight_log->ticks) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now); /* the kernel's own code, which has no vector instructions */
		return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
	}
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

static struct flight_clock clocks(void)
{
	struct flight_clock clock = {.raw_ns = kernel_time(CLOCK_MONOTONIC_RAW), .ticks = flight_now()};
	clock.monotonic_ns = kernel_time(CLOCK_MONOTONIC);
	clock.realtime_ns = kernel_time(CLOCK_REALTIME);
	return clock;
}

/* One thread is at it. */
static void note_pair(struct flight_log *log, uint64_t now)
{
	struct flight_pairs *pairs = &log->pairs;
	if (now < __atomic_load_n(&pairs->due, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(&pairs->busy, 1, __ATOMIC_ACQUIRE))
		return;
	const struct flight_clock clock = clocks();
	if (clock.ticks >= pairs->due)
		flight_add_pair(pairs, &clock);
	__atomic_store_n(&pairs->busy, 0, __ATOMIC_RELEASE);
}

enum { FREQUENCY_AT = 8, BUFFER_SIZE_AT = 16 }; /* in the header */

uint64_t flight_frequency(const struct flight_log *log)
{
	return __atomic_load_n((const uint64_t *)(log->base + FREQUENCY_AT), __ATOMIC_RELAXED);
}

void flight_note_clock(struct flight_log *log)
{
	struct flight_clock first = log->state->first, now = clocks();
	uint64_t ticks = now.ticks - first.ticks, ns = now.raw_ns - first.raw_ns;
	if (!ns || ns < log->state->last.raw_ns - first.raw_ns)
		return;
	log->state->last = now;
	for (; ns >> 33; ns >>= 1) /* so that the product fits */
		ticks >>= 1;
	const uint64_t frequency = log->ticks ? ticks / ns * NANOSECONDS + ticks % ns * NANOSECONDS / ns : NANOSECONDS;
	__atomic_store_n((uint64_t *)(log->base + FREQUENCY_AT), frequency, __ATOMIC_RELAXED);
}

/* ---- Chunks. ---- */

void flight_lose(void)
{
	struct flight_log *log = flight_log;
	if (log->generation == 0)
		return;
	if (__atomic_fetch_add(&log->state->lost, 1, __ATOMIC_RELAXED) == 0)
		log->state->lost_since_ns = kernel_time(CLOCK_MONOTONIC);
}

void flight_lose_in_handler(void)
{
	struct flight_log *log = flight_log;
	flight_lose();
	if (log->generation)
		__atomic_fetch_add(&log->losses->in_handlers, 1, __ATOMIC_RELAXED);
}

/* Where the disk ends that was had: what is behind it, of a full disk, is not there. */
static void extend(struct flight_log *log, uint64_t end)
{
	uint64_t before = __atomic_load_n(&log->ends, __ATOMIC_RELAXED);
	while (before < end &&
	       !__atomic_compare_exchange_n(&log->ends, &before, end, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* All at once: a fault for each is dearer, and comes in the middle of calls. Kernels before 5.14 cannot. */
static void make_pages(uint8_t *chunk, uint64_t size)
{
	enum { POPULATE_WRITE = 23 }; /* MADV_POPULATE_WRITE */
	flight_call(SYS_madvise, (long)chunk, (long)size, POPULATE_WRITE, 0);
}

/* Returns NULL when there is no room: that is so for good, and is not tried again. */
static uint8_t *more(struct flight_log *log, uint64_t size)
{
	if (log->full)
		return NULL;
	const uint64_t offset = __atomic_fetch_add(&log->used, size, __ATOMIC_RELAXED);
	if (offset + size > log->room || flight_file_grow(&log->file, offset, size)) {
		log->full = true;
		return NULL;
	}
	extend(log, offset + size);
	make_pages(log->base + offset, size);
	return log->base + offset;
}

/* The oldest chunk of a thread's ring, empty again; NULL: the ring is not full. */
static uint8_t *oldest(struct flight_thread *thread, uint64_t size)
{
	if (thread->ring_count < FLIGHT_RING_CHUNKS)
		return NULL;
	uint8_t *chunk = thread->ring[thread->ring_next];
	__atomic_store_n((uint64_t *)(chunk + FLIGHT_EXTENTS_AT + 1), 0, __ATOMIC_RELEASE);
	flight_clear(chunk + FLIGHT_LEFT_AT, sizeof thread->last);
	flight_clear(chunk + FLIGHT_EXTENTS_AT + FLIGHT_METADATA, size - FLIGHT_EXTENTS_AT - FLIGHT_METADATA);
	return chunk;
}

static void keep_in_ring(struct flight_thread *thread, uint8_t *chunk)
{
	thread->ring[thread->ring_next] = chunk;
	thread->ring_next = (thread->ring_next + 1) % FLIGHT_RING_CHUNKS;
	thread->ring_count += thread->ring_count < FLIGHT_RING_CHUNKS;
}

/* ---- Metadata records. ---- */

enum {
	NEW_BUFFER = 0x01,
	NEW_CPU = 0x05,
	TSC_WRAP = 0x07,
	WALL_TIME = 0x09,
	CUSTOM_EVENT = 0x0b,
	EXTENTS = 0x0f,
	PID = 0x13
};

/* Two values of the body: `first` bytes of a, then b. What is behind them is 0. */
static uint8_t *put(uint8_t *at, uint8_t kind, size_t first, uint64_t a, uint64_t b)
{
	uint8_t record[FLIGHT_METADATA + 8] = {kind};
	flight_copy(record + 1, &a, first);
	flight_copy(record + 1 + first, &b, sizeof b);
	flight_copy(at, record, FLIGHT_METADATA);
	return at + FLIGHT_METADATA;
}

static uint8_t *put_cpu(struct flight_thread *thread, uint8_t *at, uint64_t now, uint32_t cpu)
{
	thread->cpu = cpu;
	thread->last = now;
	return put(at, NEW_CPU, 2, cpu, now);
}

/* Begins a buffer in a chunk that is empty. */
static void begin(struct flight_log *log, struct flight_thread *thread, uint8_t *chunk, uint64_t size, uint64_t now)
{
	const uint64_t wall = kernel_time(CLOCK_MONOTONIC);
	flight_copy(chunk, &(uint32_t){(uint32_t)size}, sizeof(uint32_t));
	thread->extents = (uint64_t *)(chunk + FLIGHT_EXTENTS_AT + 1);
	thread->end = chunk + size;
	thread->begun = now;
	uint8_t *at = chunk + FLIGHT_EXTENTS_AT + FLIGHT_METADATA;
	at = put(at, NEW_BUFFER, 4, thread->tid, 0);
	at = put(at, WALL_TIME, 8, wall / NANOSECONDS, wall % NANOSECONDS / 1000);
	at = put(at, PID, 4, log->pid, 0);
	at = put_cpu(thread, at, now, thread->cpu);
	chunk[FLIGHT_EXTENTS_AT] = EXTENTS;
	flight_commit(thread, at);
}

/* The size of a chunk that has room for a record of `room` bytes; 0: that of a ring has not. */
static uint64_t chunk_for(const struct flight_log *log, const struct flight_thread *thread, uint64_t room)
{
	uint64_t size = log->ring_chunk ? log->ring_chunk : thread->next_chunk;
	while (size - FLIGHT_BEGUN < room && !log->ring_chunk)
		size *= 2;
	return size - FLIGHT_BEGUN < room ? 0 : size;
}

/* The chunk that a thread has left tells when: what is older than a time is found without its records. */
static void leave(const struct flight_thread *thread)
{
	if (thread->extents)
		flight_copy((uint8_t *)thread->extents - FLIGHT_EXTENTS_AT - 1 + FLIGHT_LEFT_AT, &thread->last,
		            sizeof thread->last);
}

/* Threads with few calls come back soon, too: each chunk notes the clocks. */
static bool fills_slowly(const struct flight_log *log, const struct flight_thread *thread, uint64_t now)
{
	enum { LONG = 10 }; /* seconds */
	return thread->extents && now - thread->begun >= LONG * flight_frequency(log);
}

static bool next_chunk(struct flight_log *log, struct flight_thread *thread, uint64_t room, uint64_t now)
{
	const uint64_t size = chunk_for(log, thread, room);
	if (!size)
		return false;
	uint8_t *chunk = log->ring_chunk ? oldest(thread, size) : NULL;
	chunk = chunk ? chunk : more(log, size);
	if (!chunk)
		return false;
	leave(thread);
	if (log->ring_chunk)
		keep_in_ring(thread, chunk);
	thread->next_chunk *= thread->next_chunk < FLIGHT_LARGEST && !fills_slowly(log, thread, now) ? 4 : 1;
	begin(log, thread, chunk, size, now);
	flight_note_clock(log);
	return true;
}

/* A thread that comes to this log for the first time. */
static void join(struct flight_log *log, struct flight_thread *thread)
{
	flight_clear(thread, sizeof *thread);
	thread->generation = log->generation;
	thread->tid = (uint32_t)flight_call(SYS_gettid, 0, 0, 0, 0);
	thread->next_chunk = FLIGHT_SMALLEST;
}

bool flight_join(struct flight_thread *thread)
{
	struct flight_log *log = flight_log;
	struct flight_call *calls = thread->calls;
	const uint32_t before = thread->tid;
	if (log->generation == 0)
		return false;
	join(log, thread);
	thread->calls = calls && before == thread->tid ? calls : flight_take_calls(log->pid, thread->tid);
	thread->most = thread->calls ? FLIGHT_CALLS_MOST : 0;
	return true;
}

bool flight_prepare(struct flight_thread *thread, uint64_t now, uint32_t cpu, uint64_t size)
{
	struct flight_log *log = flight_log;
	if (log->generation == 0)
		return false;
	note_pair(log, now);
	const uint64_t room = size + FLIGHT_METADATA; /* with what may stand before it */
	if ((uint64_t)(thread->end - thread->at) < room) {
		thread->cpu = cpu;
		const bool good = next_chunk(log, thread, room, now);
		thread->floor = thread->at;
		if (!good)
			flight_lose();
		return good;
	}
	if (cpu != thread->cpu || now < thread->last)
		thread->at = put_cpu(thread, thread->at, now, cpu);
	else if (now - thread->last > INT32_MAX) {
		thread->at = put(thread->at, TSC_WRAP, 8, now, 0);
		thread->last = now;
	}
	thread->floor = thread->at;
	return true;
}

/* ---- Notes. ---- */

/* Not beside what each record reads. */
static _Alignas(FLIGHT_UNSHARED) struct flight_thread notes;
static _Alignas(FLIGHT_UNSHARED) uint32_t notes_busy;

static bool enter_notes(void)
{
	enum { TRIES = 1000 };
	for (unsigned i = 0; i < TRIES; i++) {
		if (!__atomic_exchange_n(&notes_busy, 1, __ATOMIC_ACQUIRE))
			return true;
		flight_call(SYS_sched_yield, 0, 0, 0, 0);
	}
	return false;
}

/* That of the log, also while the recording pauses. */
static uint64_t own_generation(const struct flight_log *log)
{
	return log->generation ? log->generation : log->paused;
}

/* The chunk with room for `size` bytes more. Rings have no part in it. */
static bool make_room(struct flight_log *log, size_t size)
{
	if (notes.generation == own_generation(log) && (size_t)(notes.end - notes.at) >= size)
		return true;
	uint64_t chunk = FLIGHT_SMALLEST;
	while (chunk < size + 2 * FLIGHT_SMALLEST)
		chunk *= 2;
	uint8_t *place = more(log, chunk);
	if (!place)
		return false;
	join(log, &notes);
	notes.generation = own_generation(log);
	notes.tid = 0; /* of no thread */
	begin(log, &notes, place, chunk, flight_now());
	return true;
}

static void put_note(const char *kind, size_t kind_size, const char *text, size_t size)
{
	const uint64_t now = flight_now(), delta = now - notes.last;
	uint8_t *at = notes.at;
	if (delta > INT32_MAX)
		at = put_cpu(&notes, at, now, 0);
	at = put(at, CUSTOM_EVENT, 4, kind_size + size, delta > INT32_MAX ? 0 : delta);
	flight_copy(at, kind, kind_size);
	flight_copy(at + kind_size, text, size);
	notes.last = now;
	flight_commit(&notes, at + kind_size + size);
}

bool flight_note(const char *kind, size_t kind_size, const char *text, size_t size)
{
	struct flight_log *log = flight_log;
	if (own_generation(log) == 0 || !enter_notes())
		return false;
	const bool fits = make_room(log, kind_size + size + 3 * FLIGHT_METADATA);
	if (fits)
		put_note(kind, kind_size, text, size);
	__atomic_store_n(&notes_busy, 0, __ATOMIC_RELEASE);
	return fits;
}

/* ---- The file. ---- */

static void put_header(uint8_t *base, uint64_t frequency)
{
	enum { VERSION = 5, FDR = 1, CONSTANT_NONSTOP = 3 };
	const struct {
		uint16_t version, type;
		uint32_t bits;
		uint64_t frequency, buffer_size;
		char mark[8];
	} header = {VERSION,          FDR,
	            CONSTANT_NONSTOP, frequency,
	            FLIGHT_LARGEST,   {'t', 'w', 'f', 'l', 'i', 'g', 'h', 't'}};
	_Static_assert(sizeof header == FLIGHT_FILE_HEADER, "the header of XRay logs");
	memcpy(base, &header, sizeof header);
}

/* An empty table of clocks, aligned. */
static void begin_pairs(struct flight_log *log)
{
	static const char kind[16] = "trackway.clocks";
	enum { TABLE = FLIGHT_PAIRS * sizeof *log->pairs.at };
	uint8_t *at = put(notes.at, CUSTOM_EVENT, 4, sizeof kind + TABLE, 0);
	memcpy(at, kind, sizeof kind);
	log->pairs = (struct flight_pairs){.at = (struct flight_clock *)(at + sizeof kind), .due = UINT64_MAX};
	flight_commit(&notes, at + sizeof kind + TABLE);
}

static void begin_losses(struct flight_log *log)
{
	static const char kind[16] = "trackway.losses";
	uint8_t *at = put(notes.at, CUSTOM_EVENT, 4, sizeof kind + sizeof *log->losses, 0);
	memcpy(at, kind, sizeof kind);
	log->losses = (struct flight_losses *)(at + sizeof kind);
	flight_commit(&notes, at + sizeof kind + sizeof *log->losses);
}

static void take_pairs(struct flight_log *log)
{
	enum { IN_A_SECOND = 64 }; /* at first */
	log->pairs.step = flight_frequency(log) / IN_A_SECOND;
	log->pairs.due = log->state->first.ticks + log->pairs.step;
}

/* The first buffer has the state, aligned, and then notes. */
static void begin_file(struct flight_log *log)
{
	static const char kind[17] = "trackway.flight";
	enum { FIRST = 2 * FLIGHT_PAGE };
	log->used = FIRST;
	join(log, &notes);
	notes.tid = 0; /* of no thread */
	begin(log, &notes, log->base + FLIGHT_FILE_HEADER, FIRST - FLIGHT_FILE_HEADER, flight_now());
	uint8_t *at = put(notes.at, CUSTOM_EVENT, 4, sizeof kind + sizeof *log->state, 0);
	memcpy(at, kind, sizeof kind);
	log->state = (struct flight_state *)(at + sizeof kind);
	log->state->version = FLIGHT_VERSION;
	log->state->pid = log->pid;
	log->state->state = FLIGHT_RECORDING;
	log->state->first = log->state->last = clocks();
	flight_commit(&notes, at + sizeof kind + sizeof *log->state);
	begin_pairs(log);
	begin_losses(log);
}

/* A chunk with the table of counts. */
static int begin_counts(struct flight_log *log)
{
	static const char kind[17] = "trackway.counts";
	enum { TABLE = FLIGHT_COUNTS * sizeof *log->counts, SIZE = TABLE + FLIGHT_PAGE };
	static struct flight_thread thread;
	uint8_t *chunk = more(log, SIZE);
	if (!chunk)
		return ENOSPC;
	join(log, &thread);
	thread.tid = 0; /* of no thread */
	begin(log, &thread, chunk, SIZE, flight_now());
	uint8_t *at = put(thread.at, CUSTOM_EVENT, 4, sizeof kind + TABLE, 0);
	memcpy(at, kind, sizeof kind);
	log->counts = (struct flight_count *)(at + sizeof kind);
	*(uint64_t *)(log->base + BUFFER_SIZE_AT) = SIZE;
	flight_commit(&thread, at + sizeof kind + TABLE);
	return 0;
}

/* As much address space as the file may need, or as there is. */
static int map_file(struct flight_log *log, uint64_t wanted)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < wanted)
		wanted = limit.rlim_cur; /* beyond it is SIGXFSZ */
	for (log->room = wanted / FLIGHT_PAGE * FLIGHT_PAGE; log->room >= FLIGHT_LARGEST; log->room /= 2) {
		void *base = mmap(NULL, log->room, PROT_READ | PROT_WRITE, MAP_SHARED, log->file.fd, 0);
		log->base = base;
		if (base != MAP_FAILED)
			return flight_file_room(&log->file, log->room);
	}
	return ENOMEM;
}

static int open_log(struct flight_log *log, const struct flight_options *options)
{
	*log = (struct flight_log){.pid = (uint32_t)getpid(),
	                           .ticks = options->clock == FLIGHT_TICKS ||
	                                    (options->clock == FLIGHT_SOUND && ticks_are_sound())};
	log->ring_chunk = options->ring ? FLIGHT_SMALLEST : 0;
	while (log->ring_chunk && log->ring_chunk * FLIGHT_RING_CHUNKS < options->ring &&
	       log->ring_chunk < FLIGHT_LARGEST)
		log->ring_chunk *= 2;
	int status = flight_file_make(&log->file, options->path, log->pid);
	if (status == 0)
		status = map_file(log, options->max_size);
	if (status == 0)
		status = flight_file_grow(&log->file, 0, 2 * FLIGHT_PAGE);
	if (status)
		return status;
	extend(log, 2 * FLIGHT_PAGE);
	put_header(log->base, NANOSECONDS);
	begin_file(log);
	for (uint64_t now = log->state->first.raw_ns;
	     log->ticks && now && now - log->state->first.raw_ns < CALIBRATION;)
		now = kernel_time(CLOCK_MONOTONIC_RAW);
	flight_note_clock(log);
	take_pairs(log);
	log->deepest = options->deepest;
	const uint64_t frequency = flight_frequency(log);
	log->shortest =
	    options->shortest / NANOSECONDS * frequency + options->shortest % NANOSECONDS * frequency / NANOSECONDS;
	return options->count ? begin_counts(log) : 0;
}

/* For logs of forked children, too, which have another page. */
static bool pauses;

/* The file of the last log, which a forked child has open, too, and what it has mapped of it. */
static struct flight_file last_file = {.fd = -1};
static struct flight_losses *last_losses;

void flight_lose_child(int error)
{
	if (!last_losses)
		return;
	__atomic_store_n(&last_losses->error, (uint64_t)error, __ATOMIC_RELAXED);
	__atomic_fetch_add(&last_losses->children, 1, __ATOMIC_RELEASE);
}

void flight_log_leave(void)
{
	flight_file_close(&last_file);
}

/* Leaves word in a file that has nothing else. */
static int refuse_log(const struct flight_options *options, int error)
{
	static struct flight_file file;
	if (flight_file_make(&file, options->path, (uint32_t)getpid()) == 0)
		flight_file_refuse(&file, error);
	flight_file_close(&file);
	return error;
}

int flight_log_open(const struct flight_options *options)
{
	if (flight_log == &nothing || flight_log->base) { /* threads may still look at that of an earlier recording */
		const size_t size = (sizeof *flight_log + FLIGHT_PAGE - 1) / FLIGHT_PAGE * FLIGHT_PAGE;
		void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			return errno;
		if (madvise(page, size, MADV_WIPEONFORK) < 0)
			return refuse_log(options, errno);
		if (flight_log->base)
			flight_file_close(&flight_log->file);
		__atomic_store_n(&flight_log, page, __ATOMIC_RELEASE);
	}
	notes_busy = 0;
	int status = open_log(flight_log, options);
	last_file = flight_log->file;
	if (status) {
		flight_file_refuse(&flight_log->file, status);
		return status;
	}
	last_losses = flight_log->losses;
	/* No log of this process or of its parents has the same. */
	const uint64_t generation = (uint64_t)flight_log->pid << 32 | (uint32_t)flight_log->state->first.raw_ns | 1;
	__atomic_store_n(pauses ? &flight_log->paused : &flight_log->generation, generation, __ATOMIC_RELEASE);
	return 0;
}

/* The number of the log moves from one place to the other. */
void flight_log_pause(bool pause)
{
	struct flight_log *log = flight_log;
	pauses = pause;
	if (log == &nothing)
		return;
	uint64_t *from = pause ? &log->generation : &log->paused, *to = pause ? &log->paused : &log->generation;
	const uint64_t generation = __atomic_exchange_n(from, 0, __ATOMIC_ACQ_REL);
	if (generation)
		__atomic_store_n(to, generation, __ATOMIC_RELEASE);
}

bool flight_has_log(void)
{
	return own_generation(flight_log) != 0;
}

int flight_log_close(void)
{
	struct flight_log *log = flight_log;
	if (!flight_has_log())
		return ENODATA;
	flight_log_end();
	__atomic_store_n(&log->paused, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&log->generation, 0, __ATOMIC_RELEASE);
	return 0;
}

void flight_log_end(void)
{
	if (!flight_has_log())
		return;
	flight_note_clock(flight_log);
	flight_log->state->state = FLIGHT_ENDED;
}
