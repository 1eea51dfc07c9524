/* record.h - what `record` and the recorders behind it share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RECORD_RECORD_H
#define CLI_RECORD_RECORD_H

#include "cli/command.h"
#include "cli/options/options.h"

#include <limits.h>
#include <signal.h>
#include <sys/types.h>

/* Parts of a program (xtrace). */
struct tw_record_windows {
	const char *file;
	struct tw_list list;
	uint64_t skip, length, every, warm_up;
};

/* All options. Each recorder takes its own; `record` refuses those of the others. */
struct tw_record_options {
	struct tw_common common;
	const char *to, *output;
	struct {
		const char *cpu, *sysroot, *qemu, *plugin, *compress;
		const char *kernel, *initrd; /* of a whole machine */
		uint64_t interval, vector_interval, smp;
		bool from_hint, force, vectors, system;
		struct tw_record_windows windows;
	} xtrace;
	const char *library, *clock; /* xray-fdr; library: tracelog, too */
	uint64_t max_size;           /* xray-fdr, fxt, tracelog */
	struct {                     /* xray-fdr */
		uint64_t ring;
		uint64_t min_duration, max_depth;
		struct tw_list only, never; /* functions */
		bool count;
		uint64_t snapshot; /* of this process */
		uint64_t since;
	} flight;
	struct {
		const char *mode, *stop_on;
		struct tw_list categories;
		uint64_t buffer_size, duration, after, attach;
		bool in_memory, sched;
	} fxt;
	struct { /* tracelog */
		const char *collect_method, *execution_trace, *memory_trace, *gc_trace, *cpu_trace, *line_trace,
		    *dialect;
		uint64_t sampling_timeout, cpu_trace_timeout, alloc_bytes, pause, resume;
		bool live_heap, delayed_start;
	} dotnet;
};

/* One format that programs are recorded to. */
struct tw_recorder {
	const char *format;                  /* as --to has it */
	const struct tw_option_group *group; /* its options */
	bool finds_programs;                 /* it may be given none */
	bool into_folder;                    /* the output is one */
	/* Whether it is asked for something else than a recording, which needs no output; NULL: it never is. */
	bool (*asks)(const struct tw_record_options *options);
	/* Whether it is asked for what a program that runs has recorded, which needs no program; NULL: it never is. */
	bool (*takes)(const struct tw_record_options *options);
	/* Whether its options say it all, and no program needs to follow; NULL: they never do. */
	bool (*is_whole)(const struct tw_record_options *options);
	int (*run)(const struct tw_record_options *options, char **words, size_t count); /* returns enum tw_exit */
};
extern const struct tw_recorder tw_record_xtrace, tw_record_flight, tw_record_fxt, tw_record_dotnet;
extern const struct tw_option_group tw_record_xtrace_options, tw_record_flight_options, tw_record_fxt_options,
    tw_record_dotnet_options;

#define TW_RECORD_MEMBER(name) .offset = offsetof(struct tw_record_options, name)

/* ---- program.c ---- */

/* A program that is recorded. */
struct tw_program {
	/* Becomes the program, in the new process; returns only where that fails. */
	void (*become)(const void *context);
	const void *context;
	const char *name;
	pid_t pid;
	int status;       /* as of wait() */
	sigset_t signals; /* that came meanwhile, and were passed on */
	/* Is called where a descriptor has something to read, until it returns false; NULL: nothing is. */
	bool (*wake)(void *wake_context);
	void *wake_context;
	int wake_fd;
};

/* Runs a program to its end, and what it leaves running. Signals for us end the program. Returns 0, or TW_EXIT_FAILED
 * after saying why it could not be run. */
int tw_program_run(struct tw_program *program);

/* After the end of a program: signals end this process again, but for one more of those that came meanwhile. Who ends a
 * group of processes, as timeout(1) does, may send it to the group and to this process. */
void tw_program_unblock(const struct tw_program *program);

/* The status that a shell gives a program. */
int tw_status_of(int status);

/* As execvp() looks for a program. */
bool tw_program_find(const char *name, char path[PATH_MAX]);

/* A file that comes with the tool, which recorders give to programs. */
struct tw_program_part {
	const char *name;
	const char *package; /* Debian's, which has it */
	const char *option;  /* which names another one */
};

/* Finds it beside the tool, as it is built, or where it is installed to, seen from the tool; `given` is what the option
 * named, or NULL. Says what is not found. Returns enum tw_exit. */
int tw_program_part(const struct tw_program_part *part, const char *given, char path[PATH_MAX]);

/* Sends a process the signal that is so far behind SIGRTMIN, where it has a handler for it. 0: none is asked. Returns
 * 0, or TW_EXIT_FAILED after saying why it cannot. */
enum { TW_SIGNAL_PAUSE = 7, TW_SIGNAL_RESUME = 8 };
int tw_program_signal(uint64_t pid, int behind_first);

/* ---- flight_snapshot.c ---- */

/* Copies the log of calls that a process writes, all or what is not older than `age` ns, and has a log made of the
 * copy. Returns what `finish` does, or
 * TW_EXIT_FAILED after saying why there is none. */
int tw_record_snapshot(uint64_t pid, uint64_t age, const char *output,
                       int (*finish)(const char *copy, const char *output));

/* ---- flight_attach.c ---- */

/* Asks the recorder that waits in a process. Returns 0 or an errno: ENOPROTOOPT where there is none. */
int tw_flight_ask(pid_t process, const char *request);

/* Says why it would not. Returns TW_EXIT_FAILED. */
int tw_flight_say_refused(pid_t process, int error);

/* Blocks the signals that tell this process to end: before it asks for what it has to end itself. */
void tw_flight_block(void);

/* Waits until the process has ended, a time has passed (ns; 0: none), or such a signal has come. */
void tw_flight_wait(pid_t process, uint64_t duration);

/* ---- memory_logs.c ---- */

/* The logs of processes that have them in memory alone, and give them to whoever listens. */
struct tw_memory_logs {
	int listener; /* -1: there is none */
	char name[64];
	struct tw_memory_log {
		int fd;
		pid_t pid;
	} * logs;
	size_t count, room;
	uint64_t refused; /* that could not be taken */
	int error;        /* errno of those that could not be made; 0: none */
};

/* Listens. Returns 0, or TW_EXIT_FAILED after saying why it cannot. */
int tw_memory_logs_begin(struct tw_memory_logs *memory);

/* Takes what has been given (struct tw_memory_logs). False: no more can be. */
bool tw_memory_logs_take(void *memory);

/* Calls `finish` for each, as tw_parts_finish() does. */
int tw_memory_logs_finish(struct tw_memory_logs *memory, pid_t program,
                          int (*finish)(void *context, const char *part, unsigned long pid), void *context);

void tw_memory_logs_end(struct tw_memory_logs *memory);

/* ---- parts.c ---- */

/* The log of each process while it is recorded stands beside the output: OUT.PID.part, OUT.PID-1.part after an exec. */
struct tw_parts {
	char folder[PATH_MAX], name[NAME_MAX + 1]; /* of the output */
	struct tw_part_names {
		char **names; /* sorted */
		size_t count, room;
	} older; /* that were there before: a recorder that was killed left them */
	pid_t pid;
	uint64_t logs; /* that have been made of them; counted by the recorder */
};
enum { TW_PART_ROOM = 2 * PATH_MAX };

/* Looks what is beside an output. Returns 0, or TW_EXIT_FAILED after saying why it cannot. */
int tw_parts_begin(struct tw_parts *parts, const char *output);

/* What a program shall name its log: "%p" stands for its process. */
void tw_parts_pattern(const struct tw_parts *parts, char path[TW_PART_ROOM]);

/* The same for snapshots that the program writes itself; their files stay where they are. */
void tw_parts_snapshots(const struct tw_parts *parts, char path[TW_PART_ROOM]);

/* Calls `finish` for each new one, those of the program itself first. Returns the worst of what it returns. */
int tw_parts_finish(struct tw_parts *parts, pid_t program,
                    int (*finish)(void *context, const char *part, unsigned long pid), void *context);

/* What a log of a process shall be named: the output for the program itself, "out.PID.xray" for another process,
 * "out.PID-1.xray" where an exec made several. */
void tw_parts_name(const struct tw_parts *parts, unsigned long pid, char path[TW_PART_ROOM]);

void tw_parts_say_older(const struct tw_parts *parts);
void tw_parts_end(struct tw_parts *parts);

#endif
