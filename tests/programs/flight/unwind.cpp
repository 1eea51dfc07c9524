/* unwind.cpp - calls that end without returning, and what the program knows of them.
 *
 * usage: unwind COUNTS WAY - COUNTS is a file of u64: how many calls began, then of each, in order, thread << 40 |
 * function << 32 | how many are around it. The WAY: ends, deep, overflow, storm. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__clang__)
#define PLAIN __attribute__((no_instrument_function, xray_never_instrument))
#else
#define PLAIN __attribute__((no_instrument_function))
#endif
#define HERE __attribute__((noinline))

enum { MOST = 4096 };
enum function {
	MAIN,
	LEAF,
	THROWS,
	CATCHES,
	PASSES,
	AGAIN,
	JUMPS,
	JUMPER,
	BACK,
	HANDLER,
	WAITS,
	TAKES,
	INSIDE,
	RESUMES,
	BODY,
	LEAVES
};

static volatile uint64_t *counts;
static volatile int sink, around;
static thread_local uint64_t thread;
static std::jmp_buf start;
static sigjmp_buf escape;
static ucontext_t outside, inside;

PLAIN static void tell(function which, int depth)
{
	if (counts[0] + 1 < MOST)
		counts[1 + counts[0]] =
		    thread << 40 | static_cast<uint64_t>(which) << 32 | static_cast<uint64_t>(depth);
	counts[0] = counts[0] + 1;
}

HERE static void leaf(int depth)
{
	tell(LEAF, depth);
	sink = sink + 1;
}

/* ---- Exceptions. ---- */

HERE static void throws(int more, int depth)
{
	tell(THROWS, depth);
	leaf(depth + 1);
	if (!more)
		throw 1;
	throws(more - 1, depth + 1);
	sink = sink + 1;
}

HERE static void catches(int depth)
{
	tell(CATCHES, depth);
	try {
		throws(5, depth + 1);
	} catch (int) {
		leaf(depth + 1);
	}
	leaf(depth + 1);
	sink = sink + 1;
}

HERE static void passes(int depth)
{
	tell(PASSES, depth);
	try {
		catches(depth + 1);
		throws(2, depth + 1);
	} catch (int) {
		leaf(depth + 1);
		throw;
	}
	sink = sink + 1;
}

/* Caught in the middle of a recursion, which goes on. */
HERE static void again(int more, int depth)
{
	tell(AGAIN, depth);
	try {
		if (!more)
			throw 1;
		again(more - 1, depth + 1);
	} catch (int) {
		if (more < 3)
			throw;
	}
	leaf(depth + 1);
	sink = sink + 1;
}

/* ---- longjmp(). ---- */

HERE static void jumps(int more, int depth)
{
	tell(JUMPS, depth);
	if (!more)
		std::longjmp(start, 1);
	jumps(more - 1, depth + 1);
	sink = sink + 1;
}

HERE static void jumper(int depth)
{
	tell(JUMPER, depth);
	if (!setjmp(start))
		jumps(5, depth + 1);
	leaf(depth + 1);
	sink = sink + 1;
}

/* Back into the middle of a recursion. */
HERE static void back(int more, int depth)
{
	tell(BACK, depth);
	if (more == 3 && setjmp(start)) {
		leaf(depth + 1);
		return;
	}
	if (!more)
		std::longjmp(start, 1);
	back(more - 1, depth + 1);
	sink = sink + 1;
}

/* ---- Signals. ---- */

HERE static void handler(int number)
{
	tell(HANDLER, around + 1);
	leaf(around + 2);
	if (number != SIGUSR2)
		siglongjmp(escape, 1);
	sink = sink + 1;
}

HERE static void waits(int number, int depth)
{
	tell(WAITS, depth);
	around = depth;
	if (!sigsetjmp(escape, 1))
		raise(number);
	leaf(depth + 1);
	sink = sink + 1;
}

/* ---- Memory of the stack, and other stacks. ---- */

HERE static void takes(int size, int depth)
{
	tell(TAKES, depth);
	char *memory = static_cast<char *>(alloca(static_cast<size_t>(size)));
	std::memset(memory, 1, static_cast<size_t>(size));
	leaf(depth + 1);
	sink = sink + memory[size / 2];
}

HERE static void in_coroutine()
{
	tell(INSIDE, around + 1);
	leaf(around + 2);
	sink = sink + 1;
}

HERE static void resumes(int depth)
{
	static char stack[1 << 16];
	tell(RESUMES, depth);
	around = depth;
	getcontext(&inside);
	inside.uc_stack = {stack, 0, sizeof stack};
	inside.uc_link = &outside;
	makecontext(&inside, in_coroutine, 0);
	swapcontext(&outside, &inside);
	leaf(depth + 1);
	sink = sink + 1;
}

/* ---- Threads. ---- */

HERE static void leaves(int more, int depth)
{
	tell(LEAVES, depth);
	if (!more)
		pthread_exit(nullptr);
	leaves(more - 1, depth + 1);
	sink = sink + 1;
}

HERE static void *body(void *)
{
	thread = 1;
	tell(BODY, 0);
	leaf(1);
	leaves(4, 1);
	return nullptr;
}

PLAIN static void handle(int number, int flags)
{
	struct sigaction action = {};
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(number, &action, nullptr);
}

PLAIN static void use_other_stack()
{
	static char stack[1 << 16];
	const stack_t other = {stack, 0, sizeof stack};
	sigaltstack(&other, nullptr);
}

PLAIN static void end_calls()
{
	handle(SIGUSR1, 0);
	handle(SIGUSR2, 0);
	for (int i = 0; i < 3; i++) {
		catches(1);
		try {
			passes(1);
		} catch (int) {
			leaf(1);
		}
		again(6, 1);
		jumper(1);
		back(6, 1);
		waits(SIGUSR1, 1);
		waits(SIGUSR2, 1);
		takes(1000 + i, 1);
		resumes(1);
	}
	use_other_stack();
	handle(SIGUSR1, SA_ONSTACK);
	handle(SIGUSR2, SA_ONSTACK);
	waits(SIGUSR1, 1);
	waits(SIGUSR2, 1);
	pthread_t other;
	pthread_create(&other, nullptr, body, nullptr);
	pthread_join(other, nullptr);
	leaf(1);
}

/* ---- Deep. ---- */

HERE static int down(int more)
{
	counts[0] = counts[0] + 1;
	const int result = more ? down(more - 1) + 1 : 0;
	sink = result;
	return result;
}

HERE static void overflown(int)
{
	counts[MOST - 1] = counts[MOST - 1] + 1;
	siglongjmp(escape, 1);
}

PLAIN static void *go_down(void *most)
{
	struct sigaction action = {};
	use_other_stack();
	action.sa_handler = overflown;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGSEGV, &action, nullptr);
	for (volatile int i = 0; i < 2; i = i + 1)
		if (!sigsetjmp(escape, 1))
			down(*static_cast<int *>(most));
	return nullptr;
}

PLAIN static void in_thread(int most, size_t stack)
{
	pthread_t other;
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack);
	pthread_create(&other, &attributes, go_down, &most);
	pthread_join(other, nullptr);
}

/* ---- Many signals, that each leave what they interrupt. ---- */

static volatile uint64_t storms;

HERE static void storm(int)
{
	counts[MOST - 1] = counts[MOST - 1] + 1;
	if (++storms % 2)
		siglongjmp(escape, 1);
}

PLAIN static void in_storm()
{
	struct sigaction action = {};
	action.sa_handler = storm;
	sigaction(SIGALRM, &action, nullptr);
	sigsetjmp(escape, 1);
	const itimerval often = {{0, storms < 500 ? 50 : 0}, {0, storms < 500 ? 50 : 0}};
	setitimer(ITIMER_REAL, &often, nullptr);
	while (storms < 500)
		down(3);
	signal(SIGALRM, SIG_IGN);
}

int main(int, char **words)
{
	const int file = open(words[1], O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, MOST * 8) < 0)
		return 2;
	counts = static_cast<volatile uint64_t *>(mmap(nullptr, MOST * 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
	const char *way = words[2];
	if (!std::strcmp(way, "ends")) {
		tell(MAIN, 0);
		end_calls();
	}
	if (!std::strcmp(way, "deep"))
		in_thread(100000, size_t{1} << 28);
	if (!std::strcmp(way, "overflow"))
		in_thread(1 << 30, 1 << 21);
	if (!std::strcmp(way, "storm"))
		in_storm();
	return 0;
}
