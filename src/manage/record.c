/* record.c - a recording from outside: programs are given files, started, watched and stopped. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/threads/witness.h"
#include "manage/manage.h"
#include "manage/sched.h"
#include "trace/control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LOOK_MS = 100,
	LOOK_OFTEN_MS = 10,
	SIZE_LEAST = 1 << 16,
	LOOKS_A_STATUS = 10,
	START_TIMEOUT_S = 3, /* a program has a socket as soon as it has begun */
	ANSWER_TIMEOUT_S = 5,
	STOP_TIMEOUT_S = 5,
	SIGNALS = MANAGE_MOST,
	LISTENER,
	SCHED,
	POLLED
};

_Static_assert((int)MANAGE_CATEGORIES == (int)CONTROL_CATEGORIES && (int)MANAGE_ANSWER == (int)CONTROL_TEXT,
               "as programs have it");

static const uint64_t ns_of_second = 1000000000;

/* A signal that follows so soon is the first one again: a shell that stops a job sends one to the process, and one to
 * its group. */
static const uint64_t second_after_ns = 300000000;

/* How long after the program's end one of its children may still start to record. */
static const uint64_t left_ns = 3 * (uint64_t)1000000000;

struct manager {
	const struct manage_wish *wish;
	struct manage_result *result;
	struct manage_listener listener;
	int signals;
	pid_t program; /* 0: none, or it has ended */
	struct tw_witness witness;
	uint64_t signal_at, end; /* when the first signal came, when the program has ended; 0: not yet */
	uint64_t deadline, bytes;
	uint64_t begin; /* when it began to look for programs */
	unsigned looks; /* how often it has looked around */
	bool stopping, news;
	struct sched *sched; /* NULL: none is recorded */
	struct pollfd polled[POLLED];
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * ns_of_second + (uint64_t)now.tv_nsec;
}

/* ---- Files. ---- */

/* A directory beside the output, for files that are there whoever dies. */
static int make_parts(struct manager *manager)
{
	struct manage_result *result = manager->result;
	const char *output = manager->wish->output, *temporary = getenv("TMPDIR");
	if (manager->wish->in_memory)
		return 0;
	if (strcmp(output, "-") == 0)
		snprintf(result->parts, sizeof result->parts, "%s/trackway-%ld.parts",
		         temporary && *temporary ? temporary : "/tmp", (long)getpid());
	else
		snprintf(result->parts, sizeof result->parts, "%s.parts", output);
	if (mkdir(result->parts, 0700) == 0)
		return 0;
	int error = errno;
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s", result->parts);
	*result->parts = 0;
	return manage_fail(result, "%.200s: %s", path,
	                   error == EEXIST ? "is there, from a recording that was not ended" : strerror(error));
}

/* Files that are damaged stay: there may be more in them than could be read. */
static void remove_parts(struct manage_result *result)
{
	bool kept = false;
	for (size_t i = 0; i < result->count; i++) {
		const struct manage_provider *provider = &result->providers[i];
		const bool keeps = *provider->path && (provider->archived.damaged || provider->archived.unreadable);
		if (*provider->path && !keeps)
			unlink(provider->path);
		kept |= keeps;
	}
	if (*result->sched_path)
		unlink(result->sched_path);
	if (*result->parts && !kept)
		rmdir(result->parts);
	if (!kept)
		*result->parts = 0;
}

/* In memory: all that a ring or a buffer may take, beside room for what is never overwritten; nobody can cut it. */
static int make_memory(void)
{
	static const off_t most = (off_t)1 << 32;
	int fd = memfd_create("trackway", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, most) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return fd;
	close(fd);
	return -1;
}

static int make_file(const struct manager *manager, struct manage_provider *provider)
{
	enum { MOST = 1000 };
	if (manager->wish->in_memory)
		return make_memory();
	for (int i = 0; i < MOST; i++) {
		int length = snprintf(provider->path, sizeof provider->path, "%s/%ld-%d.fxt", manager->result->parts,
		                      (long)provider->process, i);
		if (length < 0 || (size_t)length >= sizeof provider->path)
			break;
		int fd = open(provider->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* ---- Programs. ---- */

/* Who is at the other side, as the kernel tells it. 0: nobody who is to be talked with. */
static pid_t peer_of(int talk)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	if (!control_trusted(talk) || getsockopt(talk, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return 0;
	return peer.pid;
}

/* Whether a place in the list is free: its program was none of those that are recorded. */
static bool is_nobody(const struct manage_provider *provider)
{
	return provider->talk < 0 && provider->image < 0 && !provider->refused;
}

static void add(struct manager *manager, int talk, bool waits)
{
	struct manage_result *result = manager->result;
	pid_t process = talk < 0 ? 0 : peer_of(talk);
	size_t at = 0;
	while (at < result->count && !is_nobody(&result->providers[at]))
		at++;
	bool room = process && at < MANAGE_MOST && !manager->stopping &&
	            tw_grow(&result->providers, &result->room, at + 1, sizeof *result->providers);
	if (room) {
		result->count = at < result->count ? result->count : at + 1;
		result->providers[at] = (struct manage_provider){
		    .process = process, .talk = talk, .image = -1, .since_ns = now_ns(), .waits = waits};
	} else if (talk >= 0) {
		close(talk);
	}
}

static void begin_sched(struct manager *manager)
{
	struct manage_result *result = manager->result;
	_Static_assert((int)MANAGE_ERROR >= (int)SCHED_REFUSAL, "the line has room");
	if (manager->wish->sched && *result->parts &&
	    snprintf(result->sched_path, PATH_MAX, "%s/sched.fxt", result->parts) >= PATH_MAX)
		*result->sched_path = '\0';
	if (manager->wish->sched)
		manager->sched = sched_open(result->sched_path, result->sched_refusal);
}

static void end_sched(struct manager *manager)
{
	if (manager->sched)
		manager->result->sched_image = sched_close(manager->sched, &manager->result->sched_lost);
	manager->sched = NULL;
}

static void end_talk(struct manage_provider *provider)
{
	close(provider->talk);
	provider->talk = -1;
}

/* Bytes of all files. */
static uint64_t measure(const struct manage_result *result)
{
	struct stat status;
	uint64_t bytes = 0;
	for (size_t i = 0; i < result->count; i++)
		if (result->providers[i].image >= 0 && fstat(result->providers[i].image, &status) == 0)
			bytes += (uint64_t)status.st_blocks * 512;
	return bytes;
}

/* Tells a program to start. Where the size of all files is limited, the program gets all that is left of it: a program
 * writes faster than the manager could watch its file. */
static int put_start(const struct manager *manager, char text[static CONTROL_TEXT - 1])
{
	const struct manage_wish *wish = manager->wish;
	if (!wish->size_ends)
		return snprintf(text, CONTROL_TEXT - 1, "start %s", wish->options);
	const uint64_t bytes = measure(manager->result);
	const uint64_t left = wish->size_most > bytes ? wish->size_most - bytes : 0;
	return snprintf(text, CONTROL_TEXT - 1, "start %s,size=%llu", wish->options,
	                (unsigned long long)(left > SIZE_LEAST ? left : SIZE_LEAST));
}

/* Tells a program the address of the manager, for the processes that it forks. A program that waits for an answer has
 * the address from its environment, and its one answer is the start. Any other program gets the address before it
 * starts. */
static void report_manager(const struct manager *manager, const struct manage_provider *provider, bool before)
{
	char text[CONTROL_TEXT - 1];
	if (!*manager->listener.path || before == provider->waits)
		return;
	snprintf(text, sizeof text, "manager %s", manager->listener.path);
	control_send(provider->talk, text, -1);
}

/* A program has greeted: it is given a file, once. */
static void start(struct manager *manager, struct manage_provider *provider)
{
	char text[CONTROL_TEXT - 1];
	if (provider->image >= 0 || manager->stopping)
		return;
	if (manager->sched)
		sched_follow(manager->sched, provider->process);
	provider->image = make_file(manager, provider);
	provider->refused = provider->image < 0 ? errno : 0;
	put_start(manager, text);
	report_manager(manager, provider, true);
	if (provider->image < 0 || control_send(provider->talk, text, provider->image) < 0) {
		end_talk(provider);
		return;
	}
	report_manager(manager, provider, false);
}

static void take_alert(struct manager *manager, const char *name)
{
	const struct manage_wish *wish = manager->wish;
	if (!wish->stop_on || strncmp(name, wish->stop_on, CONTROL_ALERT) != 0 || manager->result->alerted)
		return;
	uint64_t end = now_ns() + wish->after_ns;
	manager->result->alerted = true;
	manager->deadline = manager->deadline && manager->deadline < end ? manager->deadline : end;
}

/* MODE BYTES DROPS EVENTS, and lines. */
static void take_status(struct manager *manager, struct manage_provider *provider, const char *text)
{
	const char *bytes = strchr(text, ' '), *drops = bytes ? strchr(bytes + 1, ' ') : NULL;
	char *events = NULL;
	uint64_t dropping = drops ? strtoull(drops + 1, &events, 10) : 0;
	uint64_t writing = events && *events == ' ' ? strtoull(events + 1, NULL, 10) : 0;
	manager->news |= dropping != provider->dropping || writing != provider->writing;
	provider->dropping = dropping;
	provider->writing = writing;
}

static void take_started(struct manage_provider *provider)
{
	provider->started = true;
	provider->refused = 0; /* it was late */
}

/* Notes the programs that do not answer: stopped ones, and those whose helper thread is gone. They may answer later. */
static void note_silent(struct manage_result *result)
{
	const uint64_t now = now_ns();
	for (size_t i = 0; i < result->count; i++) {
		struct manage_provider *provider = &result->providers[i];
		if (provider->talk >= 0 && !provider->started && !provider->refused &&
		    now - provider->since_ns > ANSWER_TIMEOUT_S * ns_of_second)
			provider->refused = ETIMEDOUT;
	}
}

static int error_of(const char *text)
{
	const long error = strtol(text, NULL, 10);
	return error > 0 && error < INT_MAX ? (int)error : EINVAL;
}

/* Whether a process is a recorded one, or a descendant of one. */
static bool is_descendant(const struct manager *manager, pid_t process)
{
	enum { DEEPEST = 64 };
	const struct manage_result *result = manager->result;
	for (int i = 0; i < DEEPEST && process > 1; i++, process = manage_parent_of(process)) {
		bool recorded = process == manager->wish->attach;
		for (size_t k = 0; k < result->count && !recorded; k++)
			recorded = result->providers[k].process == process && result->providers[k].image >= 0;
		if (recorded)
			return true;
	}
	return false;
}

/* A program that starts, and has asked the manager that it found. */
static void greet(struct manager *manager, struct manage_provider *provider, const char *greeting)
{
	if (manager->wish->attach && strstr(greeting, CONTROL_UNASKED) && !is_descendant(manager, provider->process)) {
		control_send(provider->talk, "none", -1); /* it need not wait */
		end_talk(provider);
		return;
	}
	start(manager, provider);
}

static void take_packet(struct manager *manager, struct manage_provider *provider)
{
	char text[CONTROL_TEXT];
	const char *rest;
	int fd;
	ssize_t size = control_receive(provider->talk, text, &fd);
	if (fd >= 0)
		close(fd);
	if (size <= 0)
		end_talk(provider);
	else if ((rest = control_after(text, "hello")))
		greet(manager, provider, rest);
	else if (control_after(text, "started"))
		take_started(provider);
	else if ((rest = control_after(text, "refused")))
		provider->refused = error_of(rest);
	else if (control_after(text, "stopped"))
		provider->stopped = true;
	else if ((rest = control_after(text, "alert")))
		take_alert(manager, rest);
	else if ((rest = control_after(text, "status")))
		take_status(manager, provider, rest);
}

/* ---- Programs that run. ---- */

static void connect_to(void *context, pid_t process, const char *path)
{
	struct manager *manager = context;
	struct manage_result *result = manager->result;
	for (size_t i = 0; i < result->count; i++)
		if (result->providers[i].process == process && result->providers[i].talk >= 0)
			return;
	add(manager, manage_connect(process, path), false);
}

/* ---- The program that is started. ---- */

/* In the child. error: where a failure is told, as errno; go: whose end says that the parent is ready. */
static void execute(const struct manager *manager, const sigset_t *before, int error, int go)
{
	char none;
	if (read(go, &none, 1) != 0)
		_exit(126);
	sigprocmask(SIG_SETMASK, before, NULL);
	signal(SIGXFSZ, SIG_DFL); /* ignored by the tool; this is the program's own */
	setenv(CONTROL_MANAGER, manager->listener.path, 1);
	execvp(manager->wish->words[0], manager->wish->words);
	int number = errno;
	if (write(error, &number, sizeof number) < 0)
		_exit(126);
	_exit(127);
}

static int run_program(struct manager *manager, const sigset_t *before)
{
	int failure[2], go[2], error = 0;
	if (manage_listen(&manager->listener, manager->wish, manager->result) < 0)
		return -1;
	if (!manager->wish->words)
		return 0;
	if (pipe2(failure, O_CLOEXEC) < 0 || pipe2(go, O_CLOEXEC) < 0)
		return manage_fail(manager->result, "%s", strerror(errno));
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* what the program leaves is ours */
	manager->program = fork();
	if (manager->program == 0) {
		close(go[1]);
		execute(manager, before, failure[1], go[0]);
	}
	if (manager->sched && manager->program > 0)
		sched_follow(manager->sched, manager->program);
	close(go[0]);
	close(go[1]);
	close(failure[1]);
	if (manager->program < 0 || read(failure[0], &error, sizeof error) > 0) {
		error = manager->program < 0 ? errno : error;
		manager->program = 0;
		close(failure[0]);
		return manage_fail(manager->result, "%.200s: %s", manager->wish->words[0], strerror(error));
	}
	close(failure[0]);
	return 0;
}

/* ---- The loop. ---- */

static void stop_all(struct manager *manager)
{
	if (manager->stopping)
		return;
	manager->stopping = true;
	manager->deadline = now_ns() + STOP_TIMEOUT_S * ns_of_second;
	for (size_t i = 0; i < manager->result->count; i++)
		if (manager->result->providers[i].talk >= 0)
			control_send(manager->result->providers[i].talk, "stop", -1);
}

/* Whether all that were started have stopped, or are gone. */
static bool all_stopped(const struct manage_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		if (result->providers[i].talk >= 0 && result->providers[i].started && !result->providers[i].stopped)
			return false;
	return true;
}

static void note_end(struct manage_result *result, pid_t process, int status)
{
	for (size_t i = 0; i < result->count; i++)
		if (result->providers[i].process == process && !result->providers[i].ended) {
			result->providers[i].ended = true;
			result->providers[i].status = status;
		}
}

/* Children are the program, and what it has left. */
static void take_ends(struct manager *manager)
{
	int status;
	pid_t ended;
	while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
		note_end(manager->result, ended, status);
		if (ended == manager->program) {
			manager->program = 0;
			manager->end = now_ns();
			manager->result->program_ended = true;
			manager->result->status = status;
		}
	}
	manager->result->left = ended == 0 && manager->result->program_ended;
}

/* A second one ends the recording. */
static void take_signal(struct manager *manager)
{
	struct signalfd_siginfo info;
	const uint64_t now = now_ns();
	if (read(manager->signals, &info, sizeof info) != sizeof info)
		return;
	if (info.ssi_signo == SIGCHLD) {
		take_ends(manager);
		return;
	}
	const int number = (int)info.ssi_signo;
	const bool saw = tw_witness_saw(&manager->witness, number);
	if (manager->program && (!manager->signal_at || now - manager->signal_at < second_after_ns)) {
		manager->signal_at = manager->signal_at ? manager->signal_at : now;
		tw_witness_pass(saw, manager->program, number);
		return;
	}
	manager->result->interrupted = manager->program ? number : 0;
	stop_all(manager);
}

/* Whether the recording is over. No recorded process is left, and: a program that runs already has refused, is gone, or
 * has not connected in time; a program that was started has ended, and its children have had left_ns to start
 * recording. */
static bool has_ended(const struct manager *manager)
{
	const struct manage_result *result = manager->result;
	const pid_t attach = manager->wish->attach;
	bool refused = false, met = false;
	for (size_t i = 0; i < result->count; i++) {
		met |= result->providers[i].process == attach;
		refused |= result->providers[i].refused != 0;
		if (result->providers[i].talk >= 0 && !result->providers[i].refused)
			return false;
	}
	if (attach)
		return refused || !manage_is_running(attach) ||
		       (!met && now_ns() - manager->begin > START_TIMEOUT_S * ns_of_second);
	return result->program_ended && (!result->left || now_ns() - manager->end >= left_ns);
}

/* How many events they drop, they know best. */
static void ask_all(const struct manager *manager)
{
	for (size_t i = 0; i < manager->result->count && !manager->stopping; i++) {
		const struct manage_provider *provider = &manager->result->providers[i];
		if (provider->talk >= 0 && provider->started)
			control_send(provider->talk, "status", -1);
	}
}

static void look(struct manager *manager)
{
	const struct manage_wish *wish = manager->wish;
	if (!wish->words && !manager->stopping)
		manage_find(wish->attach, connect_to, manager);
	note_silent(manager->result);
	uint64_t bytes = measure(manager->result);
	if (wish->progress && (bytes != manager->bytes || manager->news))
		wish->progress(wish->context, manager->result->providers, manager->result->count, bytes);
	manager->bytes = bytes;
	manager->news = false;
	if (wish->progress && manager->looks++ % LOOKS_A_STATUS == 0)
		ask_all(manager);
	if (wish->size_most && bytes > wish->size_most && !manager->stopping) {
		manager->result->full = true;
		stop_all(manager);
	}
	if (has_ended(manager) || (!manager->stopping && manager->deadline && now_ns() >= manager->deadline))
		stop_all(manager);
}

static nfds_t set_polled(struct manager *manager)
{
	struct manage_result *result = manager->result;
	nfds_t count = 0;
	manager->polled[count++] = (struct pollfd){.fd = manager->signals, .events = POLLIN};
	manager->polled[count++] = (struct pollfd){.fd = manager->listener.fd, .events = POLLIN};
	manager->polled[count++] =
	    (struct pollfd){.fd = manager->sched ? sched_waits(manager->sched) : -1, .events = POLLIN};
	for (size_t i = 0; i < result->count; i++)
		manager->polled[count++] = (struct pollfd){.fd = result->providers[i].talk, .events = POLLIN};
	return count;
}

static bool is_over(const struct manager *manager)
{
	return manager->stopping && (all_stopped(manager->result) || now_ns() >= manager->deadline);
}

static void loop(struct manager *manager)
{
	enum { BESIDE = 3 };
	while (!is_over(manager)) {
		look(manager);
		nfds_t count = set_polled(manager);
		int ready = poll(manager->polled, count, manager->wish->size_most ? LOOK_OFTEN_MS : LOOK_MS);
		if (manager->sched)
			sched_drain(manager->sched);
		if (ready <= 0)
			continue;
		for (nfds_t i = BESIDE; i < count; i++)
			if (manager->polled[i].revents && manager->polled[i].fd >= 0)
				take_packet(manager, &manager->result->providers[i - BESIDE]);
		if (manager->polled[0].revents)
			take_signal(manager);
		if (manager->listener.fd >= 0 && manager->polled[1].revents)
			add(manager, accept4(manager->listener.fd, NULL, NULL, SOCK_CLOEXEC), true);
	}
}

int manage_record(const struct manage_wish *wish, struct manage_result *result)
{
	sigset_t before;
	struct manager manager = {.wish = wish, .result = result, .listener.fd = -1};
	*result = (struct manage_result){.sched_image = -1};
	manager.begin = now_ns();
	manager.deadline = wish->duration_ns ? manager.begin + wish->duration_ns : 0;
	manager.signals = tw_witness_begin(&manager.witness, &before);
	int status = make_parts(&manager);
	if (status == 0)
		begin_sched(&manager);
	status = status < 0 ? status : run_program(&manager, &before);
	if (status == 0)
		loop(&manager);
	end_sched(&manager);
	manage_listen_end(&manager.listener);
	status = status < 0 ? status : manage_write(result, wish);
	bool recorded = false;
	for (size_t i = 0; i < result->count; i++)
		recorded |= result->providers[i].archived.written;
	if (status == 0 || !recorded) /* otherwise the files of the programs are the only record of them */
		remove_parts(result);
	tw_witness_end(&manager.witness);
	if (manager.signals >= 0)
		close(manager.signals);
	return status;
}
