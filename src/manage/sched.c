/* sched.c - the kernel's scheduling: events are opened, one ring a CPU, and their records taken. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "manage/sched.h"

#include "base/memory/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* RING: what kernel.perf_event_mlock_kb lets everybody have for a CPU. */
enum { RING = 512 << 10, RECORD_MOST = 1 << 16, NO_LEVEL = -100 };

/* A CPU's. */
struct perf_ring {
	unsigned cpu;
	int fd; /* of the event that the ring is of */
	struct perf_event_mmap_page *page;
	const uint8_t *bytes;
	uint64_t looked, taken, end; /* offsets: of threads that begin, of switches; until where these are taken */
};

struct sched {
	struct sched_threads threads;
	bool whole; /* by tracepoints */
	int waits;
	struct perf_ring *rings;
	size_t ring_count, ring_room;
	int *events;
	size_t event_count, event_room;
};

/* ---- Settings of the kernel. ---- */

static size_t read_text(const char *path, char *text, size_t room)
{
	FILE *file = fopen(path, "re");
	size_t length = file ? fread(text, 1, room - 1, file) : 0;
	text[length] = '\0';
	if (file)
		fclose(file);
	return length;
}

static int paranoid(void)
{
	char text[32];
	return read_text("/proc/sys/kernel/perf_event_paranoid", text, sizeof text) ? (int)strtol(text, NULL, 10)
	                                                                            : NO_LEVEL;
}

typedef bool format_fn(struct sched_tracepoint *tracepoint, const char *text);

static bool read_tracepoint(const char *name, format_fn *format, struct sched_tracepoint *tracepoint)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char path[128], text[SCHED_FORMAT];
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(path, sizeof path, "%s/events/sched/%s/format", places[i], name);
		if (read_text(path, text, sizeof text) && format(tracepoint, text))
			return true;
	}
	return false;
}

static bool read_tracepoints(struct sched_threads *threads)
{
	return read_tracepoint("sched_switch", sched_format_switch, &threads->a_switch) &&
	       read_tracepoint("sched_waking", sched_format_waking, &threads->waking) &&
	       read_tracepoint("sched_wakeup_new", sched_format_waking, &threads->waking_new);
}

/* ---- Events. ---- */

static struct perf_event_attr dummy(void)
{
	return (struct perf_event_attr){
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof(struct perf_event_attr),
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	    .exclude_kernel = 1, /* what kernel.perf_event_paranoid 2 lets everybody have */
	    .exclude_hv = 1,
	    .sample_id_all = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC,
	    .watermark = 1,
	    .wakeup_watermark = RING / 4,
	};
}

static struct perf_event_attr tracepoint(uint32_t id)
{
	struct perf_event_attr event = dummy();
	event.type = PERF_TYPE_TRACEPOINT;
	event.config = id;
	event.sample_period = 1;
	event.sample_type |= PERF_SAMPLE_RAW;
	event.exclude_kernel = 0;
	return event;
}

static int open_event(struct perf_event_attr *event, pid_t thread, unsigned cpu)
{
	return (int)syscall(SYS_perf_event_open, event, thread, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* One more event, whose records go into a ring. Returns 0 or -1 and errno. */
static int add_event(struct sched *sched, const struct perf_ring *ring, struct perf_event_attr event, pid_t thread)
{
	if (!tw_grow(&sched->events, &sched->event_room, sched->event_count + 1, sizeof *sched->events)) {
		errno = ENOMEM;
		return -1;
	}
	int fd = open_event(&event, thread, ring->cpu);
	if (fd < 0)
		return -1;
	sched->events[sched->event_count++] = fd;
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd);
}

/* A ring, of an event that tells nothing but of threads that begin, where it is of all. Returns 0, 1 where there is no
 * such CPU, or -1 and errno. */
static int open_ring(struct sched *sched, unsigned cpu)
{
	struct perf_event_attr event = dummy();
	event.task = sched->whole;
	struct perf_ring ring = {.cpu = cpu, .fd = open_event(&event, sched->whole ? -1 : 0, cpu)};
	if (ring.fd < 0)
		return errno == ENODEV ? 1 : -1;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	ring.page = mmap(NULL, page + RING, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	struct epoll_event wanted = {.events = EPOLLIN};
	if (ring.page == MAP_FAILED || epoll_ctl(sched->waits, EPOLL_CTL_ADD, ring.fd, &wanted) < 0 ||
	    !tw_grow(&sched->rings, &sched->ring_room, sched->ring_count + 1, sizeof *sched->rings)) {
		if (ring.page != MAP_FAILED)
			munmap(ring.page, page + RING);
		close(ring.fd);
		return -1;
	}
	ring.bytes = (const uint8_t *)ring.page + page;
	sched->rings[sched->ring_count++] = ring;
	return 0;
}

static int open_rings(struct sched *sched)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	for (long i = 0; i < cpus; i++)
		if (open_ring(sched, (unsigned)i) < 0)
			return -1;
	return sched->ring_count ? 0 : -1;
}

static void close_events(struct sched *sched)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < sched->event_count; i++)
		close(sched->events[i]);
	for (size_t i = 0; i < sched->ring_count; i++) {
		munmap(sched->rings[i].page, page + RING);
		close(sched->rings[i].fd);
	}
	sched->event_count = sched->ring_count = 0;
}

/* All CPUs, by tracepoints. Returns 0 or -1 and errno. */
static int open_whole(struct sched *sched)
{
	const struct sched_threads *threads = &sched->threads;
	const uint32_t ids[] = {threads->a_switch.id, threads->waking.id, threads->waking_new.id};
	sched->whole = true;
	int status = open_rings(sched);
	for (size_t i = 0; status == 0 && i < sched->ring_count; i++)
		for (size_t k = 0; status == 0 && k < sizeof ids / sizeof *ids; k++)
			status = add_event(sched, &sched->rings[i], tracepoint(ids[k]), -1);
	if (status == 0)
		return 0;
	int error = errno;
	close_events(sched);
	sched->whole = false;
	errno = error;
	return -1;
}

/* ---- Records. ---- */

typedef void take_fn(struct sched_threads *threads, const uint8_t *record, size_t size);

/* A record may go round the ring's end. */
static void copy_from(const struct perf_ring *ring, uint64_t at, uint8_t *to, size_t size)
{
	size_t from = (size_t)(at % RING), first = size < RING - from ? size : RING - from;
	memcpy(to, ring->bytes + from, first);
	memcpy(to + first, ring->bytes, size - first);
}

static void walk(struct sched *sched, const struct perf_ring *ring, uint64_t *at, uint64_t end, take_fn *take)
{
	struct perf_event_header header;
	uint8_t record[RECORD_MOST];
	while (end - *at >= sizeof header && end - *at <= RING) {
		copy_from(ring, *at, (uint8_t *)&header, sizeof header);
		if (header.size < sizeof header || header.size > end - *at)
			break;
		copy_from(ring, *at, record, header.size);
		take(&sched->threads, record, header.size);
		*at += header.size;
	}
	*at = end;
}

/* A thread begins on one CPU and runs on another: so the ends for switches are read first, then all threads that have
 * begun until now are taken, and the switches last. */
void sched_drain(struct sched *sched)
{
	struct perf_ring *end = sched->rings + sched->ring_count;
	for (struct perf_ring *ring = sched->rings; ring < end; ring++)
		ring->end = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	for (struct perf_ring *ring = sched->rings; ring < end; ring++)
		walk(sched, ring, &ring->looked, __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE),
		     sched_take_task);
	for (struct perf_ring *ring = sched->rings; ring < end; ring++) {
		walk(sched, ring, &ring->taken, ring->end, sched_take_switch);
		__atomic_store_n(&ring->page->data_tail, ring->taken, __ATOMIC_RELEASE);
	}
	sched_image_flush(&sched->threads.image, false);
}

/* ---- Programs. ---- */

/* Where the kernel does not tell of all threads, each that is there is asked for, on each CPU. */
static void follow_thread(struct sched *sched, pid_t process, pid_t thread)
{
	struct perf_event_attr event = dummy();
	event.context_switch = event.task = event.inherit = 1;
	sched_trace_thread(&sched->threads, (uint32_t)process, (uint32_t)thread);
	for (size_t i = 0; !sched->whole && i < sched->ring_count; i++)
		if (add_event(sched, &sched->rings[i], event, thread) < 0)
			sched->threads.lost++;
}

void sched_follow(struct sched *sched, pid_t process)
{
	char path[64];
	uint32_t at;
	if (tw_map_find(&sched->threads.numbers, (uint32_t)process, &at) && sched->threads.items[at].traced)
		return; /* a traced one has started it */
	snprintf(path, sizeof path, "/proc/%ld/task", (long)process);
	DIR *open = opendir(path);
	for (struct dirent *entry; open && (entry = readdir(open));) {
		long thread = strtol(entry->d_name, NULL, 10);
		if (thread > 0)
			follow_thread(sched, process, (pid_t)thread);
	}
	if (open)
		closedir(open);
}

int sched_waits(const struct sched *sched)
{
	return sched->waits;
}

/* ---- The whole. ---- */

/* Why the tracepoints are not to be had. */
static void report_part(char *refusal, bool found, int error)
{
	int level = paranoid();
	size_t length =
	    (size_t)snprintf(refusal, SCHED_REFUSAL,
	                     "--sched: switches of the programs' own threads, not who ran instead and who woke them: ");
	if (!found)
		snprintf(refusal + length, SCHED_REFUSAL - length,
		         "the sched events of /sys/kernel/tracing cannot be read");
	else
		snprintf(refusal + length, SCHED_REFUSAL - length,
		         "%s (CAP_PERFMON or kernel.perf_event_paranoid=-1 lets it; it is %d)", strerror(error), level);
}

static void report_none(char *refusal, int error)
{
	int level = paranoid();
	if (level == NO_LEVEL || error == ENOSYS)
		snprintf(refusal, SCHED_REFUSAL, "--sched: no scheduling: this kernel has no perf_event_open");
	else if (level > 2)
		snprintf(refusal, SCHED_REFUSAL,
		         "--sched: no scheduling: %s (kernel.perf_event_paranoid=2 lets it; it is %d)", strerror(error),
		         level);
	else
		snprintf(
		    refusal, SCHED_REFUSAL,
		    "--sched: no scheduling: perf_event_open: %s (kernel.perf_event_paranoid is %d, so a container "
		    "or a sandbox refuses it, or there is no memory)",
		    strerror(error), level);
}

/* Threads of which nothing else is told. */
static void put_others(struct sched_threads *threads)
{
	static const char name[] = "others, or idle";
	_Static_assert(sizeof name <= SCHED_NAME + 1, "has room");
	sched_image_thread(&threads->image, ++threads->named, 0, SCHED_OTHERS, name);
}

static bool open_any(struct sched *sched, char *refusal)
{
	bool found = read_tracepoints(&sched->threads);
	errno = ENOENT;
	if (found && open_whole(sched) == 0)
		return true;
	int error = errno;
	if (open_rings(sched) == 0) {
		report_part(refusal, found, error);
		return true;
	}
	report_none(refusal, errno);
	return false;
}

static int open_file(const char *path)
{
	return *path ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
	             : memfd_create("trackway-sched", MFD_CLOEXEC);
}

static void free_sched(struct sched *sched)
{
	close_events(sched);
	if (sched->waits >= 0)
		close(sched->waits);
	sched_threads_free(&sched->threads);
	free(sched->rings);
	free(sched->events);
	free(sched);
}

struct sched *sched_open(const char *path, char refusal[static SCHED_REFUSAL])
{
	struct sched *sched = calloc(1, sizeof *sched);
	*refusal = '\0';
	if (!sched)
		return NULL;
	sched->waits = epoll_create1(EPOLL_CLOEXEC);
	int fd = sched->waits >= 0 && open_any(sched, refusal) ? open_file(path) : -1;
	if (fd < 0) {
		if (!*refusal)
			report_none(refusal, errno);
		free_sched(sched);
		return NULL;
	}
	sched_image_begin(&sched->threads.image, fd);
	sched->threads.own = !sched->whole;
	if (sched->threads.own)
		put_others(&sched->threads);
	return sched;
}

int sched_close(struct sched *sched, uint64_t *lost)
{
	struct sched_image *image = &sched->threads.image;
	for (size_t i = 0; i < sched->event_count; i++)
		ioctl(sched->events[i], PERF_EVENT_IOC_DISABLE, 0);
	sched_drain(sched);
	image->header.now.dropped = *lost = sched->threads.lost + image->failed;
	sched_image_flush(image, true);
	int fd = image->fd;
	free_sched(sched);
	return fd;
}
