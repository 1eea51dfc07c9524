/* manage.h - the manager: it gives files to programs that trace themselves, and makes one archive of them.
 *
 * doc/recording.md tells the protocol. Nothing that a program says or has written is trusted. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MANAGE_MANAGE_H
#define MANAGE_MANAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

enum { MANAGE_ERROR = 256, MANAGE_MOST = 1000 };

/* Bytes that the names of categories may have in the options of a wish, and that an answer to "status" has at most. */
enum { MANAGE_CATEGORIES = 1022, MANAGE_ANSWER = 4096 };

/* A program that traces itself, and its file. */
struct manage_provider {
	pid_t process;
	int talk;   /* -1: the connection has ended */
	int image;  /* the file's descriptor; -1: none */
	bool waits; /* it has connected, and waits for an answer */
	bool started, stopped;
	bool ended; /* with this status, as of wait(): known where it was ours to wait for */
	int status;
	int refused;         /* an errno; 0: it is not. ETIMEDOUT: it does not answer */
	uint64_t since_ns;   /* when it has connected, CLOCK_MONOTONIC */
	uint64_t dropping;   /* events that found no room, as the process says while it records */
	uint64_t writing;    /* events that it has written, as it says */
	char path[PATH_MAX]; /* of the file; "" where it has none */
	struct {             /* what is in the archive */
		bool written, finished;
		char name[64];
		uint64_t dropped, overwritten, cut, unkept, bytes;
		uint64_t unrecorded; /* forked processes for which there was no file */
		int last_unrecorded; /* why there was none for the last of them: errno */
		uint64_t damaged;    /* bytes of the file that are no records */
		bool unreadable;     /* the process has begun, and its file cannot be read */
	} archived;
};

/* What is to be recorded. */
struct manage_wish {
	const char *output;
	const char *options;   /* for programs, as TRACKWAY_TRACE_OPTIONS */
	char **words;          /* a program and its arguments; NULL: programs that run */
	pid_t attach;          /* only this one; 0: all of the user */
	bool in_memory;        /* files in memory, which are gone with programs and manager */
	bool sched;            /* with the kernel's scheduling of the programs' threads */
	uint64_t duration_ns;  /* 0: without a limit */
	const char *stop_on;   /* an alert that ends it; NULL: none */
	uint64_t after_ns;     /* so long after it */
	uint64_t size_most;    /* bytes of all files together; 0: without a limit */
	bool size_ends;        /* programs are given no more room than that; what finds none comes after the end */
	uint64_t memory;       /* bytes for making the archive */
	const char *temporary; /* a directory for copies of what is still written; NULL: /tmp */
	/* Is called ten times a second, where there is something new; NULL: nobody wants it. */
	void (*progress)(void *context, const struct manage_provider *providers, size_t count, uint64_t bytes);
	void *context;
};

struct manage_result {
	struct manage_provider *providers;
	size_t count, room;
	bool program_ended, left; /* and processes that it has left go on */
	int status;               /* of the program, as of wait() */
	int interrupted;          /* the signal that has ended it before the program; 0: none */
	bool alerted;             /* the alert has come */
	bool full;                /* the files have reached the size */
	char error[MANAGE_ERROR]; /* why it failed */
	char parts[PATH_MAX];     /* the directory of the files, where some are still there; otherwise "" */
	/* Of scheduling: */
	char sched_refusal[MANAGE_ERROR]; /* a line on what the kernel refuses, otherwise "" */
	uint64_t sched_lost;              /* records that the kernel had no room for */
	int sched_image;                  /* -1: none */
	char sched_path[PATH_MAX];
};

/* Records until the program has ended, and those that it has left and that are recorded, or what the wish says. A
 * signal is passed on to the program unless it came from the terminal, and so to it, too; a second one ends the
 * recording, as the first does where no program was started, or it has ended. They stay blocked behind it: what comes
 * while the archive is written has nothing more to end. Returns 0, or -1 and result->error. */
int manage_record(const struct manage_wish *wish, struct manage_result *result);

/* Takes what programs that run have recorded so far, without stopping anything. Only output, attach, memory
 * and temporary of the wish. */
int manage_snapshot(const struct manage_wish *wish, struct manage_result *result);

void manage_free(struct manage_result *result);

/* What a program that runs tells of itself: its answer to "status", terminated. */
typedef void manage_status_fn(void *context, pid_t process, const char *status);

/* Asks all programs of the user, or one. Returns how many have answered. */
size_t manage_list(pid_t attach, manage_status_fn *take, void *context);

/* ---- Inside. ---- */

/* providers.c: calls for each program that has a socket, by its number and the socket's path. */
typedef void manage_found_fn(void *context, pid_t process, const char *path);
void manage_find(pid_t attach, manage_found_fn *found, void *context);

/* Whose a process is: root may ask those of others. Of 0: the user of this process. */
uid_t manage_user_of(pid_t process);

/* The parent of a process, 0 where it is not known; whether it is there, and no zombie. */
pid_t manage_parent_of(pid_t process);
bool manage_is_running(pid_t process);

/* The same: connects to a program. A socket that nobody listens at, of a process that is gone, is removed. Returns a
 * descriptor, or -1. */
int manage_connect(pid_t process, const char *path);

/* listener.c: the socket that programs find, in the directory of the user whose they are, in whose name it is made and
 * removed where root records them; and unless there is a program to start, a link where all that start find it: the
 * last manager has that. Returns 0, or -1 and result->error. */
struct manage_listener {
	int fd;                                                    /* -1: there is none */
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* "": the same */
	uid_t user;
};
int manage_listen(struct manage_listener *listener, const struct manage_wish *wish, struct manage_result *result);
void manage_listen_end(struct manage_listener *listener);

/* archive.c: writes the archive of all files of the result that can be read. Returns 0, or -1 and result->error. */
int manage_write(struct manage_result *result, const struct manage_wish *wish);

/* Puts a line into result->error and returns -1. */
int manage_fail(struct manage_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
