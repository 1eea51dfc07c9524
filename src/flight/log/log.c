/* log.c - the file of a flight recorder: made, begun, ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log/log.h"

#include "flight/log/chunks.h"
#include "flight/log/clock.h"
#include "flight/log/notes.h"
#include "flight/system.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static struct flight_log nothing = {.is_known = 1};
_Alignas(FLIGHT_UNSHARED) struct flight_log *flight_log = &nothing;

enum { CALIBRATION = 2000000 /* ns, of the first pair of clocks */ };

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

/* An empty table, aligned: each kind is as long as that needs. */
static void *add_table(const char *kind, size_t kind_size, size_t size)
{
	uint8_t *table = flight_begin_table(&flight_notes, kind, kind_size, size);
	flight_commit(&flight_notes, table + size);
	return table;
}

static void take_pairs(struct flight_log *log)
{
	enum { IN_A_SECOND = 64 }; /* at first */
	log->pairs.step = flight_frequency(log) / IN_A_SECOND;
	log->pairs.due = log->state->first.ticks + log->pairs.step;
}

/* The first buffer has the state, and then notes. */
static void begin_file(struct flight_log *log)
{
	static const char state[17] = "trackway.flight", pairs[16] = "trackway.clocks", losses[16] = "trackway.losses";
	enum { FIRST = 2 * FLIGHT_PAGE };
	log->used = FIRST;
	flight_begin_notes(log, &flight_notes, log->base + FLIGHT_FILE_HEADER, FIRST - FLIGHT_FILE_HEADER);
	log->state = flight_begin_table(&flight_notes, state, sizeof state, sizeof *log->state);
	log->state->version = FLIGHT_VERSION;
	log->state->pid = log->pid;
	log->state->state = FLIGHT_RECORDING;
	log->state->first = log->state->last = flight_clocks();
	flight_commit(&flight_notes, (uint8_t *)(log->state + 1));
	log->pairs = (struct flight_pairs){.at = add_table(pairs, sizeof pairs, FLIGHT_PAIRS * sizeof *log->pairs.at),
	                                   .due = UINT64_MAX};
	log->losses = add_table(losses, sizeof losses, sizeof *log->losses);
}

/* A chunk with the table of counts. */
static int begin_counts(struct flight_log *log)
{
	static const char kind[17] = "trackway.counts";
	enum { TABLE = FLIGHT_COUNTS * sizeof *log->counts, SIZE = TABLE + FLIGHT_PAGE, BUFFER_SIZE_AT = 16 };
	static struct flight_thread thread;
	uint8_t *chunk = flight_more(log, SIZE);
	if (!chunk)
		return ENOSPC;
	flight_begin_notes(log, &thread, chunk, SIZE);
	log->counts = flight_begin_table(&thread, kind, sizeof kind, TABLE);
	*(uint64_t *)(log->base + BUFFER_SIZE_AT) = SIZE;
	flight_commit(&thread, (uint8_t *)log->counts + TABLE);
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
	*log = (struct flight_log){.is_known = 1,
	                           .pid = (uint32_t)getpid(),
	                           .ticks = options->clock == FLIGHT_TICKS ||
	                                    (options->clock == FLIGHT_SOUND && flight_ticks_are_sound())};
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
	flight_extend(log, 2 * FLIGHT_PAGE);
	put_header(log->base, FLIGHT_SECOND);
	begin_file(log);
	for (uint64_t now = log->state->first.raw_ns;
	     log->ticks && now && now - log->state->first.raw_ns < CALIBRATION;)
		now = flight_kernel_time(CLOCK_MONOTONIC_RAW);
	flight_note_clock(log);
	take_pairs(log);
	log->deepest = options->deepest;
	const uint64_t frequency = flight_frequency(log);
	log->shortest = options->shortest / FLIGHT_SECOND * frequency +
	                options->shortest % FLIGHT_SECOND * frequency / FLIGHT_SECOND;
	return options->count ? begin_counts(log) : 0;
}

/* For logs of forked children, too, which have another page. */
static bool pauses;

/* The file of the last log, which a forked child has open, too, and what it has mapped of it. */
static struct flight_file last_file = {.fd = -1};
static struct flight_losses *last_losses;

/* The child that was counted as one without a log; 0: none was. */
static uint32_t lost_child;

void flight_lose_child(int error)
{
	const uint32_t pid = (uint32_t)flight_call(SYS_getpid, 0, 0, 0, 0);
	flight_log->is_known = 1;
	if (!last_losses)
		return;
	__atomic_store_n(&last_losses->error, (uint64_t)error, __ATOMIC_RELAXED);
	__atomic_fetch_add(&last_losses->children, lost_child != pid, __ATOMIC_RELEASE);
	lost_child = pid;
}

/* Handlers of the program's own that ran in it before it had one may have been recorded. */
static void find_child(void)
{
	if (last_losses && lost_child == flight_log->pid)
		__atomic_fetch_sub(&last_losses->children, 1, __ATOMIC_RELEASE);
	lost_child = 0;
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
	flight_free_notes();
	int status = open_log(flight_log, options);
	last_file = flight_log->file;
	if (status) {
		flight_file_refuse(&flight_log->file, status);
		return status;
	}
	find_child();
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
	return flight_own_generation(flight_log) != 0;
}

int flight_log_close(void)
{
	struct flight_log *log = flight_log;
	if (!flight_has_log())
		return ENODATA;
	flight_log_end();
	__atomic_store_n(&log->paused, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&log->generation, 0, __ATOMIC_RELEASE);
	last_losses = NULL;
	return 0;
}

void flight_log_end(void)
{
	if (!flight_has_log())
		return;
	flight_note_clock(flight_log);
	flight_log->state->state = FLIGHT_ENDED;
}
