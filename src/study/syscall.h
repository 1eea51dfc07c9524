/* syscall.h - a system call: as text, as strace shows it; what it returns. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_SYSCALL_H
#define STUDY_SYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STUDY_ARGUMENTS = 6, STUDY_PARTS = 2 };

/* What tells tasks apart, as the kernel set it last; 0: it has not. */
struct study_task {
	uint64_t tables, thread; /* TTBR0_EL1, TPIDR_EL0 */
	uint64_t stack, pointer; /* SP_EL0: of the program; an address of the kernel's, as Linux has its task there */
};

/* In the order of all tracks: the last TIME before it, and where it is the same the track, and in that the order. */
struct study_moment {
	uint64_t time, sequence;
};

struct study_syscall {
	uint64_t number, arguments[STUDY_ARGUMENTS], result;
	uint64_t parts; /* of its vector, of which so many are here: */
	uint64_t base[STUDY_PARTS], length[STUDY_PARTS];
	uint64_t at; /* instructions of its thread before it */
	uint64_t thread;
	uint8_t known; /* arguments that the trace has */
	bool returned;
	bool restarted; /* the kernel went back to it, to have it made again: it does not return */
	uint64_t pc;
	struct study_task task; /* that made it */
	struct study_moment moment;
	uint64_t program; /* execve: where the new program begins; 0: there is none */
	uint64_t handler; /* where a signal's handler begins before it returns; 0: none */
	bool child;       /* clone: the new task begins behind the call */
};

/* The kernel goes back to a program, with a result in X0. */
struct study_return {
	struct study_moment moment;
	uint64_t thread;
	struct study_task task;
	bool has_target; /* where it goes is known: */
	uint64_t target; /* a PC */
	uint64_t value;
};

struct study_returns {
	struct study_return *items; /* in the order of tracks */
	size_t count, room;
};

/* Has calls return in the order of their moments, on whichever core. Returns false without memory. */
bool study_return_calls(struct study_syscall *calls, size_t count, const struct study_returns *returns);

/* Its name; "syscall_N" in text where it has none. */
const char *study_syscall_name(uint64_t number, char text[32]);

/* Whether it returned an error: -1 to -4095. */
bool study_syscall_failed(const struct study_syscall *call);

/* "read(3, 0x5500800240, 4096) = 10", cut to the room that there is. Returns its length. */
size_t study_syscall_text(const struct study_syscall *call, char *text, size_t room);

/* "ENOENT" of 2; "errno N" in text where it has none. */
const char *study_error_name(unsigned number, char text[32]);

#endif
