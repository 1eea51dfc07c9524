/* calls.c - system calls: their arguments and vectors; signals: which functions are handlers, and what they
 * interrupt. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/calls.h"

#include "base/bytes/bytes.h"

#include <stdatomic.h>

enum { NUMBER = 8, ARGUMENTS = 6, SIGNALS = 65, PARTS = 1024 /* Linux, UIO_MAXIOV */ };

/* ---- The vectors of readv and its kin. ---- */

static const struct {
	uint16_t number;
	uint8_t vector, count; /* which arguments */
	bool in_message;       /* they are behind a struct msghdr */
} vector_calls[] = {
    {65, 1, 2, false},  /* readv */
    {66, 1, 2, false},  /* writev */
    {69, 1, 2, false},  /* preadv */
    {70, 1, 2, false},  /* pwritev */
    {75, 1, 2, false},  /* vmsplice */
    {211, 1, 0, true},  /* sendmsg */
    {212, 1, 0, true},  /* recvmsg */
    {270, 1, 2, false}, /* process_vm_readv */
    {271, 1, 2, false}, /* process_vm_writev */
    {286, 1, 2, false}, /* preadv2 */
    {287, 1, 2, false}, /* pwritev2 */
};

static void put_vector(const struct guest *machine, struct stream *stream, struct collect_board *board,
                       uint64_t address, uint64_t count)
{
	uint8_t parts[PARTS * 16];
	if (count == 0 || count > PARTS || !machine_read(machine, address, parts, (size_t)count * 16))
		return; /* the call fails */
	const struct tw_xtrace_token token = {.kind = TW_XTRACE_SYSCALL_VEC,
	                                      .value = count,
	                                      .payload = parts,
	                                      .payload_size = (uint32_t)count * 16};
	stream_token(stream, board, &token);
}

static void put_vector_of(const struct guest *machine, const uint64_t *arguments, size_t i, struct stream *stream,
                          struct collect_board *board)
{
	enum { MESSAGE_VECTOR = 16 }; /* struct msghdr: the vector's address and count are its third and fourth words */
	uint8_t message[16];
	uint64_t address = arguments[vector_calls[i].vector], count = arguments[vector_calls[i].count];
	if (vector_calls[i].in_message) {
		if (!machine_read(machine, address + MESSAGE_VECTOR, message, sizeof message))
			return;
		address = tw_load64(message, false);
		count = tw_load64(message + 8, false);
	}
	put_vector(machine, stream, board, address, count);
}

/* ---- Signals. ---- */

static _Atomic uint64_t handlers[SIGNALS];
_Atomic uint64_t calls_handlers;

/* rt_sigaction: the structure begins with the handler; 0 and 1 are SIG_DFL and SIG_IGN. */
static void take_action(const struct guest *machine, uint64_t signal, uint64_t action)
{
	uint8_t word[8];
	if (signal >= SIGNALS || !action || !machine_read(machine, action, word, sizeof word))
		return;
	uint64_t handler = tw_load64(word, false);
	atomic_store(&handlers[signal], handler > 1 ? handler : 0);
	if (handler > 1)
		atomic_fetch_or(&calls_handlers, calls_handler_bit(handler));
}

/* The kernel's frame is at SP: struct siginfo, struct ucontext with struct sigcontext in it; and X29 points to a copy
 * of the interrupted X29 and X30. A function that is called in the usual way has no such frame. */
bool calls_interrupted(const struct guest *machine, uint64_t pc, struct interrupted *where)
{
	enum { REGISTERS = 128 + 176 + 8 }; /* behind siginfo, the ucontext's head, the fault's address */
	uint8_t words[(TW_XTRACE_REGISTERS + 1) * 8], record[16];
	bool is_handler = false;
	for (unsigned i = 0; calls_any_handler(pc) && i < SIGNALS; i++)
		is_handler |= atomic_load_explicit(&handlers[i], memory_order_relaxed) == pc;
	if (!is_handler)
		return false;
	uint64_t sp = machine_register(machine, MACHINE_SP), fp = machine_register(machine, 29);
	if (fp <= sp || !machine_read(machine, sp + REGISTERS, words, sizeof words) ||
	    !machine_read(machine, fp, record, sizeof record))
		return false;
	for (size_t i = 0; i < TW_XTRACE_REGISTERS; i++)
		where->x[i] = tw_load64(words + 8 * i, false);
	where->pc = tw_load64(words + sizeof words - 8, false);
	return memcmp(record, words + 8ul * 29, sizeof record) == 0;
}

/* ---- Calls. ---- */

/* A thread has its maker's memory; what vfork() makes has not: QEMU takes it for fork(). */
bool calls_notice(const struct guest *machine)
{
	enum { SHARES_MEMORY = 0x100, WAITS = 0x4000 }; /* CLONE_VM, CLONE_VFORK */
	uint64_t number = machine_register(machine, NUMBER), first = machine_register(machine, 0);
	if (number == CALL_ACTION)
		take_action(machine, first, machine_register(machine, 1));
	return number == CALL_CLONE && (first & (SHARES_MEMORY | WAITS)) == SHARES_MEMORY;
}

static void put_argument(struct stream *stream, struct collect_board *board, uint64_t value)
{
	const struct tw_xtrace_token token = {.kind = TW_XTRACE_SVCARG, .value = value};
	stream_token(stream, board, &token);
}

void calls_enter(const struct guest *machine, struct stream *stream, struct collect_board *board)
{
	uint64_t number = machine_register(machine, NUMBER), arguments[ARGUMENTS];
	for (unsigned i = 0; i < ARGUMENTS; i++)
		arguments[i] = machine_register(machine, i);
	if (!stream->slot)
		return;
	put_argument(stream, board, number);
	for (unsigned i = 0; i < ARGUMENTS; i++)
		put_argument(stream, board, arguments[i]);
	for (size_t i = 0; i < sizeof vector_calls / sizeof *vector_calls; i++)
		if (vector_calls[i].number == number)
			put_vector_of(machine, arguments, i, stream, board);
}
