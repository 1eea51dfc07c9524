/* control.c - the helper thread: a manager asks through it for recordings, and it compares clocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/control.h"

#include "trace/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { TALKS = 8, LISTENER = TALKS, WAKE, POLLED, WAKER = POLLED, KEPT, PERIOD_MS = 100, CATEGORIES = 64 };
enum { CATEGORY_NAME = 48 };

static struct trace_session *const session = &trace_session;

/* NOLINTNEXTLINE(bugprone-reserved-identifier): the runtime's name. NULL where the program is without it */
extern void __asan_init(void) __attribute__((weak));

static bool under_asan(void)
{
	return __asan_init != NULL;
}

/* The helper's: connections, the socket that others connect to, and both ends of the pipe that wakes it, of which it
 * polls one. -1: none. The program may close what it has not opened, and open something else, so each is looked at
 * before it is used or closed. */
static struct {
	struct pollfd polled[KEPT];
	_Atomic int manager; /* the connection that a recording was asked by; -1: by none */
	_Atomic ino_t manager_inode;
	_Atomic bool running, begun; /* the thread is made; it is at work */
	bool wanted;
	bool forked; /* this process was */
	ino_t inodes[KEPT];
	dev_t devices[KEPT];
	char socket[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* its name, "" where there is none */
	char at[sizeof(((struct sockaddr_un *)NULL)->sun_path)];     /* where forked processes find the manager; "" */
} helper;

/* The categories of sites that have been met; the recording's lock is around them. */
static struct {
	char name[CATEGORY_NAME];
	uint32_t sites;
} categories[CATEGORIES];
static uint32_t other_sites; /* whose categories found no room there */

static void note_site(const char *category)
{
	for (size_t i = 0; i < CATEGORIES; i++) {
		if (!categories[i].sites)
			snprintf(categories[i].name, sizeof categories[i].name, "%s", category);
		if (strncmp(categories[i].name, category, CATEGORY_NAME - 1) == 0) {
			categories[i].sites++;
			return;
		}
	}
	other_sites++;
}

/* A line for each category: "SITES NAME"; "+SITES" for all that have no line. */
static void put_categories(char *to, int room)
{
	enum { LAST = sizeof "\n+4294967295" };
	uint32_t others = other_sites;
	for (size_t i = 0; i < CATEGORIES && categories[i].sites; i++) {
		int size = snprintf(to, (size_t)room, "\n%u %s", categories[i].sites, categories[i].name);
		bool fits = size + LAST < room;
		others += fits ? 0 : categories[i].sites;
		to += fits ? size : 0;
		room -= fits ? size : 0;
	}
	*to = 0;
	if (others)
		snprintf(to, (size_t)room, "\n+%u", others);
}

/* ---- What a manager asks for. ---- */

/* A file that anyone may cut would be a SIGBUS: one without a name must be sealed. */
static bool is_safe(int fd)
{
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	int seals = fcntl(fd, F_GET_SEALS);
	return status.st_nlink > 0 || (seals >= 0 && seals & F_SEAL_SHRINK);
}

static void set_manager(int talk)
{
	struct stat status;
	atomic_store(&helper.manager_inode, fstat(talk, &status) == 0 ? status.st_ino : 0);
	trace_order_before((void *)&helper.manager);
	atomic_store(&helper.manager, talk);
}

static void do_start(int talk, const char *options, int fd)
{
	int error = is_safe(fd) ? 0 : EINVAL;
	if (error && fd >= 0)
		close(fd);
	error = error ? error : trace_start_on(fd, options);
	if (!error)
		set_manager(talk);
	char answer[64];
	snprintf(answer, sizeof answer, error ? "refused %d" : "started", error);
	control_send(talk, answer, -1);
}

static void do_stop(int talk, const char *rest, int fd)
{
	char answer[64];
	(void)rest;
	if (fd >= 0)
		close(fd);
	if (atomic_load(&helper.manager) == talk) { /* one that was refused has nothing to stop */
		tw_trace_stop();
		atomic_store(&helper.manager, -1);
	}
	snprintf(answer, sizeof answer, "stopped %llu", (unsigned long long)tw_trace_dropped());
	control_send(talk, answer, -1);
}

static void do_status(int talk, const char *rest, int fd)
{
	static const char *const modes[] = {"streaming", "oneshot", "circular"};
	char answer[CONTROL_TEXT - 1];
	struct trace_status status;
	(void)rest;
	if (fd >= 0)
		close(fd);
	trace_look(&status, false);
	int used = snprintf(answer, sizeof answer, "status %s %llu %llu %llu %llu %llu",
	                    status.on ? modes[status.mode] : "off", (unsigned long long)status.used,
	                    (unsigned long long)status.dropped, (unsigned long long)status.written,
	                    (unsigned long long)status.cut, (unsigned long long)status.unkept);
	put_categories(answer + used, (int)sizeof answer - used);
	control_send(talk, answer, -1);
}

static void do_image(int talk, const char *rest, int fd)
{
	struct trace_status status;
	(void)rest;
	if (fd >= 0)
		close(fd);
	trace_compare_clocks();
	trace_look(&status, true);
	control_send(talk, status.fd >= 0 ? "image" : "none", status.fd);
	if (status.fd >= 0)
		close(status.fd);
}

/* It is asked for a file by processes that are forked, before their first event. */
static void do_manager(int talk, const char *rest, int fd)
{
	const int manager = atomic_load(&helper.manager);
	const bool others = manager >= 0 ? manager != talk : atomic_load(&session->state) != 0;
	if (fd >= 0)
		close(fd);
	if (others) /* whose recording it is has the forked ones, too */
		return;
	snprintf(helper.at, sizeof helper.at, "%s", strlen(rest) < sizeof helper.at ? rest : "");
}

static const struct {
	const char *word;
	void (*act)(int talk, const char *rest, int fd);
} words[] = {
    {"start", do_start}, {"stop", do_stop}, {"status", do_status}, {"image", do_image}, {"manager", do_manager}};

/* What is none of the words is left alone: another version may know more. */
static void act(int talk, const char *text, int fd)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *rest = control_after(text, words[i].word);
		if (rest) {
			words[i].act(talk, rest, fd);
			return;
		}
	}
	if (fd >= 0)
		close(fd);
}

/* ---- Connections. ---- */

static void set_polled(int place, int fd)
{
	struct stat status;
	bool is = fd >= 0 && fstat(fd, &status) == 0;
	helper.inodes[place] = is ? status.st_ino : 0;
	helper.devices[place] = is ? status.st_dev : 0;
	helper.polled[place].fd = is ? fd : -1;
}

/* Whether a descriptor is still what it was; it is forgotten otherwise. */
static bool is_ours(int place)
{
	struct stat status;
	struct pollfd *polled = &helper.polled[place];
	if (polled->fd >= 0 && helper.inodes[place] && fstat(polled->fd, &status) == 0 &&
	    status.st_ino == helper.inodes[place] && status.st_dev == helper.devices[place])
		return true;
	polled->fd = -1;
	return false;
}

static bool is_ready(int place)
{
	return helper.polled[place].fd >= 0 && helper.polled[place].revents && is_ours(place);
}

static void close_ours(int place)
{
	if (is_ours(place))
		close(helper.polled[place].fd);
	helper.polled[place].fd = -1;
}

static void say_hello(int talk, const char *more)
{
	char text[64];
	snprintf(text, sizeof text, "hello %d %ld%s", CONTROL_VERSION, (long)getpid(), more);
	control_send(talk, text, -1);
}

static bool keep_talk(int talk)
{
	for (int i = 0; i < TALKS; i++)
		if (helper.polled[i].fd < 0) {
			set_polled(i, talk);
			return true;
		}
	close(talk);
	return false;
}

/* Where who has asked for a recording is gone, it ends. */
static void end_talk(int talk)
{
	if (atomic_load(&helper.manager) == talk) {
		atomic_store(&helper.manager, -1);
		trace_abandon();
	}
}

/* Returns false at the end, after which the connection is to be closed. */
static bool take_packet(int talk)
{
	char text[CONTROL_TEXT];
	int fd;
	ssize_t size = control_receive(talk, text, &fd);
	if (size > 0)
		act(talk, text, fd);
	else
		end_talk(talk);
	return size > 0;
}

static void take_connection(void)
{
	int talk = accept4(helper.polled[LISTENER].fd, NULL, NULL, SOCK_CLOEXEC);
	if (talk < 0)
		return;
	if (!control_trusted(talk))
		close(talk);
	else if (keep_talk(talk))
		say_hello(talk, "");
}

static void *help(void *context)
{
	(void)context;
	atomic_store(&helper.begun, true);
	while (atomic_load(&helper.running)) {
		char bytes[64];
		int period = trace_compare_clocks() ? PERIOD_MS : -1;
		if (poll(helper.polled, POLLED, period) < 0 && errno != EINTR)
			break;
		if (is_ready(WAKE) && read(helper.polled[WAKE].fd, bytes, sizeof bytes) <= 0)
			break;
		for (int i = 0; i < TALKS; i++)
			if (is_ready(i) && !take_packet(helper.polled[i].fd))
				close_ours(i);
		if (is_ready(LISTENER))
			take_connection();
	}
	return NULL;
}

/* ---- The socket. ---- */

static int listen_at(const char *directory)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	enum { WAITING = 8 };
	int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/%ld", directory, (long)getpid());
	if (length < 0 || (size_t)length >= sizeof address.sun_path)
		return -1;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	unlink(address.sun_path); /* of a process that had this number before */
	if (fchmod(fd, 0600) == 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
	    listen(fd, WAITING) == 0) {
		strcpy(helper.socket, address.sun_path);
		return fd;
	}
	close(fd);
	return -1;
}

static int open_socket(void)
{
	char directory[sizeof helper.socket];
	if (control_directory(directory, sizeof directory, geteuid()) < 0)
		return -1;
	mkdir(directory, 0700);
	return control_private(directory) ? listen_at(directory) : -1;
}

/* ---- The thread. ---- */

static bool make_thread(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	if (pthread_attr_init(&attributes) != 0)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	bool made = pthread_create(&thread, &attributes, help, NULL) == 0;
	if (made)
		pthread_setname_np(thread, "trackway");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return made;
}

/* Not an eventfd: those are all one inode, and would not be told from the program's. */
static void open_waker(void)
{
	int ends[2] = {-1, -1};
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	set_polled(WAKE, ends[0]);
	set_polled(WAKER, ends[1]);
}

/* ThreadSanitizer ends forked processes that make a thread. */
static void start_helper(void)
{
	if (!helper.wanted || (helper.forked && trace_under_tsan()) || atomic_exchange(&helper.running, true))
		return;
	set_polled(LISTENER, open_socket());
	open_waker();
	if (!make_thread())
		atomic_store(&helper.running, false); /* recorded is without it, too */
}

static void wake_helper(void)
{
	if (session->options.control && !atomic_load(&helper.running))
		start_helper();
	else if (is_ours(WAKER) && write(helper.polled[WAKER].fd, "w", 1) < 0)
		return; /* full: it is awake */
}

/* ---- The manager that has started the program. ---- */

/* Asks it for a file, and waits for an answer, but not for long. Returns 0, or an errno where none came. */
static int join(int talk, const char *more)
{
	char text[CONTROL_TEXT];
	int fd;
	say_hello(talk, more);
	ssize_t size = control_receive(talk, text, &fd);
	int error = size > 0 ? 0 : size == 0 ? ECONNRESET : errno;
	if (keep_talk(talk) && !error) /* kept first: the helper, which may start now, waits for what it finds */
		act(talk, text, fd);
	return error;
}

static int join_manager(const char *path)
{
	int talk = control_connect(path);
	return talk < 0 ? errno : join(talk, "");
}

/* The same of a manager that gathers all programs of the user, where there is one. It may be stopped, and no program
 * shall wait for that: an answer that comes late is the helper's. */
static void join_gatherer(void)
{
	static const struct timeval patience = {.tv_usec = 100000};
	if (control_directory(helper.at, sizeof helper.at, geteuid()) < 0 || !control_private(helper.at) ||
	    strlen(helper.at) + sizeof "/" CONTROL_GATHERER > sizeof helper.at) {
		*helper.at = 0;
		return;
	}
	strcat(helper.at, "/" CONTROL_GATHERER);
	int talk = control_connect(helper.at);
	if (talk >= 0)
		setsockopt(talk, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (talk < 0 || join(talk, CONTROL_UNASKED) != 0)
		*helper.at = 0;
}

static int rejoin(void)
{
	const char *manager = *helper.at ? helper.at : secure_getenv(CONTROL_MANAGER);
	int error = manager ? join_manager(manager) : 0;
	start_helper();
	return error;
}

/* May be called at any place of the program: it does not wait. */
static void report_alert(const char *name)
{
	char text[CONTROL_ALERT + 8];
	struct stat status;
	int manager = atomic_load(&helper.manager);
	trace_order_after((void *)&helper.manager);
	if (manager < 0 || fstat(manager, &status) < 0 || !S_ISSOCK(status.st_mode) ||
	    status.st_ino != atomic_load(&helper.manager_inode))
		return;
	snprintf(text, sizeof text, "alert %.*s", CONTROL_ALERT, name);
	control_send(manager, text, -1);
}

/* ---- Where it all begins, and ends. ---- */

static void forget_all(void)
{
	for (int i = 0; i < KEPT; i++) {
		close_ours(i);
		helper.polled[i] = (struct pollfd){.fd = -1, .events = POLLIN};
	}
	*helper.socket = 0;
	atomic_store(&helper.manager, -1);
	atomic_store(&helper.running, false);
	atomic_store(&helper.begun, false);
}

/* A thread that begins takes memory. AddressSanitizer's allocator, unlike that of the C library, stays locked for ever
 * in a process that is forked meanwhile. */
static void wait_for_helper(void)
{
	enum { MOST_MS = 1000 };
	for (int i = 0; i < MOST_MS && under_asan() && atomic_load(&helper.running) && !atomic_load(&helper.begun); i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void forget_in_child(void)
{
	forget_all();
	helper.forked = true;
}

/* Who asks for a trace by a variable and gets none is told, on standard error, in one line. It does not wait, and where
 * nobody reads it is no signal. */
static void complain(const char *about, int length, const char *why)
{
	enum { MOST = 300 };
	char line[512];
	struct pollfd output = {.fd = STDERR_FILENO, .events = POLLOUT};
	int size = snprintf(line, sizeof line, "trackway: %.*s: %s; nothing is recorded\n",
	                    length < MOST ? length : MOST, about, why);
	if (size > 0 && (size_t)size < sizeof line && poll(&output, 1, 0) == 1 && output.revents == POLLOUT &&
	    write(STDERR_FILENO, line, (size_t)size) < 0)
		return; /* nobody can be told */
}

static void start_by_variables(const char *wrong)
{
	const char *path = secure_getenv("TRACKWAY_TRACE");
	int error = path && !wrong ? tw_trace_start(NULL, NULL) : 0;
	if (wrong && strcspn(wrong, ",") > CONTROL_CATEGORIES)
		complain("TRACKWAY_TRACE_OPTIONS", (int)strlen("TRACKWAY_TRACE_OPTIONS"),
		         "categories of more than 1022 bytes");
	else if (wrong)
		complain(wrong, (int)strcspn(wrong, ","), "is no setting of TRACKWAY_TRACE_OPTIONS");
	else if (error && error != EALREADY) /* another copy of the library, in a library of the program, has it */
		complain(path, (int)strlen(path), strerror(error));
}

__attribute__((constructor(101))) static void load(void)
{
	struct trace_options options;
	const char *manager = secure_getenv(CONTROL_MANAGER);
	const char *wrong = trace_options_parse(&options, secure_getenv("TRACKWAY_TRACE_OPTIONS"));
	forget_all();
	trace_stay();
	session->hooks.started = wake_helper;
	session->hooks.forking = wait_for_helper;
	session->hooks.forked = forget_in_child;
	session->hooks.rejoin = rejoin;
	session->hooks.alerted = report_alert;
	session->hooks.on_site = note_site;
	trace_load();
	helper.wanted = !wrong && options.control;
	if (manager)
		join_manager(manager);
	else
		start_by_variables(wrong);
	if (!manager && helper.wanted && !secure_getenv("TRACKWAY_TRACE") && !getauxval(AT_SECURE))
		join_gatherer();
	start_helper();
}

__attribute__((destructor(101))) static void unload(void)
{
	tw_trace_stop();
	if (*helper.socket)
		unlink(helper.socket);
}
