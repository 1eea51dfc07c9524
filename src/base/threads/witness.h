/* witness.h - whether a signal came to the whole group of processes, or to this process alone.
 *
 * The kernel tells who sent a signal, and not to whom. The witness is a process of the same group that does nothing:
 * only what comes to the group waits there, too. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_THREADS_WITNESS_H
#define BASE_THREADS_WITNESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Who passes signals on. */
struct tw_witness {
	pid_t process; /* 0: there is none */
};

/* Blocks SIGINT, SIGTERM, SIGHUP (unless it is ignored, as by nohup), SIGQUIT, and SIGCHLD, whose default is set;
 * begins to watch. before: the mask until then. Returns a descriptor of signalfd(), or -1 and errno. */
int tw_witness_begin(struct tw_witness *witness, sigset_t *before);

/* Whether a signal that this process has taken came to its whole group: from the terminal, or by a kill() of the group.
 * Asked once for each signal. */
bool tw_witness_saw(struct tw_witness *witness, int signal);

/* Sends a signal to a process that has not had it: it came to this one alone, or the process is of another group. */
void tw_witness_pass(bool saw, pid_t process, int signal);

void tw_witness_end(struct tw_witness *witness);

/* Whether the kernel tells of a signal in a field of a process's status: "ShdPnd:" it waits, "SigCgt:" it is
 * handled. */
bool tw_signal_listed(pid_t process, const char *field, int signal);

#endif
