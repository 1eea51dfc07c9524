/* traps.c - each growth of the log is a signal, whose handler calls, so that its record needs a chunk: another signal. It
 * ends where handlers are nested so deep that no record is made. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

static volatile int sink;

__attribute__((noinline)) static void leaf(int i)
{
	sink = i;
}

/* As a system without such files answers: the recorder writes zeros then. */
static void on_trap(int number, siginfo_t *what, void *context)
{
	leaf(number);
	(void)what;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -EOPNOTSUPP;
}

int main(void)
{
	struct sock_filter rules[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
	const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
	sigaction(SIGSYS, &action, NULL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 77; /* there are no filters here */
	for (int i = 0; i < 1000; i++)
		leaf(i);
	return 0;
}
