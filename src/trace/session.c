/* session.c - a recording begins and ends; what a fork makes of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CIRCULAR_CHUNKS = 32 };

static struct trace_session *const session = &trace_session;

/* ---- The file. ---- */

static bool put_char(char *name, size_t *used, char c)
{
	if (*used + 1 >= TRACE_PATH)
		return false;
	name[(*used)++] = c;
	name[*used] = 0;
	return true;
}

static bool put_number(char *name, size_t *used, uint64_t number)
{
	char digits[24];
	size_t count = 0;
	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count && put_char(name, used, digits[count - 1]))
		count--;
	return count == 0;
}

/* "%p" is the process; `number` goes before the last ending. */
static bool expand(char *name, const char *path, unsigned number)
{
	const char *slash = strrchr(path, '/'), *ending = strrchr(path, '.');
	size_t used = 0;
	if (!ending || ending <= (slash ? slash + 1 : path))
		ending = path + strlen(path);
	for (const char *at = path;; at++) {
		if (at == ending && number && !(put_char(name, &used, '-') && put_number(name, &used, number)))
			return false;
		if (!*at)
			return used > 0;
		bool fits = *at != '%' || (at[1] != 'p' && at[1] != '%') ? put_char(name, &used, *at)
		            : *++at == 'p'                               ? put_number(name, &used, (uint64_t)getpid())
		                                                         : put_char(name, &used, '%');
		if (!fits)
			return false;
	}
}

/* The first name that no file has. Returns a descriptor, or -1 and errno. */
static int make_file(void)
{
	enum { MOST = 10000 };
	for (unsigned number = 0; number < MOST; number++) {
		if (!expand(session->image.file, session->image.path, number)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		int fd = open(session->image.file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0 || (errno != EEXIST && errno != EINTR))
			return fd;
	}
	return -1;
}

/* ---- Beginning. Locked. ---- */

/* Addresses for all that the file may become; fewer where a limit is set to them. */
static bool map_file(void)
{
	enum { BESIDE = 64 << 20, LEAST = 1 << 20 };
	static const uint64_t most = UINT64_C(1) << 36;
	uint64_t size = session->options.size ? IMAGE_PAGE + session->options.size + BESIDE : most;
	for (size = size < most ? size : most; size >= LEAST; size = size / 2 / IMAGE_PAGE * IMAGE_PAGE) {
		void *memory =
		    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, session->image.fd, 0);
		if (memory == MAP_FAILED)
			continue;
		session->header = memory;
		session->space.mapped = size;
		return true;
	}
	return false;
}

static int prepare_file(void)
{
	struct stat status;
	if (fstat(session->image.fd, &status) < 0)
		return errno;
	session->image.device = status.st_dev;
	session->image.inode = status.st_ino;
	int error = trace_may_grow(IMAGE_PAGE) ? posix_fallocate(session->image.fd, 0, IMAGE_PAGE) : EFBIG;
	if (error)
		return error;
	session->space.allocated = IMAGE_PAGE;
	return map_file() ? 0 : ENOMEM;
}

/* In circular mode all chunks are of one size, so that any of them can become anyone's. */
static int prepare_ring(void)
{
	uint64_t size = IMAGE_CHUNK_LEAST;
	if (session->options.mode != TW_TRACE_CIRCULAR)
		return 0;
	while (size < IMAGE_CHUNK_MOST && size * CIRCULAR_CHUNKS < session->options.size)
		size *= 2;
	session->space.chunk_size = size;
	session->ring.room = session->options.size / size + 1;
	session->ring.chunks = trace_map(session->ring.room * sizeof *session->ring.chunks);
	return session->ring.chunks ? 0 : ENOMEM;
}

static void read_name(char name[IMAGE_NAME])
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, name, IMAGE_NAME - 1);
	if (fd >= 0)
		close(fd);
	size = size > 0 && name[size - 1] == '\n' ? size - 1 : size;
	memset(name + (size > 0 ? size : 0), 0, (size_t)(IMAGE_NAME - (size > 0 ? size : 0)));
}

static void store_pair(struct image_pair pair)
{
	struct image_header *header = session->header;
	uint64_t number = atomic_load_explicit(&header->now.pair_number, memory_order_relaxed);
	atomic_store(&header->now.pair_number, number + 1);
	atomic_store(&header->now.pair_ticks, pair.ticks);
	atomic_store(&header->now.pair_ns, pair.ns);
	atomic_store(&header->now.pair_number, number + 2);
	session->times.pair = pair;
}

/* The speeds of the clocks differ from hour to hour: a pair that stays, now and then, also where little is written. */
static void keep_pair(struct image_pair pair)
{
	enum { WORDS = 3 };
	static const uint64_t apart = 10000000000;
	uint64_t *to = pair.ns - session->times.kept_ns < apart ? NULL : trace_durable_room(WORDS);
	if (!to)
		return;
	session->times.kept_ns = pair.ns;
	to[0] = image_word(IMAGE_PAIR, WORDS, 0, 0);
	to[1] = pair.ticks;
	to[2] = pair.ns;
	trace_durable_put(WORDS);
}

static void fill_header(void)
{
	struct image_header *header = session->header;
	struct timespec wall;
	memset((void *)header, 0, sizeof *header); /* a file that was given should be empty */
	trace_clock_choose(session->options.clock);
	header->version = IMAGE_VERSION;
	header->mode = session->options.mode;
	header->process = (uint64_t)getpid();
	header->room = session->options.size;
	header->clock = (uint32_t)session->clock;
	session->times.ticks_per_second = trace_frequency();
	header->ticks_per_second = session->times.ticks_per_second;
	header->start = trace_pair();
	session->times.kept_ns = header->start.ns;
	clock_gettime(CLOCK_REALTIME, &wall);
	header->wall_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
	read_name(header->name);
	store_pair(header->start);
	atomic_store(&header->now.state, IMAGE_RECORDING);
	header->magic = IMAGE_MAGIC;
}

/* Everything of a recording but what the next one is made of. */
static void clear(void)
{
	trace_durable_forget();
	trace_threads_forget();
	if (session->ring.chunks)
		munmap(session->ring.chunks, session->ring.room * sizeof *session->ring.chunks);
	session->ring.chunks = NULL;
	session->ring.first = session->ring.count = session->ring.room = 0;
	session->header = NULL;
	session->space.mapped = session->space.allocated = session->space.chunks = session->space.events = 0;
	session->space.chunk_size = session->space.left = 0;
	session->image.full = false;
	session->ring.sequence = session->tables.threads = session->tables.strings = session->tables.labels = 0;
	session->tables.durable = (struct trace_writer){0};
	session->slots.free_count = session->ended.part_count = 0;
	session->losses.gone = session->losses.gone_written = 0;
	session->slots.at = session->slots.end = NULL;
}

static void close_file(void)
{
	if (trace_file_is_ours())
		close(session->image.fd);
	session->image.fd = -1;
}

/* Leaves an image to forked processes: the header alone, where they note that there was no file for them. */
static void leave_header(void)
{
	if (!session->header)
		return;
	if (session->fork.parent)
		munmap(session->fork.parent, IMAGE_PAGE);
	session->fork.parent = session->header;
	munmap((uint8_t *)session->header + IMAGE_PAGE, session->space.mapped - IMAGE_PAGE);
	session->header = NULL;
}

/* Of a recording that is complete nobody can be told any more. */
static void report_parent(int error)
{
	struct image_header *parent = session->fork.parent;
	session->fork.parent = NULL;
	if (!parent)
		return;
	if (error && atomic_load(&parent->now.state) == IMAGE_RECORDING) {
		atomic_store(&parent->now.last_unrecorded, (uint64_t)getpid() << 32 | (uint32_t)error);
		atomic_fetch_add(&parent->now.unrecorded, 1);
	}
	munmap(parent, IMAGE_PAGE);
}

static void drop_file(void)
{
	if (session->header)
		munmap(session->header, session->space.mapped);
	close_file();
	clear();
}

/* fd: a file that was given; -1: one is to be made. */
static int begin(int fd)
{
	session->managed = fd >= 0;
	*session->image.file = 0;
	session->image.fd = fd < 0 ? make_file() : fd;
	if (session->image.fd < 0)
		return errno;
	int error = prepare_file();
	error = error ? error : prepare_ring();
	if (error) {
		if (fd < 0)
			unlink(session->image.file);
		drop_file();
		*session->image.file = 0;
		return error;
	}
	atomic_store(&session->losses.dropped, 0);
	fill_header();
	uint32_t state = tw_trace_state + 2;
	atomic_store_explicit(&session->state, state, memory_order_release);
	__atomic_store_n(&tw_trace_state, state, __ATOMIC_RELEASE);
	return 0;
}

/* ---- Starting and stopping. ---- */

static void report_started(void)
{
	if (session->hooks.started)
		session->hooks.started();
}

/* Forked processes may be in another directory when they begin. */
static void make_absolute(char path[static TRACE_PATH])
{
	char whole[TRACE_PATH];
	if (!*path || *path == '/' || !getcwd(whole, sizeof whole))
		return;
	size_t length = strlen(whole);
	if (length + 1 + strlen(path) >= sizeof whole)
		return;
	snprintf(whole + length, sizeof whole - length, "/%s", path);
	strcpy(path, whole);
}

/* path: NULL where there is a file, fd. */
static int start(const struct trace_options *options, const char *path, int fd)
{
	int error = EAGAIN;
	if (!trace_lock())
		return error;
	if (atomic_load(&session->state) || session->ending) {
		error = EALREADY;
	} else {
		atomic_store(&session->fork.again, false);
		session->options = *options;
		strcpy(session->image.path, path ? path : "");
		error = begin(fd);
		make_absolute(session->image.path);
		fd = -1;
	}
	trace_unlock();
	if (fd >= 0)
		close(fd);
	if (!error)
		report_started();
	return error;
}

int tw_trace_start(const char *path, const char *options)
{
	struct trace_options wanted;
	path = path ? path : secure_getenv("TRACKWAY_TRACE");
	options = options ? options : secure_getenv("TRACKWAY_TRACE_OPTIONS");
	if (trace_options_parse(&wanted, options) || !path || !*path)
		return EINVAL;
	if (strlen(path) >= sizeof session->image.path)
		return ENAMETOOLONG;
	return start(&wanted, path, -1);
}

int trace_start_on(int fd, const char *options)
{
	struct trace_options wanted;
	if (!trace_options_parse(&wanted, options))
		return start(&wanted, NULL, fd);
	close(fd);
	return EINVAL;
}

static uint64_t count_dropped(void)
{
	uint64_t dropped = atomic_load(&session->losses.dropped) + session->losses.gone;
	for (struct trace_thread *thread = session->all; thread; thread = thread->next)
		if (thread->slot)
			dropped += atomic_load(&thread->slot->dropped);
	return dropped;
}

enum { TRIES = 1000 };

/* Others may wait for the lock to get on. */
static void let_others(void)
{
	enum { PAUSE_NS = 100000 };
	trace_unlock();
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	trace_lock();
}

/* Waits until no thread is inside any more, but not for long. */
static bool wait_idle(void)
{
	if (!trace_barrier())
		return false;
	for (int i = 0; i < TRIES; i++) {
		if (trace_threads_idle())
			return true;
		let_others();
	}
	return false;
}

/* Where a thread cannot be waited for, the pages stay where they are. */
static void end(void)
{
	uint32_t state = tw_trace_state + 2;
	session->ending = atomic_load(&session->state);
	atomic_store_explicit(&session->state, 0, memory_order_release);
	__atomic_store_n(&tw_trace_state, state, __ATOMIC_RELEASE);
	bool idle = wait_idle();
	session->ending = 0;
	session->losses.last_dropped = count_dropped();
	store_pair(trace_pair());
	atomic_store(&session->header->now.dropped, atomic_load(&session->losses.dropped));
	atomic_store_explicit(&session->header->now.state, IMAGE_COMPLETE, memory_order_release);
	if (idle) {
		drop_file();
		return;
	}
	close_file();
	clear();
}

static void stop(bool abandoned)
{
	if (!trace_lock())
		return;
	atomic_store(&session->fork.again, false);
	for (int i = 0; i < TRIES && session->ending; i++) /* somebody else stops it */
		let_others();
	if (atomic_load(&session->state)) {
		atomic_store(&session->header->now.abandoned, abandoned);
		end();
	}
	trace_unlock();
}

void tw_trace_stop(void)
{
	stop(false);
}

void trace_abandon(void)
{
	stop(true);
}

uint64_t tw_trace_dropped(void)
{
	if (!trace_lock())
		return 0;
	const bool on = atomic_load(&session->state) || session->ending;
	uint64_t dropped = on ? count_dropped() : session->losses.last_dropped;
	trace_unlock();
	return dropped;
}

size_t tw_trace_file(char *name, size_t room)
{
	if (!trace_lock())
		return 0;
	const char *file = atomic_load(&session->state) ? session->image.file : "";
	size_t length = strlen(file);
	if (room)
		snprintf(name, room, "%s", file);
	trace_unlock();
	return length;
}

bool trace_compare_clocks(void)
{
	if (!trace_lock())
		return false;
	bool on = atomic_load(&session->state) && session->clock != IMAGE_MONOTONIC;
	if (on) {
		store_pair(trace_pair());
		keep_pair(session->times.pair);
	}
	trace_unlock();
	return on;
}

static uint64_t count_written(void)
{
	uint64_t written = session->losses.gone_written;
	for (struct trace_thread *thread = session->all; thread; thread = thread->next)
		for (int i = 0; i < TRACE_NESTED; i++)
			written += atomic_load_explicit(&thread->writers[i].events, memory_order_relaxed);
	return written;
}

void trace_look(struct trace_status *status, bool wants_file)
{
	*status = (struct trace_status){.fd = -1};
	if (!trace_lock())
		return;
	status->on = atomic_load(&session->state) != 0;
	if (status->on) {
		status->mode = session->options.mode;
		status->used = session->space.chunks;
		status->dropped = count_dropped();
		status->written = count_written();
		status->cut = atomic_load_explicit(&session->header->now.cut, memory_order_relaxed);
		status->unkept = atomic_load_explicit(&session->header->now.unkept, memory_order_relaxed);
		status->fd = wants_file && trace_file_is_ours() ? fcntl(session->image.fd, F_DUPFD_CLOEXEC, 0) : -1;
		strcpy(status->file, session->image.file);
	}
	trace_unlock();
}

/* ---- Forks. ---- */

/* A word that is 1, and 0 in a process that was forked: also where no handler runs, as in one of a bare clone(). */
static volatile uint32_t *alive;

static void mark_alive(void)
{
	if (!alive)
		alive = trace_map(IMAGE_PAGE);
	if (alive && madvise((void *)alive, IMAGE_PAGE, MADV_WIPEONFORK) < 0)
		alive = NULL;
	if (alive)
		*alive = 1;
}

static __thread bool fork_locked __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
	if (session->hooks.forking)
		session->hooks.forking();
	fork_locked = trace_lock(); /* false in a signal handler that has come while it was held */
}

static void after_fork(void)
{
	if (fork_locked)
		trace_unlock();
}

/* The file is the parent's; the next event begins one of its own. */
static void after_fork_in_child(void)
{
	bool was_on = atomic_load(&session->state) || atomic_load(&session->fork.again);
	if (session->hooks.forked)
		session->hooks.forked();
	trace_lock_forked();
	trace_threads_forked();
	atomic_store(&session->state, 0);
	session->ending = 0;
	leave_header();
	drop_file();
	*session->image.file = 0;
	session->fork.rejoins = session->managed || !was_on;
	atomic_store(&session->fork.again, true);
	__atomic_store_n(&tw_trace_state, tw_trace_state + 2, __ATOMIC_RELEASE);
	mark_alive();
}

static void look_around(void)
{
	if (alive && !*alive)
		after_fork_in_child();
	if (!atomic_load_explicit(&session->fork.again, memory_order_relaxed) ||
	    !atomic_exchange(&session->fork.again, false))
		return;
	if (session->fork.rejoins) {
		report_parent(session->hooks.rejoin ? session->hooks.rejoin() : 0);
		return;
	}
	if (!trace_lock())
		return;
	int error = begin(-1);
	trace_unlock();
	report_parent(error);
	if (!error)
		report_started();
}

/* ---- Where it all begins. ---- */

void trace_load(void)
{
	session->hooks.look_around = look_around;
	mark_alive();
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
