/* boot.c - the first program of a machine: what it does between two marks is known. It has two cores.
 *
 * It prints the addresses of some of the kernel's functions, each with the symbol behind it, and what it counted. */
/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ASKED = 10, ROUNDS = 12, TURNS = 20000, PAGES = 8, WORDS = PAGES * 4096 / 8, CHILDREN = 3 };

#define MARK() __asm__ volatile("hint #9")

/* ---- The kernel's names. ---- */

static const char *const wanted[] = {"vectors",
                                     "el0t_64_sync",
                                     "el0t_64_sync_handler",
                                     "el0_svc",
                                     "do_el0_svc",
                                     "el0_svc_common.constprop.0",
                                     "invoke_syscall",
                                     "invoke_syscall.constprop.0",
                                     "__arm64_sys_getppid",
                                     "ret_to_user"};

static int is_wanted(const char *name)
{
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (strcmp(wanted[i], name) == 0)
			return 1;
	return 0;
}

static void print_names(void)
{
	char line[512], name[256], kind;
	unsigned long long address, before = 0;
	FILE *file = fopen("/proc/kallsyms", "r");
	while (file && fgets(line, sizeof line, file)) {
		if (sscanf(line, "%llx %c %255s", &address, &kind, name) != 3)
			continue;
		if (is_wanted(name) || (before && address != before))
			printf("SYMBOL %016llx %c %s\n", address, kind, name);
		before = is_wanted(name) ? address : before && address == before ? before : 0;
	}
}

/* ---- What is done between the marks. ---- */

static long words[WORDS];
static long together;

__attribute__((noinline)) static long ask(void)
{
	register long number __asm__("x8") = SYS_getppid;
	register long result __asm__("x0");
	__asm__ volatile("svc #0" : "=r"(result) : "r"(number) : "memory");
	return result;
}

__attribute__((noinline)) static void answer(long parent)
{
	__asm__ volatile("" : : "r"(parent) : "memory");
}

static void take_signal(int signal)
{
	(void)signal;
}

/* A handler begins before kill returns. */
static void signal_itself(void)
{
	if (kill(getpid(), SIGUSR1))
		abort();
}

/* A program that ends at once. */
static void execute(void)
{
	pid_t child = fork();
	if (child == 0) {
		execl("/ends", "ends", NULL);
		abort();
	}
	if (waitpid(child, NULL, 0) != child)
		abort();
}

/* So long that a timer interrupts it. */
__attribute__((noinline)) static void turn(long turns)
{
	__asm__ volatile(".global turning\n"
	                 "turning: subs %0, %0, #1\n"
	                 "b.ne turning\n"
	                 : "+r"(turns)
	                 :
	                 : "cc");
}

/* Each page is first written here: the store that does so is executed when the kernel has made the page. */
__attribute__((noinline)) static void fill(long *to)
{
	for (long i = 0; i < WORDS; i++)
		__asm__ volatile(".global filling\nfilling: str %0, [%1]\n" : : "r"(3 * i), "r"(to + i) : "memory");
}

static void pin(int core)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	sched_setaffinity(0, sizeof set, &set);
}

/* The other end of both pipes, on the other core. */
static void echo(int in, int out)
{
	char byte;
	pin(1);
	while (read(in, &byte, 1) == 1 && byte == 'y') {
		turn(50);
		if (write(out, "x", 1) != 1)
			break;
	}
	_exit(0);
}

static void talk(int in, int out)
{
	char byte;
	for (int i = 0; i < ROUNDS; i++)
		if (write(out, "y", 1) != 1 || read(in, &byte, 1) != 1)
			abort();
}

/* On this core, so that the kernel switches from one to the other. */
static void make_children(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();
		if (child == 0) {
			turn(100);
			_exit(0);
		}
		if (waitpid(child, NULL, 0) != child)
			abort();
	}
}

int main(void)
{
	int there[2], back[2];
	char first[] = "two ", second[] = "parts\n";
	struct iovec parts[] = {{first, 4}, {second, 6}};
	struct timespec moment = {.tv_nsec = 20000};
	struct itimerval soon = {.it_value = {.tv_usec = 50}};
	signal(SIGALRM, take_signal);
	signal(SIGUSR1, take_signal);
	mkdir("/proc", 0755);
	if (mount("proc", "/proc", "proc", 0, 0) || pipe(there) || pipe(back))
		abort();
	print_names();
	fflush(stdout);
	if (fork() == 0)
		echo(there[0], back[1]);
	pin(0);
	talk(back[0], there[1]); /* it is there */
	MARK();
	for (int i = 0; i < ASKED; i++)
		answer(ask());
	setitimer(ITIMER_REAL, &soon, NULL);
	turn(TURNS);
	fill(words);
	for (int i = 0; i < ASKED; i++)
		__atomic_fetch_add(&together, i, __ATOMIC_SEQ_CST);
	talk(back[0], there[1]);
	make_children();
	signal_itself();
	execute();
	if (nanosleep(&moment, NULL) || writev(1, parts, 2) != 10)
		abort();
	MARK();
	printf("TOGETHER %ld\n", together);
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
}
